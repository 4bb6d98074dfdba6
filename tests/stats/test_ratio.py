"""Ratio metrics and links: perplexity-like figures and their delta-method errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import estimate_mean, paired_difference

Floats = NDArray[np.float64]
LINKS = {
    "identity": lambda r: r,
    "exp_neg": lambda r: math.exp(-r),
    "neg_over_ln2": lambda r: -r / math.log(2),
}


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-10)


def documents(seed: int, n: int = 40) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Log-likelihood per word, words, and a cluster of each document."""
    rng = np.random.default_rng(seed)
    words = rng.integers(5, 400, n).astype(float)
    return -2 - rng.gamma(2, 0.3, n) * 10 / words**0.5, words, rng.integers(0, 7, n)


def delta_error(figures: list[tuple[Floats, Floats]], link: str) -> float:
    """Error of the sum of signed figures from the covariance of numerators and
    denominators.

    The gradient is taken by central differences, so no derivative of ours is used.
    """
    columns = np.stack([c for v, w in figures for c in (v * w, w)])
    means, signs = columns.mean(axis=1), [1, -1]

    def figure(m: Floats) -> float:
        pairs = zip(signs, m[0::2], m[1::2], strict=False)
        return sum(sign * LINKS[link](top / bottom) for sign, top, bottom in pairs)

    steps = np.diag(1e-5 * np.abs(means))
    gradient = [(figure(means + s) - figure(means - s)) / (2 * s.sum()) for s in steps]
    covariance = np.cov(columns) / columns.shape[1]
    return float(np.sqrt(np.array(gradient) @ covariance @ np.array(gradient)))


def hc2(
    values: Floats, weights: Floats, codes: NDArray[np.int64] | None = None
) -> float:
    """By the matrix form: unbiased for independent scores of one variance, each cluster
    alone.

    With H the residual maker of the weighted mean, E D_c² = σ² f_c'(H H')f_c; the sum
    of D_c² over that, each times its f_c'f_c.
    """
    f = weights / weights.sum()
    maker = np.eye(len(f)) - np.outer(np.ones(len(f)), f)
    codes = np.arange(len(f)) if codes is None else codes
    parts = [np.where(codes == code, f, 0.0) for code in np.unique(codes)]
    squared = [
        (own @ maker @ values) ** 2 / (own @ maker @ maker.T @ own) * (own @ own)
        for own in parts
    ]
    return float(np.sqrt(sum(squared)))


@pytest.mark.parametrize("link", LINKS)
def test_figure_and_error_of_a_ratio(link: str) -> None:
    values, words, _ = documents(1)
    result = estimate_mean(values, weights=words, link=link)
    assert result.estimate == close(LINKS[link]((values * words).sum() / words.sum()))
    fit = sm.WLS(values, np.ones(len(values)), weights=words).fit(cov_type="HC2")
    slope = {
        "identity": 1,
        "exp_neg": math.exp(-fit.params[0]),
        "neg_over_ln2": 1 / math.log(2),
    }[link]
    assert result.se_clt == result.standard_error
    assert result.standard_error == pytest.approx(
        slope * fit.bse[0], rel=0.03
    )  # HC2 of other leverages
    assert result.standard_error == close(slope * hc2(values, words))
    assert result.se_bernoulli is None


def test_weights_count() -> None:
    """A long document weighs more: the figure is not the mean of the rows' own figures."""
    result = estimate_mean([-1.0, -3.0], weights=[30.0, 10.0], link="exp_neg")
    assert result.estimate == close(math.exp(1.5))


@pytest.mark.parametrize("link", LINKS)
def test_clustered_error_of_a_ratio_is_that_of_weighted_least_squares(
    link: str,
) -> None:
    values, words, codes = documents(2)
    options = {"groups": codes, "use_correction": False}
    model = sm.WLS(values, np.ones(len(values)), weights=words)
    fit = model.fit(cov_type="cluster", cov_kwds=options)
    slope = {
        "identity": 1,
        "exp_neg": math.exp(-fit.params[0]),
        "neg_over_ln2": 1 / math.log(2),
    }
    result = estimate_mean(values, weights=words, link=link, clusters=codes)
    assert result.se_cr0 == close(slope[link] * fit.bse[0])
    assert result.se_cr2 == close(slope[link] * hc2(values, words, codes))
    assert result.standard_error == result.se_cr2 and result.method == "hull"


@pytest.mark.parametrize("link", ["exp_neg", "neg_over_ln2"])
def test_interval_ends_go_through_a_falling_link_and_are_sorted(link: str) -> None:
    values, words, _ = documents(3)
    before = estimate_mean(values, weights=words)
    result = estimate_mean(values, weights=words, link=link)
    assert before.ci_low is not None and before.ci_high is not None
    assert result.ci_low == close(LINKS[link](before.ci_high))
    assert result.ci_high == close(LINKS[link](before.ci_low))
    assert result.ci_low < result.estimate < result.ci_high


def test_equal_weights_are_no_weights() -> None:
    """Stored weights are 1 for most metrics; accuracy must still get Wilson's interval."""
    scores = [1, 1, 0, 1]
    assert estimate_mean(scores, weights=[1, 1, 1, 1]) == estimate_mean(scores)
    assert estimate_mean(scores, weights=[3.0] * 4) == estimate_mean(scores)


def test_unequal_weights_leave_no_binomial_interval_but_stay_in_bounds() -> None:
    result = estimate_mean([1, 1, 0, 1], weights=[1, 2, 1, 9])
    assert result.method == "wilson_weighted"
    assert result.ci_low is not None and result.ci_high is not None
    assert 0 < result.ci_low < result.estimate < result.ci_high < 1


@pytest.mark.parametrize("link", LINKS)
def test_paired_ratios_keep_their_covariance(link: str) -> None:
    (a, words_a, _), (b, words_b, _) = documents(4), documents(5)
    a = a + b
    result = paired_difference(a, b, weights_a=words_a, weights_b=words_b, link=link)
    first = estimate_mean(a, weights=words_a, link=link)
    second = estimate_mean(b, weights=words_b, link=link)
    assert (result.mean_a, result.mean_b) == (
        close(first.estimate),
        close(second.estimate),
    )
    assert result.difference == close(first.estimate - second.estimate)
    expected = delta_error([(a, words_a), (b, words_b)], link)
    assert result.standard_error == pytest.approx(
        expected, rel=0.03
    )  # linearised, without HC2's factor


def test_paired_ratios_in_clusters() -> None:
    """CR0 of the difference is the sandwich of the two stacked weighted regressions."""
    (a, words, codes), (b, _, _) = documents(6), documents(7)
    influence = [
        words * (v - np.average(v, weights=words)) / words.mean() for v in (a, b)
    ]
    sums = np.array(
        [(influence[0] - influence[1])[codes == c].sum() for c in np.unique(codes)]
    )
    result = paired_difference(a, b, clusters=codes, weights_a=words, weights_b=words)
    assert result.se_cr0 == close(float(np.sqrt((sums**2).sum())) / len(a))
    assert result.method == "paired_hull"


def test_linearised_error_agrees_with_resampling() -> None:
    values, words, _ = documents(8, n=400)
    rng = np.random.default_rng(0)
    picks = rng.integers(0, 400, (4000, 400))
    figures = np.exp(-(values * words)[picks].sum(axis=1) / words[picks].sum(axis=1))
    result = estimate_mean(values, weights=words, link="exp_neg")
    assert result.standard_error == pytest.approx(stats.tstd(figures), rel=0.06)


def test_a_figure_too_large_for_a_number_is_refused_and_a_bound_is_left_out() -> None:
    with pytest.raises(StatisticsError, match="overflows"):
        estimate_mean([-800.0, -801.0], link="exp_neg")
    result = estimate_mean([-700.0, -600.0, -500.0], link="exp_neg")
    assert math.isfinite(result.estimate) and result.ci_high is None
    assert result.flags == ("few_prompts", "interval_overflows")
    assert "overflows" in result.reason


@pytest.mark.parametrize("link", ["none", "log"])
def test_unknown_links_are_named(link: str) -> None:
    with pytest.raises(StatisticsError, match="identity, exp_neg, neg_over_ln2"):
        estimate_mean([1.0, 2.0], link=link)


@pytest.mark.parametrize("weights", [[0, 0], [1, -2], [1, float("nan")], [1], [1, "x"]])
def test_weights_out_of_range_are_refused(weights: list[object]) -> None:
    with pytest.raises(StatisticsError, match="weights"):
        estimate_mean([1.0, 2.0], weights=weights)  # type: ignore[arg-type]
