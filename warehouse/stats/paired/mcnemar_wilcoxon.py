"""Two textbook tests of paired scores: McNemar's and Wilcoxon's (statistics.md §2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import TIE, as_scores, is_zero_one
from warehouse.stats.core.result_base import Figures
from warehouse.stats.paired.sign_flip import binomial_p_value
from warehouse.stats.paired.sign_flip_null import distinct_sizes

#: Differences up to which the signed-rank distribution is counted out.
MOST_EXACT_RANKS = 50


@dataclass(frozen=True)
class McNemarTest(Figures):
    """McNemar's exact test of paired 0/1 scores: H0, as many prompts are won as lost.

    Attributes:
        p_value: two-sided, min(1, 2·P(Bin(b+c, 1/2) <= min(b, c))).
        b: prompts that only the first has right.
        c: prompts that only the second has right.
        n_prompts: prompts.
    """

    p_value: float
    b: int
    c: int
    n_prompts: int

    def __str__(self) -> str:
        return f"p={self.p_value:.3g} (McNemar, exact, {self.b} against {self.c})"


@dataclass(frozen=True)
class WilcoxonTest(Figures):
    """Wilcoxon's signed-rank test: H0, the differences are symmetric about 0.

    Attributes:
        p_value: two-sided; None where all differences are 0.
        statistic: the smaller of the rank sums of positive and negative differences.
        n_prompts: differences.
        n_zero: differences of 0, left out before ranking (Wilcoxon's way).
        method: ``"exact"`` or ``"normal"`` (tied sizes share their mean rank, the variance is
            corrected for ties, no continuity correction).
        reason: why this method, or why there is no p.
    """

    p_value: float | None
    statistic: float | None
    n_prompts: int
    n_zero: int
    method: str
    reason: str

    def __str__(self) -> str:
        p = "no p" if self.p_value is None else f"p={self.p_value:.3g}"
        return f"{p} (Wilcoxon signed rank, {self.method}: {self.reason})"


def mcnemar_test(a: ArrayLike, b: ArrayLike) -> McNemarTest:
    """McNemar's exact test of two runs with one draw per prompt.

    Args:
        a: 0/1 score of each prompt in the first run, shape (n,).
        b: the same prompts in the second run, shape (n,).

    Raises:
        StatisticsError: for scores that are not 0 or 1, or not aligned.

    Examples:
        >>> print(mcnemar_test([1, 1, 1, 0, 1], [0, 0, 1, 0, 0]))
        p=0.25 (McNemar, exact, 3 against 0)
    """
    first, second = as_scores(a, "a"), as_scores(b, "b")
    if len(first) != len(second):
        raise StatisticsError(f"`a` has {len(first)} prompts, `b` {len(second)}")
    for name, scores in (("a", first), ("b", second)):
        if not is_zero_one(scores):
            raise StatisticsError(
                f"`{name}` holds scores other than 0 and 1: McNemar's test is for one draw of a"
                " right or wrong answer; the sign flip test takes any score"
            )
    wins, losses = int(np.sum(first > second)), int(np.sum(first < second))
    return McNemarTest(binomial_p_value(wins, losses), wins, losses, len(first))


def wilcoxon_test(differences: ArrayLike) -> WilcoxonTest:
    """Wilcoxon's signed-rank test, by `scipy.stats.wilcoxon`.

    Differences of 0 (up to 1e-9 of the largest) are left out; exact where at most 50 are left
    and no two are of one size, else normal.

    Args:
        differences: a − b of each prompt, finite, shape (n,).

    Raises:
        StatisticsError: for differences that are empty or not finite.

    Examples:
        >>> print(wilcoxon_test([0.3, -0.1, 0.5, 0.2, 0.4, 0.0]))
        p=0.125 (Wilcoxon signed rank, exact: 5 distinct sizes)
    """
    values = as_scores(differences, "differences")
    largest = float(np.abs(values).max())
    kept = values[np.abs(values) > TIE * largest]
    n_zero = len(values) - len(kept)
    if not len(kept):
        reason = "all differences are 0"
        return WilcoxonTest(None, None, len(values), n_zero, "exact", reason)
    from scipy import stats

    sizes, _ = distinct_sizes(kept)  # what differs by rounding is a tie
    places = 1 + np.searchsorted((sizes[1:] + sizes[:-1]) / 2, np.abs(kept))
    distinct = len(sizes)
    exact = distinct == len(kept) <= MOST_EXACT_RANKS
    test = stats.wilcoxon(np.sign(kept) * places, zero_method="wilcox", method="exact" if exact else "approx")
    why = "" if distinct == len(kept) else ", ties share their mean rank"
    return WilcoxonTest(
        p_value=float(test.pvalue),
        statistic=float(test.statistic),
        n_prompts=len(values),
        n_zero=n_zero,
        method="exact" if exact else "normal",
        reason=f"{distinct} distinct sizes{why}",
    )
