"""Samples without a score: what the figure can be whatever they would have scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats import Estimate, estimate_mean
from warehouse.stats.core.inputs import finite_bounds
from warehouse.stats.intervals.missing_bounds import filled_bounds


@dataclass(frozen=True)
class UnscoredBounds:
    """Bounds of a row; None where all is scored or nothing limits a score.

    Attributes:
        low: the figure with every missing score at the smallest possible one.
        high: the figure with every missing score at the largest.
        ci_low: lower end of the hull of the default intervals with the missing scores there.
        ci_high: upper end of it.
    """

    low: float | None = None
    high: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


def unscored_bounds(scores: PromptScores, metric: Metric, clusters: ClusterMap, level: float) -> UnscoredBounds:
    """Bounds on the mean over all samples, some of them unscored, for a plain mean of bounded scores.

    A prompt with some draws scored keeps them; only its missing ones are filled in.
    """
    limits = finite_bounds(metric.bounds)
    if limits is None or metric.link != "identity":
        return UnscoredBounds()
    inside = not scores.n or limits[0] <= scores.values.min() <= scores.values.max() <= limits[1]
    if not inside or scores.uneven_weights is not None:
        return UnscoredBounds()
    low, high = (_filled(scores, end) for end in limits)
    bounds = filled_bounds(
        low,
        high,
        int(np.count_nonzero(scores.unscored)),
        bounds=limits,
        clusters=clusters.labels(scores.seen),
        n_draws=_draws(scores) + scores.unscored,
        scored=_scored(scores, limits, clusters, level),
        level=level,
    )
    return UnscoredBounds(bounds.theta_low, bounds.theta_high, bounds.ci_low, bounds.ci_high)


def _scored(scores: PromptScores, limits: tuple[float, float], clusters: ClusterMap, level: float) -> Estimate | None:
    """The default estimate of what is scored; None where nothing is."""
    if not scores.n:
        return None
    return estimate_mean(
        scores.values, clusters=clusters.labels(scores.prompts), bounds=limits, n_draws=scores.n_draws, level=level
    )


def _draws(scores: PromptScores) -> NDArray[np.float64]:
    """Scored draws of each prompt seen."""
    draws = np.zeros(len(scores.seen))
    draws[np.searchsorted(scores.seen, scores.prompts)] = scores.n_draws
    return draws


def _filled(scores: PromptScores, score: float) -> NDArray[np.float64]:
    """Mean of each prompt seen over all its draws, the missing ones at ``score``."""
    draws, totals = _draws(scores), np.zeros(len(scores.seen))
    places = np.searchsorted(scores.seen, scores.prompts)
    totals[places] = scores.n_draws * scores.values
    filled: NDArray[np.float64] = (totals + scores.unscored * score) / (draws + scores.unscored)
    return np.where(scores.unscored > 0, filled, totals / np.maximum(draws, 1))
