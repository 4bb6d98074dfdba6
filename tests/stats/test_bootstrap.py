"""Bootstrap intervals: scipy's on the same resamples, and distributions known exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import interval_bootstrap
from warehouse.stats.core.inputs import as_clusters
from warehouse.stats.core.results import Interval
from warehouse.stats.intervals.bootstrap import (
    Units,
    acceleration,
    mean_distribution,
    of_counts,
    replicates,
    units_of,
)

repeatable = settings(deadline=None, derandomize=True, max_examples=30)
KINDS = ("percentile", "bca")
Array = NDArray[Any]


def skewed(n: int, seed: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).gamma(0.7, size=n)


def scipy_ratio(top: Array, bottom: Array, kind: str, resamples: int, seed: int) -> Any:
    """scipy's interval of Σ top / Σ bottom over resampled units, on the generator of
    the seed."""

    def ratio(index: Array, axis: int = -1) -> Array:
        index = index.astype(int)
        return np.asarray(top[index].sum(axis=axis) / bottom[index].sum(axis=axis))

    return stats.bootstrap(
        (np.arange(len(top)),),
        ratio,
        method=kind,
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    ).confidence_interval


def ends(found: Interval | None) -> tuple[float, float]:
    assert found is not None
    return found.low, found.high


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "level"), [(2, 0.9), (7, 0.95), (40, 0.8), (200, 0.99)])
def test_the_mean_is_scipys_on_the_same_resamples(
    kind: Any, n: int, level: float
) -> None:
    scores = np.sort(skewed(n))  # units are drawn in order of size
    scores = (
        np.rint(scores * 1024) / 1024
    )  # sums are exact: scipy sees which means are tied
    ours = interval_bootstrap(scores, kind=kind, level=level, n_resamples=999, seed=5)
    theirs = stats.bootstrap(
        (scores,),
        np.mean,
        method=kind,
        n_resamples=999,
        confidence_level=level,
        rng=np.random.default_rng(5),
    ).confidence_interval
    assert ends(ours) == pytest.approx(tuple(theirs), rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_ratio_is_scipys_on_the_same_resamples(kind: Any) -> None:
    rng = np.random.default_rng(1)
    scores, weights = rng.normal(-2, 1, 60), rng.integers(5, 60, 60).astype(float)
    order = np.argsort(weights * (scores - np.average(scores, weights=weights)))
    scores, weights = scores[order], weights[order]
    ours = interval_bootstrap(
        scores, weights=weights, kind=kind, n_resamples=1999, seed=8
    )
    assert ends(ours) == pytest.approx(
        tuple(scipy_ratio(scores * weights, weights, kind, 1999, 8)), rel=1e-10
    )


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_are_drawn_whole(kind: Any) -> None:
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 25, 300)
    scores = rng.normal(size=300) + rng.normal(size=25)[labels]
    ours = interval_bootstrap(
        scores, clusters=labels, kind=kind, n_resamples=1999, seed=9
    )
    sums, sizes = np.bincount(labels, scores), np.bincount(labels)
    order = np.argsort(sums - scores.mean() * sizes)
    expected = scipy_ratio(sums[order], sizes[order], kind, 1999, 9)
    assert ends(ours) == pytest.approx(tuple(expected), rel=1e-10)


def test_counts_are_what_is_repeated() -> None:
    rng = np.random.default_rng(4)
    scores, weights = rng.normal(size=12), rng.random(12) + 0.1
    labels = as_clusters(rng.integers(0, 5, 12), 12)
    counts = rng.multinomial(labels.n, np.full(labels.n, 1 / labels.n), size=20)
    mean = float(scores.mean())
    found = of_counts(units_of(scores, mean, None, labels), counts)
    repeated = [np.repeat(scores, row[labels.codes]).mean() for row in counts]
    assert found == pytest.approx(repeated, rel=1e-12)

    ratio = float(np.average(scores, weights=weights))
    share = weights / weights.mean()
    units = units_of(ratio + share * (scores - ratio), ratio, share, None)
    counts = rng.multinomial(12, np.full(12, 1 / 12), size=20)
    expected = [np.average(scores, weights=row * weights) for row in counts]
    assert of_counts(units, counts) == pytest.approx(expected, rel=1e-12)


def test_resampled_proportions_are_binomial() -> None:
    scores = np.repeat([1.0, 0.0], [90, 210])
    drawn = replicates(units_of(scores, 0.3, None, None), 40_000, 6)
    right = np.rint(300 * drawn).astype(int)
    assert 300 * drawn == pytest.approx(right, abs=1e-9)
    edges = [0, 78, 84, 88, 91, 95, 101, 301]
    expected = 40_000 * np.diff(stats.binom.cdf(np.array(edges) - 1, 300, 0.3))
    assert (
        stats.chisquare(np.histogram(right, edges)[0], expected, sum_check=False).pvalue
        > 0.01
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", [(0.0, 0.2, 0.4, 0.6, 0.8, 1.0), None])
def test_every_way_of_drawing_has_the_same_distribution(kind: Any, values: Any) -> None:
    """Few distinct values (multinomial) and many (Fourier) against scipy's plain
    resampling."""
    rng = np.random.default_rng(10)
    scores = rng.choice(values, 400) if values else skewed(400)
    units = units_of(scores, float(scores.mean()), None, None)
    ours = ends(interval_bootstrap(scores, kind=kind, n_resamples=30_000))
    theirs = stats.bootstrap(
        (scores,), np.mean, method=kind, n_resamples=30_000, batch=500, rng=rng
    ).confidence_interval
    error = float(scores.std()) / len(scores) ** 0.5
    # an end of 30 000 resamples is known to sqrt(.025 .975/30000)/.058 = .016 errors
    assert ends_differ(ours, theirs) < 5 * 0.016 * 2**0.5 * error
    assert units.n == 400


def ends_differ(a: Any, b: Any) -> float:
    return float(np.abs(np.subtract(tuple(a), tuple(b))).max())


def convolved(values: Array, n: int) -> tuple[Array, Array]:
    """Support and distribution function of the sum of n draws of whole numbers,
    exactly."""
    once = np.bincount(values) / len(values)
    total, power = np.ones(1), once
    while n:
        if n % 2:
            total = np.convolve(total, power)
        power, n = np.convolve(power, power), n // 2
    return np.arange(len(total)), np.cumsum(total)


def test_the_fourier_distribution_is_the_convolution() -> None:
    values = np.floor(40 * skewed(200)).astype(int)
    n = len(values)
    support, exact = convolved(values, n)
    found = mean_distribution(values - values.mean())
    assert found is not None
    between = (
        support + 0.5
    ) / n - values.mean()  # a smooth curve meets the steps half way
    ours = np.interp(between, found.points, found.probabilities)
    assert ours == pytest.approx(exact, abs=2e-6)
    middle = found.quantiles(np.array([0.5]))
    assert abs(middle[0]) < 0.2 * values.std() / n**0.5


def test_a_distribution_with_steps_is_left_to_resampling() -> None:
    values = np.append(np.random.default_rng(0).normal(size=2000), 1e9)
    assert mean_distribution(values - values.mean()) is None
    values = np.repeat([0.0, 1.0], [990, 10])
    assert mean_distribution(values - values.mean()) is None


def samples() -> dict[str, Units]:
    rng = np.random.default_rng(12)
    many, few = skewed(60), rng.integers(0, 3, 60).astype(float)
    share = rng.random(60) + 0.5
    return {
        "index": units_of(many, float(many.mean()), None, None),
        "ratio": units_of(many, float(many.mean()), share, None),
        "counts": units_of(few, float(few.mean()), None, None),
    }


@pytest.mark.parametrize("way", samples())
def test_the_size_of_blocks_changes_nothing(way: str) -> None:
    units = samples()[way]
    whole = replicates(units, 501, 3)
    for block in (1, 61, 1000, 10**7):
        assert np.array_equal(replicates(units, 501, 3, block), whole)
    assert not np.array_equal(replicates(units, 501, 4), whole)


@repeatable
@given(
    st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.5, 7.0]), min_size=3, max_size=25),
    st.sampled_from(KINDS),
    st.integers(0, 9),
)
def test_order_shift_and_scale(scores: list[float], kind: Any, seed: int) -> None:
    plain = interval_bootstrap(scores, kind=kind, n_resamples=200, seed=seed)
    backwards = interval_bootstrap(scores[::-1], kind=kind, n_resamples=200, seed=seed)
    moved = interval_bootstrap(
        4 * np.array(scores) - 1, kind=kind, n_resamples=200, seed=seed
    )
    assert (
        (plain is None)
        == (len(set(scores)) == 1)
        == (moved is None)
        == (backwards is None)
    )
    if plain is not None:
        assert plain.low <= np.mean(scores) <= plain.high
        assert ends(backwards) == pytest.approx(ends(plain), abs=1e-9)
        assert ends(moved) == pytest.approx(
            [4 * end - 1 for end in ends(plain)], abs=1e-9
        )


def test_singleton_clusters_and_equal_weights_are_none() -> None:
    scores = skewed(30)
    plain = ends(interval_bootstrap(scores, kind="bca"))
    single = interval_bootstrap(scores, kind="bca", clusters=np.arange(30))
    weighted = interval_bootstrap(scores, kind="bca", weights=np.full(30, 2.5))
    assert ends(single) == pytest.approx(plain, rel=1e-12)
    assert ends(weighted) == pytest.approx(plain, rel=1e-12)


def test_the_acceleration_of_a_mean_is_its_skewness_over_six_roots() -> None:
    scores = skewed(50)
    units = units_of(scores, float(scores.mean()), None, None)
    assert acceleration(units) == pytest.approx(
        stats.skew(scores) / (6 * 50**0.5), rel=1e-10
    )
    assert acceleration(Units(0.0, np.zeros(3), np.ones(3))) == 0.0


def test_ends_go_through_the_link() -> None:
    scores, weights = -skewed(50), np.arange(1.0, 51)
    plain = interval_bootstrap(scores, weights=weights)
    linked = interval_bootstrap(scores, weights=weights, link="exp_neg")
    assert ends(linked) == pytest.approx(tuple(np.exp([-e for e in ends(plain)[::-1]])))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("scores", "clusters"), [([1, 1, 1], None), ([0.5], None), ([1, 0], ["a", "a"])]
)
def test_no_spread_gives_no_interval(scores: Any, clusters: Any, kind: Any) -> None:
    assert interval_bootstrap(scores, clusters=clusters, kind=kind) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "studentised"}, "unknown `kind` 'studentised'"),
        ({"n_resamples": 99}, "at least 100, found 99"),
        ({"n_resamples": 1000.5}, "whole number"),
        ({"seed": -1}, "`seed`"),
        ({"seed": 1.5}, "`seed`"),
        ({"level": 1.0}, "`level`"),
        ({"weights": [1, -1, 1]}, "below 0"),
        ({"link": "none"}, "unknown `link`"),
        ({"scores": [1, float("nan"), 0]}, "not finite"),
        ({"scores": []}, "empty"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        interval_bootstrap(**{"scores": [1, 0, 1], **options})


def test_memory_does_not_grow_with_resamples() -> None:
    """The largest temporary of 20 000 resamples of 3 000 units is a block, not 480 MB."""
    import tracemalloc

    scores, weights = skewed(3000), skewed(3000, 4) + 0.1
    tracemalloc.start()
    interval_bootstrap(scores, weights=weights, n_resamples=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
