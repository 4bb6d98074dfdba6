"""A sequential test: pass, fail or undecided so far; fed one score at a time; how many
more it is likely to need."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.paired.gate import FAIL, PASS, UNDECIDED
from warehouse.stats.sequential.design import ROUNDING, BetSide, SequentialDesign


@dataclass(frozen=True)
class SequentialTest:
    """What a sequence of scores has settled."""

    #: ``pass``: θ is above the reference; ``fail``: below; ``undecided`` so far. The
    #: first verdict is final.
    verdict: str
    n_prompts: int  #: prompts used, with those that could not be scored.
    n_unscored: int  #: of these, prompts without a score.
    #: prompts after which the verdict stood; None while undecided.
    decided_at: int | None
    #: θ̂, mean of y − f plus mean f, over the scored prompts; for differences from a
    #: stored baseline less θ_B. Where one stopped early it lies too far out on average.
    #: None without a score.
    estimate: float | None
    low: float | None  #: lower end of the interval, on the scale of ``estimate``.
    #: upper end. Both None where every value is refuted (chance at most α).
    high: float | None
    level: float  #: 1 − α: how surely the interval holds θ after every prompt at once.
    #: ln K^+ at the reference now; None where the reference has become impossible.
    evidence_pass: float | None
    evidence_fail: float | None  #: ln K^−.
    limit: float  #: ln(2/α), which evidence has to reach.


def sequential_test(scores: ArrayLike, design: SequentialDesign) -> SequentialTest:
    """Verdict and interval of scores that came in the order of the test (statistics.md
    §11).

    Bets against "θ is at most θ_0" and against "θ is at least θ_0" (Waudby-Smith and
    Ramdas 2024) are made before each score is seen. Either falls for the wrong side
    with a chance of at most α/2, however often one looks and whenever one stops; the
    interval holds likewise.

    Args:
        scores: y_1, y_2, … of the prompts in order, within the bounds of the design,
            NaN for a prompt that was asked and cannot be scored, shape (n,); those
            after ``n_max`` are not used.
        design: what was fixed before.

    Raises:
        StatisticsError: scores that are infinite or outside the bounds.

    Examples:
        >>> from warehouse.stats import design_two_models
        >>> test = sequential_test([1, 0, 1, 1] * 10, design_two_models(0.1, n_max=100))
        >>> test.verdict, test.decided_at
        ('pass', 11)
    """
    values = design.values(scores)
    plus, minus = BetSide.of(1, values, design), BetSide.of(-1, values, design)
    verdict, decided_at = _verdict(
        plus.decides(design.reference), minus.decides(design.reference)
    )
    low, high = _interval(plus, minus)
    evidence_pass = evidence_fail = 0.0
    if len(values):
        evidence_pass = plus.path(design.reference)[-1]
        evidence_fail = minus.path(design.reference)[-1]
    return SequentialTest(
        verdict=verdict,
        n_prompts=len(values),
        n_unscored=int(np.isnan(values).sum()),
        decided_at=decided_at,
        estimate=point_estimate(values, design),
        low=low,
        high=high,
        level=1 - design.alpha,
        evidence_pass=_finite(evidence_pass),
        evidence_fail=_finite(evidence_fail),
        limit=design.limit,
    )


def point_estimate(values: FloatArray, design: SequentialDesign) -> float | None:
    """Mean y − f of the scored prompts plus mean f, less the origin; None without a
    score."""
    scored = ~np.isnan(values)
    if not scored.any():
        return None
    residuals = values - design.forecast[: len(values)]
    mean_residual = residuals[scored].mean()
    return float(mean_residual + design.predictions.mean() - design.origin)


def _verdict(passes: FloatArray, fails: FloatArray) -> tuple[str, int | None]:
    """The verdict of the side that decides first, and after how many prompts."""
    passed, failed = _first_true(passes), _first_true(fails)
    first = min(passed, failed)
    if first == len(passes):
        return UNDECIDED, None
    if passed <= failed:
        return PASS, first + 1
    return FAIL, first + 1


def _first_true(side: FloatArray) -> int:
    """Place of the first that holds; the length where none does."""
    if side.any():
        return int(np.argmax(side))
    return len(side)


def _finite(evidence: float) -> float | None:
    if np.isfinite(evidence):
        return float(evidence)
    return None


def _interval(plus: BetSide, minus: BetSide) -> tuple[float | None, float | None]:
    low = plus.end(_last_possible(minus))
    high = minus.end(_last_possible(plus))
    if low > high:
        return None, None
    origin = plus.design.origin
    return low - origin, high - origin


def _last_possible(side: BetSide) -> float:
    """The end that is still possible after the prompts that a side has seen."""
    if len(side.y):
        return float(side.possible()[-1])
    return side.widest


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
        """Whether no further prompt is of use: there is a verdict, or ``n_max`` were
        asked."""
        return self.verdict != UNDECIDED or len(self.scores) >= self.design.n_max

    def update(self, score: float | None) -> str:
        """The verdict after one more prompt; once there is one it stays.

        Args:
            score: y of the next prompt in order; None (or NaN) where it cannot be
                scored.

        Raises:
            StatisticsError: ``n_max`` prompts were used already, or a score out of
                range.
        """
        design, n = self.design, len(self.scores)
        if n >= design.n_max:
            raise StatisticsError(
                f"all {design.n_max} prompts that the test may use are used"
            )
        if score is None:
            value = math.nan
        else:
            value = float(score)
        if not math.isnan(value):
            value = float(design.values(value)[0])
        self.scores.append(value)
        passes, fails = (side.bet(n, value) for side in self._sides)
        if self.verdict == UNDECIDED and (passes or fails):
            self.verdict = FAIL
            if passes:
                self.verdict = PASS
            self.decided_at = n + 1
        return self.verdict

    def result(self) -> SequentialTest:
        """Verdict and interval so far; takes the time of the batch function."""
        return sequential_test(np.array(self.scores), self.design)


class _Bettor:
    """The bettors of one side at the reference."""

    def __init__(self, sign: int, design: SequentialDesign) -> None:
        self.sign, self.design = sign, design
        if sign > 0:
            self.missing = design.low
        else:
            self.missing = design.high
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
        y = value
        if math.isnan(value):
            y = self.missing
        z = y - float(design.forecast[n])
        mean = float(design.slope[n]) * design.reference
        mean -= self.total / float(design.left[n])
        mean -= float(design.forecast_left[n])
        if sign > 0:
            ruin = mean - self.low
        else:
            ruin = self.high - mean
        self.is_impossible |= ruin < -ROUNDING
        if ruin > ROUNDING:
            cap = design.bets.cap / ruin
        else:
            cap = math.inf
        for index, horizon in enumerate(self.horizons):
            stake = min(math.sqrt(self.scale / (self.variance * horizon)), cap)
            self.logs[index] += math.log1p(sign * stake * (z - mean))
        self.total += y
        self.sum_z += z
        self.squares += (z - self.sum_z / (n + 2)) ** 2
        self.variance = self.squares / (n + 2)
        largest = max(self.logs)
        share = sum(math.exp(log - largest) for log in self.logs) / len(self.logs)
        has_won = largest + math.log(share) >= design.limit
        return self.is_impossible or has_won or self._is_out(n + 1)

    def _is_out(self, n: int) -> bool:
        """Whether the reference lies outside what is still possible."""
        design = self.design
        end = self.missing
        if design.population is not None:
            end = (self.total + (design.population - n) * end) / design.population
        beyond = self.sign * (end - design.reference)
        return beyond > ROUNDING * (design.high - design.low)


#: Fewer scored prompts tell too little of those to come.
LEAST = 10


@dataclass(frozen=True)
class Outlook:
    """What is to be expected if prompts to come are like those that were seen."""

    #: mean number of prompts until a verdict or ``n_max``; 0 once there is a verdict,
    #: None with fewer than 10 scored prompts.
    remaining: float | None
    chance_pass: float | None  #: share of the continuations that pass.
    chance_fail: float | None  #: share that fail.


def sequential_outlook(
    scores: ArrayLike, design: SequentialDesign, *, n_paths: int = 200, seed: int = 0
) -> Outlook:
    """Prompts that a sequential test still needs, by resampling.

    The residuals y − f of the prompts seen are drawn again, with replacement, as those
    of the prompts to come, up to ``n_max``; the test goes on along each such
    continuation. The figure is a forecast, and no part of the test.

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
    drawn = draws.integers(0, len(values), (n_paths, left))
    until_pass = _first(BetSide.of(1, values, design), drawn)
    until_fail = _first(BetSide.of(-1, values, design), drawn)
    first = np.minimum(until_pass, until_fail)
    return Outlook(
        float(np.minimum(first, left).mean()),
        float((until_pass < until_fail).mean()),
        float((until_fail < until_pass).mean()),
    )


def _first(side: BetSide, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Prompts until a side wins on each continuation, one beyond all where it does not,
    shape (paths,)."""
    design, n = side.design, len(side.y)
    paths, left = drawn.shape
    z = side.game.z[drawn]
    y = z + design.forecast[n:]
    count = np.arange(n + 1, n + left + 1)
    total = side.y.sum() + np.cumsum(y, axis=1)
    mean = (
        design.slope[n:] * design.reference
        - (total - y) / design.left[n:]
        - design.forecast_left[n:]
    )
    variance = _variance(side, z, count)
    low, high = design.z_range
    if side.sign > 0:
        ruin = mean - low
    else:
        ruin = high - mean
    cap = _largest_stakes(ruin, design)
    start = _logs(side)
    capital = np.full((paths, left), -np.inf)
    for log, horizon in zip(start, design.bets.horizons, strict=True):
        stake = np.minimum(np.sqrt(2 * design.limit / (variance * horizon)), cap)
        # beyond what is possible, which counts anyway
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.log1p(side.sign * stake * (z - mean))
        capital = np.logaddexp(capital, log + np.cumsum(step, axis=1))
    rich = capital - np.log(len(start)) >= design.limit
    impossible = np.logical_or.accumulate(ruin < -ROUNDING, axis=1)
    wins = rich | impossible
    first = wins.argmax(axis=1) + 1
    return np.where(wins.any(axis=1), first, np.int64(left + 1))


def _largest_stakes(ruin: FloatArray, design: SequentialDesign) -> FloatArray:
    """The largest share of the capital that may be bet; infinite where nothing that is
    possible would ruin the bettor."""
    can_ruin = ruin > ROUNDING
    stakes = design.bets.cap / np.where(can_ruin, ruin, 1.0)
    return np.where(can_ruin, stakes, np.inf)


def _variance(side: BetSide, z: FloatArray, count: NDArray[np.int64]) -> FloatArray:
    """σ̂² before each prompt to come, shape (paths, left)."""
    seen = side.game.z
    number = np.arange(1, len(seen) + 1) + 1.0
    squares = side.design.spread + ((seen - np.cumsum(seen) / number) ** 2).sum()
    means = (seen.sum() + np.cumsum(z, axis=1)) / (count + 1)
    after = (squares + np.cumsum((z - means) ** 2, axis=1)) / (count + 1)
    now = np.full((len(z), 1), squares / (len(seen) + 1))
    return np.concatenate([now, after[:, :-1]], axis=1)


def _logs(side: BetSide) -> list[float]:
    """Log capital of each bettor of a side at the reference now."""
    means = side.design.slope[: len(side.y)] * side.design.reference + side.offset
    if side.sign > 0:
        ruin = means - side.game.low
    else:
        ruin = side.game.high - means
    stakes = np.minimum(side.stakes, _largest_stakes(ruin, side.design))
    steps = np.log1p(side.sign * stakes * (side.game.z - means))
    return [float(total) for total in steps.sum(axis=1)]
