"""A few prompts that stand for all: anchors, and the estimates of a score that rest on
them (tinyBenchmarks, Polo et al. 2024; statistics.md §5).

The estimates are biased by design: which prompts were chosen depends on stored models,
and no interval is honest without a check on models left out (`anchor_errors`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_floats, as_seed, as_shares
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.dimensions import DimensionsFit, place_models
from warehouse.stats.items.irt import IrtFit
from warehouse.stats.items.responses import Responses, ability_modes

STARTS = 5
_ROUNDS = 300


@dataclass(frozen=True, eq=False)
class Anchors(NamedFigures):
    """Items that stand for clusters of items."""

    items: NDArray[np.intp]  #: numbers of the anchors, ascending, shape (m,).
    weights: FloatArray  #: share of all items' weight in each anchor's cluster; sum 1, shape (m,).
    clusters: NDArray[np.intp]  #: place in ``items`` of each item's anchor, shape (N,).
    inertia: float  #: weighted mean of squared distances to the centroids: what k-means makes small.

    def __str__(self) -> str:
        return f"{len(self.items)} anchors of {len(self.clusters)} items"


def choose_anchors(
    coordinates: ArrayLike,
    n_anchors: int,
    *,
    weights: ArrayLike | None = None,
    seed: int = 0,
    n_starts: int = STARTS,
) -> Anchors:
    """Anchors by k-means with Euclidean distances: the item nearest each centroid.

    Args:
        coordinates: of each item, (α, β) of an item response model or its scores by
            model, shape (N, d).
        n_anchors: m, from 1 to the number of distinct coordinates.
        weights: ω of each item, above 0, shape (N,); None: all alike.
        seed: of the k-means++ starts; the best of them counts, the first on ties.
        n_starts: starts.

    Raises:
        StatisticsError: coordinates not finite, more anchors than distinct coordinates,
            n out of range.
    """
    x = as_floats(coordinates, "coordinates")
    if x.ndim != 2 or not x.size or not np.isfinite(x).all():
        raise StatisticsError(
            f"`coordinates` must be finite, items x dimensions, found shape {x.shape}"
        )
    shares = as_shares(weights, len(x))
    points, member = np.unique(x, axis=0, return_inverse=True)
    if not 1 <= n_anchors <= len(points) or n_starts < 1:
        raise StatisticsError(
            f"{n_anchors} anchors, expected 1 to the number of distinct items here "
            f"({len(points)})"
        )
    mass = np.bincount(member, weights=shares).astype(np.float64)
    best, labels, centres = np.inf, np.zeros(len(points), np.intp), points[:1]
    for start in range(n_starts):
        rng = np.random.default_rng([as_seed(seed), 30, n_anchors, start])
        first = _plus_plus(points, mass, n_anchors, rng)
        assigned, at, inertia = _lloyd(points, mass, first)
        if inertia < best * (1 - 1e-12):
            best, labels, centres = inertia, assigned, at
    of_item = labels[member]
    apart = ((x - centres[of_item]) ** 2).sum(axis=1)
    chosen = np.empty(n_anchors, np.intp)
    for cluster in range(n_anchors):
        rows = np.flatnonzero(of_item == cluster)
        chosen[cluster] = rows[np.argmin(apart[rows])]
    return _numbered(chosen, of_item, shares, float(best))


def _numbered(
    chosen: NDArray[np.intp], of_item: NDArray[np.intp], shares: FloatArray, best: float
) -> Anchors:
    """Anchors with their clusters in the order of the items."""
    n_anchors = len(chosen)
    order = np.argsort(chosen)
    rank = np.empty(n_anchors, np.intp)
    rank[order] = np.arange(n_anchors)
    cluster = rank[of_item]
    weight = np.bincount(cluster, weights=shares, minlength=n_anchors)
    return Anchors(chosen[order], weight.astype(np.float64), cluster, best)


def anchor_score(scores: ArrayLike, weights: ArrayLike) -> FloatArray:
    """Σ w_a y_a: the score of a model from its anchors (IRT of the paper), shape (…,).

    Args:
        scores: on the anchors, shape (…, m).
        weights: of the anchors, shape (m,).
    """
    return np.asarray(as_floats(scores, "scores") @ as_floats(weights, "weights"))


def predict_rest(
    fit: IrtFit | DimensionsFit, answers: Responses, items: NDArray[np.intp]
) -> FloatArray:
    """P(success) on every item, from the ability (MAP) that the answers to some give,
    shape (M, N).

    Args:
        fit: of all items.
        answers: of new models to those, shape (M, m).
        items: which, shape (m,).
    """
    if isinstance(fit, DimensionsFit):
        return fit.chances(place_models(fit, answers, items))
    prior_mean = float(fit.block_means.mean())
    theta = ability_modes(answers, fit.a[items], fit.d[items], prior_mean, fit.prior_sd)
    logits = np.multiply.outer(theta, fit.a) + fit.d
    return np.asarray(special.expit(logits))


def p_irt(
    scores: ArrayLike,
    predictions: ArrayLike,
    items: NDArray[np.intp],
    weights: ArrayLike | None = None,
) -> FloatArray:
    """p-IRT: (m/N)·mean over the answered items of b_i y_i + (1 − m/N)·mean over the
    rest of b_i P_i.

    Args:
        scores: on the answered items, shape (M, m).
        predictions: P of every item, shape (M, N).
        items: the answered ones, shape (m,).
        weights: ω of each item, shape (N,); b = N ω / Σω; None: 1.
    """
    p = as_floats(predictions, "predictions")
    y = as_floats(scores, "scores")
    n, m = p.shape[1], len(items)
    b = n * as_shares(weights, n)
    rest = np.setdiff1d(np.arange(n), items)
    seen = (y * b[items]).mean(axis=1)
    if not len(rest):
        return np.asarray(seen)
    predicted = (p[:, rest] * b[rest]).mean(axis=1)
    return np.asarray(m / n * seen + (1 - m / n) * predicted)


def gp_irt_weight(
    bias: float, variance: float, n_items: int, *, anchors: bool = True
) -> float:
    """λ = b̂²/(σ̂²/(4m) + b̂²) for anchors, b̂²/(σ̂²/m + b̂²) for random items; gp-IRT
    is λ·IRT + (1 − λ)·p-IRT.

    Args:
        bias: b̂, mean |predicted − true mean of the rest| over held-out models, at
            least 0.
        variance: σ̂², mean over models of the variance (ddof 0) of item scores, at
            least 0.
        n_items: m, at least 1.
        anchors: whether items are anchors.

    Raises:
        StatisticsError: numbers out of range.

    Examples:
        >>> round(gp_irt_weight(0.02, 0.24, 100), 12), round(gp_irt_weight(0.02, 0.24, 100, anchors=False), 12)
        (0.4, 0.142857142857)
    """
    if not (0 <= bias < np.inf and 0 <= variance < np.inf and n_items >= 1):
        raise StatisticsError(
            f"bias and variance must be at least 0, found {bias}, {variance}, "
            f"{n_items} items"
        )
    if not bias:
        return 0.0
    noise = variance / n_items
    if anchors:
        noise = variance / (4 * n_items)
    return bias**2 / (noise + bias**2)


def _plus_plus(
    points: FloatArray, mass: FloatArray, k: int, rng: np.random.Generator
) -> FloatArray:
    chosen = [int(rng.choice(len(points), p=mass / mass.sum()))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(1, k):
        chances = nearest * mass
        chosen.append(int(rng.choice(len(points), p=chances / chances.sum())))
        to_new = ((points - points[chosen[-1]]) ** 2).sum(axis=1)
        nearest = np.minimum(nearest, to_new)
        nearest[chosen] = 0.0
    return points[chosen]


def _lloyd(
    points: FloatArray, mass: FloatArray, centres: FloatArray
) -> tuple[NDArray[np.intp], FloatArray, float]:
    """Assign and average until nothing moves."""
    k = len(centres)
    labels = np.full(len(points), -1, np.intp)
    squares = (points**2).sum(axis=1)
    for _ in range(_ROUNDS):
        apart = squares[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1)
        closest = _closest(apart)
        if (closest == labels).all():
            break
        labels = closest
        weight = np.bincount(labels, weights=mass, minlength=k)
        member = np.zeros((k, len(points)))
        member[labels, np.arange(len(points))] = mass
        centres = (member @ points) / weight[:, None]
    from_centre = ((points - centres[labels]) ** 2).sum(axis=1)
    inertia = float((mass * from_centre).sum())
    return labels, centres, inertia


def _closest(apart: FloatArray) -> NDArray[np.intp]:
    """The nearest centre (column) of each point; one that is no point's takes the
    farthest point that is not alone."""
    n_points, k = apart.shape
    closest: NDArray[np.intp] = np.argmin(apart, axis=1)
    nearest = apart[np.arange(n_points), closest]
    for empty in np.setdiff1d(np.arange(k), closest):
        alone = np.bincount(closest, minlength=k)[closest] == 1
        far = int(np.argmax(np.where(alone, -np.inf, nearest)))
        closest[far] = empty
        nearest[far] = 0.0
    return closest
