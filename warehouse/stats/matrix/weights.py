"""Scores and ranks when prompts do not weigh the same, and while a benchmark grows
(Siska 2024 §3.3, §5.2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    FloatArray,
    as_clusters,
    as_scores,
    as_seed,
    check_length,
)
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.matrix.kmeans import medoids
from warehouse.stats.matrix.similarity import (
    Progress,
    as_count,
    as_matrix,
    generator,
    unit_rows,
)

#: Weightings drawn with one stream of random numbers, whatever the memory.
_STREAM = 1000
#: Random numbers held in memory at a time (8 bytes each).
_BLOCK = 4_000_000


@dataclass(frozen=True)
class WeightedScores(NamedFigures):
    """Every model's score under one weighting."""

    scheme: str  #: name of the weighting.
    scores: tuple[float, ...]  #: Σ w_i s_i with Σ w_i = 1, by model.
    ranks: tuple[int, ...]  #: 1 = best; equal scores (12 digits) share a rank.
    #: rank by uniform weights minus this rank: above 0 is a rise.
    rank_changes: tuple[int, ...]
    n_prompts: int  #: prompts of weight above 0.
    #: 1/Σ w_i²: prompts of equal weight that would say as much.
    effective_prompts: float

    def __str__(self) -> str:
        largest = max(map(abs, self.rank_changes))
        return (
            f"{self.scheme}: {self.n_prompts} prompts, largest change of rank {largest}"
        )


@dataclass(frozen=True)
class RandomWeights(NamedFigures):
    """Scores over weightings drawn evenly from all there are (Dirichlet(1, …, 1))."""

    n_draws: int  #: weightings.
    seed: int  #: of the draws.
    uniform: FloatArray  #: score of each model with equal weights, shape (k,).
    lowest: FloatArray  #: smallest score drawn, shape (k,).
    highest: FloatArray  #: largest score drawn, shape (k,).
    levels: tuple[float, ...]  #: of the quantiles.
    quantiles: FloatArray  #: shape (levels, k).
    standard_deviation: FloatArray  #: over the draws (ddof 1), shape (k,).
    #: sqrt(population variance/(n + 1)), shape (k,).
    exact_standard_deviation: FloatArray
    #: share of draws in which the row's model is better than the column's; ties count
    #: for neither, shape (k, k).
    outranks: FloatArray
    best: FloatArray  #: share of draws in which each model is best; ties share, shape (k,).

    def __str__(self) -> str:
        width = float((self.highest - self.lowest).max())
        models = len(self.best)
        return (
            f"{self.n_draws} weightings of {models} models, scores move by up to "
            f"{width:.4g}"
        )


def competition_ranks(
    scores: ArrayLike, *, higher_is_better: bool = True
) -> NDArray[np.intp]:
    """Rank of each model, 1 = best; scores that agree to 12 digits share the better
    rank."""
    values = np.array([float(f"{value:.12g}") for value in as_scores(scores)])
    ordered = np.sort(values if not higher_is_better else -values)
    return np.searchsorted(ordered, values if not higher_is_better else -values) + 1


def medoid_weights(
    matrix: ArrayLike, labels: ArrayLike, *, share: bool = True
) -> FloatArray:
    """Only the medoid of each cluster counts: by its cluster's share, or all alike (the
    paper's).

    Args:
        matrix: prompts × models, finite, shape (n, k).
        labels: cluster of each prompt, shape (n,).
        share: False for equal weights of the medoids.

    Returns:
        weights, summing to 1, shape (n,).
    """
    rows, _ = medoids(matrix, labels)
    sizes = np.unique(np.asarray(labels), return_counts=True)[1]
    weights = np.zeros(np.size(np.asarray(labels)))
    if share:
        weights[rows] = sizes / sizes.sum()
    else:
        weights[rows] = 1 / len(sizes)
    return weights


def distance_weights(matrix: ArrayLike, labels: ArrayLike) -> FloatArray:
    """w_i = d(i, medoid)/Σ_C d · |C|/n, d = 1 − cosine: what is unusual in its cluster
    counts most.

    A medoid gets 0; where all of a cluster coincide, each gets 1/n.
    """
    _, distances = medoids(matrix, labels)
    return _within(distances, as_clusters(labels, len(distances)).codes)


def inverse_distance_weights(matrix: ArrayLike, labels: ArrayLike) -> FloatArray:
    """w_i ∝ 1/d(i, medoid) in its cluster: what is typical counts most.

    A distance of 0 counts as the smallest positive one of its cluster; where there is
    none, each gets 1/n.
    """
    _, distances = medoids(matrix, labels)
    codes = as_clusters(labels, len(distances)).codes
    smallest = np.full(int(codes.max()) + 1, np.inf)
    positive = distances > 0
    np.minimum.at(smallest, codes[positive], distances[positive])
    nearest = np.where(positive, distances, smallest[codes])
    return _within(np.where(np.isinf(nearest), 0.0, 1 / nearest), codes)


def cluster_weights(labels: ArrayLike, n: int) -> FloatArray:
    """Every cluster counts alike, and so does every prompt in it: w_i = 1/(C·|C_i|)."""
    groups = as_clusters(labels, n)
    return np.asarray(1 / (groups.n * groups.sizes[groups.codes]))


def _within(amounts: FloatArray, codes: NDArray[np.intp]) -> FloatArray:
    """Each cluster keeps its share |C|/n, divided by amount."""
    sizes = np.bincount(codes).astype(np.float64)
    totals = np.bincount(codes, weights=amounts)[codes]
    parts = np.where(
        totals > 0, amounts / np.where(totals > 0, totals, 1.0), 1 / sizes[codes]
    )
    return np.asarray(parts * sizes[codes] / len(codes))


def weighted_scores(
    matrix: ArrayLike,
    weights: Mapping[str, ArrayLike],
    *,
    higher_is_better: bool = True,
) -> tuple[WeightedScores, ...]:
    """Scores, ranks and changes of rank under several weightings, uniform first (figure
    1).

    Args:
        matrix: prompts × models, finite, shape (n, k).
        weights: name to weights of the prompts, at least 0, not all 0; they are scaled
            to sum 1.
        higher_is_better: direction of the ranks.

    Raises:
        StatisticsError: weights below 0, not finite, all 0, or of another length.
    """
    values = as_matrix(matrix)
    n = len(values)
    uniform = competition_ranks(values.mean(axis=0), higher_is_better=higher_is_better)
    rows = []
    for name, weight in ({"uniform": np.full(n, 1 / n)} | dict(weights)).items():
        shares = _given_shares(weight, n, name)
        scores = shares @ values
        ranks = competition_ranks(scores, higher_is_better=higher_is_better)
        rows.append(
            WeightedScores(
                name,
                tuple(map(float, scores)),
                tuple(map(int, ranks)),
                tuple(map(int, uniform - ranks)),
                int((shares > 0).sum()),
                float(1 / (shares @ shares)),
            )
        )
    return tuple(rows)


def _given_shares(given: ArrayLike, n: int, name: str) -> FloatArray:
    weights = as_scores(given, f"weights {name}")
    check_length(len(weights), n, f"weights {name}")
    if weights.min() < 0:
        first = int(np.argmax(weights < 0))
        raise StatisticsError(
            f"weights {name!r} must be at least 0, found {weights[first]} at index "
            f"{first}"
        )
    if weights.max() == 0:
        raise StatisticsError(
            f"weights {name!r} are all 0; give at least one prompt some weight"
        )
    shares = weights / weights.max()
    return np.asarray(shares / shares.sum())


def random_weights(
    matrix: ArrayLike,
    *,
    n_draws: int = 100_000,
    seed: int = 0,
    higher_is_better: bool = True,
    levels: tuple[float, ...] = (0.025, 0.25, 0.5, 0.75, 0.975),
    progress: Progress | None = None,
) -> RandomWeights:
    """Scores over all weightings of the prompts, drawn evenly (figures 3 and 11).

    Flat Dirichlet weights are exponentials over their sum, so a draw costs one row of
    random numbers and one row of a matrix product. Memory does not grow with the number
    of draws beyond their scores, and the block does not change the answer.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        n_draws: weightings, at least 2.
        seed: each thousand draws has a stream of its own.
        higher_is_better: direction of "better".
        levels: of the quantiles, in [0, 1].
        progress: called with (done, n_draws).
    """
    values = as_matrix(matrix)
    as_count(n_draws, "n_draws", 2)
    scores = _draw(values, n_draws, as_seed(seed), progress)
    sign = 1.0 if higher_is_better else -1.0
    outranks, best = _contests(sign * scores)
    n = len(values)
    return RandomWeights(
        n_draws,
        seed,
        values.mean(axis=0),
        scores.min(axis=1),
        scores.max(axis=1),
        levels,
        np.quantile(scores, levels, axis=1),
        scores.std(axis=1, ddof=1),
        np.sqrt(values.var(axis=0) / (n + 1)),
        outranks,
        best,
    )


def _draw(
    values: FloatArray, n_draws: int, seed: int, progress: Progress | None
) -> FloatArray:
    """Weighted scores, models × draws; centred first, so that equal columns stay equal."""
    n, k = values.shape
    scores = np.empty((k, n_draws))
    rows = max(1, min(_STREAM, _BLOCK // n))
    with_total = np.column_stack([values, np.ones(n)])
    buffer = np.empty((rows, n))
    for stream, start in enumerate(range(0, n_draws, _STREAM)):
        rng = generator(seed, 2, stream)
        end = min(start + _STREAM, n_draws)
        for left in range(start, end, rows):
            drawn = buffer[: min(rows, end - left)]
            rng.standard_exponential(out=drawn)
            sums = drawn @ with_total
            scores[:, left : left + len(drawn)] = (sums[:, :k] / sums[:, k:]).T
        if progress:
            progress(end, n_draws)
    return scores


def _contests(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How often row beats column, and how often each is best; scores are models ×
    draws."""
    k, n_draws = scores.shape
    tolerance = 1e-12 * np.abs(scores).max(axis=0)  # sums in another order round apart
    outranks = np.zeros((k, k))
    for model in range(k):
        outranks[model] = (scores[model] > scores + tolerance).sum(axis=1)
    at_top = scores >= scores.max(axis=0) - tolerance
    return outranks / n_draws, (at_top / at_top.sum(axis=0)).sum(axis=1) / n_draws


#: Sums of cosines that differ by less than this for each prompt chosen differ by
#: rounding only.
_TIE = 1e-12

Order = Literal["informative", "random"]


@dataclass(frozen=True)
class Growth(NamedFigures):
    """Scores of all models as prompts are added one by one."""

    order: str  #: ``informative`` or ``random``.
    seed: int  #: of the first prompt, and of the random order.
    #: rows in the order in which they were added, shape (n,).
    prompts: NDArray[np.intp]
    #: sizes that are reported, ascending; the last one is n, shape (m,).
    sizes: NDArray[np.intp]
    scores: FloatArray  #: mean score of each model over the first so many prompts, shape (m, k).

    def __str__(self) -> str:
        return (
            f"{self.order}: {len(self.prompts)} prompts, {self.scores.shape[1]} models"
        )


def grow(
    matrix: ArrayLike,
    order: Order = "informative",
    *,
    seed: int = 0,
    sizes: ArrayLike | None = None,
) -> Growth:
    """Add prompts one by one and watch every model's mean score.

    ``informative`` starts at a random prompt and adds the one with the largest mean
    cosine distance to those chosen, the lowest row on ties; its sums are exact to
    rounding, kept up to date in O(nk) a step.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        order: ``informative`` or ``random``.
        seed: of the first prompt; of the whole order where that is random.
        sizes: which to report, from 1 to n; default: all.

    Raises:
        StatisticsError: an unknown order or a size out of range.
    """
    values = as_matrix(matrix)
    n = len(values)
    rng = generator(as_seed(seed), 3)
    if order == "informative":
        prompts = _informative(unit_rows(values), int(rng.integers(n)))
    elif order == "random":
        prompts = rng.permutation(n).astype(np.intp)
    else:
        raise StatisticsError(f"no order {order!r}; there are: informative, random")
    steps = _as_sizes(sizes, n)
    means = np.cumsum(values[prompts], axis=0) / np.arange(1, n + 1)[:, None]
    return Growth(order, seed, prompts, steps, means[steps - 1])


def _as_sizes(sizes: ArrayLike | None, n: int) -> NDArray[np.intp]:
    if sizes is None:
        return np.arange(1, n + 1)
    whole = np.unique(np.append(np.asarray(sizes, dtype=np.intp), n))
    if whole[0] < 1 or whole[-1] > n:
        raise StatisticsError(
            f"`sizes` must lie between 1 and the number of prompts ({n})"
        )
    return whole


def _informative(unit: FloatArray, start: int) -> NDArray[np.intp]:
    """Rows in order of choice; those chosen are dropped from the matrix from time to
    time."""
    n = len(unit)
    order = np.empty(n, np.intp)
    rows, left = np.arange(n), unit
    taken = np.zeros(n, np.bool_)
    total, chosen = np.zeros(unit.shape[1]), start
    for step in range(n):
        order[step] = rows[chosen]
        taken[chosen] = True
        total += left[chosen]
        if 4 * (n - step - 1) < 3 * len(rows):
            rows, left = rows[~taken], np.ascontiguousarray(left[~taken])
            taken = np.zeros(len(rows), np.bool_)
        if len(rows):
            closeness = left @ total
            closeness[taken] = np.inf
            chosen = int(np.argmax(closeness <= closeness.min() + _TIE * (step + 1)))
    return order
