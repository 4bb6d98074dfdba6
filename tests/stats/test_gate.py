"""Verdicts of the release gate, against scipy, statsmodels and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.support.statsmodels import adjusted
from warehouse.errors import StatisticsError
from warehouse.stats.paired.gate import decide, p_of_constant, prompts_to_decide

P = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(P, st.sampled_from([0.01, 0.05, 0.2]))
def test_both_families_are_adjusted_by_holm(
    p_values: list[float], alpha: float
) -> None:
    found = decide([(p, 1 - p) for p in p_values], alpha=alpha)
    for given_p, ours in (
        (p_values, found.p_pass),
        (1 - np.array(p_values), found.p_fail),
    ):
        expected = adjusted(given_p, "holm")
        assert ours == pytest.approx(list(expected), abs=1e-12)
    for verdict, p_pass, p_fail in zip(
        found.each, found.p_pass, found.p_fail, strict=True
    ):
        assert p_pass is not None and p_fail is not None
        most = alpha + 1e-12  # at most alpha, whatever rounding does to 1 - p
        assert verdict == (
            "pass" if p_pass <= most else "fail" if p_fail <= most else "undecided"
        )
    expected_all = "fail" if "fail" in found.each else "undecided"
    assert found.verdict == ("pass" if set(found.each) == {"pass"} else expected_all)


def test_what_was_not_tested_is_undecided_and_counts_for_nobody() -> None:
    found = decide([(None, None), (0.04, 0.96)])
    assert found.each == ("undecided", "pass") and found.verdict == "undecided"
    assert found.p_pass == (None, 0.04) and found.p_fail == (None, 0.96)


@given(st.integers(1, 2000), st.floats(1e-9, 1), st.floats(0.5, 100))
def test_no_loss_is_the_binomial_chance_of_none(
    n: int, share: float, width: float
) -> None:
    p_pass, p_fail = p_of_constant(0.0, n, share * width, width)
    expected = stats.binom.pmf(0, n, share)
    assert p_fail == 1
    assert p_pass == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(st.floats(-1, 1), st.integers(1, 60), st.floats(0, 1))
def test_the_most_adverse_world_makes_a_constant_that_seldom(
    difference: float, n: int, margin: float
) -> None:
    """Under the worst of H0 a unit has the constant or the end of the range; nothing
    between."""
    p_pass, p_fail = p_of_constant(difference, n, margin, 1.0)
    assert max(p_pass, p_fail) == 1 and 0 <= min(p_pass, p_fail) <= 1
    sign, p = (1, p_pass) if difference > -margin else (-1, p_fail)
    share = (
        (1 - sign * margin) / (1 + sign * difference) if difference != -margin else 1
    )
    mean = share * difference - sign * (1 - share)  # of such a world
    assert mean == pytest.approx(-margin, abs=1e-9)
    assert p == pytest.approx(float(np.prod(np.full(n, share))), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("distance", [0.01, -0.03])
@pytest.mark.parametrize("tests", [1, 4])
def test_the_planned_prompts_have_the_power(distance: float, tests: int) -> None:
    n, error = 400, 0.02
    planned = prompts_to_decide(distance, error, n, tests)
    assert planned is not None

    def power(prompts: int) -> float:
        scaled = error * math.sqrt(n / prompts)
        return float(
            stats.norm.sf(stats.norm.isf(0.05 / tests) - abs(distance) / scaled)
        )

    assert power(planned) >= 0.8 > power(planned - 1)


def test_on_the_margin_no_number_of_prompts_decides() -> None:
    assert prompts_to_decide(0.0, 0.02, 400, 1) is None
    assert prompts_to_decide(1e-12, 0.02, 400, 1) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: decide([]),
        lambda: decide([(0.1, 0.9)], alpha=0.5),
        lambda: decide([(1.5, 0)]),
        lambda: p_of_constant(0, 0, 0.1, 1),
        lambda: p_of_constant(0, 5, -0.1, 1),
        lambda: p_of_constant(0, 5, 0.1, math.inf),
        lambda: p_of_constant(2, 5, 0.1, 1),
        lambda: prompts_to_decide(1, 1, 5, 1, alpha=0),
    ],
)
def test_numbers_out_of_range_are_refused(call: object) -> None:
    with pytest.raises(StatisticsError):
        call()  # type: ignore[operator]
