"""How much of the first row's figure is luck (statistics.md §28.1).

Of several rows on the same prompts the one that came first has, on average, a figure
above its true mean. What it gains is estimated by drawing all figures anew around those
that were seen, with their joint error: b is by how much the first of each draw is luckier
there than the row that was first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    Clusters,
    FloatArray,
    as_level,
    as_scores,
    as_seed,
    check_length,
    clusters_if_any,
)
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.core.results import NamedFigures

#: Draws, and how many numbers are made at a time.
DRAWS, _AT_ONCE = 9_999, 2_000_000
#: Share of the first row's error below which nothing is corrected.
CLEAR = 0.1
#: Means this near to the highest, as a share of it, are tied with it.
_TIE = 1e-12


@dataclass(frozen=True)
class WinnersLuck(NamedFigures):
    """What the first of several rows gains by having been picked."""

    first: int  #: number of the row with the highest mean; the first of those tied.
    tied: tuple[int, ...]  #: numbers of all rows with this mean, the first among them.
    n_rows: int  #: rows M that it was picked from.
    mean: float  #: its mean, m_w.
    standard_error: float  #: of it, √Σ_ww.
    luck: float  #: b, mean gain of the first over draws, in the unit of the scores.
    #: whether ``luck`` is to be taken off: it is at least a tenth of the error.
    is_corrected: bool
    #: the 1 − α/2 quantile of the largest of the rows' errors over their own standard
    #: deviations, at least the normal one: for a lower end that holds whoever is first.
    critical: float
    level: float  #: 1 − α.
    n_draws: int  #: draws behind both.

    @property
    def corrected(self) -> float:
        """The mean without the luck, where there is some; else the mean."""
        if self.is_corrected:
            return self.mean - self.luck
        return self.mean

    def interval(
        self,
        low: float | None,
        high: float | None,
        bounds: Bounds | None = None,
    ) -> tuple[float | None, float | None]:
        """[L − b, U], cut to the bounds of the scores: the upper end stays, as no true
        mean of the first is above the best one's.

        Args:
            low: lower end L of the row's own interval; None without.
            high: upper end U.
            bounds: smallest and largest score.
        """
        if low is None or not self.is_corrected:
            return low, high
        low -= self.luck
        if bounds is not None and bounds[0] is not None:
            low = max(low, bounds[0])
        return low, high


def winners_luck(
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    more_variance: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> WinnersLuck:
    """The luck of the first of M rows.

    Σ = n/(n − 1)·ΨᵀΨ, ψ = (y − m_j)/n_j and 0 where a score is missing; with clusters
    their sums, and G/(G − 1).

    Args:
        scores: higher is better, NaN where there is none, shape (n, M), M at least 2.
        clusters: cluster of each prompt, integers or strings, shape (n,).
        more_variance: of each mean what other prompts do not explain, such as that of
            training seeds, at least 0, shape (M,); None: nothing.
        level: of the lower end for whoever is first.
        seed: of the draws.

    Raises:
        StatisticsError: no matrix of two rows, a row with fewer than two scores,
            infinite scores, or arguments out of range.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise StatisticsError(
            "`scores` must be a matrix of prompts by rows, two rows at least, found the "
            f"shape {values.shape}"
        )
    if np.isinf(values).any():
        raise StatisticsError("`scores` must be finite or NaN, found infinite ones")
    counts = np.count_nonzero(~np.isnan(values), axis=0)
    if counts.min() < 2:
        raise StatisticsError(
            f"row {int(counts.argmin())} has {counts.min()} scores; two are needed"
        )
    means = np.nanmean(values, axis=0)
    groups = clusters_if_any(clusters, len(values))
    covariance = _covariance(values, means, counts, groups)
    if more_variance is not None:
        more = as_scores(more_variance, "more_variance")
        check_length(len(more), len(means), "more_variance")
        covariance[np.diag_indices(len(means))] += more
    return luck_of_means(means, covariance, level=level, seed=seed)


def _covariance(
    values: FloatArray,
    means: FloatArray,
    counts: NDArray[np.intp],
    groups: Clusters | None,
) -> FloatArray:
    """Σ of the means of rows."""
    psi = np.nan_to_num((values - means) / counts)
    if groups is not None:
        sums = [groups.sums(column) for column in psi.T]
        psi = np.column_stack(sums)
    n = len(psi)
    if n < 2:
        raise StatisticsError("one cluster has no error: two are needed")
    covariance: FloatArray = n / (n - 1) * (psi.T @ psi)
    return covariance


def luck_of_means(
    means: ArrayLike,
    covariance: ArrayLike,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> WinnersLuck:
    """The same of means whose joint error is known.

    Args:
        means: higher is better, finite, shape (M,), M at least 2.
        covariance: Σ of their errors, shape (M, M).
        level: of the lower end for whoever is first.
        seed: of the draws.

    Raises:
        StatisticsError: shapes that do not fit, or values that are not finite.

    Examples:
        >>> alike = 0.001 * (0.4 + 0.6 * np.eye(5))
        >>> luck = luck_of_means([0.7] * 5, alike)
        >>> round(luck.luck, 3), luck.is_corrected  # √.0006·1.16296 is .0285
        (0.029, True)
    """
    values = as_scores(means, "means")
    sigma = np.asarray(covariance, dtype=np.float64)
    n_rows = len(values)
    if n_rows < 2 or sigma.shape != (n_rows, n_rows) or not np.isfinite(sigma).all():
        raise StatisticsError(
            f"{n_rows} means need a finite covariance of the shape ({n_rows}, "
            f"{n_rows}), two at least; found the shape {sigma.shape}"
        )
    alpha = 1 - as_level(level)
    first = int(values.argmax())
    near = np.isclose(values, values[first], rtol=_TIE, atol=0)
    gains, largest = _drawn(values, sigma, first, as_seed(seed))
    luck = max(0.0, float(gains.mean()))
    error = math.sqrt(max(0.0, float(sigma[first, first])))
    critical = max(float(np.quantile(largest, 1 - alpha / 2)), z_quantile(level))
    return WinnersLuck(
        first=first,
        tied=tuple(np.flatnonzero(near).tolist()),
        n_rows=n_rows,
        mean=float(values[first]),
        standard_error=error,
        luck=luck,
        is_corrected=luck > 0 and luck >= CLEAR * error,
        critical=critical,
        level=level,
        n_draws=DRAWS,
    )


def _drawn(
    means: FloatArray, sigma: FloatArray, first: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Of each draw by how much its first is luckier than the row that was first, and the
    largest error over its standard deviation."""
    sizes, vectors = np.linalg.eigh(sigma)
    root = vectors * np.sqrt(np.maximum(sizes, 0))
    spread = np.sqrt(np.diag(sigma))
    spread = np.where(spread > 0, spread, np.inf)
    generator = np.random.default_rng(seed)
    at_once = max(1, _AT_ONCE // len(means))
    gains, largest = [], []
    for start in range(0, DRAWS, at_once):
        n = min(at_once, DRAWS - start)
        errors = generator.standard_normal((n, len(means))) @ root.T
        luckiest = (means + errors).argmax(axis=1)
        gains.append(errors[np.arange(n), luckiest] - errors[:, first])
        largest.append((errors / spread).max(axis=1))
    return np.concatenate(gains), np.concatenate(largest)
