"""A few looks that are fixed in advance: O'Brien and Fleming's bounds, spent as Lan and
DeMets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.paired.few_differ import FewDiffering
from warehouse.stats.paired.gate import FAIL, PASS, UNDECIDED
from warehouse.stats.sequential.design import ROUNDING, BetSide, SequentialDesign
from warehouse.stats.sequential.sequential_test import SequentialTest, point_estimate

_NODES = 400
#: Bounds beyond this are not told from one another.
_FURTHEST = 40.0


def obf_bounds(n_looks: int = 5, *, alpha: float = 0.05) -> tuple[float, ...]:
    """Bounds on |z| at equally spaced looks (Lan and DeMets 1983).

    Until the share τ of all prompts the chance 2(2 − 2Φ(z_{1−α/4}/√τ)) of a wrong
    rejection is spent; the bounds follow by integrating over the paths that no look has
    stopped (Armitage, McPherson and Rowe 1969), for increments that are independent and
    normal.

    Args:
        n_looks: from 1 to 50.
        alpha: chance of any wrong rejection, both sides together, in (0, 1).

    Raises:
        StatisticsError: a number out of range.

    Examples:
        >>> [round(bound, 4) for bound in obf_bounds(5)]
        [4.8769, 3.357, 2.6803, 2.2898, 2.031]
    """
    if isinstance(n_looks, bool) or int(n_looks) != n_looks or not 1 <= n_looks <= 50:
        raise StatisticsError(
            f"`n_looks` must be a whole number from 1 to 50, found {n_looks}"
        )
    if not 0 < alpha < 1:
        raise StatisticsError(
            f"`alpha` must lie between 0 and 1 (such as 0.05), found {alpha}"
        )
    return _bounds(int(n_looks), float(alpha))


@lru_cache(maxsize=32)
def _bounds(n_looks: int, alpha: float) -> tuple[float, ...]:
    shares = np.arange(1, n_looks + 1) / n_looks
    spent = 4 * special.ndtr(-special.ndtri(1 - alpha / 4) / np.sqrt(shares))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    step = sqrt(1 / n_looks)
    bounds = [float(-special.ndtri(spent[0] / 2))]
    edge = bounds[0] * sqrt(shares[0])
    states = edge * nodes
    density = (
        np.exp(-((states / step) ** 2) / 2) / sqrt(2 * np.pi) / step * weights * edge
    )
    for look in range(1, n_looks):

        def crossed(
            bound: float,
            *,
            look: int = look,
            at: FloatArray = states,
            mass: FloatArray = density,
        ) -> float:
            far = bound * sqrt(shares[look])
            outside = special.ndtr((at - far) / step) + special.ndtr((-far - at) / step)
            return float(mass @ outside - spent[look] + spent[look - 1])

        bounds.append(float(brentq(crossed, 0.0, _FURTHEST, xtol=1e-12)))
        edge = bounds[-1] * sqrt(shares[look])
        reached = edge * nodes
        kernel = (
            np.exp(-(((reached[:, None] - states) / step) ** 2) / 2)
            / sqrt(2 * np.pi)
            / step
        )
        states, density = reached, (kernel @ density) * weights * edge
    return tuple(bounds)


def look_places(n_looks: int, n_max: int) -> tuple[int, ...]:
    """Prompts after which the looks are: equal steps up to ``n_max``.

    Raises:
        StatisticsError: fewer prompts than two a look.
    """
    if n_max < 2 * n_looks:
        raise StatisticsError(
            f"{n_looks} looks need at least {2 * n_looks} prompts, found {n_max}"
        )
    return tuple(round(n_max * look / n_looks) for look in range(1, n_looks + 1))


def group_sequential_test(
    scores: ArrayLike, design: SequentialDesign, *, n_looks: int = 5
) -> SequentialTest:
    """Verdict at a few looks that are fixed in advance (O'Brien and Fleming).

    At each look the t statistic of the residuals y − f against the reference is held
    against `obf_bounds`; scores between looks change nothing. Its error has no
    correction for a finite population, which errs on the safe side on a full benchmark;
    what the prompts to come cannot change decides as well. Its size rests on normal
    means: with few or rare differences `sequential_test` is the one that is proved.

    Args:
        scores: as for `sequential_test`.
        design: what was fixed before.
        n_looks: looks up to ``n_max``.

    Where few prompts differ a mean is not normal, least of all as far out as the first
    looks' bounds: with a true loss of the margin z alone passed in up to .134 of runs,
    not .025. So z is not above that of Gaffke's p.

    Returns:
        as `sequential_test`, at the last look so far: ``evidence_pass`` is z there,
        ``evidence_fail`` that of the opposite, ``limit`` the bound; the interval is the
        estimate ± bound × error, or Gaffke's ends where these lie farther out, and
        holds at all looks together. A look at which all residuals are equal decides
        nothing.

    Raises:
        StatisticsError: scores or looks out of range.
    """
    bounds = obf_bounds(n_looks, alpha=design.alpha)
    sizes = look_places(n_looks, design.n_max)
    values = design.values(scores)
    verdict, decided_at = UNDECIDED, None
    ends: tuple[float | None, float | None]
    ends = design.low - design.origin, design.high - design.origin
    evidence_pass = evidence_fail = 0.0
    limit, used = bounds[0], values[:0]
    for bound, size in zip(bounds, sizes, strict=True):
        if size > len(values):
            break
        limit, used = bound, values[:size]
        sides, (low, high) = _sides(used, design), _possible(used, design)
        passes = low - design.reference > ROUNDING * design.width
        fails = design.reference - high > ROUNDING * design.width
        evidence_pass = evidence_fail = 0.0
        if sides is not None:
            for_pass, for_fail = sides
            passes = passes or for_pass.reaches(bound)
            fails = fails or for_fail.reaches(bound)
            evidence_pass, evidence_fail = for_pass.z, for_fail.z
        if verdict == UNDECIDED and (passes or fails):
            decided_at, verdict = size, FAIL
            if passes:
                verdict = PASS
        ends = _ends(sides, bound, design, (low, high))
    return SequentialTest(
        verdict=verdict,
        n_prompts=len(values),
        n_unscored=int(np.isnan(values).sum()),
        decided_at=decided_at,
        estimate=point_estimate(used, design),
        low=ends[0],
        high=ends[1],
        level=1 - design.alpha,
        evidence_pass=evidence_pass,
        evidence_fail=evidence_fail,
        limit=limit,
    )


@dataclass(frozen=True)
class _Side:
    """Residuals of which a verdict says that their mean is above a threshold."""

    residuals: FloatArray  #: with unscorable prompts at the worst.
    least: float  #: that one can be.
    threshold: float

    @cached_property
    def mean(self) -> float:
        return float(self.residuals.mean())

    @cached_property
    def error(self) -> float:
        return float(self.residuals.std(ddof=1)) / sqrt(len(self.residuals))

    @cached_property
    def few(self) -> FewDiffering:
        return FewDiffering(self.residuals, np.arange(len(self.residuals)), -self.least)

    @property
    def normal_z(self) -> float:
        return (self.mean - self.threshold) / self.error

    @property
    def z(self) -> float:
        """The normal's, or that of Gaffke's p where it is smaller."""
        return min(
            self.normal_z, -float(special.ndtri(self.few.p_above(self.threshold)))
        )

    def reaches(self, bound: float) -> bool:
        """Whether z does."""
        return self.normal_z >= bound and self.z >= bound

    def end(self, bound: float) -> float:
        """What the mean is shown to be above: the lower of both."""
        return min(
            self.mean - bound * self.error,
            self.few.lower_end(float(special.ndtr(-bound))),
        )


def _sides(values: FloatArray, design: SequentialDesign) -> tuple[_Side, _Side] | None:
    """For passing, with unscorable prompts at the worst, and for failing; None where
    residuals are equal."""
    if len(values) < 2:
        return None
    forecast, (least, most) = design.forecast[: len(values)], design.z_range
    to_beat = design.reference - float(design.predictions.mean())
    worst, best = (
        np.where(np.isnan(values), end, values) - forecast
        for end in (design.low, design.high)
    )
    sides = _Side(worst, least, to_beat), _Side(-best, -most, -to_beat)
    if min(side.error for side in sides) <= 1e-12 * design.width:
        return None
    return sides


def _ends(
    sides: tuple[_Side, _Side] | None,
    bound: float,
    design: SequentialDesign,
    possible: tuple[float, float],
) -> tuple[float, float]:
    """The interval, within what prompts to come leave."""
    least, most = max(possible[0], design.low), min(possible[1], design.high)
    if sides is not None:
        mean = float(design.predictions.mean())
        low, high = mean + sides[0].end(bound), mean - sides[1].end(bound)
        least, most = (
            max(least, min(low, design.high)),
            min(most, max(high, design.low)),
        )
    return least - design.origin, most - design.origin


def _possible(values: FloatArray, design: SequentialDesign) -> tuple[float, float]:
    """The least and the largest θ that prompts to come leave."""
    return float(BetSide.of(1, values, design).possible()[-1]), float(
        BetSide.of(-1, values, design).possible()[-1]
    )
