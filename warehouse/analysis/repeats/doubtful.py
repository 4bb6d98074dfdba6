"""Conditions of which the runs do not look like repeats of one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import (
    Benchmark,
    Metric,
    choose_metrics,
    metrics_of,
    read_names,
)
from warehouse.analysis.selection.clusterings import cluster_map
from warehouse.analysis.selection.conditions import (
    Condition,
    Run,
    group_runs,
    read_runs,
)
from warehouse.analysis.selection.row_repeats import (
    is_greedy_and_differs,
    repeats_in_words,
    runs_with_scores,
    tested_repeats,
)
from warehouse.analysis.selection.same_answers import (
    FEWEST_DIFFERING,
    MOST_GENERATIONS,
    SameAnswers,
    read_same_answers,
    scored_differently,
)
from warehouse.analysis.selection.scored_conditions import ScoredCondition, read_entries
from warehouse.errors import MisuseError
from warehouse.stats.rows.repeats import RepeatsTest
from warehouse.store.connection import Store

#: Conditions that are named.
_NAMED = 3


def notes_on_conditions(store: Store, keys: Sequence[str]) -> tuple[str, ...]:
    """Which conditions have runs that differ by more than chance, or that have two
    scorers.

    Args:
        keys: of the conditions, one at least.
    """
    conditions = group_runs(
        read_runs(store, "condition_key in (:keys)", {"keys": list(keys)})
    )
    names = read_names(store)
    doubtful: list[_Doubtful] = []
    for name, own in grouped(
        conditions, lambda condition: condition.setting("benchmark")
    ).items():
        doubtful += _on_benchmark(store, names.benchmark(name), own)
    named = [
        repeats_in_words(store, one.entry, one.test, one.scorers)
        for one in doubtful[:_NAMED]
    ]
    n_more = len(doubtful) - len(named)
    if n_more:
        named.append(
            f"{n_more} more conditions have runs that are no mere repeats; warehouse "
            "leaderboard names them"
        )
    return tuple(named)


@dataclass(frozen=True)
class _Doubtful:
    """A condition whose runs are no mere repeats."""

    entry: ScoredCondition
    test: RepeatsTest
    scorers: str  #: what is said of two scorers; empty where there is one.


def _on_benchmark(
    store: Store, benchmark: Benchmark, conditions: Sequence[Condition]
) -> list[_Doubtful]:
    try:
        metrics: Sequence[Metric] = choose_metrics(
            metrics_of(store, benchmark.ids), None, benchmark.name
        )
    except MisuseError:  # no one metric stands for it: nothing is pooled
        return []
    entries = [
        entry
        for entry in read_entries(store, conditions, metrics, with_repeats=True)
        if _may_differ(entry)
    ]
    if not entries:
        return []
    clusters = cluster_map(store, benchmark.ids, benchmark.clusterings, None)
    tested: list[tuple[ScoredCondition, RepeatsTest]] = []
    for entry in entries:
        test = tested_repeats(entry, clusters)
        if test is not None and test.n_differ:
            tested.append((entry, test))
    answers = _same_answers(store, tested, metrics)
    doubtful: list[_Doubtful] = []
    for entry, test in tested:
        own = [
            answer
            for answer in answers
            if answer.runs[0] in entry.condition.run_ids
            and answer.metric_id == entry.metric.id
        ]
        scorers = scored_differently(own, entry.condition.model)
        if (
            scorers
            or "repeats_differ" in test.flags
            or is_greedy_and_differs(entry, test)
        ):
            doubtful.append(_Doubtful(entry, test, scorers))
    return doubtful


def _same_answers(
    store: Store,
    tested: Sequence[tuple[ScoredCondition, RepeatsTest]],
    metrics: Sequence[Metric],
) -> list[SameAnswers]:
    """Equal answers of all conditions at once, as many as are held against one another
    at a time."""
    runs: dict[int, Run] = {}
    n_generations = 0
    for entry, test in tested:
        own = runs_with_scores(entry)
        size = sum(run["n_generations"] or 0 for run in own)
        if test.n_differ < FEWEST_DIFFERING or n_generations + size > MOST_GENERATIONS:
            continue
        n_generations += size
        runs |= {run["run_id"]: run for run in own}
    return read_same_answers(store, runs.values(), metrics)


def _may_differ(entry: ScoredCondition) -> bool:
    """True if a score of some prompt is another in another run."""
    scores = entry.usable
    if scores is None or len(scores.repeats) < 2:
        return False
    first = scores.repeats[0]
    return any(
        not np.array_equal(own.prompts, first.prompts)
        or not np.array_equal(own.values, first.values)
        for own in scores.repeats[1:]
    )
