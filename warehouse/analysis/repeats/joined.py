"""What is said where new runs join runs of their condition, and do not look like repeats of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import Benchmark, Metric, choose_metrics, metrics_of, read_names
from warehouse.analysis.selection.clusterings import cluster_map
from warehouse.analysis.selection.conditions import Condition, group_runs, read_runs
from warehouse.analysis.selection.rows import repeats_in_words
from warehouse.analysis.selection.scored_conditions import ScoredCondition, read_entries
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Conditions that are looked at of one ingest, the last first.
MOST_CONDITIONS = 200
#: Conditions that are named.
_NAMED = 3


def notes_on_joined(store: Store, run_ids: Sequence[int]) -> tuple[str, ...]:
    """Which conditions of some new runs have runs that differ by more than chance, or that have two scorers.

    Args:
        run_ids: of runs of which some joined runs of their condition.
    """
    if not run_ids:
        return ()
    parameters = {"run_ids": list(run_ids), "most": MOST_CONDITIONS}
    keys = [row["condition_key"] for row in store.rows(query_text("store", "joined_conditions"), parameters)]
    if not keys:
        return ()
    conditions = group_runs(read_runs(store, "condition_key in (:keys)", {"keys": keys}))
    notes: list[str] = []
    names = read_names(store)
    for name, own in grouped(conditions, lambda condition: condition.setting("benchmark")).items():
        benchmark = names.benchmark(name)
        notes += _on_benchmark(store, benchmark, own)
    if len(notes) > _NAMED:
        return (*notes[:_NAMED], f"{len(notes) - _NAMED} more conditions with runs that are no mere repeats")
    return tuple(notes)


def _on_benchmark(store: Store, benchmark: Benchmark, conditions: Sequence[Condition]) -> list[str]:
    try:
        metrics: Sequence[Metric] = choose_metrics(metrics_of(store, benchmark.ids), None, benchmark.name)
    except MisuseError:  # no one metric stands for it: nothing is pooled
        return []
    clusters = cluster_map(store, benchmark.ids, benchmark.clusterings, None)
    notes = []
    for entry in read_entries(store, conditions, metrics, with_repeats=True):
        if not _may_differ(entry):
            continue
        said = repeats_in_words(store, entry, clusters)
        if said:
            notes.append(said)
    return notes


def _may_differ(entry: ScoredCondition) -> bool:
    """Whether a score of some prompt is another in another run."""
    scores = entry.usable
    if scores is None or len(scores.repeats) < 2:
        return False
    first = scores.repeats[0]
    return any(
        not np.array_equal(own.prompts, first.prompts) or not np.array_equal(own.values, first.values)
        for own in scores.repeats[1:]
    )
