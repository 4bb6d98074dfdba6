"""Which of many models no other beats in score and cost at once (statistics.md §17).

Points say who stands on the frontier of this sample; `p_on_frontier` how stable that is
when prompts are drawn again, which is no confidence; `frontier_set` which models are
not shown to be off it, at a level that holds for all of them together: in simulations
it held the whole frontier in .96 or more of 95 %, also where costs are so skewed that
without the gate it was .84.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    ROUNDING,
    FloatArray,
    as_clusters,
    as_floats,
    as_level,
    as_score_matrix,
    as_seed,
    clusters_if_any,
    rejects,
)
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.quantiles import SMALLEST_P
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.multiple.pair_moments import (
    IntArray,
    PairMoments,
    ScoreMatrix,
    centre,
    cluster_totals,
    pair_blocks,
    pair_moments,
    robust_errors_of,
)
from warehouse.stats.paired.cost import UNITS_PER_SKEW

#: Digits that count where means of two models are the same.
_DIGITS = 12


@dataclass(frozen=True)
class FrontierSet(NamedFigures):
    """Who may be on the frontier, by tests of every two models."""

    level: float  #: 1 − level is the chance that any model of the true frontier is left out, at most.
    #: not shown to be dominated, shape (M,). Not shown to be on the frontier either.
    in_set: NDArray[np.bool_]
    excluded_by: IntArray  #: the model that dominates it by the smallest p, −1 where none is shown to, shape (M,).
    p_value: FloatArray  #: of "no other dominates it": the smallest adjusted p of its pairs, shape (M,).
    gated: IntArray  #: pairs with it in which costs were too skewed to call the one of the heavier tail
    #: cheaper (``skew_gate``), shape (M,).


def dominates(scores: ArrayLike, costs: ArrayLike) -> NDArray[np.bool_]:
    """Whether the model of a row is at least as good and as cheap as that of the
    column, and one of them more.

    Args:
        scores: of each model, higher is better, shape (M,).
        costs: the same, lower is better.

    Examples:
        >>> print(~dominates([0.4, 0.6, 0.6, 0.6, 0.3], [1, 2, 2, 3, 1]).any(axis=0))
        [ True  True  True False False]
    """
    y = _alike(as_floats(scores, "scores"))
    c = _alike(as_floats(costs, "costs"))
    if y.ndim != 1 or y.shape != c.shape:
        raise StatisticsError(
            f"`scores` and `costs` must have one value a model, found {y.shape} and "
            f"{c.shape}"
        )
    good, cheap = y[:, None] >= y, c[:, None] <= c
    better, cheaper = y[:, None] > y, c[:, None] < c
    return np.asarray(good & cheap & (better | cheaper))


def p_on_frontier(
    scores: ArrayLike,
    costs: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    n_resamples: int = 1000,
    seed: int = 0,
) -> FloatArray:
    """Share of bootstrap samples, of the same prompts for all, in which no other
    dominates a model.

    A figure of stability, neither a probability that the model is on the frontier nor a
    level of confidence: at a tie it stays about one half however many prompts there
    are.

    Args:
        scores: of each prompt (row) and model, higher is better, NaN where one is
            missing, shape (n, M).
        costs: the same, from 0.
        clusters: of the prompts, resampled whole, shape (n,), or None.
        n_resamples: B.
        seed: of the draws.

    Examples:
        >>> rng = np.random.default_rng(1)
        >>> print(p_on_frontier(rng.normal([0, 1, 0], 1, (80, 3)), rng.lognormal([0, 1, 2], 0.5, (80, 3))))
        [1. 1. 0.]
    """
    y, c = _checked(scores, costs)
    if n_resamples < 1:
        raise StatisticsError(f"`n_resamples` must be 1 or more, found {n_resamples}")
    has_score = (~np.isnan(y)).astype(np.float64)
    parts = [has_score, np.nan_to_num(y), np.nan_to_num(c)]
    if clusters is not None:
        groups = as_clusters(clusters, len(y))
        parts = [cluster_totals(groups.codes, values, groups.n) for values in parts]
    rng = np.random.default_rng(as_seed(seed))
    n_units, n_models = len(parts[0]), y.shape[1]
    alike = np.full(n_units, 1 / n_units)
    times, on = np.zeros(n_models), np.zeros(n_models)
    block = max(1, (1 << 22) // max(n_units, n_models))
    with one_blas_thread():
        for start in range(0, n_resamples, block):
            some = min(block, n_resamples - start)
            counts = rng.multinomial(n_units, alike, some) * 1.0
            n, *sums = (counts @ values for values in parts)
            for size, score, cost in zip(n, *sums, strict=True):
                there = np.flatnonzero(size)
                mean_scores = score[there] / size[there]
                mean_costs = cost[there] / size[there]
                times[there] += 1
                on[there] += _undominated(mean_scores, mean_costs)
    return np.where(times > 0, on / np.maximum(times, 1), np.nan)


def frontier_set(
    scores: ArrayLike,
    costs: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> FrontierSet:
    """Models that no other is shown to dominate: one-sided paired tests of score and of
    cost, Holm over all pairs.

    One dominates another where it is shown to be better and to be cheaper, on the
    prompts that both have. Costs go by the larger p of their ratio and difference;
    where they are too skewed for so few prompts (fewer than 40·skew²), the one of the
    heavier tail is not called cheaper; where nothing varies nothing is shown.

    Args:
        scores: of each prompt (row) and model, higher is better, NaN where one is
            missing, shape (n, M).
        costs: the same, from 0.
        clusters: of the prompts, shape (n,), or None.
        level: at which the set holds all of the frontier, where the tests hold, in (0,
            1).

    Examples:
        >>> rng = np.random.default_rng(1)
        >>> frontier_set(rng.normal([0, 1, 0], 1, (80, 3)), rng.lognormal([0, 1, 2], 0.5, (80, 3))).in_set
        array([ True,  True, False])
    """
    y, c = _checked(scores, costs)
    level, m = as_level(level), y.shape[1]
    groups = clusters_if_any(clusters, len(y))
    with one_blas_thread():
        matrix = centre(c, groups)
        quality, difference = pair_moments(centre(y, groups)), pair_moments(matrix)
        ratio, skew = _log_ratios(matrix)
    # costs whose mean is told by few prompts are called too low, never too high: the
    # other side needs no gate
    gated = ratio.n_units < UNITS_PER_SKEW * skew**2
    first, second = np.triu_indices(m, 1)
    p = np.full((m, m), np.nan)  # of "the row dominates the column"
    for a, b, sign in ((first, second, 1.0), (second, first, -1.0)):
        tails = [_upper(quality, sign), _upper(difference, -sign), _upper(ratio, -sign)]
        untrusted = gated & (sign * skew > 0)
        p[a, b] = np.where(untrusted, 1.0, np.max(tails, axis=0))
    off = ~np.eye(m, dtype=bool)
    p[off] = holm(p[off])
    np.fill_diagonal(p, np.inf)
    best, smallest = p.argmin(axis=0), p.min(axis=0)
    out = rejects(smallest, 1 - level)
    skewed = np.bincount(np.concatenate([first[gated], second[gated]]), minlength=m)
    return FrontierSet(level, ~out, np.where(out, best, -1), smallest, skewed)


def _log_ratios(matrix: ScoreMatrix) -> tuple[PairMoments, FloatArray]:
    """Of each pair the logarithm of the ratio of mean costs with its error, and the
    skewness of its terms, above 0 where the first has the heavier tail; NaN without an
    error."""
    a, b = matrix.pairs
    costs = np.where(matrix.scored > 0, matrix.centred + matrix.means, 0.0)
    n = (matrix.scored.T @ matrix.scored)[a, b]
    sums = costs.T @ matrix.scored
    names = ("value", "error", "df", "units", "skew")
    columns = {name: np.full(len(a), np.nan) for name in names}
    for pairs in pair_blocks((n > 1) & (sums[a, b] > 0) & (sums[b, a] > 0)):
        of_a, of_b = a[pairs], b[pairs]
        common = matrix.scored[:, of_a] * matrix.scored[:, of_b]
        mean_a = sums[of_a, of_b] / n[pairs]
        mean_b = sums[of_b, of_a] / n[pairs]
        terms = (costs[:, of_a] / mean_a - costs[:, of_b] / mean_b) * common
        terms[:, np.abs(terms).max(axis=0) <= ROUNDING * len(terms)] = 0.0
        if matrix.clusters is not None:
            codes, n_clusters = matrix.clusters.codes, matrix.clusters.n
            terms = cluster_totals(codes, terms, n_clusters)
            common = cluster_totals(codes, common, n_clusters)
        found = robust_errors_of(terms, common)
        columns["value"][pairs] = np.log(mean_a / mean_b)
        for name in ("error", "df", "units"):
            columns[name][pairs] = found[name]
        squares = terms * terms
        second = squares.sum(axis=0) / found["units"]
        third = np.einsum("ij,ij->j", squares, terms) / found["units"]
        columns["skew"][pairs] = third / np.where(second > 0, second, 1.0) ** 1.5
    error, df = columns["error"], columns["df"]
    units = np.nan_to_num(columns["units"]).astype(np.intp)
    moments = PairMoments(
        columns["value"],
        error,
        error,
        df,
        np.full(len(a), np.nan),
        n.astype(np.intp),
        units,
    )
    return moments, columns["skew"]


def _upper(moments: PairMoments, sign: float) -> FloatArray:
    """One-sided p of each pair of "the mean is 0 or below"; 1 where nothing varies or
    nothing is shared."""
    with np.errstate(invalid="ignore", divide="ignore"):
        tail = special.stdtr(
            moments.degrees_of_freedom, -sign * moments.difference / moments.error
        )
    usable = (moments.error > 0) & np.isfinite(tail)
    return np.where(usable, np.maximum(tail, SMALLEST_P), 1.0)


def _undominated(scores: FloatArray, costs: FloatArray) -> NDArray[np.bool_]:
    """Whether no other dominates a model, shape (M,): M log M, where `dominates` takes
    M²."""
    y, c = _alike(scores), _alike(costs)
    order = np.lexsort((-y, c))
    y, c = y[order], c[order]
    start = np.searchsorted(c, c)  # the best of those that cost the same
    before = np.concatenate([[-np.inf], np.maximum.accumulate(y)])[start]
    result = np.empty(len(y), dtype=bool)
    result[order] = (y == y[start]) & (y > before)
    return result


def _alike(values: FloatArray) -> FloatArray:
    """Values of which those that differ by rounding alone are the same."""
    scale = float(np.abs(values).max(initial=0.0))
    if scale:
        return np.round(values / scale, _DIGITS)
    return values


def _checked(scores: ArrayLike, costs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Scores and costs, both missing where one of them is."""
    y, c = as_score_matrix(scores), as_score_matrix(costs, "costs")
    if y.shape != c.shape:
        raise StatisticsError(
            f"`costs` has shape {c.shape}, `scores` {y.shape}: one of each prompt and "
            "model"
        )
    if np.nanmin(c, initial=0.0) < 0:
        raise StatisticsError("`costs` holds a value below 0")
    missing = np.isnan(y) | np.isnan(c)
    largest = np.nanmax(c, initial=0.0)
    c = c / (largest or 1.0)  # squares of costs stay numbers
    return np.where(missing, np.nan, y), np.where(missing, np.nan, c)
