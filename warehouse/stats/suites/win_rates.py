"""Mean win rate: over scenarios, the share of other models that a model beats (Perlitz et al. 2024
appendix A; statistics.md §6). Figures are compared at 12 significant digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_floats

DIGITS = 12
#: What a tie counts: nothing, as published, or half a win.
TIES_PUBLISHED, TIES_HALF = 0.0, 0.5
#: Pools from which e_j is taken: without the best 0 to 4 models.
_POOLS = 5


def comparable(values: FloatArray) -> FloatArray:
    """Values rounded to 12 significant digits, NaN kept: what rounding alone tells apart is equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(np.abs(values)))
        shift = np.where(np.isfinite(exponent), DIGITS - 1 - exponent, 0.0)
        scale = 10.0 ** np.clip(shift, -290, 290)
        return np.asarray(np.round(values * scale) / scale + 0.0)


def win_rates(scores: FloatArray, ties: float, pool: NDArray[np.intp] | None = None) -> FloatArray:
    """Share of the other models of a scenario that each model beats.

    Args:
        scores: comparable scenario scores, NaN where a model lacks it, shape (…, C, M).
        ties: what a tie counts, 0 to 1.
        pool: opponents; None: all models.

    Returns:
        NaN where the model lacks the scenario, or nobody else has it, shape (…, C, M).
    """
    opponents = range(scores.shape[-1]) if pool is None else pool.tolist()
    wins, others = np.zeros(scores.shape), np.zeros(scores.shape[:-1])
    for m in opponents:
        other = scores[..., m : m + 1]
        beaten = scores > other
        wins += beaten
        if ties:
            tied = scores == other
            tied[..., m] = False
            wins += ties * tied
        others += ~np.isnan(other[..., 0])
    there = ~np.isnan(scores)
    own = np.isin(np.arange(scores.shape[-1]), list(opponents))
    rivals = others[..., None] - (there & own)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(there & (rivals > 0), wins / rivals, np.nan)


def mean_over_scenarios(rates: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Mean over the scenarios that a model has, shape (…, M); NaN for a model without any.

    Args:
        rates: shape (…, C, M), NaN where lacking.
        weights: how often each scenario counts, shape (B, C); None: once.
    """
    known = ~np.isnan(rates)
    filled = np.where(known, rates, 0.0)
    if weights is None:
        total, count = filled.sum(axis=-2), known.sum(axis=-2, dtype=np.float64)
    elif rates.ndim == 2:
        total, count = weights @ filled, weights @ known.astype(np.float64)
    else:
        total = np.einsum("bc,bcm->bm", weights, filled)
        count = np.einsum("bc,bcm->bm", weights, known.astype(np.float64))
    with np.errstate(invalid="ignore"):
        return np.asarray(total / count)


def mean_win_rate(scores: ArrayLike, *, ties: float = TIES_PUBLISHED) -> FloatArray:
    """Mean win rate of each model, shape (M,), in [0, 1].

    Args:
        scores: scenario scores, higher is better, NaN where a model lacks the scenario, shape (C, M).
        ties: what a tie counts: 0 as published, 0.5 for half a win.

    Raises:
        StatisticsError: another shape, infinite scores, ties outside [0, 1].

    Examples:
        >>> mean_win_rate([[3, 2, 1], [2, 3, 1], [9, 9, 9]]).tolist()
        [0.5, 0.5, 0.0]
    """
    values = as_floats(scores, "scores")
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < 2:
        raise StatisticsError(f"`scores` must be scenarios x models with 2 models or more, found shape {values.shape}")
    if np.isinf(values).any():
        raise StatisticsError("`scores` hold infinite values; a scenario that a model lacks is NaN")
    if not 0 <= ties <= 1:
        raise StatisticsError(f"`ties` must lie between 0 and 1, found {ties}")
    return mean_over_scenarios(win_rates(comparable(values), ties))


def ranks_of(figures: FloatArray) -> FloatArray:
    """1 + number of strictly greater figures at 12 digits, shape (…, M); NaN for NaN."""
    rounded = comparable(figures)
    greater = np.zeros(rounded.shape)
    for m in range(rounded.shape[-1]):
        greater += rounded[..., m : m + 1] > rounded
    return np.where(np.isnan(rounded), np.nan, greater + 1)


@dataclass(frozen=True, eq=False)
class Pool:
    """The models without the best j.

    Attributes:
        first: number of its best model.
        second: of the next.
        models: numbers of all, ascending.
    """

    first: int
    second: int
    models: NDArray[np.intp]


def best_first(figures: FloatArray, mean_scores: FloatArray, names: tuple[str, ...]) -> NDArray[np.intp]:
    """Models by figure (12 digits), then mean score, then name; those without a figure last."""
    keys = [comparable(np.where(np.isnan(x), -np.inf, x)) for x in (figures, mean_scores)]
    order = sorted(range(len(names)), key=lambda i: (-keys[0][i], -keys[1][i], names[i]))
    return np.array(order, dtype=np.intp)


def pools(scores: FloatArray, names: tuple[str, ...], ties: float) -> list[Pool]:
    """Pools j = 0…min(4, M−2): again and again the best model goes, and win rates are taken anew.

    Args:
        scores: comparable scenario scores, shape (C, M).
        names: of the models.
        ties: what a tie counts.
    """
    means = mean_over_scenarios(scores)
    alive = np.arange(len(names), dtype=np.intp)
    nested = []
    for _ in range(min(_POOLS, len(names) - 1)):
        rates = mean_over_scenarios(win_rates(scores[:, alive], ties))
        order = best_first(rates, means[alive], tuple(names[i] for i in alive))
        if np.isnan(rates[order[1]]):
            break
        nested.append(Pool(int(alive[order[0]]), int(alive[order[1]]), alive))
        alive = np.delete(alive, order[0])
    return nested
