"""What a single draw per prompt leaves to chance: the range of single-draw scores.

Δ(k=1) of Zhang et al. (2025), table 1: best minus worst of the K benchmark scores that take one
draw of each prompt. It grows with K, so its expectation at this K is given too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.draws import PromptDraws, single_draw_scores, summarise_draws
from warehouse.stats.core.inputs import FloatArray, as_scores
from warehouse.stats.core.result_base import Figures

# Nodes of the trapezoidal rule for d2: the integrand is analytic and falls off like exp(−x²/2),
# so the rule converges faster than any power of the step.
_NODES = np.linspace(-14.0, 14.0, 2801)


@dataclass(frozen=True)
class SingleDrawRange(Figures):
    """Best minus worst benchmark score over runs of one draw per prompt.

    Attributes:
        delta: best − worst, in the unit of the scores; None with fewer than two runs.
        expected: d2(K) · sqrt(Σ W_i)/n, what draws alone lead one to expect; None if no W_i is
            known.
        best: the largest score.
        worst: the smallest score.
        p_value: chance of single-draw scores that lie as far apart, if all draws are alike
            (χ² with K − 1 degrees of freedom; Cochran's Q for 0/1 draws, equally many). A small
            one says that the k-th draws are not, as where draws are stored best first. None where
            ``expected`` is None or 0.
        n_runs: K, the smallest number of draws of a prompt.
        n_prompts: n.
        reason: why ``delta`` is None; empty if it is not.
    """

    delta: float | None
    expected: float | None
    p_value: float | None
    best: float
    worst: float
    n_runs: int
    n_prompts: int
    reason: str

    def __str__(self) -> str:
        if self.delta is None:
            return f"no range: {self.reason}"
        usual = "" if self.expected is None else f", expected {self.expected:.4g}"
        return f"{self.delta:.4g} from {self.worst:.4g} to {self.best:.4g} over {self.n_runs} single-draw runs{usual}"


def delta_k1(values: ArrayLike, prompts: ArrayLike) -> SingleDrawRange:
    """Δ(k=1) from the draws: run k takes the k-th draw of every prompt, up to the smallest K_i.

    Args:
        values: score of each draw, finite, shape (m,).
        prompts: prompt of each draw as a number from 0 to n−1, each at least once, shape (m,).

    Raises:
        StatisticsError: values not finite, or prompt numbers that leave gaps.

    Examples:
        >>> print(delta_k1([1, 0, 1, 0, 1, 1], [0, 0, 0, 1, 1, 1]))
        0.5 from 0.5 to 1 over 3 single-draw runs, expected 0.691
    """
    return single_draw_range(single_draw_scores(values, prompts), summarise_draws(values, prompts))


def single_draw_range(scores: ArrayLike, draws: PromptDraws) -> SingleDrawRange:
    """Δ(k=1) from the scores of the single-draw runs.

    Args:
        scores: benchmark score of each run, finite, shape (K,), K the smallest number of draws.
        draws: the prompts' draws, for the expectation.

    Raises:
        StatisticsError: another number of scores than K.
    """
    runs = as_scores(scores)
    k = draws.fewest
    if len(runs) != k:
        raise StatisticsError(f"`scores` has {len(runs)} entries, expected one per draw that every prompt has: {k}")
    best, worst = float(runs.max()), float(runs.min())
    return SingleDrawRange(
        delta=best - worst if k > 1 else None,
        expected=expected_delta_k1(draws, k),
        p_value=_p_value(runs, draws),
        best=best,
        worst=worst,
        n_runs=k,
        n_prompts=draws.n,
        reason="" if k > 1 else "a prompt has only one draw",
    )


def _p_value(scores: FloatArray, draws: PromptDraws) -> float | None:
    """P(χ² ≥ Q), Q = Σ_k (s_k − s̄)² n²/Σ W_i over the K runs."""
    scale = float(draws.within_or_mean().sum()) if draws.n_known else 0.0
    if len(scores) < 2 or scale <= 0:
        return None
    q = float(((scores - scores.mean()) ** 2).sum()) * draws.n**2 / scale
    return float(special.chdtrc(len(scores) - 1, q))


def expected_delta_k1(draws: PromptDraws, k: int) -> float | None:
    """d2(k) · sqrt(Σ W_i)/n; None if no W_i is known, or k is 1."""
    if k < 2 or not draws.n_known:
        return None
    return expected_range(k) * math.sqrt(float(draws.within_or_mean().sum())) / draws.n


def expected_range(k: int) -> float:
    """d2(k): expected range of k standard normals, ∫ 1 − (1−Φ)^k − Φ^k; 0 at k = 1.

    Raises:
        StatisticsError: ``k`` below 1.

    Examples:
        >>> round(expected_range(5), 10)
        2.3259289473
    """
    if k < 1:
        raise StatisticsError(f"`k` must be at least 1, found {k}")
    log_below: FloatArray = special.log_ndtr(_NODES)
    some_above = -np.expm1(k * log_below)  # 1 − Φ^k, without loss where Φ is near 1
    all_above = np.exp(k * log_below[::-1])  # (1−Φ)^k, the nodes are symmetric
    return float((some_above - all_above).sum() * (_NODES[1] - _NODES[0]))
