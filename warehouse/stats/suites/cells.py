"""One run on one leaf of a suite, and the units that leaves share: what both add to the
error of a weighted sum.

A unit is what is independent: a cluster, or a prompt without one. Equal unit numbers in
two leaves or two runs are the same unit, which is how sums and differences get their
covariances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    ROUNDING,
    Clusters,
    FloatArray,
    as_prompt_weights,
    as_scores,
    check_length,
    is_constant,
    is_zero_one,
)
from warehouse.stats.core.moments import deviations, mean_of
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.core.results import Interval
from warehouse.stats.intervals.clopper_pearson import kish
from warehouse.stats.intervals.closed_form import (
    interval_normal,
    interval_wilson,
    interval_wilson_bounded,
)
from warehouse.stats.intervals.standard_errors import UnitWeights, unit_weights

UnitArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Design:
    """Which units a leaf's prompts belong to."""

    units: UnitArray  #: numbers of the units, ascending, shape (U,).
    sizes: FloatArray  #: prompts in each, shape (U,).
    #: of the prompts by unit; None where all are alike.
    weights: UnitWeights | None = None

    @property
    def shares(self) -> FloatArray:
        """F_u, the share of the weight: n_u/n where all prompts weigh the same, shape
        (U,)."""
        if self.weights is not None:
            return self.weights.shares
        shares: FloatArray = self.sizes / self.sizes.sum()
        return shares

    @property
    def own(self) -> FloatArray:
        """v_u/Σv: each unit's part of the variance under independent scores, shape
        (U,)."""
        if self.weights is None:
            return self.shares
        own: FloatArray = self.weights.squares / self.weights.squares.sum()
        return own

    @property
    def reductions(self) -> FloatArray:
        """a_u: what the squared sum of each unit is divided by, shape (U,)."""
        if self.weights is None:
            return 1 - self.shares
        return self.weights.reductions

    def factors(self) -> tuple[FloatArray, FloatArray]:
        """x = F/sqrt(a) and y = v/(q sqrt(a)) of `overlap`, shape (U,) each."""
        root = np.sqrt(self.reductions)
        return self.shares / root, self.own / root

    @cached_property
    def size(self) -> float:
        """Prompts of equal weight that the units count as, 1/Σ_u F_u²."""
        return float(1 / (self.shares @ self.shares))

    @cached_property
    def key(self) -> bytes:
        """Equal for equal designs."""
        return (
            self.units.tobytes()
            + self.sizes.tobytes()
            + (self.shares.tobytes() if self.weights else b"")
        )


@dataclass(frozen=True, eq=False)
class Cell:
    """A run's figure on one leaf."""

    estimate: float  #: mean of the prompt figures, or as published.
    #: of ``estimate``: CR2² over the units (the CLT's where each unit is one prompt);
    #: None where not defined.
    variance: float | None
    n_prompts: int  #: prompts behind it.
    design: Design | None  #: units; None for a published figure.
    #: S_u / (n sqrt(a_u)), S_u the sum of the deviations of unit u, a_u = 1 − f_u or
    #: that of the weights: their squares add up to ``variance``; None where there is
    #: none, shape (U,).
    pulls: FloatArray | None
    binary: bool  #: every score is 0 or 1.
    constant: bool  #: all scores are equal.
    flags: tuple[str, ...] = ()  #: of the figure alone.
    #: units by weight that hold the rarer answer (`clopper_pearson.effective_n`), of
    #: 0/1 scores; else 0.
    informative: float = 0.0


def leaf_cell(
    scores: ArrayLike,
    units: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    flags: tuple[str, ...] = (),
) -> Cell:
    """The figure of a run on a leaf from its prompts.

    Args:
        scores: figure of each prompt, finite, shape (n,); their mean is the leaf's
            figure.
        units: whole number of the unit of each prompt, shape (n,).
        weights: of the prompts, at least 0, where ``scores`` are the linearised ones of
            a weighted mean (`sample.linearise_figure`), shape (n,).
        flags: of the figure alone.

    Raises:
        StatisticsError: scores empty or not finite, units of another length or not
            whole.

    Examples:
        >>> cell = leaf_cell([1, 1, 0, 1, 0, 0, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 2, 2, 2, 3])
        >>> cell.estimate, round(math.sqrt(cell.variance), 6)
        (0.6, 0.220389)
    """
    values = as_scores(scores)
    labels = np.asarray(units)
    check_length(labels.size, len(values), "units")
    if labels.dtype.kind not in "iu":
        raise StatisticsError(f"`units` must hold whole numbers, found {labels.dtype}")
    names, codes = np.unique(labels, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    by_unit = _by_unit(weights, codes, sizes)
    design = Design(names.astype(np.int64), sizes, by_unit)
    centred = deviations(values)
    sums = np.bincount(codes, weights=centred)
    if np.abs(sums).max() <= ROUNDING * np.abs(centred).sum():
        sums = np.zeros_like(sums)
    pulls = None
    if len(names) > 1:
        pulls = sums / len(values) / np.sqrt(design.reductions)
    is_binary = by_unit is None and is_zero_one(values)
    right: FloatArray = np.bincount(codes, weights=values).astype(np.float64)
    return Cell(
        estimate=mean_of(values),
        variance=None if pulls is None else float(pulls @ pulls),
        n_prompts=len(values),
        design=design,
        pulls=pulls,
        binary=is_binary,
        constant=is_constant(values),
        flags=flags,
        informative=min(kish(right), kish(sizes - right)) if is_binary else 0.0,
    )


def _by_unit(
    weights: ArrayLike | None, codes: NDArray[np.intp], sizes: FloatArray
) -> UnitWeights | None:
    """The weights of prompts by unit; None where all are alike."""
    if weights is None:
        return None
    checked = as_prompt_weights(weights, len(codes))
    if is_constant(checked):
        return None
    return unit_weights(checked, Clusters(codes, sizes))


def published_cell(
    estimate: float, standard_error: float | None, n_prompts: int = 0
) -> Cell:
    """A published figure: independent of every other.

    Args:
        estimate: the figure.
        standard_error: above 0; None where none was published.
        n_prompts: as published, 0 if unknown.

    Raises:
        StatisticsError: a figure that is not finite, or an error that is not above 0.
    """
    if not math.isfinite(estimate):
        raise StatisticsError(f"a published figure must be finite, found {estimate}")
    if standard_error is not None and not 0 < standard_error < math.inf:
        raise StatisticsError(
            f"a published error must be above 0, found {standard_error}"
        )
    if standard_error is None:
        variance = None
    else:
        variance = standard_error**2
    return Cell(estimate, variance, n_prompts, None, None, False, False)


def overlap(first: Design, second: Design) -> float:
    """tr(K K'): how the squared errors of two leaves vary together under independent
    units.

    K is the matrix of the unit sums' covariances in CR2, divided by its trace: K_uu =
    v_u/q, K_uv = x_u x_v − x_u y_v − y_u x_v with x = F/sqrt(a), y = v/(q sqrt(a));
    without weights x = y. For one design 1/tr(K²) is Satterthwaite's ν; disjoint
    designs give 0.
    """
    _, a, b = np.intersect1d(
        first.units, second.units, assume_unique=True, return_indices=True
    )
    if not len(a):
        return 0.0
    (x, y), (p, r) = first.factors(), second.factors()
    x, y, p, r = x[a], y[a], p[b], r[b]
    xp, xr, yp, yr = x @ p, x @ r, y @ p, y @ r
    diagonal = (x**2 - 2 * x * y) @ (p**2 - 2 * p * r)
    whole = xp**2 - 2 * xp * (xr + yp) + 2 * (xp * yr + xr * yp)
    return float(first.own[a] @ second.own[b] + whole - diagonal)


def not_nearer(
    interval: Interval,
    estimate: float,
    cells: Sequence[Cell],
    shares: FloatArray,
    limits: tuple[float, float],
) -> Interval:
    """``interval`` of Σ w_l m_l, its ends no nearer than √Σ (w_l h_l)², h_l how far the
    end of the leaf's own is.

    A leaf of which all scores are equal adds nothing to the error of the sum, though it
    is not certain: of 1 000 prompts, .9 right, and 30, .97 right, 95 % covered .66,
    with this .99 (Zou and Donner 2008). The leaf's own interval is Wilson's: at n =
    1/Σ_u F_u² where its scores are equal, else at its error.
    """
    squares = np.zeros(2)
    low, width = limits[0], limits[1] - limits[0]
    for cell, w in zip(cells, shares, strict=True):
        own: Interval | None
        if cell.design is None:
            own = interval_normal(
                cell.estimate, math.sqrt(cell.variance or 0), level=interval.level
            )
        elif cell.constant:
            n = 1 / float(cell.design.shares @ cell.design.shares)
            unit = interval_wilson(
                (cell.estimate - low) / width * n, n, level=interval.level
            )
            own = Interval(
                low + width * unit.low,
                low + width * unit.high,
                interval.level,
                unit.method,
            )
        else:
            error, df = (
                math.sqrt(cell.variance or 0),
                1 / overlap(cell.design, cell.design),
            )
            own = interval_wilson_bounded(
                cell.estimate, error, df, bounds=limits, level=interval.level
            )
        if own is not None:
            squares += (
                (w * (cell.estimate - own.low)) ** 2,
                (w * (own.high - cell.estimate)) ** 2,
            )
    below, above = np.sqrt(squares)
    ends = (
        max(low, min(interval.low, estimate - below)),
        min(limits[1], max(interval.high, estimate + above)),
    )
    return Interval(float(ends[0]), float(ends[1]), interval.level, interval.method)


def unseen_error(units: NDArray[np.int64], width: float, level: float) -> float:
    """Error of a mean difference of which all are equal, as far as its units leave it
    open: z of it is Wilson's end.

    Taken as 0, 95 % intervals of the mean of 1 000 prompts and of 30, of which .03 are
    lost, cover .65, with this .99.

    Args:
        units: what each difference belongs to, shape (n,).
        width: of the range of the scores.
        level: of the interval that it is for.
    """
    sizes = np.unique(units, return_counts=True)[1]
    return float(_unseen(sizes.sum() ** 2 / (sizes @ sizes), width, level))


def unseen_variances(
    runs: Sequence[Sequence[Cell]],
    per_leaf: FloatArray,
    own: FloatArray,
    shares: FloatArray,
    limits: tuple[float, float] | None,
    level: float,
    block: slice,
    others: slice,
) -> FloatArray:
    """What leaves on which two runs do not differ, or neither varies, add to the
    variance of their difference.

    Args:
        runs: the cells of each.
        per_leaf: w_l² times the variance of the difference on leaf l of some runs and
            others, shape (L, B, O).
        own: w_l² times that of each run, shape (M, L).
        shares: w_l, shape (L,).
        limits: smallest and largest score; None: unbounded, and nothing is added.
        level: 1 less the size of the tests.
        block: the B runs.
        others: the O runs that they are held against.
    """
    if limits is None:
        return np.zeros_like(per_leaf)
    n, n_others = _sizes(runs[block]), _sizes(runs[others])
    error = _unseen(
        np.minimum(n[:, :, None], n_others[:, None, :]), limits[1] - limits[0], level
    )
    both = own[block].T[:, :, None] + own[others].T[:, None, :]
    return np.where(
        per_leaf <= ROUNDING * both, (shares[:, None, None] * error) ** 2, 0.0
    )


def _sizes(runs: Sequence[Sequence[Cell]]) -> FloatArray:
    """Prompts of equal weight that the units of each run count as on each leaf,
    infinite without any, shape (L, M)."""
    sizes: list[list[float]] = []
    for cells in runs:
        sizes.append([cell.design.size if cell.design else np.inf for cell in cells])
    return np.array(sizes).T


def _unseen(n: FloatArray | float, width: float, level: float) -> FloatArray:
    z = z_quantile(level)
    return np.asarray(width * z / (n + z**2))
