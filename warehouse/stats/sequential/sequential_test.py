"""Pass, fail or undecided so far, with an interval that holds however often one looks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.paired.gate import FAIL, PASS, UNDECIDED
from warehouse.stats.sequential.capital import Side
from warehouse.stats.sequential.design import SequentialDesign


@dataclass(frozen=True)
class SequentialTest:
    """What a sequence of scores has settled.

    Attributes:
        verdict: ``pass``: θ is above the reference; ``fail``: below; ``undecided`` so far. The first
            verdict is final.
        n_prompts: prompts used, with those that could not be scored.
        n_unscored: of these, prompts without a score.
        decided_at: prompts after which the verdict stood; None while undecided.
        estimate: θ̂, mean of y − f plus mean f, over the scored prompts; for differences from a
            stored baseline less θ_B. Where one stopped early it lies too far out on average. None
            without a score.
        low: lower end of the interval, on the scale of ``estimate``.
        high: upper end. Both None where every value is refuted (chance at most α).
        level: 1 − α: how surely the interval holds θ after every prompt at once.
        evidence_pass: ln K^+ at the reference now; None where the reference has become impossible.
        evidence_fail: ln K^−.
        limit: ln(2/α), which evidence has to reach.
    """

    verdict: str
    n_prompts: int
    n_unscored: int
    decided_at: int | None
    estimate: float | None
    low: float | None
    high: float | None
    level: float
    evidence_pass: float | None
    evidence_fail: float | None
    limit: float


def sequential_test(scores: ArrayLike, design: SequentialDesign) -> SequentialTest:
    """Verdict and interval of scores that came in the order of the test (statistics.md §11).

    Bets against "θ is at most θ_0" and against "θ is at least θ_0" (Waudby-Smith and Ramdas 2024)
    are made before each score is seen. Either falls for the wrong side with a chance of at most
    α/2, however often one looks and whenever one stops; the interval holds likewise.

    Args:
        scores: y_1, y_2, … of the prompts in order, within the bounds of the design, NaN for a
            prompt that was asked and cannot be scored, shape (n,); those after ``n_max`` are not used.
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
    plus, minus = Side.of(1, values, design), Side.of(-1, values, design)
    verdict, decided_at = _verdict(plus.decides(design.reference), minus.decides(design.reference))
    low, high = _interval(plus, minus)
    last = (plus.path(design.reference)[-1], minus.path(design.reference)[-1]) if len(values) else (0.0, 0.0)
    return SequentialTest(
        verdict=verdict,
        n_prompts=len(values),
        n_unscored=int(np.isnan(values).sum()),
        decided_at=decided_at,
        estimate=point_estimate(values, design),
        low=low,
        high=high,
        level=1 - design.alpha,
        evidence_pass=_finite(last[0]),
        evidence_fail=_finite(last[1]),
        limit=design.limit,
    )


def point_estimate(values: FloatArray, design: SequentialDesign) -> float | None:
    """Mean y − f of the scored prompts plus mean f, less the origin; None without a score."""
    known = ~np.isnan(values)
    if not known.any():
        return None
    residual = (values - design.forecast[: len(values)])[known].mean()
    return float(residual + design.predictions.mean() - design.origin)


def _verdict(passes: FloatArray, fails: FloatArray) -> tuple[str, int | None]:
    first = [int(np.argmax(side)) if side.any() else len(side) for side in (passes, fails)]
    if min(first) == len(passes):
        return UNDECIDED, None
    return (PASS if first[0] <= first[1] else FAIL), min(first) + 1


def _finite(evidence: float) -> float | None:
    return float(evidence) if np.isfinite(evidence) else None


def _interval(plus: Side, minus: Side) -> tuple[float | None, float | None]:
    ends = [float(side.possible()[-1]) if len(side.y) else side.widest for side in (plus, minus)]
    low, high = plus.end(ends[1]), minus.end(ends[0])
    origin = plus.design.origin
    return (None, None) if low > high else (low - origin, high - origin)
