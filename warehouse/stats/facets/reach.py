"""How far an interval reaches for the facets, beside the prompts (statistics.md §27,
"Interval of E3").

T is a squared distance: t²V of the facets, with the share λ = ¼ of their noise taken
off. λ was chosen by simulation of normal scores; the 0/1 cells came after.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.facets.parts import FacetParts

#: λ: share of the noise of a facet that its own spread is lessened by.
NOISE_SHARE = 0.25


@dataclass(frozen=True)
class FacetReach:
    """T at any level."""

    #: (N_f, L_f − 1) of each facet.
    singles: tuple[tuple[float, int], ...]
    joint: float | None  #: V_W; None for one facet.
    df: float  #: ν_W; L − 1 for one facet.

    def squared(self, level: float) -> float:
        """T: squared distance that the facets add, at a level in (0, 1)."""
        largest = 0.0
        for spread, df in self.singles:
            largest = max(largest, t_quantile(level, df) ** 2 * spread)
        if self.joint is None:
            return largest
        return max(t_quantile(level, self.df) ** 2 * self.joint, largest)


def facet_reach(parts: FacetParts, two_levels: Collection[str] = ()) -> FacetReach:
    """How far the facets move the mean.

    Args:
        parts: squared errors by facets.
        two_levels: facets that have two levels only: their noise stays in.
    """
    singles = []
    for name, count, v, r in parts.singles():
        share = 0.0 if name in two_levels else NOISE_SHARE
        singles.append((max(0.0, v - share * r), count - 1))
    if len(singles) == 1:
        return FacetReach(tuple(singles), None, singles[0][1])
    share = 0.0 if set(two_levels) & set(parts.facets) else NOISE_SHARE
    joint = max(parts.v_all - share * parts.r_all, max(n for n, _ in singles))
    spread_of_joint = sum(v**2 / parts.df[facets] for facets, v in parts.v.items())
    df = float(parts.fewest_df)
    if spread_of_joint > 0:
        df = max(df, joint**2 / spread_of_joint)
    return FacetReach(tuple(singles), joint, df)


def half_width(
    v_prompts: float, df_prompts: float, r_all: float, reach: FacetReach, level: float
) -> float:
    """h: half of the interval that has no bounds.

    Args:
        v_prompts: V_I.
        df_prompts: ν_I.
        r_all: R_F.
        level: nominal coverage, in (0, 1).
    """
    of_prompts = t_quantile(level, df_prompts) ** 2
    without_noise = of_prompts * max(0.0, v_prompts - r_all)
    squared = max(of_prompts * v_prompts, without_noise + reach.squared(level))
    return math.sqrt(squared)
