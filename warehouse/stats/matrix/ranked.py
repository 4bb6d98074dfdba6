"""Many distributions on one ordered set of values: quantiles and Kolmogorov–Smirnov distances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core import special
from warehouse.stats.core.inputs import TIE, FloatArray


@dataclass(frozen=True)
class KolmogorovSmirnov:
    """Distance of the observed distribution from the mean of all tables.

    Attributes:
        statistic: D = sup |F_observed − F̄|, F̄ the mean over all N + 1 tables.
        permuted: the same distance of each permuted table, shape (N,).
        p_value: (1 + #{D_b ≥ D}) / (N + 1); exact, since the tables are exchangeable.
        textbook_statistic: sup |F_observed − mean of the permuted F|.
        textbook_p_value: of the two-sample test with all pairs taken as independent (as Siska et
            al. report it). They are not: it is far too small.
    """

    statistic: float
    permuted: FloatArray
    p_value: float
    textbook_statistic: float
    textbook_p_value: float


def linear_quantile(values: FloatArray, counts: NDArray[np.int64], share: float) -> float:
    """The quantile of numpy's ``linear`` method of values with multiplicities.

    Args:
        values: ascending, shape (r,).
        counts: how often each occurs, shape (r,), not all 0.
        share: in [0, 1].
    """
    cumulated = np.cumsum(counts)
    position = share * (int(cumulated[-1]) - 1)
    below = math.floor(position)
    low, high = values[np.searchsorted(cumulated, [below, math.ceil(position)], side="right")]
    return float(low + (high - low) * (position - below))


def upper_p_value(observed: float, permuted: FloatArray) -> float:
    """(1 + #{permuted ≥ observed}) / (1 + N), ties (within 1e-9 of the scale) counted as ≥."""
    room = TIE * max(1.0, abs(observed))
    return (1 + int((permuted >= observed - room).sum())) / (1 + len(permuted))


def kolmogorov_smirnov(table: Callable[[int], NDArray[np.int64]], n_tables: int) -> KolmogorovSmirnov:
    """Compare table 0 with tables 1 … N that are exchangeable with it if nothing is going on.

    Args:
        table: number of a table to its counts on the common values, shape (r,); asked for twice.
        n_tables: N + 1, at least 2.
    """
    total = sum((table(index) for index in range(1, n_tables)), start=table(0))
    mean = distribution(total)
    distances = np.array([distance(table(index), mean) for index in range(n_tables)])
    return from_distances(table(0), total, distances)


def distribution(counts: NDArray[np.int64]) -> FloatArray:
    """Share of the counts up to each value, shape (r,)."""
    cumulated = np.cumsum(counts)
    return np.asarray(cumulated / cumulated[-1])


def distance(counts: NDArray[np.int64], mean: FloatArray) -> float:
    """Largest distance of a table's distribution from another one."""
    return float(np.abs(distribution(counts) - mean).max())


def from_distances(observed: NDArray[np.int64], total: NDArray[np.int64], distances: FloatArray) -> KolmogorovSmirnov:
    """What follows from the distances of all tables from their mean.

    Args:
        observed: counts of table 0, shape (r,).
        total: sum of the counts of all tables, shape (r,).
        distances: of tables 0 … N, shape (N + 1,).
    """
    pairs, n_tables = int(observed.sum()), len(distances)
    apart = float(np.abs(distribution(observed) - distribution(total - observed)).max())
    size = pairs * (n_tables - 1) / n_tables  # m1·m2/(m1 + m2) with m2 = N·m1
    return KolmogorovSmirnov(
        statistic=float(distances[0]),
        permuted=distances[1:],
        p_value=upper_p_value(float(distances[0]), distances[1:]),
        textbook_statistic=apart,
        textbook_p_value=float(special.kolmogorov(math.sqrt(size) * apart)),
    )
