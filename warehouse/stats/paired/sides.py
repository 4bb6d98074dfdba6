"""The two runs of a pair: scores, weights, and one number per prompt whose mean is the figure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    Clusters,
    FloatArray,
    as_clusters,
    as_prompt_weights,
    as_scores,
    finite_bounds,
    is_constant,
    is_zero_one,
)
from warehouse.stats.core.links import Link, linearise_figure

Scored = tuple[ArrayLike, ArrayLike | None]


@dataclass(frozen=True)
class Side:
    """One run of a pair.

    Attributes:
        scores: as given, shape (n,).
        shares: weight of each over the mean weight, shape (n,); None where all are alike.
        figures: values whose mean is the reported figure (delta method), shape (n,).
        link: from the mean to the figure.
    """

    scores: FloatArray
    shares: FloatArray | None
    figures: FloatArray
    link: Link

    @property
    def weights(self) -> FloatArray:
        """The shares, 1 each where all are alike."""
        return np.ones(len(self.scores)) if self.shares is None else self.shares

    def within(self, bounds: Bounds | None) -> bool:
        """Whether the scores have bounds: given ones, or they are 0 and 1."""
        return self.link.name == "identity" and (finite_bounds(bounds) is not None or is_zero_one(self.scores))


def aligned(a: Scored, b: Scored, clusters: ArrayLike | None, link: Link) -> tuple[Side, Side, Clusters | None, int]:
    """Both runs and the clusters on the prompts that have a weight in one of them, and how many have none.

    Args:
        a: scores of the first run and their weights, or None, shape (n,) each.
        b: the same of the second on the same prompts.
        clusters: of the prompts, or None.
        link: of the metric.

    Raises:
        StatisticsError: runs of different lengths, values or weights that are not allowed.
    """
    scores = [as_scores(side[0], name) for side, name in ((a, "a"), (b, "b"))]
    n = len(scores[0])
    if n != len(scores[1]):
        raise StatisticsError(
            f"`a` has {n} prompts, `b` {len(scores[1])}; pass the prompts that both runs have, in the same order"
        )
    weights = [
        None if side[1] is None else as_prompt_weights(side[1], n, f"weights_{name}")
        for side, name in ((a, "a"), (b, "b"))
    ]
    groups = None if clusters is None else as_clusters(clusters, n)
    kept = _have_weight(weights, n)
    if not kept.all():
        scores = [own[kept] for own in scores]
        weights = [None if own is None else own[kept] for own in weights]
        groups = None if groups is None else as_clusters(groups.codes[kept], int(kept.sum()))
    first, second = (_side(own, w, link) for own, w in zip(scores, weights, strict=True))
    return first, second, groups, n - len(scores[0])


def _have_weight(weights: list[FloatArray | None], n: int) -> NDArray[np.bool_]:
    """Prompts with a weight in one run at least."""
    kept = np.zeros(n, bool)
    for own in weights:
        kept |= True if own is None else own > 0
    return kept


def _side(scores: FloatArray, weights: FloatArray | None, link: Link) -> Side:
    shares = None if weights is None or is_constant(weights) else weights / weights.mean()
    return Side(scores, shares, linearise_figure(scores, weights, link), link)


def figure_values(scores: ArrayLike, weights: ArrayLike | None, link: Link, name: str = "scores") -> FloatArray:
    """Checked values, one per prompt, whose mean is the reported figure (delta method).

    Args:
        scores: finite, shape (n,).
        weights: at least 0, shape (n,), or None.
        link: of the metric; see `find_link`.
        name: of ``scores`` in messages.
    """
    raw = as_scores(scores, name)
    checked = None if weights is None else as_prompt_weights(weights, len(raw), f"weights_{name}")
    return linearise_figure(raw, checked, link)
