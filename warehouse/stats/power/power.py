"""Planning a paired comparison: sample size, detectable difference, power (Miller 2024
§5).

With ω² the variance over prompts of the true difference of two models and σ² the mean
variance of one draw around its prompt's mean, the mean difference of n prompts with K
draws each has

    SE² = (ω² + σ_A²/K_A + σ_B²/K_B) / n.

Everything here is the normal approximation of that paper (eqs. 9 and 10), for a
two-sided test at ``alpha``; a one-sided test at α is a two-sided one at 2α. Differences
are on the scale of the scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.results import NamedFigures


@dataclass(frozen=True)
class VarianceParts:
    """What the variance of one prompt's difference is made of.

    Raises:
        StatisticsError: a variance below 0 or not finite, all of them 0, a size below
            1.
    """

    #: ω², variance over prompts of the true difference, at least 0; with clusters
    #: ω²_cl, which holds at ``cluster_size``.
    omega2: float
    #: σ_A², mean variance of a draw of the first model, at least 0.
    sigma2_a: float = 0.0
    sigma2_b: float = 0.0  #: σ_B² of the second.
    #: mean prompts in a cluster, at least 1; None without clusters.
    cluster_size: float | None = None

    def __post_init__(self) -> None:
        for name in ("omega2", "sigma2_a", "sigma2_b"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise StatisticsError(
                    f"`{name}` is a variance: at least 0, found {value}"
                )
        if self.omega2 + self.sigma2_a + self.sigma2_b <= 0:
            raise StatisticsError(
                "all variances are 0: without spread there is nothing to plan; give "
                "`omega2` above 0, or a pilot in which the two models differ"
            )
        if self.cluster_size is not None and not 1 <= self.cluster_size < math.inf:
            raise StatisticsError(
                f"`cluster_size` must be at least 1, found {self.cluster_size}"
            )

    def per_prompt(self, k_a: int, k_b: int) -> float:
        """ω² + σ_A²/K_A + σ_B²/K_B: n times the squared error."""
        return self.omega2 + self.sigma2_a / k_a + self.sigma2_b / k_b

    def clusters(self, n: float) -> float | None:
        """Clusters that hold ``n`` prompts at the mean size; None without clusters."""
        if self.cluster_size is None:
            return None
        return n / self.cluster_size


@dataclass(frozen=True)
class Power:
    """Chance that a test finds a difference that is there."""

    power: float  #: of finding it with the right sign, Φ(δ/SE − z): what eqs. 9 and 10 plan for.
    two_tailed: float  #: of any rejection, with the chance of the wrong sign added.


@dataclass(frozen=True)
class Plan(NamedFigures):
    """One design: n prompts with K draws of each model."""

    n: int  #: prompts.
    #: clusters at the mean size, rounded up; None without clusters.
    n_clusters: int | None
    k_a: int  #: draws per prompt of the first model.
    k_b: int  #: draws per prompt of the second.
    generations: int  #: that have to be made.
    standard_error: float  #: of the mean difference.
    #: difference that ``power`` refers to; None where none was given.
    delta: float | None
    #: chance to find ``delta`` with the right sign; None without ``delta``.
    power: float | None
    power_two_tailed: float | None  #: chance of any rejection at ``delta``.
    mde: float  #: smallest difference found with the power asked for (eq. 10).

    def __str__(self) -> str:
        if self.power is None:
            power = ""
        else:
            power = f", power {self.power:.3g} at {self.delta:.4g}"
        if self.n_clusters is None:
            clusters = ""
        else:
            clusters = f" in {self.n_clusters} clusters"
        if self.k_a == self.k_b:
            draws = f"K={self.k_a}"
        else:
            draws = f"K={self.k_a} and {self.k_b}"
        return f"n={self.n}{clusters}, {draws}: detects {self.mde:.4g}{power}"


def sample_size(
    delta: float,
    parts: VarianceParts,
    *,
    k_a: int = 1,
    k_b: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int:
    """Miller (2024) eq. 9: prompts that find ``delta`` with ``power``, rounded up.

    Args:
        delta: true mean difference, above 0, on the scale of the scores.
        parts: variances; with clusters n holds at their mean size.
        k_a: draws per prompt of the first model, at least 1.
        k_b: of the second; None for ``k_a``.
        alpha: two-sided significance level, in (0, 1).
        power: chance to find it, above ``alpha`` and below 1.

    Raises:
        StatisticsError: for arguments out of range, and for an n beyond 10^15.

    Examples:
        >>> sample_size(0.03, VarianceParts(1 / 9))
        969
    """
    reach = quantiles(alpha, power)
    draws = check_draws(k_a, k_b)
    n = reach**2 * parts.per_prompt(*draws) / check_delta(delta) ** 2
    if not n < 1e15:
        raise StatisticsError(
            f"`delta` = {delta} is too small to plan for: it needs n = {n:.3g}"
        )
    return max(1, math.ceil(n * (1 - 1e-12)))


def minimum_detectable_effect(
    n: int,
    parts: VarianceParts,
    *,
    k_a: int = 1,
    k_b: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Miller (2024) eq. 10: the smallest difference that ``n`` prompts find with
    ``power``.

    Arguments and errors as for `sample_size`; ``n`` is a whole number, at least 1.

    Examples:
        >>> parts = VarianceParts(1 / 9, 1 / 6, 1 / 6)
        >>> round(minimum_detectable_effect(198, parts, k_a=10), 6)
        0.07567
    """
    return quantiles(alpha, power) * standard_error(n, parts, k_a=k_a, k_b=k_b)


def power_of(
    delta: float,
    n: int,
    parts: VarianceParts,
    *,
    k_a: int = 1,
    k_b: int | None = None,
    alpha: float = 0.05,
) -> Power:
    """Chance that ``n`` prompts find a true difference ``delta``.

    Arguments and errors as for `sample_size`; ``n`` is a whole number, at least 1.

    Examples:
        >>> analysis = power_of(0.03, 500, VarianceParts(1 / 9))
        >>> round(analysis.power, 6), round(analysis.two_tailed, 6)
        (0.520934, 0.520969)
    """
    z = float(-special.ndtri(check_alpha(alpha) / 2))
    ratio = check_delta(delta) / standard_error(n, parts, k_a=k_a, k_b=k_b)
    right, wrong = float(special.ndtr(ratio - z)), float(special.ndtr(-ratio - z))
    return Power(right, min(1.0, right + wrong))


def standard_error(
    n: int, parts: VarianceParts, *, k_a: int = 1, k_b: int | None = None
) -> float:
    """Error of the mean difference of ``n`` prompts, with ``k_a`` and ``k_b`` draws
    each."""
    return math.sqrt(parts.per_prompt(*check_draws(k_a, k_b)) / check_count(n, "n"))


def clustered_omega2(omega2: float, icc: float, cluster_size: float) -> float:
    """ω² of prompts in clusters of one size: ω²·(1 + (m − 1)ρ) (Kish's design effect).

    Args:
        omega2: of single prompts, at least 0.
        icc: ρ, correlation of the true differences within a cluster, in [0, 1].
        cluster_size: m, prompts in a cluster, at least 1.

    Raises:
        StatisticsError: for arguments out of range.
    """
    if not 0 <= icc <= 1:
        raise StatisticsError(f"`icc` must lie between 0 and 1, found {icc}")
    if not 1 <= cluster_size < math.inf:
        raise StatisticsError(
            f"`cluster_size` must be at least 1, found {cluster_size}"
        )
    return omega2 * (1 + (cluster_size - 1) * icc)


def quantiles(alpha: float, power: float) -> float:
    """z_{1−α/2} + z_{1−β}: how many standard errors the difference must be away from 0."""
    check_alpha(alpha)
    if not alpha < power < 1:
        raise StatisticsError(
            f"`power` must lie between alpha = {alpha} (what a test without any "
            f"difference reaches) and 1, found {power}"
        )
    return float(special.ndtri(power) - special.ndtri(alpha / 2))


def check_alpha(alpha: float) -> float:
    """``alpha`` as a significance level strictly between 0 and 1."""
    if not 0 < alpha < 1:
        raise StatisticsError(
            f"`alpha` must lie between 0 and 1 (such as 0.05), found {alpha}"
        )
    return float(alpha)


def check_delta(delta: float) -> float:
    """``delta`` as a difference above 0; planning is the same for either sign."""
    if not 0 < delta < math.inf:
        raise StatisticsError(
            "`delta` must be a number above 0, on the scale of the scores (0.03: three "
            f"points of accuracy), found {delta}"
        )
    return float(delta)


def check_count(value: float, name: str) -> int:
    """``value`` as a whole number of at least 1."""
    if not (math.isfinite(value) and value >= 1 and value == int(value)):
        raise StatisticsError(
            f"`{name}` must be a whole number of at least 1, found {value}"
        )
    return int(value)


def check_draws(k_a: float, k_b: float | None) -> tuple[int, int]:
    """Both numbers of draws; the second is the first where it is None."""
    first = check_count(k_a, "k_a")
    return first, first if k_b is None else check_count(k_b, "k_b")
