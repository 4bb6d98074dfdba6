"""Figures of a metric that two tools name otherwise, once a person says that it is one:
those of a store in which it has one name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import fill
from tests.support.stores import store_at
from warehouse.analysis.compare.answer import compare
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.pairs.answer import pairs
from warehouse.analysis.suites.answer import suite_leaderboard
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.curate.metric_aliases import alias_metric, unalias_metric
from warehouse.store.open import open_store
from warehouse.store.schema import tables

PROMPTS = [f"p{number}" for number in range(12)]


def build(*names: str) -> StoreRows:
    """Three models on two benchmarks of a suite, of which the second is scored by
    another name of the metric; one has two seeds, a name each."""
    rows = StoreRows()
    own, other = rows.metric(names[0]), rows.metric(names[-1])
    for place, benchmark in enumerate(("quiz", "exam")):
        rows.benchmark(benchmark, parent="all")
        for metric in {own: 0, other: 0}:
            rows.describe(benchmark, metric, default=None)
        for number, (model, seed, metric) in enumerate(
            (("a", "", own), ("b", "", other), ("c", "1", own), ("c", "2", other))
        ):
            run = rows.run(f"org/{model}", benchmark, seed=seed)
            values = {
                key: float((at * (number + 2) + place) % 5 > number)
                for at, key in enumerate(PROMPTS)
            }
            rows.scores(run, values, metric)
    return rows


@pytest.fixture(scope="module")
def under_one_name(tmp_path_factory: pytest.TempPathFactory) -> Any:
    url = store_at(tmp_path_factory.mktemp("one") / "one.db")
    fill(url, build("acc"))
    with open_store(url) as store:
        yield store


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    return build("acc", "correct")


def figures(store: Store) -> list[Any]:
    """All that four questions say, without what names the scores' own metric."""
    board = leaderboard(store, "quiz")
    answers = [
        board.rows,
        compare(store, "org/a", "org/b").rows,
        compare(store, "org/b", "org/c", metric="acc").rows,
        pairs(store, "quiz").rows,
        suite_leaderboard(store, "all").rows,
    ]
    return [[row.to_dict() for row in rows] for rows in answers]


def test_every_question_has_the_figures_of_one_name(
    own_url: str, under_one_name: Store
) -> None:
    with open_store(own_url, write=True) as store:
        before = leaderboard(store, "quiz")
        assert len(before.rows) == 2
        for benchmark in ("quiz", "exam"):
            alias_metric(store, "correct", "acc", benchmark=benchmark)
        expected, found = figures(under_one_name), figures(store)
        for ours, theirs in zip(expected, found, strict=True):
            assert [without_notes(row) for row in theirs] == [
                without_notes(row) for row in ours
            ]
        board = leaderboard(store, "quiz", metric="correct")
        assert board.metric == "acc"
        assert any("correct counts as acc" in note for note in board.notes)
        assert any(
            "correct counts as acc" in note for note in pairs(store, "quiz").notes
        )
        assert any(
            "org/b on exam" in note for note in suite_leaderboard(store, "all").notes
        )
        unalias_metric(store, "correct", benchmark="quiz")
        assert leaderboard(store, "quiz").rows == before.rows


def without_notes(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "note"}


def test_a_comparison_says_which_name_a_figure_had(own_url: str) -> None:
    with open_store(own_url, write=True) as store:
        with pytest.raises(MisuseError, match="fix alias correct acc --metric --on"):
            compare(store, "org/a", "org/b", benchmark="quiz")
        alias_metric(store, "correct", "acc")
        found = compare(store, "org/a", "org/b", benchmark="quiz")
        assert any("correct counts as acc" in note for note in found.notes)


def test_what_a_model_has_by_its_own_name_counts(own_url: str) -> None:
    """A run with both names, of equal scores, is one row of as many draws."""
    with open_store(own_url, write=True) as store:
        with store.begin() as connection:
            connection.exec_driver_sql(
                "insert into run_metric select run_id, 2, n_scored from run_metric "
                "where run_id = 1 and metric_id = 1"
            )
            for table in (tables.score, tables.prompt_score):
                columns = ", ".join(
                    "2" if column.name == "metric_id" else column.name
                    for column in table.columns
                )
                connection.exec_driver_sql(
                    f"insert into {table.name} select {columns} from {table.name} "
                    "where run_id = 1"
                )
        alone = leaderboard(store, "quiz", where=("model=org/a",)).rows
        alias_metric(store, "correct", "acc")
        (row,) = leaderboard(store, "quiz", where=("model=org/a",)).rows
        assert (row.estimate, row.standard_error, row.n_prompts) == (
            alone[0].estimate,
            alone[0].standard_error,
            len(PROMPTS),
        )
        (pair,) = compare(store, "org/a", "org/b", benchmark="quiz").rows
        assert pair.n_prompts == len(PROMPTS)


def test_a_name_that_cannot_be_it_any_more_is_itself(own_url: str) -> None:
    """A later dump says that the metric points the other way."""
    with open_store(own_url, write=True) as store:
        alias_metric(store, "correct", "acc")
        with store.begin() as connection:
            connection.exec_driver_sql(
                "update benchmark_metric set higher_is_better = false where metric_id = 2"
            )
        board = leaderboard(store, "quiz")
        assert {other.metric for other in board.others} == {"correct"}
