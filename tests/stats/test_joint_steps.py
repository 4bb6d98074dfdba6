"""All pairs of scores without bounds: the joint bootstrap-t against its slow
definition, and what follows from it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from warehouse.stats import all_pairs, rank_models
from warehouse.stats.core.inputs import as_clusters
from warehouse.stats.intervals.bootstrap_t import resample_counts
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.multiple.all_pairs import AllPairs
from warehouse.stats.paired.joint_steps import N_JOINT, joint_steps
from warehouse.stats.paired.own_tests import hull_tests, with_own_tests

Floats = NDArray[np.float64]


def skewed(n: int, m: int, seed: int = 3) -> Floats:
    random = np.random.default_rng(seed)
    scores = np.exp(random.normal(size=(n, m)))
    scores[:, m // 2 :] = (
        1.6 + 0.2 * random.normal(size=(n, m - m // 2)) + 0.3 * np.arange(m - m // 2)
    )
    return scores


def labels(n: int, g: int) -> NDArray[np.int64]:
    random = np.random.default_rng(5)
    return np.concatenate([np.arange(g), random.integers(0, g, n - g)])


def pairs_of(scores: Floats, clusters: NDArray[np.int64] | None = None) -> AllPairs:
    plain = all_pairs(scores, clusters, n_resamples=199)
    groups = None if clusters is None else as_clusters(clusters, len(scores))
    return with_own_tests(plain, hull_tests(scores, groups, plain))


def slow(scores: Floats, units: NDArray[np.int64], seed: int) -> tuple[Floats, Floats]:
    """|T| of each pair and |t*| of each resample and pair, one at a time."""
    g = int(units.max()) + 1
    counts = resample_counts(g, seed, N_JOINT)
    observed, drawn = [], []
    for a, b in itertools.combinations(range(scores.shape[1]), 2):
        d = scores[:, a] - scores[:, b]
        size = np.bincount(units).astype(float)
        residual = np.bincount(units, weights=d - d.mean())
        observed.append(
            abs(d.mean()) / np.sqrt(g / (g - 1) * (residual**2).sum() / len(d) ** 2)
        )
        own = []
        for count in counts.astype(float):
            n = (count * size).sum()
            mean = (count * residual).sum() / n
            square = g / (g - 1) * (count * (residual - size * mean) ** 2).sum() / n**2
            own.append(abs(mean) / np.sqrt(square))
        drawn.append(own)
    return np.array(observed), np.array(drawn)


@pytest.mark.parametrize("g", [0, 15])
def test_the_steps_are_the_shares_of_resamples_by_their_definition(g: int) -> None:
    scores = skewed(40, 4)
    clusters = labels(40, g) if g else None
    pairs = all_pairs(scores, clusters, n_resamples=199, seed=2)
    found = joint_steps(
        scores, None if clusters is None else as_clusters(clusters, 40), pairs
    )
    assert found is not None and found.n_units == (g or 40)
    observed, drawn = slow(scores, np.arange(40) if clusters is None else clusters, 2)
    running, previous = np.zeros(N_JOINT), {}
    for pair in np.argsort(observed):
        running = np.maximum(running, drawn[pair])
        previous[pair] = (1 + (running >= observed[pair] * (1 - 1e-9)).sum()) / (
            N_JOINT + 1
        )
    expected, highest = np.empty(6), 0.0
    for pair in np.argsort(-observed):
        highest = max(highest, previous[pair])
        expected[pair] = highest
    assert found.p_step == pytest.approx(expected, abs=1e-12)
    assert found.critical_value(0.95) == pytest.approx(
        np.sort(drawn.max(axis=0))[379], rel=1e-9
    )
    of_first = drawn[pairs.first == 0].max(axis=0)
    assert found.critical_values(0.95)[0] == pytest.approx(
        np.sort(of_first)[379], rel=1e-9
    )


def test_neither_the_unit_of_scores_nor_the_order_of_models_counts() -> None:
    scores = skewed(120, 5)
    found, scaled = pairs_of(scores), pairs_of(1000 * scores)
    assert scaled.p_step_down == pytest.approx(found.p_step_down, abs=1e-12)
    assert scaled.simultaneous_low == pytest.approx(
        1000 * found.simultaneous_low, rel=1e-9
    )
    order = [3, 0, 4, 1, 2]
    turned = pairs_of(scores[:, order])
    assert turned.square("p_step_down") == pytest.approx(
        found.square("p_step_down")[np.ix_(order, order)], abs=1e-12, nan_ok=True
    )


def test_p_is_never_below_that_of_signs_of_resamples_and_of_the_pair_alone() -> None:
    scores = skewed(120, 5)
    signs = all_pairs(scores, n_resamples=199)
    found = pairs_of(scores)
    joint = joint_steps(scores, None, signs)
    assert joint is not None and not found.places_by_holm
    assert (found.p_step_down >= np.maximum(signs.p_step_down, joint.p_step)).all()
    assert (found.p_step_down >= found.p_value).all()
    assert (found.simultaneous_high >= signs.simultaneous_high - 1e-12).all()
    assert found.critical_value == max(signs.critical_value, joint.critical_value(0.95))


@pytest.mark.parametrize(("n", "g"), [(99, 0), (300, 60)])
def test_with_few_units_places_go_by_holm(n: int, g: int) -> None:
    found = pairs_of(skewed(n, 5), labels(n, g) if g else None)
    assert found.places_by_holm
    assert found.p_step_down == pytest.approx(found.p_holm)
    ranks = rank_models(found)
    assert ranks.rank_low == ranks.rank_low_joint == ranks.statistical_rank
    assert max(rank or 0 for rank in ranks.rank_high) == 5


def test_a_pair_with_next_to_no_common_prompt_leaves_the_others_their_test() -> None:
    scores = skewed(150, 4)
    scores[:147, 3] = np.nan
    found = pairs_of(scores)
    assert found.places_by_holm
    assert found.p_step_down == pytest.approx(holm(found.p_value))


@pytest.mark.parametrize("binary", [True, False])
def test_of_five_clusters_ranks_and_rank_sets_are_of_one_test(binary: bool) -> None:
    random = np.random.default_rng(1)
    rates = [0.2, 0.25, 0.3, 0.95]
    scores = (
        (random.random((200, 4)) < rates).astype(float)
        if binary
        else random.normal([0, 0.1, 0, 5], 1, (200, 4))
    )
    found = all_pairs(scores, np.arange(200) % 5, n_resamples=999)
    assert found.exact and found.n_resamples == 32 and found.places_by_holm
    assert found.p_step_down == pytest.approx(found.p_holm)
    ranks = rank_models(found)
    assert ranks.statistical_rank[3] == ranks.rank_low[3] == ranks.rank_high[3] == 1
    assert ranks.rank_low == ranks.statistical_rank
    six = all_pairs(scores, np.arange(200) % 6, n_resamples=999)
    assert not six.places_by_holm
