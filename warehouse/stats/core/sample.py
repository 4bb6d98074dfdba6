"""The checked scores of one run with the figures that every interval and error draws on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import (
    Bounds,
    Clusters,
    FloatArray,
    as_clusters,
    as_prompt_weights,
    as_scores,
    check_within,
    finite_bounds,
    is_binary,
    is_constant,
)
from warehouse.stats.core.links import Link, linearise
from warehouse.stats.core.moments import clt_error, deviations, mean_of
from warehouse.stats.intervals.cluster_robust import ClusterRobust, cluster_sums, robust_errors
from warehouse.stats.intervals.weighted_errors import UnitWeights, unit_weights


@dataclass(frozen=True)
class Sample:
    """Scores of one run, on the scale before the link.

    Attributes:
        values: linearised scores; their mean is the mean or ratio, shape (n,).
        mean: mean of ``values``.
        clusters: cluster numbers, or None.
        binary: 0/1 scores, one draw per prompt, no weights, no link.
        bounds: finite bounds of the scores, or None.
        se_clt: error of the mean as if prompts were independent (HC2 where weighted); None at n = 1.
        robust: cluster-robust errors; None without clusters or with a single one.
        shares: weight of each prompt over the mean weight, shape (n,); None where the figure
            is a plain mean.
        weights: what these say of the error, by unit; None where the figure is a plain mean.
        zero_one: 0/1 scores, one draw per prompt, weighted or not; no link.
        n_weightless: prompts of weight 0 that were left out.
    """

    values: FloatArray
    mean: float
    clusters: Clusters | None
    binary: bool
    bounds: tuple[float, float] | None
    se_clt: float | None
    robust: ClusterRobust | None
    shares: FloatArray | None = None
    weights: UnitWeights | None = None
    zero_one: bool = False
    n_weightless: int = 0

    @property
    def n(self) -> int:
        """Number of prompts n."""
        return len(self.values)

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters G, None without."""
        return None if self.clusters is None else self.clusters.n

    @property
    def se(self) -> float | None:
        """Headline error: CR2 with clusters, CLT without; 0 where the formula gives 0."""
        if self.clusters is None:
            return self.se_clt
        return None if self.robust is None else self.robust.se_cr2

    @property
    def df(self) -> float | None:
        """Degrees of freedom of the headline error: n − 1, or Satterthwaite's."""
        if self.weights is not None:
            return self.weights.degrees_of_freedom
        if self.clusters is None:
            return self.n - 1 if self.n > 1 else None
        return None if self.robust is None else self.robust.degrees_of_freedom

    @property
    def totals(self) -> FloatArray:
        """Deviations from the mean summed over each unit: cluster, or prompt without clusters."""
        centred = deviations(self.values)
        if self.clusters is None:
            return centred
        return cluster_sums(centred, self.clusters).sums

    @property
    def all_equal(self) -> bool:
        """Whether every score is the same number."""
        return is_constant(self.values)


def describe(
    values: FloatArray,
    clusters: Clusters | None,
    binary: bool = False,
    bounds: tuple[float, float] | None = None,
    shares: FloatArray | None = None,
) -> Sample:
    """The figures of checked scores: one pass for the mean, one for the rest."""
    centred = deviations(values)
    plain = Sample(
        values=values,
        mean=mean_of(values),
        clusters=clusters,
        binary=binary,
        bounds=bounds,
        se_clt=clt_error(centred),
        robust=None if clusters is None else robust_errors(centred, clusters),
        zero_one=binary,
    )
    return plain if shares is None else _weighted(plain, shares, centred)


def _weighted(sample: Sample, shares: FloatArray, centred: FloatArray) -> Sample:
    """With the errors of a weighted mean in the place of those of its linearised scores."""
    alone = unit_weights(shares)
    error = float(np.linalg.norm(alone.pulls(centred / sample.n))) if sample.n > 1 else None
    units = alone if sample.clusters is None else unit_weights(shares, sample.clusters)
    sample = replace(sample, shares=shares, se_clt=error, weights=units)
    if sample.clusters is None or sample.robust is None:
        return sample
    sums, g = cluster_sums(centred, sample.clusters).sums / sample.n, len(units.shares)
    robust = replace(
        sample.robust,
        se_cr2=float(np.linalg.norm(units.pulls(sums))),
        se_cr3=float(np.linalg.norm(sums / (1 - units.shares))) * ((g - 1) / g) ** 0.5,
        degrees_of_freedom=units.degrees_of_freedom or 1.0,
    )
    return replace(sample, robust=robust)


def build_sample(
    scores: ArrayLike,
    clusters: ArrayLike | None,
    weights: ArrayLike | None,
    link: Link,
    bounds: Bounds | None,
    binary: bool | None,
    n_draws: ArrayLike | None,
) -> Sample:
    """Check the arguments of `estimate_mean` and describe what they hold."""
    raw = as_scores(scores)
    checked = None if weights is None else as_prompt_weights(weights, len(raw))
    groups = None if clusters is None else as_clusters(clusters, len(raw))
    zero_one = is_binary(raw, binary, n_draws)
    if checked is not None and checked.min() == 0:
        kept = checked > 0
        some = None if groups is None else groups.codes[kept]
        rest = build_sample(raw[kept], some, checked[kept], link, bounds, zero_one, None)
        return replace(rest, n_weightless=int(np.count_nonzero(~kept)))
    shares = None if checked is None or is_constant(checked) else checked / checked.mean()
    values, limits = linearise(raw, checked), finite_bounds(bounds)
    if link.name != "identity":
        return describe(values, groups, shares=shares)
    if limits is not None:
        check_within(raw, limits)
    elif zero_one:
        limits = (0.0, 1.0)
    described = describe(values, groups, zero_one and shares is None, limits, shares)
    return replace(described, zero_one=zero_one)
