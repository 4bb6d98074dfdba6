"""Several generations of one prompt: how consistent they are, and what a single draw
leaves to chance.

Δ(k=1) of Zhang et al. (2025), table 1: best minus worst of the K benchmark scores that
take one draw of each prompt. It grows with K, so its expectation at this K is given
too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.draws import PromptDraws, single_draw_scores, summarise_draws
from warehouse.stats.core.inputs import FloatArray, as_scores, check_length
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.intervals.closed_form import (
    interval_clopper_pearson,
    interval_jeffreys,
    interval_wilson,
)

# Nodes of the trapezoidal rule for d2: the integrand is analytic and falls off like
# exp(−x²/2), so the rule converges faster than any power of the step.
_NODES = np.linspace(-14.0, 14.0, 2801)


@dataclass(frozen=True)
class SingleDrawRange(NamedFigures):
    """Best minus worst benchmark score over runs of one draw per prompt."""

    #: best − worst, in the unit of the scores; None with fewer than two runs.
    delta: float | None
    #: d2(K) · sqrt(Σ W_i)/n, what draws alone lead one to expect; None if no W_i is
    #: known.
    expected: float | None
    #: chance of single-draw scores that lie as far apart, if all draws are alike (χ²
    #: with K − 1 degrees of freedom; Cochran's Q for 0/1 draws, equally many). A small
    #: one says that the k-th draws are not, as where draws are stored best first. None
    #: where ``expected`` is None or 0.
    p_value: float | None
    best: float  #: the largest score.
    worst: float  #: the smallest score.
    n_runs: int  #: K, the smallest number of draws of a prompt.
    n_prompts: int  #: n.
    reason: str  #: why ``delta`` is None; empty if it is not.

    def __str__(self) -> str:
        if self.delta is None:
            return f"no range: {self.reason}"
        if self.expected is None:
            usual = ""
        else:
            usual = f", expected {self.expected:.4g}"
        return (
            f"{self.delta:.4g} from {self.worst:.4g} to {self.best:.4g} over "
            f"{self.n_runs} single-draw runs{usual}"
        )


def delta_k1(values: ArrayLike, prompts: ArrayLike) -> SingleDrawRange:
    """Δ(k=1) from the draws: run k takes the k-th draw of every prompt, up to the
    smallest K_i.

    Args:
        values: score of each draw, finite, shape (m,).
        prompts: prompt of each draw as a number from 0 to n−1, each at least once,
            shape (m,).

    Raises:
        StatisticsError: values not finite, or prompt numbers that leave gaps.

    Examples:
        >>> print(delta_k1([1, 0, 1, 0, 1, 1], [0, 0, 0, 1, 1, 1]))
        0.5 from 0.5 to 1 over 3 single-draw runs, expected 0.691
    """
    return single_draw_range(
        single_draw_scores(values, prompts), summarise_draws(values, prompts)
    )


def single_draw_range(scores: ArrayLike, draws: PromptDraws) -> SingleDrawRange:
    """Δ(k=1) from the scores of the single-draw runs.

    Args:
        scores: benchmark score of each run, finite, shape (K,), K the smallest number
            of draws.
        draws: the prompts' draws, for the expectation.

    Raises:
        StatisticsError: another number of scores than K.
    """
    runs = as_scores(scores)
    k = draws.fewest
    if len(runs) != k:
        raise StatisticsError(
            f"`scores` has {len(runs)} entries, expected one per draw that every "
            f"prompt has: {k}"
        )
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
    scale = 0.0
    if draws.n_known:
        scale = float(draws.within_or_mean().sum())
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


_INTERVALS = {
    "wilson": interval_wilson,
    "jeffreys": interval_jeffreys,
    "clopper_pearson": interval_clopper_pearson,
}


@dataclass(frozen=True)
class Consistency:
    """Semantic sets of the generations of each prompt."""

    #: S = Σ_c Prop_c ln Prop_c, natural logarithm, in [−ln K, 0]; 0 where all K
    #: generations are alike. Zhang et al. (2025), appendix E. NaN without generations.
    consistency: FloatArray
    n_sets: NDArray[np.int64]  #: number of semantic sets; 0 without generations.
    n_generations: NDArray[np.int64]  #: K.
    #: first generation of the largest set (of equally large ones that which was seen
    #: first); −1 without generations.
    representative: NDArray[np.int64]
    majority_share: FloatArray  #: share of the generations in the largest set; NaN without generations.


def semantic_consistency(
    prompts: ArrayLike, sets: ArrayLike, n_prompts: int
) -> Consistency:
    """S(consistency), number of sets and the largest set of each prompt.

    Args:
        prompts: prompt of each generation, 0 to n_prompts−1, shape (generations,).
        sets: semantic set of each generation, integers from 0; equal numbers of one
            prompt are one set, shape (generations,).
        n_prompts: number of prompts n.

    Returns:
        arrays of shape (n_prompts,).

    Raises:
        StatisticsError: lengths that differ, or numbers out of range.

    Examples:
        >>> answers = semantic_consistency([0, 0, 0, 0, 1], [5, 5, 7, 8, 5], 2)
        >>> answers.consistency.round(6).tolist(), answers.n_sets.tolist()
        ([-1.039721, 0.0], [3, 1])
    """
    owners, labels = np.asarray(prompts, np.int64), np.asarray(sets, np.int64)
    check_length(len(labels), len(owners), "sets")
    if len(owners) and (
        owners.min() < 0 or owners.max() >= n_prompts or labels.min() < 0
    ):
        raise StatisticsError(
            f"`prompts` must lie in 0 to {n_prompts - 1} and `sets` from 0 on"
        )
    width = int(labels.max(initial=0)) + 1
    keys, first, counts = np.unique(
        owners * width + labels, return_index=True, return_counts=True
    )
    of_prompt = keys // width
    total = np.bincount(owners, minlength=n_prompts)
    shares = counts / total[of_prompt]
    entropy = np.bincount(
        of_prompt, weights=shares * np.log(shares), minlength=n_prompts
    )
    empty = total == 0
    representative, majority = _largest(of_prompt, first, shares, n_prompts)
    return Consistency(
        consistency=np.where(empty, np.nan, np.minimum(entropy, 0.0)),
        n_sets=np.bincount(of_prompt, minlength=n_prompts).astype(np.int64),
        n_generations=total.astype(np.int64),
        representative=representative,
        majority_share=majority,
    )


def proportion_intervals(
    successes: ArrayLike,
    draws: ArrayLike,
    *,
    level: float = 0.95,
    method: str = "wilson",
) -> tuple[FloatArray, FloatArray]:
    """Intervals of many proportions, each computed once for equal counts.

    Args:
        successes: 0 to ``draws``, shape (n,).
        draws: above 0, shape (n,).
        level: nominal coverage, in (0, 1).
        method: ``wilson``, ``jeffreys`` or ``clopper_pearson``.

    Returns:
        lower and upper ends, shape (n,) each.

    Raises:
        StatisticsError: an unknown method, or counts out of range.

    Examples:
        >>> low, high = proportion_intervals([0, 270], [20, 300])
        >>> low.round(6).tolist(), high.round(6).tolist()
        ([0.0, 0.860834], [0.161125, 0.929052])
    """
    if method not in _INTERVALS:
        raise StatisticsError(
            f"`method` is {method!r}; expected one of {', '.join(_INTERVALS)}"
        )
    counts = np.column_stack(
        [np.asarray(successes, np.float64), np.asarray(draws, np.float64)]
    )
    distinct, codes = np.unique(counts, axis=0, return_inverse=True)
    intervals = [_INTERVALS[method](x, n, level=level) for x, n in distinct.tolist()]
    low = np.array([interval.low for interval in intervals], dtype=np.float64)
    high = np.array([interval.high for interval in intervals], dtype=np.float64)
    return low[codes.ravel()], high[codes.ravel()]


def _largest(
    of_prompt: NDArray[np.int64],
    first: NDArray[np.intp],
    shares: FloatArray,
    n_prompts: int,
) -> tuple[NDArray[np.int64], FloatArray]:
    """First generation and share of the largest set of each prompt."""
    order = np.lexsort((first, -shares, of_prompt))
    leading = order[np.flatnonzero(np.diff(of_prompt[order], prepend=-1))]
    representative = np.full(n_prompts, -1, dtype=np.int64)
    majority = np.full(n_prompts, np.nan)
    representative[of_prompt[leading]] = first[leading]
    majority[of_prompt[leading]] = shares[leading]
    return representative, majority
