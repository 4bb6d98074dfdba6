"""A suite in one figure, five ways side by side, and how their rankings differ (Perlitz et al. 2024
§5.2, §5.5; statistics.md §6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.result_base import Figures
from warehouse.stats.suites.rank_agreement import kendall_tau_b
from warehouse.stats.suites.score_table import SuiteScores
from warehouse.stats.suites.win_rates import (
    TIES_HALF,
    TIES_PUBLISHED,
    comparable,
    mean_over_scenarios,
    ranks_of,
    win_rates,
)

#: Names of the aggregates, in the order of the rows.
AGGREGATES = ("mean_win_rate", "mean", "mean_z", "bradley_terry", "subscenario_win_rate")
_ROUNDS, _TOLERANCE = 200, 1e-12


@dataclass(frozen=True, eq=False)
class Aggregates(Figures):
    """Models by five aggregates.

    Attributes:
        names: of the aggregates, K of them.
        figures: NaN where a model has none, shape (K, M).
        ranks: 1 + number of strictly greater figures (12 digits), shape (K, M).
        tau: Kendall's τ-b between the rankings, shape (K, K); NaN where one is constant.
        n_scenarios: that each model has, shape (M,): figures of those that lack some are over the rest.
    """

    names: tuple[str, ...]
    figures: FloatArray
    ranks: FloatArray
    tau: FloatArray
    n_scenarios: FloatArray

    def __str__(self) -> str:
        moved = int((np.nanmax(self.ranks, axis=0) > np.nanmin(self.ranks, axis=0)).sum())
        return f"{self.figures.shape[1]} models by {len(self.names)} aggregates, {moved} of them change rank"


def aggregates(suite: SuiteScores, *, ties: float = TIES_PUBLISHED, partial: bool = False) -> Aggregates:
    """Mean win rate, mean, mean z-score, Bradley–Terry strength and win rate over subscenarios.

    The mean z-score is over scenarios, in standard deviations (ddof 0) of the models that have the
    scenario; one that all tie gives 0.

    Args:
        suite: the scores.
        ties: what a tie counts in the win rates.
        partial: a scenario's score is over the subscenarios that a model has; else only models with
            all of them have one.

    Raises:
        StatisticsError: no scenario that two models have.
    """
    scores = comparable(suite.scores(suite.means, partial=partial))
    scores = np.where((~np.isnan(scores)).sum(axis=1, keepdims=True) > 1, scores, np.nan)
    if np.isnan(scores).all():
        raise StatisticsError("no scenario has scores of two models: there is nothing to compare")
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
    tau = np.array([kendall_tau_b(one, figures) for one in figures])
    return Aggregates(AGGREGATES, figures, ranks_of(figures), tau, (~np.isnan(scores)).sum(axis=0).astype(np.float64))


def bradley_terry(scores: FloatArray) -> FloatArray:
    """Log strengths, mean 0: P(i beats j on a scenario) = σ(s_i − s_j), ties ½ and half a win added
    each way for every pair (so that all are finite), by Newton's method.

    Args:
        scores: comparable scenario scores, NaN where lacking, shape (C, M).

    Returns:
        NaN for a model without a scenario, shape (M,).
    """
    there = ~np.isnan(scores)
    kept = there.any(axis=0)
    x, known = scores[:, kept], there[:, kept]
    m = x.shape[1]
    wins = np.zeros((m, m))
    for c in range(len(x)):
        both = known[c][:, None] & known[c][None, :]
        wins += both * (TIES_HALF * (x[c][:, None] == x[c][None, :]) + (x[c][:, None] > x[c][None, :]))
    wins += 0.5
    np.fill_diagonal(wins, 0.0)
    games, strength = wins + wins.T, np.zeros(m)
    for _ in range(_ROUNDS):
        p = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        slope = (wins - games * p).sum(axis=1)
        curve = games * p * (1 - p)
        information = np.diag(curve.sum(axis=1)) - curve + 1.0 / m  # the last term holds the mean
        step = np.linalg.solve(information, slope)
        strength += np.clip(step, -2, 2)
        if np.abs(step).max() < _TOLERANCE:
            break
    strengths = np.full(scores.shape[1], np.nan)
    strengths[kept] = strength - strength.mean()
    return strengths


def _z_scores(scores: FloatArray) -> FloatArray:
    known = ~np.isnan(scores)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)
    filled = np.where(known, scores, 0.0)
    centred = np.where(known, scores - filled.sum(axis=1, keepdims=True) / n, 0.0)
    spread = np.sqrt((centred**2).sum(axis=1, keepdims=True) / n)
    size = np.abs(filled).max(axis=1, keepdims=True)
    flat = spread <= 1e-12 * size
    return np.where(known, np.where(flat, 0.0, centred / np.where(flat, 1.0, spread)), np.nan)
