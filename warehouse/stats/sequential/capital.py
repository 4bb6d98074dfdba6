"""The capital of the bettors over a whole sequence at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.intervals.betting import Game, bet_sizes, capital_paths
from warehouse.stats.sequential.design import SequentialDesign

#: Room for rounding in what is still possible, as a share of the range.
ROOM = 1e-12
_HALVINGS, _CLOSE = 60, 1e-14


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two hypotheses: +1 bets that θ is larger, −1 that it is smaller.

    An unscorable prompt counts the smallest possible value on side +1 and the largest on side −1.
    """

    sign: int
    design: SequentialDesign
    y: FloatArray
    game: Game
    stakes: FloatArray
    offset: FloatArray

    @classmethod
    def of(cls, sign: int, values: FloatArray, design: SequentialDesign) -> Side:
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
        """The end of what θ can still be after each prompt, shape (n,): the lowest on side +1."""
        end = self.widest
        if self.design.population is None:
            return np.full(len(self.y), end)
        left = self.design.population - np.arange(1, len(self.y) + 1)
        return np.asarray((np.cumsum(self.y) + left * end) / self.design.population, dtype=np.float64)

    def decides(self, theta: float) -> FloatArray:
        """Where this side has won against θ, by evidence or because θ is impossible, shape (n,)."""
        room = ROOM * (self.design.high - self.design.low)
        beyond = self.sign * (self.possible() - theta) > room
        return np.asarray((self.path(theta) >= self.design.limit) | beyond)

    @property
    def widest(self) -> float:
        """The end before any prompt was asked."""
        return self.design.low if self.sign > 0 else self.design.high

    def end(self, furthest: float) -> float:
        """The end of the interval on this side, at most ``furthest``: every θ before it is refuted.

        Capital falls about as a square towards θ̂, so the search goes by its root.
        """
        if not len(self.y):
            return self.widest
        root = math.sqrt(self.design.limit)

        def gain(theta: float) -> float:
            return math.sqrt(max(0.0, float(self.path(theta).max()))) - root

        refuted, kept = float(self.possible()[-1]), furthest
        if gain(refuted) < 0:
            return refuted
        if gain(kept) >= 0:
            return kept
        for _ in range(_HALVINGS):
            middle = (refuted + kept) / 2
            if gain(middle) < 0:
                kept = middle
            else:
                refuted = middle
            if math.isfinite(gain(refuted)):
                from scipy.optimize import brentq  # takes longer to load than most answers

                return float(brentq(gain, refuted, kept, xtol=_CLOSE))
        return refuted
