"""What must hold for any scores: order, names of clusters, sign, shift and scale do not
matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from warehouse.stats import (
    cluster_robust,
    estimate_mean,
    interval_clopper_pearson,
    interval_jeffreys,
    interval_korn_graubard,
    interval_wilson,
    paired_difference,
    standard_error_clt,
    unpaired_difference,
)

repeatable = settings(deadline=None, derandomize=True)
METHODS = ("normal", "normal_eq4", "cr2_t", "wilson_bounded")


@dataclass(frozen=True)
class Run:
    """Scores in [0, 1] with clusters; a few distinct values, so that ties are common."""

    scores: NDArray[np.float64]
    clusters: list[int]


@st.composite
def runs(
    draw: st.DrawFn, grid: tuple[float, ...] = (0.0, 0.1, 1 / 3, 0.5, 0.9, 1.0)
) -> Run:
    n = draw(st.integers(2, 40))
    scores = draw(st.lists(st.sampled_from(grid), min_size=n, max_size=n))
    clusters = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    return Run(np.array(scores), clusters)


def zero_one_runs() -> st.SearchStrategy[Run]:
    return runs((0.0, 1.0))


def numbers(result: object) -> list[float]:
    """Every number of a result, None and text left out."""
    return [v for v in vars(result).values() if isinstance(v, float | int)]


def same(result: object, other: object) -> None:
    assert numbers(result) == pytest.approx(numbers(other), rel=1e-9, abs=1e-12)
    texts = [
        [v for v in vars(r).values() if isinstance(v, str | tuple)]
        for r in (result, other)
    ]
    assert texts[0] == texts[1]


@repeatable
@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_prompts_does_not_matter(run: Run, random: object) -> None:
    order = list(range(len(run.scores)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled, clusters = run.scores[order], [run.clusters[i] for i in order]
    other = run.scores[::-1].copy()
    same(estimate_mean(run.scores), estimate_mean(shuffled))
    same(
        estimate_mean(run.scores, clusters=run.clusters, bounds=(0, 1)),
        estimate_mean(shuffled, clusters=clusters, bounds=(0, 1)),
    )
    same(
        paired_difference(run.scores, other, clusters=run.clusters),
        paired_difference(shuffled, other[order], clusters=clusters),
    )


@repeatable
@given(runs())
@pytest.mark.rare
def test_the_names_of_clusters_do_not_matter(run: Run) -> None:
    names = [f"passage {7 - code}" for code in run.clusters]
    expected = estimate_mean(run.scores, clusters=np.array(run.clusters))
    same(estimate_mean(run.scores, clusters=names), expected)
    same(estimate_mean(run.scores, clusters=np.array(names)), expected)
    same(estimate_mean(run.scores, clusters=np.array(names, dtype=object)), expected)
    same(
        estimate_mean(run.scores, clusters=np.array(run.clusters, dtype=float)),
        expected,
    )


@repeatable
@given(runs())
def test_clusters_of_one_prompt_give_the_unclustered_error(run: Run) -> None:
    n = len(run.scores)
    robust, clt = cluster_robust(run.scores, range(n)), standard_error_clt(run.scores)
    assert robust is not None
    errors = (robust.se_clustered, robust.se_cr1, robust.se_cr2, robust.se_cr3)
    assert errors == pytest.approx((clt,) * 4, rel=1e-12)
    assert robust.degrees_of_freedom == pytest.approx(n - 1)
    assert robust.icc is None


@repeatable
@given(runs())
def test_bounds_between_the_errors(run: Run) -> None:
    robust = cluster_robust(run.scores, run.clusters)
    assume(robust is not None)
    assert robust is not None
    assert robust.se_cr0 <= robust.se_cr2 * (1 + 1e-12)
    assert robust.se_cr0 <= robust.se_clustered * (1 + 1e-12)
    assert 1 - 1e-9 <= robust.degrees_of_freedom <= robust.n_clusters - 1 + 1e-9


@repeatable
@given(runs(), st.floats(-1e3, 1e3), st.floats(0.01, 1e3))
def test_shift_moves_the_estimate_and_scale_stretches_the_errors(
    run: Run, shift: float, scale: float
) -> None:
    before = estimate_mean(run.scores, clusters=run.clusters, method="t")
    after = estimate_mean(scale * run.scores + shift, clusters=run.clusters, method="t")
    size = scale + abs(shift)
    assert after.estimate == pytest.approx(
        scale * before.estimate + shift, abs=1e-9 * size
    )
    for name in (
        "standard_error",
        "se_clt",
        "se_clustered",
        "se_cr0",
        "se_cr1",
        "se_cr3",
    ):
        old, new = getattr(before, name), getattr(after, name)
        assert (old is None) == (new is None)
        if old is not None:
            assert new == pytest.approx(scale * old, rel=1e-8, abs=1e-9 * size)


@repeatable
@given(runs(), st.sampled_from(METHODS))
def test_mirrored_scores_give_the_mirrored_interval(run: Run, method: str) -> None:
    options = {"clusters": run.clusters, "bounds": (0, 1), "method": method}
    one = estimate_mean(run.scores, **options)
    two = estimate_mean(1 - run.scores, **options)
    assert (one.ci_low is None) == (two.ci_low is None)
    if one.ci_low is not None and two.ci_high is not None:
        assert one.ci_low == pytest.approx(1 - two.ci_high, abs=1e-9)


@repeatable
@given(zero_one_runs(), st.sampled_from(["wilson", "clopper_pearson"]))
def test_korn_graubard_is_mirrored_ordered_and_within_bounds(
    run: Run, variant: str
) -> None:
    one = interval_korn_graubard(run.scores, run.clusters, variant=variant)  # type: ignore[arg-type]
    two = interval_korn_graubard(1 - run.scores, run.clusters, variant=variant)  # type: ignore[arg-type]
    assert (one is None) == (two is None)
    if one is None or two is None:
        assert len(set(run.clusters)) == 1
        return
    assert 0 <= one.low < one.high <= 1
    assert one.low <= run.scores.mean() <= one.high
    assert one.low == pytest.approx(1 - two.high, abs=1e-9)


@repeatable
@given(st.integers(1, 400), st.data(), st.floats(0.5, 0.999))
def test_binomial_intervals_hold_the_proportion(
    n: int, data: st.DataObject, level: float
) -> None:
    x = data.draw(st.integers(0, n))
    found = {
        f(x, n, level=level).method: f(x, n, level=level)
        for f in (interval_wilson, interval_clopper_pearson, interval_jeffreys)
    }
    for interval in found.values():
        assert 0 <= interval.low < interval.high <= 1
        assert interval.low <= x / n <= interval.high
    exact, jeffreys = found["clopper_pearson"], found["jeffreys"]
    assert exact.low <= jeffreys.low and jeffreys.high <= exact.high


@repeatable
@given(runs())
def test_swapping_the_runs_flips_the_sign_and_nothing_else(run: Run) -> None:
    a, b = run.scores, np.roll(run.scores, 1) ** 2
    for clusters in (None, run.clusters):
        one, two = (paired_difference(*p, clusters=clusters) for p in ((a, b), (b, a)))
        assert one.difference == pytest.approx(-two.difference, abs=1e-15)
        assert one.standard_error == two.standard_error
        assert one.p_value == two.p_value
        assert one.correlation == two.correlation
        assert one.ci_low == (
            None if two.ci_high is None else pytest.approx(-two.ci_high)
        )
    first, second = unpaired_difference(a, b), unpaired_difference(b, a)
    assert first.difference == -second.difference
    assert first.standard_error == second.standard_error
    assert (first.p_value or 1) == pytest.approx(second.p_value or 1, rel=1e-12)


@repeatable
@given(runs(), st.floats(-1, 1))
def test_a_shifted_run_differs_by_the_shift_without_error(
    run: Run, shift: float
) -> None:
    result = paired_difference(run.scores + shift, run.scores, clusters=run.clusters)
    assert result.difference == pytest.approx(shift, abs=1e-12)
    assert (
        result.standard_error is None
        and result.p_value is None
        and result.ci_low is None
    )
    assert result.se_eq7 == 0
    assert "all_differences_equal" in result.flags


@repeatable
@given(st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=20), st.integers(1, 5))
def test_no_finite_scores_give_nan_or_infinity(
    scores: list[float], clusters: int
) -> None:
    codes = [i % clusters for i in range(len(scores))]
    for options in (
        {},
        {"clusters": codes},
        {"clusters": codes, "bounds": (-1e100, 1e100)},
    ):
        result = estimate_mean(scores, **options)  # type: ignore[arg-type]
        assert np.all(np.isfinite(numbers(result)))
        assert (result.ci_low is None) == (result.ci_high is None)
        assert result.standard_error != 0 and result.reason
