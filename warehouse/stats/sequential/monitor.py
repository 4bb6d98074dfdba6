"""A sequential test that is told one score at a time."""

from __future__ import annotations

import math

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.paired.gate import FAIL, PASS, UNDECIDED
from warehouse.stats.sequential.capital import ROOM
from warehouse.stats.sequential.design import SequentialDesign
from warehouse.stats.sequential.sequential_test import SequentialTest, sequential_test


class SequentialMonitor:
    """The test of `sequential_test`, one prompt after the other, in constant time each.

    Args:
        design: what was fixed before.

    Examples:
        >>> from warehouse.stats import design_two_models
        >>> monitor = SequentialMonitor(design_two_models(0.1, n_max=100))
        >>> [monitor.update(score) for score in (1, 0, 1, 1, 1, 0, 1, 1, 1, 1)][-2:]
        ['undecided', 'pass']
    """

    def __init__(self, design: SequentialDesign) -> None:
        self.design = design
        self.verdict = UNDECIDED
        self.decided_at: int | None = None
        self.scores: list[float] = []
        self._sides = (_Bettor(1, design), _Bettor(-1, design))

    @property
    def is_over(self) -> bool:
        """Whether no further prompt is of use: there is a verdict, or ``n_max`` were asked."""
        return self.verdict != UNDECIDED or len(self.scores) >= self.design.n_max

    def update(self, score: float | None) -> str:
        """The verdict after one more prompt; once there is one it stays.

        Args:
            score: y of the next prompt in order; None (or NaN) where it cannot be scored.

        Raises:
            StatisticsError: ``n_max`` prompts were used already, or a score out of range.
        """
        design, n = self.design, len(self.scores)
        if n >= design.n_max:
            raise StatisticsError(f"all {design.n_max} prompts that the test may use are used")
        value = math.nan if score is None else float(score)
        if not math.isnan(value):
            value = float(design.values(value)[0])
        self.scores.append(value)
        passes, fails = (side.bet(n, value) for side in self._sides)
        if self.verdict == UNDECIDED and (passes or fails):
            self.verdict, self.decided_at = (PASS if passes else FAIL), n + 1
        return self.verdict

    def result(self) -> SequentialTest:
        """Verdict and interval so far; takes the time of the batch function."""
        return sequential_test(np.array(self.scores), self.design)


class _Bettor:
    """The bettors of one side at the reference."""

    def __init__(self, sign: int, design: SequentialDesign) -> None:
        self.sign, self.design = sign, design
        self.missing = design.low if sign > 0 else design.high
        self.low, self.high = design.z_range
        self.scale = 2 * design.limit
        self.horizons = design.bets.horizons
        self.logs = [0.0] * len(self.horizons)
        self.total = self.sum_z = 0.0
        self.squares = self.variance = design.spread
        self.is_impossible = False

    def bet(self, n: int, value: float) -> bool:
        """Whether the reference is refuted after the (n + 1)-th prompt."""
        design, sign = self.design, self.sign
        y = self.missing if math.isnan(value) else value
        z = y - float(design.forecast[n])
        mean = float(design.slope[n]) * design.reference - self.total / float(design.left[n])
        mean -= float(design.forecast_left[n])
        ruin = mean - self.low if sign > 0 else self.high - mean
        self.is_impossible |= ruin < -ROOM
        cap = design.bets.cap / ruin if ruin > ROOM else math.inf
        for place, horizon in enumerate(self.horizons):
            stake = min(math.sqrt(self.scale / (self.variance * horizon)), cap)
            self.logs[place] += math.log1p(sign * stake * (z - mean))
        self.total += y
        self.sum_z += z
        self.squares += (z - self.sum_z / (n + 2)) ** 2
        self.variance = self.squares / (n + 2)
        largest = max(self.logs)
        share = sum(math.exp(log - largest) for log in self.logs) / len(self.logs)
        return self.is_impossible or largest + math.log(share) >= design.limit or self._is_out(n + 1)

    def _is_out(self, n: int) -> bool:
        """Whether the reference lies outside what is still possible."""
        design = self.design
        end = self.missing
        if design.population is not None:
            end = (self.total + (design.population - n) * end) / design.population
        return self.sign * (end - design.reference) > ROOM * (design.high - design.low)
