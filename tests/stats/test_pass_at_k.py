"""pass@k and pass^k against every subset of the draws, exact expectations and the mean."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy import stats as scipy_stats

from warehouse.errors import StatisticsError
from warehouse.stats import (
    estimate_mean,
    estimate_mean_prompts_fixed,
    interval_clopper_pearson,
    interval_wilson,
    interval_wilson_bounded,
    missing_bounds,
    pass_at_k,
    pass_hat_k,
)
from warehouse.stats.variance.pass_at_k import pass_at_k_by_prompt, pass_hat_k_by_prompt

repeatable = settings(deadline=None, derandomize=True)


@st.composite
def counts(draw: st.DrawFn, more: int = 0) -> tuple[list[int], list[int], int]:
    """Right draws and draws of each prompt, and a k of which they have at least k +
    more."""
    k = draw(st.integers(1, 5))
    sizes = draw(st.lists(st.integers(k + more, 9), min_size=1, max_size=8))
    return [draw(st.integers(0, size)) for size in sizes], sizes, k


def near(value: float | None) -> object:
    """Equal but for rounding; None is equal to None only."""
    return None if value is None else pytest.approx(value, rel=1e-9)


def by_subsets(correct: int, size: int, k: int) -> tuple[float, float]:
    """Shares of the k-subsets of the draws with any and with all of them right."""
    draws = [1] * correct + [0] * (size - correct)
    subsets = list(combinations(draws, k))
    return np.mean([max(s) for s in subsets]), np.mean([min(s) for s in subsets])


@repeatable
@given(counts())
def test_each_prompts_figure_is_the_share_of_subsets(
    case: tuple[list[int], list[int], int],
) -> None:
    correct, sizes, k = case
    expected = np.array(
        [by_subsets(c, size, k) for c, size in zip(correct, sizes, strict=True)]
    )
    np.testing.assert_allclose(
        pass_at_k_by_prompt(correct, sizes, k), expected[:, 0], atol=1e-12
    )
    np.testing.assert_allclose(
        pass_hat_k_by_prompt(correct, sizes, k), expected[:, 1], atol=1e-12
    )
    assert pass_at_k(correct, sizes, k).estimate == pytest.approx(
        expected[:, 0].mean(), abs=1e-12
    )
    assert pass_hat_k(correct, sizes, k).estimate == pytest.approx(
        expected[:, 1].mean(), abs=1e-12
    )


@pytest.mark.parametrize(("size", "k"), [(200, 100), (1000, 10), (5000, 1000)])
def test_many_draws_neither_overflow_nor_lose_digits(size: int, k: int) -> None:
    correct = np.array([0, 1, 3, size // 100, size // 2, size - 1, size])
    expected = [math.comb(c, k) / math.comb(size, k) for c in correct.tolist()]
    np.testing.assert_allclose(
        pass_hat_k_by_prompt(correct, size, k), expected, rtol=1e-10
    )
    missed = [math.comb(size - c, k) / math.comb(size, k) for c in correct.tolist()]
    np.testing.assert_allclose(
        1 - pass_at_k_by_prompt(correct, size, k), missed, atol=1e-12
    )


@pytest.mark.parametrize("rate", [0.03, 0.4, 0.9])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_the_estimators_are_unbiased(rate: float, k: int) -> None:
    """Summed over every number of right draws with its binomial probability."""
    size = 8
    chance = scipy_stats.binom.pmf(np.arange(size + 1), size, rate)
    some = chance @ pass_at_k_by_prompt(np.arange(size + 1), size, k)
    every = chance @ pass_hat_k_by_prompt(np.arange(size + 1), size, k)
    assert some == pytest.approx(1 - (1 - rate) ** k, rel=1e-10)
    assert every == pytest.approx(rate**k, rel=1e-10)


def test_g7() -> None:
    fixed = pass_at_k([3], 10, 5, estimand="prompts-fixed")
    assert fixed.estimate == pytest.approx(0.916666666667, rel=1e-11)
    assert fixed.standard_error is not None
    assert fixed.standard_error**2 == pytest.approx(0.0267857142857, rel=1e-11)
    assert pass_hat_k([3], 10, 2).estimate == pytest.approx(0.0666666666667, rel=1e-11)
    assert fixed.estimand == "prompts_fixed" and fixed.statistic == "pass@5"


def jackknife_variance(correct: int, size: int, k: int, some: bool) -> float:
    """(K−1)/K Σ_j (g_(−j) − mean)², every draw left out once, figures from binomials."""
    left_out = []
    for draw in [1] * correct + [0] * (size - correct):
        c, rest = correct - draw, size - 1
        hit = special.comb(rest - c if some else c, k) / special.comb(rest, k)
        left_out.append(1 - hit if some else hit)
    return (
        (size - 1) / size * float(((np.array(left_out) - np.mean(left_out)) ** 2).sum())
    )


@repeatable
@given(counts(more=1))
def test_with_the_prompts_fixed_the_error_is_the_jackknife(
    case: tuple[list[int], list[int], int],
) -> None:
    correct, sizes, k = case
    for some, function in ((True, pass_at_k), (False, pass_hat_k)):
        pairs = zip(correct, sizes, strict=True)
        v = np.array([jackknife_variance(c, size, k, some) for c, size in pairs])
        found = function(correct, sizes, k, estimand="prompts_fixed")
        assert (found.standard_error or 0) == pytest.approx(
            math.sqrt(v.sum()) / len(v), rel=1e-10, abs=1e-12
        )
        if found.ci_low is not None and found.ci_high is not None:
            assert 0 <= found.ci_low <= (found.estimate or 0) <= found.ci_high <= 1
            freedom = v.sum() ** 2 / (v**2 / (np.array(sizes) - 1)).sum()
            expected = interval_wilson_bounded(
                found.estimate or 0, found.standard_error, float(freedom)
            )
            assert expected is not None
            assert (found.ci_low, found.ci_high) == pytest.approx(
                (expected.low, expected.high)
            )


@repeatable
@given(counts(more=1))
def test_one_draw_is_the_mean(case: tuple[list[int], list[int], int]) -> None:
    correct, sizes, _ = case
    k, c = np.array(sizes), np.array(correct)
    p = c / k
    for function in (pass_at_k, pass_hat_k):
        found = function(correct, sizes, 1, estimand="prompts_fixed")
        mean = estimate_mean_prompts_fixed(
            p, p * (1 - p) * k / (k - 1), k, bounds=(0, 1)
        )
        for name in ("estimate", "standard_error", "ci_low", "ci_high"):
            assert getattr(found, name) == near(getattr(mean, name)), name
        sampled = function(correct, sizes, 1)
        plain = estimate_mean(p, n_draws=k, bounds=(0, 1))
        for name in ("estimate", "standard_error", "ci_low", "ci_high"):
            assert getattr(sampled, name) == near(getattr(plain, name)), name


@repeatable
@given(counts(), st.randoms(use_true_random=False))
def test_the_order_of_prompts_does_not_matter(
    case: tuple[list[int], list[int], int], dice
) -> None:
    correct, sizes, k = case
    labels = [c % 3 for c in correct]
    order = list(range(len(sizes)))
    dice.shuffle(order)
    shuffled = [
        [values[place] for place in order] for values in (correct, sizes, labels)
    ]
    for clusters in (False, True):
        found = pass_at_k(correct, sizes, k, clusters=labels if clusters else None)
        again = pass_at_k(
            shuffled[0], shuffled[1], k, clusters=shuffled[2] if clusters else None
        )
        for name in ("estimate", "standard_error", "ci_low", "ci_high"):
            assert getattr(found, name) == near(getattr(again, name)), name
        assert (found.method, found.flags) == (again.method, again.flags)


def test_clusters_give_the_cluster_robust_error() -> None:
    correct, labels = [1, 0, 3, 2, 4, 4, 0, 1], list("aabbccdd")
    values = pass_at_k_by_prompt(correct, 4, 2)
    found, expected = (
        pass_at_k(correct, 4, 2, clusters=labels),
        estimate_mean(values, clusters=labels, bounds=(0, 1)),
    )
    assert (found.standard_error, found.n_clusters) == (expected.se_cr2, 4)
    assert (
        pass_at_k(correct, 4, 2, clusters=labels, estimand="prompts_fixed").n_clusters
        is None
    )


def test_more_draws_than_there_are_give_no_figure_but_the_count() -> None:
    for estimand in ("prompts_sampled", "prompts_fixed"):
        for function in (pass_at_k, pass_hat_k):
            found = function([1, 2, 0], [1, 2, 2], 3, estimand=estimand)
            assert (found.estimate, found.standard_error, found.ci_low) == (
                None,
                None,
                None,
            )
            assert (found.bound_low, found.n_short, found.flags) == (
                None,
                3,
                ("too_few_draws",),
            )
            assert "3 of 3 have fewer (the fewest: 1)" in found.reason


@pytest.mark.parametrize("labels", [None, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]])
@pytest.mark.parametrize("estimand", ["prompts_sampled", "prompts_fixed"])
def test_prompts_short_of_k_are_left_out_and_bounded(
    estimand: str, labels: list[int] | None
) -> None:
    correct, draws = [3, 2, 5, 0, 1, 4, 2, 1, 2, 5], [5, 2, 5, 5, 5, 6, 4, 1, 5, 5]
    have = np.array(draws) >= 3
    for function, by_prompt in (
        (pass_at_k, pass_at_k_by_prompt),
        (pass_hat_k, pass_hat_k_by_prompt),
    ):
        found = function(correct, draws, 3, clusters=labels, estimand=estimand)
        kept = None if labels is None else np.array(labels)[have]
        alone = function(
            np.array(correct)[have],
            np.array(draws)[have],
            3,
            clusters=kept,
            estimand=estimand,
        )
        for name in ("estimate", "standard_error", "ci_low", "ci_high", "n_clusters"):
            assert getattr(found, name) == getattr(alone, name), name
        assert (found.n_prompts, found.n_short) == (10, 2)
        assert (
            found.flags[0] == "too_few_draws"
            and "over the 8 of 10 prompts that have 3 draws" in found.reason
        )
        values = by_prompt(correct, draws, 3)[have]
        lacking = None if labels is None else np.array(labels)[~have]
        bounds = missing_bounds(values, 2, clusters=kept, missing_clusters=lacking)
        assert (found.bound_low, found.bound_high) == (bounds.ci_low, bounds.ci_high)
        assert (
            found.bound_low <= values.sum() / 10
            and found.bound_high >= (values.sum() + 2) / 10
        )
        assert "less 2; over all [" in str(found)


def test_the_jackknife_needs_one_draw_more() -> None:
    found = pass_at_k([3, 2], [5, 3], 3, estimand="prompts_fixed")
    assert (
        found.estimate is not None
        and found.standard_error is None
        and found.ci_low is None
    )
    assert found.n_short == 1 and "1 of 2 have no more" in found.reason
    assert found.method == "none"


def test_all_right_is_no_bare_hundred_percent() -> None:
    """With k = K the figures are 0/1 by nature: Wilson; else all at a bound, or fixed."""
    whole = pass_at_k([1] * 20, 5, 5)
    wilson = interval_wilson(20, 20)
    assert (whole.estimate, whole.ci_low, whole.ci_high) == (1, wilson.low, 1)
    part = pass_at_k([3] * 20, 5, 3)
    exact = interval_clopper_pearson(20, 20)
    assert (part.estimate, part.standard_error, part.ci_low) == (1, None, exact.low)
    part = pass_at_k([3] * 20, 5, 3, estimand="prompts_fixed")
    assert (part.estimate, part.standard_error, part.ci_low) == (1, None, None)
    assert part.reason and "no interval" in str(part)


def test_the_interval_stays_within_bounds_where_t_would_not() -> None:
    """Student's t would pass 1 here; so it would where n is large enough for it."""
    correct = np.full(300, 4)
    correct[0] = 0
    values = pass_at_k_by_prompt(correct, 5, 2)
    plain = estimate_mean(values, bounds=(0, 1), binary=False, method="t")
    assert plain.ci_high is not None and plain.ci_high > 1
    found = pass_at_k(correct, 5, 2)
    assert found.method == "gaffke"
    assert found.ci_high is not None and found.ci_high < 1
    many = pass_at_k(np.concatenate([[0], np.full(2000, 4)]), 5, 2)
    assert (many.method, many.flags) == ("gaffke", ())
    assert many.ci_high is not None and many.ci_high < 1


def test_few_informative_prompts_are_believed_no_more_than_there_are() -> None:
    """Five of 300 prompts are below 1, by 1/252 each: too little to go by."""
    correct = np.full(300, 10)
    correct[[0, 1, 30, 31, 60]] = 5
    mean = 1 - 5 / 252 / 300
    plain = estimate_mean(
        pass_at_k_by_prompt(correct, 10, 5), bounds=(0, 1), binary=False
    )
    found, exact = pass_at_k(correct, 10, 5), interval_clopper_pearson(mean * 300, 300)
    assert (found.method, found.ci_low, found.ci_high) == (
        "gaffke",
        plain.ci_low,
        plain.ci_high,
    )
    assert found.ci_low == pytest.approx(exact.low, abs=1e-4) and exact.low < 0.988
    many = np.concatenate([correct, np.full(1700, 10)])
    found = pass_at_k(many, 10, 5)
    exact = interval_clopper_pearson(2000 - 5 / 252, 2000)
    assert (found.method, found.flags) == ("gaffke", ())
    assert found.ci_low == pytest.approx(exact.low, abs=1e-4)
    clustered = pass_at_k(correct, 10, 5, clusters=np.arange(300) // 30)
    exact = interval_clopper_pearson(mean * 10, 10)  # ten equal clusters: G_eff = 10
    assert (clustered.ci_low, clustered.ci_high) == pytest.approx(
        (exact.low, exact.high)
    )
    fixed = pass_at_k(correct, 10, 5, estimand="prompts_fixed")
    assert fixed.flags == ("few_informative_prompts",) and fixed.ci_high is not None


def test_pass_at_one_stays_within_bounds_at_any_level() -> None:
    correct = np.full(3000, 5)
    correct[:41] = 0
    plain = estimate_mean(correct / 5, bounds=(0, 1), binary=False, level=1 - 1e-12)
    assert plain.method == "t" and plain.ci_high is not None and plain.ci_high > 1
    for k in (1, 2):
        found = pass_at_k(correct, 5, k, level=1 - 1e-12)
        assert found.method == "gaffke" and "leaves [0, 1]" in found.reason
        assert found.ci_high is not None and found.ci_high < 1


@pytest.mark.parametrize(("shape", "k"), [((5, 0.5), 5), ((0.2, 2), 2), ((1, 1), 9)])
def test_intervals_near_the_ends_cover_the_pass_rate(
    shape: tuple[float, float], k: int
) -> None:
    """400 samples of 100 prompts with 10 draws: at least 94 % but for four Monte Carlo
    errors."""
    dice, n, size, repeats = np.random.default_rng(8), 100, 10, 400
    truth = 1 - math.exp(
        special.betaln(shape[0], shape[1] + k) - special.betaln(*shape)
    )
    rates = dice.beta(*shape, size=(repeats, n))
    hits = 0
    for row in dice.binomial(size, rates):
        found = pass_at_k(row, size, k)
        assert found.ci_low is not None and found.ci_high is not None
        hits += found.ci_low <= truth <= found.ci_high
    assert hits / repeats > 0.94 - 4 * math.sqrt(0.94 * 0.06 / repeats)


def test_what_cannot_be_counted_is_refused() -> None:
    for arguments, message in (
        (([], 5, 1), "empty"),
        (([6], 5, 1), "6.0 of 5 at index 0"),
        (([-1], 5, 1), "-1.0 of 5"),
        (([2.5], 5, 1), "2.5 of 5"),
        (([1, 1], [5, 5, 5], 1), "`n_draws` has 3"),
        (([1], 5, 0), "at least 1, found 0"),
        (([1], 5, 1.5), "whole number"),
        (([1], 5, float("nan")), "whole number"),
    ):
        with pytest.raises(StatisticsError, match=message):
            pass_at_k(*arguments)
    with pytest.raises(StatisticsError, match="estimand"):
        pass_at_k([1], 5, 1, estimand="both")
    with pytest.raises(StatisticsError, match="`level`"):
        pass_at_k([1], 5, 1, level=95)
