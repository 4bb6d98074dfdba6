"""A table of prompts × conditions as the sum of a part of the prompt and one of the
condition, with gaps where a prompt lacks one (statistics.md §27, step 1).

Least squares of y_ij = a_i + c_j + e_ij over the cells there are, Σ c_j = 0. R is how
far prompts × conditions and draws alone move the c_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Clusters, FloatArray, as_clusters, as_floats
from warehouse.stats.core.sample import components
from warehouse.stats.rows.seed_fit import squared_error


@dataclass(frozen=True)
class ConditionFit:
    """Parts of prompts and conditions."""

    prompt_parts: FloatArray  #: a_i, shape (n,).
    condition_parts: FloatArray  #: c_j, shape (J,).
    noise: FloatArray  #: R: covariance of the c_j by what is left, shape (J, J).
    residuals: FloatArray  #: u_ij, 0 where there is no cell, shape (n, J).
    inverse: FloatArray  #: S⁺, shape (J, J).
    shares: FloatArray  #: ō_j: mean over prompts of o_ij/m_i, shape (J,).
    is_unlinked: bool  #: every prompt is in one condition only.
    clusters: Clusters | None  #: of the prompts.

    @property
    def n_prompts(self) -> int:
        """n."""
        return len(self.prompt_parts)


def fit_conditions(cells: FloatArray, clusters: ArrayLike | None) -> ConditionFit:
    """The fit of a table.

    Args:
        cells: mean score over draws, prompts × conditions, NaN where there is none;
            every prompt and every condition has a cell.
        clusters: cluster of each prompt, or None.

    Raises:
        StatisticsError: conditions fall apart into groups that share no prompts.
    """
    groups = None if clusters is None else as_clusters(clusters, len(cells))
    scored = np.isfinite(cells)
    cells_of_prompt = scored.sum(axis=1)
    if cells.shape[1] > 1 and (cells_of_prompt == 1).all():
        return _unlinked(cells, scored, groups)
    _check_joined(scored)
    filled = np.where(scored, cells, 0.0)
    present = scored.astype(np.float64)
    by_prompt = present / cells_of_prompt[:, None]
    inverse = _pseudo_inverse(np.diag(present.sum(axis=0)) - present.T @ by_prompt)
    prompt_means = filled.sum(axis=1) / cells_of_prompt
    condition_parts = inverse @ (filled.sum(axis=0) - present.T @ prompt_means)
    prompt_parts = prompt_means - by_prompt @ condition_parts
    rest = filled - prompt_parts[:, None] - condition_parts
    residuals = np.where(scored, rest, 0.0)
    return ConditionFit(
        prompt_parts=prompt_parts,
        condition_parts=condition_parts,
        noise=inverse @ _spread(residuals, groups) @ inverse,
        residuals=residuals,
        inverse=inverse,
        shares=by_prompt.mean(axis=0),
        is_unlinked=False,
        clusters=groups,
    )


def as_table(cells: ArrayLike) -> FloatArray:
    """A table of prompts × conditions (StatisticsError: another shape, or infinite)."""
    table = as_floats(cells, "cells")
    if table.ndim != 2 or not table.size:
        raise StatisticsError(
            f"`cells` must be prompts x conditions, found shape {table.shape}"
        )
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        raise StatisticsError(
            f"`cells` holds infinite scores (first: prompt {row}, condition {column})"
        )
    return table


def _pseudo_inverse(s: FloatArray) -> FloatArray:
    """S⁺ of a matrix whose null space is that of equal numbers. A pseudo-inverse at
    machine tolerance inverts that direction."""
    n_conditions = len(s)
    ones = np.ones((n_conditions, n_conditions))
    inverse: FloatArray = np.linalg.inv(s + ones) - ones / n_conditions**2
    return inverse


def _spread(residuals: FloatArray, clusters: Clusters | None) -> FloatArray:
    """Σ over clusters of the products of their sums, over what is left beside each."""
    n_prompts = len(residuals)
    if clusters is None:
        if n_prompts < 2:
            return np.full((residuals.shape[1],) * 2, np.nan)
        plain: FloatArray = residuals.T @ residuals / (1 - 1 / n_prompts)
        return plain
    sums = np.zeros((clusters.n, residuals.shape[1]))
    np.add.at(sums, clusters.codes, residuals)
    left = 1 - clusters.sizes / n_prompts
    if clusters.n < 2:
        return np.full((residuals.shape[1],) * 2, np.nan)
    clustered: FloatArray = (sums / left[:, None]).T @ sums
    return clustered


def _check_joined(scored: NDArray[np.bool_]) -> None:
    """Refuse conditions that no common prompts hold together."""
    if scored.all():
        return
    prompts, conditions = np.nonzero(scored)
    n_prompts, n_conditions = scored.shape
    if components(conditions, prompts + n_conditions, n_prompts + n_conditions).any():
        raise StatisticsError(
            "conditions fall apart into groups that share no prompts; ask about each "
            "group by itself"
        )


def _unlinked(
    cells: FloatArray, scored: NDArray[np.bool_], clusters: Clusters | None
) -> ConditionFit:
    """Each condition with prompts of its own: c_j is the mean of them."""
    n_prompts, n_conditions = cells.shape
    means, squared = [], []
    for j in range(n_conditions):
        has = scored[:, j]
        some_clusters = None if clusters is None else clusters.codes[has]
        mean, own, _ = squared_error(cells[has, j], some_clusters, None)
        if own is None:
            raise StatisticsError(
                f"condition {j} has a single prompt or cluster, and shares none with "
                "others"
            )
        means.append(mean)
        squared.append(own)
    parts = np.array(means)
    centre = float(parts.mean())
    residuals = np.where(scored, cells - parts, 0.0)
    # what each prompt moves the mean of the conditions' means by, times n
    influence = n_prompts / n_conditions / scored.sum(axis=0)
    return ConditionFit(
        prompt_parts=centre + residuals @ influence,
        condition_parts=parts - centre,
        noise=np.diag(squared),
        residuals=residuals,
        inverse=np.zeros((n_conditions, n_conditions)),
        shares=np.full(n_conditions, 1 / n_conditions),
        is_unlinked=True,
        clusters=clusters,
    )
