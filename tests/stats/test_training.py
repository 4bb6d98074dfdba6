"""Seeds and checkpoints: goldens, other programs' figures, properties, and simulated
coverage."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.stats import f as oracle_f
from statsmodels.stats.anova import anova_lm

from warehouse.errors import StatisticsError
from warehouse.stats.training.curve_tests import monotonicity, monotonicity_tau
from warehouse.stats.training.noise_floor import (
    jitter,
    jitter_only_lower_bound,
    noise_floor,
    recipe_difference,
    seed_spread,
)
from warehouse.stats.training.seed_planning import (
    _power_by_quadrature,
    decision_accuracy,
    decision_ceiling,
    reliability,
    seed_power,
    seeds_needed,
)
from warehouse.stats.training.signal_to_noise import (
    compare_seed_ratios,
    seed_ratio,
    seed_variance,
    signal_to_noise,
    two_way,
)

repeatable = settings(deadline=None, derandomize=True)
CURVE, STEPS = (
    [0.30, 0.34, 0.33, 0.37, 0.41, 0.40, 0.43, 0.42],
    [1, 2, 3, 5, 8, 13, 14, 16],
)
TABLE = [[0.50, 0.53, 0.55, 0.54], [0.48, 0.52, 0.52, 0.53], [0.52, 0.54, 0.58, 0.57]]
SEEDS = [0.61, 0.58, 0.64, 0.60, 0.59, 0.63, 0.66, 0.60]


def golden(value: float) -> object:
    return pytest.approx(value, rel=1e-9)


# --- jitter ----------------------------------------------------------------------------------


def test_g21() -> None:
    found = jitter(CURVE, STEPS, last=8)
    assert found.gsj_variance == golden(3.364356552e-4)
    assert found.variance == golden(2.105955253e-4)
    assert (found.ci_low, found.ci_high) == (
        golden(0.009058450209),
        golden(0.03559211291),
    )


def test_jitter_takes_the_last_half_and_at_most_twenty() -> None:
    rng = np.random.default_rng(1)
    assert jitter(rng.normal(size=60), range(60)).n_checkpoints == 20
    assert jitter(rng.normal(size=18), range(18)).n_checkpoints == 9
    none = jitter(rng.normal(size=14), range(14))
    assert none.variance is None and "at least 8" in none.reason


def test_jitter_does_not_see_a_quadratic_trend_or_the_unit_of_positions() -> None:
    rng = np.random.default_rng(2)
    noise, u = rng.normal(size=20), np.cumsum(rng.uniform(0.5, 2, 20))
    plain = jitter(noise, u, last=20)
    bent = jitter(noise + 3 + 0.5 * u - 0.01 * u**2, u, last=20)
    scaled = jitter(noise, 1e6 * u + 5, last=20)
    assert bent.variance == pytest.approx(
        plain.variance
    ) and scaled.variance == pytest.approx(plain.variance)
    assert scaled.gsj_variance == pytest.approx(plain.gsj_variance)


def test_a_wandering_curve_is_flagged() -> None:
    walk = np.cumsum(np.random.default_rng(3).normal(size=20))
    assert jitter(walk, range(20), last=20).flags == ("autocorrelated_or_bent",)


# --- seeds x checkpoints ---------------------------------------------------------------------


def test_g22() -> None:
    table, seeds = two_way(TABLE), seed_variance(TABLE)
    assert (table.between, table.error) == (golden(1.608333333333e-3), golden(7.5e-5))
    assert seeds.variance == golden(3.833333333333e-4)
    assert (seeds.ci_low, seeds.ci_high) == (
        golden(8.780947876e-5),
        golden(0.0158593426),
    )
    snr = signal_to_noise(TABLE)
    assert (snr.snr, snr.ci_low, snr.ci_high) == (
        golden(1.823204342),
        golden(0.6988989457),
        golden(14.51241938),
    )


def test_mean_squares_are_those_of_statsmodels() -> None:
    x = np.random.default_rng(4).normal(size=(5, 7))
    rows = [{"x": x[s, t], "seed": s, "step": t} for s in range(5) for t in range(7)]
    anova = anova_lm(smf.ols("x ~ C(seed) + C(step)", pd.DataFrame(rows)).fit())
    found = two_way(x)
    assert found.between == pytest.approx(anova["mean_sq"]["C(seed)"], rel=1e-10)
    assert found.error == pytest.approx(anova["mean_sq"]["Residual"], rel=1e-10)


def test_curves_that_differ_by_a_constant_have_no_jitter() -> None:
    curve = np.linspace(0.1, 0.7, 6) ** 2
    found = seed_variance([curve, curve + 0.1, curve - 0.05])
    assert (
        found.ci_low is None
        and "no jitter" in found.reason
        and found.jitter_variance is None
    )
    assert signal_to_noise([curve, curve + 0.1]).snr is None


def test_two_recipes_at_two_checkpoints_are_too_few() -> None:
    assert "too few" in signal_to_noise([[0.1, 0.3], [0.2, 0.25]]).reason


# --- noise floor -----------------------------------------------------------------------------


def test_g23() -> None:
    spread, floor = seed_spread(SEEDS), noise_floor([[x] for x in SEEDS])
    assert spread.standard_deviation == golden(0.02722262714)
    assert (spread.ci_low, spread.ci_high) == (
        golden(0.01617554674),
        golden(0.06068083656),
    )
    assert floor.floor == golden(0.09103474333)


def test_seeds_without_any_spread_are_flagged_and_others_are_not() -> None:
    assert noise_floor([[0.6], [0.6], [0.6]]).flags == ("all_seeds_equal",)
    assert noise_floor([[0.6], [0.7], [0.6]]).flags == ()


def test_few_seeds_have_the_interval_of_normal_ones() -> None:
    found, x = seed_spread([0.1, 0.3, 0.2]), np.array([0.1, 0.3, 0.2])
    ends = [
        math.sqrt(2 * x.var(ddof=1) / scipy_stats.chi2.ppf(q, 2))
        for q in (0.975, 0.025)
    ]
    assert [found.ci_low, found.ci_high] == [pytest.approx(end) for end in ends]


def test_averaged_checkpoints() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(6, 9))
    means = x[:, -4:].mean(axis=1)
    found = noise_floor(x, averaged=4)
    t = scipy_stats.t.ppf(0.975, 5)
    assert found.floor == pytest.approx(t * math.sqrt(2 * means.var(ddof=1)))
    with pytest.raises(StatisticsError, match="was not stored"):
        noise_floor(x, averaged=10)


def test_a_difference_of_recipes_is_a_t_test() -> None:
    a, b = [0.5, 0.52, 0.51], [0.55, 0.57, 0.53, 0.56]
    found, oracle = recipe_difference(a, b), scipy_stats.ttest_ind(a, b)
    interval = oracle.confidence_interval()
    assert (found.ci_low, found.ci_high) == (
        pytest.approx(interval.low),
        pytest.approx(interval.high),
    )
    assert found.is_more_than_noise is bool(oracle.pvalue < 0.05)
    assert recipe_difference([0.5], [0.4, 0.45]).degrees_of_freedom == 1
    steady, few = [0.50, 0.51, 0.49, 0.505, 0.495], [0.53, 0.59]
    assert (
        scipy_stats.ttest_ind(steady, few).pvalue < 0.05
    )  # pooled, the steady seeds speak for the others
    unlike, welch = (
        recipe_difference(steady, few),
        scipy_stats.ttest_ind(steady, few, equal_var=False),
    )
    assert (
        unlike.ci_high == pytest.approx(welch.confidence_interval().high)
        and not unlike.is_more_than_noise
    )
    with pytest.raises(StatisticsError, match="second seed"):
        recipe_difference([0.5], [0.4])


def test_jitter_alone_is_a_lower_bound() -> None:
    assert jitter_only_lower_bound(1e-4, 5, averaged=2) == pytest.approx(
        scipy_stats.t.ppf(0.975, 5) * 0.01
    )


# --- signal to noise of seeds ----------------------------------------------------------------


def test_mean_over_spread_by_the_jackknife() -> None:
    found, x = seed_ratio(SEEDS), np.array(SEEDS)
    logs = [
        math.log(rest.mean() / rest.std(ddof=1))
        for rest in (np.delete(x, place) for place in range(8))
    ]
    error = math.sqrt(7 / 8 * np.sum((np.array(logs) - np.mean(logs)) ** 2))
    half = scipy_stats.t.ppf(0.975, 7) * error
    assert found.ratio == pytest.approx(x.mean() / x.std(ddof=1))
    assert found.ci_high == pytest.approx(found.ratio * math.exp(half))
    same = compare_seed_ratios(SEEDS, [2 * x for x in SEEDS])
    assert (same.ratio, same.ci_low, same.ci_high) == (
        pytest.approx(1),
        pytest.approx(1),
        pytest.approx(1),
    )
    assert (
        seed_ratio([0.5, 0.5, 0.5]).ratio is None
        and seed_ratio([-1.0, -2.0]).ratio is None
    )


# --- monotonicity ----------------------------------------------------------------------------


@repeatable
@given(st.lists(st.integers(0, 5), min_size=2, max_size=12))
def test_tau_is_scipys(values: list[int]) -> None:
    found = monotonicity_tau(values)
    oracle = scipy_stats.kendalltau(range(len(values)), values).statistic
    assert found is None if math.isnan(oracle) else found == pytest.approx(oracle)


def test_rising_seeds_have_the_smallest_p() -> None:
    rising = [np.linspace(0, 1, 6) + 0.001 * s for s in range(6)]
    assert monotonicity(rising).p_value == 1 / 64
    assert monotonicity([-x for x in rising]).p_value == 1.0
    mixed = monotonicity([*rising, np.zeros(6)])
    assert (mixed.n_seeds, mixed.p_value) == (6, 1 / 64)


def test_of_many_seeds_some_signs_are_tried() -> None:
    """12 of 17 curves rise, the others fall: the chance of 12 heads or more."""
    line = np.linspace(0, 1, 4)
    found = monotonicity([line] * 12 + [-line] * 5, n_series=20_000, seed=1)
    p = float(scipy_stats.binom.sf(11, 17, 0.5))
    assert found.method == "sign_flip" and found.p_value == pytest.approx(
        p, abs=4 * math.sqrt(p / 20_000)
    )


def test_what_cannot_be_told_says_why() -> None:
    assert "constant" in monotonicity([[0.5] * 9]).reason
    assert "needs 8" in monotonicity([[0.1, 0.2, 0.3]]).reason
    assert (
        "different checkpoints"
        in monotonicity([[0.1, 0.2, 0.3] * 3, [0.1, 0.2] * 4]).reason
    )
    with pytest.raises(StatisticsError):
        monotonicity([])


# --- decisions -------------------------------------------------------------------------------


def test_g24() -> None:
    found = decision_accuracy(
        [0.1, 0.3, 0.2, 0.5, 0.4, 0.6, 0.55, 0.3],
        [0.2, 0.25, 0.3, 0.6, 0.35, 0.7, 0.5, 0.4],
    )
    assert found.accuracy == golden(0.875)
    assert (found.ci_low, found.ci_high) == (golden(0.6134455746), golden(0.9686291111))
    assert decision_ceiling(0.8, 0.9) == golden(0.8225107809)


def test_decisions_without_an_answer() -> None:
    assert "at least 6" in decision_accuracy([1, 2, 3], [1, 2, 3]).reason
    assert "tied" in decision_accuracy(range(7), [1] * 7).reason
    assert "tied" in decision_accuracy(range(7), [1] * 6 + [2]).reason
    perfect = decision_accuracy(range(8), range(8))
    assert (
        perfect.accuracy == 1.0
        and perfect.ci_low is not None
        and 0.5 < perfect.ci_low < 0.95
    )
    d = 1 - 0.5 / 8
    assert perfect.standard_error == pytest.approx(
        math.sqrt(d * (1 - d) / 28)
    )  # of 28 pairs, each by itself
    assert reliability(2.0, 1.0) == 0.0 and decision_ceiling(1, 1) == 1.0


@repeatable
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=12)
)
def test_accuracy_counts_pairs(pairs: list[tuple[int, int]]) -> None:
    small, large = zip(*pairs, strict=True)
    scores = [
        0.5 if a[0] == b[0] else float((a[0] > b[0]) == (a[1] > b[1]))
        for place, a in enumerate(pairs)
        for b in pairs[:place]
        if a[1] != b[1]
    ]
    found = decision_accuracy(small, large)
    if found.accuracy is not None:
        assert found.accuracy == pytest.approx(
            np.mean(scores)
        ) and found.n_pairs == len(scores)


# --- planning --------------------------------------------------------------------------------

G25 = {"seed_variance": 1e-5, "jitter_variance": 1.6e-5}


def test_g25() -> None:
    assert seed_power(0.01, 3, **G25) == golden(0.4488959141)
    assert seed_power(0.01, 3, averaged=4, **G25) == golden(0.690821204)
    assert [seeds_needed(0.01, averaged=m, **G25).n_seeds for m in (1, 4)] == [6, 4]


def test_seeds_cannot_make_up_for_prompts() -> None:
    plan = seeds_needed(0.01, prompt_variance=2e-5, **G25)
    assert plan.n_seeds is None and "more prompts" in plan.reason
    with pytest.raises(StatisticsError, match="all variances are 0"):
        seeds_needed(0.01, seed_variance=0.0)


@repeatable
@given(
    st.floats(1e-3, 1), st.floats(1e-6, 1e-2), st.floats(0, 1e-2), st.integers(1, 20)
)
def test_one_seed_less_is_not_enough(
    delta: float, seeds: float, jitters: float, m: int
) -> None:
    given_ = {"seed_variance": seeds, "jitter_variance": jitters, "averaged": m}
    plan = seeds_needed(delta, **given_)
    if plan.n_seeds is not None:
        assert plan.power is not None and plan.power >= 0.8
        assert plan.n_seeds == 2 or seed_power(delta, plan.n_seeds - 1, **given_) < 0.8


def test_power_beyond_the_series_of_the_noncentral_t() -> None:
    exact = seed_power(3.0, 3, seed_variance=1.5)
    assert _power_by_quadrature(4, 3.0, 2.7764451051977987) == pytest.approx(
        exact, abs=1e-4
    )
    assert seed_power(1.0, 2, seed_variance=0.0078125) == pytest.approx(
        scipy_stats.nct.sf(scipy_stats.t.ppf(0.975, 2), 2, 1 / math.sqrt(0.0078125)),
        abs=1e-4,
    )


# --- simulation ------------------------------------------------------------------------------


def share(of: Callable[[np.random.Generator], bool], n: int) -> float:
    rng = np.random.default_rng(11)
    return float(np.mean([of(rng) for _ in range(n)]))


def table(rng: np.random.Generator, s: int, k: int, seed_sd: float = 1.0) -> np.ndarray:
    return (
        rng.normal(0, seed_sd, (s, 1)) + np.linspace(0, 3, k) + rng.normal(size=(s, k))
    )


def test_intervals_hold_where_their_conditions_do() -> None:
    n = 1500
    room = 3 * math.sqrt(0.95 * 0.05 / n)

    def of_jitter(rng: np.random.Generator) -> bool:
        found = jitter(
            rng.normal(size=16) + np.linspace(0, 5, 16) ** 1.5, range(16), last=16
        )
        return bool(found.ci_low <= 1 <= found.ci_high)  # type: ignore[operator]

    def of_seeds(rng: np.random.Generator) -> bool:
        found = seed_variance(table(rng, 5, 8))
        return bool(found.ci_low <= 1 <= found.ci_high)  # type: ignore[operator]

    def of_snr(rng: np.random.Generator) -> bool:
        qualities = rng.normal(0, 2, (12, 1))
        x = qualities + np.linspace(0, 3, 6) + rng.normal(size=(12, 6))
        found = signal_to_noise(x)
        return bool(found.ci_low <= 2 <= found.ci_high)  # type: ignore[operator]

    for of, low in ((of_jitter, 0.95 - room - 0.03), (of_seeds, 0.93), (of_snr, 0.93)):
        assert low <= share(of, n) <= 0.985, of.__name__


@pytest.mark.parametrize("n_seeds", [2, 3, 5, 10])
def test_the_floor_is_exceeded_as_often_as_it_says(n_seeds: int) -> None:
    def alarm(rng: np.random.Generator) -> bool:
        floor = noise_floor(table(rng, n_seeds, 4), averaged=2).floor
        a, b = table(rng, 2, 4)[:, -2:].mean(axis=1)
        return bool(abs(a - b) > floor)

    assert share(alarm, 4000) <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("seeds", [1, 3, 6])
def test_curves_that_go_nowhere_rarely_rise(rho: float, seeds: int) -> None:
    def rises(rng: np.random.Generator) -> bool:
        x = rng.normal(size=(seeds, 25))
        x[:, 0] /= math.sqrt(1 - rho**2)
        for t in range(1, 25):
            x[:, t] += rho * x[:, t - 1]
        p = monotonicity(list(x), n_series=199, seed=int(rng.integers(1 << 30))).p_value
        return p is not None and p <= 0.05

    assert share(rises, 2000) <= 0.065 + 0.01


@pytest.mark.slow
def test_decision_accuracy_covers_the_truth() -> None:
    def covers(rng: np.random.Generator) -> bool:
        quality = rng.normal(size=20)
        found = decision_accuracy(
            quality + rng.normal(0, 0.5, 20), quality + rng.normal(0, 0.3, 20)
        )
        truth = 0.5 + math.asin(math.sqrt(1 / 1.25 / 1.09)) / math.pi
        return bool(found.ci_low <= truth <= found.ci_high)  # type: ignore[operator]

    assert share(covers, 1500) >= 0.93


@pytest.mark.slow
def test_planned_power_is_the_simulated_one() -> None:
    plan = seeds_needed(1.5, seed_variance=1.0, jitter_variance=2.0, averaged=4)
    assert plan.n_seeds is not None and plan.power is not None

    def finds(rng: np.random.Generator) -> bool:
        a, b = (
            rng.normal(0, 1, plan.n_seeds)
            + rng.normal(0, math.sqrt(2 / 4), plan.n_seeds)
            for _ in "ab"
        )
        return bool(recipe_difference(a + 1.5, b).is_more_than_noise)

    assert share(finds, 4000) == pytest.approx(plan.power, abs=0.02)


def test_seeds_on_one_path_are_no_more_sure_than_their_mean_curve() -> None:
    random = np.random.default_rng(3)
    path = np.cumsum(random.normal(size=20)) * 0.5
    curves = [path + 0.2 * random.normal(size=20) + 3 * s for s in range(6)]
    found = monotonicity(curves, n_series=199)
    signs = np.array([monotonicity_tau(curve) or 0.0 for curve in curves])
    vectors = np.array(list(itertools.product([1, -1], repeat=6)))
    by_signs = float(np.mean(vectors @ signs >= signs.sum() - 1e-9))
    table = np.array(curves)
    centred = table - table.mean(axis=1, keepdims=True)
    t = np.arange(20)
    fitted = np.polyval(np.polyfit(t, centred.mean(axis=0), 1), t)
    f = 6 * ((centred.mean(axis=0) - fitted) ** 2).sum() / 18
    f /= ((centred - centred.mean(axis=0)) ** 2).sum() / (5 * 19)
    assert oracle_f.sf(f, 18, 95) < 0.2
    assert found.method == "sign_flip_and_ar1_sieve" and found.p_value is not None
    alone = monotonicity([table.mean(axis=0)], n_series=199)
    assert found.p_value == max(by_signs, alone.p_value or 0)
    scaled = monotonicity(
        [1000 * curve - 5 for curve in reversed(curves)], n_series=199
    )
    assert scaled.p_value == pytest.approx(found.p_value)


def test_seeds_whose_noise_is_their_own_keep_their_signs() -> None:
    random = np.random.default_rng(0)
    curves = [0.3 * np.arange(12) + random.normal(size=12) for _ in range(6)]
    assert monotonicity(curves).method == "sign_flip"
