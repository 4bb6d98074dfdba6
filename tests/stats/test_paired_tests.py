"""Sign flip, McNemar and Wilcoxon tests against other code and theory."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from warehouse.errors import StatisticsError
from warehouse.stats import (
    equivalence_test,
    mcnemar_test,
    noninferiority_test,
    sign_flip_test,
    wilcoxon_test,
)
from warehouse.stats.paired.sign_flip import CHUNK, count_random_patterns

repeatable = settings(deadline=None, derandomize=True, max_examples=50)
exactly = pytest.approx
G10 = [0.3, -0.1, 0.5, 0.2, 0.4, 0.0]
Floats = NDArray[np.float64]


def every_sign(differences: Floats) -> Floats:
    """Σ ±d for all patterns, the slow way."""
    signs = np.array(list(itertools.product((-1, 1), repeat=len(differences))))
    return signs @ differences


def tail(differences: Floats) -> float:
    sums = np.abs(every_sign(differences))
    return float(
        np.mean(sums >= abs(differences.sum()) - 1e-12 * np.abs(differences).sum())
    )


small = st.lists(
    st.sampled_from([-1, -0.6, -0.2, 0, 0.1, 0.2, 0.6, 1]), min_size=2, max_size=10
)


# --- sign flip -------------------------------------------------------------------------------


def test_g10() -> None:
    assert sign_flip_test(G10).p_value == 0.125
    assert sign_flip_test(G10).statistic == exactly(1.3)  # the sum
    clustered = sign_flip_test(G10, clusters=[0, 0, 1, 1, 2, 2])
    assert (clustered.p_value, clustered.n_units, clustered.method) == (
        0.25,
        3,
        "exact",
    )
    assert mcnemar_test([1] * 3 + [0] * 11, [0] * 3 + [1] * 11).p_value == exactly(
        0.057373046875
    )
    assert equivalence_test(G10, 0.5).p_value == exactly(0.0151214695506, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_an_exact_p_is_scipys(seed: int) -> None:
    d = np.random.default_rng(seed).normal(0.4, 1, 9)
    reference = stats.permutation_test(
        (d, np.zeros(9)),
        lambda a, b: np.sum(a - b),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=False,
    )
    assert sign_flip_test(d).p_value == exactly(reference.pvalue, rel=1e-10)


@repeatable
@given(small)
def test_an_exact_p_counts_ties(values: list[float]) -> None:
    assert sign_flip_test(values).p_value == exactly(
        tail(np.array(values, float)), rel=1e-10
    )


@pytest.mark.parametrize(
    ("b", "c"), [(3, 11), (40, 40), (0, 7), (150, 210), (1, 0), (900, 700)]
)
def test_differences_of_one_size_give_the_binomial(b: int, c: int) -> None:
    found = sign_flip_test([0.25] * b + [-0.25] * c + [0.0] * 5)
    expected = stats.binomtest(b, b + c).pvalue
    assert found.p_value == exactly(expected, rel=1e-10)
    assert (found.method, found.n_resamples, found.n_units) == ("binomial", 0, b + c)


def test_differences_of_few_sizes_follow_the_sum_of_their_binomials() -> None:
    """70 of size 1 and 250 of size 1/3, against the convolution of the two binomials."""
    d = np.repeat([1.0, -1.0, 1 / 3, -1 / 3], [41, 29, 130, 120])
    thirds = np.convolve(
        np.bincount(6 * np.arange(71), stats.binom.pmf(np.arange(71), 70, 0.5)),
        np.bincount(2 * np.arange(251), stats.binom.pmf(np.arange(251), 250, 0.5)),
    )
    sums = np.arange(len(thirds)) - 3 * 70 - 250
    expected = thirds[np.abs(sums) >= 46].sum()  # |Σ d| = 12 + 10/3
    found = sign_flip_test(d, n_resamples=200_000)
    assert found.method == "monte_carlo"
    assert found.p_value == exactly(expected, abs=4 * (expected / 200_000) ** 0.5)


def test_random_signs_approach_the_count_of_all() -> None:
    d = np.random.default_rng(5).normal(0.45, 1, 18)
    expected, found = tail(d), sign_flip_test(d, n_resamples=100_000)
    assert (found.method, found.n_resamples) == ("monte_carlo", 100_000)
    assert 0.01 < expected < 0.3
    assert found.p_value == exactly(expected, abs=4 * (expected / 100_000) ** 0.5)


def test_random_signs_are_fair_and_independent() -> None:
    """Powers of two: every sum of signs is told apart, and each bit of it is fair."""
    d = 2.0 ** np.arange(17)
    n = 40_000
    at_least = [count_random_patterns(d, t, n, 3) / n for t in (2.0**16, 2.0**15, 0.0)]
    # |Σ ±2^i| is uniform on the odd numbers below 2^17
    assert at_least == exactly([0.5, 0.75, 1.0], abs=4 * (0.25 / n) ** 0.5)


@pytest.mark.parametrize("n", [17, 64, 129, 1000])
def test_the_block_size_changes_nothing(n: int) -> None:
    d = np.random.default_rng(n).normal(size=n)
    resamples = CHUNK + 100
    counts = {
        count_random_patterns(d, 0.7 * n**0.5, resamples, 11, columns=columns)
        for columns in (1, 3, 64, 1000)
    }
    assert len(counts) == 1 and 0 < counts.pop() < resamples


def test_a_seed_gives_one_p_and_another_seed_another() -> None:
    d = np.random.default_rng(0).normal(0.1, 1, 50)
    assert sign_flip_test(d, seed=4) == sign_flip_test(d, seed=4)
    assert len({sign_flip_test(d, seed=seed).p_value for seed in range(6)}) > 1


def test_a_p_of_random_signs_is_never_0() -> None:
    found = sign_flip_test(np.random.default_rng(0).uniform(1, 2, 40), n_resamples=99)
    assert found.p_value == found.smallest_p == 0.01


@pytest.mark.parametrize("clustered", [False, True])
def test_too_few_units_say_that_005_is_out_of_reach(clustered: bool) -> None:
    d = np.arange(1.0, 6.0).repeat(3) if clustered else np.arange(1.0, 6.0)
    found = sign_flip_test(d, clusters=np.arange(5).repeat(3) if clustered else None)
    assert found.flags == ("too_few_units",)
    assert found.p_value == found.smallest_p == 0.0625
    assert "0.05 is out of reach" in found.reason
    assert sign_flip_test(np.arange(1.0, 7.0)).flags == ()


def test_differences_that_are_all_0_give_1() -> None:
    found = sign_flip_test([0.0, 0.0, 0.0])
    assert (found.p_value, found.flags) == (1.0, ("all_differences_zero",))
    cancelled = sign_flip_test(
        [0.1, 0.2, -0.3, 0.1, 0.2, -0.3], clusters=[0, 0, 0, 1, 1, 1]
    )
    assert (cancelled.p_value, cancelled.n_units) == (1.0, 0)  # rounding is no evidence


@repeatable
@given(small, st.floats(0.01, 1e3), st.integers(0, 3))
def test_sign_scale_order_and_zeros_change_nothing(
    values: list[float], scale: float, zeros: int
) -> None:
    d = np.array(values, float)
    p = sign_flip_test(d).p_value
    for other in (-d, scale * d, d[::-1], np.append(d, [0.0] * zeros)):
        assert sign_flip_test(other).p_value == exactly(p, rel=1e-12)


@pytest.mark.parametrize("n", [5, 16, 40, 300])
def test_clusters_of_one_prompt_are_no_clusters(n: int) -> None:
    d = np.random.default_rng(n).normal(0.1, 1, n)
    plain, singletons = sign_flip_test(d), sign_flip_test(d, clusters=np.arange(n))
    assert (plain.p_value, plain.method) == (singletons.p_value, singletons.method)


def test_clusters_flip_their_sums() -> None:
    rng = np.random.default_rng(2)
    d, labels = rng.normal(0.2, 1, 60), rng.integers(0, 9, 60)
    sums = np.bincount(labels, weights=d)
    assert sign_flip_test(d, clusters=labels).p_value == exactly(tail(sums), rel=1e-10)


def test_very_large_scores_do_not_overflow() -> None:
    d = np.random.default_rng(1).normal(0.3, 1, 12)
    assert sign_flip_test(1e300 * d).p_value == sign_flip_test(d).p_value


@pytest.mark.parametrize("kind", ["normal", "few sizes", "clusters"])
def test_true_nulls_are_rejected_as_often_as_said(kind: str) -> None:
    rng, runs = np.random.default_rng(0), 1000
    rejected = 0
    for seed in range(runs):
        d = rng.normal(size=40) if kind == "normal" else rng.integers(-2, 3, 320) / 2.0
        labels = np.arange(320) // 16 if kind == "clusters" else None
        rejected += (
            sign_flip_test(d, labels, n_resamples=199, seed=seed).p_value <= 0.05
        )
    assert rejected / runs == exactly(0.05, abs=3 * (0.05 * 0.95 / runs) ** 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"differences": []}, "`differences` is empty"),
        ({"differences": [1.0, float("nan")]}, "not finite"),
        ({"differences": [1.0], "n_resamples": 0}, "`n_resamples` must be at least 1"),
        ({"differences": [1.0], "seed": -1}, "`seed`"),
        ({"differences": [1.0], "seed": 1.5}, "`seed`"),
        ({"differences": [1.0, 2.0], "clusters": [1]}, "`clusters` has 1 entries"),
    ],
)
def test_what_is_no_sign_flip_test_is_refused(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(StatisticsError, match=message):
        sign_flip_test(**arguments)


# --- McNemar and Wilcoxon --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_mcnemar_is_statsmodels_and_the_sign_flip(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    table = [[np.sum((a == i) & (b == j)) for j in (1, 0)] for i in (1, 0)]
    found = mcnemar_test(a, b)
    assert found.p_value == exactly(mcnemar(table, exact=True).pvalue, rel=1e-10)
    assert found.p_value == exactly(sign_flip_test(a - b).p_value, rel=1e-12)
    assert (found.b, found.c) == (table[0][1], table[1][0])
    assert mcnemar_test(b, a).p_value == found.p_value


def test_mcnemar_without_a_disagreement_is_1() -> None:
    assert mcnemar_test([1, 0, 1], [1, 0, 1]).p_value == 1


def test_mcnemar_refuses_other_scores() -> None:
    with pytest.raises(StatisticsError, match="`b` holds scores other than 0 and 1"):
        mcnemar_test([1, 0], [0.5, 0])
    with pytest.raises(StatisticsError, match="`a` has 2 prompts, `b` 1"):
        mcnemar_test([1, 0], [0])


def test_an_exact_wilcoxon_counts_all_signs() -> None:
    d = np.random.default_rng(3).normal(0.4, 1, 10)
    ranks = stats.rankdata(np.abs(d)) * np.sign(d)
    found = wilcoxon_test(np.append(d, [0.0, 0.0]))
    assert found.p_value == exactly(tail(ranks), rel=1e-10)
    assert (found.method, found.n_zero, found.n_prompts) == ("exact", 2, 12)


def test_a_wilcoxon_with_ties_is_the_normal_one() -> None:
    d = np.random.default_rng(4).integers(-5, 7, 80) / 10
    found = wilcoxon_test(d)
    kept = d[d != 0]
    ranks = stats.rankdata(np.abs(np.round(kept, 3)))
    n, positive = len(kept), ranks[kept > 0].sum()
    ties = np.unique(ranks, return_counts=True)[1]
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48
    z = (positive - n * (n + 1) / 4) / variance**0.5
    assert found.p_value == exactly(2 * stats.norm.sf(abs(z)), rel=1e-10)
    assert found.method == "normal" and "ties" in found.reason


def test_a_wilcoxon_without_a_difference_has_no_p() -> None:
    found = wilcoxon_test([0.0, 0.0])
    assert (found.p_value, found.reason) == (None, "all differences are 0")


def test_rounding_makes_no_ranks() -> None:
    d = np.array([0.3, -0.3, 0.3, 0.6, -0.6, 0.6, 0.3])
    noisy = (
        d
        + np.array([1, -2, 3, 0, 2, -1, 0]) * 1e-17
        + np.array([0.1 + 0.2 - 0.3, *[0] * 6])
    )
    assert wilcoxon_test(noisy).p_value == wilcoxon_test(d).p_value


def test_results_are_one_line_and_a_dictionary() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for result in (
            sign_flip_test(G10),
            mcnemar_test([1, 0], [0, 0]),
            wilcoxon_test(G10),
            equivalence_test(G10, 1),
            noninferiority_test(G10, 1),
        ):
            assert "\n" not in str(result)
            assert result.to_dict()["p_value"] == result.p_value


# --- rates that were written with ten digits -------------------------------------------------


def sevenths(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Differences of shares of seven draws, as they are and from shares of ten digits."""
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 8, n) / 7, random.integers(0, 8, n) / 7
    return a - b, np.round(a, 10) - np.round(b, 10)


def test_ties_of_rounded_rates_are_found_in_the_exact_test() -> None:
    a, b = np.array([[7, 5, 6, 6, 1, 5, 0, 7], [2, 0, 1, 3, 2, 2, 6, 0]]) / 7
    rounded = np.round(a, 10) - np.round(b, 10)
    assert sign_flip_test(a - b).p_value == sign_flip_test(rounded).p_value == 0.1328125


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("clusters", [None, 8, 25])
def test_ties_of_rounded_rates_are_found_by_every_route(
    seed: int, clusters: int | None
) -> None:
    exact, rounded = sevenths(60, seed)
    labels = None if clusters is None else np.arange(60) % clusters
    one, other = (sign_flip_test(d, labels, n_resamples=999) for d in (exact, rounded))
    assert (one.p_value, one.n_units) == (other.p_value, other.n_units)
    wilcoxon = [wilcoxon_test(d) for d in (exact, rounded)]
    assert wilcoxon[0] == wilcoxon[1]
    many = [
        sign_flip_test(d, n_resamples=99) for d in sevenths(2000, seed)
    ]  # few sizes
    assert many[0].p_value == many[1].p_value


def test_one_size_of_rounded_rates_is_one_size() -> None:
    third = [
        round(1 / 3, 10),
        round(2 / 3, 10) - round(1 / 3, 10),
    ]  # ...3333 and ...3334
    found = sign_flip_test([*third * 20, *(-np.array(third) * 1)])
    assert found.method == "binomial"
    assert found.p_value == exactly(stats.binomtest(2, 42).pvalue, rel=1e-10)
