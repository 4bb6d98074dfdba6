"""Weighted means: goldens G28 to G32, what weights may do to a figure, and its flags."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import estimate_mean, paired_difference
from warehouse.stats.core.inputs import as_clusters
from warehouse.stats.intervals.standard_errors import unit_weights

BOTH = ("weights_concentrated", "weights_dominated")
Y, W = [1, 2, 4, 7, 3, 5], [1, 1, 2, 1, 3, 10]
repeatable = settings(deadline=None, derandomize=True, max_examples=40)
weights_of = st.lists(st.floats(0.01, 100), min_size=4, max_size=20)


def golden(value: float) -> Any:
    return pytest.approx(value, abs=5e-9)


def test_g28_one_prompt_with_most_of_the_weight() -> None:
    found = estimate_mean(Y, weights=W, method="t")
    assert (found.estimate, found.standard_error) == (
        golden(4.277777778),
        golden(0.868840574),
    )
    assert found.degrees_of_freedom == golden(1.175993094801)
    assert (found.ci_low, found.ci_high) == (golden(-3.530493282), golden(12.086048838))
    assert found.flags == BOTH and estimate_mean(Y, weights=W).method == "hull"
    equal = estimate_mean(Y, weights=[1] * 6, method="t")
    assert (equal.standard_error, equal.degrees_of_freedom) == (golden(0.881917104), 5)


def test_g29_one_prompt_with_nearly_all_of_the_weight() -> None:
    """A linearised error gives ±.0017 here."""
    found = estimate_mean(Y, weights=[1, 1, 2, 1, 3, 10_000])
    assert (found.estimate, found.standard_error) == (
        golden(4.998701039),
        golden(1.452282478),
    )
    assert found.degrees_of_freedom == 1 and found.flags == BOTH
    assert found.ci_high == pytest.approx(found.estimate + 18.4530, abs=1e-4)
    assert unit_weights(np.array([1, 1, 2, 1, 3, 10_000.0])).kish == golden(1.001600480)


def test_g30_weights_in_clusters() -> None:
    found = estimate_mean(Y, weights=W, clusters=[0, 0, 1, 1, 2, 2])
    assert (found.standard_error, found.degrees_of_freedom) == (
        golden(0.628603081),
        golden(1.037334456),
    )
    assert (found.ci_low, found.ci_high) == (golden(-3.061096079), golden(11.616651634))
    assert found.flags == ("weights_concentrated", "few_clusters")
    by_cluster = unit_weights(np.array(W, float), as_clusters([0, 0, 1, 1, 2, 2], 6))
    assert by_cluster.effective_units == golden(1.780219780)
    equal = unit_weights(np.ones(6), as_clusters([0, 0, 0, 1, 1, 2], 6))
    plain = estimate_mean(Y, clusters=[0, 0, 0, 1, 1, 2])
    assert (plain.standard_error, equal.degrees_of_freedom) == (
        golden(1.115546702),
        golden(1.666666667),
    )
    assert plain.degrees_of_freedom == pytest.approx(equal.degrees_of_freedom)


def test_g31_weighted_answers() -> None:
    found = estimate_mean(
        [1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1],
        weights=[1, 2, 1, 3, 1, 1, 2, 4, 1, 1, 1, 2],
    )
    assert (found.estimate, found.standard_error) == (golden(0.8), golden(0.122229647))
    assert found.degrees_of_freedom == golden(4.239573396)
    assert (found.method, found.ci_low, found.ci_high) == (
        "wilson_weighted",
        golden(0.366107336),
        golden(0.965160473),
    )


def test_g32_pairs_with_weights_of_their_own() -> None:
    x, y = [0.9, 0.4, 0.7, 0.2, 0.8, 0.5], [0.6, 0.5, 0.4, 0.3, 0.5, 0.1]
    found = paired_difference(
        x, y, weights_a=[1, 2, 1, 4, 2, 3], weights_b=[2, 2, 1, 3, 1, 3]
    )
    assert (found.difference, found.standard_error) == (
        golden(0.126282051),
        golden(0.139109013),
    )
    assert (found.degrees_of_freedom, found.statistic) == (
        golden(2.527273286),
        golden(0.907792013),
    )
    assert found.p_value == golden(0.442069610)
    equal = paired_difference(x, y, bounds=(0, 1))
    assert (equal.difference, equal.standard_error) == (
        golden(0.183333333),
        golden(0.090982294),
    )
    assert (equal.degrees_of_freedom, equal.p_value) == (
        5,
        pytest.approx(stats.ttest_rel(x, y).pvalue),
    )


def slow_freedom(f: Any, codes: Any) -> float:
    """ν from the matrix of the covariances."""
    n, names = len(f), np.unique(codes)
    maker = np.eye(n) - np.outer(np.ones(n), f)
    parts = np.array([np.where(codes == name, f, 0.0) for name in names]) @ maker
    covariance, own = (
        parts @ parts.T,
        np.array([(f[codes == name] ** 2).sum() for name in names]),
    )
    a = np.diag(covariance) / own
    return float(own.sum() ** 2 / (covariance**2 / np.outer(a, a)).sum())


@repeatable
@given(weights_of, st.integers(1, 3))
def test_degrees_of_freedom_are_those_of_the_matrix_form(
    weights: list[float], size: int
) -> None:
    w, codes = np.array(weights), np.arange(len(weights)) // size
    if len(np.unique(codes)) > 1:
        found = unit_weights(w, as_clusters(codes, len(w))).degrees_of_freedom
        slow = slow_freedom(w / w.sum(), codes)
        assert found == pytest.approx(max(1.0, slow), rel=1e-6)


@pytest.mark.parametrize("heaviest", [21.0, 40.0, 90.0])
def test_degrees_of_freedom_where_one_prompt_has_nearly_all(heaviest: float) -> None:
    """Held against fractions: differences from the whole would cancel."""
    weights = [heaviest, 0.0625, 0.015625, 0.015625]
    found = unit_weights(np.array(weights), as_clusters(np.arange(4), 4))
    exact = exact_freedom([Fraction(w) / sum(map(Fraction, weights)) for w in weights])
    assert found.shares.max() < 0.999
    assert found.degrees_of_freedom == pytest.approx(exact, rel=1e-9)


def exact_freedom(f: list[Fraction]) -> float:
    """ν of single prompts from the matrix of the covariances, in fractions."""
    n = range(len(f))
    parts = [[f[i] * (int(i == j) - f[j]) for j in n] for i in n]
    covariance = [[sum(parts[i][k] * parts[j][k] for k in n) for j in n] for i in n]
    a = [covariance[i][i] / f[i] ** 2 for i in n]
    spread = sum(covariance[i][j] ** 2 / (a[i] * a[j]) for i in n for j in n)
    return float(sum(share**2 for share in f) ** 2 / spread)


@repeatable
@given(weights_of, st.floats(0.001, 1000), st.booleans())
def test_only_ratios_of_weights_count(
    weights: list[float], factor: float, clustered: bool
) -> None:
    w = np.array(weights)
    scores = np.sin(np.arange(len(w)) ** 2)
    options = {"clusters": np.arange(len(w)) // 2} if clustered else {}
    one, other = (
        estimate_mean(scores, weights=own, **options) for own in (w, factor * w)
    )
    assert (one.method, one.flags) == (other.method, other.flags)
    for name in ("estimate", "standard_error", "ci_low", "ci_high"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-7)


@pytest.mark.parametrize("clustered", [False, True])
def test_equal_weights_are_those_of_a_plain_mean(clustered: bool) -> None:
    codes = as_clusters(np.arange(12) // 3 if clustered else np.arange(12), 12)
    own = unit_weights(np.full(12, 7.0), codes)
    plain = estimate_mean(np.arange(12.0), clusters=codes.codes)
    assert own.degrees_of_freedom == pytest.approx(plain.degrees_of_freedom)
    assert own.reductions == pytest.approx(1 - own.shares)


def test_prompts_without_weight_are_left_out() -> None:
    scores, weights, codes = (
        np.arange(8.0),
        np.array([1, 0, 2, 3, 0, 1, 1, 5.0]),
        np.arange(8) % 3,
    )
    kept = weights > 0
    for options in ({}, {"clusters": codes}):
        some = {name: own[kept] for name, own in options.items()}
        found, expected = (
            estimate_mean(scores, weights=weights, **options),
            estimate_mean(scores[kept], weights=weights[kept], **some),
        )
        assert found.n_prompts == 6 and "prompts_without_weight" in found.flags
        assert (found.estimate, found.standard_error) == (
            expected.estimate,
            expected.standard_error,
        )
    both = paired_difference(
        scores, scores[::-1].copy(), weights_a=weights, weights_b=weights
    )
    assert both.n_prompts == 6 and "prompts_without_weight" in both.flags
    one = paired_difference([1, 0.0], [1, 1], weights_b=[1, 0])
    assert (one.standard_error, one.p_value, one.ci_low) == (None, None, None)


@pytest.mark.parametrize(
    ("weights", "flags"),
    [
        ([1.0] * 99 + [11.0], ("weights_dominated",)),  # a tenth of all, n_K about 55
        ([1.0] * 99 + [9.0], ()),
        ([1.0, 9.0] * 20, ("weights_concentrated",)),
        (
            np.r_[np.ones(900), np.full(100, 100.0)],
            ("weights_concentrated",),
        ),  # n_K 121 of 1 000
    ],
)
def test_flags_look_at_weights(weights: Any, flags: tuple[str, ...]) -> None:
    assert unit_weights(np.asarray(weights)).flags == flags


@pytest.mark.parametrize("clustered", [False, True])
def test_equal_answers_have_no_bare_zero(clustered: bool) -> None:
    options: dict[str, Any] = {"clusters": np.arange(20) // 2} if clustered else {}
    found = estimate_mean(np.ones(20), weights=np.arange(1, 21), **options)
    assert (found.method, found.standard_error, found.ci_high) == (
        "wilson_weighted",
        None,
        1,
    )
    assert found.ci_low is not None and 0.2 < found.ci_low < 0.9
    same = estimate_mean(
        np.full(20, 0.5), weights=np.arange(1, 21), bounds=(0, 1), **options
    )
    assert same.ci_low is None and "all_scores_equal" in same.flags


def test_t_of_weighted_scores_stays_within_their_bounds() -> None:
    found = estimate_mean(
        [0.9, 1.0, 0.95, 0.2], weights=[1, 5, 2, 1], bounds=(0, 1), method="t"
    )
    assert (found.ci_high, found.method) == (1.0, "t")


def test_the_interval_of_a_perplexity_is_that_of_its_exponent() -> None:
    values, words = np.array([-2.0, -1.5, -3.1, -2.2]), np.array([10.0, 40, 25, 400])
    plain, linked = (
        estimate_mean(values, weights=words, link=link)
        for link in ("identity", "exp_neg")
    )
    assert plain.ci_low is not None and plain.ci_high is not None
    assert (linked.ci_low, linked.ci_high) == (
        np.exp(-plain.ci_high),
        np.exp(-plain.ci_low),
    )
    assert linked.flags == plain.flags and "weights_dominated" in linked.flags


def test_weights_that_cannot_be() -> None:
    with pytest.raises(StatisticsError, match="all 0"):
        estimate_mean([1.0, 2], weights=[0, 0])
    with pytest.raises(StatisticsError, match="below 0"):
        paired_difference([1.0, 2], [1, 2], weights_a=[1, -1])
    with pytest.raises(StatisticsError, match="leave `weights` out"):
        estimate_mean([1.0, 2, 4], weights=[1, 2, 3], bounds=(0, 9), method="gaffke")
    with pytest.raises(StatisticsError, match="unequal `weights`"):
        estimate_mean([1.0, 0, 1], method="wilson_weighted")
