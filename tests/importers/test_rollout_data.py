"""Published runs of verifiers and a run of NeMo Evaluator through the whole path: the
figures of their README."""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.stores import select
from warehouse.analysis.compare.answer import compare
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.ingest.pipeline import ingest
from warehouse.ingest.report import IngestReport
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

#: Questions, rows, mean reward and its error by run id.
FIGURES = {
    "49a7458f": (5, 15, 0.7933333333, 0.1309792180),
    "cb7a1799": (5, 15, 1.0, 0.0),
    "9a56fe55": (5, 15, 1.8810158730, 0.1034830140),
    "816ec3b0": (5, 15, 1.1991185185, 0.0582346307),
    "50519885": (100, 100, 0.88, 0.0326598632),
    "052a81ae": (100, 100, 0.78, 0.0416333200),
    "3762eafa": (5, 15, 0.6333333333, 0.05),
}
#: The error that the stored ids give, which are wrong.
WRONG = {"49a7458f": 0.0845905169, "9a56fe55": 0.0899828740, "3762eafa": 0.0677003200}


@pytest.fixture(scope="module")
def filled(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, IngestReport]]:
    path = tmp_path_factory.mktemp("rollouts") / "real.duckdb"
    with open_store(f"duckdb:///{path}", create=True) as store:
        yield store, ingest(store, [data_dir / "verifiers"])


@pytest.fixture
def store(filled: tuple[Store, IngestReport]) -> Store:
    return filled[0]


def summary(store: Store, run: str, metric: str = "reward") -> dict[str, Any]:
    (row,) = select(
        store,
        "select estimate, se_clt, n_prompts from score_summary s join run r on r.id = "
        "s.run_id "
        "join run_group g on g.id = r.run_group_id where g.harness_run_id = :run and "
        "s.metric = :metric",
        run=run,
        metric=metric,
    )
    return row


def test_ten_runs_and_a_pointer(filled: tuple[Store, IngestReport]) -> None:
    store, report = filled
    assert (report.total("n_runs"), report.total("n_seen_again"), report.unclaimed) == (
        10,
        1,
        (),
    )  # gsm8k was saved twice
    (refused,) = report.refused
    assert "066dba27/results.jsonl: a Git LFS pointer" in (refused.error or "")
    assert check(store).ok


@pytest.mark.parametrize("run", FIGURES)
def test_means_and_errors(store: Store, run: str) -> None:
    questions, _, mean, error = FIGURES[run]
    row = summary(store, run)
    assert (row["n_prompts"], row["estimate"]) == (
        questions,
        pytest.approx(mean, abs=1e-9),
    )
    assert row["se_clt"] == pytest.approx(error, abs=1e-9)


@pytest.mark.parametrize("run", WRONG)
def test_the_stored_ids_would_give_another_error(data_dir: Path, run: str) -> None:
    (path,) = (data_dir / "verifiers").rglob(f"{run}/results.jsonl")
    rewards = defaultdict(list)
    for line in path.read_text().splitlines():
        row = json.loads(line)
        rewards[row["id"]].append(row["reward"])
    means = [statistics.fmean(values) for values in rewards.values()]
    assert statistics.stdev(means) / math.sqrt(len(means)) == pytest.approx(
        WRONG[run], abs=1e-9
    )


def test_the_leaderboard_has_the_right_error(store: Store) -> None:
    row = next(
        row
        for row in leaderboard(store, "math-python").rows
        if row.model == "gpt-4.1-mini"
    )
    assert (row.estimate, row.standard_error) == (
        pytest.approx(0.7933333333),
        pytest.approx(0.1309792180),
    )


def test_parts_of_the_reward_and_counters(store: Store) -> None:
    assert summary(store, "49a7458f", "correct_answer_reward_func")[
        "estimate"
    ] == pytest.approx(0.8)
    assert summary(store, "49a7458f", "num_errors")["estimate"] == pytest.approx(
        0.0666666667
    )
    assert summary(store, "816ec3b0", "check_answer_reward_func")[
        "estimate"
    ] == pytest.approx(0.7333333333)
    assert summary(store, "816ec3b0", "format_reward_func")[
        "estimate"
    ] == pytest.approx(0.8371269841)


def test_two_models_on_the_same_prompts(store: Store) -> None:
    result = compare(store, "gpt-4.1", "gpt-4.1-mini", benchmark="wiki-search")
    (row,) = result.rows
    assert (row.difference, row.standard_error) == (
        pytest.approx(0.1),
        pytest.approx(0.0333333333),
    )


def test_runs_without_completions_have_no_figure(store: Store) -> None:
    """Their rewards are kept as they stood: mmmu 14 of 15, gsm8k none."""
    found = select(
        store,
        "select r.id, r.status, count(s.value) as n_scored, avg(cast(s.raw as double "
        "precision)) as mean, "
        "count(*) as n from score s join run r on r.id = s.run_id join metric m on "
        "m.id = s.metric_id "
        "where m.name = 'reward' and r.status = 'failed' group by r.id, r.status order "
        "by n",
    )
    assert [(row["status"], row["n_scored"], row["n"]) for row in found] == [
        ("failed", 0, 15),
        ("failed", 0, 150),
    ]
    assert [row["mean"] for row in found] == [pytest.approx(0.9333333333), 0.0]


def test_published_averages(filled: tuple[Store, IngestReport]) -> None:
    _, report = filled
    verdicts = {
        (item.benchmark, item.metric): item.verdict for item in report.reconciliation
    }
    exact = {key for key, verdict in verdicts.items() if verdict == "exact"}
    assert {benchmark for benchmark, _ in exact} == {
        "continuation-quality",
        "math-python",
        "wiki-search",
        "adder",
    }
    assert not {"wordle", "mmmu", "gsm8k"} & {
        benchmark for benchmark, _ in verdicts
    }  # not set when they were written
    assert set(verdicts.values()) == {"exact", "null_as_worst"}


def test_a_run_of_the_package_with_failures(filled: tuple[Store, IngestReport]) -> None:
    store, report = filled
    assert summary(store, "42a7f311")["estimate"] == pytest.approx(
        0.85
    )  # without the four that failed
    found = {
        item.metric: item.published
        for item in report.reconciliation
        if item.benchmark == "adder"
    }
    assert found["reward"] == pytest.approx(0.7083333333)
    passes = ("pass@1", "pass@2", "pass@4", "pass^2", "pass^4")
    assert [found[f"passed {name}"] for name in passes] == [
        0.625,
        pytest.approx(0.8333333333),
        pytest.approx(0.8333333333),
        pytest.approx(0.4166666667),
        0.0,
    ]
    failed = select(
        store,
        "select count(*) as n from score s join run r on r.id = s.run_id join metric m "
        "on m.id = s.metric_id "
        "join run_group g on g.id = r.run_group_id where g.harness_run_id = '42a7f311' "
        "and m.name = 'reward' and s.status = 'error' and s.raw = '0.0'",
    )
    assert failed == [{"n": 4}]  # avg_error is 4 of 24


def test_a_run_of_nemo_evaluator(data_dir: Path, tmp_path: Path) -> None:
    with open_store(f"duckdb:///{tmp_path}/nemo.duckdb", create=True) as store:
        report = ingest(store, [data_dir / "nemo_evaluator"])
        assert (
            report.refused,
            report.total("n_samples"),
            report.total("n_scores"),
        ) == ((), 12, 36)
        assert {
            item.metric: (item.published, item.verdict)
            for item in report.reconciliation
        } == {
            "reward pass@1": (0.7778, "rounded"),
            "reward pass@3": (1.0, "exact"),
            "reward": (0.7777777777777778, "exact"),
        }
        values = [row["value"] for row in select(store, "select value from score")]
        assert statistics.stdev(values) == pytest.approx(
            0.42163702135578396
        )  # over rows, not over problems
