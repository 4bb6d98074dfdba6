"""Rows over training seeds, differences of them, tests of repeats, checkpoints,
infinite scores: against theory, statsmodels, scipy and properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2, t

from warehouse.errors import StatisticsError
from warehouse.stats import (
    compare_infinite,
    crossed_variance,
    describe_infinite,
    difference_over_paired_seeds,
    difference_over_seeds,
    equal_responses,
    estimate_mean,
    figures_over_seeds,
    fit_seeds,
    greedy_repeats,
    paired_difference,
    repeats_test,
    row_checkpoint,
    row_over_seeds,
    whole_seeds,
)
from warehouse.stats.rows.infinite import order_key

NAN, INF = math.nan, math.inf


def bernoulli(seeds: int, n: int, seed: int = 0, shift: float = 0.0) -> np.ndarray:
    """0/1 scores of seeds on prompts of unequal difficulty."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 1.5, n)
    skill = rng.normal(shift, 0.4, (seeds, 1))
    return (rng.random((seeds, n)) < 1 / (1 + np.exp(difficulty - skill))).astype(float)


def test_parts_are_those_of_the_two_way_table() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols  # type: ignore[import-untyped]
    from statsmodels.stats.anova import anova_lm  # type: ignore[import-untyped]

    cells = bernoulli(4, 30)
    fit = fit_seeds(cells)
    rows = [(s, i, cells[s, i]) for s in range(4) for i in range(30)]
    table = anova_lm(
        ols("y ~ C(s) + C(i)", pd.DataFrame(rows, columns=["s", "i", "y"])).fit()
    )
    squares = table["mean_sq"] / 120
    assert fit.v_prompts == pytest.approx(squares["C(i)"], rel=1e-12)
    assert fit.v_seeds == pytest.approx(squares["C(s)"], rel=1e-12)
    assert fit.v_interaction == pytest.approx(squares["Residual"], rel=1e-12)
    assert fit.mean == pytest.approx(cells.mean())


@pytest.mark.parametrize("clustered", [False, True])
def test_full_tables_agree_with_the_crossed_variance(clustered: bool) -> None:
    cells = bernoulli(3, 40, seed=4)
    clusters = np.repeat(np.arange(8), 5) if clustered else None
    fit, crossed = (
        fit_seeds(cells, clusters=clusters),
        crossed_variance(cells, clusters=clusters),
    )
    assert fit.v_prompts == pytest.approx(crossed.part_prompts, rel=1e-12)
    assert fit.v_seeds == pytest.approx(crossed.part_seeds, rel=1e-12)
    assert fit.v_interaction == pytest.approx(crossed.part_interaction, rel=1e-12)
    assert fit.df_prompts == pytest.approx(crossed.df_prompts)


def test_gaps_are_fitted_as_least_squares_do() -> None:
    cells = np.random.default_rng(2).normal(size=(3, 12))
    cells[0, :3] = NAN
    cells[2, 5] = NAN
    fit = fit_seeds(cells)
    scored = np.argwhere(np.isfinite(cells))
    design = np.zeros((len(scored), 15))
    design[np.arange(len(scored)), 3 + scored[:, 1]] = 1
    design[np.arange(len(scored)), scored[:, 0]] = 1
    found = np.linalg.lstsq(design, cells[np.isfinite(cells)], rcond=None)[0]
    seed_parts = found[:3] - found[:3].mean()
    assert fit.seed_parts == pytest.approx(seed_parts, abs=1e-11)
    assert fit.prompt_parts == pytest.approx(found[3:] + found[:3].mean(), abs=1e-11)


def test_a_missing_hard_prompt_does_not_lift_the_row() -> None:
    cells = np.array([[1.0, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, NAN]])
    assert fit_seeds(cells).mean == pytest.approx(0.6)


def test_equal_weights_change_nothing_and_weights_are_those_of_the_weighted_mean() -> (
    None
):
    cells = bernoulli(3, 20, seed=7)
    weights = np.linspace(1, 4, 20)
    plain, equal = fit_seeds(cells), fit_seeds(cells, weights=np.full(20, 3.0))
    assert equal.mean == plain.mean and equal.v_prompts == plain.v_prompts
    weighted = fit_seeds(cells, weights=weights)
    assert weighted.mean == pytest.approx(
        np.average(cells.mean(axis=0), weights=weights)
    )
    own = estimate_mean(cells.mean(axis=0), weights=weights, n_draws=3)
    assert weighted.v_prompts == pytest.approx((own.standard_error or 0) ** 2)
    means = [np.average(row, weights=weights) for row in cells]
    assert weighted.v_seeds == pytest.approx(np.var(means, ddof=1) / 3)


@given(st.integers(2, 6), st.integers(3, 40), st.integers(0, 1000), st.booleans())
def test_a_row_is_never_narrower_than_pooled_draws_and_stays_in_bounds(
    s: int, n: int, seed: int, gap: bool
) -> None:
    cells = bernoulli(s, n, seed)
    if gap:
        cells[0, 0] = NAN
    row = row_over_seeds(cells, bounds=(0, 1))
    assert row.ci_low is not None and row.ci_high is not None
    assert row.pooled_low is not None and row.pooled_high is not None
    assert 0 <= row.ci_low <= row.pooled_low + 1e-12
    assert row.pooled_high - 1e-12 <= row.ci_high <= 1
    assert ("two_seeds" in row.flags) == (s == 2)


@given(st.integers(0, 1000))
def test_rows_know_nothing_of_the_order_of_seeds_nor_of_the_scale(seed: int) -> None:
    cells = bernoulli(4, 25, seed)
    row, turned = (
        row_over_seeds(cells, bounds=(0, 1)),
        row_over_seeds(cells[::-1], bounds=(0, 1)),
    )
    assert (row.ci_low, row.ci_high) == pytest.approx((turned.ci_low, turned.ci_high))
    percent = row_over_seeds(100 * cells, bounds=(0, 100))
    assert percent.ci_high == pytest.approx(100 * (row.ci_high or 0))
    assert percent.standard_error == pytest.approx(100 * (row.standard_error or 0))


def test_equal_seeds_give_the_interval_of_the_draws() -> None:
    cells = np.repeat(bernoulli(1, 30), 3, axis=0)
    row = row_over_seeds(cells, bounds=(0, 1))
    assert (row.ci_low, row.ci_high) == (row.pooled_low, row.pooled_high)
    assert row.seed_sd == 0


def test_the_middle_of_the_scale_is_the_root_of_both_parts() -> None:
    cells = np.random.default_rng(5).normal(0, 1, 400) + np.random.default_rng(
        6
    ).normal(0, 0.3, (5, 1))
    cells = cells + np.random.default_rng(8).normal(0, 0.2, (5, 400))
    row = row_over_seeds(cells, method="t")
    assert (
        row.v_prompts is not None
        and row.v_seeds is not None
        and row.v_interaction is not None
    )
    parts = (
        t.ppf(0.975, 399) ** 2 * (row.v_prompts - row.v_interaction)
        + t.ppf(0.975, 4) ** 2 * row.v_seeds
    )
    assert (row.ci_high or 0) - row.estimate == pytest.approx(
        math.sqrt(parts), rel=1e-9
    )


def test_prompts_fixed_is_the_seeds_alone() -> None:
    cells = np.random.default_rng(5).normal(0, 1, (4, 30))
    row = row_over_seeds(cells, estimand="prompts_fixed")
    means = cells.mean(axis=1)
    half = t.ppf(0.975, 3) * means.std(ddof=1) / 2
    assert (row.ci_low, row.ci_high) == pytest.approx(
        (means.mean() - half, means.mean() + half)
    )
    assert row.standard_error == pytest.approx(means.std(ddof=1) / 2)


def test_a_link_is_taken_at_the_ends() -> None:
    cells = np.random.default_rng(5).normal(-2, 0.3, (4, 30))
    plain, linked = row_over_seeds(cells), row_over_seeds(cells, link="exp_neg")
    assert linked.estimate == pytest.approx(math.exp(-plain.estimate))
    assert linked.ci_high == pytest.approx(math.exp(-(plain.ci_low or 0)))


def test_whole_seeds_have_nineteen_of_twenty() -> None:
    cells = np.zeros((4, 20))
    cells[1, 0] = NAN
    cells[2, :2] = NAN
    cells[3] = NAN
    assert whole_seeds(cells).tolist() == [True, True, False, False]


def test_one_prompt_gives_a_figure_without_an_interval() -> None:
    row = row_over_seeds([[1.0], [0.0]], bounds=(0, 1))
    assert (
        row.estimate == 0.5
        and row.ci_low is None
        and row.reason == "a single prompt or cluster"
    )


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[1.0, 0.0]], "two at least"),
        ([[1.0, INF], [0, 0]], "infinite"),
        ([[NAN, NAN], [0, 0]], "seed 0 has no score"),
        ([[NAN, 1], [NAN, 0]], "prompt 0 has no score"),
        ([[1, NAN], [NAN, 0]], "in common"),
        ([1.0, 0.0], "seeds x prompts"),
    ],
)
def test_what_cannot_be_fitted_says_so(cells: list[object], words: str) -> None:
    with pytest.raises(StatisticsError, match=words):
        row_over_seeds(cells)  # type: ignore[arg-type]


def test_published_figures_of_seeds_have_the_error_of_the_seeds() -> None:
    row = figures_over_seeds([0.25, 0.31, 0.28])
    half = t.ppf(0.975, 2) * 0.03 / math.sqrt(3)
    assert (row.ci_low, row.ci_high) == pytest.approx((0.28 - half, 0.28 + half))
    assert row.estimand == "prompts_fixed"


@given(
    st.sampled_from([(2, 2), (2, 5), (1, 3), (4, 1)]),
    st.integers(0, 500),
    st.booleans(),
)
def test_p_and_interval_agree(
    sizes: tuple[int, int], seed: int, clustered: bool
) -> None:
    a, b = bernoulli(sizes[0], 30, seed, 0.6), bernoulli(sizes[1], 30, seed + 1)
    clusters = np.repeat(np.arange(10), 3) if clustered else None
    found = difference_over_seeds(a, b, clusters=clusters)
    turned = difference_over_seeds(b, a, clusters=clusters)
    assert found.p_value is not None
    assume(found.p_value < 1)
    at_p = difference_over_seeds(a, b, clusters=clusters, level=1 - found.p_value)
    assert min(abs(at_p.ci_low or 0), abs(at_p.ci_high or 0)) == pytest.approx(
        0, abs=1e-8
    )
    assert turned.p_value == pytest.approx(found.p_value)
    assert turned.difference == pytest.approx(-found.difference)
    assert ("one_seed" in found.flags) == (1 in sizes)


def test_seeds_that_are_alike_leave_the_paired_test() -> None:
    a, b = (
        np.repeat(bernoulli(1, 40), 3, axis=0),
        np.repeat(bernoulli(1, 40, 3), 3, axis=0),
    )
    found, plain = (
        difference_over_seeds(a, b),
        paired_difference(a[0], b[0], bounds=(0, 1)),
    )
    assert found.p_value == pytest.approx(plain.p_value)
    half = t.ppf(0.975, 39) * (
        plain.standard_error or 0
    )  # its own interval adds a prompt won and one lost
    assert found.ci_low == pytest.approx(plain.difference - half)


def test_fixed_weights_have_no_seeds_of_their_own() -> None:
    a, b = bernoulli(1, 60), bernoulli(4, 60, 1)
    trained, fixed = (
        difference_over_seeds(a, b),
        difference_over_seeds(a, b, fixed_a=True),
    )
    assert "one_seed" in trained.flags and "one_seed" not in fixed.flags
    assert trained.v_seeds_pooled == pytest.approx(5 * fixed.v_seeds_pooled)


def test_paired_seeds_are_the_row_of_their_differences() -> None:
    a, b = (
        np.random.default_rng(1).normal(0, 1, (4, 50)),
        np.random.default_rng(2).normal(0, 1, (4, 50)),
    )
    found, row = difference_over_paired_seeds(a, b), fit_seeds(a - b)
    assert found.v_seeds_pooled == pytest.approx(row.v_seeds)
    assert found.df_seeds_pooled == 3
    with pytest.raises(StatisticsError, match="paired seeds"):
        difference_over_paired_seeds(a[:3], b)


def test_a_constant_difference_has_no_error() -> None:
    found = difference_over_seeds(np.ones((2, 5)), np.zeros((2, 5)), bounds=(0, 1))
    assert (
        found.difference == 1
        and found.p_value is None
        and found.reason == "all differences are equal"
    )


def test_cochrans_q_is_that_of_statsmodels() -> None:
    from statsmodels.stats.contingency_tables import cochrans_q  # type: ignore[import-untyped]

    runs = bernoulli(4, 50, 9)
    found, oracle = repeats_test(runs, bounds=(0, 1)), cochrans_q(runs.T)
    assert found.statistic == pytest.approx(oracle.statistic)
    assert found.p_value == pytest.approx(oracle.pvalue)


def test_two_runs_of_right_and_wrong_are_mcnemars_exact_test() -> None:
    first = np.repeat([1.0, 0.0, 1.0], [12, 3, 20])
    second = np.repeat([0.0, 1.0, 1.0], [12, 3, 20])
    found = repeats_test([first, second], bounds=(0, 1))
    assert found.p_value == pytest.approx(binomtest(3, 15).pvalue)
    assert found.n_differ == 15


def test_gaps_weigh_each_prompt_by_the_runs_that_have_it() -> None:
    rng = np.random.default_rng(3)
    runs = rng.random((3, 40))
    runs[0, :10] = NAN
    found = repeats_test(runs)
    statistic = 0.0
    sums, covariance = np.zeros(3), np.zeros((3, 3))
    for column in runs.T:
        has = np.isfinite(column)
        own = np.where(has, column - column[has].mean(), 0)
        sums += own
        m = has.sum()
        covariance += column[has].var(ddof=1) * (
            np.diag(has * 1.0) - np.outer(has, has) / m
        )
    statistic = float(sums @ np.linalg.pinv(covariance) @ sums)
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(chi2.sf(statistic, 2))


def test_clusters_of_one_prompt_agree_with_the_plain_test() -> None:
    """With clusters of one prompt T² is the sum of squares over all runs, as the plain
    one's."""
    runs = np.random.default_rng(1).random((3, 60))
    plain, clustered = repeats_test(runs), repeats_test(runs, clusters=np.arange(60))
    assert clustered.statistic == pytest.approx(plain.statistic)


def test_verdicts_pool_widen_and_split() -> None:
    equal = np.ones((2, 100))
    assert repeats_test(equal, bounds=(0, 1)).verdict == "pooled"
    better = np.zeros((2, 100))
    better[0, :40] = 1
    found = repeats_test(better, bounds=(0, 1))
    assert found.verdict == "split" and "repeats_differ" in found.flags
    assert repeats_test(better).verdict == "widened"  # the range is not known
    few = np.zeros((2, 100))
    few[0, :9] = 1
    doubtful = repeats_test(few, bounds=(0, 1))
    assert doubtful.verdict == "widened"
    assert {"repeats_doubtful", "too_few_to_tell"} <= set(doubtful.flags)


def test_a_small_spread_is_widened_however_small_p_is() -> None:
    runs = np.zeros((2, 10_000))
    runs[0, :150] = 1
    found = repeats_test(runs, bounds=(0, 1))
    assert found.p_value < 1e-6 and found.verdict == "widened"


def test_greedy_repeats_that_differ_are_counted() -> None:
    runs = np.zeros((2, 80))
    runs[0, :18] = runs[1, 9:27] = 1
    found = greedy_repeats(repeats_test(runs, bounds=(0, 1)), 0.0)
    assert (found.n_differ, found.n_prompts, found.flags) == (
        18,
        80,
        ("greedy_differs",),
    )
    assert greedy_repeats(repeats_test(runs), 0.7).flags == ()
    assert greedy_repeats(repeats_test(runs), None).flags == ()


def test_equal_responses_with_other_scores_are_two_scorers() -> None:
    assert equal_responses(412, 37).scored_differently
    assert not equal_responses(412, 2).scored_differently
    assert not equal_responses(1000, 12).scored_differently  # below .02 within error
    assert equal_responses(0, 0).share is None
    judge = equal_responses(100, 20, scorer="judge", n_up=11, n_down=9)
    assert judge.share == 0.2 and not judge.scored_differently
    assert equal_responses(
        100, 20, scorer="judge", n_up=20, n_down=0
    ).scored_differently
    with pytest.raises(StatisticsError, match="between 0 and"):
        equal_responses(3, 4)


def test_the_rows_checkpoint_is_the_last_whole_one() -> None:
    found = row_checkpoint({None: {0: 100, 1000: 100, 2000: 95, 3000: 94}})
    assert (found.position, found.last_partial, found.n_checkpoints) == (2000, 3000, 4)
    assert found.flags == ("last_partial",)


def test_seeds_meet_at_the_last_step_that_all_have() -> None:
    found = row_checkpoint(
        {1: {100: 50, 200: 50, 300: 50}, 2: {100: 50, 200: 50}, 3: {100: 3}}
    )
    assert (found.position, found.seeds, found.left_out) == (200, (1, 2), (3,))
    assert found.flags == ("mixed_lengths",)
    apart = row_checkpoint({1: {100: 50}, 2: {200: 50}, 3: {200: 50}})
    assert (apart.position, apart.seeds, apart.left_out) == (200, (2, 3), (1,))


@given(
    st.lists(st.floats(-5, 5) | st.sampled_from([INF, -INF]), min_size=1, max_size=30)
)
def test_infinite_scores_are_scores(values: list[float]) -> None:
    found = describe_infinite(values)
    assert found.n == len(values) == found.n_finite + found.n_infinite
    oracle = binomtest(found.n_infinite, found.n).proportion_ci(method="exact")
    assert (found.share_low, found.share_high) == pytest.approx(
        (oracle.low, oracle.high)
    )
    if INF in values and -INF in values:
        assert found.mean is None and found.reason == "both_infinities"
    else:
        assert found.mean == pytest.approx(float(np.mean(values)))
    ordered = sorted(values)
    middle = (ordered[(len(values) - 1) // 2], ordered[len(values) // 2])
    if middle[0] == middle[1]:
        assert found.median == middle[0]
    elif math.isinf(middle[1]):
        assert found.median == INF
    assert found.median_low is not None and found.median_high is not None
    assert found.median_low <= found.median <= found.median_high


@pytest.mark.parametrize("n", [1, 5, 6, 12, 60])
def test_the_interval_of_the_median_covers(n: int) -> None:
    found = describe_infinite(range(1, n + 1))
    if n < 6:
        assert (found.median_low, found.median_high) == (-INF, INF)
        return
    assert found.median_low is not None
    r = round(found.median_low)
    assert binomtest(0, 1).pvalue  # scipy is there
    from scipy.stats import binom

    assert binom.cdf(r - 1, n, 0.5) <= 0.025 < binom.cdf(r, n, 0.5)
    assert found.median_high == n + 1 - r


def test_a_model_with_an_infinite_score_is_below_every_model_without() -> None:
    good, bad = [9.0, 9, 9, 9], [0.1, 0.1, 0.1, INF]
    assert order_key(good, higher_is_better=False) < order_key(
        bad, higher_is_better=False
    )
    assert order_key(bad, higher_is_better=True) < order_key(
        good, higher_is_better=True
    )


def test_two_models_by_how_often_they_fail() -> None:
    a = [INF] * 14 + [0.5] * 16
    b = [1.0] * 30
    found = compare_infinite(a, b, higher_is_better=False)
    assert found.better == 1 and found.leads
    assert found.p_infinite == pytest.approx(binomtest(0, 14).pvalue)
    assert found.p_value == pytest.approx(2 * found.p_infinite)
    turned = compare_infinite(b, a, higher_is_better=False)
    assert (turned.better, turned.p_value) == (-1, found.p_value)


def test_most_questions_against_the_mean_give_no_verdict() -> None:
    a = [INF] + [0.5] * 29
    b = [INF] + [1.0] * 28 + [0.1]
    found = compare_infinite(a, b, higher_is_better=False)
    assert found.leads  # both infinite once: the finite ones decide
    far = compare_infinite([0.5] * 29 + [900.0], [1.0] * 30, higher_is_better=False)
    assert far.p_value is None and "disagree" in far.reason


def test_clusters_are_flipped_whole() -> None:
    a = np.repeat([1.0, 2, 3, 4, 5, 6], 5)
    found = compare_infinite(
        a, a + 1, higher_is_better=False, clusters=np.repeat(np.arange(6), 5)
    )
    assert found.p_sign == pytest.approx(2 / 2**6)
    assert describe_infinite(a, clusters=np.repeat(np.arange(6), 5)).median_low is None
