"""Gaffke's interval for the mean of bounded scores (Gaffke 2005; Learned-Miller and
Thomas 2020).

The mean of n scores in [a, b] is bounded from below by the α/2 quantile of Σ D_i x_i +
D_{n+1} a, with D uniform on the simplex, that is Dirichlet(1, …, 1): each score gets a
random weight, and the worst possible score gets one as well. The upper end is its
mirror image.

P(Σ D_i x_i ≤ t) is P(Σ E_i (x_i − t) ≤ 0) for independent exponential E_i, a contour
integral of Π 1/(1 + (x_i − t) s) / s. It is taken through the saddle point, where the
integrand falls off fastest, and the product is computed once for all t: with s = w/(1 +
δw) the integrand at t + δ is the one at t times (1 + δw)^n. So the root costs one
product (a few where the start is poor).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_level,
    as_scores,
    check_within,
)
from warehouse.stats.core.inputs import finite_bounds as finite
from warehouse.stats.core.results import Interval
from warehouse.stats.core.sample import Sample

METHOD = "gaffke"
_STEP = 0.125  # of the trapezoid rule in ξ, where v = ρ sinh ξ
_NEGLIGIBLE = 42.0  # in logs: the integrand is cut where it is e^-42 of its peak
_CHUNK = 32  # factors that are multiplied before a logarithm is taken
_LOG_COST = 20  # one complex logarithm costs about as much as so many products
_START_CLOSE = 0.02  # of the start, in standard errors
_ROUNDS, _NEWTON = 8, 12
# Of an end of a weighted mean: trials, bisections among them, and how close log p
# comes.
_TRIALS, _HALVED, _CLOSE_P, _LEAST_P = 60, 3, 1e-9, 1e-300
# How far, in n·δ·c, a root may lie from the point that its product was made for. With
# few points the integrand falls off slowly, and a shift makes it fall off slower still.
_NEAR, _NEAR_FEW, _FEW = 0.25, 1e-6, 16

Complex = NDArray[np.complex128]


class _Points(NamedTuple):
    """Distinct points with how often each occurs, and all of them, in units of the
    bounds."""

    values: FloatArray
    counts: FloatArray
    points: FloatArray

    @property
    def n(self) -> int:
        """Number of points, the worst possible score included."""
        return len(self.points)


class _Trial(NamedTuple):
    """A value t of the mean that is tried, and the real number c > 0 that the contour
    goes through."""

    t: float
    c: float


def interval_gaffke(
    scores: ArrayLike, *, bounds: Bounds = (0.0, 1.0), level: float = 0.95
) -> Interval:
    """Gaffke's interval for the mean of independent scores with bounds.

    On 0/1 scores it is Clopper–Pearson's. No general proof of its coverage is known,
    and no counterexample; `interval_betting` is the proved one, and wider. Coverage:
    docs/reference/calibration.md.

    Args:
        scores: mean score of each prompt, within ``bounds``, shape (n,).
        bounds: smallest and largest possible score, both finite.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: for arguments out of range or not finite.

    Examples:
        >>> print(interval_gaffke([0.1, 0.4, 0, 0.9, 0.3]))
        [0.0944, 0.7436]
    """
    values, limits = as_scores(scores), finite(bounds)
    if limits is None:
        raise StatisticsError(f"`bounds` must both be finite, found {bounds}")
    check_within(values, limits)
    return gaffke_interval(values, limits, as_level(level))


def gaffke(sample: Sample, level: float) -> Interval:
    """`interval_gaffke` of a described sample with bounds."""
    return gaffke_interval(sample.values, sample.bounds or (0.0, 1.0), level)


def gaffke_interval(
    values: FloatArray, bounds: tuple[float, float], level: float
) -> Interval:
    """`interval_gaffke` of checked scores."""
    low, width = bounds[0], bounds[1] - bounds[0]
    unit = np.clip((values - low) / width, 0.0, 1.0)
    tail = (1 - level) / 2
    lower = _lower_end(unit, tail)
    upper = 1 - _lower_end(1 - unit, tail)
    return Interval(low + width * lower, low + width * upper, level, METHOD)


def gaffke_weighted(sample: Sample, level: float) -> Interval | None:
    """The same of a weighted mean: exponential weights times those of the units
    (prompts, or clusters), and one further unit of weight Σ W²/Σ W at the worst
    possible score (statistics.md §1e a). None where scores are all equal, as of other
    weighted means.

    Args:
        sample: with weights and bounds; two units at least.
        level: nominal coverage, in (0, 1).
    """
    if sample.shares is None or sample.bounds is None or not sample.se:
        return None
    weights, totals = sample.shares, sample.totals
    if sample.clusters is not None:
        weights = sample.clusters.sums(sample.shares)
    low, width = sample.bounds[0], sample.bounds[1] - sample.bounds[0]
    mean = (sample.mean - low) / width
    off_mean = totals / np.where(weights > 0, weights, 1) / width
    means = np.clip(mean + off_mean, 0.0, 1.0)
    tail = (1 - level) / 2
    lower = _weighted_end(means, weights, tail)
    upper = 1 - _weighted_end(1 - means, weights, tail)
    return Interval(low + width * lower, low + width * upper, level, "gaffke_weighted")


def _weighted_end(means: FloatArray, weights: FloatArray, tail: float) -> float:
    """The ``tail`` quantile of Σ E W m/(Σ E W + E_0 W_0), E exponential, W_0 = Σ W²/Σ
    W."""
    extra = float(weights @ weights / weights.sum())
    centre = float(weights @ means / weights.sum())
    if centre <= 0:
        return 0.0

    def excess(t: float) -> float:
        points = np.append(weights * (means - t), -extra * t)
        p = p_at_most_zero(points)
        return math.log(max(p, _LEAST_P) / tail)

    return _root_below(excess, centre, math.log(_LEAST_P / tail))


def _root_below(
    excess: Callable[[float], float], centre: float, at_zero: float
) -> float:
    """Where an increasing function on [0, centre] is 0: false position where the value
    of an end that stays is halved (Illinois), after some bisections."""
    least, most = 0.0, centre
    below, above, kept = at_zero, excess(centre), ""
    for step in range(_TRIALS):
        if step < _HALVED:
            t = (least + most) / 2
        else:
            t = least - below * (most - least) / (above - below)
        found = excess(t)
        if abs(found) < _CLOSE_P or most - least < _CLOSE_P * centre:
            return t
        if found < 0:
            if kept == "most":
                above = above / 2
            least, below, kept = t, found, "most"
        else:
            if kept == "least":
                below = below / 2
            most, above, kept = t, found, "least"
    return least


def p_at_most_zero(points: FloatArray) -> float:
    """P(Σ D_i x_i ≤ 0) for D uniform on the simplex: p of a mean above 0, the worst
    possible value being a point."""
    values, counts = np.unique(points, return_counts=True)
    least, most = float(values[0]), float(values[-1])
    if least >= 0 or most <= 0:
        return float(most <= 0)
    distinct = _Points(values, counts.astype(np.float64), points)
    saddle = _saddle_point(values, counts)
    _, weights = _contour(distinct, _Trial(0.0, saddle))
    return min(1.0, max(0.0, float(weights.real.sum())))


def _saddle_point(values: FloatArray, counts: NDArray[np.intp]) -> float:
    """The root of a decreasing function, between 0 and where the least point's factor
    is 0."""
    low, high = 0.0, -1 / float(values[0])
    for _ in range(60):
        c = (low + high) / 2
        slope = 1 / c + float(counts @ (values / (1 + values * c)))
        if slope > 0:
            low = c
        else:
            high = c
    return low


def _lower_end(unit: FloatArray, tail: float) -> float:
    """The ``tail`` quantile of Σ D_i x_i + D_{n+1}·0 for x in [0, 1]."""
    n, least, most = len(unit), float(unit.min()), float(unit.max())
    if most - least <= 1e-14 * most:  # then 1 − D_{n+1} ~ Beta(n, 1)
        return most * math.exp(math.log(tail) / n)
    scaled = np.append(unit / most, 0.0)  # the end scales with the scores
    values, counts = np.unique(scaled, return_counts=True)
    points = _Points(values, counts.astype(np.float64), scaled)
    trial = _start(points, float(-special.ndtri(tail)))
    allowed = _NEAR
    if points.n <= _FEW:
        allowed = _NEAR_FEW
    for _ in range(_ROUNDS):
        step = _refine(points, trial, tail)
        near = abs(step) * trial.c * points.n < allowed
        trial = _moved(points, trial, step)
        if near:
            break
    return most * trial.t


def _moved(points: _Points, trial: _Trial, step: float) -> _Trial:
    """``place`` at t + step, kept between the smallest and the largest point."""
    least, most = float(points.values[0]), float(points.values[-1])
    lowest, highest = (trial.t + least) / 2, (trial.t + most) / 2
    t = min(max(trial.t + step, lowest), highest)
    return _Trial(t, trial.c / (1 + (t - trial.t) * trial.c))


def _start(points: _Points, z: float) -> _Trial:
    """Where the saddle point approximation (Lugannani and Rice 1980) has its quantile.

    With M(w) the mean of 1/(1 + y w), y = x − x̄, the saddle point of t = x̄ + (1 −
    M)/(w M) is c = w M: a quantile is a root in w alone, between 0 and 1/(x̄ − min).
    """
    values, counts, n = points.values, points.counts, points.n
    centre = float(values @ counts) / n
    y = values - centre

    def excess(w: float) -> float:
        inverse = 1 / (1 + y * w)
        mean = float(inverse @ counts) / n
        logs = float(np.log(inverse * (1 / mean)) @ counts)
        root = math.sqrt(max(1e-300, -2 * logs))
        spread = math.sqrt(float((1 - inverse / mean) ** 2 @ counts))
        return root + math.log(spread / root) / root - z

    most = 1 / -float(y[0])
    normal = z / math.sqrt(float(y * y @ counts))
    w = _crossing(excess, min(0.9 * most, normal), most, -z)
    mean = float((1 / (1 + y * w)) @ counts) / n
    return _Trial(centre + (1 - mean) / (w * mean), w * mean)


def _crossing(
    excess: Callable[[float], float], guess: float, most: float, at_low: float
) -> float:
    """Where an increasing function on (0, most) is about 0: regula falsi, Illinois'
    rule."""
    low, high, w, at_high = 0.0, most, guess, math.inf
    for _ in range(60):
        value = excess(w)
        if abs(value) < _START_CLOSE or high - low < 1e-9 * most:
            break
        if value > 0:
            high, at_high, at_low = w, value, at_low / 2
        else:
            low, at_low, at_high = w, value, at_high / 2
        if math.isinf(at_high):
            share = 0.5
        else:
            share = -at_low / (at_high - at_low)
        w = low + (high - low) * min(0.95, max(0.05, share))
    return w


def _refine(points: _Points, trial: _Trial, tail: float) -> float:
    """δ such that P(Σ D_i x_i ≤ t + δ) is ``tail``: Newton's method on its logarithm."""
    s, weights = _contour(points, trial)
    delta, power = 0.0, points.n - 1
    for _ in range(_NEWTON):
        factor = np.exp(power * np.log1p(delta * s)) * weights
        value = float(factor.real.sum())
        slope = power * float((factor * s / (1 + delta * s)).real.sum())
        if not (value > 0 and slope > 0):
            return delta
        step = value / slope * math.log(tail / value)
        delta += step
        settled = abs(step) * trial.c * power < 1e-8
        too_far = abs(delta) * trial.c * points.n > _NEAR
        if settled or too_far:
            break
    return delta


def _contour(points: _Points, trial: _Trial) -> tuple[Complex, Complex]:
    """Nodes s on the contour and weights whose real parts add up to P(Σ D_i x_i ≤ t)."""
    a = points.values - trial.t
    c = trial.c
    scale = min(c, 1 / -float(a[0]) - c)
    last = _last_node(a, points.counts, c, scale)
    step = _STEP
    s, weights = _nodes(points, trial, scale, last, step)
    for _ in range(4):
        fine = weights.real
        whole, half = float(fine.sum()), 2 * float(fine[::2].sum())
        # then the finer sum is right to its square
        if abs(whole - half) <= 1e-7 * abs(whole):
            break
        step /= 2
        s, weights = _nodes(points, trial, scale, last, step)
    return s, weights


def _nodes(
    points: _Points, trial: _Trial, scale: float, last: float, step: float
) -> tuple[Complex, Complex]:
    xi = np.arange(0.0, last + step, step)
    s = trial.c + 1j * scale * np.sinh(xi)
    weights = np.exp(-_log_product(points, trial.t, s)) / s
    weights *= scale * np.cosh(xi) * (step / math.pi)
    weights[0] /= 2
    return s, weights


def _last_node(a: FloatArray, counts: FloatArray, c: float, scale: float) -> float:
    """ξ from which on the integrand is negligible."""
    real = 1 + a * c
    ratio = (a * scale / real) ** 2
    xi = 2.0
    while xi < 60:
        fallen = 0.5 * float(np.log1p(ratio * math.sinh(xi) ** 2) @ counts)
        if fallen > _NEGLIGIBLE:
            break
        if xi < 4:
            xi += 0.25
        else:
            xi += 1.0
    return xi


def _log_product(points: _Points, t: float, s: Complex) -> Complex:
    """Σ log(1 + (x_i − t) s) at each s, the fewer logarithms the better; shape of
    ``s``."""
    if len(points.values) * _LOG_COST < points.n:
        logs = np.log(1 + np.multiply.outer(points.values - t, s))
        grouped: Complex = points.counts @ logs
        return grouped
    total = np.zeros(len(s), dtype=np.complex128)
    block = _CHUNK * 64
    for start in range(0, points.n, block):
        some = points.points[start : start + block]
        factors = 1 + np.multiply.outer(some - t, s)
        edges = np.arange(0, len(factors), _CHUNK)
        total += np.log(np.multiply.reduceat(factors, edges, axis=0)).sum(axis=0)
    return total
