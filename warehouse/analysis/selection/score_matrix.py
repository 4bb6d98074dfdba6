"""Scores of several conditions as one matrix, prompts x conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats.core.links import find_link, linearise_figure


@dataclass(frozen=True)
class ScoreTable:
    """Scores of M conditions.

    Attributes:
        prompts: ids, ascending, shape (n,).
        values: on the scale of the figure, NaN where not scored, shape (n, M).
        clusters: cluster of each prompt, or None.
        note: what was left out to make them comparable, or empty.
        is_weighted: the figures are weighted means, and ``values`` their linearisations.
    """

    prompts: NDArray[np.int64]
    values: NDArray[np.float64]
    clusters: NDArray[np.int64] | None
    note: str
    is_weighted: bool = False


def score_table(entries: Sequence[ScoredCondition], clusters: ClusterMap) -> ScoreTable:
    """The matrix of entries that all have scores with a mean.

    Means of prompts stand as they are, with gaps. Weighted means and figures behind a link are
    no sums over prompts: their linearised values are taken on the prompts that all entries have.
    """
    scores = [entry.usable for entry in entries]
    known = [item for item in scores if item is not None]
    link = entries[0].metric.link
    prompts = np.unique(np.concatenate([item.prompts for item in known]))
    if link == "identity" and all(item.uneven_weights is None for item in known):
        values = np.full((len(prompts), len(known)), np.nan)
        for place, item in enumerate(known):
            values[np.searchsorted(prompts, item.prompts), place] = item.values
        return ScoreTable(prompts, values, clusters.labels(prompts), "")
    common = known[0].prompts
    for item in known[1:]:
        common = np.intersect1d(common, item.prompts, assume_unique=True)
    columns = [_figure_values(item, common, link) for item in known]
    values = np.column_stack(columns) if len(common) else np.empty((0, len(known)))
    left = len(prompts) - len(common)
    note = f"{left} prompts that not all have scored are left out of the pairs" if left else ""
    weighted = any(item.uneven_weights is not None for item in known)
    return ScoreTable(common, values, clusters.labels(common), note, weighted)


def _figure_values(scores: PromptScores, prompts: NDArray[np.int64], link: str) -> NDArray[np.float64]:
    rows = np.searchsorted(scores.prompts, prompts)
    if not len(rows):
        return np.empty(0)
    return linearise_figure(scores.values[rows], scores.weights[rows], find_link(link))
