"""Equivalence and non-inferiority of paired differences against other code and theory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from warehouse.errors import StatisticsError
from warehouse.stats import cluster_robust, equivalence_test, noninferiority_test, paired_difference
from warehouse.stats.paired.margins import paired_noninferiority

repeatable = settings(deadline=None, derandomize=True, max_examples=50)
exactly = pytest.approx
G10 = [0.3, -0.1, 0.5, 0.2, 0.4, 0.0]
small = st.lists(st.sampled_from([-1, -0.6, -0.2, 0, 0.1, 0.2, 0.6, 1]), min_size=2, max_size=10)


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
    assert (found.ci_low, found.ci_high) == exactly((interval.ci_low, interval.ci_high), rel=1e-10)


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
    swapped = equivalence_test([-value for value in values], margin, labels, alpha=alpha)
    assert swapped.p_value == exactly(found.p_value, rel=1e-9)


def test_a_difference_on_the_margin_is_rarely_called_equal() -> None:
    """The size of both tests, at the edge of their null."""
    rng, runs = np.random.default_rng(3), 800
    samples = rng.normal(0.2, 0.5, (runs, 60))
    equal = np.mean([bool(equivalence_test(d, 0.2).equivalent) for d in samples])
    not_worse = np.mean([bool(noninferiority_test(-d, 0.2).noninferior) for d in samples])
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
    plain, clustered = (paired_difference(a, b, clusters=labels) for labels in (None, [0, 0, 1, 1, 2, 2]))
    assert "n − 1 degrees of freedom" in paired_noninferiority(plain, 0.2).reason
    assert "CR2, Satterthwaite" in paired_noninferiority(clustered, 0.2).reason


def test_no_error_no_p() -> None:
    for values, labels, reason in (
        ([0.1, 0.1, 0.1], None, "all differences are equal"),
        ([0.1], None, "a single prompt"),
        ([0.1, 0.3], [1, 1], "a single cluster"),
    ):
        equal, worse = (test(values, 0.5, labels) for test in (equivalence_test, noninferiority_test))
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
