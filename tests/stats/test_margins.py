"""Equivalence and non-inferiority of paired differences against other code and theory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from warehouse.errors import StatisticsError
from warehouse.stats import (
    cluster_robust,
    equivalence_test,
    noninferiority_test,
    paired_difference,
)
from warehouse.stats.paired.margins import paired_noninferiority

repeatable = settings(deadline=None, derandomize=True, max_examples=50)
exactly = pytest.approx
G10 = [0.3, -0.1, 0.5, 0.2, 0.4, 0.0]
small = st.lists(
    st.sampled_from([-1, -0.6, -0.2, 0, 0.1, 0.2, 0.6, 1]), min_size=2, max_size=10
)


@pytest.mark.parametrize("seed", range(4))
def test_equivalence_is_statsmodels_and_the_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=25)
    b = a + rng.normal(0.1, 0.4, 25)
    found = equivalence_test(a - b, 0.3)
    p, lower, upper = ttost_paired(a, b, -0.3, 0.3)
    assert found.p_value == exactly(p, rel=1e-10)
    assert (found.p_lower, found.p_upper) == exactly((lower[1], upper[1]), rel=1e-10)
    interval = paired_difference(a, b, level=0.9, bounds=(-9, 9))
    assert (found.ci_low, found.ci_high) == exactly(
        (interval.ci_low, interval.ci_high), rel=1e-10
    )


@repeatable
@given(small, st.floats(0.05, 1.5), st.floats(0.01, 0.4), st.booleans())
def test_equivalent_means_that_the_interval_lies_inside(
    values: list[float], margin: float, alpha: float, clustered: bool
) -> None:
    labels = [place // 2 for place in range(len(values))] if clustered else None
    found = equivalence_test(values, margin, labels, alpha=alpha)
    assume(found.p_value is not None and abs(found.p_value - alpha) > 1e-9)
    assert found.ci_low is not None and found.ci_high is not None
    assert found.equivalent == (-margin < found.ci_low and found.ci_high < margin)
    swapped = equivalence_test(
        [-value for value in values], margin, labels, alpha=alpha
    )
    assert swapped.p_value == exactly(found.p_value, rel=1e-9)


def test_a_difference_on_the_margin_is_rarely_called_equal() -> None:
    """The size of both tests, at the edge of their null."""
    rng, runs = np.random.default_rng(3), 800
    samples = rng.normal(0.2, 0.5, (runs, 60))
    equal = np.mean([bool(equivalence_test(d, 0.2).equivalent) for d in samples])
    not_worse = np.mean(
        [bool(noninferiority_test(-d, 0.2).noninferior) for d in samples]
    )
    room = 3 * (0.05 * 0.95 / runs) ** 0.5
    assert (equal, not_worse) == (exactly(0.05, abs=room), exactly(0.05, abs=room))


def test_noninferiority_is_scipys_one_sided_t() -> None:
    d = np.random.default_rng(1).normal(-0.02, 0.3, 40)
    found = noninferiority_test(d, 0.1)
    expected = stats.ttest_1samp(d, -0.1, alternative="greater")
    assert found.p_value == exactly(expected.pvalue, rel=1e-10)
    assert found.ci_low == exactly(expected.confidence_interval(0.95).low, rel=1e-10)
    assert found.noninferior == (found.p_value is not None and found.p_value < 0.05)


def test_margins_with_clusters_use_cr2_and_its_degrees_of_freedom() -> None:
    rng = np.random.default_rng(6)
    labels = np.repeat(np.arange(12), rng.integers(1, 6, 12))
    d = rng.normal(size=12)[labels] * 0.2 + rng.normal(0.02, 0.2, len(labels))
    robust = cluster_robust(d, labels)
    assert robust is not None
    t, df = (d.mean() + 0.2) / robust.se_cr2, robust.degrees_of_freedom
    p = stats.t.sf(t, df)
    assert noninferiority_test(d, 0.2, labels).p_value == exactly(p, rel=1e-10)
    assert equivalence_test(d, 0.2, labels).p_lower == exactly(p, rel=1e-10)


def test_the_reason_says_how_the_error_came_about() -> None:
    a, b = np.array(G10), np.zeros(6)
    plain, clustered = (
        paired_difference(a, b, clusters=labels)
        for labels in (None, [0, 0, 1, 1, 2, 2])
    )
    assert "n − 1 degrees of freedom" in paired_noninferiority(plain, 0.2).reason
    assert "CR2, Satterthwaite" in paired_noninferiority(clustered, 0.2).reason


def test_no_error_no_p() -> None:
    for values, labels, reason in (
        ([0.1, 0.1, 0.1], None, "all differences are equal"),
        ([0.1], None, "a single prompt"),
        ([0.1, 0.3], [1, 1], "a single cluster"),
    ):
        equal, worse = (
            test(values, 0.5, labels)
            for test in (equivalence_test, noninferiority_test)
        )
        assert (equal.p_value, equal.equivalent, equal.ci_low) == (None, None, None)
        assert (worse.p_value, worse.noninferior, worse.ci_low) == (None, None, None)
        assert reason in equal.reason and reason in str(worse)


@pytest.mark.parametrize("margin", [0.0, -0.1, float("nan"), float("inf")])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(StatisticsError, match="`margin`"):
        equivalence_test(G10, margin)
    if margin:
        with pytest.raises(StatisticsError, match="`margin`"):
            noninferiority_test(G10, margin)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 5.0, float("nan")])
def test_a_level_that_is_none_is_refused(alpha: float) -> None:
    for test in (equivalence_test, noninferiority_test):
        with pytest.raises(StatisticsError, match="`alpha`"):
            test(G10, 0.1, alpha=alpha)


def losing(n: int, lost: int) -> list[float]:
    return [-1.0] * lost + [0.0] * (n - lost)


@pytest.mark.parametrize(
    ("n", "margin", "of_t"), [(56, 0.05, 0.16), (88, 0.05, 0.16), (300, 0.01, 0.14)]
)
def test_few_that_differ_are_no_equality(n: int, margin: float, of_t: float) -> None:
    """Exact sums over prompts lost, the true loss being the margin; by t alone it is
    shown to be less."""
    wrong = np.zeros(3)
    for lost in range(int(stats.binom.ppf(1 - 1e-7, n, margin)) + 1):
        d, chance = losing(n, lost), stats.binom.pmf(lost, n, margin)
        by_t = (
            lost > 0
            and stats.ttest_1samp(d, -margin, alternative="greater").pvalue <= 0.05
        )
        tests = noninferiority_test(d, margin), equivalence_test(d, margin)
        wrong += chance * np.array(
            [by_t, bool(tests[0].noninferior), bool(tests[1].equivalent)]
        )
    assert wrong[0] > of_t and wrong[1] <= 0.05 and wrong[2] <= 0.05


def test_the_range_of_scores_says_what_few_may_hide() -> None:
    plain = noninferiority_test(losing(56, 1), 0.05)
    assert plain.p_value == exactly(
        stats.binom.cdf(1, 56, 0.05), rel=1e-8
    ) and plain.flags == ("few_differing",)
    assert (
        plain.ci_low == exactly(-stats.beta.ppf(0.95, 2, 55), abs=1e-8)
        and "Gaffke" in plain.reason
    )
    percent = [100 * value for value in losing(56, 1)]
    assert noninferiority_test(percent, 5, width=100).p_value == exactly(
        plain.p_value, rel=1e-9
    )
    unknown = noninferiority_test(percent, 5)
    assert (
        unknown.flags == ("few_differing", "unknown_range")
        and "give `width`" in unknown.reason
    )
    assert (
        unknown.p_value is not None
        and plain.p_value is not None
        and unknown.p_value < plain.p_value
    )
    equal = equivalence_test(losing(56, 1), 0.05)
    assert equal.p_value == exactly(
        plain.p_value, rel=1e-9
    ) and equal.ci_low == exactly(plain.ci_low, abs=1e-8)
    many = [1.0, -1.0] * 40 + [0.0] * 40
    assert (
        noninferiority_test(many, 0.1).flags
        == ()
        == equivalence_test(many, 0.1, width=1).flags
    )
    for wrong in (0.5, -1, float("nan")):
        with pytest.raises(StatisticsError, match="`width`"):
            equivalence_test(many, 0.1, width=wrong)
