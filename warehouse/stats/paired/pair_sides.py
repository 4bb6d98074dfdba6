"""Two runs on the same prompts: scores, weights, and the figures whose mean is told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    Clusters,
    FloatArray,
    as_clusters,
    as_prompt_weights,
    as_scores,
    clusters_if_any,
    finite_bounds,
    is_constant,
    is_zero_one,
)
from warehouse.stats.core.sample import (
    Link,
    linearise_figure,
)

Scored = tuple[ArrayLike, ArrayLike | None]


@dataclass(frozen=True)
class PairSide:
    """One run of a pair."""

    scores: FloatArray  #: as given, shape (n,).
    #: weight of each over the mean weight, shape (n,); None where all are alike.
    shares: FloatArray | None
    figures: FloatArray  #: values whose mean is the reported figure (delta method), shape (n,).
    link: Link  #: from the mean to the figure.

    @property
    def weights(self) -> FloatArray:
        """The shares, 1 each where all are alike."""
        if self.shares is None:
            return np.ones(len(self.scores))
        return self.shares

    def within(self, bounds: Bounds | None) -> bool:
        """Whether the scores have bounds: given ones, or they are 0 and 1."""
        return self.link.name == "identity" and (
            finite_bounds(bounds) is not None or is_zero_one(self.scores)
        )


def aligned(
    a: Scored, b: Scored, clusters: ArrayLike | None, link: Link
) -> tuple[PairSide, PairSide, Clusters | None, int]:
    """Both runs and the clusters on the prompts that have a weight in one of them, and
    how many have none.

    Args:
        a: scores of the first run and their weights, or None, shape (n,) each.
        b: the same of the second on the same prompts.
        clusters: of the prompts, or None.
        link: of the metric.

    Raises:
        StatisticsError: runs of different lengths, values or weights that are not
            allowed.
    """
    scores_a, scores_b = as_scores(a[0], "a"), as_scores(b[0], "b")
    n = len(scores_a)
    if n != len(scores_b):
        raise StatisticsError(
            f"`a` has {n} prompts, `b` {len(scores_b)}; pass the prompts that both "
            "runs have, in the same order"
        )
    weights_a = _weights_if_any(a[1], n, "weights_a")
    weights_b = _weights_if_any(b[1], n, "weights_b")
    groups = clusters_if_any(clusters, n)
    if weights_a is not None and weights_b is not None:
        weighted = (weights_a > 0) | (weights_b > 0)
        if not weighted.all():
            scores_a, scores_b = scores_a[weighted], scores_b[weighted]
            weights_a, weights_b = weights_a[weighted], weights_b[weighted]
            if groups is not None:
                groups = as_clusters(groups.codes[weighted], len(scores_a))
    first = _side(scores_a, weights_a, link)
    second = _side(scores_b, weights_b, link)
    return first, second, groups, n - len(scores_a)


def _weights_if_any(weights: ArrayLike | None, n: int, name: str) -> FloatArray | None:
    if weights is None:
        return None
    return as_prompt_weights(weights, n, name)


def _side(scores: FloatArray, weights: FloatArray | None, link: Link) -> PairSide:
    shares = None
    if weights is not None and not is_constant(weights):
        shares = weights / weights.mean()
    return PairSide(scores, shares, linearise_figure(scores, weights, link), link)


def figure_values(
    scores: ArrayLike, weights: ArrayLike | None, link: Link
) -> FloatArray:
    """Checked values, one per prompt, whose mean is the reported figure (delta method).

    Args:
        scores: finite, shape (n,).
        weights: at least 0, shape (n,), or None.
        link: of the metric; see `find_link`.
    """
    raw = as_scores(scores, "scores")
    checked = _weights_if_any(weights, len(raw), "weights_scores")
    return linearise_figure(raw, checked, link)
