"""The betting interval: goldens, a slow definition, and its proved coverage seen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.errors import StatisticsError
from warehouse.stats import interval_betting
from warehouse.stats.intervals.betting import (
    Bets,
    Game,
    bet_sizes,
    betting_ends,
    capital_paths,
)

D16 = [1, 0, 0, 1, 0, -1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, -1, 1]
Y17 = [1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0]
F17 = [
    0.9,
    0.8,
    0.2,
    0.7,
    0.6,
    0.9,
    0.1,
    0.8,
    0.5,
    0.9,
    0.6,
    0.3,
    0.4,
    0.7,
    0.2,
    0.8,
    0.5,
    0.6,
    0.9,
    0.1,
]


def test_g16_prompts_sampled() -> None:
    game = Game(np.array(D16, float), -1.0, 1.0, 0.25)
    bets = Bets((16.0, 4.0), 0.5, 0.05)
    zero = np.zeros(20)
    assert capital_paths(game, zero, 1, bets, bet_sizes(game, bets))[
        -1
    ] == pytest.approx(1.85742650375, abs=1e-10)
    assert capital_paths(game, zero, -1, bets, bet_sizes(game, bets))[
        -1
    ] == pytest.approx(-4.73424722826, abs=1e-10)
    expected = (-0.143342020678, 0.630931296284)
    assert betting_ends(game, bets) == pytest.approx(expected, abs=1e-11)


def test_g17_predictions_without_replacement() -> None:
    y, f = np.array(Y17, float), np.array(F17)
    game = Game(y - f[:12], -0.9, 0.9, 0.25)
    bets = Bets((10.0, 2.5), 0.5, 0.05)

    def means(theta: float) -> np.ndarray:
        return np.array(
            [(20 * theta - y[:t].sum()) / (20 - t) - f[t:].mean() for t in range(12)]
        )

    assert means(0.5)[0] == pytest.approx(-0.075)
    found = (
        capital_paths(game, means(0.5), 1, bets, bet_sizes(game, bets))[-1],
        capital_paths(game, means(0.8), -1, bets, bet_sizes(game, bets))[-1],
    )
    assert found == pytest.approx((2.36649761354, 0.888331635564), abs=1e-10)


def slow_capital(z: list[float], mean: float, side: int, n: int, alpha: float) -> float:
    """The largest ln K that a gambler on one side has at any time, step by step."""
    capital = best = 0.0
    total, squares = 0.0, 0.25
    variance = 0.25
    for t, value in enumerate(z, 1):
        stake = math.sqrt(2 * math.log(2 / alpha) / (variance * n))
        ruin = mean + 0.5 if side > 0 else 0.5 - mean
        if ruin > 1e-12:
            stake = min(stake, 0.9 / ruin)
        capital += math.log1p(side * stake * (value - mean))
        best = capital if t == 1 else max(best, capital)
        total += value
        squares += (value - total / (t + 1)) ** 2
        variance = squares / (t + 1)
    return best


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(0, 5))
def test_the_ends_are_where_the_slow_gambler_stops(
    values: list[float], seed: int
) -> None:
    found = interval_betting(values, seed=seed)
    order = np.random.default_rng(seed).permutation(len(values))
    z = list(np.sort(values)[order] - 0.5)
    limit, room = math.log(2 / 0.05), 1e-7
    for end, side in ((found.low, 1), (found.high, -1)):
        outside, inside = end - side * room, end + side * room
        if 0 < outside < 1:
            assert slow_capital(z, outside - 0.5, side, len(z), 0.05) >= limit
        if 0 < inside < 1:
            assert slow_capital(z, inside - 0.5, side, len(z), 0.05) < limit
    assert interval_betting(values[::-1], seed=seed) == found
    mirrored = interval_betting(100 * np.array(values), bounds=(0, 100), seed=seed)
    assert mirrored.low == pytest.approx(100 * found.low, abs=1e-8)


@pytest.mark.parametrize(
    "share",
    [
        pytest.param(0.003, marks=pytest.mark.rare),
        0.05,
        pytest.param(1.0, marks=pytest.mark.rare),
    ],
)
def test_coverage_is_at_least_the_level(share: float) -> None:
    rng = np.random.default_rng(7)
    held, width, usual = 0, 0.0, 0.0
    for _ in range(300):
        x = np.where(rng.random(1200) < share, rng.random(1200), 0.0)
        found = interval_betting(x)
        held += found.low <= share / 2 <= found.high
        width, usual = (
            width + found.high - found.low,
            usual + 3.92 * x.std() / 1200**0.5,
        )
    assert held / 300 > 0.95 - 3 * (0.95 * 0.05 / 300) ** 0.5
    assert share < 1 or width < 1.5 * usual


def test_the_order_of_a_sorted_benchmark_does_not_matter() -> None:
    x = np.repeat([0.0, 0.5, 1.0], 500)
    found = interval_betting(x)
    assert found == interval_betting(np.random.default_rng(0).permutation(x))
    assert found.low < 0.5 < found.high and found.high - found.low < 0.08


def test_what_is_refused() -> None:
    with pytest.raises(StatisticsError, match="`bounds` must both be finite"):
        interval_betting([0.5], bounds=(None, 1))
    with pytest.raises(StatisticsError, match="`seed`"):
        interval_betting([0.5], seed=-1)
