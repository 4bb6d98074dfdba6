"""Agreement of two formulations: figures of other programs, and a simulation of its
intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import find_crossings, formulation_agreement, formulation_noise
from warehouse.stats.suites.formulations import _kendall


def _answers(
    rng: np.random.Generator, models: int, n: int, spread: float, rho: float
) -> tuple[np.ndarray, ...]:
    """Abilities and 0/1 scores of both formulations of the same prompts."""
    ability = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], models).T * spread
    difficulty = rng.standard_normal((2, n, 1))
    noise = rng.standard_normal((2, n, models))
    first, second = (
        (noise[side] < ability[side][None] + difficulty[0]).astype(float)
        for side in (0, 1)
    )
    return ability, first, second


def test_estimates_are_scipys() -> None:
    x, y = np.random.default_rng(1).normal(size=(2, 9)).round(1)
    rows = {row.statistic: row for row in formulation_agreement(x, y)}
    assert rows["pearson"].estimate == pytest.approx(stats.pearsonr(x, y).statistic)
    assert rows["kendall"].estimate == pytest.approx(stats.kendalltau(x, y).statistic)
    assert rows["spearman"].estimate == pytest.approx(stats.spearmanr(x, y).statistic)
    fisher = stats.pearsonr(x, y).confidence_interval()
    assert (
        rows["pearson"].models_low <= fisher.low
        and rows["pearson"].models_high >= fisher.high
    )
    assert all(row.prompts_low is row.both_high is None for row in rows.values())


@pytest.mark.parametrize("models", [3, 40])
def test_kendall_of_each_resample_is_scipys(models: int) -> None:
    """With ties and constant sides, to the bit: intervals are quantiles of these."""
    x, y = np.random.default_rng(models).normal(size=(2, 60, models)).round(models > 3)
    expected = [stats.kendalltau(a, b).statistic for a, b in zip(x, y, strict=True)]
    assert 0 < np.isnan(expected).sum() < 60 or models > 3
    np.testing.assert_array_equal(_kendall(x, y), expected)


def test_noise_is_the_covariance_of_means_about_one_another() -> None:
    _, first, second = _answers(np.random.default_rng(2), 6, 50, 0.5, 0.9)
    noise = formulation_noise(first, second, np.arange(50), np.arange(50))
    joint = np.cov(np.hstack([first, second]).T) / 50
    centre = np.eye(6) - 1 / 6
    blocks = [joint[:6, :6], joint[6:, 6:], joint[:6, 6:]]
    expected = [np.trace(centre @ block @ centre) / 5 for block in blocks]
    assert (noise.first, noise.second, noise.both) == pytest.approx(expected)
    assert formulation_noise(first, second, np.arange(50), np.arange(50) + 50).both == 0


def test_noise_by_cluster_is_that_of_cluster_sums() -> None:
    _, first, second = _answers(np.random.default_rng(3), 4, 60, 0.5, 0.9)
    clusters = np.arange(60) // 5
    noise = formulation_noise(first, second, clusters, clusters)
    sums = (
        first.reshape(12, 5, 4).sum(axis=1) / 60
    )  # equal sizes: CR2 is the variance of cluster sums
    centred = sums - sums.mean(axis=1, keepdims=True)
    assert noise.first == pytest.approx(12 * np.var(centred, axis=0, ddof=1).sum() / 3)
    assert noise.n_units == 12


@pytest.mark.parametrize("x, y", [([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3])])
def test_nothing_known_is_nothing(x: list[float], y: list[float]) -> None:
    assert all(
        row.estimate is None and row.models_low is None
        for row in formulation_agreement(x, y)
    )


def test_other_models_need_five_and_one_order_says_nothing_of_others() -> None:
    assert formulation_agreement([1, 2, 3, 4], [1, 3, 2, 4])[0].models_low is None
    kendall = formulation_agreement([1, 2, 3, 4, 5, 6], [1, 2, 4, 5, 6, 9])[1]
    assert kendall.estimate == pytest.approx(1) and kendall.models_low is None


def test_without_noise_the_interval_is_the_estimate() -> None:
    rng = np.random.default_rng(4)
    ability, *_ = _answers(rng, 8, 10, 1.0, 0.8)
    first, second = (ability[side] + rng.normal(0, 1e-4, (400, 8)) for side in (0, 1))
    noise = formulation_noise(first, second, np.arange(400), np.arange(400))
    row = formulation_agreement(first.mean(axis=0), second.mean(axis=0), noise)[0]
    assert row.prompts_high - row.prompts_low < 1e-4
    assert row.prompts_low == pytest.approx(row.estimate, abs=1e-4)


@pytest.mark.rare
def test_prompts_interval_covers_where_resampling_them_does_not() -> None:
    """Strong noise, true correlations near 1: the percentile interval misses nearly
    always (statistics.md §19a)."""
    rng = np.random.default_rng(5)
    covered, percentile, total = 0, 0, 60
    for number in range(total):
        ability, first, second = _answers(rng, 10, 100, 0.25, 0.97)
        truth = np.corrcoef(*stats.norm.cdf(ability / np.sqrt(2)))[0, 1]
        noise = formulation_noise(first, second, np.arange(100), np.arange(100))
        row = formulation_agreement(
            first.mean(axis=0), second.mean(axis=0), noise, seed=number
        )[0]
        covered += row.prompts_low <= truth <= row.prompts_high
        drawn = rng.integers(0, 100, (200, 100))
        r = [
            np.corrcoef(first[i].mean(axis=0), second[i].mean(axis=0))[0, 1]
            for i in drawn
        ]
        percentile += np.quantile(r, 0.025) <= truth <= np.quantile(r, 0.975)
    assert covered >= 54 and percentile <= 30


def test_a_crossing_needs_both_differences() -> None:
    p = [1e-6, 1e-6, 1e-6], [1e-6, 0.9, 1e-6]
    found = find_crossings([3, 2, 1], [2, 3, 1], *p)
    assert (found.first.tolist(), found.second.tolist()) == ([0], [1])
    assert found.p_holm.tolist() == pytest.approx([3e-6])
    unsure = find_crossings([3, 2, 1], [2, 3, 1], p[0], [0.04, 0.9, 1e-6])
    assert unsure.p_holm.tolist() == pytest.approx([0.12])
    assert np.isnan(find_crossings([3, 2], [2, 3]).p_holm).all()


def test_what_is_no_means_is_refused() -> None:
    with pytest.raises(StatisticsError, match="alike"):
        formulation_agreement([1, 2, 3], [1, 2])
    with pytest.raises(StatisticsError, match="finite"):
        formulation_agreement([1, 2, np.nan], [1, 2, 3])


def test_what_rounding_alone_tells_apart_is_no_crossing_and_no_noise() -> None:
    third = 0.1 + 0.2, 0.3
    assert not len(find_crossings(third, [0.1, 0.2]).first)
    alike = np.tile([0.2, 0.3, 0.7], (20, 1))
    assert formulation_noise(alike, alike, np.arange(20), np.arange(20, 40)) is None


def test_the_interval_of_both_is_free_of_draws() -> None:
    _, first, second = _answers(np.random.default_rng(6), 7, 40, 0.5, 0.9)
    noise = formulation_noise(first, second, np.arange(40), np.arange(40))
    means = first.mean(axis=0), second.mean(axis=0)
    one, other = (formulation_agreement(*means, noise, seed=seed)[0] for seed in (0, 1))
    assert (one.both_low, one.both_high) == (other.both_low, other.both_high)
