"""Few-shot seeds of a suite: each prompt under all of them, or prompts and seeds drawn
together, at equal budgets (Perlitz et al. 2024 figs. 4 and 7; statistics.md §6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.suites.dior import quantile_bound
from warehouse.stats.suites.instances import BLOCK, draw_counts, draw_subsets
from warehouse.stats.suites.rank_agreement import kendall_tau_b
from warehouse.stats.suites.score_table import (
    TIES_HALF,
    Subscenario,
    SuiteScores,
    comparable,
    mean_over_scenarios,
    win_rates,
)

#: Prompts of a subscenario that are tried under all seeds.
SIZES = (10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class SeedDesign(NamedFigures):
    """One budget of calls spent in two ways (Perlitz et al. 2024 figs. 4 and 7)."""

    #: ``bootstrap``: instances with replacement; ``subsample``: without, so that all
    #: calls that there are leave nothing open.
    resampling: str
    budget: int  #: calls (a prompt under one few-shot seed) for each subscenario with seeds.
    #: ranking_full, ranking_uniform: DIoR of the ranking (2.5 % quantile of τ-b over
    #: instances): each prompt under all seeds, or prompts and seeds drawn together;
    #: None if undefined.
    ranking_full: float | None
    ranking_uniform: float | None
    #: width_full, width_uniform: width of the central 95 % of mean win rate − mean win
    #: rate of the suite, mean over models.
    width_full: float
    width_uniform: float
    #: error_full, error_uniform: Monte Carlo error of these: standard deviation over
    #: ten parts of the instances, over √10; NaN below 20.
    error_full: float
    error_uniform: float
    #: mean_width_full, mean_width_uniform: width of the central 95 % of the mean score
    #: over subscenarios that a model has, mean over models, in units of the scores.
    mean_width_full: float
    mean_width_uniform: float
    #: mean_error_full, mean_error_uniform: Monte Carlo error of these.
    mean_error_full: float
    mean_error_uniform: float

    def __str__(self) -> str:
        widths = (
            f"width {self.width_full:.3g} (all seeds), {self.width_uniform:.3g} "
            "(uniform)"
        )
        return f"{self.resampling}, {self.budget} calls: {widths}"


def interval_width(rates: FloatArray, reference: FloatArray) -> tuple[float, float]:
    """Mean over models of the width of the central 95 %, and its Monte Carlo error (see
    `SeedDesign`).

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


def seed_designs(
    suite: SuiteScores,
    sizes: Sequence[int] | None = None,
    *,
    n_resamples: int = 1000,
    seed: int = 0,
) -> list[SeedDesign]:
    """Both designs at equal budgets, with replacement (bootstrap) and without
    (subsample).

    A budget of S·K calls is S prompts of a subscenario under each of its K seeds, or
    S·K cells drawn from all prompts × seeds. Subscenarios without seeds are as they are
    in both.

    Args:
        suite: scores, some of them by few-shot seed.
        sizes: S, prompts of a subscenario under all seeds; None: 10, 20, 50 … up to the
            largest.
        n_resamples: instances of each.
        seed: of them.

    Returns:
        a row for each resampling and budget.

    Raises:
        StatisticsError: no subscenario with several few-shot seeds, sizes below 1.
    """
    with_seeds = [sub for sub in suite.subscenarios if sub.seeds is not None]
    if not with_seeds:
        raise StatisticsError("no subscenario has scores under several few-shot seeds")
    most = max(sub.n for sub in with_seeds)
    tried_sizes = (
        [*(size for size in SIZES if size < most), most]
        if sizes is None
        else list(sizes)
    )
    if min(tried_sizes, default=0) < 1 or n_resamples < 1:
        raise StatisticsError(
            f"sizes and instances must be at least 1, found {sizes}, {n_resamples}"
        )
    k = max(len(sub.seeds) for sub in with_seeds if sub.seeds is not None)
    return [
        _design(suite, size, size * k, again, n_resamples, as_seed(seed))
        for again, size in product((True, False), tried_sizes)
    ]


def _design(
    suite: SuiteScores, size: int, budget: int, again: bool, n_resamples: int, seed: int
) -> SeedDesign:
    """One budget; ``again``: with replacement."""
    reference = mean_over_scenarios(
        win_rates(comparable(suite.scores(suite.means)), TIES_HALF)
    )
    figures: dict[str, float | None] = {}
    for name in ("full", "uniform"):
        rates, means = _rates(suite, size, name == "uniform", again, n_resamples, seed)
        figures[f"width_{name}"], figures[f"error_{name}"] = interval_width(
            rates, reference
        )
        own = np.nanmean(suite.means, axis=0)
        figures[f"mean_width_{name}"], figures[f"mean_error_{name}"] = interval_width(
            means, own
        )
        figures[f"ranking_{name}"] = quantile_bound(
            kendall_tau_b(reference, rates)
        ).value
    return SeedDesign(
        resampling="bootstrap" if again else "subsample",
        budget=budget,
        **figures,  # type: ignore[arg-type]
    )


def _rates(
    suite: SuiteScores,
    size: int,
    uniform: bool,
    again: bool,
    n_resamples: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Mean win rates and mean scores of subscenarios of instances, shape (B, M) each."""
    which = 10 + uniform + 2 * (not again)
    rngs = [
        np.random.default_rng([seed, which, size, index])
        for index in range(len(suite.subscenarios))
    ]
    parts, scores_of = [], []
    for start in range(0, n_resamples, BLOCK):
        b = min(BLOCK, n_resamples - start)
        several = zip(suite.subscenarios, rngs, strict=True)
        means = np.stack(
            [_means(sub, rng, b, size, uniform, again) for sub, rng in several], axis=1
        )
        parts.append(
            mean_over_scenarios(win_rates(comparable(suite.scores(means)), TIES_HALF))
        )
        scores_of.append(np.nanmean(means, axis=1))
    return np.concatenate(parts), np.concatenate(scores_of)


def _means(
    subscenario: Subscenario,
    rng: np.random.Generator,
    b: int,
    size: int,
    uniform: bool,
    again: bool,
) -> FloatArray:
    if subscenario.seeds is None:
        return np.broadcast_to(subscenario.means, (b, len(subscenario.means)))
    k, n, m = subscenario.seeds.shape
    prompts = min(size, n)
    drawn = draw_subsets
    if again:
        drawn = draw_counts
    if uniform:
        return np.asarray(
            drawn(rng, b, k * n, k * prompts)
            @ subscenario.seeds.reshape(k * n, m)
            / (k * prompts)
        )
    return np.asarray(
        drawn(rng, b, n, prompts) @ subscenario.seeds.mean(axis=0) / prompts
    )
