"""Rows of all pairs, and all pairs as people are shown them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.analysis.comparison.pair_group import PairGroup
from warehouse.analysis.comparison.words import better_in_words
from warehouse.analysis.results import Row
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import outside_clusters
from warehouse.analysis.selection.score_matrix import ScoreTable
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.stats import AllPairs, paired_flags, too_few_units
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import decimals, direction, interval, meanings, number, p_value


@dataclass(frozen=True)
class PairRow(Row):
    """The difference of two conditions on the prompts that both have, first minus second.

    The better one by its figure comes first.

    Attributes:
        benchmark: name of the benchmark.
        split: part of the benchmark.
        metric: name of the metric, with its filter.
        model_a: the first model.
        condition_a: settings that tell it from others.
        model_b: the second model.
        condition_b: settings that tell it from others.
        mean_a: figure of the first over its own scored prompts.
        mean_b: figure of the second over its own scored prompts.
        difference: mean of first minus second over the common prompts.
        standard_error: paired; CR2 with clusters. None where 0 or not defined.
        ci_low: lower end of the simultaneous interval (max-|T|): all intervals of the group hold
            together at the level.
        ci_high: upper end of it.
        level: of the intervals; 1 - level is the size of the tests.
        p_value: two-sided t test of this pair alone.
        p_holm: Holm's adjustment over all pairs of the group.
        p_bh: Benjamini and Hochberg's.
        p_step_down: from random signs of all pairs together, step by step (max-|T|); at least ``p_value``.
        p_max_t: ``p_step_down``, under its former name.
        better: ``"a"`` or ``"b"`` where Holm's p is at most 1 - level, by the metric's direction;
            empty where it is not or the direction is unknown.
        correlation: of the two over the common prompts.
        n_prompts: prompts that both have a score of.
        n_clusters: clusters among them; None without clusters.
        n_pairs: pairs of the group that were adjusted for.
        n_resamples: draws of max-|T|; all vectors of signs, where these are no more than were asked for.
        seed: of the draws.
        critical_value: of max-|T|, by which errors are multiplied; None without draws, and where there
            are too few prompts (clusters) to tell any difference.
        reason: why there is no error, empty where there is one.
        runs_a: ids of the runs of the first.
        runs_b: ids of the runs of the second.
        flags: warnings, as a comparison of the pair gives them.
    """

    benchmark: str
    split: str
    metric: str
    model_a: str
    condition_a: str
    model_b: str
    condition_b: str
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    p_value: float | None
    p_holm: float | None
    p_bh: float | None
    p_step_down: float | None
    p_max_t: float | None
    better: str
    correlation: float | None
    n_prompts: int
    n_clusters: int | None
    n_pairs: int
    n_resamples: int
    seed: int
    critical_value: float | None
    reason: str
    runs_a: tuple[int, ...]
    runs_b: tuple[int, ...]
    flags: tuple[str, ...] = ()


def pair_rows(
    entries: Sequence[ScoredCondition], pairs: AllPairs, table: ScoreTable | None = None
) -> Iterator[PairRow]:
    """The rows of all pairs of ``entries``, which are the models of ``pairs`` in order.

    Args:
        table: the scores behind them, for the flags; None: no flags.
    """
    n_pairs = sum(not math.isnan(p) for p in pairs.p_value.tolist())
    for place, (first, second) in enumerate(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)):
        a, b = entries[first], entries[second]
        benchmark, split = a.condition.benchmark_split
        yield PairRow(
            benchmark=benchmark,
            split=split,
            metric=a.metric.label,
            model_a=a.condition.model,
            condition_a=a.label,
            model_b=b.condition.model,
            condition_b=b.label,
            mean_a=known(pairs.means[first]),
            mean_b=known(pairs.means[second]),
            level=pairs.level,
            better=_better(pairs, place, a.metric.higher_is_better),
            n_prompts=int(pairs.n_prompts[place]),
            n_clusters=None if pairs.n_clusters is None else int(pairs.n_clusters[place]),
            n_pairs=n_pairs,
            n_resamples=pairs.n_resamples,
            seed=pairs.seed,
            critical_value=known(pairs.critical_value),
            reason=pairs.reasons[place],
            runs_a=a.condition.run_ids,
            runs_b=b.condition.run_ids,
            flags=() if table is None else _flags(table, first, second, a.metric),
            **_figures(pairs, place),
        )


def _flags(table: ScoreTable, first: int, second: int, metric: Metric) -> tuple[str, ...]:
    a, b = table.values[:, first], table.values[:, second]
    common = ~(np.isnan(a) | np.isnan(b))
    if not common.any():
        return ()
    a, b = a[common], b[common]
    clusters = None if table.clusters is None else table.clusters[common]
    weights = (None, None) if table.weights is None else (table.weights[:, first], table.weights[:, second])
    flags = paired_flags(a, b, clusters, bounds=table.bounds, weights_a=weights[0], weights_b=weights[1])
    if metric.link == "identity" and not table.is_weighted and too_few_units(a - b, clusters):
        flags += ("too_few_units",)
    return flags + outside_clusters(clusters)


def known(value: Any) -> float | None:
    """A number, None for NaN and infinity."""
    return float(value) if math.isfinite(value) else None


def _figures(pairs: AllPairs, place: int) -> dict[str, float | None]:
    names = {
        "difference": "difference",
        "standard_error": "standard_error",
        "p_value": "p_value",
        "ci_low": "simultaneous_low",
        "ci_high": "simultaneous_high",
        "p_holm": "p_holm",
        "p_bh": "p_bh",
        "p_step_down": "p_step_down",
        "p_max_t": "p_step_down",
        "correlation": "correlation",
    }
    return {field: known(getattr(pairs, name)[place]) for field, name in names.items()}


def _better(pairs: AllPairs, place: int, higher_is_better: bool | None) -> str:
    if higher_is_better is None or not pairs.differ[place]:
        return ""
    return "a" if (pairs.difference[place] > 0) == higher_is_better else "b"


#: Columns that a narrow terminal does without, the first of them first.
MINOR = ("correlation", "p", "p BH", "prompts", "clusters", "se", "p step-down", "split", "p Holm")


def pairs_view(
    benchmark: str,
    metric: str,
    higher_is_better: bool | None,
    rows: Sequence[PairRow],
    groups: Sequence[PairGroup],
    notes: Sequence[str],
) -> View:
    """The rows of each group with its conditions' labels, and how they were tested."""
    labels = {
        runs: label
        for group, members in zip(groups, _members(rows, groups), strict=True)
        for runs, label in zip(members, group.labels, strict=True)
    }
    places = decimals(row.standard_error for row in rows)
    hide_empty = ("split", "clusters", "flags", "why not", _simultaneous(rows[0].level))
    table = Table.of([_cells(row, places, labels) for row in rows], hide_empty=hide_empty, minor=MINOR)
    flags = [TableNote(line, "flags") for line in meanings(flag for row in rows for flag in row.flags)]
    head = (pairs_head(benchmark, metric, higher_is_better), *counted(groups))
    return View((*head, table, *tests(groups), *flags), tuple(notes))


def pairs_head(benchmark: str, metric: str, higher_is_better: bool | None) -> str:
    """What the pairs are compared by."""
    return f"{benchmark} by {metric} ({direction(higher_is_better)})"


def counted(groups: Sequence[PairGroup]) -> list[str]:
    """How many pairs of each group differ, in a sentence."""
    return [f"{group.pairs}." for group in groups]


def tests(groups: Sequence[PairGroup]) -> list[str]:
    """How each group was tested, in a sentence."""
    sentences = []
    for group in groups:
        pairs = group.pairs
        width = f"{pairs.critical_value:.3g} errors each side or more"
        if math.isinf(pairs.critical_value):
            width = f"none, too few {'prompts' if pairs.n_clusters is None else 'clusters'} to tell a difference"
        draws = f"all {pairs.n_resamples} signs" if pairs.exact else f"{pairs.n_resamples} draws, seed {pairs.seed}"
        together = f"; simultaneous intervals by max-|T|, {draws}: {width}"
        errors = "paired" if pairs.n_clusters is None else "paired, clustered (CR2)"
        sentences.append(f"errors {errors}{'' if math.isnan(pairs.critical_value) else together}")
    return sentences


def _simultaneous(level: float) -> str:
    """The column of intervals, which stays away where there were no draws."""
    return f"{100 * level:g}% simultaneous"


def _members(rows: Sequence[PairRow], groups: Sequence[PairGroup]) -> list[list[tuple[int, ...]]]:
    """Run ids of the conditions of each group, in order."""
    members, left = [], list(rows)
    for group in groups:
        size = len(group.models)
        own, left = left[: size * (size - 1) // 2], left[size * (size - 1) // 2 :]
        members.append([own[0].runs_a, *(row.runs_b for row in own[: size - 1])])
    return members


def _cells(row: PairRow, places: int, labels: dict[tuple[int, ...], str]) -> dict[str, Any]:
    return {
        "split": row.split,
        "a": labels[row.runs_a],
        "b": labels[row.runs_b],
        "a - b": number(row.difference, places, sign=True),
        "se": number(row.standard_error, places),
        _simultaneous(row.level): interval(row.ci_low, row.ci_high, places, at=row.difference),
        "p": p_value(row.p_value),
        "p Holm": p_value(row.p_holm),
        "p BH": p_value(row.p_bh),
        "p step-down": p_value(row.p_step_down),
        "better": better_in_words(row),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "correlation": number(row.correlation, 2),
        "flags": row.flags,
        "why not": row.reason,
    }
