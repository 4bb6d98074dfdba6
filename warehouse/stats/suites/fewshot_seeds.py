"""Every prompt under all few-shot seeds, or prompts and seeds drawn together: which spends a budget of
calls better (Perlitz et al. 2024 §5.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.suites.dior import quantile_bound
from warehouse.stats.suites.instances import BLOCK, draw_counts
from warehouse.stats.suites.rank_agreement import kendall_tau_b
from warehouse.stats.suites.score_table import Subscenario, SuiteScores
from warehouse.stats.suites.stability import SeedDesign, interval_width
from warehouse.stats.suites.win_rates import TIES_HALF, comparable, mean_over_scenarios, win_rates

#: Prompts of a subscenario that are tried under all seeds.
SIZES = (10, 20, 50, 100, 200, 500, 1000)


def seed_designs(
    suite: SuiteScores, sizes: Sequence[int] | None = None, *, n_resamples: int = 1000, seed: int = 0
) -> list[SeedDesign]:
    """Both designs at equal budgets, with replacement.

    A budget of S·K calls is S prompts of a subscenario under each of its K seeds, or S·K cells drawn
    from all prompts × seeds. Subscenarios without seeds are as they are in both.

    Args:
        suite: scores, some of them by few-shot seed.
        sizes: S, prompts of a subscenario under all seeds; None: 10, 20, 50 … up to the largest.
        n_resamples: instances of each.
        seed: of them.

    Raises:
        StatisticsError: no subscenario with several few-shot seeds, sizes below 1.
    """
    with_seeds = [one for one in suite.subscenarios if one.seeds is not None]
    if not with_seeds:
        raise StatisticsError("no subscenario has scores under several few-shot seeds")
    most = max(one.n for one in with_seeds)
    wanted = [*(size for size in SIZES if size < most), most] if sizes is None else list(sizes)
    if min(wanted, default=0) < 1 or n_resamples < 1:
        raise StatisticsError(f"sizes and instances must be at least 1, found {sizes}, {n_resamples}")
    reference = mean_over_scenarios(win_rates(comparable(suite.scores(suite.means)), TIES_HALF))
    k = max(len(one.seeds) for one in with_seeds if one.seeds is not None)
    designs = []
    for size in wanted:
        both = [_rates(suite, size, uniform, n_resamples, as_seed(seed)) for uniform in (False, True)]
        widths = [interval_width(rates, reference) for rates in both]
        rankings = [quantile_bound(kendall_tau_b(reference, rates)).value for rates in both]
        designs.append(
            SeedDesign(
                budget=size * k,
                ranking_full=rankings[0],
                ranking_uniform=rankings[1],
                width_full=widths[0][0],
                width_uniform=widths[1][0],
                error_full=widths[0][1],
                error_uniform=widths[1][1],
            )
        )
    return designs


def _rates(suite: SuiteScores, size: int, uniform: bool, n_resamples: int, seed: int) -> FloatArray:
    rngs = [np.random.default_rng([seed, 10 + uniform, size, place]) for place in range(len(suite.subscenarios))]
    parts = []
    for start in range(0, n_resamples, BLOCK):
        b = min(BLOCK, n_resamples - start)
        means = [_means(one, rng, b, size, uniform) for one, rng in zip(suite.subscenarios, rngs, strict=True)]
        scores = comparable(suite.scores(np.stack(means, axis=1)))
        parts.append(mean_over_scenarios(win_rates(scores, TIES_HALF)))
    return np.concatenate(parts)


def _means(one: Subscenario, rng: np.random.Generator, b: int, size: int, uniform: bool) -> FloatArray:
    if one.seeds is None:
        return np.broadcast_to(one.means, (b, len(one.means)))
    k, n, m = one.seeds.shape
    prompts = min(size, n)
    if uniform:
        return np.asarray(draw_counts(rng, b, k * n, k * prompts) @ one.seeds.reshape(k * n, m) / (k * prompts))
    return np.asarray(draw_counts(rng, b, n, prompts) @ one.seeds.mean(axis=0) / prompts)
