"""Bad input is refused by name; small and degenerate data give None with a reason,
never ±0."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import (
    cluster_robust,
    estimate_mean,
    interval_clopper_pearson,
    interval_jeffreys,
    interval_korn_graubard,
    interval_normal,
    interval_t,
    interval_wilson,
    interval_wilson_bounded,
    paired_difference,
    published_estimate,
    standard_error_bernoulli,
    standard_error_clt,
    standard_error_clustered,
    unpaired_difference,
)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([], "empty"),
        (
            [1, float("nan"), float("nan")],
            r"2 value\(s\) that are not finite .* index 1",
        ),
        ([float("inf"), 1], "inf at index 0"),
        ([1, None], "nan at index 1"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), "nan at index 1"),
        (["right", "wrong"], "must hold numbers"),
        ([[1, 0], [0, 1]], "one-dimensional, found 2"),
        (0.5, "one-dimensional, found 0"),
        ([1e308, 1.1e308], "too large"),
        ([1e200, -1e200], "too large"),
    ],
)
def test_scores_that_are_refused(scores: Any, message: str) -> None:
    for function in (estimate_mean, standard_error_clt):
        with pytest.raises(StatisticsError, match=message):
            function(scores)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ([1, 2], "2 entries, expected one per prompt: 3"),
        ([1, 2, None], "found None"),
        (["a", "b", float("nan")], "found nan"),
        (np.array([1.0, 2.0, np.nan]), "found nan"),
        (np.ma.masked_array([1, 2, 3], [False, False, True]), "found None"),
        (pd.Series(["a", "b", None]), "found nan"),
        (pd.Series([1, 2, None], dtype="Int64"), "must hold integers or strings"),
        ([1, 2, 2.5], "found 2.5"),
        ([{}, {}, {}], "integers or strings"),
        ([[1], [2], [3]], "one-dimensional"),
    ],
)
def test_clusters_that_are_refused(clusters: Any, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        estimate_mean([0.0, 1.0, 1.0], clusters=clusters)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "`level`"),
        ({"level": 0}, "`level`"),
        ({"level": float("nan")}, "`level`"),
        ({"bounds": (1, 0)}, "low < high"),
        ({"bounds": (float("nan"), 1)}, "low < high"),
        ({"bounds": (0, 0.5)}, "outside the `bounds`"),
        ({"binary": True, "n_draws": 3}, "one draw per prompt"),
        ({"n_draws": 0}, "at least 1"),
        ({"n_draws": [1, 2]}, "one number or one per prompt"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        estimate_mean([0, 1, 1], **options)


def test_binary_must_be_true_of_the_scores() -> None:
    with pytest.raises(StatisticsError, match="every score 0 or 1"):
        estimate_mean([0, 0.5], binary=True)
    with pytest.raises(StatisticsError, match="0 or 1"):
        interval_korn_graubard([0, 0.5], [1, 2])


def test_bounds_leave_room_for_the_rounding_of_means() -> None:
    result = estimate_mean([0.2, 1 + 1e-15], bounds=(0, 1))
    assert result.ci_high is not None and result.ci_high <= 1


@pytest.mark.parametrize(
    "interval", [interval_wilson, interval_clopper_pearson, interval_jeffreys]
)
@pytest.mark.parametrize(
    ("successes", "n"), [(-1, 5), (6, 5), (0, 0), (1, float("nan")), (float("nan"), 5)]
)
def test_counts_that_are_refused(interval: Any, successes: float, n: float) -> None:
    with pytest.raises(StatisticsError, match="`successes`|`n`"):
        interval(successes, n)


def test_intervals_without_an_error_are_none() -> None:
    for error in (None, 0.0):
        assert interval_normal(0.5, error) is None
        assert interval_t(0.5, error, 9) is None
        assert interval_wilson_bounded(0.5, error, 9) is None
    assert interval_t(0.5, 0.1, None) is None
    assert interval_wilson_bounded(1.0, 0.1, 9) is None
    with pytest.raises(StatisticsError, match="degrees_of_freedom"):
        interval_t(0.5, 0.1, 0)


def test_a_single_prompt_has_no_error() -> None:
    result = estimate_mean([0.3])
    assert (result.estimate, result.standard_error, result.se_clt) == (0.3, None, None)
    assert (result.ci_low, result.degrees_of_freedom) == (None, None)
    assert result.flags == ("single_prompt",) and result.reason == "a single prompt"
    assert standard_error_clt([0.3]) is None


def test_a_single_right_answer_has_an_interval_but_no_error() -> None:
    result = estimate_mean([1])
    assert result.standard_error is None and result.se_bernoulli == 0
    assert (result.ci_low, result.ci_high) == (interval_wilson(1, 1).low, 1)


def test_a_single_cluster_has_no_clustered_error() -> None:
    scores, clusters = [0.0, 1.0, 1.0], ["a"] * 3
    assert cluster_robust(scores, clusters) is None
    assert standard_error_clustered(scores, clusters) is None
    assert interval_korn_graubard(scores, clusters) is None
    result = estimate_mean(scores, clusters=clusters)
    assert result.standard_error is None and result.ci_low is None
    assert result.se_clt is not None and result.n_clusters == 1
    assert (result.se_clustered, result.se_cr0, result.se_cr2) == (None, None, None)
    assert (result.icc, result.design_effect) == (None, None)
    assert result.reason == "a single cluster"


@pytest.mark.parametrize("value", [0, 1])
def test_all_right_or_all_wrong_is_never_certain(value: int) -> None:
    plain = estimate_mean([value] * 40)
    assert plain.standard_error is None and plain.se_clt == 0
    assert plain.flags == ("few_prompts", "all_scores_equal")
    assert plain.method == "wilson"
    assert plain.ci_low is not None and plain.ci_high is not None
    assert 0.05 < plain.ci_high - plain.ci_low < 0.1
    clustered = estimate_mean([value] * 40, clusters=[i // 10 for i in range(40)])
    assert clustered.ci_low is not None and clustered.ci_high is not None
    exact = interval_clopper_pearson(
        4 * value, 4
    )  # four clusters are four observations
    assert (clustered.ci_low, clustered.ci_high) == pytest.approx(
        (exact.low, exact.high)
    )
    assert clustered.standard_error is None and clustered.icc is None
    assert clustered.design_effect is None
    one = interval_korn_graubard([value] * 5, [0] * 5)
    assert one is not None and one.high - one.low > 0.79
    assert interval_korn_graubard([value] * 5, range(5), variant="svyciprop") is None


@pytest.mark.parametrize("options", [{}, {"bounds": (0, 1), "clusters": [1, 2, 1, 2]}])
def test_equal_scores_that_are_not_binary_have_no_interval(
    options: dict[str, Any],
) -> None:
    result = estimate_mean([0.1, 0.1, 0.1, 0.1], **options)
    assert result.estimate == 0.1
    assert (result.standard_error, result.ci_low, result.ci_high) == (None, None, None)
    assert "all_scores_equal" in result.flags
    assert result.reason == "all scores are equal"


@pytest.mark.parametrize("n", [1, 4, 1000])
def test_equal_scores_with_bounds_have_gaffkes_interval(n: int) -> None:
    result = estimate_mean([0.1] * n, bounds=(0, 1))
    assert (result.estimate, result.standard_error, result.method) == (
        0.1,
        None,
        "gaffke",
    )
    assert result.ci_low == pytest.approx(0.1 * 0.025 ** (1 / n))
    assert result.ci_high == pytest.approx(1 - 0.9 * 0.025 ** (1 / n))
    assert result.flags[-1] == ("all_scores_equal" if n > 1 else "single_prompt")


def test_scores_equal_but_for_rounding_are_equal() -> None:
    """The mean of three draws of 0.1 is not the double 0.1."""
    result = estimate_mean([0.1, (0.1 + 0.1 + 0.1) / 3, 0.1])
    assert result.se_clt == 0 and result.standard_error is None


def test_clusters_that_agree_exactly_give_no_false_precision() -> None:
    result = estimate_mean([0.1, 0.5, 0.3, 0.3, 0.2, 0.4], clusters=[1, 1, 2, 2, 3, 3])
    assert (
        result.se_cr2 == 0 and result.standard_error is None and result.ci_low is None
    )
    assert "zero_standard_error" in result.flags
    binary = estimate_mean([0, 1, 0, 1, 0, 1], clusters=[1, 1, 2, 2, 3, 3])
    assert binary.ci_low is not None and binary.ci_high is not None
    assert binary.ci_high - binary.ci_low > 0.5


def test_bernoulli_error_is_for_single_draws_of_zero_or_one() -> None:
    assert standard_error_bernoulli([0, 1, 1, 1]) == pytest.approx((3 / 16 / 4) ** 0.5)
    assert standard_error_bernoulli([0, 0.5]) is None
    assert estimate_mean([0, 1, 1, 1], n_draws=2).se_bernoulli is None


def test_paired_runs_must_be_aligned() -> None:
    with pytest.raises(StatisticsError, match="`a` has 2 prompts, `b` 3"):
        paired_difference([1, 0], [1, 0, 1])
    with pytest.raises(StatisticsError, match="`b` holds 1 value"):
        paired_difference([1, 0], [1, float("nan")])
    with pytest.raises(StatisticsError, match="`clusters`"):
        paired_difference([1, 0], [1, 1], clusters=[1])
    with pytest.raises(StatisticsError, match="`weights_b`"):
        paired_difference([1, 0], [1, 1], weights_b=[1, -1])
    with pytest.raises(StatisticsError, match="`level`"):
        paired_difference([1, 0], [1, 1], level=2)


def test_a_run_against_itself() -> None:
    result = paired_difference([1, 0, 1], [1, 0, 1])
    assert (result.difference, result.standard_error, result.p_value) == (0, None, None)
    assert result.correlation == pytest.approx(1) and result.variance_saved == 1
    assert result.flags == ("all_differences_equal",)


def test_what_does_not_vary_has_no_correlation() -> None:
    result = paired_difference([1, 1, 1], [1, 0, 1])
    assert result.correlation is None and result.variance_saved == pytest.approx(0)
    assert result.p_value is not None


def test_a_single_pair_or_cluster_has_no_error() -> None:
    one = paired_difference([1], [0])
    assert (one.difference, one.se_eq7, one.p_value, one.correlation) == (
        1,
        None,
        None,
        None,
    )
    assert one.flags == ("single_prompt",)
    single = paired_difference([1, 0, 1], [0, 0, 1], clusters=["a"] * 3)
    assert single.se_eq7 is not None and single.se_eq8 is None and single.se_cr2 is None
    assert single.standard_error is None and single.variance_saved is None


def test_unpaired_runs_without_spread() -> None:
    both = unpaired_difference([1, 1], [0, 0, 0])
    assert (both.difference, both.standard_error, both.p_value) == (1, None, None)
    assert both.z_p_value is None and both.reason == "both standard errors are 0"
    assert "all_scores_equal_a" in both.flags and "all_scores_equal_b" in both.flags
    single = unpaired_difference([0.5], [0, 1])
    assert single.standard_error is None and "single prompt" in single.reason
    one = unpaired_difference([1, 1, 1], [0, 1, 0])
    assert (
        one.standard_error == standard_error_clt([0, 1, 0])
        and one.degrees_of_freedom == 2
    )


def test_results_are_plain_numbers_that_serialise() -> None:
    scores = np.array([0, 1, 1, 0], dtype=np.float32)
    results = [
        estimate_mean(scores, clusters=np.array([1, 1, 2, 3])),
        estimate_mean(scores, link="exp_neg"),
        paired_difference(scores, scores[::-1].copy(), clusters=[1, 1, 2, 3]),
        unpaired_difference(scores, scores),
        interval_wilson(1, 4),
    ]
    for result in results:
        fields = json.loads(json.dumps(result.to_dict()))
        assert list(fields) == [name for name in vars(result) if name != "draws"]
        assert "\n" not in str(result) and str(result)
        types = {type(value) for value in result.to_dict().values()}
        assert types <= {float, int, str, list, type(None)}


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (
            estimate_mean([0.3]),
            "0.3 (no interval: a single prompt, n=1, single_prompt)",
        ),
        (
            estimate_mean([1] * 9 + [0], clusters=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4]),
            "0.9 ± 0.1 [0.3714, 0.9999] (95 % clopper_pearson_effective, n=10, G=5, "
            "few_informative_clusters)",
        ),
        (
            paired_difference([1, 2, 4], [0, 0, 0], level=0.9),
            "2.333 ± 0.8819 [-0.2419, 4.909] (90 % paired_t, n=3, "
            "few_differing_prompts, p=0.118)",
        ),
        (interval_wilson(0, 20), "[0, 0.1611]"),
    ],
)
def test_one_line_says_it_all(result: object, text: str) -> None:
    assert str(result) == text


def test_a_published_figure_has_the_error_that_is_printed() -> None:
    of_some = published_estimate(0.6, 0.05, n_prompts=11)
    half = stats.t.ppf(0.975, 10) * 0.05
    assert (of_some.ci_low, of_some.ci_high) == pytest.approx((0.6 - half, 0.6 + half))
    unknown = published_estimate(0.6, 0.05)
    half = stats.norm.ppf(0.975) * 0.05
    assert (unknown.ci_low, unknown.ci_high) == pytest.approx((0.6 - half, 0.6 + half))
    beside = unpaired_difference(unknown, [1, 0, 1, 1, 0, 0])
    own = 0.3 / 6  # variance of the mean of six answers, of which three are right
    share = own / (own + 0.05**2)
    assert beside.degrees_of_freedom == pytest.approx(5 / share**2)
    for value, error in ((0.6, 0.0), (math.inf, 0.1), (0.6, math.nan)):
        with pytest.raises(StatisticsError):
            published_estimate(value, error)
