"""The partially paired difference: its parts by scipy, and its coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from warehouse.stats import (
    paired_difference,
    partially_paired_difference,
    unpaired_difference,
)


def test_it_is_both_parts_by_their_inverse_variance() -> None:
    random = np.random.default_rng(0)
    ease = random.normal(size=10)
    a, b = ease + random.normal(size=10), ease + random.normal(size=10)
    only_a, only_b = random.normal(size=50), random.normal(size=30) + 0.4
    found = partially_paired_difference(a, b, only_a, only_b, level=0.9)
    paired, rest = (
        stats.ttest_rel(a, b),
        stats.ttest_ind(only_a, only_b, equal_var=False),
    )
    parts = [(a - b).mean(), only_a.mean() - only_b.mean()]
    variances = np.array([parts[0] / paired.statistic, parts[1] / rest.statistic]) ** 2
    weights = (1 / variances) / (1 / variances).sum()
    meier = 1 + 4 * weights[0] * weights[1] * (1 / paired.df + 1 / rest.df)
    error = np.sqrt(meier / (1 / variances).sum())
    df = 1 / (weights**2 / [paired.df, rest.df]).sum()
    assert found.difference == pytest.approx(weights @ parts)
    assert (found.weight, found.standard_error) == pytest.approx((weights[0], error))
    assert (found.ci_low, found.ci_high) == pytest.approx(
        stats.t.interval(0.9, df, weights @ parts, error)
    )
    assert found.p_value == pytest.approx(
        2 * stats.t.sf(abs(weights @ parts / error), df)
    )
    assert (found.n_common, found.n_a, found.n_b, found.reason) == (10, 50, 30, "")
    assert (found.paired, found.unpaired) == (
        paired_difference(a, b).difference,
        unpaired_difference(only_a, only_b).difference,
    )
    turned = partially_paired_difference(b, a, only_b, only_a)
    assert (turned.difference, turned.p_value) == (
        pytest.approx(-(weights @ parts)),
        found.p_value,
    )


def test_a_part_without_an_error_has_no_weight() -> None:
    for arguments in (
        ([1.0], [0.0], [1, 2], [2, 4]),
        ([1, 2], [0, 1], [1, 2], [2, 4]),
        ([1, 2], [0, 4], [1], [2, 3]),
    ):
        found = partially_paired_difference(*arguments)
        assert (found.difference, found.ci_low, found.p_value) == (None, None, None)
        assert "no standard error" in found.reason and "no partially paired" in str(
            found
        )


@pytest.mark.parametrize("sizes", [(10, 50, 50), (10, 30, 30)])
def test_it_covers(sizes: tuple[int, int, int]) -> None:
    random, missed, narrower, skewed = np.random.default_rng(3), 0, 0, 0
    for _ in range(600):
        a = random.normal(size=(sizes[0], 1)) + random.normal(size=(sizes[0], 2)) * 0.5
        found = partially_paired_difference(
            a[:, 0],
            a[:, 1],
            random.normal(size=sizes[1]) * 1.1,
            random.normal(size=sizes[2]) * 1.1,
        )
        if found.ci_low is None or found.ci_high is None:
            assert "skewed" in found.reason
            skewed += 1
            continue
        missed += not found.ci_low <= 0 <= found.ci_high
        alone = paired_difference(a[:, 0], a[:, 1])
        assert alone.ci_low is not None and alone.ci_high is not None
        narrower += found.ci_high - found.ci_low < alone.ci_high - alone.ci_low
    assert missed / 600 <= 0.05 + 3 * (0.05 * 0.95 / 600) ** 0.5
    assert narrower > 400 and skewed <= 30


def test_skewed_costs_get_no_weights() -> None:
    """Equal means, lognormal with σ 1 and .3: 95 % covered .81, as mean and error are
    small together."""
    random, missed, shown, n = np.random.default_rng(11), 0, 0, 200

    def costs(sigma: float, size: int) -> np.ndarray:
        return np.exp(random.normal(size=size) * sigma - sigma**2 / 2)

    for _ in range(n):
        found = partially_paired_difference(
            costs(1, 30), costs(0.3, 30), costs(1, 30), costs(0.3, 500)
        )
        shown += found.difference is not None
        missed += found.ci_low is not None and not found.ci_low <= 0 <= (
            found.ci_high or 0
        )
    assert missed <= 0.05 * n and shown < 0.15 * n


def test_few_prompts_of_a_part_get_no_weights() -> None:
    """Beta(.3, 2), 5 others of the first: equal models were told apart in .15, with 2
    common normal scores in .14."""
    random = np.random.default_rng(7)
    x, y, some, more = (random.beta(0.3, 2, size=n) for n in (100, 100, 5, 200))
    for found in (
        partially_paired_difference(x, y, some, more),
        partially_paired_difference(x[:9], y[:9], x, more),
    ):
        assert (
            found.difference is None
            and "10 common prompts and 20 others" in found.reason
        )


def test_an_error_by_chance_too_small_gets_no_weight() -> None:
    """Equal models, .98 right: with an error that rests on a wrong answer or two they
    were told apart in .33."""
    random, wrong, told = np.random.default_rng(5), 0, 0
    for _ in range(200):
        a = (random.random(500) < 0.98).astype(float)
        b = np.where(random.random(500) < 0.8, a, random.random(500) < 0.98)
        found = partially_paired_difference(
            a, b, random.random(50) < 0.98, random.random(1000) < 0.98
        )
        wrong += found.p_value is not None and found.p_value <= 0.05
        told += found.difference is None and "fewer than ten" in found.reason
    assert wrong <= 0.05 * 200 and told > 150
    half = [0, 1] * 20
    assert partially_paired_difference(half, half[::-1], half, half[1:]).reason == ""
