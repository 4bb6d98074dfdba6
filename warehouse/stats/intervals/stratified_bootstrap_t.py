"""Studentised bootstrap of the mean of a stratified sample, each stratum resampled by
itself (statistics.md §1e g, h).

t* = (θ* − θ̂)/√v*, θ* = Σ W_h ȳ*_h, v* = Σ W_h² s*_h²/n_h, W_h the share of stratum h
in the whole. Where the strata are sampled without replacement both θ* and v* vary as if
with it, and the quotient is that of the sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.intervals.bootstrap_t import (
    FEWEST_UNITS,
    N_RESAMPLES,
    StudentisedDraws,
    grouped,
    resample_counts,
)

#: Share of a resample's squares below which their difference is rounding.
_ROUNDING = 1e-13


def stratified_draws(
    values: FloatArray,
    stratum: NDArray[np.intp],
    shares: FloatArray,
    degrees_of_freedom: float,
    seed: int = 0,
) -> StudentisedDraws | None:
    """The bootstrap distribution of Σ W_h ȳ_h; None with fewer than 6 scores, or where
    none differs in its stratum.

    Args:
        values: scores of the sample, finite, shape (m,).
        stratum: of each, from 0 to H − 1, at least two scores each, shape (m,).
        shares: W_h, shape (H,).
        degrees_of_freedom: ν of the observed error.
        seed: of the draws, at least 0.
    """
    if len(values) < FEWEST_UNITS:
        return None
    means = np.bincount(stratum, weights=values) / np.bincount(stratum)
    deviations = values - means[stratum]
    if np.abs(deviations).max() <= _ROUNDING * np.abs(values).max():
        return None
    moved: FloatArray = np.zeros(N_RESAMPLES)
    variance = np.zeros_like(moved)
    for number, share in enumerate(shares):
        mean, square = _of_stratum(deviations[stratum == number], seed + number)
        moved += share * mean
        variance += share**2 * square
    with np.errstate(divide="ignore", invalid="ignore"):
        t = moved / np.sqrt(variance)
    t = np.where(np.isnan(t), 0.0, t)  # nothing moved, and nothing varied
    return StudentisedDraws(np.sort(t), degrees_of_freedom)


def stratified_skewness(
    values: FloatArray, stratum: NDArray[np.intp], shares: FloatArray
) -> float:
    """Skewness of Σ W_h ȳ_h: Σ W_h³ m³_h/n_h² over (Σ W_h² s²_h/n_h)^1.5, m³ the third
    central moment.

    Args as for `stratified_draws`; 0 where nothing varies.
    """
    n = np.bincount(stratum)
    deviations = values - (np.bincount(stratum, weights=values) / n)[stratum]
    squares = np.bincount(stratum, weights=deviations**2)
    cubes = np.bincount(stratum, weights=deviations**3)
    variance = float((shares**2 * squares / (n * np.maximum(n - 1, 1))).sum())
    third = float((shares**3 * cubes / n.astype(np.float64) ** 3).sum())
    return third / variance**1.5 if variance > 0 else 0.0


def _of_stratum(deviations: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """ȳ*_h of each resample of a stratum, and its squared error; many scores are put
    together into groups at random."""
    sums, sizes = grouped(deviations[None], None, seed)
    total = sums[0]
    if sizes is None:
        size = np.ones_like(total)
    else:
        size = sizes[0]
    counts = resample_counts(len(total), seed).astype(np.float64)
    n_units = len(total)
    with one_blas_thread():
        n = counts @ size
        mean = counts @ total / n
        squares = counts @ total**2
        crossed = counts @ (total * size)
        of_sizes = counts @ size**2
    left = squares - 2 * mean * crossed + mean**2 * of_sizes
    left = np.where(left > _ROUNDING * squares, left, 0.0)
    return mean, n_units / (n_units - 1) * left / n**2
