"""Bootstrap-t and its hull with t: golden G35, p that agrees with the interval, and its
invariances."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

from warehouse.stats import (
    all_pairs,
    estimate_mean,
    noninferiority_test,
    paired_difference,
)
from warehouse.stats.core.inputs import as_clusters
from warehouse.stats.intervals import bootstrap_t
from warehouse.stats.intervals.bootstrap_t import (
    StudentisedDraws,
    resample_counts,
    studentised,
)
from warehouse.stats.paired.margins import paired_noninferiority
from warehouse.stats.paired.own_tests import hull_tests, weighted_tests, with_own_tests

T, N = np.array([3, 8, 4, 20, 6, 9.0]), np.array([2, 4, 3, 5, 2, 6.0])


def test_g35_over_all_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    every = np.array(list(itertools.product(range(6), repeat=6)))
    counts = np.array([(every == unit).sum(axis=1) for unit in range(6)], np.float32).T
    monkeypatch.setattr(bootstrap_t, "resample_counts", lambda *_: counts)
    mean = T.sum() / N.sum()
    draws = StudentisedDraws(
        np.sort(studentised((T - mean * N)[None], N[None], 0)[:, 0]), 4.181590644
    )
    low, high = draws.bootstrap_ends(0.95)
    assert (low, high) == (pytest.approx(-7.747136682), pytest.approx(2.135764517))
    error = 0.541054498
    assert (mean - high * error, mean - low * error) == pytest.approx(
        (1.117162274, 6.464350423)
    )
    low, high = draws.ends(0.95)
    assert (mean - high * error, mean - low * error) == pytest.approx(
        (0.795900164, 6.464350423)
    )


@pytest.mark.parametrize("sizes", [None, [1.0] * 6, [2.0] * 6])
def test_a_resample_of_equal_units_has_no_error(sizes: list[float] | None) -> None:
    """Their squares cancel to 1e-17, which was taken for a variance: an interval of
    [-128330754.60, 8.93]."""
    scores = np.array([8, 8, 8, 8, 4, 7.5])
    size = None if sizes is None else np.array([sizes])
    totals = (scores - scores.mean()) * (1 if size is None else size)
    t = studentised(np.atleast_2d(totals), size, 0)[:, 0]
    units = np.sort(scores)[::-1]  # descending, where the third moment is negative
    are_equal = np.array(
        [np.ptp(units[drawn]) == 0 for drawn in resample_counts(6, 0) > 0]
    )
    assert (
        are_equal.sum() > 25
        and np.isinf(t[are_equal]).all()
        and np.abs(t[~are_equal]).max() < 1e3
    )
    found = estimate_mean(scores)
    assert found.ci_low is None and "unbounded_interval" in found.flags


def skewed(seed: int, n: int = 60) -> Any:
    return np.random.default_rng(seed).lognormal(0, 1.2, n)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_p_and_interval_agree(seed: int, clustered: bool) -> None:
    a, b = skewed(seed), skewed(seed + 50)
    options: dict[str, Any] = (
        {"clusters": np.random.default_rng(seed).integers(0, 15, 60)}
        if clustered
        else {}
    )
    found = paired_difference(a, b, **options)
    assert (
        found.method == "paired_hull"
        and found.ci_low is not None
        and found.ci_high is not None
    )
    for end, inward in ((found.ci_low, 1), (found.ci_high, -1)):
        step = inward * 1e-6 * (found.ci_high - found.ci_low)
        inside, outside = (
            paired_difference(a - end + shift, b, **options).p_value
            for shift in (-step, step)
        )
        assert inside is not None and outside is not None
        assert inside > 0.05 >= outside


def test_the_hull_holds_t_and_the_larger_p_counts() -> None:
    a, b = skewed(1), skewed(2) - 1
    found, t = paired_difference(a, b), paired_difference(a, b, bounds=(-1e6, 1e6))
    assert t.p_value == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert found.p_value >= t.p_value
    assert found.ci_low <= t.ci_low and found.ci_high >= t.ci_high


def test_p_does_not_end_with_the_resamples() -> None:
    """Many tests at once need p below 2/1000."""
    a = np.random.default_rng(1).normal(2, 1, 80)
    p = paired_difference(a, np.zeros(80)).p_value
    assert p is not None and 0 < p < 1e-12
    draws = paired_difference(a, np.zeros(80)).draws
    assert draws is not None
    falling = [draws.p_value(t) for t in np.linspace(0, 20, 400)]
    assert falling == sorted(falling, reverse=True)


def test_beyond_the_resamples_students_tail_is_as_much_wider_as_they_are() -> None:
    """Resamples that reach twice as far at 2.5 %: twice the t for the same p."""
    student = float(stats.t.ppf(0.975, 10))
    values = np.linspace(-2 * student, 2 * student, 999)
    values[-25:] = 2 * student
    wide, narrow = StudentisedDraws(values, 10), StudentisedDraws(values / 8, 10)
    for t in (12.0, 20.0):
        assert wide.upper_tail(t) == pytest.approx(stats.t.sf(t / 2, 10))
        assert narrow.upper_tail(t) == pytest.approx(stats.t.sf(t, 10))


def test_turned_and_shuffled_scores() -> None:
    a, b = skewed(3), skewed(4)
    codes = np.random.default_rng(3).integers(0, 15, 60)
    order = np.random.default_rng(4).permutation(60)
    for clusters in (None, codes):
        one, other = (
            paired_difference(a, b, clusters=clusters),
            paired_difference(b, a, clusters=clusters),
        )
        assert (one.ci_low, one.ci_high, one.p_value) == pytest.approx(
            (-other.ci_high, -other.ci_low, other.p_value)
        )
        own = None if clusters is None else clusters[order]
        moved = paired_difference(a[order], b[order], clusters=own)
        assert (moved.ci_low, moved.ci_high, moved.p_value) == pytest.approx(
            (one.ci_low, one.ci_high, one.p_value)
        )
        scaled = paired_difference(1000 * a, 1000 * b, clusters=clusters)
        assert scaled.ci_high == pytest.approx(1000 * one.ci_high)


def test_seeds() -> None:
    scores = skewed(5)
    one, again, other = (estimate_mean(scores, seed=seed) for seed in (1, 1, 2))
    assert one == again and one.ci_high != other.ci_high
    assert (
        resample_counts(7, 0, 130)[:70].tolist() == resample_counts(7, 0, 70).tolist()
    )
    assert resample_counts(7, 0).sum(axis=1).tolist() == [7] * 999


def test_few_units_have_t_alone() -> None:
    assert estimate_mean(skewed(6, 5)).method == "t"
    assert estimate_mean(skewed(6, 6)).method == "hull"
    few = estimate_mean(skewed(6, 40), clusters=np.arange(40) % 5)
    assert (few.method, few.flags) == ("cr2_t", ("few_clusters",))


def test_an_end_that_no_resample_bounds_is_none() -> None:
    found = estimate_mean([0.0] * 20 + [1, 3])
    assert (found.ci_low, found.flags) == (None, ("skewed", "unbounded_interval"))
    assert "too few units vary" in found.reason and found.beside is not None


@pytest.mark.parametrize("kind", ["plain", "clusters", "gaps", "many"])
def test_all_pairs_are_tested_as_each_alone(kind: str) -> None:
    rng = np.random.default_rng(7)
    n = 1203 if kind == "many" else 60
    scores = rng.lognormal(0, 1, (n, 4))
    codes = rng.integers(0, 12, n) if kind == "clusters" else None
    if kind == "gaps":
        scores[:5, 1] = np.nan
    pairs = all_pairs(scores, codes, n_resamples=99, seed=5)
    groups = None if codes is None else as_clusters(codes, n)
    found = with_own_tests(pairs, hull_tests(scores, groups, pairs))
    for place, (a, b) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        alone = paired_difference(
            scores[5 * (kind == "gaps") :, a],
            scores[5 * (kind == "gaps") :, b],
            clusters=codes,
            seed=5,
        )
        if kind == "gaps" and 1 in (a, b):
            assert found.p_value[place] == pytest.approx(
                alone.p_value, abs=0.06
            )  # empty units are drawn too
        elif kind != "gaps":
            assert found.p_value[place] == pytest.approx(alone.p_value)
            assert found.simultaneous_low[place] <= alone.ci_low + 1e-12
            assert found.p_max_t[place] >= alone.p_value - 1e-12


def test_pairs_of_a_single_prompt_have_no_test_and_warn_of_nothing() -> None:
    scores = np.array([[1.5, 2.5]])
    pairs = all_pairs(scores, n_resamples=99)
    assert np.isnan(
        with_own_tests(pairs, hull_tests(scores, None, pairs)).p_value
    ).all()


@pytest.mark.parametrize("clustered", [False, True])
def test_all_pairs_of_weighted_means(clustered: bool) -> None:
    rng = np.random.default_rng(8)
    scores, weights = rng.normal(size=(50, 3)), rng.lognormal(0, 1, (50, 3))
    codes = rng.integers(0, 9, 50) if clustered else None
    means = (weights * scores).sum(axis=0) / weights.sum(axis=0)
    figures = means + weights / weights.mean(axis=0) * (scores - means)
    pairs = all_pairs(figures, codes, n_resamples=99)
    groups = None if codes is None else as_clusters(codes, 50)
    found = with_own_tests(pairs, weighted_tests(figures, weights, groups, pairs))
    for place, (a, b) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        alone = paired_difference(
            scores[:, a],
            scores[:, b],
            clusters=codes,
            weights_a=weights[:, a],
            weights_b=weights[:, b],
        )
        assert found.difference[place] == pytest.approx(alone.difference)
        assert found.standard_error[place] == pytest.approx(alone.standard_error)
        assert found.p_value[place] == pytest.approx(alone.p_value)


def test_margins_of_skewed_differences() -> None:
    a, b = skewed(9), skewed(10)
    found = paired_difference(a, b, level=0.9)
    test = paired_noninferiority(found, 0.5)
    assert test.ci_low == found.ci_low
    assert test.noninferior == (test.ci_low > -0.5)
    plain = noninferiority_test(a - b, 0.5)
    assert test.p_value >= plain.p_value and test.p_inferior >= plain.p_inferior
    assert plain.p_value + plain.p_inferior == pytest.approx(1)
