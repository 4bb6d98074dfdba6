"""Two runs that share some prompts: the paired difference and the unpaired one of the rest together
(statistics.md §2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import as_level
from warehouse.stats.core.quantiles import t_p_value, t_quantile
from warehouse.stats.core.result_base import Figures
from warehouse.stats.core.written import figures_text
from warehouse.stats.paired.paired import paired_difference
from warehouse.stats.paired.unpaired import unpaired_difference


@dataclass(frozen=True)
class PartiallyPairedDifference(Figures):
    """A difference from common prompts and from those that only one run has.

    Attributes:
        difference: first minus second, weighted by inverse variance; None with a ``reason``.
        standard_error: of it.
        ci_low: lower end of the t interval.
        ci_high: upper end.
        level: nominal coverage.
        degrees_of_freedom: Σ w²/ν of the two parts, inverted.
        p_value: two-sided, Student's t.
        weight: of the paired difference, in (0, 1).
        paired: the difference on the common prompts.
        unpaired: that of the others.
        n_common: prompts of both.
        n_a: prompts that only the first has.
        n_b: prompts that only the second has.
        reason: why there is no figure, empty where there is.
    """

    difference: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    degrees_of_freedom: float | None
    p_value: float | None
    weight: float | None
    paired: float
    unpaired: float
    n_common: int
    n_a: int
    n_b: int
    reason: str

    def __str__(self) -> str:
        sizes = f"{self.n_common} common prompts, {self.n_a} and {self.n_b} others"
        if self.difference is None:
            return f"no partially paired difference: {self.reason} ({sizes})"
        figures = figures_text(self.difference, self.standard_error, self.ci_low, self.ci_high)
        return f"{figures} (partially paired, {sizes}, p={self.p_value:.3g})"


def partially_paired_difference(
    a: ArrayLike, b: ArrayLike, only_a: ArrayLike, only_b: ArrayLike, *, level: float = 0.95
) -> PartiallyPairedDifference:
    """Difference a − b of two runs of which each has prompts that the other has not.

    The paired difference of the common prompts and Welch's of the others are independent, and weighted
    by their inverse variances (Graybill and Deal 1959). Those are estimated, for which the variance is
    1/(1/V_p + 1/V_u) · (1 + 4 Σ w(1−w)/ν) (Meier 1953).

    Args:
        a: score of each common prompt in the first run, finite, shape (n,).
        b: the same prompts in the second run.
        only_a: scores of prompts that only the first run has, shape (n_a,).
        only_b: scores of prompts that only the second run has, shape (n_b,).
        level: nominal coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: for scores that are empty, misaligned or not finite.

    Examples:
        >>> print(partially_paired_difference([1, 2, 4, 3], [0, 2, 2, 2], [3, 1, 4, 5], [1, 2, 2, 0]))
        1.148 ± 0.4255 [-0.02684, 2.323] (partially paired, 4 common prompts, 4 and 4 others, p=0.0534)
    """
    paired, rest = paired_difference(a, b, level=as_level(level)), unpaired_difference(only_a, only_b, level=level)
    parts = [(part.standard_error, part.degrees_of_freedom) for part in (paired, rest)]
    known = [(error**2, df) for error, df in parts if error and df]
    shown = dict.fromkeys(
        ("difference", "standard_error", "ci_low", "ci_high", "degrees_of_freedom", "p_value", "weight")
    )
    if len(known) == 2:
        shown = _combined(paired.difference, rest.difference, known, level)
    return PartiallyPairedDifference(
        **shown,
        level=level,
        paired=paired.difference,
        unpaired=rest.difference,
        n_common=paired.n_prompts,
        n_a=rest.n_prompts_a,
        n_b=rest.n_prompts_b,
        reason="" if len(known) == 2 else "one of its parts has no standard error to weigh it by",
    )


def _combined(
    paired: float, unpaired: float, parts: list[tuple[float, float]], level: float
) -> dict[str, float | None]:
    (v_p, df_p), (v_u, df_u) = parts
    weight = v_u / (v_p + v_u)
    rest = 1 - weight
    variance = v_p * weight * (1 + 4 * weight * rest * (1 / df_p + 1 / df_u))
    df = 1 / (weight**2 / df_p + rest**2 / df_u)
    difference, error = weight * paired + rest * unpaired, math.sqrt(variance)
    half = t_quantile(level, df) * error
    return {
        "difference": difference,
        "standard_error": error,
        "ci_low": difference - half,
        "ci_high": difference + half,
        "degrees_of_freedom": df,
        "p_value": t_p_value(difference / error, df),
        "weight": weight,
    }
