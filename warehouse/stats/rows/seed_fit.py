"""A table of seeds × prompts as the sum of a part of the prompt and one of the seed,
with gaps where a seed lacks one.

Least squares of y_si = a_i + b_s + e_si over the cells there are, Σ b_s = 0. On a full
table a_i is the mean of the prompt over seeds and b_s that of the seed less the mean of
all. Three squared errors of the mean follow (statistics.md §20 A): V_p, what other
prompts would change; V_s, what other seeds would; V_i, what draws and the interaction
of prompt and seed alone would move the means of the seeds by, which both of the others
hold already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    ROUNDING,
    FloatArray,
    as_clusters,
    as_floats,
    as_prompt_weights,
    is_constant,
)
from warehouse.stats.core.sample import components, describe, linearise

#: A seed is whole that has a score on this share of the prompts that some seed has one
#: on.
WHOLE = 0.95
#: Alternating least squares stop where no part of a seed moves by more than this share
#: of the scores' size.
_STILL = 1e-14
_MOST_ROUNDS = 10_000
_APART = "`cells`: seeds have too few prompts in common to be told from them"


@dataclass(frozen=True)
class SeedFit:
    """Parts of the prompts and of the seeds, and the squared errors of their mean."""

    mean: float  #: mean over prompts of ``prompt_parts`` (weighted where prompts are).
    prompt_parts: FloatArray  #: a_i: the score of each prompt by a seed like the others, shape (n,).
    seed_parts: FloatArray  #: b_s: what each seed adds to every prompt, shape (S,).
    #: V_p = s²(a)/n, or CR2² with clusters; None for one prompt or cluster.
    v_prompts: float | None
    df_prompts: float | None  #: ν_p: n − 1, or Satterthwaite's.
    v_seeds: float | None  #: V_s = s²(b)/S; None for one seed.
    v_interaction: float | None  #: V_i; None for one seed, one prompt or one cluster.

    @property
    def n_seeds(self) -> int:
        """S."""
        return len(self.seed_parts)

    @property
    def n_prompts(self) -> int:
        """Prompts n."""
        return len(self.prompt_parts)


def fit_seeds(
    cells: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> SeedFit:
    """The fit of a table of seeds × prompts, and the squared errors of its mean.

    Args:
        cells: mean score over draws of each seed on each prompt, NaN where it has none,
            shape (S, n); every seed and every prompt has a score.
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        weights: weight of each prompt, at least 0, shape (n,), or None.

    Raises:
        StatisticsError: another shape, infinite scores, a seed or a prompt without any,
            seeds that no prompt joins.

    Examples:
        >>> fit = fit_seeds([[1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 1, 0]])
        >>> round(fit.mean, 4), fit.seed_parts.round(4).tolist()
        (0.5833, [-0.0833, -0.0833, 0.1667])
    """
    table = as_cells(cells)
    checked = None if weights is None else as_prompt_weights(weights, table.shape[1])
    if checked is not None and is_constant(checked):
        checked = None
    prompt_parts, seed_parts = _parts(table, checked)
    mean, v_prompts, df_prompts = squared_error(prompt_parts, clusters, checked)
    n_seeds = len(table)
    if n_seeds < 2:
        return SeedFit(
            mean, prompt_parts, seed_parts, v_prompts, df_prompts, None, None
        )
    v_seeds = float(seed_parts @ seed_parts) / (n_seeds - 1) / n_seeds
    return SeedFit(
        mean=mean,
        prompt_parts=prompt_parts,
        seed_parts=seed_parts,
        v_prompts=v_prompts,
        df_prompts=df_prompts,
        v_seeds=v_seeds,
        v_interaction=_interaction(table, prompt_parts, clusters, checked),
    )


def as_cells(cells: ArrayLike, name: str = "cells") -> FloatArray:
    """A table of seeds × prompts (StatisticsError: another shape, infinite, or a seed
    or prompt without a score)."""
    table = as_floats(cells, name)
    if table.ndim != 2 or not table.size:
        raise StatisticsError(
            f"`{name}` must be seeds x prompts, found shape {table.shape}"
        )
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        raise StatisticsError(
            f"`{name}` holds infinite scores (first: seed {row}, prompt {column})"
        )
    scored = np.isfinite(table)
    for axis, what in ((1, "seed"), (0, "prompt")):
        empty = np.flatnonzero(~scored.any(axis=axis))
        if len(empty):
            raise StatisticsError(
                f"`{name}`: {what} {empty[0]} has no score; leave it out"
            )
    return table


def whole_seeds(cells: ArrayLike) -> NDArray[np.bool_]:
    """Which seeds have a score on at least .95 of the prompts that some seed has one
    on, shape (S,).

    Args:
        cells: as of `fit_seeds`; a seed may be without a score.

    Examples:
        >>> whole_seeds([[1, 0], [1, float("nan")]]).tolist()
        [True, False]
    """
    scored = np.isfinite(as_floats(cells, "cells"))
    n_prompts = int(scored.any(axis=0).sum())
    is_whole: NDArray[np.bool_] = scored.sum(axis=1) >= WHOLE * n_prompts * (
        1 - ROUNDING
    )
    return is_whole & scored.any(axis=1)


def squared_error(
    values: FloatArray, clusters: ArrayLike | None, weights: FloatArray | None
) -> tuple[float, float | None, float | None]:
    """Mean of values with its squared error (CLT, CR2, or that of a weighted mean) and
    its degrees of freedom.

    The squared error is None for one value or cluster.
    """
    if weights is not None and weights.min() == 0:
        has_weight = weights > 0
        if clusters is None:
            some = None
        else:
            some = np.asarray(clusters)[has_weight]
        return squared_error(values[has_weight], some, weights[has_weight])
    if clusters is None:
        groups = None
    else:
        groups = as_clusters(clusters, len(values))
    if weights is None:
        shares = None
    else:
        shares = weights / weights.mean()
    sample = describe(linearise(values, weights), groups, shares=shares)
    return sample.mean, None if sample.se is None else sample.se**2, sample.df


def _parts(
    table: FloatArray, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """a_i and b_s; each seed's mean is over the prompts that it has, by weight."""
    scored = np.isfinite(table)
    if weights is None:
        relative = np.ones(table.shape[1])
    else:
        relative = weights / weights.mean()
    by_prompt = np.where(scored, relative, 0.0)
    filled = np.where(scored, table, 0.0)
    counts, masses = scored.sum(axis=0), by_prompt.sum(axis=1)
    if masses.min() == 0:
        raise StatisticsError(
            f"`cells`: seed {int(np.argmin(masses))} has scores on prompts of weight 0 "
            "alone"
        )
    _check_joined(scored)
    scale = float(np.abs(filled).max())
    seed_parts = np.zeros(len(table))
    for _ in range(_MOST_ROUNDS):
        prompt_parts = (
            np.where(scored, filled - seed_parts[:, None], 0.0).sum(axis=0) / counts
        )
        moved = (by_prompt * (filled - prompt_parts)).sum(axis=1) / masses
        moved -= moved.mean()
        still = np.abs(moved - seed_parts).max() <= _STILL * scale
        seed_parts = moved
        if still or scored.all():
            break
    else:
        raise StatisticsError(_APART)
    if len(table) > 1 and np.abs(seed_parts).max() <= ROUNDING * scale:
        seed_parts = np.zeros(len(table))
    prompt_parts = (
        np.where(scored, filled - seed_parts[:, None], 0.0).sum(axis=0) / counts
    )
    return prompt_parts, seed_parts


def _check_joined(scored: NDArray[np.bool_]) -> None:
    """Refuse seeds that no prompts in common hold together: then parts of prompts and
    seeds are not told apart."""
    if scored.all():
        return
    seeds, prompts = np.nonzero(scored)
    n_seeds, n_prompts = scored.shape
    if components(seeds, prompts + n_seeds, n_seeds + n_prompts).any():
        raise StatisticsError(_APART)


def _interaction(
    table: FloatArray,
    prompt_parts: FloatArray,
    clusters: ArrayLike | None,
    weights: FloatArray | None,
) -> float | None:
    """V_i = Σ_s squared error of y_s· − a over the prompts that seed s has, over S(S −
    1)."""
    n_seeds = len(table)
    total = 0.0
    for row in table:
        has = np.isfinite(row)
        if clusters is None:
            some_clusters = None
        else:
            some_clusters = np.asarray(clusters)[has]
        if weights is None:
            some_weights = None
        else:
            some_weights = weights[has]
        _, own, _ = squared_error(
            (row - prompt_parts)[has], some_clusters, some_weights
        )
        if own is None:
            return None
        total += own
    return total / (n_seeds * (n_seeds - 1))
