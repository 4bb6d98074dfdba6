"""The wild cluster bootstrap: its definition in full, the wildboottest package, its
edges."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from warehouse.errors import StatisticsError
from warehouse.stats import (
    estimate_mean,
    interval_wild_bootstrap,
    sign_flip_test,
    wild_bootstrap_test,
)
from warehouse.stats.core.draws import webb_draws
from warehouse.stats.core.inputs import as_clusters, rejects
from warehouse.stats.core.sample import describe
from warehouse.stats.intervals.wild_cluster_bootstrap import WildBootstrap, wild_draws

repeatable = settings(deadline=None, derandomize=True, max_examples=25)
SIZES = [3, 8, 2, 5, 9, 4, 6]


def data(seed: int = 0, sizes: list[int] = SIZES) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return rng.gamma(1, size=len(labels)) + rng.normal(size=len(sizes))[labels], labels


def prepared(
    scores: NDArray[Any], labels: Any, resamples: int, seed: int = 0
) -> WildBootstrap:
    groups = None if labels is None else as_clusters(labels, len(scores))
    found = wild_draws(describe(scores, groups), resamples, seed)
    assert found is not None
    return found


def weights(n_clusters: int, resamples: int, seed: int = 0) -> NDArray[Any]:
    return np.concatenate(
        [block for _, block in webb_draws(n_clusters, resamples, seed)]
    )


@pytest.mark.parametrize("null", [0.0, 1.1, -4.0])
def test_each_draw_is_the_regression_on_its_sample(null: float) -> None:
    """y* = μ0 + ξ_c(y − μ0), its mean and CR1 error by statsmodels."""
    scores, labels = data()
    found = prepared(scores, labels, 100).statistics(null)
    expected = []
    for xi in weights(len(SIZES), 100):
        resampled = null + xi[labels] * (scores - null)
        fit = sm.OLS(resampled, np.ones(len(scores))).fit(
            cov_type="cluster", cov_kwds={"groups": labels, "use_correction": True}
        )
        expected.append((fit.params[0] - null) / fit.bse[0])
    assert found == pytest.approx(expected, rel=1e-9)


def test_wildboottest_on_the_same_weights() -> None:
    module = pytest.importorskip("wildboottest.wildboottest")
    scores, labels = data(3)
    for null in (0.0, 0.8, 2.5):
        boot = module.WildboottestCL(
            X=np.ones((len(scores), 1)),
            Y=scores - null,
            cluster=labels,
            R=np.ones(1),
            B=499,
            seed=1,
            parallel=False,
        )
        boot.v = weights(len(SIZES), 499).T
        boot.get_scores(bootstrap_type="11", impose_null=True)
        for step in (boot.get_numer, boot.get_denom, boot.get_tboot, boot.get_vcov):
            step()
        boot.get_tstat()
        boot.get_pvalue()
        ours = wild_bootstrap_test(scores, null=null, clusters=labels, n_resamples=499)
        assert ours is not None
        assert prepared(scores, labels, 499).statistics(null) == pytest.approx(
            boot.t_boot, rel=1e-10
        )
        assert ours.statistic == pytest.approx(float(boot.t_stat), rel=1e-10)
        theirs = (1 + 499 * float(boot.pvalue)) / 500  # ours counts the sample itself
        assert ours.p_value == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_is_what_the_test_does_not_reject(level: float) -> None:
    scores, labels = data(5)
    found = interval_wild_bootstrap(
        scores, clusters=labels, n_resamples=999, level=level
    )
    assert found is not None
    draws = prepared(scores, labels, 999)
    width = found.high - found.low
    for end, outwards in ((found.low, -1), (found.high, 1)):
        assert rejects(draws.p_value(end + outwards * 1e-9 * width), 1 - level)
        assert not rejects(draws.p_value(end - outwards * 1e-9 * width), 1 - level)
    assert found.low < scores.mean() < found.high


def test_without_clusters_each_prompt_is_one() -> None:
    scores = data(6)[0]
    alone = interval_wild_bootstrap(scores, n_resamples=499)
    each = interval_wild_bootstrap(
        scores, clusters=np.arange(len(scores)), n_resamples=499
    )
    assert alone is not None and each is not None
    assert (alone.low, alone.high) == pytest.approx((each.low, each.high), rel=1e-9)


@repeatable
@given(st.floats(-5, 5), st.sampled_from([0.01, 1.0, 250.0]), st.integers(0, 3))
def test_shift_and_scale(shift: float, scale: float, seed: int) -> None:
    scores, labels = data(7)
    plain = interval_wild_bootstrap(scores, clusters=labels, n_resamples=199, seed=seed)
    moved = interval_wild_bootstrap(
        shift + scale * scores, clusters=labels, n_resamples=199, seed=seed
    )
    assert plain is not None and moved is not None
    expected = [shift + scale * plain.low, shift + scale * plain.high]
    assert [moved.low, moved.high] == pytest.approx(
        expected, rel=1e-7, abs=1e-7 * scale
    )


def test_swapping_the_runs_flips_the_sign() -> None:
    rng = np.random.default_rng(8)
    d, labels = rng.normal(0.3, 1, 40), np.arange(40) % 8
    one = wild_bootstrap_test(d, clusters=labels, n_resamples=999)
    other = wild_bootstrap_test(-d, clusters=labels, n_resamples=999)
    assert one is not None and other is not None
    assert (one.p_value, one.statistic) == (other.p_value, -other.statistic)


def test_at_the_mean_nothing_is_rejected() -> None:
    scores, labels = data(9)
    found = wild_bootstrap_test(
        scores, null=float(scores.mean()), clusters=labels, n_resamples=199
    )
    assert found is not None and found.p_value == 1.0


def test_the_test_holds_its_level_with_few_unequal_clusters() -> None:
    rng = np.random.default_rng(10)
    labels = np.repeat(np.arange(8), [30, 5, 5, 5, 5, 5, 5, 5])
    rejected = 0
    for _ in range(400):
        scores = rng.normal(size=8)[labels] + rng.normal(size=65)
        found = wild_bootstrap_test(scores, clusters=labels, n_resamples=199)
        assert found is not None
        rejected += found.p_value <= 0.05
    assert rejected / 400 < 0.05 + 4 * (0.05 * 0.95 / 400) ** 0.5


@pytest.mark.parametrize(
    ("scores", "clusters"),
    [([1, 2, 3], "aaa"), ([2, 2, 2, 2], "aabb"), ([1, 3, 3, 1], "aabb"), ([4], None)],
)
def test_no_spread_gives_nothing(scores: Any, clusters: Any) -> None:
    labels = None if clusters is None else list(clusters)
    assert interval_wild_bootstrap(scores, clusters=labels) is None
    assert wild_bootstrap_test(scores, clusters=labels) is None


def flipped(sums: NDArray[Any]) -> float:
    """p of |Σ ±S| over all vectors of signs, one after the other."""
    signs = np.array(list(itertools.product([1, -1], repeat=len(sums))))
    return float(np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9))


def test_sparse_sums_are_flipped() -> None:
    """Eight clusters of one prompt each, one of them 0: 32 of the 256 ways are as far
    off."""
    found = wild_bootstrap_test([3, 0, 1, -1, 2, 1, 0, 2])
    assert found is not None
    assert (found.p_value, found.method) == (32 / 256, "sign_flip")
    assert "sign flip of clusters" in str(found)


@pytest.mark.parametrize("null", [0.0, 0.05, -0.1])
@pytest.mark.parametrize("equal", [True, False])
def test_tied_sums_are_flipped_and_others_are_not(equal: bool, null: float) -> None:
    rng = np.random.default_rng(3)
    sizes = np.full(12, 10) if equal else np.arange(6, 18)
    labels = np.repeat(np.arange(12), sizes)
    d = rng.choice([-1.0, 0, 0, 0, 0, 1], len(labels))
    found = wild_bootstrap_test(d, null=null, clusters=labels, n_resamples=199)
    sums = np.bincount(labels, d - null)
    assert found is not None
    if equal or null == 0:
        assert (found.method, found.p_value) == (
            "sign_flip",
            pytest.approx(flipped(sums)),
        )
    else:
        assert found.method == "webb"
    continuous = wild_bootstrap_test(
        rng.normal(size=len(labels)), clusters=labels, n_resamples=199
    )
    assert continuous is not None and continuous.method == "webb"


def test_many_sparse_clusters_are_flipped_at_random() -> None:
    d = np.repeat([1.0, -1.0, 0.0, 2.0], [12, 5, 20, 3])
    found = wild_bootstrap_test(d, n_resamples=9999, seed=1)
    other = sign_flip_test(d, n_resamples=9999, seed=1)
    assert found is not None and found.p_value == other.p_value


def test_the_interval_of_tied_sums_is_what_the_flip_does_not_reject() -> None:
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(14), 10)
    d = rng.choice([-1.0, 0, 0, 0, 1], len(labels))
    found = interval_wild_bootstrap(d, clusters=labels, n_resamples=199)
    assert found is not None
    for end, outwards in ((found.low, -1), (found.high, 1)):
        inside, outside = (
            np.bincount(labels, d - end + side * outwards * 1e-6) for side in (1, -1)
        )
        assert flipped(inside) > 0.05 >= flipped(outside)


def test_sparse_differences_hold_the_level() -> None:
    """Webb's weights alone reject 7 % here."""
    rng = np.random.default_rng(11)
    labels, rejected = np.repeat(np.arange(10), 10), 0
    for seed in range(400):
        d = (rng.random(100) < 0.02) * 1.0 - (rng.random(100) < 0.02)
        found = wild_bootstrap_test(
            d, clusters=labels, bounds=(None, None), n_resamples=199, seed=seed
        )
        rejected += found is not None and found.p_value <= 0.05
    assert rejected / 400 <= 0.05


def test_one_run_with_few_clusters_off_its_bound_is_refused() -> None:
    rng = np.random.default_rng(12)
    labels = np.repeat(np.arange(12), 10)
    rare = (rng.random(120) < 0.03).astype(float)
    for scores, bounds in ((rare, None), (40 * rare + 10, (10, 50))):
        for ask in (interval_wild_bootstrap, wild_bootstrap_test):
            with pytest.raises(
                StatisticsError, match="clusters .effective. are off the bound"
            ):
                ask(scores, clusters=labels, bounds=bounds)
    assert (
        interval_wild_bootstrap(
            rare, clusters=labels, bounds=(None, None), n_resamples=199
        )
        is not None
    )
    asked = estimate_mean(
        rare, clusters=labels, method="wild_bootstrap", n_resamples=199
    )
    assert asked.flags == ("few_informative_clusters",)
    half = (rng.random(400) < 0.5).astype(float)
    assert (
        wild_bootstrap_test(
            half, null=0.5, clusters=np.repeat(np.arange(20), 20), n_resamples=199
        )
        is not None
    )


def test_two_clusters_reject_nothing() -> None:
    scores, labels = [1.0, 2.0, 8.0, 9.0], [0, 0, 1, 1]
    assert interval_wild_bootstrap(scores, clusters=labels) is None
    found = wild_bootstrap_test(scores, null=-1e9, clusters=labels)
    assert found is not None and found.p_value > 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"null": float("nan")}, "`null` must be a finite number"),
        ({"n_resamples": 10}, "at least 100"),
        ({"seed": -2}, "`seed`"),
        ({"clusters": [1, 2]}, "expected one per prompt"),
        ({"scores": []}, "empty"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        wild_bootstrap_test(**{"scores": [1.0, 0.0, 1.0], **options})


def test_text_and_fields() -> None:
    scores, labels = data(2)
    found = wild_bootstrap_test(scores, clusters=labels, n_resamples=199)
    assert found is not None
    assert found.to_dict()["n_clusters"] == len(SIZES)
    assert str(found).startswith(f"p={found.p_value:.3g} (wild cluster bootstrap, mean")
