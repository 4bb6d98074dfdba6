"""Several draws per prompt: what is read from them, and the mean with the prompts
fixed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from warehouse.errors import StatisticsError
from warehouse.stats import (
    estimate_mean_prompts_fixed,
    interval_wilson_bounded,
    prompt_draws,
    single_draw_scores,
    summarise_draws,
)

repeatable = settings(deadline=None, derandomize=True)
G5 = [[1, 1, 0], [0, 0], [1, 1, 1, 1], [1, 0, 0, 1]]
NAN = float("nan")

ragged = st.lists(
    st.lists(st.sampled_from([0.0, 0.25, 1.0, -3.0]), min_size=1, max_size=6),
    min_size=1,
    max_size=12,
)


def flat(draws: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """Draws one after the other, and the prompt of each."""
    return np.concatenate(draws), np.repeat(
        np.arange(len(draws)), [len(d) for d in draws]
    )


@repeatable
@given(ragged, st.randoms(use_true_random=False))
def test_draws_are_summarised_as_numpy_does_in_any_order(
    draws: list[list[float]], dice
) -> None:
    values, prompts = flat(draws)
    order = list(range(len(values)))
    dice.shuffle(order)
    for place in (np.arange(len(values)), np.array(order)):
        found = summarise_draws(values[place], prompts[place])
        np.testing.assert_allclose(found.means, [np.mean(d) for d in draws], atol=1e-12)
        within = [np.var(d, ddof=1) if len(d) > 1 else NAN for d in draws]
        np.testing.assert_allclose(found.within, within, atol=1e-12)
        assert found.n_draws.tolist() == [len(d) for d in draws]


@repeatable
@given(ragged)
def test_single_draw_runs_take_the_kth_draw_of_each_prompt(
    draws: list[list[float]],
) -> None:
    fewest = min(map(len, draws))
    expected = [np.mean([d[k] for d in draws]) for k in range(fewest)]
    np.testing.assert_allclose(single_draw_scores(*flat(draws)), expected, atol=1e-12)
    found = single_draw_scores(*flat([d[:fewest] for d in draws]))
    assert found.mean() == pytest.approx(np.mean([np.mean(d[:fewest]) for d in draws]))


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        (G5, True),
        ([[1], [0]], True),
        ([[0.25, 0.75], [1, 1]], False),  # 2·p̂ is whole, but the draws are not 0 or 1
        ([[0.5], [1]], False),
        ([[2, 0], [1, 1]], False),  # a mean within [0, 1] of draws that are not
        ([[-1, 1, 1, 1]], False),
    ],
)
def test_whether_draws_are_zero_one_can_be_told(
    draws: list[list[float]], expected: bool
) -> None:
    assert summarise_draws(*flat(draws)).are_zero_one() is expected


def test_draws_that_cannot_be_are_refused() -> None:
    cases = [
        (([], [0], [1]), "empty"),
        (([1, NAN], [0, 0], [2, 2]), "not finite"),
        (([1, 1], [0], [2, 2]), "`within` has 1"),
        (([1, 1], [0, -1], [2, 2]), "-1.0 at index 1"),
        (([1, 1], [0, math.inf], [2, 2]), "inf at index 1"),
        (([1, 1], [0, 0], [2, 0]), "found 0.0 at index 1"),
        (([1, 1], [0, 0], [2, 2.5]), "found 2.5"),
        (([1, 1], [0, 0], [2, 2, 2]), "`n_draws` has 3"),
        (([1, 1], [0, 0], "many"), "`n_draws` must hold numbers"),
        (([1, 1], ["x", 0], [2, 2]), "`within` must hold numbers"),
    ]
    for arguments, message in cases:
        with pytest.raises(StatisticsError, match=message):
            prompt_draws(*arguments)
    for prompts, message in (
        ([0, 2], "leaves out 1"),
        ([0.0, 1.0], "whole number"),
        ([-1, 0], "count from 0"),
        ([0], "1 entries"),
    ):
        with pytest.raises(StatisticsError, match=message):
            summarise_draws([1, 0], prompts)


# --- prompts fixed ---------------------------------------------------------------------------


def test_g5_with_the_prompts_fixed() -> None:
    draws = summarise_draws(*flat(G5))
    found = estimate_mean_prompts_fixed(draws.means, draws.within, draws.n_draws)
    assert found.estimate == pytest.approx(0.541666666667, rel=1e-11)
    assert found.standard_error is not None
    assert found.standard_error**2 == pytest.approx(0.0121527777778, rel=1e-11)
    assert (found.estimand, found.method, found.n_draws) == ("prompts_fixed", "t", 13)


def test_one_prompt_is_the_t_interval_of_its_draws() -> None:
    draws = [0.2, 0.9, 0.4, 0.7, 0.55]
    found = estimate_mean_prompts_fixed([np.mean(draws)], [np.var(draws, ddof=1)], 5)
    low, high = scipy_stats.t.interval(0.9, 4, np.mean(draws), scipy_stats.sem(draws))
    again = estimate_mean_prompts_fixed(
        [np.mean(draws)], [np.var(draws, ddof=1)], 5, level=0.9
    )
    assert (again.ci_low, again.ci_high) == pytest.approx((low, high), rel=1e-10)
    assert found.standard_error == pytest.approx(scipy_stats.sem(draws), rel=1e-12)


def test_two_prompts_are_welch() -> None:
    """The mean of two prompts has the error and freedom of half their difference."""
    a, b = [0.1, 0.5, 0.9, 0.2], [0.6, 0.7, 0.3]
    draws = summarise_draws(*flat([a, b]))
    found = estimate_mean_prompts_fixed(draws.means, draws.within, draws.n_draws)
    welch = scipy_stats.ttest_ind(a, b, equal_var=False)
    assert found.degrees_of_freedom == pytest.approx(welch.df, rel=1e-10)
    half = (welch.confidence_interval().high - welch.confidence_interval().low) / 2
    assert found.ci_low is not None and found.ci_high is not None
    assert found.ci_high - found.ci_low == pytest.approx(half, rel=1e-10)


def test_bounds_keep_the_interval_inside_by_bounded_wilson() -> None:
    found = estimate_mean_prompts_fixed([98, 99.5, 96], [9, 1, 25], 4, bounds=(0, 100))
    error, freedom = found.standard_error, found.degrees_of_freedom
    expected = interval_wilson_bounded(found.estimate, error, freedom, bounds=(0, 100))
    assert expected is not None and (found.ci_low, found.ci_high) == (
        expected.low,
        expected.high,
    )
    assert (
        found.method == "wilson_bounded"
        and found.ci_high is not None
        and found.ci_high < 100
    )


def test_a_prompt_with_one_draw_gets_the_mean_variance() -> None:
    found = estimate_mean_prompts_fixed([0.5, 0.25, 1], [0.5, 0.25, NAN], [2, 4, 1])
    assert found.flags == ("within_imputed",)
    expected = math.sqrt(0.5 / 2 + 0.25 / 4 + 0.375 / 1) / 3
    assert found.standard_error == pytest.approx(expected, rel=1e-12)


def test_what_cannot_be_said_is_none_with_a_reason() -> None:
    single = estimate_mean_prompts_fixed([1, 0], [NAN, NAN], [1, 1])
    assert (single.standard_error, single.ci_low, single.method) == (None, None, "none")
    assert single.flags == ("no_repeated_draws",) and "two draws" in single.reason
    alike = estimate_mean_prompts_fixed([1, 0], [0, 0], [5, 5], bounds=(0, 1))
    assert (alike.standard_error, alike.ci_low) == (None, None)
    assert alike.flags == (
        "zero_standard_error",
    ) and "no prompt's draws differ" in str(alike)
    with pytest.raises(StatisticsError, match="outside the `bounds`"):
        estimate_mean_prompts_fixed([50], [1], [2], bounds=(0, 1))
    with pytest.raises(StatisticsError, match="`level`"):
        estimate_mean_prompts_fixed([0.5], [0.5], [2], level=1)


def test_the_interval_covers_the_mean_of_these_prompts() -> None:
    """95 % of repeated draws from the same prompts, up to four Monte Carlo errors."""
    dice = np.random.default_rng(3)
    rates, k, repeats = np.array([0.05, 0.3, 0.5, 0.9, 0.97] * 6), 5, 2000
    means = dice.binomial(k, rates, size=(repeats, len(rates))) / k
    within = means * (1 - means) * k / (k - 1)
    hits = 0
    for row, spread in zip(means, within, strict=True):
        found = estimate_mean_prompts_fixed(row, spread, k, bounds=(0, 1))
        assert found.ci_low is not None and found.ci_high is not None
        hits += found.ci_low <= rates.mean() <= found.ci_high
    assert hits / repeats == pytest.approx(
        0.95, abs=4 * math.sqrt(0.95 * 0.05 / repeats)
    )
