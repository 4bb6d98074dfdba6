"""Simulated coverage of the default intervals: how often they hold the true mean.

Prints one line per cell (``pytest -m slow -s``), so that the table can be rerun by anyone.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from warehouse.stats import Estimate, estimate_mean, paired_difference

pytestmark = pytest.mark.slow

REPEATS = 2000
NOISE = 3 * (0.95 * 0.05 / REPEATS) ** 0.5  # three standard errors of a coverage of 95 %
EQUAL, UNEQUAL = [8] * 30, [4] * 24 + [30] * 6
FEW = [10] * 10

Rng = np.random.Generator


def covers(result: Estimate, truth: float) -> bool:
    if result.ci_low is None or result.ci_high is None:
        return False
    return result.ci_low <= truth <= result.ci_high


def clustered_binary(rng: Rng, p: float, icc: float, sizes: list[int]) -> NDArray[np.float64]:
    """0/1 scores: each cluster has its own Beta rate, with mean p and the given correlation."""
    a = p * (1 - icc) / icc if icc else 0.0
    b = (1 - p) * (1 - icc) / icc if icc else 0.0
    rates = rng.beta(a, b, len(sizes)) if icc else np.full(len(sizes), p)
    return (rng.random(sum(sizes)) < np.repeat(rates, sizes)).astype(float)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n", [15, 40, 200])
def test_wilson(n: int, p: float) -> None:
    rng = np.random.default_rng(n)
    draws = (rng.random((REPEATS, n)) < p).astype(float)
    coverage = np.mean([covers(estimate_mean(s), p) for s in draws])
    print(f"wilson n={n} p={p}: {coverage:.3f}")
    assert coverage > 0.93 - NOISE  # Wilson is exact on average over p, not at each p


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("n", [20, 60, 250])
def test_bounded_means_of_draws(n: int, p: float) -> None:
    """Prompt means of four draws of prompts whose difficulty differs."""
    rng = np.random.default_rng(n)
    rates = rng.beta(3 * p, 3 * (1 - p), (REPEATS, n))
    draws = rng.binomial(4, rates) / 4
    results = [estimate_mean(s, bounds=(0, 1), n_draws=4) for s in draws]
    coverage = np.mean([covers(result, p) for result in results])
    print(f"{results[0].method} n={n} p={p}: {coverage:.3f}")
    assert coverage > 0.94 - NOISE


@pytest.mark.parametrize("sizes", [EQUAL, UNEQUAL, FEW], ids=["equal", "unequal", "few"])
@pytest.mark.parametrize("icc", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("p", [0.3, 0.7])
def test_clustered_binary(p: float, icc: float, sizes: list[int]) -> None:
    rng = np.random.default_rng(17)
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    held, eq4 = [], []
    for _ in range(REPEATS):
        scores = clustered_binary(rng, p, icc, sizes)
        result = estimate_mean(scores, clusters=clusters)
        held.append(covers(result, p))
        eq4.append(abs(result.estimate - p) <= 1.96 * (result.se_clustered or 0.0))
    print(f"G={len(sizes)} p={p} icc={icc}: {np.mean(held):.3f}, eq. 4 z {np.mean(eq4):.3f}")
    assert np.mean(held) > 0.94 - NOISE
    assert np.mean(held) > np.mean(eq4)


@pytest.mark.parametrize("icc", [0.0, 0.4])
@pytest.mark.parametrize("bounded", [True, False], ids=["bounded", "unbounded"])
def test_clustered_continuous(bounded: bool, icc: float) -> None:
    rng = np.random.default_rng(23)
    clusters = np.repeat(np.arange(len(UNEQUAL)), UNEQUAL)
    held = []
    for _ in range(REPEATS):
        level = rng.normal(0, icc**0.5, len(UNEQUAL))[clusters]
        scores = level + rng.normal(0, (1 - icc) ** 0.5, len(clusters))
        if bounded:
            scores = 1 / (1 + np.exp(-2 * scores))
        bounds = (0, 1) if bounded else None
        held.append(covers(estimate_mean(scores, clusters=clusters, bounds=bounds), bounded / 2))
    print(f"bounded={bounded} icc={icc}: {np.mean(held):.3f}")
    assert np.mean(held) > 0.93 - NOISE


@pytest.mark.parametrize("clustered", [False, True], ids=["independent", "clustered"])
def test_paired_test_rejects_at_its_level(clustered: bool) -> None:
    rng = np.random.default_rng(29)
    clusters = np.repeat(np.arange(len(UNEQUAL)), UNEQUAL) if clustered else None
    rejected = 0
    for _ in range(REPEATS):
        shared = rng.random(len(UNEQUAL)).repeat(UNEQUAL)
        a, b = (rng.random((2, len(shared))) < shared).astype(float)
        if clustered:
            b = b * (rng.random(len(UNEQUAL)) < 0.5).repeat(UNEQUAL)
            a = a * (rng.random(len(UNEQUAL)) < 0.5).repeat(UNEQUAL)
        p_value = paired_difference(a, b, clusters=clusters).p_value
        rejected += p_value is not None and p_value < 0.05
    print(f"paired clustered={clustered}: {rejected / REPEATS:.3f}")
    assert 0.02 < rejected / REPEATS < 0.05 + 0.015 + NOISE
