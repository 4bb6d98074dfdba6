"""The interval of Imbens and Manski (2004, eqs. 6 and 7) around a pair of bounds."""

from __future__ import annotations

import math

from warehouse.stats.core import special
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.core.sample import Sample

_HALVINGS = 100  # of a bracket below 1: to the last bit


def imbens_manski_c(gap: float, level: float) -> float:
    """C with Φ(C + gap) − Φ(−C) = level.

    Args:
        gap: (θ_u − θ_l)/max(σ_l, σ_u), at least 0; infinity gives the one-sided quantile.
        level: nominal coverage, in (0, 1).

    Examples:
        >>> round(imbens_manski_c(0.0, 0.95), 6), round(imbens_manski_c(float("inf"), 0.95), 6)
        (1.959964, 1.644854)
    """
    below, above = float(special.ndtri(level)), z_quantile(level)
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if special.ndtr(middle + gap) - special.ndtr(-middle) < level:
            below = middle
        else:
            above = middle
    return above


def critical_value(
    low: Sample, high: Sample, limits: tuple[float, float], missing: int, level: float
) -> tuple[float | None, str]:
    """C and what the interval rests on, or None and why there is none.

    Args:
        low: every missing score at the lower bound.
        high: every missing score at the upper bound.
        limits: the bounds.
        missing: prompts without a score.
        level: nominal coverage.
    """
    if low.se is None or high.se is None:
        return None, "a single prompt" if low.n == 1 else "a single cluster"
    largest = max(low.se, high.se)
    sides = zip((low, high), limits, strict=True)
    bare = any(side.se == 0 and side.mean != end for side, end in sides)
    if bare or (missing == 0 and largest == 0):
        return None, "all scores are equal" if low.all_equal else "a standard error is 0"
    gap = (high.mean - low.mean) / largest if largest > 0 else math.inf
    kind = "CLT" if low.clusters is None else "CR2"
    return imbens_manski_c(gap, level), f"missing scores at both bounds, {kind} errors over all n"


def cut_ends(low: Sample, high: Sample, limits: tuple[float, float], c: float) -> tuple[float, float]:
    """[θ_l − Cσ_l, θ_u + Cσ_u], cut at the bounds."""
    return (max(limits[0], low.mean - c * (low.se or 0.0)), min(limits[1], high.mean + c * (high.se or 0.0)))
