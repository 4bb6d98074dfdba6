"""A facet of one level only: its part taken from other models that had several
(statistics.md §27, "One level only").

Never in a default interval and never in a verdict: models differ in how far a judge or
a template moves them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import as_floats
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import Interval, NamedFigures
from warehouse.stats.facets.conditions import FEWEST_LEVELS
from warehouse.stats.facets.total import wilson_reach
from warehouse.stats.rows.seed_row import interval_over_parts

#: Other models at least, and between which means they say something of this one.
FEWEST_DONORS = 4
_MEANS = (0.02, 0.98)


@dataclass(frozen=True)
class BorrowedPart(NamedFigures):
    """V of a facet that this model has one level of, from other models."""

    v: float  #: squared error of the mean by other levels.
    df: float  #: ν: L − 1 where all donors move together, more where each moves alone.
    n_donors: int  #: models that it was taken from.
    n_levels: int  #: levels that each of them had.

    def squared(self, level: float) -> float:
        """T = t²V."""
        return t_quantile(level, self.df) ** 2 * self.v


def borrowed_part(
    level_means: Sequence[ArrayLike],
    noise: Sequence[float],
    means: Sequence[float],
    mean: float,
    *,
    bounded: bool = True,
) -> BorrowedPart:
    """The part of a facet, from models that had several levels of it.

    Args:
        level_means: of each donor its figure at each level, the same L levels in the same
            order, L at least 3.
        noise: R_f of each donor.
        means: mean of each donor over its levels.
        mean: that of the model with one level, in (0, 1) where ``bounded``.
        bounded: scores lie in [0, 1]: spreads are taken on the scale of m(1 − m).

    Raises:
        StatisticsError: fewer than four donors with means between .02 and .98, or fewer
            than three levels.

    Examples:
        >>> donors = [[0.7, 0.62, 0.66], [0.81, 0.7, 0.75], [0.52, 0.47, 0.54], [0.9, 0.85, 0.86]]
        >>> own = [sum(means) / 3 for means in donors]
        >>> round(borrowed_part(donors, [0.0004, 0.0003, 0.0005, 0.0002], own, 0.712).df, 3)
        2.358
    """
    table = as_floats([as_floats(row, "level_means") for row in level_means], "donors")
    if table.ndim != 2 or table.shape[1] < FEWEST_LEVELS:
        raise StatisticsError(
            f"donors need the same {FEWEST_LEVELS} levels or more each, found shape "
            f"{table.shape}"
        )
    own = as_floats(list(means), "means")
    of_noise = as_floats(list(noise), "noise")
    if bounded:
        usable = (own > _MEANS[0]) & (own < _MEANS[1])
    else:
        usable = np.isfinite(own)
    if usable.sum() < FEWEST_DONORS:
        raise StatisticsError(
            f"{int(usable.sum())} other models had several levels and a mean between "
            f"{_MEANS[0]} and {_MEANS[1]}; {FEWEST_DONORS} are needed"
        )
    table, own, of_noise = table[usable], own[usable], of_noise[usable]
    n_donors, n_levels = table.shape
    scale = own * (1 - own) if bounded else np.ones(n_donors)
    profiles = (table - table.mean(axis=1, keepdims=True)) / scale[:, None]
    together = profiles @ profiles.T / (n_levels - 1)
    spread = np.diag(together) - n_levels * of_noise / scale**2
    v = max(0.0, float(spread.mean()))
    if bounded:
        v *= (mean * (1 - mean)) ** 2
    squares = float(np.sum(together**2))
    df = float(n_donors * (n_levels - 1))
    if squares > 0:
        df = min((n_levels - 1) * float(np.trace(together)) ** 2 / squares, df)
    return BorrowedPart(v, df, n_donors, n_levels)


def interval_borrowed(
    mean: float,
    of_prompts: Interval,
    part: BorrowedPart,
    limits: tuple[float, float] | None,
) -> Interval:
    """The interval that counts other levels of a facet too, by a borrowed part.

    Args:
        mean: the figure.
        of_prompts: its interval by other prompts.
        part: what other models say.
        limits: bounds of the scores, or None.
    """
    squared = part.squared(of_prompts.level)
    if squared == 0:
        return of_prompts
    reach: tuple[float, float] | None = (math.sqrt(squared), math.sqrt(squared))
    if limits is not None:
        reach = wilson_reach(mean, squared, limits, of_prompts.level)
    if reach is None:
        return of_prompts
    return interval_over_parts(mean, of_prompts, 1.0, reach, limits)
