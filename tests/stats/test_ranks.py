"""Ranks, rank sets and letters against their definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from warehouse.stats.multiple.all_pairs import AllPairs, all_pairs
from warehouse.stats.multiple.ranks import letters, letters_in, rank_models


def some_pairs(
    higher: bool = True, n_resamples: int = 199, gaps: float = 0.0
) -> AllPairs:
    random = np.random.default_rng(3)
    scores = random.normal([0.0, 0.1, 0.5, 0.6, 2.0, -1.0], 1.0, size=(60, 6))
    scores[random.random(scores.shape) < gaps] = np.nan
    return all_pairs(scores, n_resamples=n_resamples, higher_is_better=higher)


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_ranks_and_sets_are_their_definitions(higher: bool, gaps: float) -> None:
    pairs = some_pairs(higher, gaps=gaps)
    ranks = rank_models(pairs)
    figures = list(
        zip(
            pairs.first,
            pairs.second,
            pairs.difference,
            pairs.error_max_t,
            pairs.p_holm,
            strict=True,
        )
    )
    for j in range(6):
        better = {"holm": 0, "own": 0, "joint": 0}
        worse = {"own": 0, "joint": 0}
        for a, b, difference, error, p in figures:
            if j not in (a, b):
                continue
            lead = (difference if j == a else -difference) * (1 if higher else -1)
            better["holm"] += p <= 0.05 and lead < 0
            for name, c in (
                ("own", pairs.critical_values[j]),
                ("joint", pairs.critical_value),
            ):
                better[name] += lead + c * error < 0
                worse[name] += lead - c * error > 0
        assert ranks.statistical_rank[j] == 1 + better["holm"]
        assert (ranks.rank_low[j], ranks.rank_high[j]) == (
            1 + better["own"],
            6 - worse["own"],
        )
        joint = (ranks.rank_low_joint[j], ranks.rank_high_joint[j])
        assert joint == (1 + better["joint"], 6 - worse["joint"])
    assert len(set(ranks.statistical_rank)) > 2  # the example separates something


def test_a_models_own_set_lies_in_the_joint_one() -> None:
    ranks = rank_models(some_pairs())
    for low, high, low_joint, high_joint in zip(
        ranks.rank_low,
        ranks.rank_high,
        ranks.rank_low_joint,
        ranks.rank_high_joint,
        strict=True,
    ):
        assert low_joint <= low <= high <= high_joint  # type: ignore[operator]


def test_reversing_the_direction_reverses_the_sets() -> None:
    up, down = rank_models(some_pairs(True)), rank_models(some_pairs(False))
    assert [7 - high for high in up.rank_high] == list(down.rank_low)  # type: ignore[operator]


def test_a_difference_that_ties_with_the_critical_value_separates_nothing() -> None:
    """Three prompts: most draws repeat the observed |T|, and rounding must not decide
    between them."""
    pairs = all_pairs(np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]), n_resamples=1999)
    ranks = rank_models(pairs)
    assert pairs.p_step_down[0] > 0.1
    assert pairs.simultaneous_low[0] <= 0.0
    assert [*zip(ranks.rank_low, ranks.rank_high, strict=True)] == [(1, 2), (1, 2)]


@pytest.mark.parametrize("level", [0.75, 0.8, 0.9, 0.95])
def test_a_p_of_just_one_less_the_level_separates(level: float) -> None:
    """Its interval does not hold 0; and 1 - 0.9 is a little less than 0.1."""
    pairs = replace(some_pairs(), level=level)
    p = np.full(len(pairs), round(1 - level, 9))
    sure, just, not_quite = (
        rank_models(replace(pairs, p_value=x, p_holm=x)) for x in (0 * p, p, p + 1e-6)
    )
    assert just == sure and set(just.statistical_rank) == {1, 2, 3, 4, 5, 6}
    assert set(not_quite.statistical_rank) == set(not_quite.rank_low) == {1}
    assert str(replace(pairs, p_holm=p)).startswith("6 models, 15 pairs: 15 differ")


def test_without_draws_there_are_no_sets_and_without_pairs_no_rank() -> None:
    assert set(rank_models(some_pairs(n_resamples=0)).rank_low) == {None}
    scores = np.random.default_rng(0).normal(size=(30, 3))
    scores[:, 1] = np.nan
    ranks = rank_models(all_pairs(scores, n_resamples=99))
    assert ranks.statistical_rank[1] is None
    assert ranks.rank_low[1] is None
    assert ranks.rank_low[0] is not None
    assert "statistically first" in str(ranks)
    assert ranks.to_dict()["statistical_rank"][1] is None


def test_equal_models_share_rank_and_letter() -> None:
    scores = np.repeat(np.random.default_rng(0).normal(size=(30, 1)), 3, axis=1)
    ranks = rank_models(all_pairs(scores, n_resamples=99))
    assert ranks.statistical_rank == (None, None, None)  # no pair could be tested
    assert ranks.groups == ("a", "a", "a")


@given(st.integers(1, 9), st.integers(0, 10_000), st.floats(0, 1))
@settings(max_examples=80, deadline=None)
def test_letters_say_exactly_who_differs(m: int, seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    half = np.triu(random.random((m, m)) < share, 1)
    differ: NDArray[np.bool_] = half | half.T
    found = letters(differ, random.permutation(m).tolist())
    assert all(found)
    for a in range(m):
        for b in range(m):
            if a != b:
                assert bool(set(found[a]) & set(found[b])) != differ[a, b]


def test_letters_start_with_the_best_and_go_beyond_the_alphabet() -> None:
    differ = ~np.eye(60, dtype=bool)
    found = letters(differ, list(range(59, -1, -1)))
    assert (found[59], found[58], found[0]) == ("a", "b", "(60)")
    assert len(set(found)) == 60


def test_letters_beyond_the_alphabet_are_told_apart() -> None:
    displays = letters(
        np.triu(np.ones((60, 60), dtype=bool), 2)
        | np.tril(np.ones((60, 60), dtype=bool), -2)
    )
    shared = [
        [bool({*letters_in(a)} & {*letters_in(b)}) for b in displays] for a in displays
    ]
    assert np.array_equal(shared, abs(np.subtract.outer(range(60), range(60))) < 2)


def test_a_rank_set_covers_the_true_rank() -> None:
    true = np.array([0.0, 0.0, 0.15, 0.3, 0.3])
    low, high = np.array([4, 4, 3, 1, 1]), np.array([5, 5, 3, 2, 2])
    missed = 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        scores = random.normal(size=(80, 1)) + random.normal(true, 0.7, size=(80, 5))
        ranks = rank_models(all_pairs(scores, n_resamples=99, seed=seed))
        inside = (np.array(ranks.rank_low_joint) <= low) & (
            np.array(ranks.rank_high_joint) >= high
        )
        missed += not inside.all()
    assert missed / 150 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)
