"""Differences with the prompts fixed, and differences on several benchmarks as one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats import (
    paired_difference,
    paired_difference_prompts_fixed,
    sign_flip_test,
)
from warehouse.stats.core.draws import prompt_draws, summarise_draws
from warehouse.stats.suites.combined_differences import (
    BenchmarkDifference,
    combine_differences,
    contributions,
)

exactly = pytest.approx
repeatable = settings(deadline=None, derandomize=True, max_examples=50)


# --- prompts fixed ---------------------------------------------------------------------------


def drawn(
    rng: np.random.Generator, counts: list[int]
) -> tuple[NDArray[np.float64], list[int]]:
    prompts = [prompt for prompt, count in enumerate(counts) for _ in range(count)]
    return rng.normal(size=len(prompts)), prompts


def test_the_error_is_that_of_the_draws() -> None:
    """Σ (W_A/K_A + W_B/K_B)/n², with numpy's variances prompt by prompt."""
    rng = np.random.default_rng(0)
    sides = [drawn(rng, [3, 2, 5, 4]), drawn(rng, [2, 2, 2, 6])]
    squares = 0.0
    for values, prompts in sides:
        for prompt in range(4):
            own = values[np.array(prompts) == prompt]
            squares += own.var(ddof=1) / len(own)
    found = paired_difference_prompts_fixed(*(summarise_draws(*side) for side in sides))
    assert found.standard_error == exactly(squares**0.5 / 4, rel=1e-12)
    assert (found.estimand, found.n_clusters) == ("prompts_fixed", None)


def test_one_prompt_is_welchs_t() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.5, 1, 7), rng.normal(0, 2, 5)
    found = paired_difference_prompts_fixed(
        summarise_draws(a, [0] * 7), summarise_draws(b, [0] * 5)
    )
    expected = stats.ttest_ind(a, b, equal_var=False)
    ends = expected.confidence_interval(0.95)
    assert (found.statistic, found.p_value) == exactly(
        (expected.statistic, expected.pvalue)
    )
    assert (found.ci_low, found.ci_high) == exactly((ends.low, ends.high), rel=1e-10)


def test_a_run_with_one_draw_each_has_no_error_and_says_so() -> None:
    one = prompt_draws([0.0, 1.0], [np.nan, np.nan], 1)
    two = prompt_draws([0.5, 1.0], [0.5, 0.0], 2)
    found = paired_difference_prompts_fixed(one, two)
    assert (found.standard_error, found.p_value, found.ci_low) == (None, None, None)
    assert (
        found.flags == ("no_repeated_draws_a",)
        and "no prompt of a has two draws" in found.reason
    )
    some = prompt_draws([0.5, 1.0], [0.5, np.nan], [2, 1])
    found = paired_difference_prompts_fixed(some, two)
    assert found.flags == ("within_imputed_a", "few_varying_prompts")
    assert found.standard_error == exactly(((0.5 / 2 + 0.5 / 1) + 0.5 / 2) ** 0.5 / 2)
    same = prompt_draws([1.0, 0.0], [0.0, 0.0], 3)
    found = paired_difference_prompts_fixed(same, same)
    assert (found.standard_error, found.reason) == (None, "no draws differ")
    with pytest.raises(StatisticsError, match="`a` has 2 prompts, `b` 1"):
        paired_difference_prompts_fixed(two, prompt_draws([0.5], [0.5], 2))


def test_intervals_with_the_prompts_fixed_cover() -> None:
    rng = np.random.default_rng(2)
    p, q = rng.uniform(0.1, 0.9, 60), rng.uniform(0.1, 0.9, 60)
    hits, runs, k = 0, 600, 6
    for _ in range(runs):
        sides = []
        for rates in (p, q):
            means = rng.binomial(k, rates) / k
            sides.append(prompt_draws(means, means * (1 - means) * k / (k - 1), k))
        found = paired_difference_prompts_fixed(sides[0], sides[1])
        assert found.ci_low is not None and found.ci_high is not None
        hits += found.ci_low <= np.mean(p - q) <= found.ci_high
    assert hits / runs == exactly(0.95, abs=3 * (0.95 * 0.05 / runs) ** 0.5)


# --- several benchmarks ----------------------------------------------------------------------


def part(
    d: NDArray[np.float64], units: NDArray[np.int64], clustered: bool = False
) -> BenchmarkDifference:
    found = paired_difference(
        d, np.zeros(len(d)), clusters=units if clustered else None
    )
    return BenchmarkDifference(d, units, found.standard_error, found.degrees_of_freedom)


def test_two_benchmarks_without_a_common_prompt_are_welchs_sum() -> None:
    """Equal weights: half of the sum of two independent means, whose test is Welch's."""
    rng = np.random.default_rng(3)
    d, e = rng.normal(0.3, 1, 12), rng.normal(0.2, 2, 30)
    found = combine_differences([part(d, np.arange(12)), part(e, np.arange(100, 130))])
    expected = stats.ttest_ind(d, -e, equal_var=False)
    ends = expected.confidence_interval(0.95)
    assert found.difference == exactly((d.mean() + e.mean()) / 2)
    assert found.p_value == exactly(expected.pvalue, rel=1e-10)
    assert (found.ci_low, found.ci_high) == exactly(
        (ends.low / 2, ends.high / 2), rel=1e-10
    )
    assert (found.method, found.n_shared) == ("independent_parts_t", 0)


def test_weights_are_divided_by_their_sum() -> None:
    rng = np.random.default_rng(4)
    parts = [part(rng.normal(size=9), np.arange(9) + 10 * place) for place in range(3)]
    found = combine_differences(parts, weights=[2, 1, 1])
    errors = [part.error or 0.0 for part in parts]
    assert found.standard_error == exactly(
        (errors[0] ** 2 / 4 + errors[1] ** 2 / 16 + errors[2] ** 2 / 16) ** 0.5
    )


def test_benchmarks_of_the_same_prompts_are_paired_on_them() -> None:
    """Two scores of each prompt, equal weights: the error of the mean of their
    averages."""
    rng = np.random.default_rng(5)
    d = rng.normal(size=40)
    e = d + rng.normal(0, 0.1, 40)
    units = np.arange(40)
    found = combine_differences([part(d, units), part(e, units)])
    expected = paired_difference((d + e) / 2, np.zeros(40), bounds=(-9, 9))
    assert found.standard_error == exactly(expected.standard_error, rel=1e-10)
    assert (found.p_value, found.n_shared) == (exactly(expected.p_value, rel=1e-10), 40)
    apart = combine_differences([part(d, units), part(e, units + 40)])
    assert apart.standard_error is not None and found.standard_error is not None
    assert apart.standard_error < 0.8 * found.standard_error


@pytest.mark.rare
def test_the_error_of_partly_shared_prompts_is_that_of_simulation() -> None:
    """30 prompts in both of two benchmarks, 20 and 50 in one of them only."""
    rng, means, variances = np.random.default_rng(6), [], []
    for _ in range(3000):
        common = rng.normal(0, 1, 30)
        d = np.concatenate([common + rng.normal(0, 0.3, 30), rng.normal(0, 1, 20)])
        e = np.concatenate([common + rng.normal(0, 0.3, 30), rng.normal(0, 1, 50)])
        parts = [part(d, np.arange(50)), part(e, np.r_[:30, 60:110])]
        values, units = contributions(parts)
        means.append(values.sum())
        found = combine_differences(parts) if len(variances) < 300 else None
        if found is not None and found.standard_error is not None:
            variances.append(found.standard_error**2)
    assert np.mean(variances) == exactly(np.var(means), rel=0.12)


def test_clusters_that_several_benchmarks_share_are_units() -> None:
    rng = np.random.default_rng(7)
    labels = np.repeat(np.arange(10), 4)
    effect = rng.normal(size=10)[labels]
    d, e = effect + rng.normal(0, 0.2, 40), effect + rng.normal(0, 0.2, 40)
    found = combine_differences([part(d, labels, True), part(e, labels, True)])
    expected = paired_difference((d + e) / 2, np.zeros(40), clusters=labels)
    assert found.n_shared == 10
    assert found.standard_error == exactly(expected.standard_error, rel=0.02)
    assert found.degrees_of_freedom == exactly(9)


@repeatable
@given(st.integers(1, 4), st.integers(0, 10**6))
def test_one_benchmark_alone_and_the_order_of_several(n_parts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [
        part(rng.normal(size=n), rng.permutation(30)[:n])
        for n in rng.integers(2, 12, n_parts).tolist()
    ]
    one = combine_differences(parts[:1])
    assert one.standard_error == exactly(parts[0].error, rel=1e-10)
    assert one.degrees_of_freedom == exactly(parts[0].degrees_of_freedom)
    found, other = combine_differences(parts), combine_differences(parts[::-1])
    assert (found.difference, found.standard_error) == exactly(
        (other.difference, other.standard_error), rel=1e-9
    )
    values, units = contributions(parts)
    assert values.sum() == exactly(found.difference)
    assert sign_flip_test(values, units).n_clusters == len(set(units.tolist()))


def test_benchmarks_without_spread_or_error_are_told() -> None:
    varied = part(np.array([0.1, 0.5, -0.2]), np.arange(3))
    constant = BenchmarkDifference(np.zeros(5), np.arange(10, 15), 0.0, 4)
    found = combine_differences([varied, constant])
    assert varied.error is not None and found.standard_error == exactly(
        varied.error / 2
    )
    assert found.n_zero == 1
    single = BenchmarkDifference(np.array([1.0]), np.array([77]), None, None)
    found = combine_differences([varied, single])
    assert (found.standard_error, found.p_value) == (None, None)
    assert found.reason == "a benchmark has no standard error"
    found = combine_differences([constant, constant])
    assert (found.standard_error, found.reason) == (None, "the differences do not vary")
    assert found.difference == 0
    drawn = BenchmarkDifference(
        np.full(4, 0.5), np.arange(20, 24), 0.3, 6.0
    )  # its draws vary, the means do not
    assert combine_differences([drawn]).standard_error == exactly(0.3)
    with pytest.raises(StatisticsError, match="`parts` is empty"):
        combine_differences([])
    with pytest.raises(StatisticsError, match="`weights`"):
        combine_differences([varied], weights=[0.0])
    with pytest.raises(StatisticsError, match="`units` has 1 entries"):
        combine_differences(
            [BenchmarkDifference(np.zeros(2), np.zeros(1, int), None, None)]
        )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "same", [True, False], ids=["by question", "by names that mean nothing"]
)
def test_type_one_error_of_benchmarks_that_share_prompts(
    share: float, same: bool
) -> None:
    """At .05 of two equal models, by units of one question, and by equal names of other
    questions."""
    assert share_rejected(share, same, 20_000) <= 0.055


def share_rejected(share: float, same: bool, n_sets: int) -> float:
    """How often two models that are right by the same chance, question by question,
    differ at .05 over benchmarks of 120 and 90 prompts, of which a share of the second
    has the units of the first: the same questions, or others."""
    rng = np.random.default_rng(int(10 * share) + 100 * same)
    n, m = 120, 90
    shared = round(share * m)
    units = np.r_[np.arange(shared), np.arange(n, n + m - shared)]
    asked = units if same else np.arange(n, n + m)
    rejected = 0
    for _ in range(n_sets):
        right = rng.random(n + m)[:, None] > rng.random((n + m, 2))
        d = right[:, 0].astype(float) - right[:, 1]
        each = [(d[:n], np.arange(n)), (d[asked], units)]
        parts = [
            BenchmarkDifference(
                one, own, one.std(ddof=1) / len(one) ** 0.5, len(one) - 1.0
            )
            for one, own in each
        ]
        p = combine_differences(parts).p_value
        rejected += p is not None and p <= 0.05
    return rejected / n_sets


def test_ends_are_no_nearer_than_the_parts_own_together() -> None:
    random = np.random.default_rng(1)
    parts, halves = [], []
    for number in range(3):
        d = np.exp(random.normal(size=30)) - 1.5
        own = paired_difference(d, np.zeros(30))
        known = (
            own.standard_error,
            own.degrees_of_freedom,
            own.ci_low,
            own.ci_high,
            own.p_value,
        )
        parts.append(BenchmarkDifference(d, np.arange(30) + 100 * number, *known))
        halves.append(
            (own.difference - (own.ci_low or 0), (own.ci_high or 0) - own.difference)
        )
    found = combine_differences(parts)
    plain = combine_differences(
        [
            BenchmarkDifference(p.differences, p.units, p.error, p.degrees_of_freedom)
            for p in parts
        ]
    )
    below, above = np.sqrt((np.array(halves) ** 2).sum(axis=0)) / 3
    assert found.ci_low == pytest.approx(
        min(plain.ci_low or 0, found.difference - below)
    )
    assert found.ci_high == pytest.approx(
        max(plain.ci_high or 0, found.difference + above)
    )
    assert (found.p_value or 0) >= (plain.p_value or 0)
    alone = combine_differences(parts[:1])
    assert (alone.ci_low, alone.ci_high, alone.p_value) == (
        parts[0].low,
        parts[0].high,
        parts[0].p_value,
    )
    twice = combine_differences([parts[0], parts[0]])
    assert (twice.ci_low, twice.p_value) == (parts[0].low, parts[0].p_value)
