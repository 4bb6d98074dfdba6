"""What answers cost: means, cost for each solved prompt, ratios of two models, and
tests of who is cheaper (statistics.md §17).

Costs are skewed, so intervals are the hull of Student's t and bootstrap-t on the
logarithm. A one-sided test of costs takes twice the largest p of the ratio, of the
difference and of the ratio's bootstrap-t: the factor makes up for what few prompts do
not show of a tail. It gives no verdict (``skew_gate``) where the model that is claimed
to be cheaper has so heavy a tail (σ of log costs of 2 and more, fewer units than
40·skew²) that its mean is not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    ROUNDING,
    Clusters,
    FloatArray,
    as_clusters,
    as_level,
    as_scores,
    as_seed,
    check_length,
    check_one_sided,
    number_of,
    unit_sums,
)
from warehouse.stats.core.moments import mean_of, skewness
from warehouse.stats.core.quantiles import t_quantile, t_upper_tail
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.core.sample import Sample, describe
from warehouse.stats.intervals.bootstrap_t import (
    FEWEST_UNITS,
    StudentisedDraws,
    grouped,
    resample_counts,
)
from warehouse.stats.paired.margins import noninferiority_test

#: Units needed for each squared unit of skewness.
UNITS_PER_SKEW = 40
#: Standard deviation of the logarithm of costs from which on a heavy tail leaves no
#: verdict.
HEAVIEST_LOG_SPREAD = 2.0
#: The p of the cheaper test is so many times the largest of its three.
CAUTION = 2
#: Of the logarithm of an interval's end over its figure, so that it stays a number.
_LONGEST = 600.0
#: Units of all samples of a simulation and of a population, and the most prompts that
#: are planned.
_CELLS, _POPULATION, _MOST_PROMPTS = 1_000_000, 5_000, 10_000_000
HEAVY_TAIL, SKEW_GATE, NOTHING_SOLVED = "heavy_tail", "skew_gate", "nothing_solved"


@dataclass(frozen=True)
class CostFigure(NamedFigures):
    """A mean of costs, or a ratio with one in it, and its interval."""

    #: the figure; None where it is not defined, with a ``reason``.
    estimate: float | None
    #: of the figure, its own size times ``log_error``; None with a ``reason``.
    standard_error: float | None
    log_error: float | None  #: of its logarithm.
    low: float | None  #: lower end of the interval.
    #: upper end; None with a low end where the interval has no upper one.
    high: float | None
    level: float  #: nominal coverage.
    df: float | None  #: degrees of freedom, n − 1 or Satterthwaite's.
    method: str  #: ``"ci_log"``, ``"log_delta"`` or ``"fieller"``.
    n_prompts: int  #: prompts.
    n_clusters: int | None  #: clusters, None without.
    #: ``heavy_tail`` where the interval is too short, ``unbounded``, ``whole_line``.
    flags: tuple[str, ...]
    reason: str  #: why a figure is missing; empty if none is.

    def __str__(self) -> str:
        if self.estimate is None:
            return self.reason
        low, high = (
            "-" if end is None else f"{end:.4g}" for end in (self.low, self.high)
        )
        return f"{self.estimate:.4g} [{low}, {high}]"


@dataclass(frozen=True)
class CheaperTest(NamedFigures):
    """One-sided test: H0, the first costs 1/``times`` of the second or more, or is
    worse by a margin."""

    #: twice the largest p of the costs, 1 with ``skew_gate``, no less than
    #: ``p_quality``; None where one has no error.
    p_value: float | None
    p_log: float | None  #: of the ratio of means.
    p_difference: float | None  #: of the difference ``times``·a − b.
    times: float  #: how many times less is claimed.
    #: ``skew_gate`` where the costs are too skewed for a verdict.
    flags: tuple[str, ...]
    #: of non-inferiority, where scores are tested too (`as_good_for_less`).
    p_quality: float | None = None
    p_bootstrap: float | None = None  #: of the ratio, by t and bootstrap-t.


@dataclass(frozen=True)
class CheaperPower(NamedFigures):
    """How often `cheaper_test` finds that the first costs 1/``times`` of the second or
    less."""

    n_prompts: int  #: planned.
    n_clusters: int | None  #: clusters at their mean size; None without.
    power: float  #: share of samples in which it does.
    gated: float  #: share without a verdict (``skew_gate``).
    #: an end of the interval of the ratio over the ratio, median over samples; None
    #: where none has an error.
    factor: float | None


def mean_cost(
    costs: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95
) -> CostFigure:
    """The mean cost of an answer, c̄·exp(±t·s(c/c̄)/√n), an end no nearer than that of
    bootstrap-t on the logarithm.

    Args:
        costs: of each prompt, the mean over its draws, from 0, shape (n,).
        clusters: cluster of each prompt, shape (n,), or None.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: arguments out of range, misaligned or not finite.

    Examples:
        >>> print(mean_cost([2, 4, 3, 5, 8, 2, 3, 5]))
        4 [2.633, 6.458]
    """
    values, groups = _costs(costs), _groups(costs, clusters)
    mean = mean_of(values)
    z = None
    if mean:
        z = values / mean - 1
    return _figure(
        mean,
        z,
        groups,
        level,
        "ci_log",
        "" if mean else "all costs are 0",
        of=(values, None),
    )


def cost_per_solved(
    costs: ArrayLike,
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
    method: str = "log_delta",
) -> CostFigure:
    """What was spent for each prompt that was solved, Σc/Σy, failures paid for as well.

    Args:
        costs: of each prompt, from 0, shape (n,).
        scores: of the same prompts, from 0 to 1, shape (n,).
        clusters: cluster of each prompt, shape (n,), or None.
        level: nominal coverage, in (0, 1).
        method: ``"log_delta"``, or ``"fieller"``, which says so where no upper end is
            known.

    Raises:
        StatisticsError: arguments out of range, misaligned or not finite, or an unknown
            method.

    Examples:
        >>> print(cost_per_solved([2, 4, 3, 5, 8, 2, 3, 5], [1, 1, 0, 1, 0, 1, 1, 0]))
        6.4 [2.386, 17.17]
    """
    values, solved, groups = _costs(costs), as_scores(scores), _groups(costs, clusters)
    check_length(len(solved), len(values), "scores")
    if solved.min() < 0 or solved.max() > 1:
        raise StatisticsError(
            "`scores` must lie between 0 and 1: they say how much of a prompt was "
            "solved"
        )
    if method not in ("log_delta", "fieller"):
        raise StatisticsError(
            f"`method` must be log_delta or fieller, found {method!r}"
        )
    cost, quality = mean_of(values), mean_of(solved)
    if not quality:
        return _figure(None, None, groups, level, method, NOTHING_SOLVED, n=len(values))
    if not cost:
        return _figure(
            0.0, None, groups, level, method, "all costs are 0", n=len(values)
        )
    u, v = values / cost, solved / quality
    plain = _figure(cost / quality, _rounded(u - v, u, v), groups, level, method, "")
    if method == "log_delta" or plain.df is None:
        return plain
    low, high, flags = _fieller(u, v, groups, t_quantile(plain.level, plain.df))
    low, high = (None if end is None else end * cost / quality for end in (low, high))
    return replace(plain, low=low, high=high, flags=(*plain.flags, *flags))


def _fieller(
    u: FloatArray, v: FloatArray, groups: Clusters | None, t: float
) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Ends of E[u]/E[v] where both means are 1: roots of aθ² + bθ + k, in units of the
    estimate."""
    variances = [(describe(values, groups).se or 0.0) ** 2 for values in (u, v, u + v)]
    both = (variances[2] - variances[0] - variances[1]) / 2
    a, b, k = 1 - t**2 * variances[1], -2 * (1 - t**2 * both), 1 - t**2 * variances[0]
    root = math.sqrt(max(0.0, b**2 - 4 * a * k))
    if a > 0:
        return max(0.0, (-b - root) / (2 * a)), (-b + root) / (2 * a), ()
    if a == 0:
        low = -k / b
    else:
        low = (-b - root) / (2 * a)
    if k <= 0 or low <= 0:  # no positive ratio is excluded
        return None, None, ("whole_line",)
    return low, None, ("unbounded",)


def cost_ratio(
    costs_a: ArrayLike,
    costs_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> CostFigure:
    """Mean cost of the first over that of the second on the same prompts, with an
    interval by logarithms.

    Arguments and errors as for `mean_cost`, prompts in the same order.

    Examples:
        >>> print(cost_ratio([2, 4, 3, 5, 8, 2, 3, 5], [1, 1, 2, 2, 3, 1, 1, 1]))
        2.667 [1.989, 3.575]
    """
    a, b, groups = _two(costs_a, costs_b, clusters)
    mean_a, mean_b = mean_of(a), mean_of(b)
    if not mean_a or not mean_b:
        return _figure(
            None,
            None,
            groups,
            level,
            "ci_log",
            "all costs of one of them are 0",
            n=len(a),
        )
    return _figure(
        mean_a / mean_b, _log_terms(a, b), groups, level, "ci_log", "", of=(a, b)
    )


def cheaper_test(
    costs_a: ArrayLike,
    costs_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    times: float = 1.0,
) -> CheaperTest:
    """Whether the first is shown to cost ``times`` less than the second; as
    `cost_ratio`.

    Args as for `cost_ratio`; ``times``, from 1, is given before the costs are looked
    at.
    """
    a, b, groups = _two(costs_a, costs_b, clusters)
    if not 1 <= times < math.inf:
        raise StatisticsError(f"`times` must be a number from 1, found {times}")
    mean_a, mean_b = mean_of(a), mean_of(b)
    if not mean_a or not mean_b:
        return CheaperTest(None, None, None, times, ())
    terms = describe(_log_terms(a, b), groups)
    difference = describe(_rounded(times * a - b, times * a, b), groups)
    log_ratio = math.log(times * mean_a / mean_b)
    p_log = _p_below_zero(log_ratio, terms)
    p_difference = _p_below_zero(difference.mean, difference)
    if p_log is None or p_difference is None:
        return CheaperTest(None, p_log, p_difference, times, ())
    draws = _log_draws(a, b, terms)
    if draws is None or not terms.se:
        p_bootstrap = p_log
    else:
        p_bootstrap = draws.turned.upper_tail(-log_ratio / terms.se)
    is_heavy = _log_spread(a) >= HEAVIEST_LOG_SPREAD and skewness(terms.totals) > 0
    gated = is_heavy and is_gated(terms)
    if gated:
        p = 1.0
    else:
        p = min(1.0, CAUTION * max(p_log, p_difference, p_bootstrap))
    return CheaperTest(
        p, p_log, p_difference, times, (SKEW_GATE,) * gated, p_bootstrap=p_bootstrap
    )


def as_good_for_less(
    scores_a: ArrayLike,
    costs_a: ArrayLike,
    scores_b: ArrayLike,
    costs_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    margin: float,
    times: float = 1.0,
    width: float | None = None,
) -> CheaperTest:
    """Whether the first is no worse than the second by ``margin``, and ``times``
    cheaper: both, at one level.

    An intersection-union test: the larger p counts. Scores as costs, higher is better;
    ``margin``, above 0, and ``times``, from 1, are given before looking; ``width`` is
    that of the scores' range, as for `noninferiority_test`.
    """
    if not 0 < margin < math.inf:
        raise StatisticsError(f"`margin` must be a number above 0, found {margin}")
    a, b = as_scores(scores_a), as_scores(scores_b)
    check_length(len(b), len(a), "scores_b")
    cost = cheaper_test(costs_a, costs_b, clusters, times=times)
    quality = noninferiority_test(
        _rounded(a - b, a, b), margin, clusters, width=width
    ).p_value
    if quality is None or cost.p_value is None:
        p = None
    else:
        p = max(quality, cost.p_value)
    return replace(cost, p_value=p, p_quality=quality)


def cheaper_power(
    costs_a: ArrayLike,
    costs_b: ArrayLike,
    n: int,
    clusters: ArrayLike | None = None,
    *,
    times: float = 1.0,
    alpha: float = 0.05,
    level: float = 0.95,
    n_samples: int = 1000,
    seed: int = 0,
) -> CheaperPower:
    """Power of `cheaper_test` with ``n`` prompts like those of a pilot: the less of two
    simulations.

    One draws the pilot's prompts again (clusters whole). As no draw of them has what
    few prompts do not show of a tail, the other draws from a lognormal with the means,
    variances and correlation that the logarithms of the pilot's costs have; it is left
    out where a cost is 0. The error of a sample is that of its units, n/(n − 1) in
    place of CR2.

    Args:
        costs_a, costs_b, clusters: of a pilot, as for `cost_ratio`.
        n: prompts, from 2 (clusters of mean size are drawn, two at the least).
        times: as for `cheaper_test`.
        alpha: one-sided level of the test, in (0, 0.5).
        level: of the interval behind ``factor``.
        n_samples: samples of either simulation; fewer (100 at the least) where a pilot
            is large.
        seed: of the samples.

    Raises:
        StatisticsError: arguments out of range, misaligned or not finite.
    """
    check_one_sided(alpha)
    a, b, groups = _two(costs_a, costs_b, clusters)
    sums = [unit_sums(values, groups) for values in (a, b, np.ones(len(a)))]
    share = 1.0 if groups is None else groups.n / len(a)
    units, rng = max(2, round(n * share)), np.random.default_rng(as_seed(seed))
    found = [_simulated(rng, n_samples, units, sums, times, alpha)]
    if min(values.min() for values in sums) > 0:
        found.append(
            _simulated(rng, n_samples, units, _lognormal(rng, *sums), times, alpha)
        )
    power, gated, error = min(found)
    return CheaperPower(
        n_prompts=round(units / share),
        n_clusters=None if groups is None else units,
        power=power,
        gated=gated,
        factor=math.exp(min(t_quantile(level, units - 1) * error, _LONGEST))
        if error > 0
        else None,
    )


def _lognormal(
    rng: np.random.Generator, a: FloatArray, b: FloatArray, size: FloatArray
) -> list[FloatArray]:
    """Many units whose costs are lognormal, with the means of those of a pilot."""
    _, spread, axes = np.linalg.svd(np.cov(np.log([a, b])))
    draws = np.exp(rng.standard_normal((_POPULATION, 2)) * np.sqrt(spread) @ axes)
    scaled = draws / draws.mean(axis=0) * [a.mean(), b.mean()]
    return [scaled[:, 0], scaled[:, 1], np.full(_POPULATION, size.mean())]


def _simulated(
    rng: np.random.Generator,
    n_samples: int,
    units: int,
    sums: Sequence[FloatArray],
    times: float,
    alpha: float,
) -> tuple[float, float, float]:
    """Share of samples in which the test finds it, share of gated ones, and the median
    error of the log ratio."""
    n_samples = min(n_samples, max(100, _CELLS // len(sums[0])))
    p, gated, error = _sampled(rng, n_samples, units, sums, times)
    median = 0.0
    if np.isfinite(error).any():
        median = float(np.nanmedian(error))
    return float(np.mean((p <= alpha) & ~gated)), float(gated.mean()), median


def _sampled(
    rng: np.random.Generator,
    n_samples: int,
    units: int,
    sums: Sequence[FloatArray],
    times: float,
) -> tuple[FloatArray, NDArray[np.bool_], FloatArray]:
    """Of samples of units: p of the test, whether it is gated, and the error of the log
    ratio."""
    m = len(sums[0])
    counts = rng.multinomial(units, np.full(m, 1 / m), size=n_samples).astype(
        np.float64
    )
    # Sums over samples of what a unit adds, as polynomials of the sums of its powers:
    # one product of matrices.
    a, size, apart = sums[0] / sums[0].mean(), sums[2], times * sums[0] - sums[1]
    d = a - sums[1] / sums[1].mean()
    powers = [a, d, a * a, d * a, d * d, a**3, d * a * a, d * d * a, d**3]
    powers += [sums[1], size, apart, size * size, size * apart, apart * apart]
    total_a, total_d, aa, da, dd, aaa, daa, dda, ddd, total_b, n, e, ss, se, ee = (
        counts @ np.transpose(powers)
    ).T
    with np.errstate(invalid="ignore", divide="ignore"):
        r = total_d / total_a  # a/total_a - b/total_b is d - r·a in units of 1/total_b
        second, third = (
            dd - 2 * r * da + r * r * aa,
            ddd - 3 * r * dda + 3 * r * r * daa - r**3 * aaa,
        )
        second, third = np.where(
            second <= ROUNDING * (dd + r * r * aa), 0.0, (second, third)
        )
        square = n * n * ee - 2 * n * e * se + e * e * ss
        square = np.where(square <= ROUNDING * (n * n * ee + e * e * ss), 0.0, square)
        short = e / total_b
        errors = [
            np.sqrt(units / (units - 1) * s) / t
            for s, t in ((second, total_a - total_d), (square, n * total_b))
        ]
        tails = [
            special.stdtr(units - 1, np.where(error > ROUNDING, value / error, np.nan))
            for value, error in zip((np.log1p(short), short), errors, strict=True)
        ]
        # bootstrap-t by what it allows for, the skewness of the ratio (Hall 1992)
        statistic, lean = np.log1p(short) / errors[0], third / second**1.5
        turned = (
            statistic + lean * statistic**2 / 3 + lean**2 * statistic**3 / 27 + lean / 6
        )
        tails.append(special.stdtr(units - 1, turned))
        is_heavy = _log_spread(sums[0]) >= HEAVIEST_LOG_SPREAD
        gated = (second**3 < UNITS_PER_SKEW * third**2) & (third > 0) & is_heavy
    largest = np.fmax.reduce([np.where(np.isnan(tail), 1.0, tail) for tail in tails])
    return np.minimum(1.0, CAUTION * largest), gated, errors[0]


def cheaper_sample_size(
    costs_a: ArrayLike,
    costs_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    times: float = 1.0,
    alpha: float = 0.05,
    power: float = 0.8,
    level: float = 0.95,
    n_samples: int = 1000,
    seed: int = 0,
) -> CheaperPower | None:
    """The prompts that `cheaper_test` needs for a power, by simulation; None where no
    number up to ten million does.

    Arguments and errors as for `cheaper_power`; ``power`` in (0, 1).
    """
    if not 0 < power < 1:
        raise StatisticsError(f"`power` must lie between 0 and 1, found {power}")

    def at(n: int) -> CheaperPower:
        settings = {"times": times, "alpha": alpha, "level": level}
        return cheaper_power(
            costs_a, costs_b, n, clusters, **settings, n_samples=n_samples, seed=seed
        )

    a, b, _ = _two(costs_a, costs_b, clusters)
    if not times * mean_of(a) < mean_of(b):
        return None
    low, high = 1, 2
    while (found := at(high)).power < power:
        low, high = high, 2 * high
        if high > _MOST_PROMPTS:
            return None
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        tried = at(middle)
        low, high, found = (
            (low, middle, tried) if tried.power >= power else (middle, high, found)
        )
    return found


def is_gated(sample: Sample) -> bool:
    """Whether units (prompts, or clusters summed) are too few for the skew of what is
    averaged: n < 40·skew²."""
    totals = sample.totals
    return len(totals) < UNITS_PER_SKEW * skewness(totals) ** 2


def _log_spread(costs: FloatArray) -> float:
    """Standard deviation of the logarithm of costs above 0."""
    paid = costs[costs > 0]
    if len(paid) > 1:
        return float(np.log(paid).std(ddof=1))
    return 0.0


def _log_draws(
    a: FloatArray, b: FloatArray | None, terms: Sample
) -> StudentisedDraws | None:
    """Bootstrap-t of the logarithm of ā/b̄, or of ā without b; None with few units.

    t* = (ln r* − ln r)/√v*, v* = G/(G − 1) Σ e*², e* a unit's a/Σa* − b/Σb* (of a alone
    a/Σa* − n/Σn*).
    """
    if not terms.se or terms.df is None:
        return None
    groups = terms.clusters
    units = [a, np.ones(len(a)) if b is None else b]
    sums = np.array([unit_sums(own, groups) for own in units])
    if sums.shape[1] < FEWEST_UNITS:
        return None
    top = grouped(sums / sums.sum(axis=1, keepdims=True), None, seed=0)[0]
    top = top[:, np.lexsort(top)]
    g = top.shape[1]
    counts = resample_counts(g, 0).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        own = counts @ top.T
        log_ratio = np.log(own[:, 0] / own[:, 1])
        squares = counts @ np.array([top[0] ** 2, top[0] * top[1], top[1] ** 2]).T
        parts = (
            squares
            / np.array([own[:, 0] ** 2, -own[:, 0] * own[:, 1] / 2, own[:, 1] ** 2]).T
        )
        drawn = log_ratio / np.sqrt(np.maximum(g / (g - 1) * parts.sum(axis=1), 0.0))
    flat = ~np.isfinite(drawn)
    beyond = np.where(
        np.abs(log_ratio) <= ROUNDING, 0.0, np.copysign(np.inf, log_ratio)
    )
    return StudentisedDraws(np.sort(np.where(flat, beyond, drawn)), terms.df)


def _p_below_zero(value: float, sample: Sample) -> float | None:
    """One-sided p of H0 "the mean is 0 or above", from the error of a sample."""
    if sample.se and sample.df:
        return t_upper_tail(-value / sample.se, sample.df)
    return None


def _log_terms(a: FloatArray, b: FloatArray) -> FloatArray:
    """What each prompt adds to the logarithm of the ratio of means."""
    u, v = a / mean_of(a), b / mean_of(b)
    return _rounded(u - v, u, v)


def _rounded(values: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Differences of two, all 0 where they are only rounding."""
    scale = max(np.abs(a).max(), np.abs(b).max())
    spread = float(values.max() - values.min())
    if spread > ROUNDING * scale:
        return values
    return np.full_like(values, round(float(values.mean()), 15))


def _figure(
    estimate: float | None,
    terms: FloatArray | None,
    groups: Clusters | None,
    level: float,
    method: str,
    reason: str,
    n: int | None = None,
    of: tuple[FloatArray, FloatArray | None] | None = None,
) -> CostFigure:
    """A figure whose logarithm has the error of the mean of ``terms``; with what it is
    the ratio of, the hull."""
    level = as_level(level)
    sample = None if terms is None else describe(terms, groups)
    error, df = (sample.se or None, sample.df) if sample is not None else (None, None)
    low = high = None
    if error and df and estimate is not None and sample is not None:
        t = t_quantile(level, df)
        draws = None if of is None else _log_draws(*of, sample)
        nearest, farthest = (-t, t) if draws is None else draws.ends(level)
        if not math.isfinite(farthest - nearest):  # resamples of too few units
            nearest, farthest = -t, t
        low, high = (
            estimate * math.exp(-max(-_LONGEST, min(end * error, _LONGEST)))
            for end in (farthest, nearest)
        )
    if not reason and error is None:
        few = sample is not None and (sample.n_clusters or sample.n) == 1
        reason = "one prompt or cluster alone" if few else "nothing varies"
    return CostFigure(
        estimate=estimate,
        standard_error=estimate * error if error and estimate is not None else None,
        log_error=error,
        low=low,
        high=high,
        level=level,
        df=df,
        method=method,
        n_prompts=n or (0 if sample is None else sample.n),
        n_clusters=number_of(groups),
        flags=(HEAVY_TAIL,)
        if error and sample is not None and is_gated(sample)
        else (),
        reason=reason,
    )


def _costs(costs: ArrayLike, name: str = "costs") -> FloatArray:
    values = as_scores(costs, name)
    if values.min() < 0:
        raise StatisticsError(
            f"`{name}` holds {values.min():g} at index {int(values.argmin())}; a cost "
            "is 0 or more"
        )
    return values


def _two(
    a: ArrayLike, b: ArrayLike, clusters: ArrayLike | None
) -> tuple[FloatArray, FloatArray, Clusters | None]:
    first, second = _costs(a, "costs_a"), _costs(b, "costs_b")
    check_length(len(second), len(first), "costs_b")
    return first, second, _groups(first, clusters)


def _groups(values: ArrayLike, clusters: ArrayLike | None) -> Clusters | None:
    if clusters is None:
        return None
    return as_clusters(clusters, np.size(values))
