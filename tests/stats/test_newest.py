"""The newest run against those before it: against every arrangement, scipy, and what
chance does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from warehouse.errors import StatisticsError
from warehouse.stats import newest_run_test


def arranged(table: np.ndarray) -> tuple[float, float]:
    """Both tails by writing out which value of each prompt the newest run might have
    had."""
    found = table[-1].sum()
    sums = np.array([sum(values) for values in product(*table.T.tolist())])
    return float((sums <= found + 1e-9).mean()), float((sums >= found - 1e-9).mean())


def test_two_runs_of_right_and_wrong_are_mcnemar() -> None:
    runs = [[1, 1, 1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1, 0]]
    test = newest_run_test(runs)
    assert test.method == "mcnemar_exact" and test.n_differ == 7
    assert test.p_value == pytest.approx(binomtest(1, 7).pvalue)
    assert test.difference == pytest.approx(-5 / 9)


@pytest.mark.parametrize("seed", range(4))
def test_several_runs_are_all_arrangements(seed: int) -> None:
    table = (np.random.default_rng(seed).random((4, 8)) < 0.5).astype(float)
    test = newest_run_test(table)
    assert test.method == "unequal_coins_exact"
    assert (test.p_lower, test.p_higher) == pytest.approx(arranged(table))


@pytest.mark.parametrize("shift", [-0.35, 0.5])
def test_scores_of_any_kind_are_near_all_arrangements(shift: float) -> None:
    table = np.random.default_rng(3).random((4, 9))
    table[-1] += shift
    test = newest_run_test(table)
    assert test.method == "permutation_saddlepoint"
    lower, upper = arranged(table)
    assert test.p_value == pytest.approx(2 * min(lower, upper), rel=0.15)


def test_all_right_is_no_more_than_it_is() -> None:
    """A paired t test has no error where all differences are nearly alike: p 3e-9 for
    what comes one night in 170."""
    table = np.ones((11, 100))
    for night in range(10):
        table[night, 10 * night : 10 * night + 5] = 0
    assert newest_run_test(table).p_value > 0.01


def test_one_changed_prompt_after_ten_equal_nights_is_one_in_eleven() -> None:
    table = np.full((11, 50), 0.25)
    table[-1, 7] = 0.9
    assert newest_run_test(table).p_value == pytest.approx(2 / 11)


def test_clusters_count_as_one() -> None:
    table = np.tile((np.arange(60) % 3 > 0).astype(float), (3, 1))
    table[-1, :20] = 0
    alone = newest_run_test(table)
    together = newest_run_test(table, clusters=np.arange(60) // 20)
    assert together.n_clusters == 3 and together.p_value == pytest.approx(2 / 3)
    assert alone.p_value < 1e-4


def test_prompts_that_only_one_side_has_say_nothing() -> None:
    nan = float("nan")
    test = newest_run_test([[1, 0, nan, nan], [nan, 1, 1, nan], [0, nan, nan, 1]])
    assert (test.n_prompts, test.n_differ, test.mean_before) == (1, 1, 1.0)
    assert newest_run_test([[1, nan], [nan, 1]]).method == "no_difference"


@pytest.mark.parametrize("runs", [[[1, 0]], [1, 0], [[1, float("inf")], [0, 0]]])
def test_other_shapes_are_refused(runs: list[object]) -> None:
    with pytest.raises(StatisticsError):
        newest_run_test(runs)


def test_size_is_held() -> None:
    """Scores of unequal prompts, five runs: p below .05 in about a twentieth of the
    data sets."""
    rng = np.random.default_rng(0)
    hard = rng.random(60)
    found = [
        newest_run_test(rng.normal(hard, 0.2, (5, 60))).p_value for _ in range(400)
    ]
    assert 0.025 < np.mean(np.array(found) <= 0.05) < 0.08
