"""Signal to noise: the variance between recipes against that between checkpoints, from
a two-way table.

Used with the seeds of one recipe (:func:`seed_variance`) and with recipes
(:func:`warehouse.stats.training.signal_to_noise.signal_to_noise`). Intervals suppose
that the jitter of checkpoints is independent; where it is not, the flag
``autocorrelated`` says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import ROUNDING, FloatArray, as_level
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.training.seed_means import as_table


@dataclass(frozen=True)
class SignalToNoise(NamedFigures):
    """Standard deviation of recipes over that of one checkpoint."""

    #: sqrt(max(0, (F(n2 − 2)/n2 − 1)/k)); None where n2 ≤ 2 or there is no jitter.
    snr: float | None
    ci_low: float | None  #: lower end, from the F distribution, at least 0.
    ci_high: float | None  #: upper end.
    n_recipes: int  #: R.
    n_checkpoints: int  #: k.
    level: float  #: of the interval.
    flags: tuple[str, ...]  #: ``autocorrelated``: the interval does not hold.
    reason: str  #: why there is no figure.


def signal_to_noise(scores: ArrayLike, *, level: float = 0.95) -> SignalToNoise:
    """Signal to noise of a benchmark over recipes x their last checkpoints.

    The noise is what is left within recipes after the checkpoints' common trend;
    published code that pools all numbers has the signal in its noise and is bounded by
    its own design.

    Args:
        scores: the same last checkpoints of each recipe, shape (R, k), both at least 2.
        level: of the interval, in (0, 1).

    Raises:
        StatisticsError: another shape, or values that are not finite.
    """
    table, level = two_way(scores, rows="recipes"), as_level(level)
    if table.error == 0:
        return _without(
            table,
            level,
            "all recipes have the same curve but for a constant: no noise to compare "
            "with",
        )
    if table.n2 <= 2:
        return _without(
            table,
            level,
            f"{table.rows} recipes x {table.columns} checkpoints: too few to tell the "
            "noise",
        )
    k, f = table.columns, table.between / table.error
    low, high = (
        math.sqrt(max(0.0, (f / float(special.fdtri(table.n1, table.n2, q)) - 1) / k))
        for q in ((1 + level) / 2, (1 - level) / 2)
    )
    return SignalToNoise(
        snr=math.sqrt(max(0.0, (f * (table.n2 - 2) / table.n2 - 1) / k)),
        ci_low=low,
        ci_high=high,
        n_recipes=table.rows,
        n_checkpoints=k,
        level=level,
        flags=table.flags,
        reason="",
    )


def _without(table: TwoWay, level: float, reason: str) -> SignalToNoise:
    return SignalToNoise(
        None, None, None, table.rows, table.columns, level, table.flags, reason
    )


@dataclass(frozen=True)
class SeedRatio(NamedFigures):
    """Mean over standard deviation of seeds (Madaan et al. 2024, table 2)."""

    ratio: float | None  #: mean/s; None where s = 0 or the mean is not above 0.
    ci_low: float | None  #: exp(ln ratio − t·jackknife error), None below 3 seeds.
    ci_high: float | None  #: the upper end.
    n_seeds: int  #: S.
    level: float  #: of the interval.
    reason: str  #: why there is none.


def seed_ratio(scores: ArrayLike, *, level: float = 0.95) -> SeedRatio:
    """Mean over standard deviation of seeds at the final checkpoint.

    Args:
        scores: one per seed, shape (S,), S at least 2.
        level: of the interval, in (0, 1).

    Raises:
        StatisticsError: scores that are not finite, or fewer than 2.
    """
    x = as_table(
        np.atleast_2d(np.asarray(scores, np.float64)).T, rows="seeds", least_columns=1
    )[:, 0]
    return _seed_ratio([x], level, ratio_of=lambda columns: _log_ratio(columns[0]))


def compare_seed_ratios(
    scores_a: ArrayLike, scores_b: ArrayLike, *, level: float = 0.95
) -> SeedRatio:
    """Ratio of the two ratios of one benchmark in two formulations (continuous over
    discrete, say), seed by seed; its interval is of that ratio.

    Args:
        scores_a: one per seed, shape (S,).
        scores_b: of the same seeds in the same order, shape (S,).
        level: of the interval, in (0, 1).

    Raises:
        StatisticsError: lengths that differ, fewer than 2 seeds, scores that are not
            finite.
    """
    pair = [np.asarray(scores, np.float64) for scores in (scores_a, scores_b)]
    if pair[0].shape != pair[1].shape or pair[0].ndim != 1:
        raise StatisticsError(
            f"two figures of the same seeds are needed, found shapes {pair[0].shape}, "
            f"{pair[1].shape}"
        )
    for scores in pair:
        as_table(scores[:, None], rows="seeds", least_columns=1)
    return _seed_ratio(
        pair,
        level,
        ratio_of=lambda columns: _log_ratio(columns[0]) - _log_ratio(columns[1]),
    )


def _log_ratio(x: FloatArray) -> float:
    s, mean = float(np.std(x, ddof=1)), float(x.mean())
    if s > 0 and mean > 0:
        return math.log(mean / s)
    return math.nan


def _seed_ratio(
    columns: Sequence[FloatArray],
    level: float,
    ratio_of: Callable[[Sequence[FloatArray]], float],
) -> SeedRatio:
    level, n = as_level(level), len(columns[0])
    whole = ratio_of(columns)
    if math.isnan(whole):
        reason = "seeds that are all equal, or a mean that is not above 0"
        return SeedRatio(None, None, None, n, level, reason)
    ratio = math.exp(whole)
    if n < 3:
        reason = "an interval needs at least 3 seeds"
        return SeedRatio(ratio, None, None, n, level, reason)
    left = np.empty(n)
    for index in range(n):
        left[index] = ratio_of([np.delete(column, index) for column in columns])
    if np.isnan(left).any():
        reason = "without one seed the others are all equal"
        return SeedRatio(ratio, None, None, n, level, reason)
    error = math.sqrt((n - 1) / n * float(np.sum((left - left.mean()) ** 2)))
    half = t_quantile(level, n - 1) * error
    low, high = math.exp(whole - half), math.exp(whole + half)
    return SeedRatio(ratio, low, high, n, level, "")


#: Standard errors by which the residuals' first autocorrelation must exceed what
#: independent jitter gives before it is flagged.
_MANY = 1.645


@dataclass(frozen=True)
class TwoWay:
    """Sums of squares of a complete table."""

    rows: int  #: R, runs.
    columns: int  #: k, checkpoints.
    between: float  #: MSS = k·s²(row means), n1 = R − 1 degrees of freedom.
    error: float  #: MSE of the interaction, n2 = (R − 1)(k − 1) degrees of freedom; 0 where it is nothing but rounding.
    #: whether residuals of neighbouring checkpoints go together.
    is_autocorrelated: bool

    @property
    def n1(self) -> int:
        """Degrees of freedom of ``between``."""
        return self.rows - 1

    @property
    def n2(self) -> int:
        """Degrees of freedom of ``error``."""
        return (self.rows - 1) * (self.columns - 1)

    @property
    def flags(self) -> tuple[str, ...]:
        """``autocorrelated``, where intervals do not hold."""
        if self.is_autocorrelated:
            return ("autocorrelated",)
        return ()


def two_way(scores: ArrayLike, *, rows: str = "seeds") -> TwoWay:
    """Sums of squares of runs x checkpoints.

    Args:
        scores: complete, shape (R, k), both at least 2.
        rows: what a row is, for messages.

    Raises:
        StatisticsError: another shape, or values that are not finite.
    """
    x = as_table(scores, rows=rows)
    n, k = x.shape
    by_row, by_column = x.mean(axis=1), x.mean(axis=0)
    residuals = x - by_row[:, None] - by_column + x.mean()
    total = float(np.sum(residuals**2))
    size = float(np.abs(x).max()) ** 2 * x.size
    if total <= ROUNDING**2 * size:
        total = 0.0
    return TwoWay(
        rows=n,
        columns=k,
        between=float(k * by_row.var(ddof=1)),
        error=total / ((n - 1) * (k - 1)),
        is_autocorrelated=total > 0 and _goes_together(residuals, total),
    )


def _goes_together(residuals: FloatArray, total: float) -> bool:
    n, k = residuals.shape
    first = float(np.sum(residuals[:, 1:] * residuals[:, :-1])) / total
    return bool((first + 1 / k) * math.sqrt((n - 1) * (k - 1)) > _MANY)


@dataclass(frozen=True)
class BetweenSeedVariance(NamedFigures):
    """Variance between the seeds of one recipe, apart from the jitter of checkpoints."""

    variance: float  #: σ̂_S² = (MSS − MSE)/k, not below 0.
    raw: float  #: the same, which may be below 0.
    #: lower end of Ting and Graybill's interval (1990), at least 0; None if MSE = 0.
    ci_low: float | None
    ci_high: float | None  #: upper end.
    jitter_variance: float | None  #: σ̂_J² = MSE; None where it is 0.
    between: float  #: MSS.
    n_seeds: int  #: S.
    n_checkpoints: int  #: k.
    level: float  #: of the interval.
    #: ``autocorrelated``: jitter goes together over checkpoints, the interval does not
    #: hold (with correlation .7 it covers as little as .05).
    flags: tuple[str, ...]
    reason: str  #: why there is no interval.


def seed_variance(scores: ArrayLike, *, level: float = 0.95) -> BetweenSeedVariance:
    """Variance between seeds from a table of seeds x checkpoints.

    Args:
        scores: the same checkpoints of each seed, shape (S, k), both at least 2.
        level: of the interval, in (0, 1).

    Raises:
        StatisticsError: another shape, or values that are not finite.
    """
    table, level = two_way(scores), as_level(level)
    k, raw = table.columns, (table.between - table.error) / table.columns
    low: float | None = None
    high: float | None = None
    reason = (
        "all seeds have the same curve but for a constant: no jitter to compare with"
    )
    if table.error > 0:
        low, high = (max(0.0, end / k) for end in _ting_graybill(table, level))
        reason = ""
    return BetweenSeedVariance(
        variance=max(0.0, raw),
        raw=raw,
        ci_low=low,
        ci_high=high,
        jitter_variance=table.error or None,
        between=table.between,
        n_seeds=table.rows,
        n_checkpoints=k,
        level=level,
        flags=table.flags,
        reason=reason,
    )


def _ting_graybill(table: TwoWay, level: float) -> tuple[float, float]:
    """Interval of MSS − MSE as expected mean squares, Ting et al. (1990)."""
    lower, upper = (1 - level) / 2, (1 + level) / 2
    n1, n2 = table.n1, table.n2
    h1 = 1 / (special.chdtri(n1, upper) / n1) - 1
    h2 = 1 / (special.chdtri(n2, upper) / n2) - 1
    g1 = 1 - 1 / (special.chdtri(n1, lower) / n1)
    g2 = 1 - 1 / (special.chdtri(n2, lower) / n2)
    f1 = float(special.fdtri(n1, n2, upper))
    f2 = float(special.fdtri(n1, n2, lower))
    g12 = ((f1 - 1) ** 2 - g1**2 * f1**2 - h2**2) / f1
    h12 = ((1 - f2) ** 2 - h1**2 * f2**2 - g2**2) / f2
    a, b = table.between, table.error
    down = g1**2 * a**2 + h2**2 * b**2 + g12 * a * b
    up = h1**2 * a**2 + g2**2 * b**2 + h12 * a * b
    return a - b - math.sqrt(max(0.0, down)), a - b + math.sqrt(max(0.0, up))
