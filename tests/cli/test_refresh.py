"""`refresh` and `history` on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tests.refresh.test_refresh import BASE, Fake
from tests.refresh.test_refresh import (
    build as build,
)  # the first test refreshes its store
from tests.support.cli import Caller, in_fork
from tests.support.stores import store_at
from warehouse.analysis import families
from warehouse.store.computed import metric_values
from warehouse.store.open import open_store


def test_what_is_stale_is_listed_then_computed_then_fresh(
    run: Caller, url: str
) -> None:
    rows = run("refresh", "--dry-run", "--baseline", BASE, "--json", db=url).rows
    assert {row["why"] for row in rows} == {"new"} and len(rows) == 9 + 9 + 6 + 3 + 1
    assert {tuple(row) for row in rows} == {("family", "benchmark", "subject", "why")}
    done = run("refresh", "--baseline", BASE, "--json", db=url)
    assert sum(row["recomputed"] for row in done.rows) == len(rows)
    assert done.err.startswith("refresh 1: 28 recomputed, 0 fresh, ")
    again = run("refresh", "--baseline", BASE, db=url)
    assert "refresh 2: 0 recomputed, 28 fresh" in again.err and again.code == 0
    assert [line.split()[0] for line in again.out.splitlines()[2:]] == [
        "differences",
        "ranks",
        "scores",
        "variance",
    ]
    assert (
        "nothing is stale"
        in run("refresh", "--dry-run", "--baseline", BASE, db=url).out
    )


def test_history_finds_what_was_stored_by_whichever_name(run: Caller, url: str) -> None:
    run("refresh", "--baseline", BASE, db=url)
    both = run("history", "org/b", "quiz", "--json", db=url).rows
    assert run("history", "org/b", "-b", "quiz", "--json", db=url).rows == both
    assert [
        row
        for row in run("history", "org/b", "--json", db=url).rows
        if row["benchmark"] == "quiz"
    ] == both
    assert "benchmark" in run("history", "org/b", db=url).out.split()
    subjects = {
        row["subject"] for row in run("history", "course", "--json", db=url).rows
    }
    assert (
        len(subjects) > 1
    )  # no figure of the benchmark as a whole: those of its models
    differences = run(
        "history", BASE, "quiz", "--statistic", "difference", "--json", db=url
    ).rows
    assert differences and all(f" - {BASE}#" in row["subject"] for row in differences)
    metrics = run("history", "org/b", "quiz", "-m", "acc", "--json", db=url).rows
    assert {row["metric"] for row in metrics} == {"acc"}


def test_history_is_a_table_for_people_and_rows_for_programs(
    run: Caller, url: str
) -> None:
    run("refresh", "--baseline", BASE, db=url)
    told = run("history", "org/b", "quiz", db=url).out.splitlines()
    assert told[0].startswith("No figure has changed: ") and "method" not in told[4]
    metric, refreshed, *table = run(
        "history", "org/b", "quiz", "--explain", db=url
    ).out.splitlines()
    assert metric == "metric: acc" and refreshed.startswith("refreshed (UTC): ")
    assert table[0].split()[:3] == ["statistic", "subject", "estimate"]
    ranks = [line for line in table if line.startswith("rank ")]
    assert ranks and all(line.split()[2].isdecimal() for line in ranks)  # 2, not 2.0000
    rows = run(
        "history", "org/b", "quiz", "--statistic", "difference", "--json", db=url
    ).rows
    assert [row["age"] for row in rows] == [1] and rows[0]["low"] < rows[0]["high"]
    pruned = run("refresh", "--baseline", BASE, "--prune-older-than", "0d", db=url)
    assert "pruned 0 figures and" in pruned.err
    assert len(run("history", "org/b", "quiz", "--json", db=url).rows) == len(
        run("history", "org/b", "quiz", "--last", "1", "--json", db=url).rows
    )


def test_a_baselines_own_figures_stand_before_those_of_others_from_it(
    run: Caller, url: str
) -> None:
    run("refresh", "--baseline", BASE, db=url)
    _, first, *lines = run("history", BASE, db=url).out.splitlines()
    assert first == f"…: {BASE}" and any(" - …" in line for line in lines)
    differences = [
        " - …" in line for line in lines if f" {BASE}" in line or " - …" in line
    ]
    assert differences == sorted(differences) and not differences[0]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ("refresh", "--family", "magic"),
            2,
            "no metric family 'magic'; there are: differences",
        ),
        (("refresh", "magic"), 2, "no benchmark with runs is called 'magic'"),
        (("refresh", "--prune-older-than", "soon"), 2, "is not an age such as 90d"),
        (
            ("refresh", "--prune-older-than", "9" * 400 + "w"),
            2,
            "is not an age such as",
        ),
        (("refresh", "--dry-run", "--prune-older-than", "1d"), 2, "give one of"),
        (("refresh", "--level", "2"), 2, "--level"),
        (
            ("history", "org/b", "quiz", "essay"),
            2,
            "expected a model, a benchmark, or a model and",
        ),
        (("history", "nobody", "quiz"), 2, "no model with runs is called 'nobody'"),
        (("history", "nobody", "quiz"), 2, "figures are stored of: org/b, org/base"),
        (
            ("history", "nobody"),
            2,
            "no refresh has computed figures of 'nobody'; figures are stored of",
        ),
        (
            ("history", "org/b", "quiz", "--statistic", "rang"),
            2,
            "there are: difference, rank",
        ),
        (("history", "org/b", "nothing"), 2, "no benchmark is called 'nothing'"),
    ],
)
def test_a_mistake_is_named(
    run: Caller, url: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    if arguments[0] == "history":
        run("refresh", "--baseline", BASE, db=url)
    run(*arguments, db=url).fails(code, message)


def test_another_refresh_is_named(run: Caller, url: str, tmp_path: Path) -> None:
    from warehouse.api import connect

    house = connect(url)
    with metric_values.holding(house._reading, 0):
        run("--wait", "0", "refresh", db=url).fails(
            4, "is refreshed by another process"
        )
    outcome = in_fork(
        "--db", url, "refresh", "--baseline", BASE, "--json", folder=tmp_path
    )
    assert outcome.returncode == 0 and len(json.loads(outcome.stdout)) == 4


def test_the_file_says_what_is_refreshed(
    run: Caller, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "warehouse.toml").write_text(
        "[refresh]\n"
        'families = ["matrix"]\n'
        'benchmarks = ["quiz"]\n'
        "permutations = 30\n"
        "seed = 5\n"
    )
    told = run("refresh", "--dry-run", "--json", db=url).rows
    assert {(row["family"], row["benchmark"]) for row in told} == {("matrix", "quiz")}
    done = run("refresh", "--json", db=url)
    assert [(row["family"], row["recomputed"]) for row in done.rows] == [("matrix", 1)]
    from warehouse.api import connect

    house = connect(url)
    expected = house.matrix("quiz", fresh=True).test(permutations=30, seed=5).rows
    query = (
        "select statistic, parameters from metric_value where method = 'permutation'"
    )
    stored = {
        row["statistic"]: json.loads(row["parameters"])["p_value"]
        for row in house.arrow(
            "select statistic, cast(parameters as varchar) as parameters from "
            f"({query}) found"
        ).to_pylist()
    }
    assert stored == {
        f"{row.similarity}_{row.statistic}": row.p_value for row in expected
    }
    assert run("refresh", "--json", db=url).rows[0]["fresh"] == 1
    again = run(
        "refresh", "essay", "--family", "matrix", "--seed", "6", "--json", db=url
    )
    assert again.rows[0]["recomputed"] == 1  # options stand above the file
    other = run("refresh", "--seed", "6", "--dry-run", "--json", db=url).rows
    assert [row["why"] for row in other] == ["the settings changed"]
    past = run("history", "quiz", "--last", "1", "--json", db=url).rows
    assert {row["statistic"]: (row["estimate"], row["p_value"]) for row in past} == {
        f"{row.similarity}_{row.statistic}": (row.observed, row.p_value)
        for row in house.matrix("quiz").test(permutations=30, seed=5).rows
    }
    table = run(
        "history", "quiz", "--statistic", "cosine_mean", "--explain", db=url
    ).out.splitlines()
    assert table[0].split()[1:4] == ["subject", "estimate", "p"] and len(table) == 3
    shown = {row["setting"]: row["value"] for row in run("config", "--json").rows}
    assert (
        shown["refresh.permutations"] == "30" and shown["refresh.benchmarks"] == "quiz"
    )


def test_a_metric_that_raises_is_named_and_the_others_stand(
    run: Caller, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = {
        **families._points(),
        "broken": EntryPoint("broken", "tests.x:y", families.GROUP),
    }
    monkeypatch.setattr(families, "_points", lambda: points)
    load, broken = (
        families._load,
        Fake("broken", raises=RuntimeError("boom"), only="org/b#"),
    )
    monkeypatch.setattr(
        families,
        "_load",
        lambda point: broken if point.name == "broken" else load(point),
    )
    found = run("refresh", "quiz", "--family", "broken", "--family", "scores", db=url)
    assert found.code == 1 and "Traceback" not in found.err
    assert "failed: broken of org/b#" in found.err and "RuntimeError: boom" in found.err
    table = {line.split()[0]: line.split() for line in found.out.splitlines()[2:]}
    assert set(table) == {"broken", "scores"} and table["broken"][1] == "2"
    again = run("refresh", "quiz", "--family", "broken", "--json", db=url)
    assert (
        again.code == 1
        and again.rows[0]["recomputed"] == 0
        and again.rows[0]["fresh"] == 2
    )
    forgotten = run(
        "refresh", "quiz", "--family", "broken", "--dry-run", "--json", db=url
    )
    assert [row["why"] for row in forgotten.rows] == ["new"]


def test_a_store_that_another_process_holds_is_said(
    run: Caller, tmp_path: Path
) -> None:
    url = f"duckdb:///{tmp_path / 'held.duckdb'}"
    open_store(url, create=True).close()
    script = (
        "import sys; from warehouse.store.open import open_store\n"
        "store = open_store(sys.argv[1], write=True); print('open', flush=True); "
        "sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"open\n"
        run("--wait", "0", "refresh", db=url).fails(
            4, "is held by process", str(holder.pid)
        )
    finally:
        holder.communicate()
    assert run("refresh", db=url).code == 0


def test_no_store_is_said(run: Caller, tmp_path: Path) -> None:
    run("refresh", db=f"duckdb:///{tmp_path / 'none.duckdb'}").fails(4, "no store at")
    with open_store(store_at(tmp_path / "empty.duckdb"), write=True):
        pass
    found = run("refresh", db=f"duckdb:///{tmp_path / 'empty.duckdb'}")
    assert found.code == 0 and "0 recomputed, 0 fresh" in found.err
