"""Flags for skewed and heavy-tailed scores: they hold for the unlucky samples too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from warehouse.stats import estimate_mean, paired_difference
from warehouse.stats.core.moments import skewness
from warehouse.stats.core.sample import build_sample, find_link
from warehouse.stats.intervals.asymmetry import (
    implied_skewnesses,
    mean_skewness,
    tail_units,
    working_skewness,
)
from warehouse.stats.paired.pair_flags import paired_flags


def implied_skewness(values: Any) -> float:
    return float(implied_skewnesses(values[None, :])[0])


def lognormal_skewness(sigma: float) -> float:
    growth = math.exp(sigma**2)
    return (growth + 2) * math.sqrt(growth - 1)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 1.5])
def test_quantiles_of_a_lognormal_imply_its_skewness(sigma: float) -> None:
    z = np.random.default_rng(1).normal(size=400_000)
    assert implied_skewness(np.exp(sigma * z)) == pytest.approx(
        lognormal_skewness(sigma), rel=0.1
    )
    assert implied_skewness(5 - 3 * np.exp(sigma * z)) == pytest.approx(
        lognormal_skewness(sigma), rel=0.1
    )
    assert implied_skewness(z) < 0.05


def test_many_equal_values_imply_nothing() -> None:
    scores = np.array([0.0] * 80 + [1.0] * 20)
    assert implied_skewness(scores) == 0
    assert working_skewness(scores) == skewness(scores) * 1.6 > 1  # 1 + 6/√100
    assert implied_skewness(np.full(100, 2.0)) == 0


def test_few_values_are_not_read_off_quantiles() -> None:
    scores = np.exp(np.linspace(-2, 2, 49))
    assert working_skewness(scores) == skewness(scores) < implied_skewness(scores)


def test_tails() -> None:
    rng = np.random.default_rng(2)
    assert tail_units(rng.normal(size=1000)) == math.inf == tail_units(np.full(9, 1.0))
    assert tail_units(rng.standard_cauchy(1000)) < 10
    differing = np.array([0.0] * 280 + [1.0] * 12 + [-1.0] * 8)
    assert (
        tail_units(differing) == math.inf
    )  # few differ, but none by more than the others


def test_rounding_makes_no_heavy_tails() -> None:
    """All but four differences are 0.3, as 0.1 + 0.2 or as it stands: few differ, and
    none by far more."""
    spread = np.array([-0.4, -0.2, 0.3, 0.8, 1.0])
    exactly, rounded = (
        np.array([middle, 0.3] * 50 + spread.tolist()) for middle in (0.3, 0.1 + 0.2)
    )
    assert exactly.mean() == pytest.approx(0.3) and rounded[0] != 0.3
    assert tail_units(rounded) == tail_units(exactly) == math.inf


def test_a_large_cluster_skews_the_mean_more_than_its_share() -> None:
    """What each unit adds is divided by sqrt(1 - f): with unequal sizes it does not
    cancel."""
    clusters, scores = np.repeat(np.arange(3), [6, 2, 2]), np.arange(10) % 4 * 1.0
    totals = np.bincount(clusters, scores - scores.mean())
    pulls = totals / np.sqrt(1 - np.array([0.6, 0.2, 0.2]))
    sample = build_sample(
        scores, clusters, None, find_link("identity"), None, None, None
    )
    assert mean_skewness(sample) == pytest.approx(
        (pulls**3).sum() / (pulls**2).sum() ** 1.5
    )


def test_lognormal_scores_say_that_they_are_skewed() -> None:
    """It informs only: the hull covers in the samples that look symmetric too."""
    rng = np.random.default_rng(3)
    flags = [estimate_mean(rng.lognormal(0, 1.5, 2000)).flags for _ in range(40)]
    assert 0.3 < flags.count(("skewed",)) / 40 < 1
    sample = build_sample(
        rng.lognormal(0, 1.5, 100), None, None, find_link("identity"), None, None, None
    )
    assert mean_skewness(sample) == pytest.approx(skewness(sample.values) / 10)


def test_uneven_heavy_tails_of_bounded_differences_are_flagged() -> None:
    rng = np.random.default_rng(4)
    wide = {"bounds": (0, 1e6)}
    pairs = [
        (rng.lognormal(0, 1.2, 300), rng.lognormal(0.54, 0.6, 300)) for _ in range(60)
    ]
    flags = [paired_difference(*pair, **wide).flags for pair in pairs]
    assert sum(map(bool, flags)) > 54
    assert {"few_skewed_prompts", "heavy_tailed_prompts"} <= set(sum(flags, ()))
    ordinary = paired_difference(rng.random(300), rng.random(300), **wide)
    assert ordinary.flags == ()


@pytest.mark.parametrize(
    ("draw", "n", "least", "most"),
    [
        (lambda rng, shape: rng.normal(size=shape), 100, 0.0, 0.02),
        (lambda rng, shape: rng.laplace(size=shape), 300, 0.0, 0.10),
        (lambda rng, shape: rng.lognormal(0, 0.5, shape), 100, 0.80, 1.0),
        (lambda rng, shape: rng.lognormal(0, 1.0, shape), 2000, 0.95, 1.0),
    ],
    ids=["normal", "Laplace", "lognormal, .5", "lognormal, 1"],
)
def test_what_is_flagged_of_bounded_differences(
    draw: Any, n: int, least: float, most: float
) -> None:
    """Skewed data of a few hundred prompts nearly always, ordinary data nearly never."""
    samples = draw(np.random.default_rng(7), (400, n))
    flagged = np.mean(
        [
            bool(paired_flags(sample, np.zeros(n), bounds=(-1e9, 1e9)))
            for sample in samples
        ]
    )
    assert least <= flagged <= most


def test_clusters_whose_size_tells_their_level_are_flagged() -> None:
    """Lognormal sizes: totals are skewed, and a large cluster that was missed is not
    seen."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(30):
        sizes = np.maximum(1, np.round(6 * rng.lognormal(0, 1.2, 200))).astype(int)
        rate = np.repeat(1 / (1 + np.exp(2 - 0.8 * np.log(sizes / 6))), sizes)
        codes = np.repeat(np.arange(200), sizes)
        right = rng.random((2, len(codes))) < rate
        found.append(estimate_mean(right[0].astype(float), clusters=codes).flags)
        shares = right.mean(axis=0)
        found.append(
            estimate_mean(shares, clusters=codes, bounds=(0, 1), n_draws=2).flags
        )
    assert found.count(("few_skewed_clusters",)) >= 55


def test_unseen_scores_at_a_far_bound() -> None:
    """A thousandth of the prompts at 1 is missed by a third of the samples of 1 000."""
    rng = np.random.default_rng(6)
    floor = 0.05 * rng.random(1000)
    found = estimate_mean(floor, bounds=(0, 1))
    assert (found.method, found.flags) == ("t", ("far_bound",))
    assert estimate_mean(rng.random(1000), bounds=(0, 1)).flags == ()
