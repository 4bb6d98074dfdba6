"""The flags of many pairs of models, pairs on the same prompts by the block."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import (
    ROUNDING,
    TIE,
    Bounds,
    Clusters,
    FloatArray,
    as_clusters,
    codes_of,
    finite_bounds,
)
from warehouse.stats.core.machine import has_compiler
from warehouse.stats.core.results import flags_of
from warehouse.stats.core.sample import find_link
from warehouse.stats.intervals.asymmetry import (
    are_unequal,
    figures_of_counts,
    mean_skewnesses,
    tails_of_rows,
    working_skewnesses,
)
from warehouse.stats.multiple.pair_moments import IntArray, cluster_totals, whole_steps
from warehouse.stats.multiple.sign_sums import MANY
from warehouse.stats.paired.pair_sides import aligned
from warehouse.stats.paired.paired import difference_flags, interval_of_differences
from warehouse.stats.paired.sign_flip import are_too_few, too_few_units

Flags = tuple[str, ...]
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
    first, second, groups, left_out = aligned(
        (a, weights_a), (b, weights_b), clusters, find_link("identity")
    )
    return difference_flags(
        first,
        second,
        groups,
        left_out,
        bounded=first.within(bounds) and second.within(bounds),
    )


def pair_flags(
    scores: FloatArray,
    first: IntArray,
    second: IntArray,
    clusters: NDArray[np.int64] | None = None,
    *,
    bounds: Bounds | None = None,
) -> list[tuple[str, ...]]:
    """The flags of each pair on the prompts that both models have, with
    ``too_few_units``; none without any.

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
    steps = 0
    if clusters is None and finite_bounds(bounds) is not None:
        steps = whole_steps(columns)
    for pairs in _of_one_pattern(missing, first, second):
        common = ~(missing[first[pairs[0]]] | missing[second[pairs[0]]])
        if not common.any():
            continue
        if clusters is None and _flag_counted(
            columns, common, (first[pairs], second[pairs]), pairs, steps, found
        ):
            continue
        groups = None
        if clusters is not None:
            groups = as_clusters(clusters[common], int(common.sum()))
        size = max(1, _CELLS // int(common.sum()))
        for start in range(0, len(pairs), size):
            block = pairs[start : start + size]
            a = columns[first[block]][:, common]
            b = columns[second[block]][:, common]
            flags = _block_flags(a, b, groups, bounds)
            for pair, own in zip(block.tolist(), flags, strict=True):
                found[pair] = own
    return found


def _of_one_pattern(
    missing: NDArray[np.bool_], first: IntArray, second: IntArray
) -> Iterator[IntArray]:
    """Numbers of the pairs whose models lack the same prompts as those of the other
    pairs, together."""
    if not len(first):
        return
    numbers: dict[bytes, int] = {}
    pattern = np.array(
        [numbers.setdefault(row.tobytes(), len(numbers)) for row in missing]
    )
    keys = pattern[first] * len(missing) + pattern[second]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order])) + 1
    yield from np.split(order, starts)


def _flag_counted(
    columns: FloatArray,
    common: NDArray[np.bool_],
    sides: tuple[IntArray, IntArray],
    pairs: IntArray,
    steps: int,
    found: list[Flags],
) -> bool:
    """Flag pairs of models whose scores are 0 or 1, or whole numbers of equal steps, by
    how often each difference occurs; whether they are so. Those whose differences are
    all equal, as of models without a fault, share their flags.

    Args:
        columns: scores of all models, shape (M, n).
        common: prompts that all models of the pairs have.
        sides: the models of each pair.
        steps: of a unit, as `whole_steps` has it.
        found: by number of the pair; changed.
    """
    models = np.union1d(*sides)
    a, b = (np.searchsorted(models, side) for side in sides)
    scores = columns[np.ix_(models, common)]
    n, zero_one = scores.shape[1], bool(_zero_one(scores).all())
    if zero_one:
        counted = _signs(scores)
    elif steps:
        compiled = len(pairs) * n >= MANY and has_compiler()
        counted = _differences(scores, steps, compiled)
    else:
        return False
    of_value: dict[int, Flags] = {}
    for start in range(0, len(pairs), _COUNTED):
        own = slice(start, start + _COUNTED)
        counts = counted(a[own], b[own])
        usual = (counts < n).all(axis=1)
        most = counts.shape[1] // 2
        figures = _counted_figures(np.arange(-most, most + 1.0), counts[usual])
        flags = _flags_of(n, None, np.full(len(figures.units), True), figures)
        for pair, said in zip(pairs[own][usual].tolist(), flags, strict=True):
            found[pair] = said
        # pairs with one and the same difference on all prompts
        constant = np.flatnonzero(~usual)
        values = counts[constant].argmax(axis=1)
        for pair, value in zip(
            (start + constant).tolist(), values.tolist(), strict=True
        ):
            if value not in of_value:
                n_differing = 0
                if value != most:
                    n_differing = n
                own_flags = paired_flags(
                    scores[a[pair]], scores[b[pair]], bounds=(0, 1)
                )
                too_few = flags_of(too_few_units=are_too_few(n_differing))
                of_value[value] = own_flags + too_few
            found[pairs[pair]] = of_value[value]
    return True


#: Pairs whose differences are counted at a time.
_COUNTED = 512
#: Of two models each how often their differences take each value, ascending, shape (p,
#: 2 most + 1).
_Counting = Callable[[IntArray, IntArray], FloatArray]


def _signs(scores: FloatArray) -> _Counting:
    """Of scores that are 0 or 1."""
    n, right = scores.shape[1], scores.sum(axis=1)
    both = scores @ scores.T

    def counted(a: IntArray, b: IntArray) -> FloatArray:
        minus = right[b] - both[a, b]
        plus = right[a] - both[a, b]
        return np.stack([minus, n - minus - plus, plus], axis=1)

    return counted


def _differences(scores: FloatArray, steps: int, compiled: bool) -> _Counting:
    """Of scores that are whole numbers of steps."""
    codes = np.rint(scores * steps)
    codes = (codes - codes.min()).astype(np.int16)
    most = int(codes.max())
    size = 2 * most + 1

    def counted(a: IntArray, b: IntArray) -> FloatArray:
        if compiled:
            from warehouse.stats.core.kernels import tally_differences

            counts = np.zeros((len(a), size), np.int64)
            tally_differences(codes, a, b, most, counts)
        else:
            cells = (
                codes[a].astype(np.intp)
                - codes[b]
                + (most + size * np.arange(len(a)))[:, None]
            )
            counts = np.bincount(cells.ravel(), minlength=len(a) * size).reshape(
                len(a), size
            )
        return counts.astype(np.float64)

    return counted


def _block_flags(
    a: FloatArray, b: FloatArray, clusters: Clusters | None, bounds: Bounds | None
) -> Iterator[tuple[str, ...]]:
    """The flags of each row of ``a`` less that of ``b``, shape (P, n) each."""
    d = a - b
    usual = _are_usual(a, b, d, clusters)
    if finite_bounds(bounds) is not None:
        bounded = np.full(len(d), True)
    else:
        bounded = _zero_one(a) & _zero_one(b)
    figures = _figures(d[usual], clusters, bounded[usual])
    flags = iter(_flags_of(d.shape[1], clusters, bounded[usual], figures))
    codes = codes_of(clusters)
    for row in range(len(d)):
        if usual[row]:
            yield next(flags)
        else:
            own = paired_flags(a[row], b[row], codes, bounds=bounds)
            yield own + flags_of(too_few_units=too_few_units(d[row], codes))


class _Figures(NamedTuple):
    """What the flags of pairs depend on, shape (P,) each."""

    skewness: FloatArray  #: as `choose_interval` has it.
    tail_units: FloatArray  #: likewise.
    effective_n: FloatArray  #: likewise.
    units: IntArray  #: prompts or clusters whose differences do not cancel.


def _flags_of(
    n: int, clusters: Clusters | None, bounded: NDArray[np.bool_], figures: _Figures
) -> list[Flags]:
    """The flags of each pair of n prompts; none at all where the most remarkable
    figures together have none."""

    def flags(
        within: bool, skewness: float, tail_units: float, effective_n: float
    ) -> Flags:
        return interval_of_differences(
            n,
            clusters,
            bounded=within,
            skewness=skewness,
            tail_units=tail_units,
            effective_n=effective_n,
        ).flags

    few = [are_too_few(units) for units in figures.units.tolist()]
    if (
        len(few)
        and not any(few)
        and np.isfinite(figures.skewness).all()
        and bool(bounded.all()) == bool(bounded.any())
    ):
        skewness = float(np.abs(figures.skewness).max())
        if not flags(
            bool(bounded[0]),
            skewness,
            float(figures.tail_units.min()),
            float(figures.effective_n.min()),
        ):
            return [()] * len(few)
    columns = (
        column.tolist()
        for column in (
            bounded,
            figures.skewness,
            figures.tail_units,
            figures.effective_n,
        )
    )
    return [
        flags(*own) + ("too_few_units",) * is_few
        for *own, is_few in zip(*columns, few, strict=True)
    ]


def _counted_figures(values: FloatArray, counts: FloatArray) -> _Figures:
    """Of pairs by how often their differences take each value, shape (P, K); the unit
    of these changes nothing."""
    skewness, tails = figures_of_counts(values, counts)
    kish = (counts @ np.abs(values)) ** 2 / (counts @ values**2)
    n_differing = counts[:, values != 0].sum(axis=1)
    return _Figures(skewness, tails, kish, n_differing.astype(np.intp))


def _figures(
    d: FloatArray, clusters: Clusters | None, bounded: NDArray[np.bool_]
) -> _Figures:
    totals = _sums(d - d.mean(axis=1)[:, None], clusters)
    units = np.abs(_sums(d, clusters))
    if clusters is None:
        sizes = np.ones(d.shape[1])
    else:
        sizes = clusters.sizes
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
    least = TIE * np.abs(d).max(axis=1)
    n_differing = np.count_nonzero(units > least[:, None], axis=1)
    return _Figures(skewness, tails, kish, n_differing)


def _sums(values: FloatArray, clusters: Clusters | None) -> FloatArray:
    if clusters is None:
        return values
    return cluster_totals(clusters.codes, values.T, clusters.n).T


def _are_usual(
    a: FloatArray, b: FloatArray, d: FloatArray, clusters: Clusters | None
) -> NDArray[np.bool_]:
    """Rows that vary and have an error; what is to be said of the others is found one
    by one."""
    if d.shape[1] < 2 or (clusters is not None and clusters.n < 2):
        return np.zeros(len(d), np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):
        centred = d - d.mean(axis=1)[:, None]
        squares = np.einsum("ij,ij->i", centred, centred)
        scale = np.maximum.reduce([np.abs(side).max(axis=1) for side in (a, b, d)])
        sums = np.abs(_sums(centred, clusters)).max(axis=1)
        prompts_vary = np.ptp(d, axis=1) > ROUNDING * scale
        units_vary = sums > ROUNDING * np.abs(centred).sum(axis=1)
        has_squares = np.isfinite(squares) & (squares > 0)
    return np.asarray(prompts_vary & units_vary & has_squares)


def _zero_one(scores: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(((scores == 0) | (scores == 1)).all(axis=1))
