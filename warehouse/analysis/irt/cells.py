"""Scores of the models on one form of a benchmark as successes of draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.right_draws import right_draws
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.stats.items.responses import binarise


@dataclass(frozen=True, eq=False)
class Cells:
    """Successes and draws of some models on some prompts.

    Attributes:
        rows: number of each model in the pool, shape (m,).
        prompts: ids, ascending, shape (n,).
        successes: of draws, 0 where missing, shape (m, n).
        trials: draws, 0 where missing, shape (m, n).
    """

    rows: list[int]
    prompts: NDArray[np.int64]
    successes: NDArray[np.float64]
    trials: NDArray[np.float64]


def cells_of(entries: Mapping[int, ScoredCondition]) -> tuple[Cells | None, str]:
    """The cells of models (by number), and what a reader should know of them.

    Scores that are right draws of so many stay counts. Others are cut to right and wrong: from
    between the metric's bounds, else from between 0 and 1. None where they lie elsewhere.
    """
    rows = sorted(entries)
    if not rows:
        return None, "left out: no model of the pool has scores on it"
    scores = [entries[row].usable for row in rows]
    known = [one for one in scores if one is not None]
    metric = entries[rows[0]].metric
    prompts = np.unique(np.concatenate([one.prompts for one in known]))
    shape = (len(rows), len(prompts))
    y, k = np.full(shape, np.nan), np.zeros(shape)
    counted = [right_draws(one, metric) for one in known]
    reason = next((why for _, why in counted if why), "")
    for place, (one, (right, _)) in enumerate(zip(known, counted, strict=True)):
        columns = np.searchsorted(prompts, one.prompts)
        y[place, columns] = one.values if reason else right
        k[place, columns] = 1.0 if reason else one.n_draws
    note = ""
    if reason:
        low, high = metric.bounds or (None, None)
        if low is not None and high is not None and high > low:
            y = (y - low) / (high - low)
        if not ((np.nan_to_num(y) >= 0) & (np.nan_to_num(y) <= 1)).all():
            return None, "left out: scores are neither right draws nor between bounds that the metric states"
        y, threshold = binarise(1 - y if metric.higher_is_better is False else y)
        note = f"scores above {threshold:g} (of 0 to 1) count as right, others as wrong: {reason}"
    elif metric.higher_is_better is False:
        y = k - y
    return Cells(rows, prompts, np.nan_to_num(y), k), note
