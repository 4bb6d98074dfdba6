"""Ratio metrics and their links: Σwv/Σw turned into the reported figure, by the delta method.

A metric such as word perplexity stores an additive value per prompt (nats per word) and a
weight (words); the figure is ``link(Σ w v / Σ w)``. `linearise` gives one number per prompt
whose plain mean is that ratio and whose plain standard error is the ratio's linearised one, so
that everything written for means (clusters, pairs) holds for ratios as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, is_constant
from warehouse.stats.core.moments import mean_of
from warehouse.stats.core.results import Interval


@dataclass(frozen=True)
class Link:
    """A monotone function from the mean (or ratio) to the reported figure.

    Attributes:
        name: as stored with the metric.
        value: figure for a ratio.
        slope: derivative of ``value``.
    """

    name: str
    value: Callable[[float], float]
    slope: Callable[[float], float]


LINKS: dict[str, Link] = {
    link.name: link
    for link in (
        Link("identity", lambda r: r, lambda r: 1.0),
        Link("exp_neg", lambda r: math.exp(-r), lambda r: -math.exp(-r)),
        Link("neg_over_ln2", lambda r: -r / math.log(2), lambda r: -1 / math.log(2)),
    )
}


def find_link(name: str) -> Link:
    """The link called ``name``.

    Raises:
        StatisticsError: for another name; ``none`` (no figure is defined) among them.
    """
    if name not in LINKS:
        raise StatisticsError(
            f"unknown `link` {name!r}, expected one of {', '.join(LINKS)}; a metric whose link is"
            " 'none' has no mean: report what its source published"
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


def linearise_figure(scores: FloatArray, weights: FloatArray | None, link: Link) -> FloatArray:
    """Values whose mean is the reported figure link(R), deviations link'(R)·w(v − R)/w̄.

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
