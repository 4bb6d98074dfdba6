"""Scores of models on the prompts of one benchmark, as right answers of so many
draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import right_draws
from warehouse.stats.items.responses import binarise


@dataclass(frozen=True, eq=False)
class Cells:
    """Successes and draws of some models on some prompts."""

    rows: list[int]  #: number of each model in the pool, shape (m,).
    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    successes: NDArray[np.float64]  #: of draws, 0 where missing, shape (m, n).
    trials: NDArray[np.float64]  #: draws, 0 where missing, shape (m, n).


def cells_of(entries: Mapping[int, ScoredCondition]) -> tuple[Cells | None, str]:
    """The cells of models (by number), and what a reader should know of them.

    Scores that are right draws of so many stay counts. Others are cut to right and
    wrong: from between the metric's bounds, else from between 0 and 1. None where they
    lie elsewhere.
    """
    rows = sorted(entries)
    if not rows:
        return None, "left out: no model of the pool has scores on it"
    scores = [entries[row].usable for row in rows]
    present = [run for run in scores if run is not None]
    metric = entries[rows[0]].metric
    prompts = np.unique(np.concatenate([run.prompts for run in present]))
    values = np.full((len(rows), len(prompts)), np.nan)
    trials = np.zeros_like(values)
    counted = [right_draws(run, metric) for run in present]
    reason = next((why for _, why in counted if why), "")
    for number, (run, (right, _)) in enumerate(zip(present, counted, strict=True)):
        columns = np.searchsorted(prompts, run.prompts)
        if reason:
            values[number, columns] = run.values
            trials[number, columns] = 1.0
        else:
            values[number, columns] = right
            trials[number, columns] = run.n_draws
    note = ""
    if reason:
        cut = _cut(values, metric)
        if cut is None:
            return None, _UNCUTTABLE
        values, threshold = cut
        note = (
            f"scores above {threshold:g} (of 0 to 1) count as right, others as wrong: "
            f"{reason}"
        )
    elif metric.higher_is_better is False:
        values = trials - values
    return Cells(rows, prompts, np.nan_to_num(values), trials), note


_UNCUTTABLE = (
    "left out: scores are neither right draws nor between bounds that the metric states"
)


def _cut(
    values: NDArray[np.float64], metric: Metric
) -> tuple[NDArray[np.float64], float] | None:
    """Scores as right and wrong, and from where they are right; None where they do not
    lie between bounds."""
    low, high = metric.bounds or (None, None)
    if low is not None and high is not None and high > low:
        values = (values - low) / (high - low)
    present = np.nan_to_num(values)
    is_within = (present >= 0) & (present <= 1)
    if not is_within.all():
        return None
    if metric.higher_is_better is False:
        values = 1 - values
    return binarise(values)
