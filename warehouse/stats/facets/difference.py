"""The difference of two models over the conditions that both have (statistics.md §27,
"Two models").

What a facet does to both cancels; what stays is model × facet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Bounds, as_level, finite_bounds
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.facets.conditions import Levels
from warehouse.stats.facets.fit import as_table
from warehouse.stats.facets.reach import FacetReach, half_width
from warehouse.stats.facets.total import TotalError, error_of, fit_table

#: Ends of the search for p.
_SMALLEST, _LARGEST = 1e-15, 1.0
_STEPS = 200


@dataclass(frozen=True)
class TotalDifference(NamedFigures):
    """A difference with its error by prompts, and by prompts and settings."""

    error: TotalError  #: of the difference; its ends are cut to the range of scores.
    p_prompts: float | None  #: of other prompts, these settings (E2).
    p_settings: float | None  #: of other prompts and settings (E3), never below it.
    #: ``"both"``: told apart on settings like these; ``"these_settings"``: on these
    #: settings only; ``"open"``: not told apart.
    verdict: str
    n_left_out: int  #: cells that only one of both has.

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.error.estimate


def total_difference(
    first: ArrayLike,
    second: ArrayLike,
    levels: Levels,
    *,
    over: Sequence[str] | None = None,
    clusters: ArrayLike | None = None,
    bounds: Bounds | None = None,
    level: float = 0.95,
    two_levels: bool = False,
    p_prompts: float | None = None,
) -> TotalDifference:
    """First minus second, on the prompts and conditions that both have.

    Args:
        first: mean score of each prompt in each condition, NaN where there is none,
            shape (n, J).
        second: the same of the other model.
        levels: of each facet (by name) the level of each condition, J of them.
        over: facets that are random; None: all. The others are averaged over.
        clusters: cluster of each prompt, shape (n,), or None.
        bounds: of the scores.
        level: nominal coverage, in (0, 1); a difference is told apart at 1 − ``level``.
        two_levels: take facets of two levels as random too.
        p_prompts: p of another test of the same difference on these settings, as
            `compare` gives it; None: Student's t.

    Raises:
        StatisticsError: tables of different shapes, no common cell, and as
            `total_error`.

    Examples:
        >>> a = [[1, 1, 1], [1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1]]
        >>> b = [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 0, 0], [0, 0, 1], [1, 1, 0]]
        >>> found = total_difference(a, b, {"template": ["x", "y", "z"]}, bounds=(0, 1))
        >>> round(found.difference, 4), found.verdict
        (0.3889, 'both')
    """
    one, other = as_table(first), as_table(second)
    if one.shape != other.shape:
        raise StatisticsError(
            f"tables of different shapes: {one.shape} and {other.shape}"
        )
    limits = finite_bounds(bounds)
    gaps = one - other
    common = np.isfinite(gaps)
    n_left_out = int((np.isfinite(one) | np.isfinite(other)).sum() - common.sum())
    has_any = common.any(axis=0)
    if not has_any.any():
        raise StatisticsError("the two have no prompt in a common condition")
    kept = [int(condition) for condition in np.flatnonzero(has_any)]
    chosen = {
        name: [of_facet[condition] for condition in kept]
        for name, of_facet in levels.items()
    }
    fitted = fit_table(gaps[:, kept], chosen, over, clusters, None, two_levels)
    error = error_of(fitted, None, as_level(level))
    if limits is not None:
        error = _cut(error, limits[1] - limits[0])
    v, df = error.v_prompts, error.df_prompts
    if v is None or df is None:
        return TotalDifference(error, None, None, "open", n_left_out)
    if p_prompts is None:
        p_prompts = _plain_p(error.estimate, v, df)
    p_settings = max(
        p_prompts, _p_of_reach(abs(error.estimate), v, df, error.r_all, fitted.reach)
    )
    alpha = 1 - level
    verdict = "open"
    if p_prompts <= alpha:
        verdict = "both" if p_settings <= alpha else "these_settings"
    return TotalDifference(error, p_prompts, p_settings, verdict, n_left_out)


def _plain_p(difference: float, squared: float, df: float) -> float:
    if squared == 0:
        return 1.0 if difference == 0 else t_p_value(math.inf, df)
    return t_p_value(difference / math.sqrt(squared), df)


def _p_of_reach(
    difference: float, v: float, df: float, r_all: float, reach: FacetReach
) -> float:
    """The α at which the interval's half-width is the difference, by bisection on its
    logarithm."""

    def is_beyond(alpha: float) -> bool:
        return half_width(v, df, r_all, reach, 1 - alpha) >= difference

    if not is_beyond(_SMALLEST):
        return _SMALLEST
    low, high = math.log(_SMALLEST), math.log(_LARGEST)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if is_beyond(math.exp(middle)):
            low = middle
        else:
            high = middle
    return math.exp(high)


def _cut(error: TotalError, width: float) -> TotalError:
    """The same with no end beyond the largest possible difference."""
    ends = {}
    for name in (
        *("ci_low", "ci_high"),
        *("prompts_low", "prompts_high"),
        *("other_low", "other_high"),
    ):
        end = getattr(error, name)
        if end is not None:
            ends[name] = min(max(end, -width), width)
    return replace(error, **ends)
