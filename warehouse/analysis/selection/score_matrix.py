"""Scores of several conditions as one matrix, prompts x conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats import AllPairs, all_pairs
from warehouse.stats.core.inputs import Bounds, as_clusters, finite_bounds
from warehouse.stats.core.sample import find_link, linearise_figure
from warehouse.stats.paired.own_tests import hull_tests, weighted_tests, with_own_tests


@dataclass(frozen=True)
class ScoreTable:
    """Scores of M conditions.

    Attributes:
        prompts: ids, ascending, shape (n,).
        values: on the scale of the figure, NaN where not scored, shape (n, M).
        clusters: cluster of each prompt, or None.
        note: what was left out to make them comparable, or empty.
        is_weighted: the figures are weighted means, and ``values`` their linearisations.
        weights: of the prompts of each condition, shape (n, M); None where all are alike.
        bounds: of the scores; None for a side without, and where the scores break them.
    """

    prompts: NDArray[np.int64]
    values: NDArray[np.float64]
    clusters: NDArray[np.int64] | None
    note: str
    is_weighted: bool = False
    weights: NDArray[np.float64] | None = None
    bounds: Bounds | None = None


def score_table(entries: Sequence[ScoredCondition], clusters: ClusterMap) -> ScoreTable:
    """The matrix of entries that all have scores with a mean.

    Means of prompts stand as they are, with gaps. Weighted means and figures behind a link are
    no sums over prompts: their linearised values are taken on the prompts that all entries have.
    """
    scores = [entry.usable for entry in entries]
    scored = [item for item in scores if item is not None]
    link = entries[0].metric.link
    prompts = np.unique(np.concatenate([item.prompts for item in scored]))
    if link == "identity" and all(item.uneven_weights is None for item in scored):
        values = np.full((len(prompts), len(scored)), np.nan)
        for index, item in enumerate(scored):
            values[np.searchsorted(prompts, item.prompts), index] = item.values
        bounds = entries[0].metric.bounds_of(*_range(scored))
        return ScoreTable(prompts, values, clusters.labels(prompts), "", bounds=bounds)
    common = scored[0].prompts
    for item in scored[1:]:
        common = np.intersect1d(common, item.prompts, assume_unique=True)
    columns = [_figure_values(item, common, link) for item in scored]
    values = np.column_stack(columns) if len(common) else np.empty((0, len(scored)))
    left = len(prompts) - len(common)
    note = f"{left} prompts that not all have scored are left out of the pairs" if left else ""
    weighted = any(item.uneven_weights is not None for item in scored)
    weights = np.column_stack([item.weights[np.searchsorted(item.prompts, common)] for item in scored])
    labels = clusters.labels(common)
    bounds = None if link != "identity" else entries[0].metric.bounds_of(*_range(scored))
    return ScoreTable(common, values, labels, note, weighted, weights if weighted else None, bounds)


def tested_pairs(table: ScoreTable, *, level: float, n_resamples: int, seed: int, higher_is_better: bool) -> AllPairs:
    """All pairs of the conditions of a table, each by the test that its scores ask for.

    Raises:
        StatisticsError: ``n_resamples`` or ``seed`` out of range.
    """
    figures = all_pairs(
        table.values, table.clusters, level=level, n_resamples=n_resamples, seed=seed, higher_is_better=higher_is_better
    )
    groups = None if table.clusters is None else as_clusters(table.clusters, len(table.values))
    if table.weights is not None:
        return with_own_tests(figures, weighted_tests(table.values, table.weights, groups, figures))
    if finite_bounds(table.bounds) is not None or _zero_one(table.values):
        return figures
    return with_own_tests(figures, hull_tests(table.values, groups, figures))


def _range(scores: Sequence[PromptScores]) -> tuple[float, float]:
    """Smallest and largest score."""
    return min(float(item.values.min()) for item in scores), max(float(item.values.max()) for item in scores)


def _zero_one(values: NDArray[np.float64]) -> bool:
    """Every score is 0 or 1."""
    return bool(np.all((values == 0) | (values == 1) | np.isnan(values)))


def _figure_values(scores: PromptScores, prompts: NDArray[np.int64], link: str) -> NDArray[np.float64]:
    rows = np.searchsorted(scores.prompts, prompts)
    if not len(rows):
        return np.empty(0)
    return linearise_figure(scores.values[rows], scores.weights[rows], find_link(link))
