"""Means and errors of the differences of all pairs of models, on the prompts of each
pair.

Without clusters everything comes from four matrix products of centred scores (and of
the mask of what is scored); with clusters from the per-cluster sums of each pair's
differences, in blocks of pairs. Where two models are so alike that the products would
lose digits, the differences themselves are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import ROUNDING, Clusters, FloatArray

#: Pairs whose differences are held at a time.
PAIR_BLOCK = 256
# Below this share of the scores' squares, a sum of squared differences is worked out
# directly.
_ALIKE = 1e-4
#: Steps from 0 to a score that whole numbers are made by, at most.
_MOST_STEPS = 120

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores of M models on n prompts."""

    #: scores less the model's mean, 0 where not scored, shape (n, M).
    centred: FloatArray
    scored: FloatArray  #: 1 where scored, else 0, shape (n, M).
    means: FloatArray  #: of each model over its own scored prompts, NaN without any, shape (M,).
    clusters: Clusters | None  #: of the prompts, or None.
    scale: FloatArray  #: size of each model's scores, to tell rounding from a difference, shape (M,).
    gaps: tuple[IntArray, IntArray]  #: row and column of each cell that is not scored.
    totals: FloatArray  #: sums of ``centred`` over clusters (prompts, without any), shape (G, M).
    counts: FloatArray  #: the same of ``scored``.
    steps: int  #: of a unit that all scores are whole numbers of (`whole_steps`); 0 for none, and with gaps.

    @property
    def complete(self) -> bool:
        """Whether every model has a score on every prompt."""
        return not len(self.gaps[0])

    @property
    def n_models(self) -> int:
        """M."""
        return len(self.means)

    @property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """First and second model of each pair, shape (M(M−1)/2,) each."""
        return np.triu_indices(self.scored.shape[1], 1)


@dataclass(frozen=True)
class PairMoments:
    """What the scores say about each pair, shape (P,) each; NaN where not defined."""

    difference: FloatArray  #: mean of a − b over the common prompts.
    error: FloatArray  #: standard error: CLT, or CR2 with clusters; 0 where all differences are equal.
    error_cr1: FloatArray  #: CLT, or CR1 with clusters: what max-|T| is scaled by.
    degrees_of_freedom: FloatArray  #: n − 1, or Satterthwaite's.
    correlation: FloatArray  #: Pearson's over the common prompts.
    n_prompts: IntArray  #: common prompts.
    n_units: IntArray  #: prompts, or clusters that hold a common prompt.


def centre(scores: FloatArray, clusters: Clusters | None) -> ScoreMatrix:
    """The matrix of checked scores, shape (n, M), NaN where not scored."""
    missing = np.isnan(scores)
    filled = np.where(missing, 0.0, scores)
    counts = (~missing).sum(axis=0)
    means = np.full(len(counts), np.nan)
    np.divide(filled.sum(axis=0), counts, out=means, where=counts > 0)
    centred = np.where(missing, 0.0, scores - means)
    rows, columns = np.nonzero(missing)
    scored = (~missing).astype(np.float64)
    totals, counts = centred, scored
    if clusters is not None:
        totals = cluster_totals(clusters.codes, centred, clusters.n)
        counts = cluster_totals(clusters.codes, scored, clusters.n)
    steps = 0
    if not missing.any():
        steps = whole_steps(np.ascontiguousarray(scores.T))
    return ScoreMatrix(
        centred=centred,
        scored=scored,
        means=means,
        clusters=clusters,
        scale=np.abs(filled).max(axis=0),
        gaps=(rows, columns),
        totals=totals,
        counts=counts,
        steps=steps,
    )


def whole_steps(scores: FloatArray) -> int:
    """The fewest steps of a unit that all scores, but those missing, are whole numbers
    of; 0 for none. None for large scores either: one step may be within their rounding,
    which `paired_difference` takes for no difference."""
    largest = max(
        (float(np.fmax.reduce(np.abs(row), initial=1.0)) for row in scores), default=1.0
    )
    most = int(_MOST_STEPS / largest)
    for steps in range(1, most + 1):
        if all(_are_whole(row, steps) for row in scores):
            return steps
    return 0


def _are_whole(scores: FloatArray, steps: int) -> bool:
    return np.array_equal(np.rint(scores * steps) / steps, scores, equal_nan=True)


def pair_moments(matrix: ScoreMatrix) -> PairMoments:
    """Everything about each pair but its distribution."""
    a, b = matrix.pairs
    x, w = matrix.centred, matrix.scored
    n = (w.T @ w)[a, b]
    sums, squares = x.T @ w, (x**2).T @ w  # of the row's model on the column's prompts
    products = (x.T @ x)[a, b]
    with np.errstate(invalid="ignore", divide="ignore"):  # no common prompt: NaN
        shift = (sums[a, b] - sums[b, a]) / n
        ss = squares[a, b] + squares[b, a] - 2 * products - n * shift**2
        correlation = _correlation(sums, squares, products, n, a, b)
    # 0: neither varies, and nor does their difference
    size = squares[a, b] + squares[b, a]
    alike = np.flatnonzero((n > 0) & (size > 0) & (ss <= _ALIKE * size))
    for pairs in _blocks(alike):
        d, _ = pair_differences(matrix, a[pairs], b[pairs])
        ss[pairs] = (d**2).sum(axis=0)
    difference = matrix.means[a] - matrix.means[b] + shift
    if matrix.clusters is None:
        return _independent(difference, ss, n, correlation)
    return _clustered(matrix, difference, n, correlation)


def pair_differences(
    matrix: ScoreMatrix, a: IntArray, b: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Differences a − b less their mean, 0 where not common, and which prompts are
    common.

    Differences that vary by no more than rounding are made 0.

    Args:
        a: first model of each pair, shape (p,).
        b: second model.

    Returns:
        differences and mask (1 for a common prompt), shape (n, p) each.
    """
    common = matrix.scored[:, a] * matrix.scored[:, b]
    n = np.maximum(common.sum(axis=0), 1)
    d = (matrix.centred[:, a] - matrix.centred[:, b]) * common
    d = (d - d.sum(axis=0) / n) * common
    scale = np.maximum(matrix.scale[a], matrix.scale[b])
    d[:, np.abs(d).max(axis=0) <= ROUNDING * scale] = 0.0
    return d, common


def unit_sums(
    matrix: ScoreMatrix, a: IntArray, b: IntArray
) -> tuple[FloatArray, FloatArray]:
    """D_c of each pair and its units' sizes n_c, shape (G, p) each; a unit is a
    cluster, or a prompt where there are none. Sums that are only rounding are made 0.
    """
    clusters = matrix.clusters
    if clusters is None:
        return pair_differences(matrix, a, b)
    if matrix.complete:
        d = matrix.totals[:, a] - matrix.totals[:, b]
        sizes = np.broadcast_to(clusters.sizes[:, None], d.shape)
    else:
        parts = []
        for model in np.unique(a):
            others = b[a == model]
            parts.append(_sums_with_gaps(matrix, clusters, model, others))
        d, sizes = (np.hstack(columns) for columns in zip(*parts, strict=True))
    scale = len(matrix.centred) * np.maximum(matrix.scale[a], matrix.scale[b])
    d[:, np.abs(d).max(axis=0) <= ROUNDING * scale] = 0.0
    return d, sizes


def _sums_with_gaps(
    matrix: ScoreMatrix, clusters: Clusters, model: int, others: IntArray
) -> tuple[FloatArray, FloatArray]:
    """D_c of one model and others over their common prompts, and the common prompts in
    each cluster: sums over all that a model has, less what the other one has not."""
    x, w, shape = matrix.centred, matrix.scored, matrix.totals.shape
    rows, columns = matrix.gaps
    cells = clusters.codes[rows] * shape[1] + columns

    def where_other_scored(values: FloatArray, totals: FloatArray) -> FloatArray:
        lost = np.bincount(cells, weights=values[rows, model], minlength=totals.size)
        left: FloatArray = (totals[:, [model]] - lost.reshape(shape))[:, others]
        return left

    own = where_other_scored(x, matrix.totals)
    sizes = where_other_scored(w, matrix.counts)
    lacks = np.flatnonzero(w[:, model] == 0)
    theirs = matrix.totals - cluster_totals(clusters.codes[lacks], x[lacks], clusters.n)
    d = own - theirs[:, others]
    means = d.sum(axis=0) / np.maximum(sizes.sum(axis=0), 1)
    return d - sizes * means, sizes


def cluster_totals(codes: IntArray, values: FloatArray, n_clusters: int) -> FloatArray:
    """Column sums of ``values`` (n, p) in each cluster, shape (G, p)."""
    sums = np.zeros((n_clusters, values.shape[1]))
    if len(codes):
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        sums[ordered[starts]] = np.add.reduceat(values[order], starts, axis=0)
    return sums


def pair_blocks(chosen: NDArray[np.bool_]) -> Iterator[IntArray]:
    """Numbers of the chosen pairs, `PAIR_BLOCK` at a time."""
    return _blocks(np.flatnonzero(chosen))


def _blocks(pairs: IntArray) -> Iterator[IntArray]:
    for start in range(0, len(pairs), PAIR_BLOCK):
        yield pairs[start : start + PAIR_BLOCK]


def _correlation(
    sums: FloatArray,
    squares: FloatArray,
    products: FloatArray,
    n: FloatArray,
    a: IntArray,
    b: IntArray,
) -> FloatArray:
    """Pearson's over the common prompts; NaN where a model does not vary on them, and
    where squares overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        ss_a = squares[a, b] - sums[a, b] ** 2 / n
        ss_b = squares[b, a] - sums[b, a] ** 2 / n
        flat = (ss_a <= ROUNDING * squares[a, b]) | (ss_b <= ROUNDING * squares[b, a])
        covariance = products - sums[a, b] * sums[b, a] / n
        correlation = covariance / np.sqrt(np.where(flat, np.nan, ss_a * ss_b))
    return np.clip(correlation, -1.0, 1.0)


def _independent(
    difference: FloatArray, ss: FloatArray, n: FloatArray, correlation: FloatArray
) -> PairMoments:
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(n > 1, np.sqrt(ss / (n - 1) / n), np.nan)
    return PairMoments(
        difference=difference,
        error=error,
        error_cr1=error,
        degrees_of_freedom=np.where(n > 1, n - 1, np.nan),
        correlation=correlation,
        n_prompts=n.astype(np.intp),
        n_units=n.astype(np.intp),
    )


def _clustered(
    matrix: ScoreMatrix, difference: FloatArray, n: FloatArray, correlation: FloatArray
) -> PairMoments:
    a, b = matrix.pairs
    names = ("error", "error_cr1", "df", "units")
    columns = {name: np.full(len(a), np.nan) for name in names}
    for pairs in pair_blocks(n > 0):
        sums, sizes = unit_sums(matrix, a[pairs], b[pairs])
        for name, values in robust_errors_of(sums, sizes).items():
            columns[name][pairs] = values
    return PairMoments(
        difference=difference,
        error=columns["error"],
        error_cr1=columns["error_cr1"],
        degrees_of_freedom=columns["df"],
        correlation=correlation,
        n_prompts=n.astype(np.intp),
        n_units=np.nan_to_num(columns["units"]).astype(np.intp),
    )


def robust_errors_of(sums: FloatArray, sizes: FloatArray) -> dict[str, FloatArray]:
    """CR1, CR2 and Satterthwaite's ν of each pair (see `clustered`), NaN with one
    cluster."""
    units = (sizes > 0).sum(axis=0)
    n = sizes.sum(axis=0)
    shares = sizes / n
    rest = np.where(shares < 1, 1 - shares, np.nan)
    g = shares**2 / rest
    squares = (sums / n) ** 2
    several = units > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        cr1 = np.sqrt(squares.sum(axis=0) * units / (units - 1))
        df = 1 / ((shares**2).sum(axis=0) + g.sum(axis=0) ** 2 - (g**2).sum(axis=0))
        cr2 = np.sqrt((squares / rest).sum(axis=0))
    return {
        "error": np.where(several, cr2, np.nan),
        "error_cr1": np.where(several, cr1, np.nan),
        "df": np.where(several, df, np.nan),
        "units": units.astype(np.float64),
    }
