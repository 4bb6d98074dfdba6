"""Which entries the highest figure of a published column can be told from."""

from __future__ import annotations

import re

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

from tests.support.boards import made, names, printed
from warehouse.stats.board.noise import unclear_leaders


def sentence(right: np.ndarray, n: int, marks: str = "") -> str:
    """What is said of one column of per cent of n items; empty for nothing."""
    figures = [f"{marks}{text}{marks}" for text in printed(100 * right / n, 4)]
    board = made({"score": figures}, names(len(right)), sizes={"score": n})
    return " ".join(unclear_leaders(board))


def told_apart(right: np.ndarray, n: int) -> int:
    """Entries that a test of two shares tells from the first, by Holm over all pairs."""
    order = np.argsort(-right, kind="stable")
    pairs = [*zip(*np.triu_indices(len(right), 1), strict=True)]
    p_values = []
    for one, other in pairs:
        both = right[order[[one, other]]]
        p_values.append(proportions_ztest(both, [n, n])[1])
    is_shown = multipletests(np.nan_to_num(p_values, nan=1.0), 0.05, "holm")[0]
    return sum(
        shown for (one, _), shown in zip(pairs, is_shown, strict=True) if not one
    )


@pytest.mark.parametrize("seed", range(6))
def test_as_many_are_told_from_the_first_as_statsmodels_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    right = rng.binomial(200, rng.uniform(0.4, 0.8, 7))
    said = sentence(right, 200)
    beside = len(right) - 1 - told_apart(right, 200)
    found = re.search(r"; (?:(\d+) others?|\S+) cannot be told", said)
    if beside:
        assert found and int(found[1] or 1) == beside
    else:
        assert not said


def test_a_clear_leader_is_not_spoken_of_and_marks_are_left_out() -> None:
    assert not sentence(np.array([190, 100, 90, 80]), 200)
    said = sentence(np.array([130, 128, 20, 10]), 200, "**")
    assert said == (
        "score: ash-a has the highest figure, 65.0000; birch-a cannot be told from it "
        "(n 200, Holm)."
    )


@pytest.mark.rare
def test_of_equal_models_one_is_rarely_clear() -> None:
    rng = np.random.default_rng(20_261_201)
    clear = sum(not sentence(rng.binomial(150, 0.6, 5), 150) for _ in range(400))
    assert clear <= 0.05 * 400
