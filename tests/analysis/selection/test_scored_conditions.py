"""Which rows stand side by side, what they cover, and what is said of those that do
not: without a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.analysis.test_without_store import ACC, NOBODY
from warehouse.analysis.selection import score_matrix
from warehouse.analysis.selection.benchmarks import Benchmark, BenchmarkFacts
from warehouse.analysis.selection.clusterings import ClusterMap, outside_clusters
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.other_metrics import scored_metrics
from warehouse.analysis.selection.published_figures import PublishedFigure
from warehouse.analysis.selection.reference import choose_conditions
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    coverage_flags,
    coverage_of,
    group_entries,
    list_differences,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.selection.targets import targets_of
from warehouse.analysis.sequential.stopped import StoppedScores, StoppingRecord
from warehouse.errors import MisuseError


def row(
    name: str,
    prompts: Sequence[int] = (1, 2, 3),
    published: int | None = None,
    **setting: Any,
) -> ScoredCondition:
    """A condition of one run or, with several ``statuses``, of repeats."""
    ids, n = np.array(prompts, dtype=np.int64), len(prompts)
    flat = np.ones(n)
    scores = PromptScores(
        ids, flat, flat, flat, np.full(n, np.nan), flat > 0, ids, np.zeros(n), 0, n
    )
    statuses = setting.pop("statuses", ["complete"])
    shared = {
        "model": name,
        "benchmark": "quiz",
        "split": "",
        "task_version": None,
        "n_benchmark": None,
    }
    shared |= {"position": None, "benchmark_id": 1} | setting
    runs = tuple(
        shared | {"run_id": number, "status": status}
        for number, status in enumerate(statuses)
    )
    figure = None if published is None else PublishedFigure(0.5, None, published)
    return ScoredCondition(Condition(name, runs), name, ACC, scores, figure)


def test_versions_of_a_task_are_groups_and_none_is_that_without_a_name() -> None:
    entries = [
        row("a", task_version="1"),
        row("b", task_version="2"),
        row("c"),
        row("d", task_version=""),
    ]
    groups = [
        [entry.label for entry in members]
        for members in group_entries(entries).values()
    ]
    assert groups == [["a"], ["b"], ["c", "d"]]


def test_differences_of_groups_are_named_with_the_values_that_people_know() -> None:
    entries = [row("a", task_version="2", split="test"), row("b", split="test")]
    other = replace(entries[0], metric=replace(ACC, parameters_key="5f3e"))
    assert list_differences(group_entries(entries)) == ["task version (none, 2)"]
    assert list_differences(group_entries([entries[0], other])) == [
        "settings of the scorer"
    ]


def test_a_complete_run_is_not_of_other_prompts_where_most_runs_saw_a_part() -> None:
    entries = [
        row("whole", (1, 2, 3)),
        row("part", (1, 2)),
        row("same part", (1, 2)),
        row("other part", (2, 3)),
    ]
    whole = coverage_of(entries)
    assert whole.size == 3
    assert [coverage_flags(entry, whole) for entry in entries] == [
        (),
        *[("subset",)] * 3,
    ]


def test_of_complete_runs_those_that_saw_what_most_did_not_are_of_other_prompts() -> (
    None
):
    entries = [row("a"), row("b"), row("c", (1, 2, 4))]
    whole = coverage_of(entries)
    assert [coverage_flags(entry, whole) for entry in entries] == [
        (),
        (),
        ("other_prompts",),
    ]


@pytest.mark.parametrize(
    ("statuses", "published", "is_cut"),
    [
        (["complete"], 9, False),  # prompts that it lacks were not cut off
        (["truncated"], 9, True),
        (["truncated"], 3, False),  # the figure is of the same prompts
        (["truncated", "complete"], 9, True),
        (["truncated", "complete"], 0, False),
        (["truncated", "truncated"], 0, True),
        (["truncated"], None, False),
    ],
)
def test_a_figure_of_more_than_the_samples_needs_a_truncated_run(
    statuses: list[str], published: int | None, is_cut: bool
) -> None:
    assert row("a", published=published, statuses=statuses).is_cut is is_cut


@pytest.mark.parametrize("n", [5, 6])
def test_who_has_no_score_is_named(n: int) -> None:
    """Five at most, and only those."""
    scored = row("org/z")
    lacking = tuple(row(f"org/{place}").condition for place in range(n))
    found = targets_of(
        BenchmarkScores(
            Benchmark("quiz", (1,), ()),
            (ACC,),
            (scored,),
            ClusterMap(NOBODY, NOBODY),
            conditions=(scored.condition, *lacking),
            facts=BenchmarkFacts(),
        )
    )
    names = ", ".join(f"org/{place}" for place in range(5))
    assert found.left_out == (
        f"quiz: no prompt scored by acc: {names}{', ...' if n > 5 else ''}",
    )
    assert [target.condition.model for target in found.scored] == ["org/z"]


def test_nobody_is_told_to_take_a_metric_without_a_mean() -> None:
    metrics = [
        replace(ACC, id=2, name="f1"),
        replace(ACC, id=3, name="corpus_bleu", link="none"),
    ]
    held = [
        {"run_id": 0, "metric_id": 2, "n_scored": 4},
        {"run_id": 0, "metric_id": 3, "n_scored": 4},
    ]
    assert scored_metrics(held, metrics, [row("a").condition]) == {"f1": 1}


def test_a_benchmark_without_runs_says_where_to_look() -> None:
    with pytest.raises(
        MisuseError, match="^quiz has no current run; see: warehouse list runs$"
    ):
        choose_conditions([], "quiz", [])


def test_prompts_that_clusters_leave_out_are_flagged() -> None:
    clusters = ClusterMap(np.array([1, 2]), np.array([0, 5]))
    flags = [
        outside_clusters(clusters.labels(np.array(prompts)))
        for prompts in ([1, 2], [1, 2, 3], [3, 4])
    ]
    assert flags == [
        (),
        ("prompts_outside_clusters",),
        (),
    ]  # the last are in none: there are no clusters


def test_prompts_that_are_not_known_have_no_order() -> None:
    record = StoppingRecord("betting", seed=3)
    assert StoppedScores(record).order is None
    seen = tuple(
        {"id": number, "key": f"p{number}", "occurrence": 0} for number in (4, 5)
    )
    order = StoppedScores(record, seen).order
    assert order is not None and sorted(order.prompts.tolist()) == [4, 5]
    assert StoppedScores(StoppingRecord("theirs"), seen).order is None


RNG = np.random.default_rng(5)
RIGHT = RNG.integers(0, 2, (12, 3)).astype(float)
SHARES = RNG.uniform(0.1, 0.9, (12, 3)) ** 4
WIDE = RNG.lognormal(0, 1.5, (12, 3))


@pytest.mark.parametrize(
    ("values", "bounds", "is_students"),
    [
        (RIGHT, None, True),
        (RIGHT, (0.0, 1.0), True),
        (SHARES, (0.0, 1.0), True),
        (WIDE, None, False),
    ],
    ids=["0 or 1", "0 or 1 as stated", "within bounds", "without bounds"],
)
def test_pairs_are_tested_by_students_t_unless_nothing_bounds_the_scores(
    values: Any, bounds: tuple[float, float] | None, is_students: bool
) -> None:
    table = score_matrix.ScoreTable(np.arange(12), values, None, "", bounds=bounds)
    found = score_matrix.tested_pairs(
        table, level=0.95, n_resamples=200, seed=1, higher_is_better=True
    )
    students = [
        stats.ttest_rel(values[:, a], values[:, b]).pvalue
        for a, b in zip(found.first, found.second, strict=True)
    ]
    same = np.isclose(found.p_value, students, rtol=1e-9)
    careful = (same | (found.p_value > students)).all()
    assert same.all() if is_students else careful and not same.all()
