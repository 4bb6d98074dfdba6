"""What is fixed before a sequential test begins, the order of prompts, and the capital
of its bettors (statistics.md §11)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_scores,
    as_seed,
    check_within,
    finite_bounds,
)
from warehouse.stats.intervals.betting import Bets, Game, bet_sizes, capital_paths

#: Bettors bet for these shares of the largest number of prompts; no stake above this
#: share of ruin.
HORIZONS, CAP = (0.5, 0.125), 0.5


@dataclass(frozen=True, eq=False)
class SequentialDesign:
    """A sequential test of the mean θ of values y_t that come one at a time in a fixed
    order.

    Made by `design_against_baseline`, `design_two_models` or `design_one_model`.
    """

    n_max: int  #: the most prompts that are used.
    alpha: float  #: chance of a wrong verdict, both sides together, in (0, 1).
    reference: float  #: θ_0; pass says θ > θ_0, fail says θ < θ_0.
    low: float  #: smallest possible y.
    high: float  #: largest possible y.
    width: float  #: R of the metric, b − a; for differences half of ``high - low``.
    #: N, prompts of the full benchmark, of which those asked are drawn without
    #: replacement; None where prompts are a sample of a wider population.
    population: int | None
    predictions: FloatArray  #: f_t in the order of the prompts, shape (N,), or (1,) for all alike.
    origin: float = 0.0  #: what is subtracted from θ to show it: θ_B for differences from a stored baseline.

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
        return self.low - float(self.predictions.max()), self.high - float(
            self.predictions.min()
        )

    @property
    def spread(self) -> float:
        """R²/4, from which the variance of z starts."""
        return self.width**2 / 4

    @cached_property
    def left(self) -> FloatArray:
        """N − t + 1, prompts not drawn before the t-th, t = 1 … n_max; infinite without
        N."""
        if self.population is None:
            return np.full(self.n_max, math.inf)
        return self.population - np.arange(self.n_max, dtype=np.float64)

    @cached_property
    def slope(self) -> FloatArray:
        """N/(N − t + 1), by which m_t(θ) grows with θ."""
        if self.population is None:
            return np.ones(self.n_max)
        return self.population / self.left

    @cached_property
    def forecast(self) -> FloatArray:
        """f_t, t = 1 … n_max."""
        return np.broadcast_to(
            self.predictions, max(self.n_max, len(self.predictions))
        )[: self.n_max]

    @cached_property
    def forecast_left(self) -> FloatArray:
        """Mean f of the prompts not drawn before the t-th."""
        if len(self.predictions) == 1 or self.population is None:
            return np.full(self.n_max, self.predictions[0])
        totals = np.cumsum(self.predictions[::-1])[::-1]
        return np.asarray(totals[: self.n_max] / self.left, dtype=np.float64)

    def values(self, scores: ArrayLike) -> FloatArray:
        """Scores as an array of at most n_max values within the bounds, NaN where
        unscorable.

        Raises:
            StatisticsError: infinite, or outside the bounds.
        """
        y = np.atleast_1d(np.asarray(scores, dtype=np.float64))
        scored = y[~np.isnan(y)]
        if np.isinf(scored).any():
            raise StatisticsError("a score is infinite; an unscorable prompt is NaN")
        tolerance = 1e-9 * (self.high - self.low)
        if len(scored) and (
            scored.min() < self.low - tolerance or scored.max() > self.high + tolerance
        ):
            worst = scored[np.argmax(np.maximum(self.low - scored, scored - self.high))]
            raise StatisticsError(
                f"values lie in [{self.low:g}, {self.high:g}], found {worst:g}"
            )
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
    """Is a candidate worse than a stored baseline by more than a margin, on the full
    benchmark?

    Args:
        baseline: its score of every prompt, in the order of the test, higher is better,
            shape (N,).
        margin: M, loss that is tolerated, from 0, below the width of the bounds.
        n_max: the most prompts to ask, at most N; None: N.
        bounds: smallest and largest possible score.
        predictions: f_t of each prompt within the bounds, shape (N,); None: the
            baseline's scores.
        alpha: chance of a wrong verdict, both sides together: each at most alpha/2.

    Raises:
        StatisticsError: for arguments out of range or not finite.
    """
    scores = as_scores(baseline, "baseline")
    limits = _bounds(bounds)
    check_within(scores, limits)
    f = scores if predictions is None else as_scores(predictions, "predictions")
    if len(f) != len(scores):
        raise StatisticsError(
            f"`predictions` must be one for each of {len(scores)} prompts, found "
            f"{len(f)}"
        )
    mean = float(scores.mean())
    return _design(
        mean - _margin(margin, limits),
        limits,
        n_max,
        len(scores),
        alpha,
        f,
        origin=mean,
    )


def design_two_models(
    margin: float,
    *,
    n_max: int,
    bounds: Bounds = (0.0, 1.0),
    population: int | None = None,
    alpha: float = 0.05,
) -> SequentialDesign:
    """Is one model worse than another by more than a margin, both asked prompt by
    prompt?

    The values are differences, candidate less baseline, in [−R, R].

    Args:
        margin: M, loss that is tolerated, from 0, below the width of the bounds.
        n_max: the most prompts to ask.
        bounds: smallest and largest possible score of either.
        population: N, prompts of the full benchmark; None: prompts are a sample of
            more.
        alpha: chance of a wrong verdict, both sides together.

    Raises:
        StatisticsError: for arguments out of range or not finite.
    """
    low, high = _bounds(bounds)
    width = high - low
    design = _design(
        -_margin(margin, (low, high)),
        (-width, width),
        n_max,
        population,
        alpha,
        np.zeros(1),
    )
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
        population: N, prompts of the full benchmark; None: prompts are a sample of
            more.
        predictions: f_t of each prompt of the benchmark in order, shape (N,), with a
            population only; None: the middle of the bounds.
        alpha: chance of a wrong verdict, both sides together.

    Raises:
        StatisticsError: for arguments out of range or not finite.
    """
    low, high = _bounds(bounds)
    if not low <= reference <= high:
        raise StatisticsError(
            f"`reference` must lie in [{low:g}, {high:g}], found {reference:g}"
        )
    if predictions is None:
        f = np.array([(low + high) / 2])
    else:
        f = as_scores(predictions, "predictions")
    if predictions is not None and len(f) != population:
        raise StatisticsError(
            "`predictions` must be one for each prompt of the population, found "
            f"{len(f)}"
        )
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
        raise StatisticsError(
            f"`population` must be at least 1 prompt, found {population}"
        )
    most = population if n_max is None else n_max
    if most is None or isinstance(most, bool) or int(most) != most or most < 1:
        raise StatisticsError(
            f"`n_max` must be a whole number of at least 1, found {n_max}"
        )
    if population is not None and most > population:
        raise StatisticsError(
            f"`n_max` is {most}, but the benchmark has {population} prompts; give at "
            "most these"
        )
    if not 0 < alpha < 1:
        raise StatisticsError(
            f"`alpha` must lie between 0 and 1 (such as 0.05), found {alpha}"
        )
    if len(predictions) > 1:
        check_within(predictions, limits)
    return SequentialDesign(
        int(most),
        float(alpha),
        reference,
        low,
        high,
        high - low,
        population,
        predictions,
        origin,
    )


def _bounds(bounds: Bounds) -> tuple[float, float]:
    limits = finite_bounds(bounds)
    if limits is None:
        raise StatisticsError(
            f"a sequential test needs scores with bounds, found {bounds}"
        )
    return limits


def _margin(margin: float, limits: tuple[float, float]) -> float:
    width = limits[1] - limits[0]
    if not 0 <= margin < width:
        raise StatisticsError(
            f"`margin` must be at least 0 and below the width {width:g} of the scores, "
            f"found {margin}"
        )
    return float(margin)


def sequential_order(ids: Sequence[str], seed: int = 0) -> NDArray[np.intp]:
    """The places of prompts in the order of SHA-256("order|seed|id") (statistics.md
    §11).

    The order depends on the ids and the seed alone, not on how the prompts are listed,
    so that whoever knows both can find it again.

    Args:
        ids: a text for each prompt, all different, shape (N,).
        seed: at least 0.

    Returns:
        indices into ``ids``, first to last, shape (N,).

    Raises:
        StatisticsError: two prompts with one id, or a seed out of range.

    Examples:
        >>> sequential_order(["a", "b", "c", "d"]).tolist()
        [2, 3, 1, 0]
    """
    start = as_seed(seed)
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if list(ids).count(name) > 1)
        raise StatisticsError(
            f"prompts need ids of their own to be ordered, found {twice!r} twice"
        )
    hashes = [
        hashlib.sha256(f"order|{start}|{name}".encode()).hexdigest() for name in ids
    ]
    return np.array(sorted(range(len(ids)), key=hashes.__getitem__), dtype=np.intp)


#: Room for rounding in what is still possible, as a share of the range.
ROUNDING = 1e-12
_HALVINGS, _CLOSE = 60, 1e-14


@dataclass(frozen=True, eq=False)
class BetSide:
    """One of the two hypotheses: +1 bets that θ is larger, −1 that it is smaller.

    An unscorable prompt counts the smallest possible value on side +1 and the largest
    on side −1.
    """

    sign: int
    design: SequentialDesign
    y: FloatArray
    game: Game
    stakes: FloatArray
    offset: FloatArray

    @classmethod
    def of(cls, sign: int, values: FloatArray, design: SequentialDesign) -> BetSide:
        """The side of checked values, NaN where unscorable."""
        y = np.where(np.isnan(values), design.low if sign > 0 else design.high, values)
        n = len(y)
        game = Game(y - design.forecast[:n], *design.z_range, design.spread)
        before = np.concatenate([[0.0], np.cumsum(y)[:-1]])
        offset = -before / design.left[:n] - design.forecast_left[:n]
        return cls(sign, design, y, game, bet_sizes(game, design.bets), offset)

    def path(self, theta: float) -> FloatArray:
        """ln K_t(θ) after each prompt, shape (n,)."""
        means = self.design.slope[: len(self.y)] * theta + self.offset
        return capital_paths(self.game, means, self.sign, self.design.bets, self.stakes)

    def possible(self) -> FloatArray:
        """The end of what θ can still be after each prompt, shape (n,): the lowest on
        side +1."""
        end = self.widest
        if self.design.population is None:
            return np.full(len(self.y), end)
        left = self.design.population - np.arange(1, len(self.y) + 1)
        return np.asarray(
            (np.cumsum(self.y) + left * end) / self.design.population, dtype=np.float64
        )

    def decides(self, theta: float) -> FloatArray:
        """Where this side has won against θ, by evidence or because θ is impossible,
        shape (n,)."""
        tolerance = ROUNDING * (self.design.high - self.design.low)
        beyond = self.sign * (self.possible() - theta) > tolerance
        return np.asarray((self.path(theta) >= self.design.limit) | beyond)

    @property
    def widest(self) -> float:
        """The end before any prompt was asked."""
        if self.sign > 0:
            return self.design.low
        return self.design.high

    def end(self, furthest: float) -> float:
        """The end of the interval on this side, at most ``furthest``: every θ before it
        is refuted.

        Capital falls about as a square towards θ̂, so the search goes by its root.
        """
        if not len(self.y):
            return self.widest
        root = math.sqrt(self.design.limit)

        def gain(theta: float) -> float:
            return math.sqrt(max(0.0, float(self.path(theta).max()))) - root

        refuted, retained = float(self.possible()[-1]), furthest
        if gain(refuted) < 0:
            return refuted
        if gain(retained) >= 0:
            return retained
        for _ in range(_HALVINGS):
            middle = (refuted + retained) / 2
            if gain(middle) < 0:
                retained = middle
            else:
                refuted = middle
            if math.isfinite(gain(refuted)):
                from scipy.optimize import (
                    brentq,
                )  # takes longer to load than most answers

                return float(brentq(gain, refuted, retained, xtol=_CLOSE))
        return refuted
