"""What a ranking by mean win rate owes to the pool of models, and whether subscenarios of one scenario
rank models alike (Perlitz et al. 2024 §5.2, §5.5, appendix B; statistics.md §6)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.result_base import Figures
from warehouse.stats.suites.rank_agreement import kendall_tau_b
from warehouse.stats.suites.score_table import SuiteScores
from warehouse.stats.suites.win_rates import TIES_PUBLISHED, comparable, mean_over_scenarios, ranks_of, win_rates


@dataclass(frozen=True, eq=False)
class PoolStability(Figures):
    """Ranks among the others with and without each model.

    Attributes:
        n_moved: of the others, how many then have another rank, shape (M,).
        largest: the largest change of a rank, shape (M,).
        n_reversed: pairs of the others that change order, or are tied only with it or only without
            it, shape (M,).
        leader_changes: another model is then first, shape (M,).
    """

    n_moved: NDArray[np.intp]
    largest: NDArray[np.intp]
    n_reversed: NDArray[np.intp]
    leader_changes: NDArray[np.bool_]

    def __str__(self) -> str:
        return f"{int((self.n_moved > 0).sum())} of {len(self.n_moved)} models move others when they leave"


def pool_stability(suite: SuiteScores, *, ties: float = TIES_PUBLISHED) -> PoolStability:
    """Rank changes among the others when one model leaves; read backwards, when it joins.

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
        before = np.where(np.isnan(after), np.nan, before)  # who had only this model to compare with
        ranks = np.array([ranks_of(before), ranks_of(after)])
        moves = np.abs(np.diff(ranks, axis=0)[0])
        i, j = np.triu_indices(m - 1, 1)
        signs = [np.sign(x[i] - x[j]) for x in (before, after)]
        turned = (signs[0] != signs[1]) & ~np.isnan(signs[0] + signs[1])
        leaders = [set(np.flatnonzero(row == 1).tolist()) for row in ranks]
        changes[:, gone] = np.nansum(moves > 0), np.nanmax(moves, initial=0), turned.sum(), leaders[0] != leaders[1]
    counts = changes.astype(np.intp)
    return PoolStability(counts[0], counts[1], counts[2], changes[3] > 0)


@dataclass(frozen=True, eq=False)
class SubscenarioAgreement(Figures):
    """Do subscenarios of one scenario rank models more alike than those of others?

    Attributes:
        tau: Kendall's τ-b between subscenarios over the models that both have, shape (L, L); NaN with
            fewer than 2 of them, or where one is constant.
        within: mean over pairs of one scenario; None without any.
        across: mean over pairs of two.
        n_within, n_across: such pairs with a τ.
    """

    tau: FloatArray
    within: float | None
    across: float | None
    n_within: int
    n_across: int

    def __str__(self) -> str:
        within, across = ("-" if x is None else f"{x:.3g}" for x in (self.within, self.across))
        return f"τ within scenarios {within} ({self.n_within} pairs), across {across} ({self.n_across})"


def subscenario_agreement(suite: SuiteScores) -> SubscenarioAgreement:
    """τ-b between the rankings of all pairs of subscenarios.

    Args:
        suite: the scores.
    """
    means = suite.means
    tau = np.array([kendall_tau_b(one, means) for one in means])
    i, j = np.triu_indices(len(means), 1)
    same, of_pairs = suite.scenario_of[i] == suite.scenario_of[j], tau[i, j]
    parts = [of_pairs[chosen & ~np.isnan(of_pairs)] for chosen in (same, ~same)]
    within, across = (float(part.mean()) if part.size else None for part in parts)
    return SubscenarioAgreement(tau, within, across, len(parts[0]), len(parts[1]))


@dataclass(frozen=True)
class SeedDesign(Figures):
    """One budget of calls spent in two ways.

    Attributes:
        budget: calls (a prompt under one few-shot seed) for each subscenario with seeds.
        ranking_full, ranking_uniform: DIoR of the ranking (2.5 % quantile of τ-b over instances): each
            prompt under all seeds, or prompts and seeds drawn together; None if undefined.
        width_full, width_uniform: width of the central 95 % of mean win rate − mean win rate of the
            suite, mean over models.
        error_full, error_uniform: Monte Carlo error of these: standard deviation over ten parts of the
            instances, over √10; NaN below 20.
    """

    budget: int
    ranking_full: float | None
    ranking_uniform: float | None
    width_full: float
    width_uniform: float
    error_full: float
    error_uniform: float

    def __str__(self) -> str:
        return f"{self.budget} calls: width {self.width_full:.3g} (all seeds), {self.width_uniform:.3g} (uniform)"


def interval_width(rates: FloatArray, reference: FloatArray) -> tuple[float, float]:
    """Mean over models of the width of the central 95 %, and its Monte Carlo error (see `SeedDesign`).

    Args:
        rates: of instances, shape (B, M).
        reference: of the suite, shape (M,).
    """

    def width(part: FloatArray) -> float:
        low, high = np.quantile(part - reference, [0.025, 0.975], axis=0)
        return float(np.nanmean(high - low))

    whole = width(rates)
    if len(rates) < 20:
        return whole, math.nan
    parts = [width(part) for part in np.array_split(rates, 10)]
    return whole, float(np.std(parts, ddof=1) / math.sqrt(10))
