"""Checks of what is given to `missing`: bounds, numbers of prompts, clusters of both kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    Clusters,
    FloatArray,
    as_clusters,
    as_scores,
    check_length,
    finite_bounds,
)


def as_limits(bounds: Bounds) -> tuple[float, float]:
    """Both bounds of a score.

    Raises:
        StatisticsError: one is not finite.
    """
    limits = finite_bounds(bounds)
    if limits is None:
        raise StatisticsError(
            f"`bounds` must both be finite, found {bounds}: without them a missing score could be"
            " anything, and so could the mean"
        )
    return limits


def as_count(n_missing: float) -> int:
    """A number of prompts.

    Raises:
        StatisticsError: it is no whole number, or below 0.
    """
    if not n_missing >= 0 or n_missing != n_missing // 1:  # also where it is NaN or infinite
        raise StatisticsError(f"`n_missing` must be a whole number of prompts, found {n_missing}")
    return int(n_missing)


def scored_values(scored: ArrayLike, missing: int) -> FloatArray:
    """Checked scores; none where none is known and some are missing."""
    if missing and np.shape(scored) == (0,):
        return np.empty(0)
    return as_scores(scored, "scored")


def all_clusters(
    clusters: ArrayLike | None, missing_clusters: ArrayLike | None, scored: int, missing: int
) -> Clusters | None:
    """Clusters of the scored prompts, then of the missing ones.

    Raises:
        StatisticsError: labels of one kind without the other, or of another length.
    """
    if clusters is None:
        if missing_clusters is not None:
            raise StatisticsError("`missing_clusters` needs `clusters` of the scored prompts")
        return None
    if missing_clusters is None and missing:
        raise StatisticsError(
            f"`clusters` without `missing_clusters`: give the clusters of the {missing} missing"
            " prompt(s) too, or leave both out"
        )
    known, unknown = list(_labels(clusters)), list(_labels(missing_clusters))
    check_length(len(known), scored, "clusters")
    if len(unknown) != missing:
        raise StatisticsError(
            f"`missing_clusters` has {len(unknown)} entries, expected one per missing prompt: {missing}"
        )
    return as_clusters([*known, *unknown], scored + missing)


def _labels(clusters: Any) -> Any:
    return () if clusters is None else clusters
