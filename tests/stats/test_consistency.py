"""S(consistency), semantic sets and intervals of P(correct), against scipy and
statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy
from statsmodels.stats.proportion import proportion_confint

from warehouse.errors import StatisticsError
from warehouse.stats import proportion_intervals, semantic_consistency


def test_the_golden_consistency() -> None:
    found = semantic_consistency([0, 0, 0, 0], [0, 0, 1, 2], 1)
    assert found.consistency[0] == pytest.approx(-1.03972077084, abs=5e-12)  # G14
    assert (found.n_sets[0], found.n_generations[0], found.majority_share[0]) == (
        3,
        4,
        0.5,
    )


@given(st.lists(st.lists(st.integers(0, 6), max_size=12), min_size=1, max_size=8))
def test_consistency_is_negative_entropy(answers: list[list[int]]) -> None:
    prompts = [prompt for prompt, given in enumerate(answers) for _ in given]
    sets = [one for given in answers for one in given]
    found = semantic_consistency(prompts, sets, len(answers))
    for prompt, given_sets in enumerate(answers):
        counts = np.bincount(given_sets) if given_sets else np.array([])
        if not given_sets:
            assert (
                np.isnan(found.consistency[prompt])
                and found.representative[prompt] == -1
            )
            assert np.isnan(found.majority_share[prompt])
            continue
        assert found.consistency[prompt] == pytest.approx(-entropy(counts), abs=1e-12)
        assert found.n_sets[prompt] == np.count_nonzero(counts)
        assert found.majority_share[prompt] == pytest.approx(
            counts.max() / counts.sum()
        )
        largest = [one for one in given_sets if counts[one] == counts.max()][0]
        start = prompts.index(prompt)
        assert found.representative[prompt] == start + given_sets.index(largest)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.randoms())
def test_neither_order_nor_names_of_sets_matter(
    sets: list[int], dice: st.DataObject
) -> None:
    shuffled = [7 - one for one in sets]
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    one = semantic_consistency([0] * len(sets), sets, 1)
    other = semantic_consistency([0] * len(sets), shuffled, 1)
    assert one.consistency[0] == pytest.approx(other.consistency[0], abs=1e-12)
    assert one.n_sets[0] == other.n_sets[0]


def test_the_bounds_of_consistency() -> None:
    alike = semantic_consistency([0] * 8, [3] * 8, 1)
    apart = semantic_consistency([0] * 8, range(8), 1)
    assert alike.consistency[0] == 0 and not np.signbit(alike.consistency[0] + 0.0)
    assert apart.consistency[0] == pytest.approx(-np.log(8), abs=1e-12)


def test_eight_generations_in_two_sets_are_told_apart() -> None:
    """The example of appendix E: 1 + 7 and 4 + 4 have as many sets and differ in S."""
    found = semantic_consistency(
        [0] * 8 + [1] * 8, [0] + [1] * 7 + [0] * 4 + [1] * 4, 2
    )
    assert found.n_sets.tolist() == [2, 2]
    assert found.consistency[0] > found.consistency[1]


@pytest.mark.parametrize(
    ("method", "theirs"),
    [("wilson", "wilson"), ("jeffreys", "jeffreys"), ("clopper_pearson", "beta")],
)
def test_intervals_are_those_of_statsmodels(method: str, theirs: str) -> None:
    successes = np.array([0, 1, 3, 5, 9, 10, 5, 270])
    draws = np.array([10, 10, 10, 10, 10, 10, 5, 300])
    low, high = proportion_intervals(successes, draws, level=0.9, method=method)
    expected = proportion_confint(successes, draws, alpha=0.1, method=theirs)
    inner = (successes > 0) & (
        successes < draws
    )  # Jeffreys at the ends is by rule 0 and 1
    assert low[inner] == pytest.approx(expected[0][inner], abs=1e-10)
    assert high[inner] == pytest.approx(expected[1][inner], abs=1e-10)
    assert (low[0], high[5]) == (0, 1)


def test_mistakes_are_named() -> None:
    with pytest.raises(StatisticsError, match="sets"):
        semantic_consistency([0, 0], [1], 1)
    with pytest.raises(StatisticsError, match="prompts"):
        semantic_consistency([0, 2], [1, 1], 2)
    with pytest.raises(StatisticsError, match="wilson, jeffreys"):
        proportion_intervals([1], [2], method="wald")
    with pytest.raises(StatisticsError):
        proportion_intervals([3], [2])
