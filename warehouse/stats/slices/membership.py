"""Which prompts are in which slice: the set of prompts with one value of a field
(statistics.md §21)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Clusters, FloatArray, as_clusters, check_length

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class Units:
    """What prompts have in common with a slice, by unit: a cluster, or a prompt without
    clusters."""

    totals: csr_matrix  #: sum of the values of unit c in slice g, shape (S, C).
    counts: csr_matrix  #: prompts of unit c in slice g, n_cg, shape (S, C).

    @property
    def n_units(self) -> IntArray:
        """Units with a prompt in the slice, G_g, shape (S,)."""
        n: IntArray = np.diff(self.counts.indptr).astype(np.intp)
        return n


def slice_codes(slices: ArrayLike, n: int, name: str = "slices") -> IntArray:
    """The number of each prompt's slice, 0 to S − 1, each of which has a prompt.

    Raises:
        StatisticsError: another length, numbers that are not whole, or a number between
            0 and the largest that no prompt has.
    """
    codes = np.asarray(slices)
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise StatisticsError(
            f"`{name}` must hold the whole number of each prompt's slice, found "
            f"{codes.ndim} dimension(s) of {codes.dtype}"
        )
    check_length(len(codes), n, name)
    if n == 0:
        raise StatisticsError(f"`{name}` is empty: no prompt is in a slice")
    if codes.min() < 0 or np.bincount(codes).min() == 0:
        raise StatisticsError(
            f"`{name}` must number the slices from 0 without a gap, found "
            f"{sorted(set(codes.tolist()))[:10]}"
        )
    return codes.astype(np.intp)


def units_of(values: FloatArray, codes: IntArray, clusters: Clusters | None) -> Units:
    """Totals and counts by slice and unit.

    Args:
        values: of each entry (a prompt in a slice), shape (m,).
        codes: slice of each entry, shape (m,).
        clusters: of the entries, or None: each is a unit of its own.
    """
    from scipy.sparse import csr_matrix

    if clusters is None:
        units = np.arange(len(values))
    else:
        units = clusters.codes
    shape = (int(codes.max()) + 1, int(units.max()) + 1)
    counts = csr_matrix((np.ones(len(codes)), (codes, units)), shape)
    totals = csr_matrix((values, (codes, units)), shape)
    counts.sum_duplicates()
    totals.sum_duplicates()
    return Units(totals, counts)


def members(codes: IntArray) -> list[IntArray]:
    """The entries of each slice, in their order."""
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))[:-1]
    return list(np.split(order, ends))


def within(clusters: Clusters | None, entries: IntArray) -> Clusters | None:
    """The clusters of some entries, numbered anew."""
    if clusters is None:
        return None
    return as_clusters(clusters.codes[entries], len(entries))
