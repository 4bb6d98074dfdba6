"""How far rankings of the same models agree: Kendall's τ-b, ways to aggregate, what a
pool of models decides (statistics.md §6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.suites.score_table import (
    TIES_HALF,
    TIES_PUBLISHED,
    SuiteScores,
    comparable,
    mean_over_scenarios,
    ranks_of,
    win_rates,
)

_CELLS = 1 << 22  # of one temporary array


def kendall_tau_b(reference: FloatArray, rankings: FloatArray) -> FloatArray:
    """τ-b of each ranking with the reference over the models that both have.

    Args:
        reference: figures, NaN where a model has none, shape (M,).
        rankings: shape (B, M).

    Returns:
        NaN with fewer than 2 models in common, or where either is constant over them;
        shape (B,).
    """

    def tau(x: FloatArray, y: FloatArray, i: FloatArray, j: FloatArray) -> FloatArray:
        del i, j
        both = ~np.isnan(x + y)
        a = np.where(both, np.sign(x), 0.0)
        b = np.where(both, np.sign(y), 0.0)
        untied = (a * a).sum(axis=1) * (b * b).sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray((a * b).sum(axis=1) / np.sqrt(untied))

    return _in_blocks(reference, rankings, tau)


def weighted_tau(reference: FloatArray, rankings: FloatArray) -> FloatArray:
    """Weighted τ of each ranking, as ``scipy.stats.weightedtau(rank=True)`` has it: the
    mean of both orders of importance, hyperbolic weights, added. Shapes and NaN as in
    `kendall_tau_b`."""

    def tau(x: FloatArray, y: FloatArray, i: FloatArray, j: FloatArray) -> FloatArray:
        a, b = np.sign(x), np.sign(y)
        total = np.zeros(len(y))
        for ranks in (i, j):
            weights = 1 / (1 + ranks)
            pairs = np.triu_indices(ranks.shape[1], 1)
            w = weights[:, pairs[0]] + weights[:, pairs[1]]
            untied = (w * a * a).sum(axis=1) * (w * b * b).sum(axis=1)
            with np.errstate(invalid="ignore"):
                total += (w * a * b).sum(axis=1) / np.sqrt(untied)
        return total / 2

    x, y = comparable(reference), comparable(rankings)
    gaps = np.isnan(x)[None] | np.isnan(y)
    whole = ~gaps.any(axis=1)
    taus = np.full(len(y), np.nan)
    taus[whole] = _in_blocks(x, y[whole], tau)
    for row in np.flatnonzero(~whole):  # models lack all that an instance drew: rare
        there = ~gaps[row]
        own_x, own_y = x[there], y[row, there]
        if there.sum() > 1 and np.ptp(own_x) > 0 and np.ptp(own_y) > 0:
            taus[row] = stats.weightedtau(own_x, own_y, rank=True).statistic
    return taus


def _in_blocks(
    reference: FloatArray,
    rankings: FloatArray,
    tau: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray],
) -> FloatArray:
    x, y = comparable(reference), comparable(rankings)
    first, second = np.triu_indices(len(x), 1)
    rows = max(1, _CELLS // max(1, len(first)))
    parts = [np.empty(0)]
    for start in range(0, len(y), rows):
        block = y[start : start + rows]
        xs = np.broadcast_to(x, block.shape)
        parts.append(
            tau(
                (x[first] - x[second])[None],
                block[:, first] - block[:, second],
                _importance(xs, block),
                _importance(block, xs),
            )
        )
    return np.concatenate(parts)


def _importance(x: FloatArray, y: FloatArray) -> FloatArray:
    """Rank of each model, 0 the most important: by x, then y, decreasing; shape (B, M)."""
    order = np.lexsort((y, x), axis=-1)[:, ::-1]
    ranks = np.empty(order.shape)
    places = np.arange(order.shape[1], dtype=np.float64)
    np.put_along_axis(ranks, order, places[None], axis=1)
    return ranks


#: Names of the aggregates, in the order of the rows.
AGGREGATES = (
    "mean_win_rate",
    "mean",
    "mean_z",
    "bradley_terry",
    "subscenario_win_rate",
)
_ROUNDS, _TOLERANCE = 200, 1e-12


@dataclass(frozen=True, eq=False)
class Aggregates(NamedFigures):
    """Models by five aggregates."""

    names: tuple[str, ...]  #: of the aggregates, K of them.
    figures: FloatArray  #: NaN where a model has none, shape (K, M).
    #: 1 + number of strictly greater figures (12 digits), shape (K, M).
    ranks: FloatArray
    tau: FloatArray  #: Kendall's τ-b between the rankings, shape (K, K); NaN where one is constant.
    n_scenarios: FloatArray  #: that each model has, shape (M,): figures of those that lack some are over the rest.

    def __str__(self) -> str:
        moved = int(
            (np.nanmax(self.ranks, axis=0) > np.nanmin(self.ranks, axis=0)).sum()
        )
        return (
            f"{self.figures.shape[1]} models by {len(self.names)} aggregates, {moved} "
            "of them change rank"
        )


def aggregates(
    suite: SuiteScores, *, ties: float = TIES_PUBLISHED, partial: bool = False
) -> Aggregates:
    """Mean win rate, mean, mean z-score, Bradley–Terry strength and win rate over
    subscenarios.

    The mean z-score is over scenarios, in standard deviations (ddof 0) of the models
    that have the scenario; one that all tie gives 0.

    Args:
        suite: the scores.
        ties: what a tie counts in the win rates.
        partial: a scenario's score is over the subscenarios that a model has; else only
            models with all of them have one.

    Raises:
        StatisticsError: no scenario that two models have.
    """
    scores = comparable(suite.scores(suite.means, partial=partial))
    scores = np.where(
        (~np.isnan(scores)).sum(axis=1, keepdims=True) > 1, scores, np.nan
    )
    if np.isnan(scores).all():
        raise StatisticsError(
            "no scenario has scores of two models: there is nothing to compare"
        )
    with np.errstate(invalid="ignore"):
        figures = np.array(
            [
                mean_over_scenarios(win_rates(scores, ties)),
                mean_over_scenarios(scores),
                mean_over_scenarios(_z_scores(scores)),
                bradley_terry(scores),
                mean_over_scenarios(win_rates(comparable(suite.means), ties)),
            ]
        )
    tau = np.array([kendall_tau_b(row, figures) for row in figures])
    return Aggregates(
        AGGREGATES,
        figures,
        ranks_of(figures),
        tau,
        (~np.isnan(scores)).sum(axis=0).astype(np.float64),
    )


def bradley_terry(scores: FloatArray) -> FloatArray:
    """Log strengths, mean 0: P(i beats j on a scenario) = σ(s_i − s_j), ties ½ and half
    a win added each way for every pair (so that all are finite), by Newton's method.

    Args:
        scores: comparable scenario scores, NaN where lacking, shape (C, M).

    Returns:
        NaN for a model without a scenario, shape (M,).
    """
    there = ~np.isnan(scores)
    has_scores = there.any(axis=0)
    x, scored = scores[:, has_scores], there[:, has_scores]
    m = x.shape[1]
    wins = np.zeros((m, m))
    for own, has_own in zip(x, scored, strict=True):
        both = has_own[:, None] & has_own[None, :]
        ties = own[:, None] == own[None, :]
        wins += both * (TIES_HALF * ties + (own[:, None] > own[None, :]))
    wins += 0.5
    np.fill_diagonal(wins, 0.0)
    games, strength = wins + wins.T, np.zeros(m)
    for _ in range(_ROUNDS):
        p = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        slope = (wins - games * p).sum(axis=1)
        curve = games * p * (1 - p)
        # the last term holds the mean
        information = np.diag(curve.sum(axis=1)) - curve + 1.0 / m
        step = np.linalg.solve(information, slope)
        strength += np.clip(step, -2, 2)
        if np.abs(step).max() < _TOLERANCE:
            break
    strengths = np.full(scores.shape[1], np.nan)
    strengths[has_scores] = strength - strength.mean()
    return strengths


def _z_scores(scores: FloatArray) -> FloatArray:
    scored = ~np.isnan(scores)
    n = np.maximum(scored.sum(axis=1, keepdims=True), 1)
    filled = np.where(scored, scores, 0.0)
    means = filled.sum(axis=1, keepdims=True) / n
    centred = np.where(scored, scores - means, 0.0)
    spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / n)
    size = np.abs(filled).max(axis=1, keepdims=True)
    flat = spread <= 1e-12 * size
    z = np.where(flat, 0.0, centred / np.where(flat, 1.0, spread))
    return np.where(scored, z, np.nan)


@dataclass(frozen=True, eq=False)
class PoolStability(NamedFigures):
    """Ranks among the others with and without each model."""

    #: of the others, how many then have another rank, shape (M,).
    n_moved: NDArray[np.intp]
    largest: NDArray[np.intp]  #: the largest change of a rank, shape (M,).
    #: pairs of the others that change order, or are tied only with it or only without
    #: it, shape (M,).
    n_reversed: NDArray[np.intp]
    leader_changes: NDArray[np.bool_]  #: another model is then first, shape (M,).

    def __str__(self) -> str:
        return (
            f"{int((self.n_moved > 0).sum())} of {len(self.n_moved)} models move "
            "others when they leave"
        )


def pool_stability(
    suite: SuiteScores, *, ties: float = TIES_PUBLISHED
) -> PoolStability:
    """Rank changes among the others when one model leaves; read backwards, when it
    joins.

    Args:
        suite: the scores; with 2 models nothing is left to change.
        ties: what a tie counts.
    """
    scores = comparable(suite.scores(suite.means))
    full = comparable(mean_over_scenarios(win_rates(scores, ties)))
    m = len(suite.models)
    changes = np.zeros((4, m))
    for gone in range(m):
        others = np.delete(np.arange(m), gone)
        before = full[others]
        after = comparable(mean_over_scenarios(win_rates(scores[:, others], ties)))
        # who had only this model to compare with
        before = np.where(np.isnan(after), np.nan, before)
        changes[:, gone] = _changes(before, after)
    counts = changes.astype(np.intp)
    return PoolStability(counts[0], counts[1], counts[2], changes[3] > 0)


def _changes(before: FloatArray, after: FloatArray) -> tuple[float, ...]:
    """Models that move, the farthest move, pairs that turn, and whether the first
    changes."""
    ranks_before, ranks_after = ranks_of(before), ranks_of(after)
    moves = np.abs(ranks_after - ranks_before)
    i, j = np.triu_indices(len(before), 1)
    sign_before = np.sign(before[i] - before[j])
    sign_after = np.sign(after[i] - after[j])
    both = ~np.isnan(sign_before + sign_after)
    turned = (sign_before != sign_after) & both
    leads_before = np.flatnonzero(ranks_before == 1).tolist()
    leads_after = np.flatnonzero(ranks_after == 1).tolist()
    return (
        float((moves > 0).sum()),
        float(np.nanmax(moves, initial=0)),
        float(turned.sum()),
        float(leads_before != leads_after),
    )


@dataclass(frozen=True, eq=False)
class SubscenarioAgreement(NamedFigures):
    """Do subscenarios of one scenario rank models more alike than those of others?"""

    #: Kendall's τ-b between subscenarios over the models that both have, shape (L, L);
    #: NaN with fewer than 2 of them, or where one is constant.
    tau: FloatArray
    within: float | None  #: mean over pairs of one scenario; None without any.
    across: float | None  #: mean over pairs of two.
    #: n_within, n_across: such pairs with a τ.
    n_within: int
    n_across: int

    def __str__(self) -> str:
        return (
            f"τ within scenarios {_or_dash(self.within)} ({self.n_within} pairs), "
            f"across {_or_dash(self.across)} ({self.n_across})"
        )


def _or_dash(tau: float | None) -> str:
    if tau is None:
        return "-"
    return f"{tau:.3g}"


def subscenario_agreement(suite: SuiteScores) -> SubscenarioAgreement:
    """τ-b between the rankings of all pairs of subscenarios.

    Args:
        suite: the scores.
    """
    means = suite.means
    tau = np.array([kendall_tau_b(row, means) for row in means])
    i, j = np.triu_indices(len(means), 1)
    same = suite.scenario_of[i] == suite.scenario_of[j]
    of_pairs = tau[i, j]
    known = ~np.isnan(of_pairs)
    within, across = of_pairs[same & known], of_pairs[~same & known]
    return SubscenarioAgreement(
        tau, _mean_or_none(within), _mean_or_none(across), len(within), len(across)
    )


def _mean_or_none(values: FloatArray) -> float | None:
    if values.size:
        return float(values.mean())
    return None
