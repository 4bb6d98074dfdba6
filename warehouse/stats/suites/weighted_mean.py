"""Suites: weighted sums of leaf figures with the error propagated, and all pairs of
runs on them.

The sum T = Σ w_l m_l moves by Σ_l w_l p_ul with unit u (`Cell.pulls`), so that its
variance is V = Σ_u (Σ_l w_l p_ul)². Where leaves share no units that is Σ w_l² se_l²,
where they do the covariances are in it; it is CR2 of the regression of all scores on
the leaves (Bell and McCaffrey 2002). Degrees of freedom are Satterthwaite's with each
leaf's own variance, which is Welch-Satterthwaite's over leaves that share nothing.

A difference is a sum over the leaves of both runs, the second with weights −w (see
`suites`): prompts that both have are paired, others are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import scipy  # loads its parts when they are used
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    ROUNDING,
    Bounds,
    FloatArray,
    as_level,
    as_scores,
    as_shares,
    check_length,
    finite_bounds,
    rejects,
)
from warehouse.stats.core.moments import deviations, mean_of
from warehouse.stats.core.quantiles import t_p_value, t_p_values
from warehouse.stats.core.results import (
    Interval,
    NamedFigures,
    ends_of,
    figures_text,
    flags_of,
)
from warehouse.stats.core.sample import components, distinct
from warehouse.stats.intervals.closed_form import (
    interval_normal,
    interval_t,
    interval_wilson,
    interval_wilson_bounded,
)
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.rows.seed_difference import RowSeeds
from warehouse.stats.suites.cells import (
    Cell,
    Design,
    UnitTable,
    not_nearer,
    overlaps,
    satterthwaite,
    unseen_variances,
)
from warehouse.stats.suites.parts import (
    Halves,
    correlation_of_cells,
    correlation_of_sums,
    flags_among_several,
    flags_that_count,
    halves_of_cells,
    hull_with,
    p_of_halves,
    without_few_prompts,
)
from warehouse.stats.suites.seed_tests import tests_over_seeds


@dataclass(frozen=True)
class SuiteEstimate(NamedFigures):
    """A run's figure on a suite."""

    estimate: float  #: Σ w_l m_l, weights summing to 1.
    standard_error: float | None  #: None where a leaf has none, or where it is 0.
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage.
    #: of ``standard_error``; None for published errors alone (normal).
    degrees_of_freedom: float | None
    n_leaves: int  #: leaves L.
    n_prompts: int  #: prompts, those of every leaf counted.
    n_units: int  #: different units (prompts or clusters); 0 for published figures.
    n_shared: int  #: units in more than one leaf.
    se_independent: float | None  #: sqrt(Σ w_l² se_l²), as if leaves shared nothing.
    method: str  #: ``wilson_bounded``, ``t``, ``normal``, ``wilson`` or ``none``.
    reason: str  #: why this method, or why there is no interval.
    #: ``shared_units``, ``leaves_without_spread``, ``all_scores_equal``, those of the
    #: weights of prompts, and those of leaves' own intervals, where flagged leaves hold
    #: more than a quarter of the variance.
    flags: tuple[str, ...]

    def __str__(self) -> str:
        figures = figures_text(
            self.estimate, self.standard_error, self.ci_low, self.ci_high
        )
        return f"{figures} ({self.n_leaves} benchmarks, {self.method})"


def combine_leaves(
    cells: Sequence[Cell],
    weights: ArrayLike | None = None,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> SuiteEstimate:
    """A run's figure on a suite, with its error and an interval.

    Where all leaves have the same finite bounds the interval is Wilson's at the
    effective size n_e = T(1 − T)/V · (z/t_ν)² on [0, 1], which stays within them; else
    the hull of Student's t and of the leaves' own ends (`parts`); normal where all
    figures are published ones. 0/1 scores that are all equal: Wilson at n = 1/Σ_u (Σ_l
    w_l f_ul)². Where some leaf has no spread, at least as wide as `cells.not_nearer`
    says.

    Args:
        cells: one for each leaf.
        weights: of the leaves, above 0, divided by their sum; None: equal.
        bounds: smallest and largest possible figure of every leaf; None: unbounded.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: no leaf, weights misaligned or not above 0, ``level`` out of
            range.

    Examples:
        >>> from warehouse.stats.suites.cells import leaf_cell
        >>> one, two = leaf_cell([1, 0, 1, 1], [0, 1, 2, 3]), leaf_cell([0, 1], [4, 5])
        >>> print(combine_leaves([one, two], bounds=(0, 1)))
        0.625 ± 0.2795 [0.03185, 0.9883] (2 benchmarks, wilson_bounded)
    """
    return combine_shares(
        cells, leaf_weights(weights, len(cells)), bounds=bounds, level=as_level(level)
    )


def combine_shares(
    cells: Sequence[Cell], shares: FloatArray, *, bounds: Bounds | None, level: float
) -> SuiteEstimate:
    """`combine_leaves` of weights that are known to sum to 1 and of a level that is
    one."""
    estimate = math.fsum(
        w * cell.estimate for w, cell in zip(shares, cells, strict=True)
    )
    if all(cell.design is None for cell in cells):
        return _of_published(cells, shares, estimate, level)
    units = UnitTable([cells])
    parts = error = independent = df = None
    variance: float | None = None
    if all(cell.variance is not None for cell in cells):
        parts = _variances(cells, shares)
        independent = math.sqrt(float(parts.sum()))
        variance = units.variance(shares)
    if variance and parts is not None:
        error = math.sqrt(variance)
        table = overlaps([cell.design for cell in cells])
        df = float(satterthwaite(scipy.sparse.csr_matrix(parts[None]), table)[0])
    interval, reason = _interval(
        cells, shares, estimate, variance, df, bounds, level, units
    )
    low, high = ends_of(interval)
    if df is not None and not math.isfinite(df):
        df = None
    return SuiteEstimate(
        estimate=estimate,
        standard_error=error,
        ci_low=low,
        ci_high=high,
        level=level,
        degrees_of_freedom=df,
        n_leaves=len(cells),
        n_prompts=sum(cell.n_prompts for cell in cells),
        n_units=units.n,
        n_shared=units.n_shared,
        se_independent=independent or None,
        method=_method(interval),
        reason=reason,
        flags=_flags(cells, units, parts),
    )


def _of_published(
    cells: Sequence[Cell], shares: FloatArray, estimate: float, level: float
) -> SuiteEstimate:
    """`combine_leaves` of published figures alone, of which thousands of models may
    have nothing else: no units."""
    lacking = sum(cell.variance is None for cell in cells)
    error, interval = None, None
    reason = f"{lacking} of {len(cells)} benchmarks have no standard error"
    if not lacking:
        error = math.sqrt(float(_variances(cells, shares).sum()))
        interval = interval_normal(estimate, error, level=level)
        reason = "published errors, added up"
    low, high = ends_of(interval)
    return SuiteEstimate(
        estimate=estimate,
        standard_error=error,
        ci_low=low,
        ci_high=high,
        level=level,
        degrees_of_freedom=None,
        n_leaves=len(cells),
        n_prompts=sum(cell.n_prompts for cell in cells),
        n_units=0,
        n_shared=0,
        se_independent=error,
        method=_method(interval),
        reason=reason,
        flags=(),
    )


def leaf_weights(weights: ArrayLike | None, n_leaves: int) -> FloatArray:
    """Weights that sum to 1, shape (L,); None: equal ones."""
    if n_leaves == 0:
        raise StatisticsError("a suite needs at least one benchmark")
    return as_shares(weights, n_leaves)


def _variances(cells: Sequence[Cell], shares: FloatArray) -> FloatArray:
    """w_l² se_l², shape (L,)."""
    return np.array(
        [w**2 * (c.variance or 0.0) for w, c in zip(shares, cells, strict=True)]
    )


def _interval(
    cells: Sequence[Cell],
    shares: FloatArray,
    estimate: float,
    variance: float | None,
    df: float | None,
    bounds: Bounds | None,
    level: float,
    units: UnitTable,
) -> tuple[Interval | None, str]:
    if variance is None:
        lacking = sum(cell.variance is None for cell in cells)
        return None, f"{lacking} of {len(cells)} benchmarks have no standard error"
    limits = finite_bounds(bounds)
    if variance == 0 or df is None:
        all_binary = all(cell.binary for cell in cells)
        if all_binary and len({cell.estimate for cell in cells}) == 1:
            n = 1 / _concentration(cells, shares, units)
            return interval_wilson(estimate * n, n, level=level), "all scores are equal"
        return None, "the scores of every benchmark are equal"
    error = math.sqrt(variance)
    if not math.isfinite(df):
        by_errors = interval_normal(estimate, error, level=level)
        return by_errors, "published errors, added up"
    how = "no unit is shared: errors are added up"
    if units.n_shared:
        how = f"errors paired on {units.n_shared} shared units"
    if limits is None:
        hull = _unbounded(cells, shares, estimate, (error, df), level, units)
        return hull, f"{how}; unbounded: no less far off than the benchmarks' own ends"
    bounded = interval_wilson_bounded(estimate, error, df, bounds=limits, level=level)
    if bounded is None:
        return None, "the figure lies on a bound"
    if any(cell.constant for cell in cells):
        bounded = not_nearer(bounded, estimate, cells, shares, limits)
        how += (
            "; those without spread are as unsure as Wilson's intervals at their "
            "prompts"
        )
    return bounded, how


def _method(interval: Interval | None) -> str:
    if interval is None:
        return "none"
    return interval.method


def _unbounded(
    cells: Sequence[Cell],
    shares: FloatArray,
    estimate: float,
    error_and_df: tuple[float, float],
    level: float,
    units: UnitTable,
) -> Interval:
    """The hull of Student's t and of the leaves' own ends."""
    by_t = interval_t(estimate, *error_and_df, level=level)
    assert by_t is not None
    correlation = None
    if units.n_shared:
        correlation = correlation_of_cells(cells)
    halves = halves_of_cells(cells, level).together(shares, correlation)
    return hull_with(by_t, estimate, halves)


def _concentration(
    cells: Sequence[Cell], shares: FloatArray, units: UnitTable
) -> float:
    """Σ_u (Σ_l w_l f_ul)²: 1/n of a plain mean of n prompts."""
    weight = np.zeros(units.n)
    for cell, w in zip(cells, shares, strict=True):
        if cell.design is not None:
            own = np.searchsorted(units.names, cell.design.units)
            weight[own] += w * cell.design.shares
    return float(weight @ weight)


def _flags(
    cells: Sequence[Cell], units: UnitTable, variances: FloatArray | None
) -> tuple[str, ...]:
    """Of the suite, of the weights of prompts, and those of leaves that hold much of
    the variance."""
    constant = [cell.constant for cell in cells]
    own = flags_of(
        shared_units=units.n_shared > 0,
        leaves_without_spread=any(constant) and not all(constant),
        all_scores_equal=all(constant),
    )
    of_weights: list[str] = []
    for cell in cells:
        if cell.design is not None and cell.design.weights is not None:
            of_weights += cell.design.weights.flags
    of_leaves: tuple[str, ...] = ()
    if variances is not None:
        flags = [flags_among_several(cell) for cell in cells]
        of_leaves = flags_that_count(flags, variances)
    return tuple(dict.fromkeys((*own, *of_weights, *of_leaves)))


@dataclass(frozen=True)
class SuitePairs:
    """Differences of all pairs of M runs on a suite, row minus column; NaN where not
    defined."""

    difference: FloatArray  #: shape (M, M).
    standard_error: FloatArray  #: NaN where 0 or not defined, shape (M, M).
    #: infinite for published errors alone, shape (M, M).
    degrees_of_freedom: FloatArray
    #: two-sided, Student's t; without bounds of the scores the larger of it and Hall's,
    #: for skewed ones, shape (M, M).
    p_value: FloatArray
    p_holm: FloatArray  #: Holm's adjustment over all pairs that could be tested, shape (M, M).
    #: 1 + number of runs significantly better; None for a run without a test.
    statistical_rank: tuple[int | None, ...]


def compare_suites(
    runs: Sequence[Sequence[Cell]],
    weights: ArrayLike | None = None,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
    higher_is_better: bool = True,
    seeds: Sequence[RowSeeds] | None = None,
) -> SuitePairs:
    """All pairs of runs on a suite.

    Args:
        runs: the cells of each run, one for each leaf, in the same order of leaves.
        weights: of the leaves, above 0, divided by their sum; None: equal.
        bounds: of every leaf's figure; with them a leaf on which two runs do not differ
            is not taken for certain.
        level: 1 − level is the size of the tests.
        higher_is_better: direction of the ranks.
        seeds: what is known of the training seeds of each run, ``n_seeds`` 1 for one
            without; None: none has any.

    Raises:
        StatisticsError: no run, runs of different numbers of leaves, weights
            misaligned.
    """
    if not runs or len({len(cells) for cells in runs}) > 1:
        raise StatisticsError("`runs` must hold at least one run, each with all leaves")
    shares = leaf_weights(weights, len(runs[0]))
    means = np.array([[cell.estimate for cell in cells] for cells in runs]) @ shares
    difference = means[:, None] - means[None, :]
    error, df = _errors(runs, shares, finite_bounds(bounds), as_level(level))
    p = t_p_values(difference / error, df)
    has_units = any(cell.design is not None for cell in chain.from_iterable(runs))
    if finite_bounds(bounds) is None and has_units:
        thirds = UnitTable(runs).pair_thirds(shares)
        p = np.maximum(p, _p_of_skewed(difference / error, thirds / error**3, df))
    if seeds is not None:
        of_seeds, p_of_seeds = tests_over_seeds(error, df, difference, seeds)
        error = np.where(np.isnan(p_of_seeds), error, of_seeds)
        p = np.where(np.isnan(p_of_seeds), p, p_of_seeds)
    adjusted = _holm_square(p)
    ahead = difference
    if not higher_is_better:
        ahead = -difference
    ranks = _ranks(ahead, adjusted, level)
    return SuitePairs(difference, error, df, p, adjusted, ranks)


def _p_of_skewed(
    statistic: FloatArray, skewness: FloatArray, df: FloatArray
) -> FloatArray:
    """p by Hall's transformation of t, which takes off what the skewness of the
    difference adds (Hall 1992, §3.9).

    g(T) = T + γT²/3 + γ²T³/27 + γ/6. A model of skewed scores against one of even ones
    of the same mean, two benchmarks of 30: t tells them apart in .10, the larger of
    both p in .06.
    """
    t = statistic
    turned = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    same_side = np.sign(turned) == np.sign(statistic)
    return np.where(same_side | np.isnan(statistic), t_p_values(turned, df), 1.0)


def _own(runs: Sequence[Sequence[Cell]]) -> FloatArray:
    """Variance of each run on each leaf, NaN where it has none, shape (M, L)."""
    variances = [[cell.variance for cell in cells] for cells in runs]
    return np.array(variances, dtype=np.float64)


#: Values that are worked out at a time: a block of runs, by all runs, by leaves.
_BLOCK_VALUES = 2_000_000


def _errors(
    runs: Sequence[Sequence[Cell]],
    shares: FloatArray,
    limits: tuple[float, float] | None,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Standard error of the difference of every two runs and its degrees of freedom,
    shape (M, M) each.

    A block of runs at a time against itself and those after it: leaves x runs x runs
    never stand in memory at once.
    """
    m, n_leaves = len(runs), len(shares)
    own = _own(runs) * shares**2
    sums = own.sum(axis=1)
    whole = UnitTable(runs)
    together = None
    if whole.n_shared:
        together = whole.pair_table(shares)
    apart = [
        UnitTable([[cell] for cell in cells]).pair_table(shares[j : j + 1])
        for j, cells in enumerate(zip(*runs, strict=True))
    ]
    freedoms = _Freedoms(runs, own)
    error, df = np.full((m, m), np.nan), np.full((m, m), np.nan)
    step = max(_BLOCK_VALUES // (n_leaves * m), 1)
    for start in range(0, m, step):
        block, others = slice(start, min(start + step, m)), slice(start, m)
        per_leaf = np.stack([table.variances(block, others) for table in apart])
        if together is None:
            total = per_leaf.sum(axis=0)
        else:
            total = together.variances(block, others)
        with np.errstate(invalid="ignore"):
            unseen = unseen_variances(
                runs, per_leaf, own, shares, limits, level, block, others
            )
            is_seen = total > ROUNDING * (sums[block, None] + sums[None, others])
            total = np.where(is_seen, total + unseen.sum(axis=0), np.nan)
            error[block, others] = np.sqrt(total)
        error[others, block] = error[block, others].T
        df[block, others] = freedoms.of(per_leaf + unseen, block, others)
        df[others, block] = df[block, others].T
    np.fill_diagonal(error, np.nan)
    np.fill_diagonal(df, np.nan)
    return error, df


class _Freedoms:
    """Degrees of freedom of differences.

    The variance of a leaf's difference is divided between the designs of the two runs
    as their own variances are: one design gives ν of the paired test, two without a
    common unit Welch's.
    """

    def __init__(self, runs: Sequence[Sequence[Cell]], own: FloatArray) -> None:
        index_of: dict[tuple[int, bytes], int] = {}
        designs: list[Design | None] = []
        self._own, self._blocks = own, np.zeros(own.shape, dtype=np.intp)
        for a, cells in enumerate(runs):
            for j, cell in enumerate(cells):
                key = (j, b"")
                if cell.design is not None:
                    key = (j, cell.design.key)
                if key not in index_of:
                    index_of[key] = len(designs)
                    designs.append(cell.design)
                self._blocks[a, j] = index_of[key]
        self._table, self._n_designs = overlaps(designs), len(designs)

    def of(self, per_leaf: FloatArray, block: slice, others: slice) -> FloatArray:
        """Those of some runs against some others.

        Args:
            per_leaf: variance of each difference on each leaf, shape (L, block,
                others).
        """
        n_leaves, n_block, n_others = per_leaf.shape
        # all runs have one design on each leaf, in the order of leaves
        if self._n_designs == n_leaves:
            sums = scipy.sparse.csr_matrix(per_leaf.reshape(n_leaves, -1).T)
            return satterthwaite(sums, self._table).reshape(n_block, n_others)
        found = np.empty((n_block, n_others))
        for row in range(n_block):
            found[row] = self._of_one(per_leaf[:, row], block.start + row, others)
        return found

    def _of_one(self, per_leaf: FloatArray, run: int, others: slice) -> FloatArray:
        own, blocks = self._own, self._blocks
        both = own[run] + own[others]
        share = np.divide(own[run], both, out=np.full(both.shape, 0.5), where=both > 0)
        variances = per_leaf.T
        parts = np.hstack([variances * share, variances * (1 - share)])
        columns = np.hstack([np.broadcast_to(blocks[run], both.shape), blocks[others]])
        rows = np.broadcast_to(np.arange(len(both))[:, None], columns.shape)
        shape = (len(both), self._n_designs)
        sums = scipy.sparse.csr_matrix(
            (parts.ravel(), (rows.ravel(), columns.ravel())), shape
        )
        return satterthwaite(sums, self._table)


def _holm_square(p: FloatArray) -> FloatArray:
    upper = np.triu_indices(len(p), 1)
    adjusted = np.full_like(p, np.nan)
    adjusted[upper] = holm(p[upper])
    adjusted.T[upper] = adjusted[upper]
    return adjusted


def _ranks(ahead: FloatArray, p: FloatArray, level: float) -> tuple[int | None, ...]:
    with np.errstate(invalid="ignore"):
        beaten = (rejects(p, 1 - level) & (ahead < 0)).sum(axis=1)
    tested = np.logical_or.reduce(np.isfinite(p), axis=1)
    ranks: list[int | None] = (1 + beaten).tolist()
    for run in np.flatnonzero(~tested):
        ranks[run] = None
    return tuple(ranks)


@dataclass(frozen=True)
class BenchmarkDifference:
    """The differences on one benchmark."""

    differences: FloatArray  #: a − b of each prompt, finite, shape (n,).
    #: what is independent: the cluster of each prompt, else the prompt itself; equal
    #: numbers in two parts are the same unit, shape (n,).
    units: NDArray[np.int64]
    #: standard error of the mean difference: 0 where it is 0, None where not defined.
    error: float | None
    degrees_of_freedom: float | None  #: of ``error``.
    #: lower end of its own interval, at the level asked for; None: t alone counts.
    low: float | None = None
    high: float | None = None  #: upper end.
    p_value: float | None = None  #: its own, two-sided.
    flags: tuple[str, ...] = ()  #: its own.


@dataclass(frozen=True)
class CombinedDifference(NamedFigures):
    """Weighted mean of the differences on several benchmarks."""

    difference: float  #: Σ w_l d_l, weights summing to 1.
    #: None where that of a part is not defined, or where it is 0.
    standard_error: float | None
    ci_low: float | None  #: lower end of the t interval.
    ci_high: float | None  #: upper end of the t interval.
    level: float  #: nominal coverage of the interval.
    #: Welch-Satterthwaite over parts that share nothing.
    degrees_of_freedom: float | None
    p_value: float | None  #: two-sided, Student's t.
    n_parts: int  #: benchmarks.
    n_zero: int  #: parts with an error of 0.
    n_shared: int  #: units (prompts or clusters) that stand in more than one part.
    method: str  #: ``"independent_parts_t"`` or ``"shared_units_t"``.
    reason: str  #: how the errors were put together, or why there is none.
    #: of parts, where those that are flagged hold more than a quarter of the variance.
    flags: tuple[str, ...] = ()


def combine_differences(
    parts: Sequence[BenchmarkDifference],
    *,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> CombinedDifference:
    """The weighted mean of differences on several benchmarks.

    Without shared units se² = Σ w_l² se_l². Units that stand in several parts are
    paired: with D_lu the sum of the deviations of unit u in part l, scaled so that Σ_u
    (D_lu/n_l)² = se_l² (the part's own error, with its correction), se² = Σ_u (Σ_l w_l
    D_lu/n_l)². Degrees of freedom are Welch-Satterthwaite's; parts that share units
    count as one, with the fewest of theirs.

    Args:
        parts: at least one.
        weights: of the parts, above 0; they are divided by their sum. None: equal.
        level: nominal coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: no part, weights of another length or not above 0, ``level``
            out of range.
    """
    if not parts:
        raise StatisticsError("`parts` is empty: a mean needs at least one benchmark")
    shares = as_shares(weights, len(parts))
    difference = math.fsum(
        w * _mean(part) for w, part in zip(shares, parts, strict=True)
    )
    layout = _layout(parts)
    error, df = _error(parts, shares, layout)
    interval = interval_t(difference, error, df, level=as_level(level))
    p = None
    if error and df is not None:
        p = t_p_value(difference / error, df)
    halves = _own_halves(parts, shares, layout)
    if interval is not None and halves is not None and df is not None:
        interval = hull_with(interval, difference, halves)
        p = max(p or 0.0, p_of_halves(difference, halves, df, level))
    if _are_one(parts):
        interval, p = _own_figures(parts[0], interval, p, level)
    low, high = ends_of(interval)
    method = "independent_parts_t"
    if layout.n_shared:
        method = "shared_units_t"
    return CombinedDifference(
        difference=difference,
        standard_error=error or None,
        ci_low=low,
        ci_high=high,
        level=level,
        degrees_of_freedom=df,
        p_value=p,
        n_parts=len(parts),
        n_zero=sum(part.error == 0 for part in parts),
        n_shared=layout.n_shared,
        method=method,
        reason=_reason(parts, error, layout.n_shared),
        flags=flags_that_count(
            [_flags_alone(part) for part in parts], _own_variances(parts, shares)
        ),
    )


def _flags_alone(part: BenchmarkDifference) -> tuple[str, ...]:
    of_zero_one = bool(np.isin(part.differences, (-1.0, 0.0, 1.0)).all())
    if of_zero_one:
        return without_few_prompts(part.flags)
    return part.flags


def _own_variances(
    parts: Sequence[BenchmarkDifference], shares: FloatArray
) -> FloatArray:
    """w_l² se_l² of each part, 0 where its error is not defined, shape (L,)."""
    errors = np.array([part.error or 0.0 for part in parts])
    return np.asarray((shares * errors) ** 2)


def _are_one(parts: Sequence[BenchmarkDifference]) -> bool:
    """Whether all parts are one and the same, under several names."""
    first = parts[0]
    return all(
        np.array_equal(first.differences, part.differences)
        and np.array_equal(first.units, part.units)
        for part in parts[1:]
    )


def _own_figures(
    part: BenchmarkDifference, interval: Interval | None, p: float | None, level: float
) -> tuple[Interval | None, float | None]:
    """The interval and p that a part has alone, as far as they are known."""
    if part.low is not None and part.high is not None:
        interval = Interval(part.low, part.high, level, "own")
    if part.p_value is not None:
        p = part.p_value
    return interval, p


def _own_halves(
    parts: Sequence[BenchmarkDifference], shares: FloatArray, layout: _Layout
) -> tuple[float, float] | None:
    """How far the parts' own ends are off together; None where no part has ends of its
    own."""
    if all(part.low is None for part in parts):
        return None
    below, above = np.zeros((2, len(parts)))
    for place, part in enumerate(parts):
        mean = mean_of(part.differences)
        if part.low is not None:
            below[place] = mean - part.low
        if part.high is not None:
            above[place] = part.high - mean
    correlation = None
    if layout.n_shared:
        scaled = [_scaled(part) for part in parts]
        correlation = correlation_of_sums(scaled, layout.units)
    return Halves(below, above).together(shares, correlation)


def contributions(
    parts: Sequence[BenchmarkDifference], weights: ArrayLike | None = None
) -> tuple[FloatArray, NDArray[np.int64]]:
    """What each prompt of each part adds to the combined difference, and its unit.

    The sum of the first is `combine_differences`' ``difference``; flipping the signs of
    whole units is its permutation test. Both of shape (Σ n_l,).
    """
    shares = as_shares(weights, len(parts))
    values = [
        w * part.differences / len(part.differences)
        for w, part in zip(shares, parts, strict=True)
    ]
    return np.concatenate(values), np.concatenate([part.units for part in parts])


def _mean(part: BenchmarkDifference) -> float:
    values = as_scores(part.differences, "differences")
    check_length(len(part.units), len(values), "units")
    return mean_of(values)


@dataclass(frozen=True)
class _Layout:
    """Which unit each prompt of each part belongs to."""

    #: number of the unit, all parts one after the other, shape (Σ n_l,).
    units: NDArray[np.intp]
    #: number of the group of each part: parts of one group share units, directly or
    #: through others, shape (L,).
    groups: NDArray[np.intp]
    group_of_unit: NDArray[np.intp]  #: shape (U,).
    n_shared: int  #: units in more than one part.


def _layout(parts: Sequence[BenchmarkDifference]) -> _Layout:
    owners = np.repeat(np.arange(len(parts)), [len(part.units) for part in parts])
    names, units = distinct(np.concatenate([part.units for part in parts]))
    nodes = components(owners, len(parts) + units, len(parts) + len(names))
    groups = nodes[: len(parts)]
    group_of_unit = np.zeros(len(names), np.intp)
    group_of_unit[units] = groups[owners]
    last = np.full(len(names), -1)
    last[units] = owners
    n_shared = len(distinct(units[last[units] != owners])[0])
    return _Layout(units, groups, group_of_unit, n_shared)


def _error(
    parts: Sequence[BenchmarkDifference], shares: FloatArray, layout: _Layout
) -> tuple[float | None, float | None]:
    """Error and its degrees of freedom, None where a part has none; 0 where nothing
    varies."""
    if any(part.error is None for part in parts):
        return None, None
    values = [w * _scaled(part) for w, part in zip(shares, parts, strict=True)]
    sums = np.bincount(layout.units, weights=np.concatenate(values))
    variances = np.bincount(layout.group_of_unit, weights=sums**2)
    freedoms = np.full(len(variances), np.inf)
    for group, part in zip(layout.groups, parts, strict=True):
        if part.error and part.degrees_of_freedom is not None:
            freedoms[group] = min(freedoms[group], part.degrees_of_freedom)
    total = float(variances.sum())
    if total == 0:
        return 0.0, None
    return math.sqrt(total), total**2 / float((variances**2 / freedoms).sum())


def _scaled(part: BenchmarkDifference) -> FloatArray:
    """Deviations over n whose sums by unit have squares that add up to the part's se²."""
    centred = deviations(part.differences)
    if not part.error:
        return np.zeros_like(centred)
    _, codes = distinct(part.units)
    norm = float(np.linalg.norm(np.bincount(codes, weights=centred)))
    if norm:
        return centred * (part.error / norm)
    centred[0] = part.error  # an error that does not come from the spread over units
    return centred


def _reason(
    parts: Sequence[BenchmarkDifference], error: float | None, n_shared: int
) -> str:
    if error is None:
        return "a benchmark has no standard error"
    if not error:
        return "the differences do not vary"
    if n_shared:
        return f"errors paired on {n_shared} shared units"
    return "no unit is shared: errors are independent"
