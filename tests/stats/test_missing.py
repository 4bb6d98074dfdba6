"""Bounds for missing outcomes: Imbens and Manski's interval and what it does at the
edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from warehouse.errors import StatisticsError
from warehouse.stats import cluster_robust, estimate_mean, missing_bounds
from warehouse.stats.intervals.missing_bounds import (
    METHODS,
    filled_bounds,
    imbens_manski_c,
)

repeatable = settings(deadline=None, derandomize=True)
SCORES = [1.0] * 30 + [0.0] * 10


@pytest.mark.parametrize(
    ("missing", "thetas", "c", "interval"),
    [
        (
            1,
            (0.731707317073, 0.756097560976),
            1.81523055342,
            (0.604540175219, 0.879350926655),
        ),
        (10, (0.6, 0.8), 1.64488616726, (0.484881948722, 0.893993495272)),
    ],
)
def test_g9(
    missing: int, thetas: tuple[float, float], c: float, interval: tuple[float, float]
) -> None:
    found = missing_bounds(SCORES, missing, method="imbens_manski")
    assert (found.theta_low, found.theta_high) == pytest.approx(thetas, rel=1e-11)
    assert found.c == pytest.approx(c, rel=1e-11)
    assert (found.ci_low, found.ci_high) == pytest.approx(interval, rel=1e-11)


@pytest.mark.parametrize("level", [0.3, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("gap", [0.0, 0.01, 0.5, 3.0])
def test_c_solves_the_equation(gap: float, level: float) -> None:
    def excess(c: float) -> float:
        return float(stats.norm.cdf(c + gap) - stats.norm.cdf(-c) - level)

    assert imbens_manski_c(gap, level) == pytest.approx(
        optimize.brentq(excess, -5, 5, xtol=1e-14), abs=1e-12
    )


def test_nothing_missing_is_the_normal_interval() -> None:
    found = missing_bounds(SCORES, 0, method="imbens_manski")
    plain = estimate_mean(SCORES, method="normal")
    assert found.theta_low == found.theta_high == plain.estimate
    assert (found.ci_low, found.ci_high) == pytest.approx(
        (plain.ci_low, plain.ci_high), abs=1e-12
    )


@pytest.mark.parametrize("method", METHODS)
def test_where_no_score_is_known_any_mean_is_possible(method: str) -> None:
    found = missing_bounds([], 5, bounds=(-1, 2), method=method)
    assert (found.theta_low, found.theta_high, found.ci_low, found.ci_high) == (
        -1,
        2,
        -1,
        2,
    )


def test_clusters_give_cr2_errors_over_all_prompts() -> None:
    scored, known = [1, 0, 1, 1, 0, 0], list("aabbcc")
    found = missing_bounds(
        scored,
        3,
        clusters=known,
        missing_clusters=["a", "d", "d"],
        bounds=(0, 1),
        method="imbens_manski",
    )
    every = [*known, "a", "d", "d"]
    low, high = (cluster_robust(scored + [end] * 3, every) for end in (0, 1))
    assert low is not None and high is not None
    assert (found.se_low, found.se_high) == (low.se_cr2, high.se_cr2)
    assert (found.n_clusters, found.n_prompts, found.n_scored) == (4, 9, 6)
    assert found.share_missing == pytest.approx(1 / 3)
    assert "CR2" in found.reason


@repeatable
@given(
    st.lists(st.floats(-2, 3), min_size=1, max_size=30),
    st.lists(st.floats(-2, 3), min_size=0, max_size=10),
)
def test_the_mean_lies_within_whatever_the_missing_were(
    scored: list[float], missing: list[float]
) -> None:
    found = missing_bounds(scored, len(missing), bounds=(-2, 3), method="imbens_manski")
    truth = float(np.mean([*scored, *missing]))
    assert found.theta_low - 1e-9 <= truth <= found.theta_high + 1e-9
    width = 5 * len(missing) / (len(scored) + len(missing))
    assert found.theta_high - found.theta_low == pytest.approx(width, abs=1e-9)
    if found.ci_low is not None and found.ci_high is not None:
        assert -2 <= found.ci_low <= found.theta_low
        assert found.theta_high <= found.ci_high <= 3
        assert found.c is not None and 1.6448 < found.c < 1.96


@repeatable
@given(
    st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=20),
    st.integers(1, 5),
)
def test_a_scale_changes_nothing_but_the_scale(
    scores: list[float], missing: int
) -> None:
    for method in METHODS:
        unit = missing_bounds(scores, missing, method=method)
        hundred = missing_bounds(
            100 * np.array(scores), missing, bounds=(0, 100), method=method
        )
        assert hundred.theta_low == pytest.approx(100 * unit.theta_low, abs=1e-9)
        assert (hundred.ci_low is None) == (unit.ci_low is None)
        if method == "imbens_manski" and unit.ci_low is not None:
            assert hundred.ci_low == pytest.approx(100 * unit.ci_low, abs=1e-9)


def test_coverage_of_the_worst_that_could_be_missing() -> None:
    """The wrong answers go missing: the true mean sits at the end of the identified
    set."""
    rng = np.random.default_rng(7)
    held = np.zeros(2)
    for _ in range(1000):
        answers = (rng.random(200) < 0.6).astype(float)
        hidden = int((rng.random(int((answers == 0).sum())) < 0.25).sum())
        scored = np.sort(answers)[hidden:]
        both = [missing_bounds(scored, hidden, method=method) for method in METHODS]
        held += [one.ci_low <= 0.6 <= one.ci_high for one in both]  # type: ignore[operator]
    assert (held / 1000 > 0.95 - 3 * (0.95 * 0.05 / 1000) ** 0.5).all()


def test_the_hull_is_made_of_the_default_intervals_of_the_filled_samples() -> None:
    found = missing_bounds(SCORES, 5)
    low, high = (estimate_mean(SCORES + [end] * 5) for end in (0.0, 1.0))
    assert (found.ci_low, found.ci_high) == (low.ci_low, high.ci_high)
    assert (found.method, found.c) == ("default_hull", None)
    assert found.flags == low.flags == ("few_prompts",)
    clusters, theirs = np.arange(40) % 12, np.arange(5) + 10
    found = missing_bounds(SCORES, 5, clusters=clusters, missing_clusters=theirs)
    every = [*clusters, *theirs]
    low, high = (
        estimate_mean(SCORES + [end] * 5, clusters=every) for end in (0.0, 1.0)
    )
    assert (found.ci_low, found.ci_high) == (low.ci_low, high.ci_high)
    assert "few_informative_clusters" in found.flags
    assert low.method in found.reason


@repeatable
@given(
    st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=2, max_size=25),
    st.integers(0, 6),
    st.booleans(),
    st.integers(0, 1000),
)
def test_the_hull_holds_the_default_interval_of_the_scored_and_both_means(
    scores: list[float], missing: int, grouped: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    own, theirs = random.integers(0, 4, len(scores)), random.integers(0, 6, missing)
    labels = {"clusters": own, "missing_clusters": theirs} if grouped else {}
    found = missing_bounds(scores, missing, **labels)
    alone = estimate_mean(scores, clusters=own if grouped else None, bounds=(0, 1))
    if found.ci_low is None or found.ci_high is None:
        assert found.reason
        return
    assert (
        0 <= found.ci_low <= found.theta_low <= found.theta_high <= found.ci_high <= 1
    )
    if alone.ci_low is not None and alone.ci_high is not None:
        assert found.ci_low <= alone.ci_low and alone.ci_high <= found.ci_high


def test_imbens_manski_says_where_it_is_too_short() -> None:
    flags = {
        (n, grouped): missing_bounds(
            [1.0, 0.0] * n,
            1,
            method="imbens_manski",
            **(
                {"clusters": np.arange(2 * n) % 50, "missing_clusters": [0]}
                if grouped
                else {}
            ),
        ).flags
        for n in (60, 120)
        for grouped in (False, True)
    }
    short = ("imbens_manski_too_short",)
    assert flags == {
        (60, False): short,
        (60, True): short,
        (120, False): (),
        (120, True): short,
    }


def test_few_unequal_clusters_and_three_percent_missing() -> None:
    """The condition in which Imbens and Manski's interval covers .79 to .90."""
    rng = np.random.default_rng(3)
    held, rates = np.zeros(2), np.array([0.35, 0.85])
    for _ in range(150):
        sizes = np.maximum(np.round(8 * np.exp(1.2 * rng.normal(size=12))), 2).astype(
            int
        )
        clusters = np.repeat(np.arange(12), sizes)
        answers = (rng.random(len(clusters)) < rng.choice(rates, 12)[clusters]).astype(
            float
        )
        wrong = np.flatnonzero(answers == 0)
        lost = np.zeros(len(answers), bool)
        lost[wrong[: round(0.03 * len(answers))]] = True
        both = [
            missing_bounds(
                answers[~lost],
                int(lost.sum()),
                clusters=clusters[~lost],
                missing_clusters=clusters[lost],
                method=method,
            )
            for method in METHODS
        ]
        held += [one.ci_low <= 0.6 <= one.ci_high for one in both]  # type: ignore[operator]
    hull, normal = held / 150
    assert hull > 0.94 > 0.93 > normal


def test_all_right_and_some_missing_reaches_the_bound() -> None:
    found = missing_bounds([1] * 20, 2)
    assert (found.ci_low, found.ci_high) == (
        estimate_mean([1] * 20 + [0] * 2).ci_low,
        1.0,
    )
    found = missing_bounds([1] * 20, 2, method="imbens_manski")
    assert (found.theta_high, found.se_high, found.ci_high) == (1.0, 0.0, 1.0)
    assert found.ci_low is not None and found.ci_low < 20 / 22


def test_nothing_known_is_everything_possible() -> None:
    found = missing_bounds([], 4, bounds=(0, 10))
    assert (found.theta_low, found.theta_high) == (0.0, 10.0)
    assert (found.ci_low, found.ci_high) == (0.0, 10.0)
    assert (found.n_scored, found.share_missing) == (0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"scored": [1, 1, 1], "n_missing": 0}, "all scores are equal"),
        ({"scored": [0.4, 0.4], "n_missing": 0}, "all scores are equal"),
        ({"scored": [1], "n_missing": 0}, "a single prompt"),
        ({"scored": [1, 0], "n_missing": 0, "clusters": [7, 7]}, "a single cluster"),
        (
            {"scored": [1, 0, 0, 1], "n_missing": 0, "clusters": [1, 1, 2, 2]},
            "error is 0",
        ),
    ],
)
def test_no_interval_is_a_reason(arguments: dict[str, Any], reason: str) -> None:
    found = missing_bounds(**arguments, method="imbens_manski")
    assert found.ci_low is None and found.ci_high is None and found.c is None
    assert reason in found.reason
    assert "no interval" in str(found)


def test_a_hull_without_one_of_its_intervals_is_none_with_the_reason() -> None:
    found = missing_bounds([1, 0], 0, clusters=[7, 7])
    assert (found.ci_low, found.ci_high) == (None, None)
    assert "a single cluster" in found.reason and "no interval" in str(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scored": [], "n_missing": 0}, "`scored` is empty"),
        ({"n_missing": -1}, "whole number of prompts, found -1"),
        ({"n_missing": 1.5}, "whole number of prompts, found 1.5"),
        ({"n_missing": float("nan")}, "whole number"),
        ({"bounds": (0, None)}, "must both be finite"),
        ({"bounds": (0, 0.5)}, "outside the `bounds`"),
        ({"level": 95}, "`level`"),
        ({"method": "manski"}, "default_hull, imbens_manski"),
        ({"scored": [1, float("nan")]}, "not finite"),
        ({"clusters": [1, 1, 2]}, "without `missing_clusters`"),
        ({"missing_clusters": [1]}, "needs `clusters`"),
        (
            {"clusters": [1, 1], "missing_clusters": [1]},
            "2 entries, expected one per prompt: 3",
        ),
        (
            {"clusters": [1, 1, 2], "missing_clusters": [1, 2]},
            "one per missing prompt: 1",
        ),
        ({"clusters": [1, 1, None], "missing_clusters": [1]}, "found None"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        missing_bounds(**{"scored": [1, 0, 1], "n_missing": 1, **arguments})


def test_text_and_fields() -> None:
    found = missing_bounds(SCORES, 1)
    assert (
        str(found)
        == "0.7317 to 0.7561 [0.5807, 0.8617] (95 % default_hull, 1 of 41 missing)"
    )
    assert found.to_dict()["n_missing"] == 1


def test_bounds_of_filled_means_need_high_above_low_only_where_draws_are_missing() -> (
    None
):
    found = filled_bounds([0.5, 0.0, 1.0], [0.5, 0.5, 1.0], 1)
    assert (found.theta_low, found.theta_high) == pytest.approx((0.5, 2 / 3))
    assert (found.n_missing, found.n_scored) == (1, 2)
    with pytest.raises(StatisticsError, match="`high` must be `low`"):
        filled_bounds([0.0, 0.0], [0.5, 0.5], 1)
    with pytest.raises(StatisticsError, match="never below"):
        filled_bounds([0.5, 0.0], [0.4, 0.5], 2)
    with pytest.raises(StatisticsError, match="high"):
        filled_bounds([0.5, 0.0], [0.5], 2)
