"""The paired permutation test: the signs of the differences are flipped (statistics.md §2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import TIE, Clusters, FloatArray, as_clusters, as_scores, as_seed
from warehouse.stats.core.moments import mean_of
from warehouse.stats.core.quantiles import SMALLEST_P
from warehouse.stats.core.result_base import Figures
from warehouse.stats.paired.sign_flip_null import count_all_patterns, count_random_patterns, distinct_sizes

#: Differences up to which all 2^m sign patterns are gone through.
MOST_EXACT = 16
#: Units below which no two-sided p of 0.05 can be reached: 2/2^5 is 0.0625.
FEWEST_UNITS = 6


@dataclass(frozen=True)
class SignFlipTest(Figures):
    """Sign flip test of paired differences: H0, their distribution is symmetric about 0.

    Attributes:
        p_value: two-sided.
        statistic: Σ d.
        n_prompts: differences, zeros included.
        n_clusters: clusters, None without; then their sums are flipped.
        n_units: what is flipped and not 0: differences, or sums of clusters.
        n_resamples: random sign patterns drawn, without the identity; 0 where p is exact.
        method: ``"exact"`` (all patterns), ``"binomial"`` (exact: all differences are of one
            size) or ``"monte_carlo"``.
        smallest_p: the smallest p that these data or this many resamples could give.
        reason: how p was computed, and why it cannot be small where that is so.
        flags: ``too_few_units`` where 0.05 is out of reach, ``all_differences_zero``.
    """

    p_value: float
    statistic: float
    n_prompts: int
    n_clusters: int | None
    n_units: int
    n_resamples: int
    method: str
    smallest_p: float
    reason: str
    flags: tuple[str, ...]

    def __str__(self) -> str:
        units = "clusters" if self.n_clusters is not None else "differences"
        return f"p={self.p_value:.3g} (sign flip, {self.method}, {self.n_units} {units})"


def sign_flip_test(
    differences: ArrayLike, clusters: ArrayLike | None = None, *, n_resamples: int = 9999, seed: int = 0
) -> SignFlipTest:
    """Two-sided paired permutation test of |Σ d|.

    Exact where 16 units or fewer are not 0, and where all that are not 0 have one size (0/1
    scores with one draw: then it is McNemar's exact test). Else (1 + #{|Σ ±d| >= |Σ d|})/(1 + N),
    the identity included; sums within 1e-9 Σ|d| are ties. Differences of 0 are kept: they
    change no sum. With clusters the uncentred sums of each cluster are flipped.

    Args:
        differences: a − b of each prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        n_resamples: random sign patterns N, at least 1; not used where p is exact.
        seed: of the random signs, an integer from 0; the same seed gives the same p whatever
            the number of threads or the block size.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> print(sign_flip_test([0.3, -0.1, 0.5, 0.2, 0.4, 0.0]))
        p=0.125 (sign flip, exact, 5 differences)
    """
    values = as_scores(differences, "differences")
    if n_resamples < 1:
        raise StatisticsError(f"`n_resamples` must be at least 1, found {n_resamples}")
    as_seed(seed)
    groups = None if clusters is None else as_clusters(clusters, len(values))
    units = _units(values, groups)
    method = _method(units)
    return SignFlipTest(
        p_value=flip_p_value(units, n_resamples, seed),
        statistic=mean_of(values) * len(values),
        n_prompts=len(values),
        n_clusters=None if groups is None else groups.n,
        n_units=len(units),
        n_resamples=n_resamples if method == "monte_carlo" else 0,
        method=method,
        smallest_p=_smallest(len(units), method, n_resamples),
        reason=_reason(len(units), method, n_resamples, groups is not None),
        flags=_flags(units),
    )


def too_few_units(differences: FloatArray, clusters: ArrayLike | None = None) -> bool:
    """Whether so few units are not 0 that no pattern of signs gives a p of 0.05.

    Args:
        differences: a − b of each prompt, finite, shape (n,).
        clusters: cluster of each prompt, or None.
    """
    groups = None if clusters is None else as_clusters(clusters, len(differences))
    return bool(_flags(_units(differences, groups)) == ("too_few_units",))


def binomial_p_value(b: int, c: int) -> float:
    """Exact two-sided sign test min(1, 2·P(Bin(b+c, 1/2) <= min(b, c))); 1 at b + c = 0."""
    p = float(min(1.0, 2 * special.bdtr(min(b, c), b + c, 0.5)))
    return 1.0 if b == c else max(p, SMALLEST_P)


def _units(values: FloatArray, clusters: Clusters | None) -> FloatArray:
    """What is flipped: differences or their sums by cluster, in units of the largest difference,
    without those that are 0 up to rounding."""
    scaled = values / (float(np.abs(values).max()) or 1.0)
    sums = scaled if clusters is None else clusters.sums(scaled)
    return sums[np.abs(sums) > TIE]


def _method(units: FloatArray) -> str:
    if len(distinct_sizes(units)[0]) == 1:
        return "binomial"
    return "exact" if len(units) <= MOST_EXACT else "monte_carlo"


def flip_p_value(units: FloatArray, n_resamples: int, seed: int) -> float:
    """p of units that are not 0 under signs, shape (m,), as `sign_flip_test` has it; 1 without any."""
    method = _method(units)
    if method == "binomial":
        positive = int(np.count_nonzero(units > 0))
        return binomial_p_value(positive, len(units) - positive)
    threshold = abs(float(units.sum())) - TIE * float(np.abs(units).sum())
    if method == "exact":
        return count_all_patterns(units, threshold) / 2.0 ** len(units)
    extreme = count_random_patterns(units, threshold, n_resamples, seed)
    return (1 + extreme) / (1 + n_resamples)


def _smallest(n: int, method: str, n_resamples: int) -> float:
    return 1 / (1 + n_resamples) if method == "monte_carlo" else min(1.0, 2.0 ** (1 - n))


def _flags(units: FloatArray) -> tuple[str, ...]:
    if not len(units):
        return ("all_differences_zero",)
    return ("too_few_units",) if len(units) < FEWEST_UNITS else ()


def _reason(n: int, method: str, n_resamples: int, clustered: bool) -> str:
    units = "sums of clusters" if clustered else "differences"
    if not n:
        return f"all {units} are 0"
    if n < FEWEST_UNITS:
        return f"{n} {units} that are not 0 give no p below {2.0 ** (1 - n):.4g}: 0.05 is out of reach"
    words = {
        "exact": f"all 2^{n} signs of {units}",
        "binomial": f"exact: all {units} that are not 0 have one size",
        "monte_carlo": f"{n_resamples} random signs of {units}",
    }
    return words[method]
