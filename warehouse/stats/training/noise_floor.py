"""How far apart two runs lie that differ in nothing but the seed, and how much one
varies between checkpoints (jitter).

Student's t, never 1.96: the spread comes from a handful of seeds.

Two estimates: the residuals of a quadratic in the position over the last checkpoints,
and the differences of neighbours of Gasser, Sroka and Jennen-Steinmetz (1986,
Biometrika 73:625), which need no model of the trend. Where they disagree, neither holds
as it stands.

The prior of variances is that of Smyth (2004, Stat. Appl. Genet. Mol. Biol. 3:3;
``fitFDist`` of limma): variances are s0²·d0/χ²_d0, and d0 and s0 are the moments of the
logarithms of those observed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_level, as_scores
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.training.seed_means import as_table, as_trajectory

#: Below this number of seeds the interval of their spread is the χ² one.
BONETT_FROM = 5
#: With fewer, a seed in ten that fails may not be among them (.9^28 > .05): spread,
#: noise floor and signal to noise then say too little, and nothing in the scores tells.
FEW_SEEDS = 29


@dataclass(frozen=True)
class SeedSpread(NamedFigures):
    """Standard deviation over seeds."""

    standard_deviation: float  #: s with ddof 1, in units of the score.
    ci_low: float | None  #: lower end of its interval, None where all seeds are equal.
    ci_high: float | None  #: upper end.
    n_seeds: int  #: S.
    level: float  #: of the interval.
    method: str  #: ``bonett`` (2006, CSDA 50:775; S ≥ 5) or ``chi_square``, which supposes normal seeds.


def seed_spread(scores: ArrayLike, *, level: float = 0.95) -> SeedSpread:
    """Standard deviation of one figure over seeds, with its interval.

    Args:
        scores: one per seed, shape (S,), S at least 2.
        level: of the interval, in (0, 1).

    Raises:
        StatisticsError: fewer than 2 seeds, or scores that are not finite.
    """
    x, level = _seeds(scores, "scores"), as_level(level)
    n, s = len(x), float(np.std(x, ddof=1))
    method = "chi_square"
    if n >= BONETT_FROM:
        method = "bonett"
    if s == 0:
        return SeedSpread(s, None, None, n, level, method)
    if n < BONETT_FROM:
        tails = (
            special.chdtri(n - 1, tail) for tail in ((1 - level) / 2, (1 + level) / 2)
        )
        low, high = (s * math.sqrt((n - 1) / tail) for tail in tails)
        return SeedSpread(s, low, high, n, level, method)
    z = z_quantile(level)
    centre = _trimmed_mean(x, 1 / (2 * math.sqrt(n - 4)))
    c = n / (n - z)
    fourth = float(np.sum((x - centre) ** 4))
    squares = float(np.sum((x - x.mean()) ** 2))
    kurtosis = n * fourth / squares**2
    half = z * c * math.sqrt(max(0.0, kurtosis - (n - 3) / n) / (n - 1))
    middle = math.log(c * s * s)
    return SeedSpread(
        s,
        math.exp((middle - half) / 2),
        math.exp((middle + half) / 2),
        n,
        level,
        method,
    )


def _trimmed_mean(x: FloatArray, share: float) -> float:
    cut = math.floor(len(x) * share)
    middle = np.sort(x)[cut : len(x) - cut]
    if len(middle):
        return float(middle.mean())
    return float(np.median(x))


@dataclass(frozen=True)
class NoiseFloor(NamedFigures):
    """Difference of two runs that seeds alone exceed with probability 1 − ``level``."""

    floor: float  #: in units of the score; a larger difference of two single runs is more than noise.
    standard_deviation: float  #: of one run's figure over seeds.
    degrees_of_freedom: float  #: of Student's t.
    level: float  #: in (0, 1).
    n_seeds: int  #: seeds behind the spread.
    flags: tuple[str, ...]  #: ``all_seeds_equal``.


def noise_floor(
    scores: ArrayLike, *, averaged: int = 1, level: float = 0.95
) -> NoiseFloor:
    """Noise floor between two single runs of one recipe.

    Args:
        scores: seeds x checkpoints in the order of training, shape (S, T); one column
            for the last checkpoint alone. S at least 2.
        averaged: m, the last checkpoints that are averaged in each run.
        level: in (0, 1).

    Raises:
        StatisticsError: fewer than 2 seeds or m checkpoints.
    """
    table, level = as_table(scores, rows="seeds", least_columns=1), as_level(level)
    if not 1 <= averaged <= table.shape[1]:
        raise StatisticsError(
            f"`averaged` is {averaged}: the seeds have {table.shape[1]} checkpoints in "
            "common; what was not stored cannot be averaged"
        )
    s = float(np.std(table[:, -averaged:].mean(axis=1), ddof=1))
    n = len(table)
    floor = t_quantile(level, n - 1) * math.sqrt(2 * s * s)
    return NoiseFloor(floor, s, n - 1, level, n, flags_of(all_seeds_equal=s == 0))


@dataclass(frozen=True)
class RecipeDifference(NamedFigures):
    """Difference of two recipes of several seeds each, against the noise of seeds."""

    difference: float  #: mean of the first minus mean of the second.
    floor: float  #: what seeds alone exceed with probability 1 − ``level``.
    ci_low: float  #: difference − floor.
    ci_high: float  #: difference + floor.
    #: |difference| > floor; None where no seed differs.
    is_more_than_noise: bool | None
    #: S_A + S_B − 2, or Welch's where its floor is the larger.
    degrees_of_freedom: float
    level: float  #: in (0, 1).


def recipe_difference(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    prompt_variance: float = 0.0,
    level: float = 0.95,
) -> RecipeDifference:
    """Is the difference of two recipes more than seeds alone make? Spread is pooled; of
    unequal numbers of seeds the larger floor of it and of Welch's t counts, as a recipe
    of few seeds may spread more than the other.

    Args:
        scores_a: one figure per seed of the first recipe, shape (S_A,).
        scores_b: of the second, shape (S_B,); S_A + S_B at least 3.
        prompt_variance: ω²/n of the difference, where prompts are taken as sampled.
        level: in (0, 1).

    Raises:
        StatisticsError: fewer than 3 seeds together, or scores that are not finite.
    """
    a, b = as_scores(scores_a, "scores_a"), as_scores(scores_b, "scores_b")
    level = as_level(level)
    nu = float(len(a) + len(b) - 2)
    if nu < 1:
        raise StatisticsError(
            "two recipes of one seed each show no noise of seeds: at least one needs a "
            "second seed"
        )
    squares = float(np.sum((a - a.mean()) ** 2) + np.sum((b - b.mean()) ** 2))
    variance = squares / nu * (1 / len(a) + 1 / len(b)) + _variance(prompt_variance)
    difference = float(a.mean() - b.mean())
    floor = t_quantile(level, nu) * math.sqrt(variance)
    if len(a) != len(b) and min(len(a), len(b)) > 1 and squares > 0:
        of_a, of_b = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
        spread = of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1)
        welch = (of_a + of_b) ** 2 / spread
        other = t_quantile(level, welch) * math.sqrt(of_a + of_b + prompt_variance)
        floor, nu = max((floor, nu), (other, welch))
    exceeds = None
    if variance > 0:
        exceeds = abs(difference) > floor
    return RecipeDifference(
        difference, floor, difference - floor, difference + floor, exceeds, nu, level
    )


def jitter_only_lower_bound(
    jitter_variance: float,
    degrees_of_freedom: float,
    *,
    averaged: int = 1,
    level: float = 0.95,
) -> float:
    """What jitter alone makes of the difference of two runs: less than their noise
    floor, which also holds what seeds change. All that can be said without a second
    seed.

    Args:
        jitter_variance: σ̂_J², above or equal to 0.
        degrees_of_freedom: of it.
        averaged: m checkpoints averaged in each run.
        level: in (0, 1).

    Raises:
        StatisticsError: arguments out of range.
    """
    if averaged < 1 or degrees_of_freedom <= 0:
        raise StatisticsError(
            f"`averaged` and `degrees_of_freedom` must be positive, found {averaged}, "
            f"{degrees_of_freedom}"
        )
    return t_quantile(as_level(level), degrees_of_freedom) * math.sqrt(
        2 * _variance(jitter_variance) / averaged
    )


def _seeds(scores: ArrayLike, name: str) -> FloatArray:
    x = as_scores(scores, name)
    if len(x) < 2:
        raise StatisticsError(
            f"`{name}` has one seed: a spread over seeds needs at least two"
        )
    return x


def _variance(value: float) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise StatisticsError(
            f"a variance must be finite and at least 0, found {value}"
        )
    return value


#: Checkpoints at the end of a run that are looked at, at most, and at least.
MOST, LEAST = 20, 8
#: A ratio of the two variances above this is flagged.
BENT = 2.0


@dataclass(frozen=True)
class Jitter(NamedFigures):
    """Spread of a run's score from checkpoint to checkpoint."""

    #: σ̂_J², residual variance of the quadratic; None where it cannot be computed.
    variance: float | None
    standard_deviation: float | None  #: its square root, in units of the score.
    ci_low: float | None  #: lower end of the χ² interval of the standard deviation.
    ci_high: float | None  #: upper end.
    degrees_of_freedom: float | None  #: k − 3.
    gsj_variance: float | None  #: by differences of neighbours.
    n_checkpoints: int  #: k, those at the end that were taken.
    level: float  #: of the interval, in (0, 1).
    #: ``autocorrelated_or_bent`` where the quadratic leaves more than twice the
    #: variance of neighbours: the interval does not hold.
    flags: tuple[str, ...]
    reason: str  #: why there is no figure.


def jitter(
    scores: ArrayLike,
    positions: ArrayLike,
    *,
    last: int | None = None,
    level: float = 0.95,
) -> Jitter:
    """Jitter of one run over its last checkpoints.

    Args:
        scores: of one run in the order of training, shape (T,).
        positions: steps or tokens, strictly increasing, shape (T,).
        last: checkpoints to take; None for min(⌊T/2⌋, 20).
        level: of the interval, in (0, 1).

    Returns:
        no figure, with the reason, below 8 checkpoints.

    Raises:
        StatisticsError: scores or positions that cannot be used.
    """
    x, u = as_trajectory(scores, positions)
    level = as_level(level)
    k = min(len(x) // 2, MOST)
    if last is not None:
        k = min(last, len(x))
    if k < LEAST:
        reason = f"{k} checkpoints at the end of {len(x)}: at least {LEAST} are needed"
        return Jitter(None, None, None, None, None, None, k, level, (), reason)
    x, u = x[-k:], u[-k:]
    variance, nu = _about_quadratic(x, u), float(k - 3)
    gsj = _of_neighbours(x, u)
    low = special.chdtri(nu, (1 - level) / 2)
    high = special.chdtri(nu, (1 + level) / 2)
    return Jitter(
        variance=variance,
        standard_deviation=math.sqrt(variance),
        ci_low=math.sqrt(nu * variance / low),
        ci_high=math.sqrt(nu * variance / high),
        degrees_of_freedom=nu,
        gsj_variance=gsj,
        n_checkpoints=k,
        level=level,
        flags=flags_of(autocorrelated_or_bent=variance > BENT * gsj),
        reason="",
    )


def _about_quadratic(x: FloatArray, u: FloatArray) -> float:
    centred = (u - u.mean()) / (np.ptp(u) / 2)
    design = np.column_stack([np.ones_like(u), centred, centred**2])
    coefficients = np.linalg.lstsq(design, x, rcond=None)[0]
    residuals = x - design @ coefficients
    return float(residuals @ residuals / (len(x) - 3))


def _of_neighbours(x: FloatArray, u: FloatArray) -> float:
    """Variance from scaled second differences."""
    w = (u[2:] - u[1:-1]) / (u[2:] - u[:-2])
    apart = x[1:-1] - w * x[:-2] - (1 - w) * x[2:]
    e = apart / np.sqrt(1 + w**2 + (1 - w) ** 2)
    return float(e @ e / len(e))


#: Fewer benchmarks give no prior.
LEAST_POOLED = 3
#: Shares of the pool's standard deviations that are told.
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: A wrong order with a probability up to this: the figures lean, beyond it they say
#: nothing.
LEANS_UP_TO = 0.1

Word = Literal["decides", "leans", "cannot tell"]


@dataclass(frozen=True)
class SeedPool(NamedFigures):
    """The prior of a standard deviation over seeds."""

    n: int  #: benchmarks behind it, without those of which all seeds are equal.
    quantiles: tuple[float, ...]  #: of their standard deviations at `SHARES`.
    standard_deviation: float | None  #: s0; None below `LEAST_POOLED`.
    #: d0; infinite where they differ by no more than chance makes them.
    prior_degrees_of_freedom: float | None
    #: min(d0, n − 1), for Student's t of a new benchmark; None as above.
    degrees_of_freedom: float | None

    def with_own(
        self, standard_deviation: float, degrees_of_freedom: float
    ) -> tuple[float, float] | None:
        """Standard deviation and degrees of freedom of a benchmark whose own spread is
        known too: the mean of both variances by their degrees of freedom (limma's
        ``squeezeVar``); None without a prior.

        Args:
            standard_deviation: of that benchmark, above 0.
            degrees_of_freedom: seeds behind it minus 1.
        """
        if self.standard_deviation is None or self.degrees_of_freedom is None:
            return None
        prior, own = self.degrees_of_freedom, degrees_of_freedom
        variance = (
            prior * self.standard_deviation**2 + own * standard_deviation**2
        ) / (prior + own)
        return math.sqrt(variance), prior + own


def seed_pool(
    standard_deviations: ArrayLike, degrees_of_freedom: ArrayLike
) -> SeedPool:
    """The prior of spreads over seeds, from those of other benchmarks.

    Args:
        standard_deviations: over seeds, ddof 1, one per benchmark, shape (B,); those of
            0 are left out.
        degrees_of_freedom: of each, above 0, shape (B,).

    Raises:
        StatisticsError: lengths that differ, or numbers out of range.
    """
    s = as_scores(standard_deviations, "standard_deviations")
    nu = as_scores(degrees_of_freedom, "degrees_of_freedom")
    if len(s) != len(nu) or (s < 0).any() or (nu <= 0).any():
        raise StatisticsError(
            "standard deviations of at least 0 are needed, each with degrees of "
            "freedom above 0"
        )
    s, nu = s[s > 0], nu[s > 0]
    quantiles = ()
    if len(s):
        quantiles = tuple(np.quantile(s, SHARES).tolist())
    if len(s) < LEAST_POOLED:
        return SeedPool(len(s), quantiles, None, None, None)
    logs = 2 * np.log(s) - special.psi(nu / 2) + np.log(nu / 2)
    centre = float(logs.mean())
    left = float(logs.var(ddof=1) - special.zeta(2.0, nu / 2).mean())
    if left <= 0:
        s0 = math.exp(centre / 2)
        return SeedPool(len(s), quantiles, s0, math.inf, float(len(s) - 1))
    d0 = 2 * _inverse_trigamma(left)
    s0 = math.exp((centre + float(special.psi(d0 / 2)) - math.log(d0 / 2)) / 2)
    return SeedPool(len(s), quantiles, s0, d0, min(d0, float(len(s) - 1)))


def _inverse_trigamma(value: float) -> float:
    """x > 0 with ψ'(x) = value > 0, by bisection of ln x: ψ' falls from infinity to 0."""
    low, high = math.log(1e-8), math.log(1e12)
    for _ in range(80):
        middle = (low + high) / 2
        if special.zeta(2.0, math.exp(middle)) > value:
            low, high = (middle, high)
        else:
            low, high = (low, middle)
    return math.exp((low + high) / 2)


def noise_only_above(
    difference: float, n_a: int = 1, n_b: int = 1, *, level: float = 0.95
) -> float:
    """The standard deviation over seeds below which a difference is more than noise:
    |d|/(z·√(1/S_A + 1/S_B)).

    Args:
        difference: of the means of two recipes.
        n_a: seeds of the first, at least 1.
        n_b: seeds of the second.
        level: 1 − the share of differences by noise alone that exceed it.
    """
    return abs(difference) / (
        z_quantile(as_level(level)) * math.sqrt(1 / n_a + 1 / n_b)
    )


@dataclass(frozen=True)
class WeighedDifference(NamedFigures):
    """A difference of two recipes held against a spread over seeds."""

    floor: float  #: half the width of its interval.
    ci_low: float  #: difference − floor.
    ci_high: float  #: difference + floor.
    #: probability that the true difference has the other sign, where nothing is known
    #: of it beforehand.
    p_wrong_sign: float
    #: ``decides`` where the interval leaves 0 out, ``leans`` where the sign is wrong
    #: with a probability of at most `LEANS_UP_TO`, else ``cannot tell``.
    word: Word


def weigh_difference(
    difference: float,
    standard_deviation: float,
    degrees_of_freedom: float,
    n_a: int = 1,
    n_b: int = 1,
    *,
    level: float = 0.95,
) -> WeighedDifference:
    """Interval, probability of the wrong sign, and what they say.

    Args:
        difference: of the means of two recipes.
        standard_deviation: of one run's figure over seeds, at least 0; where it is 0,
            any difference decides.
        degrees_of_freedom: of it, above 0; infinite for one that is known.
        n_a: seeds of the first, at least 1.
        n_b: seeds of the second.
        level: of the interval.

    Raises:
        StatisticsError: numbers out of range.
    """
    level = as_level(level)
    if not (
        math.isfinite(difference)
        and standard_deviation >= 0
        and degrees_of_freedom > 0
        and min(n_a, n_b) > 0
    ):
        raise StatisticsError(
            f"out of range: {difference}, {standard_deviation}, {degrees_of_freedom}, "
            f"{n_a}, {n_b}"
        )
    error = standard_deviation * math.sqrt(1 / n_a + 1 / n_b)
    floor = t_quantile(level, degrees_of_freedom) * error
    if difference == 0:
        p = 0.5
    elif error == 0:
        p = 0.0
    else:
        p = float(special.stdtr(degrees_of_freedom, -abs(difference) / error))
    word: Word = "cannot tell"
    if abs(difference) > floor:
        word = "decides"
    elif p <= LEANS_UP_TO:
        word = "leans"
    return WeighedDifference(floor, difference - floor, difference + floor, p, word)
