"""Intervals from bets on bounded scores (Waudby-Smith and Ramdas 2024; statistics.md
§11).

A gambler bets on every score in turn that the mean is above θ, and another that it is
below. If θ is the mean, neither can expect to gain, so that by Ville's inequality each
multiplies the stakes by 2/α at any time with probability at most α/2. The interval is
what neither has refuted that strongly. It covers at its level for every distribution
and every n, which is proved, and is wider than intervals that lean on normality.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_level,
    as_scores,
    as_seed,
    check_within,
    finite_bounds,
)
from warehouse.stats.core.results import Interval
from warehouse.stats.core.sample import Sample

METHOD = "betting"
_CAP = 0.9  # of a stake, as a share of what would ruin the gambler at one score
_STEPS, _CLOSE = 200, 1e-12
_TOLERANCE = 1e-12


class Bets(NamedTuple):
    """How the gamblers bet."""

    #: h; each is a gambler with an equal share of the capital, who bets for h scores.
    horizons: tuple[float, ...]
    cap: float  #: largest stake, as a share of the ruinous one.
    alpha: float  #: chance of a false refutation, both sides together.


class Game(NamedTuple):
    """Scores to bet on."""

    z: FloatArray  #: scores less their predictions, in the order of the bets, shape (n,).
    low: float  #: smallest possible z.
    high: float  #: largest possible z.
    spread: float  #: squared scale that the variance starts from: (b − a)²/4.


def interval_betting(
    scores: ArrayLike,
    *,
    bounds: Bounds = (0.0, 1.0),
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Betting interval for the mean of independent scores with bounds, proved for every
    n.

    One gambler a side with the number of scores as horizon, stakes of at most 0.9 of
    the ruinous one. The scores are bet on in a random order (the same for the same
    scores and seed, however they are given), so that it does not matter how a benchmark
    is sorted.

    Args:
        scores: mean score of each prompt, within ``bounds``, shape (n,).
        bounds: smallest and largest possible score, both finite.
        level: nominal coverage, in (0, 1).
        seed: of the order, at least 0.

    Raises:
        StatisticsError: for arguments out of range or not finite.

    Examples:
        >>> print(interval_betting([0.1, 0.4, 0, 0.9, 0.3] * 40))
        [0.2915, 0.3974]
    """
    values, limits = as_scores(scores), finite_bounds(bounds)
    if limits is None:
        raise StatisticsError(f"`bounds` must both be finite, found {bounds}")
    check_within(values, limits)
    return betting_interval(values, limits, as_level(level), as_seed(seed))


def betting(sample: Sample, level: float, seed: int) -> Interval:
    """`interval_betting` of a described sample with bounds."""
    return betting_interval(sample.values, sample.bounds or (0.0, 1.0), level, seed)


def betting_interval(
    values: FloatArray, bounds: tuple[float, float], level: float, seed: int
) -> Interval:
    """`interval_betting` of checked scores."""
    low, width = bounds[0], bounds[1] - bounds[0]
    unit = np.clip((values - low) / width, 0.0, 1.0)
    order = np.random.default_rng(seed).permutation(len(unit))
    game = Game(np.sort(unit)[order] - 0.5, -0.5, 0.5, 0.25)
    ends = betting_ends(game, Bets((float(len(unit)),), _CAP, 1 - level))
    scaled = [low + width * min(1.0, max(0.0, end + 0.5)) for end in ends]
    return Interval(scaled[0], scaled[1], level, METHOD)


def betting_ends(game: Game, bets: Bets) -> tuple[float, float]:
    """The means of z that neither side has refuted, from ``game.low`` to ``game.high``."""
    limit, stakes = math.log(2 / bets.alpha), bet_sizes(game, bets)

    def gain(side: int, mean: float) -> float:
        means = np.full(len(game.z), mean)
        return float(capital_paths(game, means, side, bets, stakes).max()) - limit

    return (
        _border(lambda mean: gain(1, mean), game.low, game.high),
        _border(lambda mean: gain(-1, mean), game.high, game.low),
    )


def capital_paths(
    game: Game, means: FloatArray, side: int, bets: Bets, stakes: FloatArray
) -> FloatArray:
    """ln K_t^+ (``side`` 1: z is above its mean) or ln K_t^− (−1) after each score,
    shape (n,).

    Args:
        game: the scores.
        means: m_t, what z_t would be on average if θ were the mean, shape (n,).
        side: 1 or −1.
        bets: of the gamblers.
        stakes: theirs (`bet_sizes`).
    """
    if side > 0:
        ruin = means - game.low
    else:
        ruin = game.high - means
    with np.errstate(divide="ignore", invalid="ignore"):
        capped = np.minimum(
            stakes, np.where(ruin > _TOLERANCE, bets.cap / ruin, math.inf)
        )
        paths = np.cumsum(np.log1p(side * capped * (game.z - means)), axis=1)
    path: FloatArray = np.logaddexp.reduce(paths, axis=0) - math.log(len(bets.horizons))
    impossible = np.maximum.accumulate(ruin < -_TOLERANCE)
    return np.where(impossible, math.inf, path)


def bet_sizes(game: Game, bets: Bets) -> FloatArray:
    """λ_{t,j}, before the cap, from the scores before t, shape (J, n)."""
    count = np.arange(1, len(game.z) + 1) + 1.0
    mean = np.cumsum(game.z) / count
    variance = (game.spread + np.cumsum((game.z - mean) ** 2)) / count
    before = np.concatenate([[game.spread], variance[:-1]])
    horizons = np.array(bets.horizons)[:, None]
    stakes: FloatArray = np.sqrt(2 * math.log(2 / bets.alpha) / (before * horizons))
    return stakes


def _border(gain: Callable[[float], float], start: float, end: float) -> float:
    """Where ``gain``, which falls from ``start`` to ``end``, is 0; ``start`` where it
    is below.

    Regula falsi with Illinois' rule, and halving where it does not help. The result
    lies on the side of the refuted means.
    """
    at_start, at_end = gain(start), -1.0
    if at_start < 0:
        return start
    for _ in range(_STEPS):
        if math.isinf(at_start):
            share = 0.5
        else:
            share = at_start / (at_start - at_end)
        middle = start + (end - start) * min(0.98, max(0.02, share))
        if abs(end - start) < _CLOSE or middle in (start, end):
            break
        value = gain(middle)
        if value >= 0:
            start, at_start, at_end = middle, value, at_end / 2
        else:
            end, at_end, at_start = middle, value, at_start / 2
    return start
