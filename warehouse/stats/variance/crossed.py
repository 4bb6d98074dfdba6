"""Seeds crossed with prompts: which part of a mean's variance is due to which (statistics.md §1).

S seeds (trained replicates) answer the same n prompts. Two-way analysis of variance without
replication: mean squares of prompts, seeds and what is left (interaction and draws together).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.result_base import Figures


@dataclass(frozen=True)
class CrossedVariance(Figures):
    """The variance of the mean over S seeds and n prompts, by what is taken to be random.

    Attributes:
        mean: mean of the table.
        n_seeds: S.
        n_prompts: n.
        part_prompts: V_p = s²(prompt means)/n.
        part_seeds: V_s = s²(seed means)/S.
        part_interaction: V_i = MS_interaction/(nS), draws included.
        se_seeds_fixed: sqrt(V_p): prompts are a sample, these seeds are all there are.
        se_prompts_fixed: sqrt(V_s): seeds are a sample, these prompts are all there are.
        se_both_sampled: sqrt(max(V_p + V_s − V_i, V_p, V_s)).
        se_both_fixed: only the draws are random: sqrt(Σ W/K)/(nS); None without the draws'
            variances.
        variance_prompts: variance between prompts, (MS_prompts − MS_interaction)/S; may be
            below 0, like the next.
        variance_seeds: variance between seeds, (MS_seeds − MS_interaction)/n.
        variance_interaction: MS_interaction.
        seed_sd: sample standard deviation of the seed means.
    """

    mean: float
    n_seeds: int
    n_prompts: int
    part_prompts: float
    part_seeds: float
    part_interaction: float
    se_seeds_fixed: float
    se_prompts_fixed: float
    se_both_sampled: float
    se_both_fixed: float | None
    variance_prompts: float
    variance_seeds: float
    variance_interaction: float
    seed_sd: float

    def __str__(self) -> str:
        return (
            f"{self.mean:.4g}, S={self.n_seeds}, n={self.n_prompts}: se {self.se_seeds_fixed:.4g}"
            f" (seeds fixed), {self.se_prompts_fixed:.4g} (prompts fixed),"
            f" {self.se_both_sampled:.4g} (both sampled)"
        )


def crossed_variance(
    scores: ArrayLike, *, within: ArrayLike | None = None, n_draws: ArrayLike | None = None
) -> CrossedVariance:
    """Split the variance of a seeds × prompts table.

    Args:
        scores: mean over draws of each seed (row) and prompt (column), finite, shape (S, n), both
            at least 2.
        within: sample variance over the draws of each cell, shape (S, n), all known; None if not.
        n_draws: draws of each cell, shape (S, n), with ``within``.

    Raises:
        StatisticsError: another shape, values that are not finite, variances below 0.

    Examples:
        >>> print(crossed_variance([[1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 1, 0]]))
        0.5833, S=3, n=4: se 0.1596 (seeds fixed), 0.08333 (prompts fixed), 0.1596 (both sampled)
    """
    table = _table(scores, "scores")
    seeds, n = table.shape
    if seeds < 2 or n < 2:
        raise StatisticsError(f"`scores` must hold at least 2 seeds (rows) and 2 prompts, found {seeds} and {n}")
    mean = float(table.mean())
    by_seed, by_prompt = table.mean(axis=1) - mean, table.mean(axis=0) - mean
    left = table - mean - by_seed[:, None] - by_prompt
    ms_prompts = seeds * float(by_prompt @ by_prompt) / (n - 1)
    ms_seeds = n * float(by_seed @ by_seed) / (seeds - 1)
    ms_left = float((left**2).sum()) / ((n - 1) * (seeds - 1))
    cells = n * seeds
    v_p, v_s, v_i = ms_prompts / cells, ms_seeds / cells, ms_left / cells
    return CrossedVariance(
        mean=mean,
        n_seeds=seeds,
        n_prompts=n,
        part_prompts=v_p,
        part_seeds=v_s,
        part_interaction=v_i,
        se_seeds_fixed=math.sqrt(v_p),
        se_prompts_fixed=math.sqrt(v_s),
        se_both_sampled=math.sqrt(max(v_p + v_s - v_i, v_p, v_s)),
        se_both_fixed=_both_fixed(table.shape, within, n_draws),
        variance_prompts=(ms_prompts - ms_left) / seeds,
        variance_seeds=(ms_seeds - ms_left) / n,
        variance_interaction=ms_left,
        seed_sd=math.sqrt(ms_seeds / n),
    )


def _both_fixed(shape: tuple[int, ...], within: ArrayLike | None, n_draws: ArrayLike | None) -> float | None:
    if within is None or n_draws is None:
        return None
    variances, counts = _table(within, "within"), _table(n_draws, "n_draws")
    for name, own in (("within", variances.shape), ("n_draws", counts.shape)):
        if own != shape:
            raise StatisticsError(f"`{name}` has the shape {own}, expected {shape}")
    if variances.min() < 0 or counts.min() < 1:
        raise StatisticsError("`within` must be at least 0, and `n_draws` at least 1")
    return math.sqrt(float((variances / counts).sum())) / variances.size


def _table(values: ArrayLike, name: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"`{name}` must hold numbers: {error}") from None
    if table.ndim != 2:
        raise StatisticsError(f"`{name}` must be a table of seeds × prompts, found {table.ndim} D")
    if not np.isfinite(table).all():
        raise StatisticsError(f"`{name}` must be finite: keep prompts that every seed answered")
    return table
