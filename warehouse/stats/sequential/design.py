"""What is fixed before a sequential test begins (statistics.md §11)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Bounds, FloatArray, as_scores, check_within, finite_bounds
from warehouse.stats.intervals.betting import Bets

#: Bettors bet for these shares of the largest number of prompts; no stake above this share of ruin.
HORIZONS, CAP = (0.5, 0.125), 0.5


@dataclass(frozen=True, eq=False)
class SequentialDesign:
    """A sequential test of the mean θ of values y_t that come one at a time in a fixed order.

    Made by `design_against_baseline`, `design_two_models` or `design_one_model`.

    Attributes:
        n_max: the most prompts that are used.
        alpha: chance of a wrong verdict, both sides together, in (0, 1).
        reference: θ_0; pass says θ > θ_0, fail says θ < θ_0.
        low: smallest possible y.
        high: largest possible y.
        width: R of the metric, b − a; for differences half of ``high - low``.
        population: N, prompts of the full benchmark, of which those asked are drawn without
            replacement; None where prompts are a sample of a wider population.
        predictions: f_t in the order of the prompts, shape (N,), or (1,) for all alike.
        origin: what is subtracted from θ to show it: θ_B for differences from a stored baseline.
    """

    n_max: int
    alpha: float
    reference: float
    low: float
    high: float
    width: float
    population: int | None
    predictions: FloatArray
    origin: float = 0.0

    @property
    def limit(self) -> float:
        """ln(2/α), the log capital that decides."""
        return math.log(2 / self.alpha)

    @property
    def bets(self) -> Bets:
        """How the two bettors of a side bet."""
        return Bets(tuple(self.n_max * share for share in HORIZONS), CAP, self.alpha)

    @property
    def z_range(self) -> tuple[float, float]:
        """Smallest and largest z = y − f."""
        return self.low - float(self.predictions.max()), self.high - float(self.predictions.min())

    @property
    def spread(self) -> float:
        """R²/4, from which the variance of z starts."""
        return self.width**2 / 4

    @cached_property
    def left(self) -> FloatArray:
        """N − t + 1, prompts not drawn before the t-th, t = 1 … n_max; infinite without N."""
        if self.population is None:
            return np.full(self.n_max, math.inf)
        return self.population - np.arange(self.n_max, dtype=np.float64)

    @cached_property
    def slope(self) -> FloatArray:
        """N/(N − t + 1), by which m_t(θ) grows with θ."""
        return np.ones(self.n_max) if self.population is None else self.population / self.left

    @cached_property
    def forecast(self) -> FloatArray:
        """f_t, t = 1 … n_max."""
        return np.broadcast_to(self.predictions, max(self.n_max, len(self.predictions)))[: self.n_max]

    @cached_property
    def forecast_left(self) -> FloatArray:
        """Mean f of the prompts not drawn before the t-th."""
        if len(self.predictions) == 1 or self.population is None:
            return np.full(self.n_max, self.predictions[0])
        totals = np.cumsum(self.predictions[::-1])[::-1]
        return np.asarray(totals[: self.n_max] / self.left, dtype=np.float64)

    def values(self, scores: ArrayLike) -> FloatArray:
        """Scores as an array of at most n_max values within the bounds, NaN where unscorable.

        Raises:
            StatisticsError: infinite, or outside the bounds.
        """
        y = np.atleast_1d(np.asarray(scores, dtype=np.float64))
        known = y[~np.isnan(y)]
        if np.isinf(known).any():
            raise StatisticsError("a score is infinite; an unscorable prompt is NaN")
        room = 1e-9 * (self.high - self.low)
        if len(known) and (known.min() < self.low - room or known.max() > self.high + room):
            worst = known[np.argmax(np.maximum(self.low - known, known - self.high))]
            raise StatisticsError(f"values lie in [{self.low:g}, {self.high:g}], found {worst:g}")
        return np.clip(y[: self.n_max], self.low, self.high)


def design_against_baseline(
    baseline: ArrayLike,
    margin: float,
    *,
    n_max: int | None = None,
    bounds: Bounds = (0.0, 1.0),
    predictions: ArrayLike | None = None,
    alpha: float = 0.05,
) -> SequentialDesign:
    """Is a candidate worse than a stored baseline by more than a margin, on the full benchmark?

    Args:
        baseline: its score of every prompt, in the order of the test, higher is better, shape (N,).
        margin: M, loss that is tolerated, from 0, below the width of the bounds.
        n_max: the most prompts to ask, at most N; None: N.
        bounds: smallest and largest possible score.
        predictions: f_t of each prompt within the bounds, shape (N,); None: the baseline's scores.
        alpha: chance of a wrong verdict, both sides together: each at most alpha/2.

    Raises:
        StatisticsError: for arguments out of range or not finite.
    """
    scores = as_scores(baseline, "baseline")
    limits = _bounds(bounds)
    check_within(scores, limits)
    f = scores if predictions is None else as_scores(predictions, "predictions")
    if len(f) != len(scores):
        raise StatisticsError(f"`predictions` must be one for each of {len(scores)} prompts, found {len(f)}")
    mean = float(scores.mean())
    return _design(mean - _margin(margin, limits), limits, n_max, len(scores), alpha, f, origin=mean)


def design_two_models(
    margin: float, *, n_max: int, bounds: Bounds = (0.0, 1.0), population: int | None = None, alpha: float = 0.05
) -> SequentialDesign:
    """Is one model worse than another by more than a margin, both asked prompt by prompt?

    The values are differences, candidate less baseline, in [−R, R].

    Args:
        margin: M, loss that is tolerated, from 0, below the width of the bounds.
        n_max: the most prompts to ask.
        bounds: smallest and largest possible score of either.
        population: N, prompts of the full benchmark; None: prompts are a sample of more.
        alpha: chance of a wrong verdict, both sides together.

    Raises:
        StatisticsError: for arguments out of range or not finite.
    """
    low, high = _bounds(bounds)
    width = high - low
    design = _design(-_margin(margin, (low, high)), (-width, width), n_max, population, alpha, np.zeros(1))
    return SequentialDesign(**{**design.__dict__, "width": width})


def design_one_model(
    reference: float,
    *,
    n_max: int,
    bounds: Bounds = (0.0, 1.0),
    population: int | None = None,
    predictions: ArrayLike | None = None,
    alpha: float = 0.05,
) -> SequentialDesign:
    """Is the mean score of one model above a reference?

    Args:
        reference: θ_0, within the bounds.
        n_max: the most prompts to ask.
        bounds: smallest and largest possible score.
        population: N, prompts of the full benchmark; None: prompts are a sample of more.
        predictions: f_t of each prompt of the benchmark in order, shape (N,), with a population
            only; None: the middle of the bounds.
        alpha: chance of a wrong verdict, both sides together.

    Raises:
        StatisticsError: for arguments out of range or not finite.
    """
    low, high = _bounds(bounds)
    if not low <= reference <= high:
        raise StatisticsError(f"`reference` must lie in [{low:g}, {high:g}], found {reference:g}")
    f = np.array([(low + high) / 2]) if predictions is None else as_scores(predictions, "predictions")
    if predictions is not None and len(f) != population:
        raise StatisticsError(f"`predictions` must be one for each prompt of the population, found {len(f)}")
    return _design(reference, (low, high), n_max, population, alpha, f)


def _design(
    reference: float,
    limits: tuple[float, float],
    n_max: int | None,
    population: int | None,
    alpha: float,
    predictions: FloatArray,
    *,
    origin: float = 0.0,
) -> SequentialDesign:
    low, high = limits
    if population is not None and population < 1:
        raise StatisticsError(f"`population` must be at least 1 prompt, found {population}")
    most = population if n_max is None else n_max
    if most is None or isinstance(most, bool) or int(most) != most or most < 1:
        raise StatisticsError(f"`n_max` must be a whole number of at least 1, found {n_max}")
    if population is not None and most > population:
        raise StatisticsError(f"`n_max` is {most}, but the benchmark has {population} prompts; give at most these")
    if not 0 < alpha < 1:
        raise StatisticsError(f"`alpha` must lie between 0 and 1 (such as 0.05), found {alpha}")
    if len(predictions) > 1:
        check_within(predictions, limits)
    return SequentialDesign(int(most), float(alpha), reference, low, high, high - low, population, predictions, origin)


def _bounds(bounds: Bounds) -> tuple[float, float]:
    limits = finite_bounds(bounds)
    if limits is None:
        raise StatisticsError(f"a sequential test needs scores with bounds, found {bounds}")
    return limits


def _margin(margin: float, limits: tuple[float, float]) -> float:
    width = limits[1] - limits[0]
    if not 0 <= margin < width:
        raise StatisticsError(
            f"`margin` must be at least 0 and below the width {width:g} of the scores, found {margin}"
        )
    return float(margin)
