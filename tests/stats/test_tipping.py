"""The fewest unscored prompts that turn a verdict: every choice of every number of them
is tried."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from warehouse.stats.paired.tipping import tips_at


def tried(
    own: np.ndarray,
    of_other: np.ndarray,
    others: np.ndarray,
    worst: float,
    level: float,
) -> int | None:
    """By scipy's paired t test, over all subsets of the unscored prompts."""
    mean = own.mean()
    for n in range(len(others) + 1):
        for wrong in combinations(range(len(others)), n):
            filled = np.full(len(others), mean)
            filled[list(wrong)] = worst
            a = np.concatenate([own, filled])
            b = np.concatenate([of_other, others])
            if stats.ttest_rel(a, b).pvalue > 1 - level:
                return n
    return None


@pytest.mark.parametrize("kind", ["zero_one", "shares", "lower"])
def test_no_choice_of_fewer_turns_it(kind: str) -> None:
    dice = np.random.default_rng(4)
    found = []
    for _ in range(60):
        n, k = int(dice.integers(6, 30)), int(dice.integers(1, 8))
        if kind == "zero_one":
            scores = (dice.random((2, n + k)) < [[0.85], [0.3]]).astype(float)
        else:
            scores = np.clip(dice.normal([[0.7], [0.5]], 0.2, (2, n + k)), 0, 1)
        sign, worst = (-1.0, 1.0) if kind == "lower" else (1.0, 0.0)
        own, other = sign * scores if kind != "lower" else sign * (1 - scores)
        own = own[:n]
        if np.ptp(own - other[:n]) == 0 or not (
            stats.ttest_rel(own, other[:n]).pvalue <= 0.05
        ):
            continue
        expected = tried(own, other[:n], other[n:], sign * worst, 0.95)
        found.append(expected)
        assert expected == tips_at(
            own - other[:n], other[n:], mean=float(own.mean()), worst=sign * worst
        )
    assert len(found) > 20 and len(set(found)) > 2


def test_nothing_unscored_turns_nothing() -> None:
    assert tips_at(np.ones(9), np.empty(0), mean=1.0, worst=0.0) is None
    assert tips_at(np.full(99, 0.5), np.zeros(2), mean=0.5, worst=0.0) is None
