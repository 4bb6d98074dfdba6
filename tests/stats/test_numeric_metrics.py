"""Metrics of numeric answers: scipy, scikit-learn, a slow definition of the influence of
ranks, and what is no number."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats
from sklearn import metrics as sklearn_metrics

from warehouse.errors import StatisticsError
from warehouse.stats import NumericMetric, estimate_mean, numeric_metrics
from warehouse.stats.regression.figures import (
    _pearson_influence,
    _spearman_influence,
    heavy_tails,
    mid_ranks,
)

Floats = NDArray[np.float64]


def numbers(n: int, seed: int) -> tuple[Floats, Floats]:
    """Targets from 1 to 10, and answers near them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(1, 11, n).astype(float)
    return y, np.clip(np.round(y + rng.normal(0, 2, n)), 1, 10)


def by_name(
    y: Floats, x: Floats, clusters: Floats | None = None
) -> dict[str, NumericMetric]:
    """The metrics by name."""
    return {row.metric: row for row in numeric_metrics(y, x, clusters=clusters)}


@pytest.mark.parametrize("seed", range(3))
def test_the_values_are_those_of_other_programs(seed: int) -> None:
    y, x = numbers(60, seed)
    found = {name: row.estimate for name, row in by_name(y, x).items()}
    assert found["mae"] == pytest.approx(sklearn_metrics.mean_absolute_error(y, x))
    assert found["mse"] == pytest.approx(sklearn_metrics.mean_squared_error(y, x))
    assert found["rmse"] == pytest.approx(sklearn_metrics.root_mean_squared_error(y, x))
    assert found["r2"] == pytest.approx(sklearn_metrics.r2_score(y, x))
    assert found["pearson"] == pytest.approx(scipy_stats.pearsonr(y, x).statistic)
    assert found["spearman"] == pytest.approx(scipy_stats.spearmanr(y, x).statistic)


def test_means_of_errors_are_means() -> None:
    y, x = numbers(60, 4)
    found = by_name(y, x)
    mean = estimate_mean((x - y) ** 2)
    assert (found["mse"].ci_low, found["mse"].ci_high) == (mean.ci_low, mean.ci_high)
    assert found["rmse"].ci_high == pytest.approx(np.sqrt(mean.ci_high or 0))


def test_the_interval_of_r_is_no_narrower_than_fishers() -> None:
    y, x = numbers(40, 5)
    fisher = scipy_stats.pearsonr(y, x).confidence_interval(0.95)
    found = by_name(y, x)["pearson"]
    assert found.ci_low is not None and found.ci_high is not None
    assert found.ci_low <= fisher.low + 1e-12 and found.ci_high >= fisher.high - 1e-12


def weighted_r(u: Floats, w: Floats, p: Floats) -> float:
    """Spearman's r where prompts have shares p: ranks are shares of what lies below."""
    ranks = []
    for side in (u, w):
        below = (side[:, None] > side[None, :]) + 0.5 * (side[:, None] == side[None, :])
        ranks.append(below @ p - 0.5)
    a, b = ranks
    return float((p * a * b).sum() / np.sqrt((p * a * a).sum() * (p * b * b).sum()))


def test_influence_is_the_derivative_towards_one_more_prompt() -> None:
    y, x = numbers(25, 6)
    value, psi = _spearman_influence(mid_ranks(y), mid_ranks(x))
    even = np.full(25, 1 / 25)
    assert value == pytest.approx(weighted_r(y, x, even))
    step = 1e-6
    for i in range(25):
        point = np.zeros(25)
        point[i] = 1
        there, here = (
            weighted_r(y, x, (1 - h) * even + h * point) for h in (step, -step)
        )
        assert (there - here) / (2 * step) == pytest.approx(psi[i], abs=1e-5)
    r, psi = _pearson_influence(y, x)
    assert psi.mean() == pytest.approx(0, abs=1e-12)
    assert r == pytest.approx(np.corrcoef(y, x)[0, 1])


def test_clusters_of_one_prompt_have_the_error_without() -> None:
    y, x = numbers(50, 7)
    plain, clustered = by_name(y, x), by_name(y, x, np.arange(50))
    for name in ("r2", "pearson", "spearman"):
        assert clustered[name].standard_error == pytest.approx(
            plain[name].standard_error
        )


def test_what_is_no_number() -> None:
    y, _ = numbers(30, 8)
    same = by_name(y, np.full(30, 4.0))
    assert same["pearson"].reason == "constant_side" == same["spearman"].reason
    assert same["pearson"].estimate is None and same["mae"].estimate is not None
    perfect = by_name(y, 2 * y)
    assert perfect["pearson"].estimate == pytest.approx(1)
    assert (perfect["pearson"].ci_low, perfect["pearson"].reason) == (
        None,
        "perfect_correlation",
    )
    assert by_name(np.full(30, 4.0), y)["r2"].reason == "constant_targets"
    assert perfect["r2"].flags == ("few_prompts",)
    with pytest.raises(StatisticsError, match="`answers` has 1 entries"):
        numeric_metrics([1, 2], [1])


def test_heavy_tails_are_said() -> None:
    rng = np.random.default_rng(3)
    y = np.append(rng.normal(size=100), 40.0)
    assert heavy_tails(y)
    assert heavy_tails(y) == (scipy_stats.kurtosis(y) > 3)
    found = by_name(y, y + rng.normal(size=101))
    assert "heavy_tails" in found["pearson"].flags
    assert "heavy_tails" in found["r2"].flags
    assert found["spearman"].flags == ()


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 200])
def test_spearman_is_covered_where_tails_are_heavy(n: int) -> None:
    """Lognormal of normal with ρ .6, which ranks do not see; t and percentile cover
    .88 and up."""
    rng = np.random.default_rng(5)
    true = 6 / np.pi * np.arcsin(0.3)
    covered = 0
    for _ in range(1500):
        z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], n)
        found = by_name(np.exp(z[:, 0]), np.exp(z[:, 1]))["spearman"]
        covered += (found.ci_low or -1) <= true <= (found.ci_high or 1)
    assert 0.93 <= covered / 1500 <= 0.985
