"""The checked scores of one run with the figures that every interval and error draws
on, ratios by their links.

A metric such as word perplexity stores an additive value per prompt (nats per word) and
a weight (words); the figure is ``link(Σ w v / Σ w)``. `linearise` gives one number per
prompt whose plain mean is that ratio and whose plain standard error is the ratio's
linearised one, so that everything written for means (clusters, pairs) holds for ratios
as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

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
    check_within,
    finite_bounds,
    is_binary,
    is_constant,
)
from warehouse.stats.core.moments import clt_error, deviations, mean_of
from warehouse.stats.core.results import Interval
from warehouse.stats.intervals.standard_errors import (
    ClusterRobust,
    UnitWeights,
    cluster_sums,
    robust_errors,
    unit_weights,
)


@dataclass(frozen=True)
class Sample:
    """Scores of one run, on the scale before the link."""

    #: linearised scores; their mean is the mean or ratio, shape (n,).
    values: FloatArray
    mean: float  #: mean of ``values``.
    clusters: Clusters | None  #: cluster numbers, or None.
    binary: bool  #: 0/1 scores, one draw per prompt, no weights, no link.
    bounds: tuple[float, float] | None  #: finite bounds of the scores, or None.
    #: error of the mean as if prompts were independent (HC2 where weighted); None at n
    #: = 1.
    se_clt: float | None
    #: cluster-robust errors; None without clusters or with a single one.
    robust: ClusterRobust | None
    #: weight of each prompt over the mean weight, shape (n,); None where the figure is
    #: a plain mean.
    shares: FloatArray | None = None
    #: what these say of the error, by unit; None where the figure is a plain mean.
    weights: UnitWeights | None = None
    #: 0/1 scores, one draw per prompt, weighted or not; no link.
    zero_one: bool = False
    n_weightless: int = 0  #: prompts of weight 0 that were left out.

    @property
    def n(self) -> int:
        """Number of prompts n."""
        return len(self.values)

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters G, None without."""
        if self.clusters is None:
            return None
        return self.clusters.n

    @property
    def se(self) -> float | None:
        """Headline error: CR2 with clusters, CLT without; 0 where the formula gives 0."""
        if self.clusters is None:
            return self.se_clt
        if self.robust is None:
            return None
        return self.robust.se_cr2

    @property
    def df(self) -> float | None:
        """Degrees of freedom of the headline error: n − 1, or Satterthwaite's."""
        if self.weights is not None:
            return self.weights.degrees_of_freedom
        if self.clusters is None:
            if self.n > 1:
                return self.n - 1
            return None
        if self.robust is None:
            return None
        return self.robust.degrees_of_freedom

    @property
    def totals(self) -> FloatArray:
        """Deviations from the mean summed over each unit: cluster, or prompt without
        clusters."""
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
    if shares is None:
        return plain
    return _weighted(plain, shares, centred)


def _weighted(sample: Sample, shares: FloatArray, centred: FloatArray) -> Sample:
    """With the errors of a weighted mean in the place of those of its linearised
    scores."""
    alone = unit_weights(shares)
    error = None
    if sample.n > 1:
        error = float(np.linalg.norm(alone.pulls(centred / sample.n)))
    if sample.clusters is None:
        units = alone
    else:
        units = unit_weights(shares, sample.clusters)
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
    if weights is None:
        checked = None
    else:
        checked = as_prompt_weights(weights, len(raw))
    if clusters is None:
        groups = None
    else:
        groups = as_clusters(clusters, len(raw))
    zero_one = is_binary(raw, binary, n_draws)
    if checked is not None and checked.min() == 0:
        has_weight = checked > 0
        some = None if groups is None else groups.codes[has_weight]
        rest = build_sample(
            raw[has_weight], some, checked[has_weight], link, bounds, zero_one, None
        )
        return replace(rest, n_weightless=int(np.count_nonzero(~has_weight)))
    if checked is None or is_constant(checked):
        shares = None
    else:
        shares = checked / checked.mean()
    values, limits = linearise(raw, checked), finite_bounds(bounds)
    if link.name != "identity":
        return describe(values, groups, shares=shares)
    if limits is not None:
        check_within(raw, limits)
    elif zero_one:
        limits = (0.0, 1.0)
    described = describe(values, groups, zero_one and shares is None, limits, shares)
    return replace(described, zero_one=zero_one)


@dataclass(frozen=True)
class Link:
    """A monotone function from the mean (or ratio) to the reported figure."""

    name: str  #: as stored with the metric.
    value: Callable[[float], float]  #: figure for a ratio.
    slope: Callable[[float], float]  #: derivative of ``value``.


LINKS: dict[str, Link] = {
    link.name: link
    for link in (
        Link("identity", lambda r: r, lambda r: 1.0),
        Link("exp_neg", lambda r: math.exp(-r), lambda r: -math.exp(-r)),
        Link("neg_over_ln2", lambda r: -r / math.log(2), lambda r: -1 / math.log(2)),
    )
}


def find_link(name: str) -> Link:
    """The link called ``name`` (StatisticsError: for another name; ``none`` (no figure
    is defined) among them)."""
    if name not in LINKS:
        raise StatisticsError(
            f"unknown `link` {name!r}, expected one of {', '.join(LINKS)}; a metric "
            "whose link is 'none' has no mean: report what its source published"
        )
    return LINKS[name]


def linked(link: Link, ratio: float) -> float:
    """The reported figure of a ratio.

    Raises:
        StatisticsError: where it is too large for a floating-point number.
    """
    try:
        return link.value(ratio)
    except OverflowError:
        raise StatisticsError(f"link {link.name!r} overflows at {ratio}") from None


def linearise(scores: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Values whose mean is R = Σwv/Σw and whose deviations are w(v − R)/w̄.

    Their standard error (CLT or cluster-robust) is the delta-method error of the ratio
    (Taylor linearisation). Without weights, or with equal ones, the scores themselves.

    Args:
        scores: value per prompt, shape (n,).
        weights: weight per prompt above 0, shape (n,), or None.
    """
    if weights is None or is_constant(weights) or is_constant(scores):
        return scores
    share = weights / weights.mean()
    ratio = float(np.mean(share * scores))
    values: FloatArray = ratio + share * (scores - ratio)
    return values


def linearise_figure(
    scores: FloatArray, weights: FloatArray | None, link: Link
) -> FloatArray:
    """Values whose mean is the reported figure link(R), deviations link'(R)·w(v −
    R)/w̄.

    Args:
        scores: value per prompt, shape (n,).
        weights: weight per prompt above 0, shape (n,), or None.
        link: of the metric.
    """
    values = linearise(scores, weights)
    if link.name == "identity":
        return values
    ratio = mean_of(values)
    return linked(link, ratio) + link.slope(ratio) * (values - ratio)


def linked_interval(link: Link, interval: Interval | None) -> Interval | None:
    """The interval of the figure: both ends through the link, sorted.

    None for None, and where an end is too large for a floating-point number.
    """
    if interval is None:
        return None
    try:
        low, high = sorted((link.value(interval.low), link.value(interval.high)))
    except OverflowError:
        return None
    return replace(interval, low=low, high=high)


#: Edges from which on scipy, which takes a quarter of a second of processor time to
#: load, is quicker.
_MANY = 100_000


def components(
    ends: NDArray[np.intp], others: NDArray[np.intp], n_nodes: int
) -> NDArray[np.intp]:
    """The component of each node, counted in the order of their first nodes, shape
    (n_nodes,).

    Args:
        ends: one end of each edge, shape (m,).
        others: its other end, shape (m,).
        n_nodes: nodes, those without an edge too.
    """
    if len(ends) > _MANY:
        return _by_scipy(ends, others, n_nodes)
    first = np.arange(n_nodes)  # of its component, as far as is known
    while True:
        reached = first.copy()
        least = np.minimum(first[ends], first[others])
        np.minimum.at(reached, first[ends], least)
        np.minimum.at(reached, first[others], least)
        while not np.array_equal(further := reached[reached], reached):
            reached = further
        if np.array_equal(reached, first):
            return distinct(first)[1]
        first = reached


def _by_scipy(
    ends: NDArray[np.intp], others: NDArray[np.intp], n_nodes: int
) -> NDArray[np.intp]:
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    edges = csr_matrix((np.ones(len(ends)), (ends, others)), (n_nodes, n_nodes))
    labels: NDArray[np.intp] = connected_components(edges, directed=False)[1].astype(
        np.intp
    )
    return labels


def distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """`np.unique` of whole numbers, with its places: by a table where they lie close
    together, as ids do."""
    low = int(values.min(initial=0))
    width = int(values.max(initial=0)) - low + 1
    if width > 8 * len(values):
        return np.unique(values, return_inverse=True)
    is_there = np.zeros(width, bool)
    is_there[values - low] = True
    return np.flatnonzero(is_there) + low, (np.cumsum(is_there) - 1)[values - low]
