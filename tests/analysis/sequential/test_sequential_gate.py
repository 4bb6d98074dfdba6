"""The sequential gate on stored runs and growing logs, and what a run that was stopped
early is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse import connect
from warehouse.analysis.sequential.stopped import order_keys, order_prompts, read_keys
from warehouse.analysis.sequential.view import SequentialRow
from warehouse.api import Warehouse
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats import (
    design_against_baseline,
    design_two_models,
    sequential_order,
    sequential_test,
)
from warehouse.store.open import open_store

OLD, NEW = "lab/old", "lab/new"
N = 300
KEYS = [f"p{place}" for place in range(N)]
ORDER = [KEYS[place] for place in sequential_order(KEYS, 0)]
DICE = random.Random(5)
BASE = {key: float(DICE.random() < 0.7) for key in KEYS}
OWN = {key: value if DICE.random() < 0.9 else 1 - value for key, value in BASE.items()}
BAD = {key: value if DICE.random() < 0.7 else 0.0 for key, value in BASE.items()}


def build() -> StoreRows:
    """Candidates that saw a beginning of the order, all, or the first prompts of the
    file."""
    rows = StoreRows()
    names = ("part", "whole", "file", "holes", "half", "cut")
    for name in (*names, "loss", "free", "odd", "grouped"):
        rows.describe(
            name,
            rows.metric("loss") if name == "loss" else rows.metric(),
            higher=name != "loss",
        )
    rows.rows["benchmark_metric"][-2] |= {"higher_is_better": None}
    rows.rows["benchmark_metric"][-3] |= {"kind": "continuous", "high": None}
    for name in (*names, "free", "odd", "grouped"):
        rows.scores(rows.run(OLD, name, n_benchmark=N), BASE)
    rows.scores(
        rows.run(NEW, "part", status="truncated", n_benchmark=N),
        {key: OWN[key] for key in ORDER[:60]},
    )
    rows.scores(
        rows.run("lab/bad", "part", status="truncated"),
        {key: BAD[key] for key in ORDER[:200]},
    )
    for name in ("whole", "free", "odd", "grouped"):
        rows.scores(rows.run(NEW, name), OWN)
    for place in range(3):
        rows.scores(
            rows.run(f"lab/other{place}", "whole"),
            {key: float(DICE.random() < 0.6) for key in KEYS},
        )
    rows.scores(rows.run(NEW, "file"), {key: OWN[key] for key in KEYS[:100]})
    holes = {
        key: None if place % 20 == 7 else OWN[key]
        for place, key in enumerate(ORDER[:120])
    }
    rows.scores(rows.run(NEW, "holes"), holes)
    rows.scores(rows.run("lab/half", "half"), {key: BASE[key] for key in ORDER[:150]})
    rows.scores(rows.run(NEW, "half"), {key: OWN[key] for key in ORDER[:140]})
    draws = {
        key: [OWN[key], 1.0] if place < 50 else [OWN[key]]
        for place, key in enumerate(ORDER[:80])
    }
    rows.scores(rows.run(NEW, "cut", status="truncated"), draws)
    rows.scores(
        rows.run(OLD, "loss"), {key: 1 - BASE[key] for key in KEYS}, rows.metric("loss")
    )
    rows.scores(
        rows.run(NEW, "loss"), {key: 1 - OWN[key] for key in KEYS}, rows.metric("loss")
    )
    rows.clusters(
        "grouped",
        {f"c{label}": KEYS[10 * label : 10 * label + 10] for label in range(30)},
    )
    for temperature in (0.0, 1.0):
        rows.scores(rows.run("lab/same", "whole", temperature=temperature), OWN)
    return rows


ROWS = build()


def verdict(
    house: Warehouse,
    name: str,
    candidate: str = NEW,
    margin: float = 0.05,
    **options: object,
) -> SequentialRow:
    (row,) = house.sequential_gate(
        candidate, OLD, margin, benchmarks=[name], **options
    ).rows  # type: ignore[arg-type]
    return row


def values(scores: dict[str, float], n: int = N) -> np.ndarray:
    return np.array([scores[key] for key in ORDER[:n]])


def test_the_longest_beginning_of_the_order_counts(house: Warehouse) -> None:
    row = verdict(house, "part", use_history=False)
    expected = sequential_test(
        values(OWN, 60), design_against_baseline(values(BASE), 0.05)
    )
    assert row.test == expected and row.n_prompts == 60 and row.n_benchmark == N
    assert (row.predicted_by, row.n_history, row.n_beyond) == ("baseline", 0, 0)
    file = verdict(house, "file")
    reached = next(place for place, key in enumerate(ORDER) if int(key[1:]) >= 100)
    assert (file.n_prompts, file.n_beyond) == (reached, 100 - reached)
    with open_store(house.url) as store:
        ids = (
            store.arrow("select id from prompt where benchmark_id = 1")
            .column("id")
            .to_pylist()
        )
        assert [
            key for key, _ in order_prompts(read_keys(store, ids).values(), 0).keys
        ] == ORDER


def test_history_predicts_and_the_candidate_does_not(house: Warehouse) -> None:
    row = verdict(house, "whole")
    assert (
        row.predicted_by == "baseline and history" and row.n_history == 5
    )  # three others, two of lab/same
    known = ROWS.rows["prompt_score"]
    keys = {prompt["id"]: prompt["tool_id"] for prompt in ROWS.rows["prompt"]}
    runs = {fact["run_id"] for fact in known} - {
        row.runs_candidate[0],
        row.runs_baseline[0],
    }
    runs &= {
        run["id"]
        for run in ROWS.rows["run"]
        if run["benchmark_id"] == ROWS.benchmark("whole")
    }
    means = {
        key: np.mean(
            [
                f["value"]
                for f in known
                if f["run_id"] in runs and keys[f["prompt_id"]] == key
            ]
        )
        for key in ORDER
    }
    f = (values(means) + values(BASE)) / 2  # type: ignore[arg-type]
    expected = sequential_test(
        values(OWN), design_against_baseline(values(BASE), 0.05, predictions=f)
    )
    assert (
        row.test.decided_at == expected.decided_at
        and row.difference == pytest.approx(expected.estimate)
    )


def test_verdicts_and_exit_codes(house: Warehouse) -> None:
    assert verdict(house, "part", "lab/bad").verdict == "fail"
    assert house.sequential_gate("lab/bad", OLD, 0.05).exit_code == 1
    assert verdict(house, "whole").verdict == "pass"
    open_question = verdict(house, "part", margin=0.001)
    assert (
        open_question.verdict == "undecided"
        and open_question.expected_remaining is not None
    )
    assert verdict(house, "part", n_max=60, margin=0.001).expected_remaining == 0


def test_lower_is_better_is_turned(house: Warehouse) -> None:
    one, other = (
        verdict(house, "loss", use_history=False),
        verdict(house, "whole", use_history=False),
    )
    assert (one.verdict, one.decided_at) == (other.verdict, other.decided_at)
    assert one.difference == pytest.approx(
        other.difference
    ) and one.ci_low == pytest.approx(other.ci_low)


def test_unscorable_prompts_count_against_both(house: Warehouse) -> None:
    row = verdict(house, "holes", use_history=False)
    y = values(OWN, 120)
    y[7::20] = np.nan
    assert (
        row.test == sequential_test(y, design_against_baseline(values(BASE), 0.05))
        and row.n_unscored == 6
    )


def test_two_fresh_models_and_prompts_sampled(house: Warehouse) -> None:
    found = house.sequential_gate(NEW, "lab/half", 0.05, benchmarks=["half"]).rows[0]
    d = values(OWN, 140) - values(BASE, 140)
    expected = sequential_test(d, design_two_models(0.05, n_max=N, population=N))
    assert (found.ci_low, found.ci_high) == pytest.approx((expected.low, expected.high))
    assert (found.predicted_by, found.n_prompts) == ("", 140)
    sampled = verdict(house, "part", estimand="prompts_sampled", n_max=200)
    d = values(OWN, 60) - values(BASE, 60)
    assert (
        sampled.test == sequential_test(d, design_two_models(0.05, n_max=200))
        and sampled.n_benchmark is None
    )
    with pytest.raises(MisuseError, match="come in clusters"):
        verdict(house, "grouped", estimand="prompts_sampled")
    assert (
        verdict(house, "grouped", estimand="prompts_sampled", cluster="none").n_prompts
        == N
    )
    assert verdict(house, "grouped").verdict == "pass"


def test_prompts_with_draws_to_come_are_not_done(house: Warehouse) -> None:
    assert verdict(house, "cut").n_prompts == 50


def test_fixed_looks(house: Warehouse) -> None:
    row = verdict(house, "whole", looks=5)
    assert row.method == "O'Brien-Fleming, 5 looks" and row.expected_remaining is None
    assert row.decided_at in (60, 120, 180, 240, 300)


def test_several_benchmarks_share_alpha(house: Warehouse) -> None:
    found = house.sequential_gate(NEW, OLD, 0.05, benchmarks=["part", "whole"])
    assert [row.level for row in found.rows] == [
        0.975,
        0.975,
    ] and "shares alpha" in found.notes[0]
    every = house.sequential_gate(NEW, OLD, 0.05)
    assert any(reason.startswith("free: ") for reason in every.left_out)


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        (
            "part",
            {"n_max": 301},
            StatisticsError,
            "`n_max` is 301, but the benchmark has 300",
        ),
        (
            "part",
            {"n_max": 301, "estimand": "prompts_sampled"},
            StatisticsError,
            "`n_max` is 301",
        ),
        ("part", {"margin": 1.0}, StatisticsError, "`margin`"),
        ("part", {"alpha": 0.0}, StatisticsError, "alpha must be"),
        ("part", {"seed": -1}, StatisticsError, "seed must be"),
        ("part", {"estimand": "mine"}, MisuseError, "unknown estimand 'mine'"),
        ("part", {"looks": 0}, StatisticsError, "looks must be"),
        ("free", {}, MisuseError, "no bounds"),
        ("odd", {}, MisuseError, "higher acc is better"),
        ("nothing", {}, MisuseError, "no benchmark is called"),
    ],
)
def test_what_makes_no_sense(
    house: Warehouse,
    name: str,
    options: dict[str, object],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        verdict(house, name, **options)  # type: ignore[arg-type]


def test_the_command(run: Caller, url: str) -> None:
    call = ("gate", NEW, OLD, "--margin", "0.05", "--sequential", "-b")
    passed = run(*call, "whole", db=url)
    assert passed.code == 0 and passed.out.startswith(
        f"{NEW} may take the place of {OLD} on whole"
    )
    assert "benchmark's own prompts" in passed.out
    assert (
        "own prompts"
        not in run(*call, "whole", "--estimand", "prompts-sampled", db=url).out
    )
    still = run(
        "gate", NEW, OLD, "--margin", "0.001", "--sequential", "-b", "part", db=url
    )
    assert still.code == 5 and "expected more: mean prompts" in still.out
    (row,) = run(*call, "whole", "--json", db=url).rows
    assert (
        row
        == connect(url)
        .sequential_gate(NEW, OLD, 0.05, benchmarks=["whole"])
        .rows[0]
        .to_dict()
    )
    run("gate", NEW, OLD, "--margin", "0.05", "--n-max", "5", db=url).fails(
        2, "--n-max goes with --sequential"
    )
    run(*call, "whole", "--looks", "5", db=url).fails(2, "--looks goes with --obf")
    run(*call, "whole", "--max-unscored", "0.05", db=url).fails(
        2, "--max-unscored does not go with --sequential"
    )
    run(*call, "whole", "--set", "model=x", db=url).fails(2, "--set goes with --follow")
    run(*call, "whole", "--cluster", "none", db=url).fails(
        2, "--cluster is for prompts sampled"
    )
    sampled = ("--follow", "x.eval", "--estimand", "prompts-sampled")
    run(*call, "whole", *sampled, db=url).fails(
        2, "--estimand does not go with --follow"
    )
    run(*call, "whole", "--markdown", "--json", db=url).fails(2, "give one of")
    run(*call, "whole", "--markdown", "--follow", "x.eval", db=url).fails(
        2, "leave out --follow"
    )
    summary = run(*call, "whole", "--markdown", db=url)
    assert summary.code == 0 and summary.out.startswith(
        "### ✅ pass: lab/new against lab/old"
    )
    assert (
        "| whole | ✅ pass | " in summary.out
        and "however often one asks" in summary.out
    )
    looks = run(*call, "whole", "--obf", db=url)
    assert (
        looks.code == 0
        and "at its fixed looks alone" in looks.out
        and "however often" not in looks.out
    )


def test_two_conditions_of_one_model_are_told_apart(
    run: Caller, house: Warehouse, url: str
) -> None:
    ids = [
        run_["id"] for run_ in ROWS.rows["run"] if run_.get("temperature") is not None
    ]
    one, other = (f"run:{number}" for number in ids)
    expected = (
        f"{one} (lab/same, temperature=0.0) against {other} (lab/same, temperature=1.0)"
    )
    for found in (
        house.gate(one, other, 0.05),
        house.sequential_gate(one, other, 0.05),
    ):
        assert expected in found.one_line
    text = run(
        "gate", one, other, "--margin", "0.05", "--markdown", db=url
    ).out.splitlines()[0]
    assert "temperature\\=0\\.0" in text.replace("=", "\\=") and "temperature" in text


def test_prompts_of_one_key_come_in_the_order_of_their_occurrence() -> None:
    keys = [("a", 0), ("b", 0), ("a", 2), ("a", 1), ("c", 0)]
    found = [keys[place] for place in order_keys(keys, 1)]
    assert [key for key in found if key[0] == "a"] == [
        ("a", 0),
        ("a", 1),
        ("a", 2),
    ] and len(set(found)) == 5


# --- runs that were stopped early, as a log says it


def write_log(
    path: Path,
    model: str,
    scores: dict[str, float],
    stopping: dict[str, object] | None,
    n: int,
) -> Path:
    """A small Inspect log."""
    results: dict[str, object] = {
        "total_samples": n,
        "completed_samples": len(scores),
        "scores": [],
    }
    if stopping is not None:
        left_out = [{"id": number, "epoch": 1} for number in range(n - len(scores))]
        results["early_stopping"] = {
            "manager": "m",
            "early_stops": left_out,
            "metadata": stopping,
        }
    document = {
        "version": 2,
        "status": "success",
        "eval": {
            "created": "2026-03-01T00:00:00+00:00",
            "task": "sums",
            "task_id": f"t-{model}",
            "run_id": model,
            "model": model,
            "dataset": {"samples": n},
            "config": {},
            "scorers": [{"name": "match"}],
        },
        "plan": {},
        "results": results,
        "stats": {"started_at": "2026-03-01T00:00:00+00:00"},
        "samples": [
            {
                "id": key,
                "epoch": 1,
                "input": f"what is {key}",
                "target": key,
                "messages": [],
                "output": {"model": model, "choices": []},
                "scores": {"match": {"value": "C" if value else "I"}},
            }
            for key, value in scores.items()
        ],
    }
    path.write_text(json.dumps(document))
    return path


RECORD: dict[str, object] = {
    "rule": "betting",
    "manager": "eval-warehouse",
    "verdict": "pass",
    "decided_at": 60,
    "n_prompts": 70,
    "seed": 4,
    "n_max": 250,
    "alpha": 0.1,
    "margin": 0.1,
    "population": N,
    "baseline": "ada",
    "history": [],
}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Three models of which one is complete, and two were stopped: by our rule, and by
    another."""
    folder = tmp_path_factory.mktemp("stopped")
    house = connect(folder / "s.db")
    house.ingest(
        write_log(folder / "a.json", "ada", BASE, None, N), higher_is_better=True
    )
    with house._reading() as store:
        rows = store.arrow("select id, tool_id from prompt").to_pylist()
        names = {row["id"]: row["tool_id"] for row in rows}
        order = [
            names[int(one)]
            for one in order_prompts(read_keys(store, list(names)).values(), 4).prompts
        ]
    house.ingest(
        write_log(
            folder / "b.json", "bob", {key: OWN[key] for key in order[:75]}, RECORD, N
        ),
        higher_is_better=True,
    )
    house.ingest(
        write_log(
            folder / "c.json",
            "cy",
            {key: OWN[key] for key in KEYS[:40]},
            {"why": "tired"},
            N,
        ),
        higher_is_better=True,
    )
    house.ingest(
        write_log(folder / "d.json", "dee", OWN, None, N), higher_is_better=True
    )
    yield house


def test_fixed_n_statistics_are_refused(stopped: Warehouse) -> None:
    for ask in (
        lambda: stopped.compare("bob", "ada"),
        lambda: stopped.gate("bob", "ada", 0.1),
    ):
        with pytest.raises(
            MisuseError,
            match="bob was stopped early by the betting rule.*sequential_gate",
        ):
            ask()
    with pytest.raises(MisuseError, match="cy was stopped early by a rule of m"):
        stopped.compare("ada", "cy")
    notes = stopped.pairs("sums").notes
    assert any(
        "stopped early because of their scores: bob, cy" in note for note in notes
    )


def test_the_leaderboard_has_the_sequential_interval(stopped: Warehouse) -> None:
    board = stopped.leaderboard("sums", subset_ok=True)
    rows = {row.model: row for row in board.rows}
    bob, cy = rows["bob"], rows["cy"]
    assert (
        bob.method == "sequential betting"
        and bob.rank is None
        and "stopped_early" in bob.flags
    )
    assert (
        bob.ci_low is not None
        and bob.ci_high is not None
        and bob.standard_error is None
    )
    usual = 2 * 1.96 * (0.25 / 75) ** 0.5
    assert usual < bob.ci_high - bob.ci_low < 0.5
    assert cy.ci_low is None and "no interval for a fixed number" in cy.reason
    assert {rows["ada"].rank, rows["dee"].rank} == {1, 2}
    assert any("2 rows of runs that were stopped early" in note for note in board.notes)
    assert any("holds whenever one stops" in line for line in board.basis)


def test_the_gate_goes_on_from_the_record(stopped: Warehouse) -> None:
    (row,) = stopped.sequential_gate("bob", "ada", 0.1, seed=4, alpha=0.1).rows
    assert (row.n_max, row.n_prompts, row.n_history) == (250, 75, 0)
    for options in (
        {"seed": 1, "alpha": 0.1},
        {"seed": 4},
        {"seed": 4, "alpha": 0.1, "n_max": 300},
    ):
        with pytest.raises(
            MisuseError, match="under n_max=250 seed=4 alpha=0.1; give the same"
        ):
            stopped.sequential_gate("bob", "ada", 0.1, **options)  # type: ignore[arg-type]
    with pytest.raises(MisuseError, match="of which nothing is known"):
        stopped.sequential_gate("cy", "ada", 0.1)
    with pytest.raises(MisuseError, match="the baseline bob was itself stopped"):
        stopped.sequential_gate("ada", "bob", 0.1)
    with pytest.raises(MisuseError, match="fixed looks"):
        stopped.sequential_gate("bob", "ada", 0.1, seed=4, alpha=0.1, looks=5)


# --- logs that grow


def test_a_growing_log_is_followed_to_its_verdict(
    stopped: Warehouse, tmp_path: Path
) -> None:
    with stopped._reading() as store:
        names = {
            row["id"]: row["tool_id"]
            for row in store.arrow("select id, tool_id from prompt").to_pylist()
        }
        order = [
            names[int(one)]
            for one in order_prompts(read_keys(store, list(names)).values(), 0).prompts
        ]
    log, lengths, said = tmp_path / "log.json", iter([0, 30, 30, 60, N]), []

    def pause() -> bool:
        length = next(lengths, None)
        if length == 0:
            log.write_text('{"version": 2, "status": "started", "eval"')
        elif length:
            write_log(log, "eve", {key: OWN[key] for key in order[:length]}, None, N)
        return length is not None

    found = list(
        stopped.follow_gate(log, "eve", "ada", 0.08, pause=pause, say=said.append)
    )
    assert [row.n_prompts for row in found] == [30, 60, N] or found[
        -1
    ].verdict == "pass"
    assert found[-1].verdict == "pass" and found[0].runs_candidate == () and said
    assert len(stopped.runs()) == 4 if hasattr(stopped, "runs") else True
    expected = sequential_test(
        [OWN[key] for key in order[:30]],
        design_against_baseline([BASE[key] for key in order], 0.08),
    )
    assert (
        stopped.follow_gate is not None
        and found[0].test.n_prompts == expected.n_prompts
    )


def test_a_log_of_other_prompts_is_refused(stopped: Warehouse, tmp_path: Path) -> None:
    other = write_log(
        tmp_path / "o.json", "eve", {f"z{key}": 1.0 for key in KEYS[:5]}, None, N
    )
    with pytest.raises(MisuseError, match="none of the 5 prompts of the log"):
        list(stopped.follow_gate(other, "eve", "ada", 0.1, pause=lambda: False))
    with pytest.raises(MisuseError, match="bob.* was itself stopped early"):
        list(stopped.follow_gate(other, "eve", "bob", 0.1, pause=lambda: False))


def test_the_command_follows(stopped: Warehouse, run: Caller, tmp_path: Path) -> None:
    log = write_log(tmp_path / "l.json", "eve", OWN, None, N)
    found = run(
        "gate",
        "eve",
        "ada",
        "--margin",
        "0.1",
        "--sequential",
        "--follow",
        str(log),
        db=str(stopped.url),
    )
    assert (
        found.code == 0 and "sums: pass after 300 of at most 300 prompts" in found.out
    )
    assert datetime.fromisoformat(found.out.split()[0].removesuffix("Z"))
