"""Several generations of one prompt: how consistent, and how often correct (Zhang et al. 2025)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, check_length
from warehouse.stats.intervals.closed_form import interval_clopper_pearson, interval_jeffreys, interval_wilson

_INTERVALS = {"wilson": interval_wilson, "jeffreys": interval_jeffreys, "clopper_pearson": interval_clopper_pearson}


@dataclass(frozen=True)
class Consistency:
    """Semantic sets of the generations of each prompt.

    Attributes:
        consistency: S = Σ_c Prop_c ln Prop_c, natural logarithm, in [−ln K, 0]; 0 where all K
            generations are alike. Zhang et al. (2025), appendix E. NaN without generations.
        n_sets: number of semantic sets; 0 without generations.
        n_generations: K.
        representative: first generation of the largest set (of equally large ones that which
            was seen first); −1 without generations.
        majority_share: share of the generations in the largest set; NaN without generations.
    """

    consistency: FloatArray
    n_sets: NDArray[np.int64]
    n_generations: NDArray[np.int64]
    representative: NDArray[np.int64]
    majority_share: FloatArray


def semantic_consistency(prompts: ArrayLike, sets: ArrayLike, n_prompts: int) -> Consistency:
    """S(consistency), number of sets and the largest set of each prompt.

    Args:
        prompts: prompt of each generation, 0 to n_prompts−1, shape (generations,).
        sets: semantic set of each generation, integers from 0; equal numbers of one prompt are
            one set, shape (generations,).
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
    if len(owners) and (owners.min() < 0 or owners.max() >= n_prompts or labels.min() < 0):
        raise StatisticsError(f"`prompts` must lie in 0 to {n_prompts - 1} and `sets` from 0 on")
    width = int(labels.max(initial=0)) + 1
    keys, first, counts = np.unique(owners * width + labels, return_index=True, return_counts=True)
    of_prompt = keys // width
    total = np.bincount(owners, minlength=n_prompts)
    shares = counts / total[of_prompt]
    entropy = np.bincount(of_prompt, weights=shares * np.log(shares), minlength=n_prompts)
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
    successes: ArrayLike, draws: ArrayLike, *, level: float = 0.95, method: str = "wilson"
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
        raise StatisticsError(f"`method` is {method!r}; expected one of {', '.join(_INTERVALS)}")
    counts = np.column_stack([np.asarray(successes, np.float64), np.asarray(draws, np.float64)])
    distinct, codes = np.unique(counts, axis=0, return_inverse=True)
    intervals = [_INTERVALS[method](x, n, level=level) for x, n in distinct.tolist()]
    low = np.array([interval.low for interval in intervals], dtype=np.float64)
    high = np.array([interval.high for interval in intervals], dtype=np.float64)
    return low[codes.ravel()], high[codes.ravel()]


def _largest(
    of_prompt: NDArray[np.int64], first: NDArray[np.intp], shares: FloatArray, n_prompts: int
) -> tuple[NDArray[np.int64], FloatArray]:
    """First generation and share of the largest set of each prompt."""
    order = np.lexsort((first, -shares, of_prompt))
    leading = order[np.flatnonzero(np.diff(of_prompt[order], prepend=-1))]
    representative = np.full(n_prompts, -1, dtype=np.int64)
    majority = np.full(n_prompts, np.nan)
    representative[of_prompt[leading]] = first[leading]
    majority[of_prompt[leading]] = shares[leading]
    return representative, majority
