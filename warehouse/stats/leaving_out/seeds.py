"""The fewest training seeds without which a mean over seeds is below another
(statistics.md §26.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import FloatArray, as_scores
from warehouse.stats.core.results import NamedFigures


@dataclass(frozen=True)
class HandfulOfSeeds(NamedFigures):
    """Seeds without which the other of two rows leads."""

    #: fewest together; 0 where both means are equal; None where no seeds do, one at
    #: least of each being kept.
    count: int | None
    best_left_out: int  #: of these: the best seeds of the row that leads.
    worst_left_out: int  #: of these: the worst seeds of the other.
    first_leads: bool  #: whether the mean of the first is the higher one.


def handful_of_seeds(first: ArrayLike, second: ArrayLike) -> HandfulOfSeeds:
    """The fewest seeds, all numbers of both tried; of as many, fewer of the row that
    leads.

    Args:
        first: score of each seed of one row, higher is better, finite, shape (s,).
        second: of the other, shape (t,).

    Raises:
        StatisticsError: a row without seeds, or scores that are not finite.

    Examples:
        >>> handful_of_seeds([0.9, 0.5, 0.5], [0.6, 0.6]).count
        1
    """
    own, other = as_scores(first, "first"), as_scores(second, "second")
    if own.mean() == other.mean():
        return HandfulOfSeeds(0, 0, 0, False)
    first_leads = bool(own.mean() > other.mean())
    if not first_leads:
        own, other = other, own
    without_best = _means_of_kept(np.sort(own)[::-1])
    without_worst = _means_of_kept(np.sort(other))
    turned = np.argwhere(without_best[:, None] < without_worst[None, :])
    if not len(turned):
        return HandfulOfSeeds(None, 0, 0, first_leads)
    best, worst = min(turned.tolist(), key=lambda pair: (sum(pair), pair[0]))
    return HandfulOfSeeds(best + worst, best, worst, first_leads)


def _means_of_kept(scores: FloatArray) -> FloatArray:
    """Means without the first 0, 1, … of some scores; one at least is kept."""
    kept = np.cumsum(scores[::-1])[::-1]
    means: FloatArray = kept / np.arange(len(scores), 0, -1)
    return means
