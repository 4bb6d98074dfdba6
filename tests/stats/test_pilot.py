"""Variance parts from stored runs: by hand, against simulation and the clustered error."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.errors import StatisticsError
from warehouse.stats import (
    cluster_robust,
    paired_difference,
    plan_from_one,
    plan_from_pilot,
    sample_size,
)
from warehouse.stats.power.power import standard_error

# goldens.md G5 and G6: draws per prompt
G5 = [[1, 1, 0], [0, 0], [1, 1, 1, 1], [1, 0, 0, 1]]
G6 = [[1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 1, 1]]


def summary(draws: list[list[int]]) -> tuple[list[float], list[float], list[int]]:
    """Mean, variance (ddof 1; NaN for one draw) and number of the draws of each prompt."""
    variances = [
        float(np.var(one, ddof=1)) if len(one) > 1 else math.nan for one in draws
    ]
    return (
        [float(np.mean(one)) for one in draws],
        variances,
        [len(one) for one in draws],
    )


def test_parts_by_hand_on_unequal_draws() -> None:
    a, b = summary(G5), summary(G6)
    found = plan_from_pilot(a[0], b[0], a[1], b[1], a[2], b[2])
    assert (found.sigma2_a, found.sigma2_b) == pytest.approx(
        (1 / 6, 0.208333333333), rel=1e-11
    )
    assert found.within_a == pytest.approx(0.0486111111111, rel=1e-11)  # G5: w
    assert found.within_b == pytest.approx(0.208333333333 / 4, rel=1e-11)
    differences = np.subtract(a[0], b[0])
    assert found.total == pytest.approx(np.var(differences, ddof=1), rel=1e-12)
    assert found.omega2_raw == pytest.approx(
        found.total - 0.0486111111111 - 0.0520833333333
    )
    assert found.omega2 == max(0.0, found.omega2_raw)
    assert "omega2_clipped" in found.flags
    assert found.parts.omega2 == 0.0


def test_one_run_stands_for_both() -> None:
    means, within, k = summary(G6)
    alone = plan_from_one(means, within, k)
    assert alone.omega2 == pytest.approx(2 * 0.0520833333333, rel=1e-11)  # G6: B
    alike = plan_from_one(means, within, k, correlation=0.6)
    assert alike.omega2 == pytest.approx(0.4 * alone.omega2, rel=1e-12)
    assert (alike.sigma2_a, alike.sigma2_b) == pytest.approx(
        (0.208333333333,) * 2, rel=1e-11
    )
    assert sample_size(0.1, alike.parts) < sample_size(0.1, alone.parts)


def test_at_the_pilots_own_size_the_plan_has_the_pilots_error() -> None:
    dice = np.random.default_rng(3)
    truth = dice.uniform(size=(2, 80))
    draws = dice.random((2, 80, 4)) < truth[..., None]
    means, within = draws.mean(axis=2), draws.var(axis=2, ddof=1)
    clusters = np.arange(80) // 7
    for groups in (None, clusters):
        pilot = plan_from_pilot(*means, *within, 4, 4, groups)
        error = paired_difference(*means, clusters=groups).standard_error
        assert pilot.omega2_raw is not None and pilot.omega2_raw > 0
        assert standard_error(80, pilot.parts, k_a=4) == pytest.approx(error, rel=1e-12)
    robust = cluster_robust(means[0] - means[1], clusters)
    assert robust is not None
    assert (pilot.n_clusters, pilot.cluster_size) == (12, 80 / 12)
    assert pilot.total == pytest.approx(80 * robust.se_cr2**2, rel=1e-12)


def test_singleton_clusters_are_no_clusters() -> None:
    a, b = summary(G5), summary(G6)
    plain = plan_from_pilot(a[0], b[0], a[1], b[1], a[2], b[2])
    single = plan_from_pilot(a[0], b[0], a[1], b[1], a[2], b[2], clusters=[1, 2, 3, 4])
    assert single.omega2_raw == pytest.approx(plain.omega2_raw, rel=1e-12)
    assert (single.n_clusters, single.cluster_size) == (4, 1.0)


def test_estimates_are_unbiased() -> None:
    """Scores of two models of known ω² = 1/6 and σ² = 1/6 (uniform difficulty, Miller
    §3.1)."""
    dice = np.random.default_rng(11)
    found = []
    for _ in range(400):
        truth = dice.uniform(size=(2, 60))
        draws = dice.random((2, 60, 3)) < truth[..., None]
        means, within = draws.mean(axis=2), draws.var(axis=2, ddof=1)
        pilot = plan_from_pilot(*means, *within, 3, 3)
        found.append((pilot.omega2_raw, pilot.sigma2_a, pilot.sigma2_b))
    estimates = np.array(found)
    errors = estimates.std(axis=0) / math.sqrt(len(estimates))
    assert np.all(np.abs(estimates.mean(axis=0) - 1 / 6) < 4 * errors)


def test_single_draws_give_the_total_and_say_so() -> None:
    pilot = plan_from_pilot([1, 0, 1, 1], [0, 0, 1, 0])
    assert (pilot.omega2, pilot.omega2_raw, pilot.sigma2_a) == (None, None, None)
    assert pilot.total == pytest.approx(np.var([1, 0, 0, 1], ddof=1))
    assert "parts_unknown" in pilot.flags
    assert "the draws of both runs have no known variance" in pilot.reason
    assert (pilot.parts.omega2, pilot.parts.sigma2_a) == (pilot.total, 0.0)


def test_single_draws_of_one_run_are_told_as_that() -> None:
    assert (
        "the draws of the run have no known variance" in plan_from_one([1, 0, 1]).reason
    )


def test_the_part_that_is_known_is_used() -> None:
    means, within, k = summary(G6)
    pilot = plan_from_pilot([1, 0, 1, 1], means, None, within, 1, k)
    assert (pilot.sigma2_a, pilot.omega2) == (None, None)
    assert pilot.sigma2_b == pytest.approx(0.208333333333)
    assert "the draws of run A have no" in pilot.reason
    assert pilot.parts.omega2 == pytest.approx(pilot.total - 0.0520833333333)
    at_pilot = standard_error(4, pilot.parts, k_b=4)
    assert at_pilot == pytest.approx(math.sqrt(pilot.total / 4), rel=1e-12)


def test_a_prompt_with_one_draw_takes_the_mean_of_the_others() -> None:
    found = plan_from_one([1, 0.5, 0.5], [math.nan, 0.5, 0.3], [1, 2, 2])
    assert "within_imputed" in found.flags
    assert found.sigma2_a == pytest.approx(0.4)
    assert found.within_a == pytest.approx((0.4 + 0.25 + 0.15) / 3)


def test_draws_without_a_known_variance_are_not_told_apart() -> None:
    found = plan_from_pilot([1, 0.5, 0], [0, 1, 0.2], draws_a=10, draws_b=10)
    assert (found.sigma2_a, found.draws_a, found.flags[0]) == (
        None,
        10.0,
        "parts_unknown",
    )


@given(st.permutations(range(12)))
def test_the_order_of_prompts_is_no_matter(order: list[int]) -> None:
    dice = np.random.default_rng(1)
    means, within = dice.random((2, 12)), dice.random((2, 12))
    clusters = np.arange(12) // 4
    one = plan_from_pilot(*means, *within, 2, 3, clusters)
    other = plan_from_pilot(*means[:, order], *within[:, order], 2, 3, clusters[order])
    assert other.omega2_raw == pytest.approx(one.omega2_raw, rel=1e-10)
    assert other.sigma2_a == pytest.approx(one.sigma2_a, rel=1e-12)


def test_swapping_the_runs_swaps_their_parts() -> None:
    a, b = summary(G5), summary(G6)
    one = plan_from_pilot(a[0], b[0], a[1], b[1], a[2], b[2])
    other = plan_from_pilot(b[0], a[0], b[1], a[1], b[2], a[2])
    assert (other.sigma2_a, other.sigma2_b) == (one.sigma2_b, one.sigma2_a)
    assert other.omega2_raw == pytest.approx(one.omega2_raw, rel=1e-12)


BAD = [
    (lambda: plan_from_pilot([1], [0]), "a pilot of one prompt"),
    (lambda: plan_from_pilot([1, 0], [0]), "`means_b` has 1 entries"),
    (lambda: plan_from_pilot([], []), "`means_a` is empty"),
    (lambda: plan_from_pilot([1, math.nan], [0, 1]), "not finite"),
    (
        lambda: plan_from_pilot([1, 0], [0, 1], clusters=[1, 1]),
        "a pilot of one cluster",
    ),
    (
        lambda: plan_from_pilot([1, 0], [0, 1], [0.1, math.inf], None, 2),
        "found inf at index 1",
    ),
    (
        lambda: plan_from_pilot([1, 0], [0, 1], [0.1, -0.1], None, 2),
        "found -0.1 at index 1",
    ),
    (
        lambda: plan_from_pilot([1, 0], [0, 1], [0.1], None, 2),
        "`within_a` has 1 entries",
    ),
    (lambda: plan_from_pilot([1, 0], [0, 1], draws_b=0), "`draws_b` must hold whole"),
    (
        lambda: plan_from_pilot([1, 0], [0, 1], draws_b=[1, 2, 3]),
        "`draws_b` must be one",
    ),
    (lambda: plan_from_one([1, 0], correlation=1.0), "`correlation`"),
    (lambda: plan_from_pilot([1, 0], [1, 0]).parts, "all variances are 0"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_what_cannot_be_meant_is_refused(call: object, message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        call()  # type: ignore[operator]
