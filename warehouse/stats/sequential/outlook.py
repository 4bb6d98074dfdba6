"""How many more prompts a sequential test is likely to need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.paired.gate import UNDECIDED
from warehouse.stats.sequential.capital import ROOM, Side
from warehouse.stats.sequential.design import SequentialDesign
from warehouse.stats.sequential.sequential_test import sequential_test

#: Fewer scored prompts tell too little of those to come.
LEAST = 10


@dataclass(frozen=True)
class Outlook:
    """What is to be expected if prompts to come are like those that were seen.

    Attributes:
        remaining: mean number of prompts until a verdict or ``n_max``; 0 once there is a verdict,
            None with fewer than 10 scored prompts.
        chance_pass: share of the continuations that pass.
        chance_fail: share that fail.
    """

    remaining: float | None
    chance_pass: float | None
    chance_fail: float | None


def sequential_outlook(scores: ArrayLike, design: SequentialDesign, *, n_paths: int = 200, seed: int = 0) -> Outlook:
    """Prompts that a sequential test still needs, by resampling.

    The residuals y − f of the prompts seen are drawn again, with replacement, as those of the
    prompts to come, up to ``n_max``; the test goes on along each such continuation. The figure is a
    forecast, and no part of the test.

    Args:
        scores: as for `sequential_test`.
        design: what was fixed before.
        n_paths: continuations to draw.
        seed: of the draws, at least 0.

    Raises:
        StatisticsError: scores out of range, or a seed.
    """
    draws = np.random.default_rng(as_seed(seed))
    values = design.values(scores)
    now, left = sequential_test(values, design), design.n_max - len(values)
    if now.verdict != UNDECIDED or left == 0:
        return Outlook(0.0, float(now.verdict == "pass"), float(now.verdict == "fail"))
    if len(values) - now.n_unscored < LEAST:
        return Outlook(None, None, None)
    places = draws.integers(0, len(values), (n_paths, left))
    times = [_first(Side.of(sign, values, design), places) for sign in (1, -1)]
    first = np.minimum(*times)
    passes, fails = times[0] < times[1], times[1] < times[0]
    return Outlook(float(np.minimum(first, left).mean()), float(passes.mean()), float(fails.mean()))


def _first(side: Side, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Prompts until a side wins on each continuation, one beyond all where it does not, shape (paths,)."""
    design, n = side.design, len(side.y)
    paths, left = places.shape
    z = side.game.z[places]
    y = z + design.forecast[n:]
    count = np.arange(n + 1, n + left + 1)
    total = side.y.sum() + np.cumsum(y, axis=1)
    mean = design.slope[n:] * design.reference - (total - y) / design.left[n:] - design.forecast_left[n:]
    variance = _variance(side, z, count)
    low, high = design.z_range
    ruin = mean - low if side.sign > 0 else high - mean
    cap = np.where(ruin > ROOM, design.bets.cap / np.where(ruin > ROOM, ruin, 1.0), np.inf)
    start = _logs(side)
    capital = np.full((paths, left), -np.inf)
    for log, horizon in zip(start, design.bets.horizons, strict=True):
        stake = np.minimum(np.sqrt(2 * design.limit / (variance * horizon)), cap)
        with np.errstate(divide="ignore", invalid="ignore"):  # beyond what is possible, which counts anyway
            step = np.log1p(side.sign * stake * (z - mean))
        capital = np.logaddexp(capital, log + np.cumsum(step, axis=1))
    wins = (capital - np.log(len(start)) >= design.limit) | np.logical_or.accumulate(ruin < -ROOM, axis=1)
    first: NDArray[np.int64] = np.where(wins.any(axis=1), wins.argmax(axis=1) + 1, left + 1)
    return first


def _variance(side: Side, z: FloatArray, count: NDArray[np.int64]) -> FloatArray:
    """σ̂² before each prompt to come, shape (paths, left)."""
    seen = side.game.z
    number = np.arange(1, len(seen) + 1) + 1.0
    squares = side.design.spread + ((seen - np.cumsum(seen) / number) ** 2).sum()
    means = (seen.sum() + np.cumsum(z, axis=1)) / (count + 1)
    after = (squares + np.cumsum((z - means) ** 2, axis=1)) / (count + 1)
    now = np.full((len(z), 1), squares / (len(seen) + 1))
    return np.concatenate([now, after[:, :-1]], axis=1)


def _logs(side: Side) -> list[float]:
    """Log capital of each bettor of a side at the reference now."""
    means = side.design.slope[: len(side.y)] * side.design.reference + side.offset
    ruin = means - side.game.low if side.sign > 0 else side.game.high - means
    cap = np.where(ruin > ROOM, side.design.bets.cap / np.where(ruin > ROOM, ruin, 1.0), np.inf)
    steps = np.log1p(side.sign * np.minimum(side.stakes, cap) * (side.game.z - means))
    return [float(total) for total in steps.sum(axis=1)]
