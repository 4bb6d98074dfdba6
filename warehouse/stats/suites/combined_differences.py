"""The weighted mean of differences on several benchmarks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    FloatArray,
    as_level,
    as_scores,
    as_shares,
    check_length,
)
from warehouse.stats.core.moments import deviations, mean_of
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import (
    Interval,
    NamedFigures,
    ends_of,
)
from warehouse.stats.core.sample import components, distinct
from warehouse.stats.intervals.closed_form import (
    interval_t,
)
from warehouse.stats.suites.parts import (
    Halves,
    correlation_of_sums,
    flags_that_count,
    hull_with,
    p_of_halves,
    without_few_prompts,
)


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
