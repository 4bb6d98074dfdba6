"""Planning: eqs. 9 and 10 against goldens and statsmodels, inversions, designs,
simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import NormalIndPower

from warehouse.errors import StatisticsError
from warehouse.stats import (
    Cost,
    VarianceParts,
    best_for_budget,
    cheapest_design,
    minimum_detectable_effect,
    plan_table,
    power_of,
    sample_size,
)
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.power.power import clustered_omega2, standard_error

PAPER = VarianceParts(1 / 9, 1 / 6, 1 / 6)
ORACLE = NormalIndPower(ddof=0)

variances = st.floats(1e-4, 10)
parts = st.builds(VarianceParts, variances, variances, variances)
draws = st.integers(1, 50)
deltas = st.floats(1e-3, 2)
alphas = st.floats(1e-3, 0.2)
powers = st.floats(0.3, 0.99)


def golden(value: float) -> object:
    return pytest.approx(value, rel=1e-11)


def test_g8_the_worked_examples_of_the_paper() -> None:
    assert sample_size(0.03, VarianceParts(1 / 9)) == math.ceil(968.997498068)
    assert minimum_detectable_effect(198, PAPER) == golden(0.132733327874)
    assert minimum_detectable_effect(198, PAPER, k_a=10) == golden(0.0756696392668)
    found = power_of(0.03, 500, VarianceParts(1 / 9))
    assert (found.power, found.two_tailed) == (
        golden(0.520933734923),
        golden(0.520969307219),
    )


@pytest.mark.parametrize(("k_a", "k_b"), [(1, 1), (5, 5), (3, 20)])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_power_is_that_of_a_z_test(k_a: int, k_b: int, alpha: float) -> None:
    spread = math.sqrt(1 / 9 + 1 / 6 / k_a + 1 / 6 / k_b)
    for n in (20, 300):
        found = power_of(0.1, n, PAPER, k_a=k_a, k_b=k_b, alpha=alpha)
        both = ORACLE.power(0.1 / spread, n, alpha, ratio=0, alternative="two-sided")
        right = ORACLE.power(0.1 / spread, n, alpha / 2, ratio=0, alternative="larger")
        assert found.two_tailed == pytest.approx(both, rel=1e-10)
        assert found.power == pytest.approx(right, rel=1e-10)


def test_n_and_effect_are_those_of_a_z_test() -> None:
    n = ORACLE.solve_power(
        0.1 / math.sqrt(4 / 9), power=0.9, alpha=0.025, ratio=0, alternative="larger"
    )
    assert sample_size(0.1, PAPER, power=0.9) == math.ceil(n)
    effect = minimum_detectable_effect(150, PAPER, power=0.9) / math.sqrt(4 / 9)
    found = ORACLE.power(effect, 150, 0.025, ratio=0, alternative="larger")
    assert found == pytest.approx(0.9, rel=1e-10)


@given(deltas, parts, draws, draws, alphas, powers)
def test_n_is_the_first_that_reaches_the_power(
    delta: float,
    given_parts: VarianceParts,
    k_a: int,
    k_b: int,
    alpha: float,
    power: float,
) -> None:
    n = sample_size(delta, given_parts, k_a=k_a, k_b=k_b, alpha=alpha, power=power)
    assert (
        power_of(delta, n, given_parts, k_a=k_a, k_b=k_b, alpha=alpha).power
        >= power - 1e-9
    )
    if n > 1:
        fewer = power_of(delta, n - 1, given_parts, k_a=k_a, k_b=k_b, alpha=alpha)
        assert fewer.power < power + 1e-9


@given(parts, st.integers(1, 10**6), draws, draws, alphas, powers)
def test_the_effect_is_found_with_the_power_it_is_meant_for(
    given_parts: VarianceParts, n: int, k_a: int, k_b: int, alpha: float, power: float
) -> None:
    settings = {"k_a": k_a, "k_b": k_b, "alpha": alpha}
    mde = minimum_detectable_effect(n, given_parts, power=power, **settings)
    found = power_of(mde, n, given_parts, **settings)
    assert found.power == pytest.approx(power, rel=1e-9)
    assert found.power <= found.two_tailed <= 1


@given(parts, draws, draws)
def test_swapping_the_models_changes_nothing(
    given_parts: VarianceParts, k_a: int, k_b: int
) -> None:
    swapped = VarianceParts(
        given_parts.omega2, given_parts.sigma2_b, given_parts.sigma2_a
    )
    one = standard_error(90, given_parts, k_a=k_a, k_b=k_b)
    assert standard_error(90, swapped, k_a=k_b, k_b=k_a) == pytest.approx(
        one, rel=1e-12
    )


@given(parts, deltas, st.floats(0.01, 100))
def test_a_change_of_unit_changes_no_n(
    given_parts: VarianceParts, delta: float, unit: float
) -> None:
    p = given_parts
    scaled = VarianceParts(
        *(unit**2 * part for part in (p.omega2, p.sigma2_a, p.sigma2_b))
    )
    assert abs(sample_size(unit * delta, scaled) - sample_size(delta, p)) <= 1


def test_clusters_are_counted_at_their_mean_size() -> None:
    clustered = VarianceParts(clustered_omega2(1 / 9, 0.25, 5), cluster_size=5)
    assert clustered.omega2 == pytest.approx(2 / 9, rel=1e-12)  # 1 + (5 − 1)·0.25
    (plan,) = plan_table(clustered, [sample_size(0.03, clustered)], [1], delta=0.03)
    assert plan.n == math.ceil(2 * 968.997498068)
    assert plan.n_clusters == math.ceil(plan.n / 5)


def test_a_table_holds_every_n_and_k() -> None:
    table = plan_table(PAPER, [50, 198], [1, 10], delta=0.1)
    assert [(plan.k_a, plan.n) for plan in table] == [
        (1, 50),
        (1, 198),
        (10, 50),
        (10, 198),
    ]
    assert table[3].mde == golden(0.0756696392668)
    assert table[1].power == power_of(0.1, 198, PAPER).power
    assert [plan.generations for plan in table] == [100, 396, 1000, 3960]
    there = plan_table(PAPER, [50], [4], k_b=9, b_is_there=True)[0]
    assert (there.k_b, there.generations, there.power) == (9, 200, None)


COSTS = st.builds(Cost, st.floats(0, 20), st.floats(0.1, 5))
LIMITS = st.one_of(st.none(), st.integers(2, 3000))


@given(parts, deltas, COSTS, LIMITS)
def test_nothing_cheaper_reaches_the_power(
    given_parts: VarianceParts, delta: float, cost: Cost, available: int | None
) -> None:
    best = cheapest_design(
        delta, given_parts, cost=cost, available=available, most_draws=12
    )
    reached = []
    for k in range(1, 13):
        n = sample_size(delta, given_parts, k_a=k)
        if available is None or n <= available:
            reached.append(n * (cost.prompt + 2 * k * cost.generation))
    if not reached:
        assert best.plan is None and best.reason
        return
    assert best.plan is not None and best.plan.power is not None
    assert best.cost == pytest.approx(min(reached), rel=1e-12)
    assert best.plan.power >= 0.8 - 1e-9
    assert available is None or best.plan.n <= available


@given(parts, st.floats(8, 1e5), COSTS, LIMITS)
def test_nothing_the_budget_pays_for_is_more_exact(
    given_parts: VarianceParts, budget: float, cost: Cost, available: int | None
) -> None:
    best = best_for_budget(
        budget, given_parts, cost=cost, available=available, most_draws=12
    )
    errors = []
    for k in range(1, 13):
        each = cost.prompt + 2 * k * cost.generation
        n = int(budget / each * (1 + 1e-12))  # as the plan rounds
        n = n if available is None else min(n, available)
        errors += [standard_error(n, given_parts, k_a=k)] if n >= 2 else []
    if not errors:
        assert best.plan is None and "does not pay" in best.reason
        return
    assert best.plan is not None and best.cost is not None
    assert best.plan.standard_error == pytest.approx(min(errors), rel=1e-9)
    assert best.cost <= budget * (1 + 1e-9)


def test_where_prompts_abound_one_draw_is_cheapest() -> None:
    best = cheapest_design(0.05, PAPER)
    assert best.plan is not None
    assert (best.plan.k_a, best.plan.n) == (1, sample_size(0.05, PAPER))


def test_the_best_k_follows_from_the_costs() -> None:
    """Minimum of (ω² + s/K)(c + 2Kg): K = sqrt(s·c/(2gω²))."""
    wanted = VarianceParts(0.01, 0.2, 0.2)
    cost = Cost(prompt=8.0, generation=1.0)
    exact = math.sqrt(0.4 * 8 / (2 * 0.01))
    best = cheapest_design(0.001, wanted, cost=cost)
    assert best.plan is not None
    assert best.plan.k_a in (math.floor(exact), math.ceil(exact))


def test_too_few_prompts_are_told_with_what_it_takes() -> None:
    best = cheapest_design(0.03, PAPER, available=500)
    assert best.plan is None
    assert "even with unlimited draws it takes 969" in best.reason
    stuck = cheapest_design(0.05, VarianceParts(1e-6, 1, 1), available=2, most_draws=3)
    assert stuck.plan is None and "more draws" in stuck.reason


BAD = [
    (lambda: sample_size(0, PAPER), "`delta` must be a number above 0"),
    (lambda: sample_size(-0.1, PAPER), "`delta`"),
    (lambda: sample_size(math.nan, PAPER), "`delta`"),
    (lambda: sample_size(1e-12, PAPER), "too small to plan for"),
    (lambda: sample_size(0.1, PAPER, alpha=0), "`alpha` must lie between 0 and 1"),
    (lambda: power_of(0.1, 10, PAPER, alpha=1), "`alpha`"),
    (lambda: sample_size(0.1, PAPER, power=1), "`power` must lie between"),
    (lambda: sample_size(0.1, PAPER, power=0.04), "`power`"),
    (lambda: sample_size(0.1, PAPER, k_a=0), "`k_a` must be a whole number"),
    (lambda: sample_size(0.1, PAPER, k_b=2.5), "`k_b` must be a whole number"),  # type: ignore[arg-type]
    (lambda: minimum_detectable_effect(0, PAPER), "`n` must be a whole number"),
    (lambda: minimum_detectable_effect(10.5, PAPER), "`n`"),  # type: ignore[arg-type]
    (lambda: VarianceParts(-0.1), "`omega2` is a variance"),
    (lambda: VarianceParts(0.1, math.inf), "`sigma2_a` is a variance"),
    (lambda: VarianceParts(0.0), "all variances are 0"),
    (lambda: VarianceParts(0.1, cluster_size=0.5), "`cluster_size`"),
    (lambda: clustered_omega2(0.1, 1.5, 4), "`icc`"),
    (lambda: clustered_omega2(0.1, 0.5, 0), "`cluster_size`"),
    (lambda: plan_table(PAPER, [], [1]), "at least one n"),
    (lambda: Cost(prompt=-1), "cost of a prompt"),
    (lambda: Cost(generation=0), "costs nothing"),
    (lambda: best_for_budget(0, PAPER), "`budget`"),
    (lambda: cheapest_design(0.1, PAPER, b_is_there=True), "needs `k_b`"),
    (lambda: cheapest_design(0.1, PAPER, available=0), "`available`"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_what_cannot_be_meant_is_refused(call: object, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(("icc", "size"), [(0.0, 1), (0.3, 4)])
def test_the_planned_n_reaches_the_planned_power(icc: float, size: int) -> None:
    """Differences drawn as the model has them, judged by the t test of cluster means."""
    delta, k, rounds = 0.12, 3, 4000
    wanted = VarianceParts(
        clustered_omega2(0.2, icc, size), 0.15, 0.1, cluster_size=size
    )
    n = sample_size(delta, wanted, k_a=k)
    groups = math.ceil(n / size)
    dice = np.random.default_rng(5)
    shared = dice.normal(0, math.sqrt(0.2 * icc), (rounds, groups, 1))
    own = dice.normal(0, math.sqrt(0.2 * (1 - icc)), (rounds, groups, size))
    noise = dice.normal(0, math.sqrt(0.25 / k), (rounds, groups, size))
    means = (delta + shared + own + noise).mean(axis=2)
    t = means.mean(axis=1) / (means.std(axis=1, ddof=1) / math.sqrt(groups))
    found = float(np.mean(t > t_quantile(0.95, groups - 1)))
    # the t test needs a little more than the normal approximation; Monte Carlo error
    # .0063
    assert found == pytest.approx(0.8, abs=0.025)
