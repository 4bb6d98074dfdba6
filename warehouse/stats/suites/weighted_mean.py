"""Suites: weighted sums of leaf figures with the error propagated.

The sum T = Σ w_l m_l moves by Σ_l w_l p_ul with unit u (`Cell.pulls`), so that its
variance is V = Σ_u (Σ_l w_l p_ul)². Where leaves share no units that is Σ w_l² se_l²,
where they do the covariances are in it; it is CR2 of the regression of all scores on
the leaves (Bell and McCaffrey 2002). Degrees of freedom are Satterthwaite's with each
leaf's own variance, which is Welch-Satterthwaite's over leaves that share nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # loads its parts when they are used
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_level,
    as_shares,
    finite_bounds,
)
from warehouse.stats.core.results import (
    Interval,
    NamedFigures,
    ends_of,
    figures_text,
    flags_of,
)
from warehouse.stats.intervals.closed_form import (
    interval_normal,
    interval_t,
    interval_wilson,
    interval_wilson_bounded,
)
from warehouse.stats.suites.cells import Cell, not_nearer
from warehouse.stats.suites.parts import (
    correlation_of_cells,
    flags_among_several,
    flags_that_count,
    halves_of_cells,
    hull_with,
)
from warehouse.stats.suites.unit_table import UnitTable, overlaps, satterthwaite


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
