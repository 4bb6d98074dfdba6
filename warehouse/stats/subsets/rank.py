"""The rank of a model that was asked a sample, among models that were asked all prompts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import as_floats
from warehouse.stats.core.result_base import Figures
from warehouse.stats.subsets.design import rounded


@dataclass(frozen=True)
class SubsetRank(Figures):
    """A rank and the set that the interval leaves.

    Attributes:
        rank: 1 + models with a better figure.
        rank_low: best rank in the set: 1 + models better than the interval's better end; None without one.
        rank_high: worst rank in it: 1 + models at least as good as its worse end.
    """

    rank: int
    rank_low: int | None
    rank_high: int | None


def rank_among(
    estimate: float, low: float | None, high: float | None, figures: ArrayLike, *, higher_is_better: bool = True
) -> SubsetRank:
    """Where an estimate stands among known figures (statistics.md §10), at 12 significant digits.

    Args:
        estimate: θ̂.
        low: lower end of its interval, None without one.
        high: upper end.
        figures: θ_k of the models with all prompts, shape (M,).
        higher_is_better: the direction of the metric.
    """
    sign = 1.0 if higher_is_better else -1.0
    known = np.array(rounded(sign * as_floats(figures, "figures")))
    (theta,) = rounded(np.array([sign * estimate]))
    rank = 1 + int((known > theta).sum())
    if low is None or high is None:
        return SubsetRank(rank, None, None)
    worse, better = sorted(rounded(sign * np.array([low, high])))
    return SubsetRank(rank, 1 + int((known > better).sum()), 1 + int((known >= worse).sum()))
