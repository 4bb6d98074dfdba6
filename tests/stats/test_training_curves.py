"""Curves along training: means over seeds and prompts, departures from chance,
crossings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from warehouse.errors import StatisticsError
from warehouse.stats.training.curve_tests import binomial_p_above, crossing, departure
from warehouse.stats.training.seed_means import (
    difference_of_figures,
    difference_of_seed_means,
    figure_mean,
    seed_mean,
)
from warehouse.stats.training.seed_planning import (
    cheapest_plan,
    least_prompts,
    seed_power,
    seeds_needed,
)


def scores(
    rng: np.random.Generator,
    seeds: int,
    prompts: int,
    of_seed: float,
    of_item: float = 0.3,
) -> np.ndarray:
    """Seeds x prompts around 0: an effect of the prompt, one of the seed, and what is
    left."""
    items = rng.normal(0, of_item, prompts) if of_item else np.zeros(prompts)
    return (
        items
        + rng.normal(0, of_seed, seeds)[:, None]
        + rng.normal(0, 0.3, (seeds, prompts))
    )


# --- means over seeds and prompts ------------------------------------------------------------


def test_one_seed_is_a_t_test_over_prompts() -> None:
    x = np.random.default_rng(1).normal(0.1, 1, 40)
    found, oracle = seed_mean([x]), scipy_stats.ttest_1samp(x, 0)
    ends = oracle.confidence_interval()
    assert found.basis == "prompts" and found.interval() == pytest.approx(
        (ends.low, ends.high)
    )
    assert found.p_value() == pytest.approx(oracle.pvalue)
    above = scipy_stats.ttest_1samp(x, 0, alternative="greater").pvalue
    assert (found.p_above(), found.p_above(sign=-1)) == (
        pytest.approx(above),
        pytest.approx(1 - above),
    )


def test_figures_of_seeds_are_t_tests() -> None:
    a, b = [0.61, 0.58, 0.64, 0.60], [0.52, 0.57, 0.55]
    one, two = figure_mean(a), difference_of_figures(a, b)
    assert one.basis == "seeds" and one.p_value(0.5) == pytest.approx(
        scipy_stats.ttest_1samp(a, 0.5).pvalue
    )
    assert two.p_value() == pytest.approx(scipy_stats.ttest_ind(a, b).pvalue)
    alone = difference_of_figures([0.6], [0.5], [0.03], [0.04])
    assert alone.basis == "reported errors" and alone.standard_error == pytest.approx(
        0.05
    )
    assert alone.p_value() == pytest.approx(2 * scipy_stats.norm.sf(2))
    nothing = figure_mean([0.6], [math.nan])
    assert (
        nothing.basis == ""
        and nothing.interval() is None
        and math.isnan(nothing.p_value())
    )


def test_both_parts_by_a_slow_definition() -> None:
    x = scores(np.random.default_rng(2), 4, 60, 0.1)
    found = seed_mean(x)
    a = x.mean(axis=1).var(ddof=1) / 4
    b = (
        x.mean(axis=0).var(ddof=1) / 60
        - np.mean([x[:, i].var(ddof=1) for i in range(60)]) / 240
    )
    assert (found.seed_variance, found.prompt_variance) == (
        pytest.approx(a),
        pytest.approx(b),
    )
    half = math.sqrt(
        scipy_stats.t.ppf(0.975, 3) ** 2 * a + scipy_stats.t.ppf(0.975, 59) ** 2 * b
    )
    assert found.half_width() == pytest.approx(half)
    assert found.p_value(found.mean - half) == pytest.approx(0.05)
    other = scores(np.random.default_rng(3), 2, 60, 0.1)
    both = difference_of_seed_means(x, other)
    means = x.mean(axis=1), other.mean(axis=1)
    pooled = scipy_stats.ttest_ind(*means)
    assert both.seed_variance == pytest.approx((both.mean / pooled.statistic) ** 2)
    d = x.mean(axis=0) - other.mean(axis=0)
    w = (3 * x.var(axis=0, ddof=1).mean() + other.var(axis=0, ddof=1).mean()) / 4
    assert both.prompt_variance == pytest.approx(
        max(0, d.var(ddof=1) / 60 - w / 60 * (1 / 4 + 1 / 2))
    )


def test_clusters_widen_the_part_of_the_prompts() -> None:
    block = np.repeat(np.random.default_rng(4).normal(size=10), 6)
    x = np.array([block, block + 0.01])
    labels = np.repeat(np.arange(10), 6)
    assert (
        seed_mean(x, clusters=labels).prompt_variance > 3 * seed_mean(x).prompt_variance
    )


def test_a_mean_that_is_very_far_off_has_a_p_close_to_0() -> None:
    found = difference_of_figures([1e3], [0.0], [1.0], [1.0])
    assert (
        0 < found.p_value() < 1e-299
        and found.p_above() < 1e-299
        and found.p_above(sign=-1) == 1
    )


def test_what_does_not_vary_has_no_test() -> None:
    same = seed_mean(np.full((3, 20), 0.7))
    assert (
        same.standard_error == 0
        and same.interval() is None
        and math.isnan(same.p_value(0.25))
    )
    with pytest.raises(StatisticsError, match="seeds x prompts"):
        seed_mean([0.1, 0.2])
    with pytest.raises(StatisticsError, match="common ones"):
        difference_of_seed_means(np.zeros((2, 3)), np.zeros((2, 4)))
    with pytest.raises(StatisticsError, match="not finite"):
        seed_mean([[0.1, math.nan]])


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("of_seed", [0.0, 0.01, 0.05])
def test_the_interval_covers_with_few_seeds(seeds: int, of_seed: float) -> None:
    rng = np.random.default_rng(5)
    misses = sum(
        seed_mean(scores(rng, seeds, 200, of_seed)).p_value() <= 0.05
        for _ in range(1500)
    )
    assert (
        misses / 1500 <= 0.065
    )  # .05 and three Monte Carlo errors; it errs on the wide side


# --- departures ------------------------------------------------------------------------------


def test_exact_test_of_one_run() -> None:
    for k, n, chance in ((40, 100, 0.25), (0, 10, 0.5), (10, 10, 0.2)):
        oracle = scipy_stats.binomtest(k, n, chance, alternative="greater").pvalue
        assert binomial_p_above(k, n, chance) == pytest.approx(oracle)
    with pytest.raises(StatisticsError, match="chance in"):
        binomial_p_above(3, 10, 1.5)


def test_the_first_departure() -> None:
    found = departure([0.9, 1e-6, 0.4, math.nan, 1e-5, 1e-7])
    assert found.first == 1 and math.isnan(found.p_holm[3])
    assert departure([math.nan, 0.03, 0.04]).first is None  # .06 by Holm


@pytest.mark.slow
def test_a_curve_at_chance_rarely_leaves_it() -> None:
    rng = np.random.default_rng(6)
    alarms = 0
    for _ in range(1000):
        right = rng.binomial(200, 0.25, 20)
        alarms += (
            departure([binomial_p_above(k, 200, 0.25) for k in right]).first is not None
        )
    assert alarms / 1000 <= 0.07


# --- crossings -------------------------------------------------------------------------------


def test_a_crossing_lies_between_the_last_and_the_first_significant_difference() -> (
    None
):
    found = crossing(
        [-0.3, -0.2, -0.02, 0.01, 0.2, 0.3],
        [1e-9, 1e-6, 0.5, 0.6, 1e-6, 1e-9],
        [1, 2, 4, 8, 16, 32],
    )
    assert (found.low, found.high, found.ahead_before, found.ahead_after) == (
        2,
        16,
        -1,
        1,
    )
    assert found.position == pytest.approx(4 + 4 * 2 / 3) and (
        found.n_ahead,
        found.n_behind,
    ) == (2, 2)
    turned = crossing(
        [0.3, 0.2, 0.02, -0.01, -0.2, -0.3],
        [1e-9, 1e-6, 0.5, 0.6, 1e-6, 1e-9],
        [1, 2, 4, 8, 16, 32],
    )
    assert (turned.position, turned.ahead_before) == (found.position, 1)


def test_no_crossing_is_shown_without_both_signs() -> None:
    ahead = crossing([-0.01, 0.2, 0.3], [0.9, 1e-5, 1e-9], [1, 2, 3])
    assert (ahead.low, ahead.position, ahead.ahead_after, ahead.n_changes) == (
        None,
        None,
        1,
        0,
    )
    assert crossing([0.1, -0.1], [0.5, math.nan], [1, 2]).ahead_after == 0
    twice = crossing([-1, 1, -1], [1e-9] * 3, [1, 2, 3])
    assert twice.n_changes == 2 and (twice.low, twice.high) == (1, 2)
    with pytest.raises(StatisticsError, match="one per checkpoint"):
        crossing([0.1, 0.2], [0.5], [1, 2])
    with pytest.raises(StatisticsError, match="increase"):
        crossing([0.1, 0.2], [0.5, 0.5], [2, 1])


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 3])
def test_the_interval_of_the_place_holds_the_true_one(seeds: int) -> None:
    """Curves of 0/1 scores on the same prompts that cross at .5; and ones that never
    cross."""
    rng, places = np.random.default_rng(7), np.linspace(0, 1, 15)
    found = missed = false = 0
    for _ in range(300):
        items = rng.normal(0, 1, 300)
        for slope in (1.0, 0.0):
            chances = [
                1 / (1 + np.exp(-(items + side * slope * (places[:, None] - 0.5))))
                for side in (2, 0)
            ]
            a, b = (rng.random((seeds, *p.shape)) < p for p in chances)
            tests = [
                difference_of_seed_means(a[:, t].astype(float), b[:, t].astype(float))
                for t in range(15)
            ]
            cross = crossing(
                [one.mean for one in tests], [one.p_value() for one in tests], places
            )
            if slope:
                found += cross.n_changes > 0
                missed += cross.low is not None and not cross.low <= 0.5 <= cross.high
            else:
                false += cross.n_changes > 0
    assert missed / 300 <= 0.05 and false / 300 <= 0.05
    assert found / 300 >= 0.9


# --- plans -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run_cost", "checkpoint_cost"), [(1.0, 0.0), (10.0, 1.0), (1.0, 5.0), (0.0, 1.0)]
)
def test_the_cheapest_plan_is_the_cheapest_of_all(
    run_cost: float, checkpoint_cost: float
) -> None:
    variances = {
        "seed_variance": 1e-4,
        "jitter_variance": 4e-4,
        "prompt_variance": 1e-5,
    }
    found = cheapest_plan(
        0.03,
        most_averaged=6,
        run_cost=run_cost,
        checkpoint_cost=checkpoint_cost,
        **variances,
    )
    every = [
        (2 * s * (run_cost + m * checkpoint_cost), s, m)
        for s in range(2, 40)
        for m in range(1, 7)
        if seed_power(0.03, s, averaged=m, **variances) >= 0.8
    ]
    assert (found.cost, found.n_seeds, found.averaged) == min(every)
    assert (
        found.power is not None and found.power >= 0.8 and found.power_in_budget is None
    )


def test_what_a_budget_buys() -> None:
    given = {"seed_variance": 1e-4, "jitter_variance": 4e-4, "most_averaged": 3}
    found = cheapest_plan(0.03, budget=12, **given)
    assert found.power_in_budget == pytest.approx(
        seed_power(0.03, 6, seed_variance=1e-4, jitter_variance=4e-4, averaged=3)
    )
    assert (
        found.reason == ""
        and cheapest_plan(0.001, budget=12, **given).reason == "beyond the budget of 12"
    )
    assert (
        cheapest_plan(0.03, budget=3, **given).power_in_budget == 0
    )  # one seed of each: no test
    nothing = cheapest_plan(0.01, seed_variance=1e-4, prompt_variance=1e-3)
    assert nothing.n_seeds is None and "prompts are too few" in nothing.reason
    with pytest.raises(StatisticsError, match="costs of at least 0"):
        cheapest_plan(0.01, seed_variance=1e-4, run_cost=0.0)


def test_fewer_prompts_than_these_cannot_be_made_up_for() -> None:
    n = least_prompts(0.02, 0.1)
    assert n == math.ceil(
        0.1 * ((scipy_stats.norm.ppf(0.975) + scipy_stats.norm.ppf(0.8)) / 0.02) ** 2
    )
    enough = seeds_needed(0.02, seed_variance=1e-6, prompt_variance=0.1 / (1.02 * n))
    assert enough.n_seeds is not None
    assert (
        seeds_needed(0.02, seed_variance=1e-6, prompt_variance=0.1 / (0.98 * n)).n_seeds
        is None
    )
    with pytest.raises(StatisticsError, match="found 0"):
        least_prompts(0, 0.1)
