"""Tests against a margin where few prompts differ: exact sizes, closed forms, and what
t alone does there."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from warehouse.stats import (
    estimate_mean,
    interval_gaffke,
    paired_difference,
    unpaired_difference,
)
from warehouse.stats.paired.few_differ import FewDiffering
from warehouse.stats.paired.gate import p_of_constant, prompts_to_decide
from warehouse.stats.paired.margins import (
    careful_noninferiority,
    equivalence_p_values,
    paired_noninferiority,
)
from warehouse.stats.suites.combined_differences import (
    BenchmarkDifference,
    combine_differences,
)

MARGIN, ALPHA = 0.05, 0.05


def of_counts(n: int, lost: int, won: int) -> NDArray[np.float64]:
    return np.repeat([-1.0, 1.0, 0.0], [lost, won, n - lost - won])


@pytest.mark.parametrize(("n", "lost"), [(56, 1), (300, 3), (2000, 12), (5, 1)])
def test_losses_alone_are_the_binomial_test_and_clopper_pearson(
    n: int, lost: int
) -> None:
    few = FewDiffering(of_counts(n, lost, 0), np.arange(n), 1.0)
    assert few.p_above(-MARGIN) == pytest.approx(
        stats.binom.cdf(lost, n, MARGIN), rel=1e-9
    )
    assert few.lower_end(ALPHA) == pytest.approx(
        -stats.beta.ppf(1 - ALPHA, lost + 1, n - lost), abs=1e-9
    )


@pytest.mark.parametrize("n", [3, 40, 400])
def test_its_bound_is_gaffke_s_and_its_p_falls_to_alpha_there(n: int) -> None:
    d = np.random.default_rng(n).uniform(-0.4, 0.8, n)
    few = FewDiffering(d, np.arange(n), 1.0)
    ends = interval_gaffke(d, bounds=(-1.0, 1.0), level=1 - 2 * ALPHA)
    assert few.lower_end(ALPHA) == pytest.approx(ends.low, abs=1e-9)
    assert few.p_above(ends.low) == pytest.approx(ALPHA, rel=1e-6)
    assert few.p_below(ends.high) == pytest.approx(ALPHA, rel=1e-6)


def test_turned_round_and_scaled_it_says_the_same() -> None:
    d, clusters = of_counts(60, 4, 9), np.arange(60) // 7
    few, other = FewDiffering(d, clusters, 1.0), FewDiffering(-50 * d, clusters, 50.0)
    assert other.p_below(50 * MARGIN) == pytest.approx(few.p_above(-MARGIN), rel=1e-9)
    assert other.p_above(50 * MARGIN) == pytest.approx(few.p_below(-MARGIN), rel=1e-9)


def test_weights_are_those_of_exponential_times() -> None:
    """Nothing lost: P(Σ δ w_i E_i <= (1 − δ)·w·E) = Π 1/(1 + δ w_i/((1 − δ)·w)), w the
    weight of an unseen prompt."""
    weights = np.repeat([0.5 / 400, 0.5 / 40], [400, 40])
    for parts, unseen in (
        (np.repeat([0, 1], [400, 40]), 0.5 / 40),
        (None, float(weights @ weights)),
    ):
        few = FewDiffering(
            np.zeros(440), np.arange(440), 1.0, weights=weights, parts=parts
        )
        expected = np.prod(1 / (1 + MARGIN * weights / ((1 - MARGIN) * unseen)))
        assert few.p_above(-MARGIN) == pytest.approx(expected, rel=1e-8)
        assert few.reach == pytest.approx(440 * unseen)


def test_weights_of_whole_numbers_are_so_many_prompts_of_one_cluster() -> None:
    d, weights = of_counts(40, 2, 1), np.arange(40) % 3 + 1
    few = FewDiffering(d, np.arange(40), 1.0, weights=weights.astype(float))
    again = FewDiffering(np.repeat(d, weights), np.repeat(np.arange(40), weights), 1.0)
    assert few.p_above(-MARGIN) == pytest.approx(again.p_above(-MARGIN), rel=1e-12)
    assert few.size == pytest.approx(again.size)


def shown_equal(
    counts: tuple[int, ...], sizes: tuple[int, ...], margin: float
) -> tuple[bool, bool]:
    """Mean of benchmarks that lose so many prompts, by t alone, and with Gaffke's
    tests."""
    d = [of_counts(n, lost, 0) for n, lost in zip(sizes, counts, strict=True)]
    units = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    benchmarks = [
        BenchmarkDifference(
            own, unit, float(own.std(ddof=1)) / len(own) ** 0.5, len(own) - 1
        )
        for own, unit in zip(d, units, strict=True)
    ]
    mean = combine_differences(benchmarks)
    both = equivalence_p_values(
        mean.difference, mean.standard_error, mean.degrees_of_freedom, margin
    )
    if None in both:
        return False, False
    few = FewDiffering(
        np.concatenate(d),
        np.concatenate(units),
        1.0,
        weights=np.repeat(1 / np.array(sizes), sizes),
        parts=np.repeat(np.arange(len(sizes)), sizes),
    )
    p = max(p for p in both if p is not None)
    return p <= ALPHA, max(p, few.p_above(-margin), few.p_below(margin)) <= ALPHA


@pytest.mark.parametrize(
    ("sizes", "losses", "margin", "of_t"),
    [
        ((100, 100, 100), (0.02,) * 3, 0.02, 0.12),
        ((400, 100, 30), (0.02,) * 3, 0.02, 0.2),
        ((56, 56), (0.1, 0), 0.05, 0),
    ],
)
def test_a_mean_over_benchmarks_is_rarely_called_equal(
    sizes: tuple[int, ...], losses: tuple[float, ...], margin: float, of_t: float
) -> None:
    """Every sample with a chance of 1e-4: the true mean is one margin below."""
    wrong = np.zeros(2)
    ranges = [
        range(int(stats.binom.ppf(1 - 1e-4, n, loss)) + 1)
        for n, loss in zip(sizes, losses, strict=True)
    ]
    for counts in itertools.product(*ranges):
        likely = float(np.prod(stats.binom.pmf(counts, sizes, losses)))
        wrong += (
            likely * np.array(shown_equal(counts, sizes, margin))
            if likely > 1e-4
            else 0
        )
    assert wrong[0] >= of_t and wrong[1] <= ALPHA


def chance(n: int, counts: tuple[int, int], shares: tuple[float, float]) -> float:
    """Of so many lost and won prompts among n: the multinomial's."""
    (lost, won), rest = counts, 1 - sum(shares)
    found = math.comb(n, lost) * math.comb(n - lost, won) * rest ** (n - lost - won)
    return float(found * shares[0] ** lost * shares[1] ** won)


def passes(n: int, lost: int, won: int) -> tuple[bool, bool]:
    """By t alone, and as the gate does."""
    d = of_counts(n, lost, won)
    paired = paired_difference(
        np.maximum(d, 0), np.maximum(-d, 0), level=1 - 2 * ALPHA, bounds=(0, 1)
    )
    if not paired.standard_error:
        exact = p_of_constant(d[0], n, MARGIN, 1.0)[0] <= ALPHA
        return exact, exact
    test, few = (
        paired_noninferiority(paired, MARGIN),
        FewDiffering(d, np.arange(n), 1.0),
    )
    careful = careful_noninferiority(test, few) if few.are_few(paired.flags) else test
    assert careful.ci_low is not None and careful.noninferior == (
        careful.ci_low > -MARGIN
    )
    return bool(test.noninferior), bool(careful.noninferior)


@pytest.mark.parametrize(
    ("n", "won", "of_t"), [(56, 0.0, 0.16), (88, 0.0, 0.17), (88, 0.005, 0.13)]
)
def test_the_chance_of_a_false_pass_is_at_most_alpha(
    n: int, won: float, of_t: float
) -> None:
    """Every sample that has a chance of 1e-5 is gone through, the true loss being the
    margin."""
    sizes = np.zeros(2)
    for counts in [
        (losses, wins) for losses in range(9) for wins in range(5 if won else 1)
    ]:
        likely = chance(n, counts, (MARGIN + won, won))
        sizes += likely * np.array(passes(n, *counts)) if likely > 1e-5 else 0
    assert sizes[0] > of_t  # or this would test nothing
    assert sizes[1] <= ALPHA


def test_many_that_differ_alike_are_left_to_t() -> None:
    d = of_counts(200, 30, 32)
    assert not FewDiffering(d, np.arange(200), 1.0).are_few(())
    assert FewDiffering(d, np.arange(200), 1.0).are_few(("few_skewed_prompts",))
    assert FewDiffering(d, np.arange(200) // 25, 1.0).are_few(())
    assert not FewDiffering(d, np.arange(200), 1.0).are_few(
        ("few_prompts", "prompts_without_weight")
    )


def test_unequal_clusters_hold_where_t_does_not() -> None:
    """80 clusters of lognormal sizes, each lost whole by a chance of .05: t is fooled
    in a fifth of samples."""
    rng, found = np.random.default_rng(4), []
    for _ in range(40):
        sizes = np.maximum(1, rng.lognormal(1.5, 0.8, 80)).astype(int)
        clusters = np.repeat(np.arange(80), sizes)
        d = -(rng.random(80) < MARGIN).astype(float)[clusters]
        paired = paired_difference(
            d + 1, np.ones(len(d)), clusters=clusters, level=0.9, bounds=(0, 1)
        )
        if paired.standard_error:
            few = FewDiffering(d, clusters, 1.0)
            test = paired_noninferiority(paired, MARGIN)
            found.append(
                (
                    test.noninferior,
                    few.are_few(paired.flags)
                    and careful_noninferiority(test, few).noninferior,
                )
            )
    by_t, careful = np.mean(found, axis=0)
    assert by_t > 0.12 and careful <= 0.05


@pytest.mark.parametrize("sizes", [[100] + [1] * 200, [100, 100] + [1] * 100])
def test_a_cluster_with_a_third_of_the_prompts_speaks_for_itself(
    sizes: list[int],
) -> None:
    """Each lost whole by the chance of the margin: t passes where the large ones are
    not, as in most samples."""
    rng, found, margin = np.random.default_rng(1), [], 0.1
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(60):
        d = -(rng.random(len(sizes)) < margin).astype(float)[clusters]
        paired = paired_difference(
            d + 1, np.ones(len(d)), clusters=clusters, level=0.9, bounds=(0, 1)
        )
        test = paired_noninferiority(paired, margin)
        few = FewDiffering.where_t_is_not_enough(d, clusters, 1.0, flags=paired.flags)
        found.append(
            (
                test.noninferior,
                (
                    test if few is None else careful_noninferiority(test, few)
                ).noninferior,
            )
        )
    by_t, careful = np.mean(found, axis=0, dtype=float)
    assert by_t > 0.12 and careful <= 0.02


def test_clusters_of_alike_sizes_are_left_to_t() -> None:
    for sizes in ([10] * 15, list(range(3, 63, 3))):
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        assert not FewDiffering(
            of_counts(len(clusters), 20, 20), clusters, 1.0
        ).are_dominated


def test_the_prompts_planned_for_it_have_the_power() -> None:
    """A candidate that loses and wins one prompt in a hundred passes with .8, by
    binomials."""
    share = 0.01
    planned = prompts_to_decide(
        MARGIN, float(np.sqrt(2 * share / 100)), 100, 1, reach=1.0
    )
    by_t = prompts_to_decide(MARGIN, float(np.sqrt(2 * share / 100)), 100, 1)
    assert planned is not None and by_t is not None and planned > 1.5 * by_t

    def power(n: int) -> float:
        cells = [(k, m) for k in range(6) for m in range(6)]
        return sum(
            weight * passes(n, *cell)[1]
            for cell in cells
            if (weight := chance(n, cell, (share, share))) > 1e-4
        )

    assert power(planned) > 0.77 and power(by_t) < 0.5


@pytest.mark.parametrize(
    ("sizes", "right", "of_t"), [((100, 2000), 0.99, 0.36), ((30, 1000), 0.95, 0.2)]
)
def test_equal_models_without_common_prompts_are_rarely_told_apart(
    sizes: tuple[int, int], right: float, of_t: float
) -> None:
    """Exact sums over the wrong answers of both, by Welch's t and as `compare
    --unpaired` does."""
    wrong = np.zeros(2)
    ranges = [
        range(
            int(stats.binom.ppf(1e-4, n, 1 - right)),
            int(stats.binom.isf(1e-4, n, 1 - right)),
        )
        for n in sizes
    ]
    for counts in itertools.product(*ranges):
        likely = float(np.prod(stats.binom.pmf(counts, sizes, 1 - right)))
        if likely > 1e-4 and max(counts):
            a, b = (
                np.repeat([1.0, 0.0], [n - k, k])
                for n, k in zip(sizes, counts, strict=True)
            )
            found = unpaired_difference(a, b).p_value
            moments = [
                m for own in (a, b) for m in (own.mean(), own.std(ddof=1), len(own))
            ]
            by_t = stats.ttest_ind_from_stats(*moments, equal_var=False).pvalue
            wrong += likely * np.array(
                [by_t <= 0.05, found is not None and found <= 0.05]
            )
    assert wrong[0] > of_t and wrong[1] <= 0.05


@pytest.mark.parametrize("how", ["draws", "weights"])
def test_nor_are_they_with_several_draws_or_weights(how: str) -> None:
    """Equal models, .97 right, 30 and 1 000 prompts (100 and 2 000 with weights): by
    Welch's t some .25 are."""
    random, found = np.random.default_rng(5), np.zeros(2)
    sizes = (30, 1000) if how == "draws" else (100, 2000)
    for _ in range(100):
        runs = []
        for n in sizes:
            scores = (random.random(n) < 0.97).astype(float)
            own = (
                {"n_draws": 3}
                if how == "draws"
                else {"weights": random.lognormal(0, 1.5, n)}
            )
            runs.append(estimate_mean(scores, bounds=(0, 1), **own))
        result = unpaired_difference(*runs)
        if (
            result.statistic is not None
            and result.degrees_of_freedom is not None
            and result.p_value is not None
        ):
            by_t = 2 * stats.t.sf(abs(result.statistic), result.degrees_of_freedom)
            found += by_t <= 0.05, result.p_value <= 0.05
    assert found[0] >= 15 and found[1] <= 5
