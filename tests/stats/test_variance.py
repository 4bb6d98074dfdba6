"""The split of a mean's variance, Δ(k=1), and seeds crossed with prompts."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as scipy_stats
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.contingency_tables import cochrans_q

from warehouse.errors import StatisticsError
from warehouse.stats import (
    crossed_variance,
    delta_k1,
    estimate_mean,
    expected_range,
    single_draw_range,
    standard_error_bernoulli,
    summarise_draws,
    variance_components,
)

repeatable = settings(deadline=None, derandomize=True)
NAN = float("nan")
G5 = [[1, 1, 0], [0, 0], [1, 1, 1, 1], [1, 0, 0, 1]]
G6 = [[1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 1, 1]]


def golden(value: float) -> object:
    return pytest.approx(value, rel=1e-11)


def flat(draws: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(draws).astype(float), np.repeat(
        np.arange(len(draws)), [len(d) for d in draws]
    )


def split(draws: list[list[float]], **options):
    found = summarise_draws(*flat(draws))
    return variance_components(found.means, found.within, found.n_draws, **options)


# --- between and within ----------------------------------------------------------------------


def test_g5() -> None:
    found = split(G5)
    assert found.mean == golden(0.541666666667)
    assert found.prompt_variance == golden(0.173611111111)
    assert found.variance == golden(0.0434027777778)
    assert found.mean_within == golden(0.166666666667)
    assert found.within == golden(0.0486111111111)
    assert found.between_raw == golden(0.125) == found.between
    assert found.variance_prompts_fixed == golden(0.0121527777778)
    assert found.variance_double_draws == golden(0.0373263888889)
    assert found.variance_unlimited_draws == golden(0.03125)
    assert found.share_between == golden(0.125 / 0.173611111111)
    assert found.variance_zhang_plugin is None  # unequal numbers of draws
    assert (found.fewest_draws, found.most_draws, found.mean_draws) == (2, 4, 3.25)


def test_g6() -> None:
    found = split(G6)
    assert found.variance_zhang_plugin == golden(0.0341796875)
    assert found.variance == golden(0.0260416666667)
    assert found.mean_within == golden(0.208333333333)
    assert found.between_raw == golden(0.0520833333333)


def test_shares_saved_by_draws_under_uniform_difficulty() -> None:
    """Miller §3.1: K = 2, 4, 6 save 1/3, 1/2, 5/9 of the variance, draws without end
    2/3."""
    half = math.sqrt(
        1 / 12
    )  # two prompts: s² = 1/6 = B + W/2, with B = 1/12 and W = 1/6

    def at(k: int) -> float:
        spread = math.sqrt((1 / 12 + 1 / (6 * k)) / 2)
        means, within = [0.5 - spread, 0.5 + spread], [1 / 6, 1 / 6]
        found = variance_components(means, within, k)
        assert found.between_raw == pytest.approx(half**2, rel=1e-12)
        assert found.variance is not None
        return found.variance

    single = (1 / 12 + 1 / 6) / 2
    doubled = variance_components([0.5 - half, 0.5 + half], [1 / 6, 1 / 6], 2)
    assert doubled.variance_double_draws == pytest.approx(at(4), rel=1e-12)
    for k, saved in ((2, 1 / 3), (4, 1 / 2), (6, 5 / 9)):
        assert 1 - at(k) / single == pytest.approx(saved, rel=1e-12)
    assert doubled.variance_unlimited_draws == pytest.approx(single / 3, rel=1e-12)
    assert doubled.suggested_draws == 20  # W̄/(0.1 B) = 2/0.1
    wider = variance_components(
        [0.5 - half, 0.5 + half], [1 / 6, 1 / 6], 2, epsilon=0.5
    )
    assert wider.suggested_draws == 4


def test_the_raw_part_between_prompts_is_unbiased() -> None:
    """Over every outcome of 2, 3 and 2 draws: E[s² − w] is the variance of the rates."""
    rates, sizes = (0.2, 0.7, 0.9), (2, 3, 2)
    expectation = 0.0
    for outcome in product((0, 1), repeat=sum(sizes)):
        parts = np.split(np.array(outcome, dtype=float), np.cumsum(sizes)[:-1])
        chance = math.prod(
            rate if draw else 1 - rate
            for rate, part in zip(rates, parts, strict=True)
            for draw in part
        )
        expectation += chance * (
            split([list(part) for part in parts]).between_raw or 0.0
        )
    assert expectation == pytest.approx(np.var(rates, ddof=1), rel=1e-10)


def test_one_draw_each_cannot_be_split() -> None:
    found = split([[1], [0], [1], [1]])
    assert (found.within, found.between_raw, found.share_within) == (None, None, None)
    assert found.suggested_draws is None and found.reason == "no prompt has two draws"
    bernoulli = standard_error_bernoulli([1, 0, 1, 1])
    assert bernoulli is not None and found.variance is not None
    assert found.variance_zhang_plugin == pytest.approx(bernoulli**2, rel=1e-12)
    assert "no prompt has two draws" in str(found)


def test_prompts_with_one_draw_get_the_mean_of_the_others() -> None:
    found = split([[1, 0], [1], [0, 0, 1], [0]])
    assert found.within_imputed and found.n_multi_draw == 2
    known = (np.var([1, 0], ddof=1), np.var([0, 0, 1], ddof=1))
    mean = np.mean(known)
    assert found.mean_within == pytest.approx(mean)
    assert found.within == pytest.approx(
        (known[0] / 2 + mean + known[1] / 3 + mean) / 4
    )


def test_a_negative_part_between_prompts_is_shown_and_clipped() -> None:
    found = split([[1, 0], [0, 1], [1, 0]])
    assert found.between_raw is not None and found.between_raw < 0
    assert (found.between, found.is_clipped, found.suggested_draws) == (0, True, None)
    assert "no more than draws" in found.reason
    assert (
        found.variance_unlimited_draws is not None
        and found.variance_unlimited_draws < 0
    )


def test_no_difference_between_prompts_is_not_divided_by() -> None:
    """One wrong draw of 150: s² and w are both 1/50 · 1/9, but for rounding."""
    found = split([[1, 1, 0], *[[1, 1, 1]] * 49])
    assert found.between_raw == pytest.approx(0, abs=1e-15)
    assert found.suggested_draws is None and "no more than draws" in found.reason


def test_clusters_take_the_cluster_robust_variance() -> None:
    draws, labels = [*G6, [1, 1, 1, 1], [0, 0, 0, 1]], list("aabbcc")
    plain, found = split(draws), split(draws, clusters=labels)
    robust = estimate_mean(
        [np.mean(d) for d in draws], clusters=labels, n_draws=4
    ).se_cr2
    assert robust is not None and found.variance == pytest.approx(robust**2, rel=1e-12)
    assert found.between_raw == pytest.approx(
        6 * robust**2 - (plain.within or 0), rel=1e-12
    )
    assert (found.prompt_variance, found.within) == (
        plain.prompt_variance,
        plain.within,
    )
    alone = split(draws, clusters=range(6))
    assert alone.between_raw == pytest.approx(plain.between_raw, rel=1e-12)
    single = split(draws, clusters=[1] * 6)
    assert single.variance is None and single.reason == "a single cluster"


@repeatable
@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=1, max_size=5),
        min_size=2,
        max_size=9,
    ),
    st.randoms(use_true_random=False),
    st.floats(-5, 5),
    st.sampled_from([-3.0, 0.5, 10.0]),
)
def test_order_shift_and_scale(
    draws: list[list[float]], dice, shift: float, scale: float
) -> None:
    found = split(draws)
    shuffled = list(draws)
    dice.shuffle(shuffled)
    moved = split([[shift + scale * y for y in d] for d in shuffled])
    for name in (
        "variance",
        "within",
        "between_raw",
        "mean_within",
        "variance_double_draws",
    ):
        one, other = getattr(found, name), getattr(moved, name)
        expected = (
            None if one is None else pytest.approx(scale**2 * one, rel=1e-7, abs=1e-12)
        )
        assert other == expected, name
    assert moved.mean == pytest.approx(shift + scale * found.mean, abs=1e-9)
    if found.share_within is not None and found.share_between is not None:
        assert found.share_within + found.share_between == pytest.approx(1)


def test_what_the_split_refuses() -> None:
    for epsilon in (0, -1, NAN, math.inf):
        with pytest.raises(StatisticsError, match="epsilon"):
            variance_components([1, 0], [0, 0], 2, epsilon=epsilon)
    assert variance_components([1], [0.5], 2).reason == "a single prompt"
    assert (
        variance_components([1, 0], [NAN, NAN], 10).reason
        == "the spread of draws is unknown"
    )


# --- the range of single-draw runs -------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "expected"),
    [(2, 1.1283791671), (5, 2.32592894728), (10, 3.07750546167), (50, 4.49814725878)],
)
def test_g7_expected_range(k: int, expected: float) -> None:
    assert expected_range(k) == golden(expected)


def gap(x: float, k: int) -> float:
    """The integrand of d2."""
    return 1 - scipy_stats.norm.cdf(x) ** k - scipy_stats.norm.sf(x) ** k


def test_expected_range_in_closed_form_and_by_quadrature() -> None:
    assert expected_range(1) == pytest.approx(0, abs=1e-12)
    assert expected_range(2) == pytest.approx(2 / math.sqrt(math.pi), rel=1e-12)
    assert expected_range(3) == pytest.approx(3 / math.sqrt(math.pi), rel=1e-12)
    for k in (4, 17, 300, 100_000):
        area, _ = integrate.quad(gap, -9, 9, args=(k,), epsabs=1e-11, limit=500)
        assert expected_range(k) == pytest.approx(area, rel=1e-9)
    with pytest.raises(StatisticsError, match="at least 1"):
        expected_range(0)


def test_best_minus_worst_over_the_first_draws() -> None:
    """G5: two draws of every prompt; run 1 is 1, 0, 1, 1 and run 2 is 1, 0, 1, 0."""
    found = delta_k1(*flat(G5))
    assert (found.best, found.worst, found.delta, found.n_runs) == (0.75, 0.5, 0.25, 2)
    within = sum(np.var(d, ddof=1) for d in G5)
    assert found.expected == pytest.approx(
        2 / math.sqrt(math.pi) * math.sqrt(within / 16)
    )


def test_whether_the_draws_are_alike_is_cochrans_q() -> None:
    draws = (
        np.random.default_rng(6).uniform(size=(30, 4)) < [0.7, 0.5, 0.6, 0.2]
    ).astype(float)
    found = delta_k1(draws.ravel(), np.repeat(np.arange(30), 4))
    assert found.p_value == pytest.approx(cochrans_q(draws).pvalue, rel=1e-10)
    alike = delta_k1(*flat([[1, 1], [0, 0]]))
    assert (alike.delta, alike.p_value) == (0, None)


def test_without_a_second_draw_there_is_no_range() -> None:
    found = delta_k1(*flat([[1, 0], [1]]))
    assert (found.delta, found.expected, found.n_runs) == (None, None, 1)
    assert "only one draw" in str(found)
    with pytest.raises(StatisticsError, match="expected one per draw"):
        single_draw_range([0.5, 0.6], summarise_draws(*flat([[1, 0], [1]])))


def test_the_expected_range_is_what_draws_alone_give() -> None:
    """Mean of 400 ranges of five runs on 300 prompts, up to four Monte Carlo errors."""
    dice, n, k = np.random.default_rng(5), 300, 5
    rates = dice.uniform(size=n)
    ranges, expected = [], []
    for _ in range(400):
        draws = (dice.uniform(size=(n, k)) < rates[:, None]).astype(float)
        found = delta_k1(draws.ravel(), np.repeat(np.arange(n), k))
        ranges.append(found.delta)
        expected.append(found.expected)
    error = np.std(ranges) / math.sqrt(len(ranges))
    assert np.mean(ranges) == pytest.approx(np.mean(expected), abs=4 * error)
    assert 4 * error < 0.1 * np.mean(expected)


# --- seeds × prompts ---------------------------------------------------------------------------


def test_crossed_variance_is_the_two_way_analysis_of_variance() -> None:
    seeds, n = 4, 7
    table = np.random.default_rng(2).normal(size=(seeds, n)) + np.arange(n)
    found = crossed_variance(table)
    rows, columns = np.indices(table.shape)
    frame = pd.DataFrame({"y": table.ravel(), "s": rows.ravel(), "p": columns.ravel()})
    squares = anova_lm(smf.ols("y ~ C(s) + C(p)", frame).fit())
    means = squares["sum_sq"] / squares["df"]
    cells = seeds * n
    assert found.part_seeds == pytest.approx(means["C(s)"] / cells, rel=1e-10)
    assert found.part_prompts == pytest.approx(means["C(p)"] / cells, rel=1e-10)
    assert found.part_interaction == pytest.approx(means["Residual"] / cells, rel=1e-10)
    assert found.variance_interaction == pytest.approx(means["Residual"], rel=1e-10)


@repeatable
@given(st.integers(2, 5), st.integers(2, 8), st.integers(0, 1000))
def test_errors_under_each_estimand(seeds: int, n: int, number: int) -> None:
    table = np.random.default_rng(number).integers(0, 2, size=(seeds, n)).astype(float)
    found = crossed_variance(table)
    v_p = np.var(table.mean(axis=0), ddof=1) / n
    v_s = np.var(table.mean(axis=1), ddof=1) / seeds
    assert found.se_seeds_fixed**2 == pytest.approx(v_p, rel=1e-10, abs=1e-15)
    assert found.se_prompts_fixed**2 == pytest.approx(v_s, rel=1e-10, abs=1e-15)
    both = max(v_p + v_s - found.part_interaction, v_p, v_s)
    assert found.se_both_sampled**2 == pytest.approx(both, rel=1e-10, abs=1e-15)
    assert found.se_both_fixed is None
    turned = crossed_variance(table.T)
    assert turned.se_seeds_fixed == pytest.approx(found.se_prompts_fixed)
    shuffled = crossed_variance(table[::-1, ::-1])
    assert shuffled.se_both_sampled == pytest.approx(found.se_both_sampled)


def test_crossed_parts_are_unbiased() -> None:
    """Means over 4 000 tables of known variances, up to four Monte Carlo errors."""
    dice, seeds, n = np.random.default_rng(4), 4, 6
    parts = []
    for _ in range(4000):
        table = (
            2.0 * dice.normal(size=(1, n))
            + dice.normal(size=(seeds, 1))
            + 0.5 * dice.normal(size=(seeds, n))
        )
        found = crossed_variance(table)
        parts.append(
            (found.variance_prompts, found.variance_seeds, found.variance_interaction)
        )
    errors = np.std(parts, axis=0) / math.sqrt(len(parts))
    assert (np.abs(np.mean(parts, axis=0) - [4, 1, 0.25]) < 4 * errors).all()


def test_with_both_fixed_only_draws_are_left() -> None:
    found = crossed_variance(
        [[0.5, 1], [0, 0.5]], within=[[0.5, 0], [0, 0.25]], n_draws=[[2, 2], [2, 4]]
    )
    assert found.se_both_fixed == pytest.approx(math.sqrt(0.25 + 0.0625) / 4)


def test_what_a_crossed_table_must_be() -> None:
    for table, message in (
        ([1, 0], "table of seeds"),
        ([[1, 0]], "found 1 and 2"),
        ([[1], [0]], "found 2 and 1"),
        ([[1, NAN], [0, 1]], "finite"),
        ([["x", 1], [0, 1]], "numbers"),
    ):
        with pytest.raises(StatisticsError, match=message):
            crossed_variance(table)
    square = [[1, 0], [0, 1]]
    with pytest.raises(StatisticsError, match="shape"):
        crossed_variance(square, within=[[0, 0]], n_draws=square)
    with pytest.raises(StatisticsError, match="at least"):
        crossed_variance(square, within=square, n_draws=square)
