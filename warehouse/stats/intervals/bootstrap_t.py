"""Studentised bootstrap of a mean, and its hull with Student's t (Hall 1988;
statistics.md §1b).

Skewed scores: the t interval covers too little on the side of the long tail, and no
look at the sample tells when, since the samples that miss are those without a tail
value. Bootstrap-t learns the asymmetry, but covers too little itself where sizes are
unequal or tails symmetric; the hull of both covers in either case. Several sets of
scores (models, pairs of models) share one table of draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.quantiles import t_quantile, t_upper_tail

#: Resamples B.
N_RESAMPLES = 999
#: With fewer units a resample is too often one without an error: Student's t stands
#: alone.
FEWEST_UNITS = 6
#: More units than this are put together at random into so many groups, whose
#: studentised mean is as skewed as theirs: lognormal scores, σ 1.5, of 3 000 prompts
#: are covered alike with 100 to 3 000.
MOST_UNITS = 500
#: One-sided tail from which on p beyond all resamples is continued by Student's t.
_TAIL = 0.025
_STREAM = 64  # resamples that one generator makes
_KEPT = 4  # tables of draws that are kept
_ROUNDING = 1e-12
_CANCELLED = 1e-13  # share of the squares below which their difference is rounding
_TIED = 10  # digits to which totals, at most 1, are told apart


@dataclass(frozen=True)
class StudentisedDraws:
    """Bootstrap distribution of t = (mean − μ)/error."""

    values: FloatArray  #: t* of the resamples, ascending, shape (B,); infinite where a resample has no error.
    degrees_of_freedom: float  #: ν of the error.

    def ends(self, level: float) -> tuple[float, float]:
        """What goes off the mean for either end, in errors: lower end m − high·se,
        upper m − low·se.

        Args:
            level: nominal coverage, in (0, 1).

        Returns:
            low and high of t, the hull of bootstrap and Student; infinite where
            resamples without an error reach so far.
        """
        low, high = self.bootstrap_ends(level)
        t = t_quantile(level, self.degrees_of_freedom)
        return min(low, -t), max(high, t)

    def bootstrap_ends(self, level: float) -> tuple[float, float]:
        """The same of the bootstrap alone: the floor(α/2·(B+1))-th and
        ceil((1−α/2)(B+1))-th smallest."""
        n = len(self.values)
        low_rank = _rank((1 - level) / 2, n)
        high_rank = _rank((1 + level) / 2, n)
        return float(self.values[low_rank - 1]), float(self.values[high_rank - 1])

    def upper_tail(self, t: float) -> float:
        """One-sided p of an observed t that is large: the larger of Student's and the
        bootstrap's."""
        student = t_upper_tail(t, self.degrees_of_freedom)
        return max(student, self._tail(t, self.values))

    @property
    def turned(self) -> StudentisedDraws:
        """The draws of the figure with the other sign."""
        return StudentisedDraws(-self.values[::-1], self.degrees_of_freedom)

    def p_value(self, t: float) -> float:
        """Two-sided p, above 1 − level just where the interval of `ends` holds the
        tested value."""
        student = 2 * t_upper_tail(abs(t), self.degrees_of_freedom)
        above = self._tail(t, self.values)
        below = self._tail(-t, self.turned.values)
        return min(1.0, max(student, 2 * min(above, below)))

    def _tail(self, t: float, ascending: FloatArray) -> float:
        """(1 + #{t* ≥ t})/(B + 1); beyond all resamples Student's tail, widened so that
        it meets the resamples at 2.5 %: p of many tests must not end at 1/(B + 1)."""
        n = len(ascending)
        just_below = t * (1 - _ROUNDING)
        if t <= 0:
            just_below = t * (1 + _ROUNDING)
        reached = n - int(np.searchsorted(ascending, just_below))
        if reached:
            return (1 + reached) / (n + 1)
        quantile = float(ascending[_rank(1 - _TAIL, n) - 1])
        student = t_quantile(1 - 2 * _TAIL, self.degrees_of_freedom)
        widened = t * student / max(quantile, student)
        return min(1 / (n + 1), t_upper_tail(widened, self.degrees_of_freedom))


def studentised_draws(
    totals: FloatArray, sizes: FloatArray | None, degrees_of_freedom: float, seed: int
) -> StudentisedDraws | None:
    """The bootstrap distribution of one set of scores; None with fewer than
    `FEWEST_UNITS` units.

    Args:
        totals: sum of the deviations from the mean in each unit (prompt or cluster),
            shape (G,).
        sizes: prompts in each unit, shape (G,); None: one each.
        degrees_of_freedom: ν of the observed error.
        seed: at least 0. Up to `MOST_UNITS` the draws do not depend on the order of the
            units.
    """
    if len(totals) < FEWEST_UNITS or not np.any(totals):
        return None
    if sizes is not None:
        sizes = sizes[None]
    values = studentised(totals[None], sizes, seed)[:, 0]
    return StudentisedDraws(np.sort(values), degrees_of_freedom)


def studentised(totals: FloatArray, sizes: FloatArray | None, seed: int) -> FloatArray:
    """t* of the resamples of several sets of scores, shape (B, S), not sorted.

    t* = m*/sqrt(v*), m* = ΣD*/Σn*, v* = G/(G−1) Σ(D*_c − n*_c m*)²/(Σn*)²: CR1 of the
    resample. Where v* is 0, t* is 0 if m* is, else infinite. Swapping the sign of a set
    swaps that of its t*.

    Args:
        totals: deviations summed over units, shape (S, G).
        sizes: prompts of each unit, shape (S, G); None: one each. Units of no prompts
            count for nothing.
        seed: of the draws, which all sets share.
    """
    top, size = _canonical(*grouped(totals, sizes, seed))
    counts = resample_counts(top.shape[1], seed)
    with one_blas_thread():  # the same sums whatever the number of threads
        if size is None:
            return _plain(counts, top)
        return _ratio(counts, top, size)


def studentised_ratios(
    totals: FloatArray, sizes: FloatArray, degrees_of_freedom: float, seed: int
) -> StudentisedDraws | None:
    """The bootstrap distribution of the difference of two weighted means of the same
    units; None with few units.

    t* = (m*_1 − m*_2)/sqrt(v*), m*_k = ΣT*_k/ΣW*_k, v* = G/(G−1) Σ (e*_1 − e*_2)², e*_k
    = (T*_k − W*_k m*_k)/ΣW*_k.

    Args:
        totals: T, sum of the weighted deviations in each unit, by run, shape (2, G).
        sizes: W, weight of each unit, by run, shape (2, G).
        degrees_of_freedom: ν of the observed error.
        seed: at least 0. Up to `MOST_UNITS` the draws do not depend on the order of the
            units.
    """
    if totals.shape[1] < FEWEST_UNITS or not np.any(totals):
        return None
    both = grouped(np.vstack([totals, sizes]), None, seed)[0]
    order = np.lexsort(np.round(both / _largest(both), _TIED))
    top, weight = both[:2, order], both[2:, order]
    counts = resample_counts(top.shape[1], seed).astype(np.float64)
    parts = [_ratios_apart(part, top, weight) for part in np.array_split(counts, 8)]
    found = np.concatenate(parts)
    found = np.where(np.isnan(found), 0.0, found)
    return StudentisedDraws(np.sort(found), degrees_of_freedom)


def _ratios_apart(
    counts: FloatArray, top: FloatArray, weight: FloatArray
) -> FloatArray:
    """t* of `studentised_ratios` of some resamples; NaN where it is 0/0."""
    g = top.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        n = counts @ weight.T
        means = counts @ top.T / n
        residuals = top / n[:, :, None] - weight * (means / n)[:, :, None]
        apart = residuals[:, 0] - residuals[:, 1]
        variance = g / (g - 1) * (counts * apart**2).sum(axis=1)
        return np.asarray((means[:, 0] - means[:, 1]) / np.sqrt(variance))


def _largest(rows: FloatArray) -> FloatArray:
    """Size of the largest value of each row, 1 for a row of zeros, shape (S, 1)."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    return np.where(largest > 0, largest, 1.0)


def jointly_studentised(
    totals: FloatArray,
    sizes: FloatArray | None,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> FloatArray:
    """`studentised` of sets whose units go together: a resample holds the same units of
    all sets, shape (B, S).

    Args:
        totals, sizes, seed: as there; the units of all sets in one order.
        n_resamples: B.
    """
    top, size = grouped(totals, sizes, seed)
    top = top / _largest(top)
    counts = resample_counts(top.shape[1], seed, n_resamples)
    with one_blas_thread():
        if size is None:
            return _plain(counts, top)
        return _ratio(counts, top, size)


@lru_cache(maxsize=_KEPT)
def resample_counts(
    n_units: int, seed: int, n_resamples: int = N_RESAMPLES
) -> NDArray[np.float32]:
    """How often each resample holds each unit, shape (B, G); the same for the same seed
    and number."""
    counts = np.empty((n_resamples, n_units), np.float32)
    for rows, drawn in _streams(n_units, seed, n_resamples):
        first_of_row = n_units * np.arange(len(drawn))[:, None]
        index = (drawn + first_of_row).ravel()
        found = np.bincount(index, minlength=len(drawn) * n_units)
        counts[rows] = found.reshape(drawn.shape)
    counts.setflags(write=False)
    return counts


def _streams(
    n_units: int, seed: int, n_resamples: int
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    for start in range(0, n_resamples, _STREAM):
        rows = min(_STREAM, n_resamples - start)
        rng = np.random.default_rng([seed, start // _STREAM])
        yield slice(start, start + rows), rng.integers(0, n_units, (rows, n_units))


def _rank(share: float, n: int) -> int:
    """Place of a quantile among n draws, from 1: outwards, with the rounding of the
    product off."""
    exact = share * (n + 1)
    if share < 0.5:
        index = math.floor(exact + _ROUNDING * n)
    else:
        index = math.ceil(exact - _ROUNDING * n)
    return min(max(index, 1), n)


def _canonical(
    totals: FloatArray, sizes: FloatArray | None
) -> tuple[FloatArray, FloatArray | None]:
    """Units in an order that does not depend on theirs, nor on the sign of the set."""
    unit = totals / _largest(totals)
    cubes = (unit**3).sum(axis=1, keepdims=True)
    turned = np.where(cubes < 0, -1.0, 1.0)
    if sizes is None:
        return turned * np.sort(turned * unit, axis=1), None
    order = np.lexsort((sizes, np.round(turned * unit, _TIED)), axis=1)
    return np.take_along_axis(unit, order, 1), np.take_along_axis(sizes, order, 1)


def grouped(
    totals: FloatArray, sizes: FloatArray | None, seed: int
) -> tuple[FloatArray, FloatArray | None]:
    """No more than `MOST_UNITS` units: more are put together at random, by their place.

    Args:
        totals: as for `studentised`, shape (S, G).
        sizes: as there.
        seed: of the permutation.
    """
    n = totals.shape[1]
    if n <= MOST_UNITS:
        return totals, sizes
    order = np.random.default_rng([seed, n]).permutation(n)
    starts = np.arange(MOST_UNITS) * n // MOST_UNITS
    sums = np.add.reduceat(totals[:, order], starts, axis=1)
    if sizes is not None:
        return sums, np.add.reduceat(sizes[:, order], starts, axis=1)
    if n % MOST_UNITS == 0:
        return sums, None
    units_of_group = np.diff([*starts, n]).astype(np.float64)
    return sums, np.broadcast_to(units_of_group, sums.shape)


def _plain(counts: NDArray[np.float32], top: FloatArray) -> FloatArray:
    g = top.shape[1]
    weights = counts.astype(np.float64).T
    mean = (top @ weights / g).T  # a set's draws side by side, which are sorted faster
    squares = (top**2 @ weights).T / g
    variance = _left(squares - mean**2, squares) / (g - 1)
    return _quotients(mean, variance, np.float64(1))


def _ratio(
    counts: NDArray[np.float32], top: FloatArray, size: FloatArray
) -> FloatArray:
    weights = counts.astype(np.float64)
    n = weights @ size.T
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = weights @ top.T / n
        g = np.count_nonzero(size, axis=1)
        squares = weights @ (top**2).T
        others = mean**2 * (weights @ (size**2).T)
        products = weights @ (top * size).T
        left = squares - 2 * mean * products + others
        variance = g / (g - 1) * _left(left, squares + others) / n**2
        return _quotients(mean, variance, size.mean(axis=1))


def _left(difference: FloatArray, squares: FloatArray) -> FloatArray:
    """A difference of squares; 0 where it is their rounding, which made t* of a hundred
    million of no error at all."""
    return np.where(difference > _CANCELLED * squares, difference, 0.0)


def _quotients(
    mean: FloatArray, variance: FloatArray, scale: FloatArray | np.float64
) -> FloatArray:
    """t*; deviations have a size of at most 1 a unit, so that rounding is told from a
    spread."""
    flat = ~(variance > (_ROUNDING / scale) ** 2)
    if not flat.any():
        return np.divide(mean, np.sqrt(variance))
    with np.errstate(invalid="ignore", divide="ignore"):
        t = mean / np.sqrt(np.where(flat, np.nan, variance))
    zero = np.abs(mean) <= _ROUNDING / scale
    without_error = np.where(zero, 0.0, np.copysign(np.inf, mean))
    return np.asarray(np.where(flat, without_error, t))
