"""Two scans of three logs, by the real package: the figures of their README come out,
whichever comes first.

Needs the folder of real dumps (see conftest.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.cli import Caller
from tests.support.stores import select
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

#: What the logs of the README's table are called, and their numbers of generations.
LOGS = {"A2Ld": 100, "CuCF": 50, "TZtK": 30}
FIRST, SECOND = "scan_id=dHCEJGAUgCj6k7dYKma5YG", "scan_id=MFC9yzyNeTjv5E8sHhRJuP"


def logs(data_dir: Path) -> list[Path]:
    return [
        path
        for name in LOGS
        for path in (data_dir / "inspect_logs").rglob(f"*_{name}*.eval")
    ]


def scans(data_dir: Path) -> Path:
    folder = data_dir / "inspect_scout" / "generated_0.6.1"
    if not folder.is_dir():
        pytest.skip(f"no scans in {folder}")
    return folder


@pytest.fixture(scope="module", params=["scans first", "logs first"])
def filled(
    request: pytest.FixtureRequest,
    data_dir: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Store, list[str]]]:
    path = tmp_path_factory.mktemp("scout") / "scout.duckdb"
    steps: list[list[Path]] = [[scans(data_dir)], logs(data_dir)]
    with open_store(f"duckdb:///{path}", create=True, write=True) as store:
        notes = []
        for paths in steps if request.param == "scans first" else reversed(steps):
            report = ingest(store, paths)
            assert not report.refused
            notes += [note for item in report.sources for note in item.notes]
        yield store, notes


def means(store: Store, metric: str) -> dict[str, tuple[int, int, float | None]]:
    """Generations, those with a value, and the mean, by log."""
    sql = (
        "select harness_run_id as run, count(*) as n, count(value) as n_values, "
        "avg(value) as mean from score"
        " join metric on metric.id = metric_id join run on run.id = run_id"
        " join run_group on run_group.id = run_group_id where origin = 'scanned' and "
        f"name = '{metric}' group by 1"
    )
    return {
        row["run"][:4]: (row["n"], row["n_values"], row["mean"])
        for row in select(store, sql)
    }


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("word_counter", {"A2Ld": 0, "CuCF": 0, "TZtK": 9.833333333333334}),
        ("answer_shape.chars", {"A2Ld": 2.18, "CuCF": 2.1, "TZtK": 381.3}),
        ("says_not_sure", {"A2Ld": 0, "CuCF": 0, "TZtK": 0}),
        ("long_words", {"A2Ld": 0, "CuCF": 0, "TZtK": 0.1}),
    ],
)
def test_means_of_each_log(
    filled: Any, metric: str, expected: dict[str, float]
) -> None:
    found = means(filled[0], metric)
    assert {name: row[:2] for name, row in found.items()} == {
        name: (n, n) for name, n in LOGS.items()
    }
    assert {name: row[2] for name, row in found.items()} == pytest.approx(expected)


def test_the_published_mean_is_over_all_logs_together(filled: Any) -> None:
    store, notes = filled
    sql = (
        "select value from score join metric on metric.id = metric_id where name = "
        "'word_counter'"
    )
    values = np.array([row["value"] for row in select(store, sql)])
    assert len(values) == 180 and values.mean() == pytest.approx(1.6388888888888888)
    assert values.std(ddof=1) / np.sqrt(180) == pytest.approx(0.28687012494165415)
    assert (
        notes.count(
            "published means over all 180 generations together agree: word_counter"
        )
        == 2
    )


def test_lists_keep_their_items(filled: Any) -> None:
    store, _ = filled
    of = (
        "from scan_value join metric on metric.id = metric_id where name = "
        "'long_words' and position"
    )
    assert select(
        store, f"select count(*) as n, count(distinct uuid) as rows {of} > 0"
    ) == [{"n": 3, "rows": 2}]
    assert select(store, f"select count(*) as n, sum(value) as found {of} = 0") == [
        {"n": 180, "found": 3}
    ]
    assert select(store, f"select count(*) as n {of} = 0 and value = 0") == [{"n": 178}]


def test_errors_and_null_on_purpose(filled: Any) -> None:
    store, notes = filled
    sql = (
        "select substr(harness_run_id, 1, 4) as run, score.status, count(*) as n, "
        "count(value) as n_values from score"
        " join metric on metric.id = metric_id join run on run.id = run_id join "
        "run_group on run_group.id ="
        " run_group_id where name = 'fails_on_even_length' group by 1, 2 order by 1, 2"
    )
    assert [tuple(row.values()) for row in select(store, sql)] == [
        ("A2Ld", "error", 82, 0),
        ("A2Ld", "no_answer", 18, 0),
        ("CuCF", "error", 45, 0),
        ("CuCF", "no_answer", 5, 0),
        ("TZtK", "error", 13, 0),
        ("TZtK", "no_answer", 17, 0),
    ]
    assert (
        "the scan is not complete: 140 of 180 of fails_on_even_length failed" in notes
    )


def test_the_second_scan_adds_no_score(filled: Any) -> None:
    store, notes = filled
    count = "select count(*) as n from score where origin = 'scanned'"
    assert select(store, count) == [{"n": 7 * 180}]
    assert "360 values known from another scan: counted once" in notes
    assert check(store).ok


def test_as_people_use_it(run: Caller, data_dir: Path, tmp_path: Path) -> None:
    db = str(tmp_path / "scout.duckdb")
    assert (
        run("ingest", *map(str, logs(data_dir)), str(scans(data_dir)), db=db).code == 0
    )
    board = run(
        "leaderboard", "popularity", "--metric", "says_not_sure", "--json", db=db
    ).rows
    assert {row["model"]: row["estimate"] for row in board} == {
        "google/gemini-2.5-flash-lite": 0,
        "openai/gpt-5": 0,
    }
    usual = run("leaderboard", "popularity", "--json", db=db).rows
    assert {row["metric"] for row in usual} == {"match"}
    theory = run("leaderboard", "theory_of_mind", "--metric", "word_counter", db=db).out
    assert "openai/o3-mini" in theory and "9.8" in theory
    listed = run("list", "sources", "--json", db=db).rows
    assert [row["format"] for row in listed].count("inspect_scout") == 2
