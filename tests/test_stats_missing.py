"""Bounds for missing outcomes: Imbens and Manski's interval and what it does at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from warehouse.errors import StatisticsError
from warehouse.stats import cluster_robust, estimate_mean, missing_bounds
from warehouse.stats.missing import filled_bounds, imbens_manski_c

repeatable = settings(deadline=None, derandomize=True)
SCORES = [1.0] * 30 + [0.0] * 10


@pytest.mark.parametrize(
    ("missing", "thetas", "c", "interval"),
    [
        (1, (0.731707317073, 0.756097560976), 1.81523055342, (0.604540175219, 0.879350926655)),
        (10, (0.6, 0.8), 1.64488616726, (0.484881948722, 0.893993495272)),
    ],
)
def test_g9(
    missing: int, thetas: tuple[float, float], c: float, interval: tuple[float, float]
) -> None:
    found = missing_bounds(SCORES, missing)
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
    found, plain = missing_bounds(SCORES, 0), estimate_mean(SCORES, method="normal")
    assert found.theta_low == found.theta_high == plain.estimate
    assert (found.ci_low, found.ci_high) == pytest.approx((plain.ci_low, plain.ci_high), abs=1e-12)


def test_clusters_give_cr2_errors_over_all_prompts() -> None:
    scored, known = [1, 0, 1, 1, 0, 0], list("aabbcc")
    found = missing_bounds(
        scored, 3, clusters=known, missing_clusters=["a", "d", "d"], bounds=(0, 1)
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
    found = missing_bounds(scored, len(missing), bounds=(-2, 3))
    truth = float(np.mean([*scored, *missing]))
    assert found.theta_low - 1e-9 <= truth <= found.theta_high + 1e-9
    width = 5 * len(missing) / (len(scored) + len(missing))
    assert found.theta_high - found.theta_low == pytest.approx(width, abs=1e-9)
    if found.ci_low is not None and found.ci_high is not None:
        assert -2 <= found.ci_low <= found.theta_low
        assert found.theta_high <= found.ci_high <= 3
        assert found.c is not None and 1.6448 < found.c < 1.96


@repeatable
@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=20), st.integers(1, 5))
def test_a_scale_changes_nothing_but_the_scale(scores: list[float], missing: int) -> None:
    unit = missing_bounds(scores, missing)
    hundred = missing_bounds(100 * np.array(scores), missing, bounds=(0, 100))
    assert hundred.theta_low == pytest.approx(100 * unit.theta_low, abs=1e-9)
    assert (hundred.ci_low is None) == (unit.ci_low is None)
    if unit.ci_low is not None:
        assert hundred.ci_low == pytest.approx(100 * unit.ci_low, abs=1e-9)


def test_coverage_of_the_worst_that_could_be_missing() -> None:
    """The wrong answers go missing: the true mean sits at the end of the identified set."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(1000):
        answers = (rng.random(200) < 0.6).astype(float)
        hidden = int((rng.random(int((answers == 0).sum())) < 0.25).sum())
        scored = np.sort(answers)[hidden:]
        found = missing_bounds(scored, hidden)
        assert found.ci_low is not None and found.ci_high is not None
        held += found.ci_low <= 0.6 <= found.ci_high
    assert held / 1000 > 0.95 - 3 * (0.95 * 0.05 / 1000) ** 0.5


def test_all_right_and_some_missing_reaches_the_bound() -> None:
    found = missing_bounds([1] * 20, 2)
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
        ({"scored": [1, 0, 0, 1], "n_missing": 0, "clusters": [1, 1, 2, 2]}, "error is 0"),
    ],
)
def test_no_interval_is_a_reason(arguments: dict[str, Any], reason: str) -> None:
    found = missing_bounds(**arguments)
    assert found.ci_low is None and found.ci_high is None and found.c is None
    assert reason in found.reason
    assert "no interval" in str(found)


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
        ({"scored": [1, float("nan")]}, "not finite"),
        ({"clusters": [1, 1, 2]}, "without `missing_clusters`"),
        ({"missing_clusters": [1]}, "needs `clusters`"),
        ({"clusters": [1, 1], "missing_clusters": [1]}, "2 entries, expected one per prompt: 3"),
        ({"clusters": [1, 1, 2], "missing_clusters": [1, 2]}, "one per missing prompt: 1"),
        ({"clusters": [1, 1, None], "missing_clusters": [1]}, "found None"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        missing_bounds(**{"scored": [1, 0, 1], "n_missing": 1, **arguments})


def test_text_and_fields() -> None:
    found = missing_bounds(SCORES, 1)
    assert str(found) == "0.7317 to 0.7561 [0.6045, 0.8794] (95 % imbens_manski, 1 of 41 missing)"
    assert found.to_dict()["n_missing"] == 1


def test_bounds_of_filled_means_need_high_above_low_only_where_draws_are_missing() -> None:
    found = filled_bounds([0.5, 0.0, 1.0], [0.5, 0.5, 1.0], 1)
    assert (found.theta_low, found.theta_high) == pytest.approx((0.5, 2 / 3))
    assert (found.n_missing, found.n_scored) == (1, 2)
    with pytest.raises(StatisticsError, match="`high` must be `low`"):
        filled_bounds([0.0, 0.0], [0.5, 0.5], 1)
    with pytest.raises(StatisticsError, match="never below"):
        filled_bounds([0.5, 0.0], [0.4, 0.5], 2)
    with pytest.raises(StatisticsError, match="high"):
        filled_bounds([0.5, 0.0], [0.5], 2)
