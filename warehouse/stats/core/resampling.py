"""Resampled means and ratios: draws of the bootstrap distribution, by the cheapest exact way.

What is resampled is a *unit*: a prompt, or a whole cluster. The statistic of a resample that
holds unit u m_u times is ``centre + Σ m_u a_u / Σ m_u b_u``: a mean (b constant), the mean over
resampled clusters (b their sizes) or a ratio metric (b the weights). Three ways of drawing:

* units with few distinct values: the counts of the distinct values are multinomial (for 0/1
  scores binomial), so that n does not matter;
* else the units themselves, by index, in blocks;
* else, where there are many of them and b is constant, from the distribution of the resampled
  mean itself (see `exact_bootstrap`), so that n enters once and not once per resample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import Clusters, FloatArray, is_constant
from warehouse.stats.intervals.exact_bootstrap import mean_distribution

BLOCK = 1 << 18  # entries of the largest temporary array
_MANY_DRAWS = 10_000_000  # units × resamples beyond which the distribution itself is cheaper
_CHEAPER_BY = 10  # a multinomial count costs about as much as so many index draws


@dataclass(frozen=True)
class Units:
    """What is resampled.

    Attributes:
        centre: the statistic of the sample itself.
        numerators: a_u, with sum 0, shape (U,).
        denominators: b_u above 0, with mean 1, shape (U,).
    """

    centre: float
    numerators: FloatArray
    denominators: FloatArray

    @property
    def n(self) -> int:
        """Number of units U."""
        return len(self.numerators)


def units_of(values: FloatArray, centre: float, shares: FloatArray | None, clusters: Clusters | None) -> Units:
    """Units of linearised scores.

    Args:
        values: linearised scores (see `ratio.linearise`), shape (n,).
        centre: their mean.
        shares: weight of each prompt over the mean weight, shape (n,), or None.
        clusters: resampled as a whole, or None: prompts are.
    """
    top = values - centre
    bottom = np.ones_like(top) if shares is None else shares
    if clusters is not None:
        top, bottom = clusters.sums(top), clusters.sums(bottom)
    scale = bottom.mean()
    return Units(centre, top / scale, bottom / scale)


def replicates(units: Units, n_resamples: int, seed: int, block: int = BLOCK) -> FloatArray:
    """The statistic of each resample, shape (n_resamples,).

    The same for any order of the units and any size of the blocks.

    Args:
        units: what is resampled, with replacement, as many as there are.
        n_resamples: B.
        seed: of the generator, at least 0.
        block: entries of the largest temporary array.
    """
    rng = np.random.default_rng(seed)
    distinct, counts = _distinct(units)
    if distinct.n == 2 or distinct.n * _CHEAPER_BY <= units.n:
        return np.concatenate(list(_by_counts(distinct, counts, n_resamples, rng, block)))
    if units.n * n_resamples >= _MANY_DRAWS and is_constant(units.denominators):
        exact = mean_distribution(units.numerators)
        if exact is not None:
            return units.centre + exact.quantiles(rng.random(n_resamples))
    return np.concatenate(list(_by_index(_repeated(distinct, counts), n_resamples, rng, block)))


def of_counts(units: Units, counts: NDArray[Any]) -> FloatArray:
    """The statistic of resamples given how often each holds each unit.

    Args:
        units: U of them.
        counts: m_u of each resample, shape (resamples, U).
    """
    return units.centre + _quotient(counts * units.numerators, counts * units.denominators)


def _distinct(units: Units) -> tuple[Units, NDArray[np.intp]]:
    """The distinct units, and how many there are of each."""
    pairs, counts = np.unique(units.numerators + 1j * units.denominators, return_counts=True)
    return Units(units.centre, pairs.real.copy(), pairs.imag.copy()), counts


def _repeated(distinct: Units, counts: NDArray[np.intp]) -> Units:
    """All units again, in order."""
    top, bottom = distinct.numerators, distinct.denominators
    return Units(distinct.centre, np.repeat(top, counts), np.repeat(bottom, counts))


def _by_counts(
    distinct: Units, counts: NDArray[np.intp], n_resamples: int, rng: np.random.Generator, block: int
) -> Iterator[FloatArray]:
    total = int(counts.sum())
    for rows in _rows(n_resamples, distinct.n, block):
        drawn = rng.multinomial(total, counts / total, size=rows)
        yield of_counts(distinct, drawn)


def _by_index(units: Units, n_resamples: int, rng: np.random.Generator, block: int) -> Iterator[FloatArray]:
    constant = is_constant(units.denominators)
    for rows in _rows(n_resamples, units.n, block):
        index = rng.integers(0, units.n, (rows, units.n))
        top = units.numerators.take(index)
        bottom = 1.0 if constant else units.denominators.take(index)
        yield units.centre + _quotient(top, np.broadcast_to(bottom, top.shape))


def _quotient(top: FloatArray, bottom: FloatArray) -> FloatArray:
    quotient: FloatArray = top.sum(axis=1) / bottom.sum(axis=1)
    return quotient


def _rows(n_resamples: int, width: int, block: int) -> Iterator[int]:
    """Resamples per block, so that a block holds about ``block`` entries."""
    step = max(1, block // width)
    for start in range(0, n_resamples, step):
        yield min(step, n_resamples - start)
