"""Suites: weighted sums of leaf figures, with the error propagated.

The sum T = Σ w_l m_l moves by Σ_l w_l p_ul with unit u (`Cell.pulls`), so that its variance is
V = Σ_u (Σ_l w_l p_ul)². Where leaves share no units that is Σ w_l² se_l², where they do the
covariances are in it; it is CR2 of the regression of all scores on the leaves (Bell and McCaffrey
2002). Degrees of freedom are Satterthwaite's with each leaf's own variance, which is
Welch-Satterthwaite's over leaves that share nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Bounds, FloatArray, as_level, as_shares, finite_bounds
from warehouse.stats.core.result_base import Figures
from warehouse.stats.core.results import Interval
from warehouse.stats.core.written import figures_text
from warehouse.stats.intervals.closed_form import interval_normal, interval_t, interval_wilson, interval_wilson_bounded
from warehouse.stats.suites.cells import Cell
from warehouse.stats.suites.shared_units import UnitTable, overlaps, satterthwaite


@dataclass(frozen=True)
class SuiteEstimate(Figures):
    """A run's figure on a suite.

    Attributes:
        estimate: Σ w_l m_l, weights summing to 1.
        standard_error: None where a leaf has none, or where it is 0.
        ci_low: lower end of the interval.
        ci_high: upper end.
        level: nominal coverage.
        degrees_of_freedom: of ``standard_error``; None for published errors alone (normal).
        n_leaves: leaves L.
        n_prompts: prompts, those of every leaf counted.
        n_units: different units (prompts or clusters); 0 for published figures.
        n_shared: units in more than one leaf.
        se_independent: sqrt(Σ w_l² se_l²), as if leaves shared nothing.
        method: ``wilson_bounded``, ``t``, ``normal``, ``wilson`` or ``none``.
        reason: why this method, or why there is no interval.
        flags: ``shared_units``, ``leaves_without_spread``, ``all_scores_equal``, and those of the
            weights of prompts.
    """

    estimate: float
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    degrees_of_freedom: float | None
    n_leaves: int
    n_prompts: int
    n_units: int
    n_shared: int
    se_independent: float | None
    method: str
    reason: str
    flags: tuple[str, ...]

    def __str__(self) -> str:
        figures = figures_text(self.estimate, self.standard_error, self.ci_low, self.ci_high)
        return f"{figures} ({self.n_leaves} benchmarks, {self.method})"


def combine_leaves(
    cells: Sequence[Cell], weights: ArrayLike | None = None, *, bounds: Bounds | None = None, level: float = 0.95
) -> SuiteEstimate:
    """A run's figure on a suite, with its error and an interval.

    Where all leaves have the same finite bounds the interval is Wilson's at the effective size
    n_e = T(1 − T)/V · (z/t_ν)² on [0, 1], which stays within them; else Student's t; normal where
    all figures are published ones. 0/1 scores that are all equal: Wilson at
    n = 1/Σ_u (Σ_l w_l f_ul)².

    Args:
        cells: one for each leaf.
        weights: of the leaves, above 0, divided by their sum; None: equal.
        bounds: smallest and largest possible figure of every leaf; None: unbounded.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: no leaf, weights misaligned or not above 0, ``level`` out of range.

    Examples:
        >>> from warehouse.stats.suites.cells import leaf_cell
        >>> one, two = leaf_cell([1, 0, 1, 1], [0, 1, 2, 3]), leaf_cell([0, 1], [4, 5])
        >>> print(combine_leaves([one, two], bounds=(0, 1)))
        0.625 ± 0.2795 [0.03185, 0.9883] (2 benchmarks, wilson_bounded)
    """
    shares = leaf_weights(weights, len(cells))
    level = as_level(level)
    estimate = math.fsum(w * cell.estimate for w, cell in zip(shares, cells, strict=True))
    parts = None if any(c.variance is None for c in cells) else _variances(cells, shares)
    units = UnitTable([cells])
    variance = None if parts is None else units.variance(shares)
    independent = None if parts is None else math.sqrt(float(parts.sum()))
    df = None
    if variance and parts is not None:
        table = overlaps([cell.design for cell in cells])
        df = float(satterthwaite(csr_matrix(parts[None]), table)[0])
    interval, reason = _interval(cells, shares, estimate, variance, df, bounds, level, units)
    finite = df is not None and math.isfinite(df)
    return SuiteEstimate(
        estimate=estimate,
        standard_error=math.sqrt(variance) if variance else None,
        ci_low=None if interval is None else interval.low,
        ci_high=None if interval is None else interval.high,
        level=level,
        degrees_of_freedom=df if finite else None,
        n_leaves=len(cells),
        n_prompts=sum(cell.n_prompts for cell in cells),
        n_units=units.n,
        n_shared=units.n_shared,
        se_independent=independent or None,
        method="none" if interval is None else interval.method,
        reason=reason,
        flags=_flags(cells, units),
    )


def leaf_weights(weights: ArrayLike | None, n_leaves: int) -> FloatArray:
    """Weights that sum to 1, shape (L,); None: equal ones."""
    if n_leaves == 0:
        raise StatisticsError("a suite needs at least one benchmark")
    return as_shares(weights, n_leaves)


def _variances(cells: Sequence[Cell], shares: FloatArray) -> FloatArray:
    """w_l² se_l², shape (L,)."""
    return np.array([w**2 * (c.variance or 0.0) for w, c in zip(shares, cells, strict=True)])


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
        if all(cell.binary for cell in cells) and len({cell.estimate for cell in cells}) == 1:
            n = 1 / _concentration(cells, shares, units)
            return interval_wilson(estimate * n, n, level=level), "all scores are equal"
        return None, "the scores of every benchmark are equal"
    error = math.sqrt(variance)
    if not math.isfinite(df):
        return interval_normal(estimate, error, level=level), "published errors, added up"
    n = units.n_shared
    how = f"errors paired on {n} shared units" if n else "no unit is shared: errors are added up"
    if limits is None:
        return interval_t(estimate, error, df, level=level), f"{how}; unbounded"
    bounded = interval_wilson_bounded(estimate, error, df, bounds=limits, level=level)
    return bounded, how if bounded is not None else "the figure lies on a bound"


def _concentration(cells: Sequence[Cell], shares: FloatArray, units: UnitTable) -> float:
    """Σ_u (Σ_l w_l f_ul)²: 1/n of a plain mean of n prompts."""
    weight = np.zeros(units.n)
    for cell, w in zip(cells, shares, strict=True):
        if cell.design is not None:
            weight[np.searchsorted(units.names, cell.design.units)] += w * cell.design.shares
    return float(weight @ weight)


def _flags(cells: Sequence[Cell], units: UnitTable) -> tuple[str, ...]:
    constant = [cell.constant for cell in cells]
    conditions = {
        "shared_units": units.n_shared > 0,
        "leaves_without_spread": any(constant) and not all(constant),
        "all_scores_equal": all(constant),
    }
    weights = [cell.design.weights for cell in cells if cell.design is not None and cell.design.weights is not None]
    of_weights = dict.fromkeys(flag for own in weights for flag in own.flags)
    return (*(flag for flag, holds in conditions.items() if holds), *of_weights)
