"""Estimates of a row that are no plain mean: bounds of what is unscored, published and
infinite figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.scored_conditions import (
    ScoredCondition,
)
from warehouse.analysis.selection.scores import (
    PromptScores,
)
from warehouse.stats import (
    Estimate,
    estimate_mean,
)
from warehouse.stats.core.inputs import finite_bounds
from warehouse.stats.core.sample import find_link
from warehouse.stats.intervals.missing_bounds import filled_bounds
from warehouse.stats.rows.infinite import InfiniteScores, describe_infinite
from warehouse.stats.rows.seed_row import TOO_FEW as TOO_FEW

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class UnscoredBounds:
    """Bounds of a row; None where all is scored or nothing limits a score."""

    #: the figure with every missing score at the smallest possible one.
    low: float | None = None
    high: float | None = None  #: the figure with every missing score at the largest.
    #: lower end of the hull of the default intervals with the missing scores there.
    ci_low: float | None = None
    ci_high: float | None = None  #: upper end of it.


def unscored_bounds(
    scores: PromptScores, metric: Metric, clusters: ClusterMap, level: float
) -> UnscoredBounds:
    """Bounds on the mean over all samples, some of them unscored, for a plain mean of
    bounded scores.

    A prompt with some draws scored keeps them; only its missing ones are filled in.
    """
    limits = finite_bounds(metric.bounds)
    if limits is None or metric.link != "identity":
        return UnscoredBounds()
    inside = (
        not scores.n
        or limits[0] <= scores.values.min() <= scores.values.max() <= limits[1]
    )
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
    return UnscoredBounds(
        bounds.theta_low, bounds.theta_high, bounds.ci_low, bounds.ci_high
    )


def _scored(
    scores: PromptScores,
    limits: tuple[float, float],
    clusters: ClusterMap,
    level: float,
) -> Estimate | None:
    """The default estimate of what is scored; None where nothing is."""
    if not scores.n:
        return None
    return estimate_mean(
        scores.values,
        clusters=clusters.labels(scores.prompts),
        bounds=limits,
        n_draws=scores.n_draws,
        level=level,
    )


def _draws(scores: PromptScores) -> NDArray[np.float64]:
    """Scored draws of each prompt seen."""
    draws = np.zeros(len(scores.seen))
    draws[np.searchsorted(scores.seen, scores.prompts)] = scores.n_draws
    return draws


def _filled(scores: PromptScores, score: float) -> NDArray[np.float64]:
    """Mean of each prompt seen over all its draws, the missing ones at ``score``."""
    draws = _draws(scores)
    totals = np.zeros(len(scores.seen))
    indices = np.searchsorted(scores.seen, scores.prompts)
    totals[indices] = scores.n_draws * scores.values
    filled: NDArray[np.float64] = (totals + scores.unscored * score) / (
        draws + scores.unscored
    )
    return np.where(scores.unscored > 0, filled, totals / np.maximum(draws, 1))


@dataclass(frozen=True)
class PublishedEstimate:
    """A figure as its source publishes it."""

    estimate: float  #: the figure.
    standard_error: float | None  #: as published; None where it is not.
    #: lower end of the normal interval; None without an error, or with one of 0.
    ci_low: float | None
    ci_high: float | None  #: upper end of it.
    method: str = "published"  #: ``"published"``.


@dataclass(frozen=True)
class InfiniteEstimate:
    """The mean of scores of which some are infinite."""

    estimate: float | None  #: infinite; None where scores are infinite on both sides.
    scores: InfiniteScores  #: what can be said of them all the same.
    standard_error: float | None = None  #: there is none.
    ci_low: float | None = None  #: nor an interval.
    ci_high: float | None = None
    method: str = "infinite"


def infinite_estimate(
    entry: ScoredCondition, clusters: ClusterMap, level: float
) -> InfiniteEstimate:
    """The figure of an entry with infinite scores, behind the metric's link."""
    scores = entry.infinite
    link = find_link(entry.metric.link)
    assert scores is not None
    prompts, values = scores.extended
    counted = ~np.isnan(values)
    labels = clusters.labels(prompts)
    own_clusters = None
    if labels is not None:
        own_clusters = labels[counted]
    found = describe_infinite(
        values[counted],
        clusters=own_clusters,
        level=level,
    )
    if not counted.all() or found.mean is None:
        mean = None
    else:
        mean = link.value(found.mean)
    return InfiniteEstimate(mean, found)


NO_BOUNDS = UnscoredBounds()
