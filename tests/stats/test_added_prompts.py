"""Differences of scores of which many are alike: the interval with two prompts added,
and the ends of what can be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from warehouse.stats import paired_difference
from warehouse.stats.paired.added_prompts import added_prompts, are_tied
from warehouse.stats.paired.margins import paired_noninferiority


def test_it_is_walds_interval_of_the_prompts_and_two_more() -> None:
    d = np.array([1, 0, 0, -1, 1, 0, 0, 0, 1, 0.0])
    more = np.append(d, [1, -1])
    half = stats.norm.ppf(0.975) * more.std() / np.sqrt(12)
    found = added_prompts(d, 1.0, 0.95)
    assert (found.low, found.high) == pytest.approx(
        (more.mean() - half, more.mean() + half), rel=1e-12
    )


@pytest.mark.parametrize(("won", "lost"), [(4, 0), (2, 2), (3, 1)])
def test_golden_slices_of_four(won: int, lost: int) -> None:
    """Of four prompts all won, the others by symmetry: Bonett and Price with ñ = 6."""
    d = np.array([1.0] * won + [-1.0] * lost)
    found = added_prompts(d, 1.0, 0.95)
    p10, p01 = (won + 1) / 6, (lost + 1) / 6
    half = stats.norm.ppf(0.975) * np.sqrt((p10 + p01 - (p10 - p01) ** 2) / 6)
    assert found.low == pytest.approx(max(-1, p10 - p01 - half), rel=1e-12)
    assert found.high == pytest.approx(min(1, p10 - p01 + half), rel=1e-12)


def test_the_unit_of_scores_and_the_order_of_models_do_not_count() -> None:
    random = np.random.default_rng(0)
    a, b = ((random.random(40) < rate).astype(float) for rate in (0.7, 0.5))
    found, percent = (
        paired_difference(a, b),
        paired_difference(100 * a, 100 * b, bounds=(0, 100)),
    )
    assert found.method == percent.method == "paired_added_prompts"
    assert (percent.ci_low, percent.ci_high) == pytest.approx(
        (100 * found.ci_low, 100 * found.ci_high)
    )
    turned = paired_difference(b, a)
    assert (turned.ci_low, turned.ci_high) == pytest.approx(
        (-found.ci_high, -found.ci_low)
    )
    shuffled = random.permutation(40)
    assert paired_difference(a[shuffled], b[shuffled]).ci_low == pytest.approx(
        found.ci_low, rel=1e-12
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0, 1], [0, 0]),
        ([1, 1, 0, 1], [0, 0, 0, 1]),
        ([1, 1], [0, 0]),
        ([0.9, 0.2], [0, 1]),
    ],
)
def test_no_interval_leaves_what_is_possible(a: list[float], b: list[float]) -> None:
    found = paired_difference(a, b, bounds=(0, 1))
    assert found.ci_low is not None and found.ci_high is not None
    assert -1 <= found.ci_low < found.ci_high <= 1
    clustered = paired_difference(
        a * 2, b * 2, clusters=["x"] * len(a) + ["y"] * len(a), bounds=(0, 1)
    )
    assert clustered.ci_low is None or clustered.ci_low >= -1
    low = paired_noninferiority(
        paired_difference([0, 1, 0, 1], [1, 0, 1, 1]), 0.02, width=1.0
    ).ci_low
    assert low == -1


def test_where_nothing_differs_the_interval_says_how_much_may() -> None:
    found = paired_difference(np.ones(1000), np.ones(1000))
    half = stats.norm.ppf(0.975) * np.sqrt(2 / 1002) / np.sqrt(1002)
    assert (found.ci_low, found.ci_high) == pytest.approx((-half, half), rel=1e-12)
    assert found.p_value is None and found.standard_error is None
    unbounded = paired_difference(np.full(30, 2.5), np.full(30, 2.5))
    assert unbounded.ci_low is None


def test_scores_that_are_spread_out_keep_students_t() -> None:
    random = np.random.default_rng(1)
    a, b = random.random((2, 50))
    assert paired_difference(a, b, bounds=(0, 1)).method == "paired_t"
    assert not are_tied(a - b)
    thirds = np.repeat([0.0, 0.1, 0.2], 10) + np.append(
        np.zeros(10), np.linspace(0, 0.09, 20)
    )
    assert are_tied(thirds) and are_tied(0.1 * thirds)


def test_of_few_prompts_that_differ_it_covers() -> None:
    """1 000 prompts, 2 expected to differ: every sample there can be, by Poisson's law;
    t covers .79 to .86."""
    covered = 0.0
    for won in range(9):
        for lost in range(9):
            d = np.zeros(1000)
            d[:won], d[won : won + lost] = 1, -1
            found = added_prompts(d, 1.0, 0.95)
            covered += (
                (found.low <= 0 <= found.high)
                * stats.poisson.pmf(won, 1)
                * stats.poisson.pmf(lost, 1)
            )
    assert covered > 0.948
