"""Figures as text: ends that differ are written so, and no p is 0."""

from __future__ import annotations

import numpy as np
import pytest

from warehouse.stats import estimate_mean, mcnemar_test, paired_difference
from warehouse.stats.core.quantiles import (
    SMALLEST_P,
    normal_p_value,
    t_p_value,
    t_p_values,
    t_upper_tail,
)
from warehouse.stats.core.results import ends_text, figures_text
from warehouse.tables.words import (
    interval,
    intervals,
    number,
    numbers,
    p_value,
    p_values,
)


@pytest.mark.parametrize("error", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("value", [1.0, -250.0, 0.5])
def test_a_small_error_leaves_no_interval_of_one_number(
    value: float, error: float
) -> None:
    low, high = value - 2 * error, value + 2 * error
    text = figures_text(value, error, low, high)
    ends = text[text.index("[") + 1 : -1].split(", ")
    assert len({*ends, text.split()[0]}) == 3
    assert [float(end) for end in ends] == pytest.approx([low, high], rel=0, abs=error)


def test_usual_figures_have_four_digits() -> None:
    assert (
        figures_text(0.6, 0.16331, 0.31272, 0.83182) == "0.6 ± 0.1633 [0.3127, 0.8318]"
    )
    assert figures_text(2.0, None, None, None) == "2"
    assert figures_text(0.0, 0.0, 0.0, 0.0) == "0 ± 0 [0, 0]"
    scores = 1 + 1e-5 * np.random.default_rng(0).normal(size=100)
    assert " [1, 1]" not in str(estimate_mean(scores)) and " [0, 0]" not in str(
        estimate_mean(scores - 1)
    )


def test_the_smaller_of_error_and_interval_says_how_many_digits() -> None:
    assert figures_text(1.0, 1.0, 0.999998, 1.000002) == "1 ± 1 [0.999998, 1.000002]"
    assert figures_text(1.0000012, 1e-6, -5.0, 7.0) == "1.000001 ± 1e-06 [-5, 7]"
    assert ends_text(0.999998, 1.000002) == "[0.999998, 1.000002]"


def test_a_p_too_small_for_a_double_is_not_0() -> None:
    for p in (t_p_value(1e6, 1000), normal_p_value(60.0), t_upper_tail(1e6, 1000)):
        assert p == SMALLEST_P > 0
    assert np.isnan(t_p_values(np.nan, 3)) and t_p_value(2.0, 10) == pytest.approx(
        0.07338803
    )
    a = np.ones(3000)
    assert mcnemar_test(a, a * 0).p_value == SMALLEST_P
    far = paired_difference(a * 1e6 + np.arange(3000) % 2, a * 0)
    assert far.p_value is not None and far.p_value > 0
    assert [str(p_value(p)) for p in (0.0, SMALLEST_P, 0.012, 1e-9)] == [
        "<1e-300",
        "<1e-300",
        "0.012",
        "1e-09",
    ]


def test_a_table_tells_a_tiny_error_from_0() -> None:
    assert [str(number(value, 8)) for value in (1e-12, 0.0, 0.25)] == [
        "1e-12",
        "0.00000000",
        "0.25000000",
    ]
    assert str(number(-3.2e-11, 8, sign=True)) == "-3.2e-11"


def test_a_table_tells_a_tiny_mean_from_0_and_noise_from_a_mean() -> None:
    assert [str(number(value, 3)) for value in (1e-9, -4e-5, 1e-17, 0.0, 0.0123)] == [
        *("1e-09", "-4e-05", "0.000", "0.000", "0.012")
    ]
    assert str(number(1e-9, 3, sign=True)) == "+0.000"
    assert [
        interval(low, high, 3) for low, high in ((1e-9, 3e-9), (0.0, 0.2), (0.0, 0.0))
    ] == [*("[1e-09, 3e-09]", "[0.000, 0.200]", "[0.000, 0.000]")]


@pytest.mark.parametrize("n_decimals", [0, 2, 3, 8])
def test_columns_are_written_as_their_values_are(n_decimals: int) -> None:
    rng = np.random.default_rng(n_decimals)
    half = 0.5 * 10.0**-n_decimals  # rounds to an even digit
    edges = [
        0.0,
        -0.0,
        5e-324,
        1e-310,
        9.99e-301,
        1e-300,
        1e-13,
        *(half * np.arange(-50, 51)).tolist(),
    ]
    drawn = (rng.choice([-1, 1], 2000) * 10 ** rng.uniform(-20, 12, 2000)).tolist()
    values = [
        None,
        *edges,
        *drawn,
        *np.round(rng.uniform(-1, 1, 500), n_decimals).tolist(),
    ]
    for sign in (False, True):
        assert numbers(values, n_decimals, sign=sign) == [
            number(v, n_decimals, sign=sign) for v in values
        ]
    sizes = [None if value is None else abs(value) for value in values]
    assert p_values(sizes) == [p_value(value) for value in sizes]
    ends = list(zip(values, values[::-1], strict=True))
    written = intervals(*zip(*ends, strict=True), n_decimals, at=values)
    alone = [interval(low, high, n_decimals, at=low) for low, high in ends]
    assert written == alone
    assert [vars(made) for made in written if made] == [
        vars(made) for made in alone if made
    ]
