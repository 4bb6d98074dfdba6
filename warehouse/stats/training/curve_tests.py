"""What a curve along training shows: where it leaves chance, where it falls, where two cross.

Every family of tests is adjusted over the checkpoints by Holm (1979): statistics.md asks for a
correction over checkpoints and names none. Neighbouring checkpoints depend on each other, which
Holm allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_level
from warehouse.stats.core.rejects import rejects
from warehouse.stats.core.result_base import Figures
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.training.inputs import as_trajectory


def binomial_p_above(successes: float, n: int, chance: float) -> float:
    """P(X ≥ successes) of n independent answers that are right with probability ``chance``: the
    exact test of one run whose scores are 0 or 1.

    Args:
        successes: right answers, a whole number in [0, n].
        n: prompts, at least 1.
        chance: in [0, 1].
    """
    if not 0 <= chance <= 1 or not 0 <= successes <= n:
        raise StatisticsError(f"expected chance in [0, 1] and successes in [0, n], found {chance}, {successes} of {n}")
    return float(special.bdtrc(successes - 1, n, chance)) if successes > 0 else 1.0


@dataclass(frozen=True)
class Departure(Figures):
    """Which checkpoints are significant.

    Attributes:
        p_holm: adjusted over the checkpoints that could be tested, NaN for the others.
        first: place of the first significant checkpoint; None without one.
        from_here_on: place from which every checkpoint is significant; None if the last is not.
    """

    p_holm: tuple[float, ...]
    first: int | None
    from_here_on: int | None


def departure(p_values: ArrayLike, *, level: float = 0.95) -> Departure:
    """Where a curve leaves a line, from one-sided p-values by checkpoint.

    Args:
        p_values: in the order of training, NaN where there is no test, shape (T,).
        level: 1 − the chance of any false alarm over the curve, in (0, 1).

    Raises:
        StatisticsError: a value outside [0, 1].
    """
    adjusted = holm(p_values)
    significant = rejects(adjusted, 1 - as_level(level))
    places = np.flatnonzero(significant)
    tested = np.flatnonzero(~np.isnan(adjusted))
    misses = tested[~significant[tested]]
    start = places[places > (misses[-1] if len(misses) else -1)]
    return Departure(
        tuple(adjusted.tolist()), int(places[0]) if len(places) else None, int(start[0]) if len(start) else None
    )


@dataclass(frozen=True)
class Crossing(Figures):
    """Where the difference of two curves changes its sign.

    Attributes:
        low: last checkpoint at which the one is significantly ahead before the other first is:
            with probability ``level`` the true curves change places between ``low`` and ``high``.
            None where no change is shown.
        high: first checkpoint at which the other is significantly ahead.
        place: between the two, where the sum of differences turns, interpolated linearly between
            neighbouring checkpoints; None where no change is shown.
        ahead_before: +1 if the first curve is the higher one before, −1 if the second; 0 unknown.
        ahead_after: the same after.
        n_changes: significant changes; the first is shown.
        n_ahead: checkpoints at which the first is significantly the higher.
        n_behind: at which it is significantly the lower.
        p_holm: two-sided p by checkpoint, adjusted over checkpoints.
        level: in (0, 1).
    """

    low: float | None
    high: float | None
    place: float | None
    ahead_before: int
    ahead_after: int
    n_changes: int
    n_ahead: int
    n_behind: int
    p_holm: tuple[float, ...]
    level: float


def crossing(differences: ArrayLike, p_values: ArrayLike, positions: ArrayLike, *, level: float = 0.95) -> Crossing:
    """Where two curves cross (Madaan et al. 2024 §3.3), with an interval of the place.

    The interval is one of signs: between two checkpoints whose differences are significant with
    opposite signs (Holm over all checkpoints, two-sided) the true difference must change its sign,
    whatever the curves look like in between. It needs no model and no bootstrap, and its level
    holds also where the curves touch more than once.

    Args:
        differences: first curve minus second, finite, shape (T,).
        p_values: of each, two-sided, NaN where there is no test, shape (T,).
        positions: of the common checkpoints, strictly increasing, shape (T,).
        level: in (0, 1).

    Raises:
        StatisticsError: lengths that differ, or values that cannot be used.
    """
    d, u = as_trajectory(differences, positions)
    adjusted = holm(p_values)
    if adjusted.shape != d.shape:
        raise StatisticsError(f"`p_values` has {len(adjusted)} entries, expected one per checkpoint: {len(d)}")
    signs = np.where(rejects(adjusted, 1 - as_level(level)), np.sign(d), 0.0)
    nonzero = np.flatnonzero(signs)
    changes = np.flatnonzero(np.diff(signs[nonzero]))
    counts = int((signs > 0).sum()), int((signs < 0).sum())
    if not len(changes):
        side = int(signs[nonzero[0]]) if len(nonzero) else 0
        return Crossing(None, None, None, side, side, 0, *counts, tuple(adjusted.tolist()), level)
    left, right = int(nonzero[changes[0]]), int(nonzero[changes[0] + 1])
    return Crossing(
        float(u[left]),
        float(u[right]),
        _turning_point(d[left : right + 1], u[left : right + 1]),
        int(signs[left]),
        int(signs[right]),
        len(changes),
        *counts,
        tuple(adjusted.tolist()),
        level,
    )


def _turning_point(d: FloatArray, u: FloatArray) -> float:
    """Where the sum of differences is at its extreme, between checkpoints of opposite signs."""
    d = d * math.copysign(1.0, -d[0])  # from below to above
    k = int(np.argmin(np.cumsum(d)[:-1]))
    step = d[k + 1] - d[k]
    return float(u[k] + (u[k + 1] - u[k]) * (-d[k] / step if step > 0 else 0.5))
