"""Which ranks by ability the answers leave each model (statistics.md §2 and §13).

The set of a model holds [1 + models wholly better, M − models wholly worse] by intervals of its
differences with all others that hold together (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_level, as_seed
from warehouse.stats.core.result_base import Figures
from warehouse.stats.items.abilities import Abilities

#: With more models the critical values are Bonferroni's: a little wider, and at once.
MOST_DRAWN = 200


@dataclass(frozen=True, eq=False)
class AbilityRanks(Figures):
    """Ranks by ability, 1 the most able.

    Attributes:
        rank: by the estimates, ties in the order of the models, shape (M,).
        low, high: ends of each model's rank set, shape (M,); None without errors.
        level: chance that the set holds the model's rank.
        method: ``max_t`` (draws of the largest |T| over a model's own differences) or ``bonferroni``.
    """

    rank: NDArray[np.intp]
    low: NDArray[np.intp] | None
    high: NDArray[np.intp] | None
    level: float
    method: str


def ability_ranks(estimates: Abilities, *, level: float = 0.95, seed: int = 0, n_draws: int = 1999) -> AbilityRanks:
    """Rank sets from the joint errors of abilities.

    Args:
        estimates: abilities with their covariance (`abilities`).
        level: of each set.
        seed: of the draws.
        n_draws: from the normal, or Student's t with the degrees of freedom of the abilities.

    Raises:
        StatisticsError: a level outside (0, 1), too few draws for it.
    """
    level = as_level(level)
    rng = np.random.default_rng(as_seed(seed))
    m = len(estimates.ability)
    rank = np.empty(m, dtype=np.intp)
    rank[np.argsort(-estimates.ability, kind="stable")] = np.arange(1, m + 1)
    if estimates.reason:
        return AbilityRanks(rank, None, None, level, "none")
    place = math.ceil(level * (n_draws + 1))
    if place > n_draws:
        raise StatisticsError(f"`n_draws` must be at least {math.ceil(level / (1 - level))}, found {n_draws}")
    variance = estimates.covariance.diagonal()
    se = np.sqrt(np.maximum(variance[:, None] + variance - 2 * estimates.covariance, 0))
    np.fill_diagonal(se, np.inf)
    if m > MOST_DRAWN:
        method = "bonferroni"
        critical = np.full(m, special.stdtrit(estimates.df, 1 - (1 - level) / (2 * (m - 1))))
    else:
        method = "max_t"
        z = _draws(estimates, n_draws, rng)
        largest = ((np.abs(z[:, i : i + 1] - z) / _safe(se[i])).max(axis=1) for i in range(m))
        critical = np.array([np.partition(own, place - 1)[place - 1] for own in largest])
    gap = estimates.ability[:, None] - estimates.ability
    far = critical[:, None] * se
    low, high = 1 + (gap < -far).sum(axis=1), m - (gap > far).sum(axis=1)
    return AbilityRanks(rank, low.astype(np.intp), high.astype(np.intp), level, method)


def _draws(estimates: Abilities, n: int, rng: np.random.Generator) -> FloatArray:
    """Errors of the abilities, shape (n, M)."""
    values, vectors = np.linalg.eigh(estimates.covariance)
    z = rng.standard_normal((n, len(values))) * np.sqrt(np.maximum(values, 0)) @ vectors.T
    if math.isfinite(estimates.df):
        z /= np.sqrt(rng.chisquare(estimates.df, (n, 1)) / estimates.df)
    return np.asarray(z)


def _safe(se: FloatArray) -> FloatArray:
    """Differences without an error separate nobody in the draws."""
    return np.where(se > 0, se, np.inf)
