"""The flags of many pairs of models, pairs on the same prompts by the block."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import ROUNDING, TIE, Bounds, Clusters, FloatArray, as_clusters, finite_bounds
from warehouse.stats.core.sample import find_link
from warehouse.stats.intervals.asymmetry import (
    are_unequal,
    figures_of_signs,
    mean_skewnesses,
    tails_of_rows,
    working_skewnesses,
)
from warehouse.stats.multiple.pair_moments import IntArray, cluster_totals
from warehouse.stats.paired.paired import aligned, difference_flags, interval_of_differences
from warehouse.stats.paired.sign_flip import are_too_few, too_few_units

_CELLS = 2**17  # of a block: what the processor keeps at hand


def paired_flags(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights_a: ArrayLike | None = None,
    weights_b: ArrayLike | None = None,
    bounds: Bounds | None = None,
) -> tuple[str, ...]:
    """The flags of `paired_difference` without its figures; arguments as there."""
    first, second, groups, left_out = aligned((a, weights_a), (b, weights_b), clusters, find_link("identity"))
    return difference_flags(first, second, groups, left_out, bounded=first.within(bounds) and second.within(bounds))


def pair_flags(
    scores: FloatArray,
    first: IntArray,
    second: IntArray,
    clusters: NDArray[np.int64] | None = None,
    *,
    bounds: Bounds | None = None,
) -> list[tuple[str, ...]]:
    """The flags of each pair on the prompts that both models have, with ``too_few_units``; none without any.

    Args:
        scores: means of prompts, NaN where not scored, shape (n, M).
        first: column of the first model of each pair, shape (P,).
        second: of the second.
        clusters: of the prompts, shape (n,), or None.
        bounds: of the scores, or None.

    Raises:
        StatisticsError: scores so large that their squares overflow.

    Examples:
        >>> pair_flags(np.array([[1, 0, 1], [0, 0, 1.0]] * 30), np.array([0, 0]), np.array([1, 2]))
        [(), ()]
    """
    found: list[tuple[str, ...]] = [()] * len(first)
    columns, missing = np.ascontiguousarray(scores.T), np.isnan(scores.T)
    for pairs in _of_one_pattern(missing, first, second):
        common = ~(missing[first[pairs[0]]] | missing[second[pairs[0]]])
        if not common.any():
            continue
        if clusters is None:
            pairs = _flag_signs(columns, common, (first[pairs], second[pairs]), pairs, found)
        labels = None if clusters is None else clusters[common]
        groups = None if labels is None else as_clusters(labels, len(labels))
        size = max(1, _CELLS // int(common.sum()))
        for block in (pairs[start : start + size] for start in range(0, len(pairs), size)):
            a, b = (columns[side[block]][:, common] for side in (first, second))
            for pair, flags in zip(block.tolist(), _block_flags(a, b, groups, bounds), strict=True):
                found[pair] = flags
    return found


def _of_one_pattern(missing: NDArray[np.bool_], first: IntArray, second: IntArray) -> Iterator[IntArray]:
    """Numbers of the pairs whose models lack the same prompts as those of the other pairs, together."""
    _, pattern = np.unique(missing, axis=0, return_inverse=True)
    keys = pattern[first] * len(missing) + pattern[second]
    order = np.argsort(keys, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else ()


def _flag_signs(
    columns: FloatArray,
    common: NDArray[np.bool_],
    sides: tuple[IntArray, IntArray],
    pairs: IntArray,
    found: list[tuple[str, ...]],
) -> IntArray:
    """Flag pairs of models whose scores are 0 or 1, by how often one alone is right; the pairs that are left.

    Args:
        columns: scores of all models, shape (M, n).
        common: prompts that all models of the pairs have.
        sides: the models of each pair.
        found: by number of the pair; changed.
    """
    models = np.union1d(*sides)
    scores = columns[np.ix_(models, common)]
    if not _zero_one(scores).all():
        return pairs
    a, b = (np.searchsorted(models, side) for side in sides)
    n, right, both = scores.shape[1], scores.sum(axis=1), (scores @ scores.T)[a, b]
    minus, plus = right[b] - both, right[a] - both
    counts = np.stack([minus, n - minus - plus, plus], axis=1)
    usual = (counts < n).all(axis=1)
    skewness, tails = figures_of_signs(counts[usual], n)
    differing = (minus + plus)[usual]
    figures = zip(pairs[usual].tolist(), *(one.tolist() for one in (skewness, tails, differing)), strict=True)
    for pair, own, heavy, units in figures:
        choice = interval_of_differences(n, None, bounded=True, skewness=own, tail_units=heavy, effective_n=units)
        found[pair] = choice.flags + ("too_few_units",) * are_too_few(int(units))
    left: IntArray = pairs[~usual]
    return left


def _block_flags(
    a: FloatArray, b: FloatArray, clusters: Clusters | None, bounds: Bounds | None
) -> Iterator[tuple[str, ...]]:
    """The flags of each row of ``a`` less that of ``b``, shape (P, n) each."""
    d = a - b
    usual = _are_usual(a, b, d, clusters)
    bounded = np.full(len(d), True) if finite_bounds(bounds) is not None else _zero_one(a) & _zero_one(b)
    figures = iter(zip(*_figures(d[usual], clusters, bounded[usual]), strict=True))
    codes = None if clusters is None else clusters.codes
    for row in range(len(d)):
        if not usual[row]:
            few = too_few_units(d[row], codes)
            yield paired_flags(a[row], b[row], codes, bounds=bounds) + ("too_few_units",) * few
            continue
        skewness, tail_units, effective_n, units = next(figures)
        choice = interval_of_differences(
            d.shape[1],
            clusters,
            bounded=bool(bounded[row]),
            skewness=float(skewness),
            tail_units=float(tail_units),
            effective_n=float(effective_n),
        )
        yield choice.flags + ("too_few_units",) * are_too_few(int(units))


class _Figures(NamedTuple):
    """What the flags of pairs depend on, shape (P,) each."""

    skewness: FloatArray  #: as `choose_interval` has it.
    tail_units: FloatArray  #: likewise.
    effective_n: FloatArray  #: likewise.
    units: IntArray  #: prompts or clusters whose differences do not cancel.


def _figures(d: FloatArray, clusters: Clusters | None, bounded: NDArray[np.bool_]) -> _Figures:
    totals, units = _sums(d - d.mean(axis=1)[:, None], clusters), np.abs(_sums(d, clusters))
    sizes = np.ones(d.shape[1]) if clusters is None else clusters.sizes
    skewness, tails = np.zeros(len(d)), np.full(len(d), math.inf)
    if not bounded.all():
        skewness[~bounded] = mean_skewnesses(totals[~bounded], sizes)
    if bounded.any():
        ordered = np.sort(totals[bounded], axis=1)
        skewness[bounded] = working_skewnesses(ordered)
        if not are_unequal(clusters):
            tails[bounded] = tails_of_rows(ordered)
    squares = np.einsum("ij,ij->i", units, units)
    kish = units.sum(axis=1) ** 2 / np.where(squares > 0, squares, 1.0)
    return _Figures(skewness, tails, kish, np.count_nonzero(units > TIE * np.abs(d).max(axis=1)[:, None], axis=1))


def _sums(values: FloatArray, clusters: Clusters | None) -> FloatArray:
    return values if clusters is None else cluster_totals(clusters.codes, values.T, clusters.n).T


def _are_usual(a: FloatArray, b: FloatArray, d: FloatArray, clusters: Clusters | None) -> NDArray[np.bool_]:
    """Rows that vary and have an error; what is to be said of the others is found one by one."""
    if d.shape[1] < 2 or (clusters is not None and clusters.n < 2):
        return np.zeros(len(d), np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):
        centred = d - d.mean(axis=1)[:, None]
        squares = np.einsum("ij,ij->i", centred, centred)
        scale = np.maximum.reduce([np.abs(side).max(axis=1) for side in (a, b, d)])
        sums = np.abs(_sums(centred, clusters)).max(axis=1)
        varies = (np.ptp(d, axis=1) > ROUNDING * scale) & (sums > ROUNDING * np.abs(centred).sum(axis=1))
        usual: NDArray[np.bool_] = varies & np.isfinite(squares) & (squares > 0)
    return usual


def _zero_one(scores: FloatArray) -> NDArray[np.bool_]:
    zero_one: NDArray[np.bool_] = ((scores == 0) | (scores == 1)).all(axis=1)
    return zero_one
