"""Weighted means keep the defaults of plain ones: against slow definitions, and what
must not count."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from warehouse.stats import estimate_mean, interval_gaffke, paired_difference

Floats = NDArray[np.float64]


def skewed(n: int, seed: int = 2) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return np.exp(random.normal(size=n)), np.exp(0.5 * random.normal(size=n))


def test_unbounded_scores_have_the_hull_of_t_and_of_the_ratios_bootstrap() -> None:
    scores, weights = skewed(40)
    found = estimate_mean(scores, weights=weights)
    plain = estimate_mean(scores, weights=weights, method="t")
    assert (
        found.method == "hull"
        and found.standard_error is not None
        and plain.ci_low is not None
    )
    alone = estimate_mean(scores, weights=weights, method="bootstrap_t")
    mean, error = found.estimate, found.standard_error
    drawn = []
    for count in np.random.default_rng(7).multinomial(40, np.full(40, 1 / 40), 4000):
        own = (count * weights) @ scores / (count @ weights)
        residual = weights * (scores - own) / (count @ weights)
        drawn.append((own - mean) / np.sqrt(40 / 39 * count @ residual**2))
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert alone.ci_low == pytest.approx(mean - high * error, abs=0.25 * error)
    assert alone.ci_high == pytest.approx(mean - low * error, abs=0.6 * error)
    assert found.ci_low == min(alone.ci_low or 0, plain.ci_low)
    assert found.ci_high == max(alone.ci_high or 0, plain.ci_high or 0)


def test_bounded_scores_have_the_quantiles_of_exponential_weights() -> None:
    random = np.random.default_rng(3)
    scores, weights = random.beta(0.3, 1, 25), np.exp(random.normal(size=25))
    found = estimate_mean(scores, weights=weights, bounds=(0, 1))
    assert found.method == "gaffke_weighted"
    drawn = random.exponential(size=(200_000, 26)) * np.append(
        weights, weights @ weights / weights.sum()
    )
    low = np.quantile(drawn[:, :25] @ scores / drawn.sum(axis=1), 0.025)
    high = np.quantile(
        (drawn[:, :25] @ scores + drawn[:, 25]) / drawn.sum(axis=1), 0.975
    )
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high), abs=2e-3)


def test_nearly_equal_weights_give_gaffkes_own_interval() -> None:
    scores = np.random.default_rng(1).random(40)
    weights = np.ones(40)
    weights[0] += 1e-7
    found = estimate_mean(scores, weights=weights, bounds=(0, 1))
    own = interval_gaffke(scores)
    assert (found.ci_low, found.ci_high) == pytest.approx((own.low, own.high), abs=1e-6)


@pytest.mark.parametrize("bounds", [None, (0, 1)])
def test_only_ratios_of_weights_count_and_neither_order_nor_unit(
    bounds: tuple[float, float] | None,
) -> None:
    random = np.random.default_rng(4)
    scores, weights = random.beta(0.5, 2, 50), np.exp(0.7 * random.normal(size=50))
    found = estimate_mean(scores, weights=weights, bounds=bounds)
    order = random.permutation(50)
    other = estimate_mean(scores[order], weights=7 * weights[order], bounds=bounds)
    assert (other.ci_low, other.ci_high) == pytest.approx(
        (found.ci_low, found.ci_high), rel=1e-8
    )
    wide = bounds and (0, 100)
    percent = estimate_mean(100 * scores, weights=weights, bounds=wide)
    assert (percent.ci_low, percent.ci_high) == pytest.approx(
        (100 * found.ci_low, 100 * found.ci_high), rel=1e-8
    )


def test_the_interval_stays_within_the_bounds() -> None:
    for scores in ([0.0] * 9 + [0.4], [1.0] * 9 + [0.97]):
        found = estimate_mean(scores, weights=range(1, 11), bounds=(0, 1))
        assert found.ci_low is not None and found.ci_high is not None
        assert 0 <= found.ci_low < found.estimate < found.ci_high <= 1


@pytest.mark.parametrize("clustered", [False, True])
def test_a_difference_of_weighted_means_resamples_both_ratios(clustered: bool) -> None:
    a, weights_a = skewed(60, 5)
    b, weights_b = skewed(60, 6)
    clusters = np.arange(60) % 20 if clustered else None
    found = paired_difference(
        a, b, clusters=clusters, weights_a=weights_a, weights_b=weights_b
    )
    assert found.method == "paired_hull" and found.draws is not None
    units = np.arange(60) if clusters is None else clusters
    g = units.max() + 1
    drawn = []
    sums = [np.bincount(units, weights=w) for w in (weights_a, weights_b)]
    top = [
        np.bincount(units, weights=w * y) for w, y in ((weights_a, a), (weights_b, b))
    ]
    for count in np.random.default_rng(8).multinomial(g, np.full(g, 1 / g), 3000):
        own = [count @ t / (count @ w) for t, w in zip(top, sums, strict=True)]
        parts = [
            (t - w * m) / (count @ w) for t, w, m in zip(top, sums, own, strict=True)
        ]
        error = np.sqrt(g / (g - 1) * count @ (parts[0] - parts[1]) ** 2)
        drawn.append((own[0] - own[1] - found.difference) / error)
    for share in (0.1, 0.5, 0.9):
        assert np.quantile(found.draws.values, share) == pytest.approx(
            np.quantile(drawn, share), abs=0.2
        )
    same = paired_difference(
        b, a, clusters=clusters, weights_a=weights_b, weights_b=weights_a
    )
    assert same.ci_low == pytest.approx(-found.ci_high, rel=0.05)


def test_of_one_weight_for_both_it_is_near_the_plain_pairs() -> None:
    a, weights = skewed(80, 9)
    b = skewed(80, 10)[0]
    found = paired_difference(a, b, weights_a=weights, weights_b=weights)
    weighted = estimate_mean(a - b, weights=weights)
    assert found.difference == pytest.approx(weighted.estimate)
    assert found.ci_low == pytest.approx(weighted.ci_low, rel=0.1)
