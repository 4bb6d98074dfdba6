"""Bounded scores near a bound: how few they are in effect, and the interval at that
number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import (
    Interval,
    estimate_mean,
    interval_clopper_pearson,
    interval_clopper_pearson_effective,
)
from warehouse.stats.core.sample import Sample, build_sample, find_link
from warehouse.stats.intervals.clopper_pearson import (
    effective_n,
    heavy_tailed_df,
    sample_kurtosis,
)

repeatable = settings(deadline=None, derandomize=True, max_examples=50)
GRID = st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=5, max_size=40)


def described(scores: Any, clusters: Any = None, bounds: Any = (0, 1)) -> Sample:
    return build_sample(
        scores, clusters, None, find_link("identity"), bounds, None, None
    )


def ends(found: Interval | None) -> tuple[float, float]:
    assert found is not None
    return found.low, found.high


def test_kish_counts_units_by_weight() -> None:
    scores, clusters = [1, 0, 1, 1, 0, 0, 0, 1], list("aabbccdd")
    known = effective_n(described(scores, clusters))
    assert known.present == 3
    assert known.effective == pytest.approx(min(4**2 / (1 + 4 + 1), 4**2 / (1 + 4 + 1)))
    assert (known.units, known.size_cv) == (4, 0)
    plain = effective_n(described([0] * 9 + [1] * 3))
    assert (plain.present, plain.effective, plain.units) == (3, 3, 12)
    shifted = effective_n(described([20, 20, 60], bounds=(20, 100)))
    assert (shifted.present, shifted.effective) == (1, 1)


@pytest.mark.parametrize("seed", range(4))
def test_the_kurtosis_is_scipys(seed: int) -> None:
    values = np.random.default_rng(seed).gamma(0.3, size=4 + 10 * seed)
    assert sample_kurtosis(values) == pytest.approx(
        stats.kurtosis(values, bias=False), rel=1e-10
    )


def expected(scores: NDArray[Any], level: float) -> tuple[float, float]:
    """The interval without clusters, from its definition and scipy's distributions."""
    n, mean, error = len(scores), scores.mean(), stats.sem(scores)
    excess = max(0.0, float(stats.kurtosis(scores, bias=False)))
    df = min(n - 1, 2 / (2 / (n - 1) + excess / n))
    tail = (1 - level) / 2
    ratio = stats.norm.isf(tail) / stats.t.isf(tail, df)
    weight = min(side.sum() ** 2 / (side**2).sum() for side in (scores, 1 - scores))
    size = n if weight < 4 else max(n, mean * (1 - mean) / error**2 * ratio**2)
    x = size * mean
    return (
        float(stats.beta.ppf(tail, x, size - x + 1)),
        float(stats.beta.isf(tail, x + 1, size - x)),
    )


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("n", "a"), [(15, 0.2), (40, 0.05), (300, 0.02)])
def test_the_interval_is_its_definition(n: int, a: float, level: float) -> None:
    scores = np.random.default_rng(n).beta(a, 2, size=n)
    found = interval_clopper_pearson_effective(scores, level=level)
    assert ends(found) == pytest.approx(expected(scores, level), rel=1e-9)


def test_few_heavy_prompts_leave_few_degrees_of_freedom() -> None:
    scores = np.zeros(200)
    scores[:6] = 1
    sample = described(scores)
    df = heavy_tailed_df(sample)
    excess = float(stats.kurtosis(scores, bias=False))
    assert df == pytest.approx(2 / (2 / 199 + excess / 200)) and df < 15
    light = heavy_tailed_df(described(np.tile([0.0, 1.0], 50)))
    assert light == pytest.approx(99)  # light tails: as usual
    clustered = described(scores, np.repeat(np.arange(20), 10))
    found = heavy_tailed_df(clustered)
    assert found is not None and found < 3


@pytest.mark.parametrize("right", [0, 1, 3])
def test_next_to_nothing_known_is_binomial(right: int) -> None:
    """Fewer than four units off a bound: as many 0/1 scores as there are units."""
    scores = np.repeat([1.0, 0.0], [right, 30 - right])
    found = interval_clopper_pearson_effective(scores)
    assert ends(found) == pytest.approx(
        ends(interval_clopper_pearson(right, 30)), rel=1e-12
    )
    grouped = interval_clopper_pearson_effective(
        scores, clusters=np.repeat(np.arange(10), 3)
    )
    share = right / 3  # whole clusters are right, or none
    assert ends(grouped) == pytest.approx(
        ends(interval_clopper_pearson(share, 10)), rel=1e-12
    )


def test_four_units_off_a_bound_are_enough_for_their_error() -> None:
    scores = np.repeat([0.1, 0.0], [4, 26])
    found = ends(interval_clopper_pearson_effective(scores))
    assert found == pytest.approx(expected(scores, 0.95), rel=1e-9)
    assert found[1] < ends(interval_clopper_pearson(30 * scores.mean(), 30))[1]


@repeatable
@given(GRID)
def test_no_narrower_than_the_unbounded_error_allows(scores: list[float]) -> None:
    found = interval_clopper_pearson_effective(scores)
    if found is None:
        assert len(set(scores)) == 1 and scores[0] not in (0, 1)
        return
    mean = float(np.mean(scores))
    assert 0 <= found.low <= mean + 1e-12 and mean - 1e-12 <= found.high <= 1
    whole = ends(interval_clopper_pearson(mean * len(scores), len(scores)))
    assert whole[0] <= found.low + 1e-9 and found.high <= whole[1] + 1e-9


@repeatable
@given(GRID)
def test_scale_mirror_and_singletons(scores: list[float]) -> None:
    plain = interval_clopper_pearson_effective(scores)
    if plain is None:
        return
    hundred = interval_clopper_pearson_effective(
        100 * np.array(scores), bounds=(0, 100)
    )
    mirror = interval_clopper_pearson_effective(1 - np.array(scores))
    single = interval_clopper_pearson_effective(scores, clusters=range(len(scores)))
    assert ends(hundred) == pytest.approx([100 * end for end in ends(plain)], abs=1e-7)
    assert ends(mirror) == pytest.approx([1 - plain.high, 1 - plain.low], abs=1e-9)
    assert ends(single) == pytest.approx(ends(plain), abs=1e-9)


def test_all_at_a_bound_has_an_interval_and_no_bare_zero() -> None:
    found = estimate_mean([0.0] * 40, bounds=(0, 5), n_draws=4)
    exact = interval_clopper_pearson(0, 40)
    assert (found.ci_low, found.ci_high) == pytest.approx((0, 5 * exact.high))
    assert found.standard_error is None and "all_scores_equal" in found.flags
    assert interval_clopper_pearson_effective([0.4] * 40) is None
    assert interval_clopper_pearson_effective([0.4]) is None
    assert interval_clopper_pearson_effective([0.2, 0.4], clusters=[1, 1]) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": (0, None)}, "must both be finite"),
        ({"bounds": (0, 0.5)}, "outside the `bounds`"),
        ({"level": 0}, "`level`"),
        ({"clusters": [1]}, "expected one per prompt"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        interval_clopper_pearson_effective([0, 1, 1], **options)
