"""Published figures without samples: compared each with its own error, or refused with
what is missing."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.analysis.compare.answer import compare
from warehouse.analysis.compare.unpaired import compare_unpaired
from warehouse.errors import MisuseError
from warehouse.store.connection import Store


def build() -> StoreRows:
    """Figures with errors of known and unknown size, without any, and samples."""
    rows = StoreRows()
    acc = rows.metric()
    rows.describe("quiz", acc)
    rows.describe("essay", acc)
    for model, benchmark, value, error, n in (
        ("m/one", "quiz", 0.81, 0.012, 1000),
        ("m/two", "quiz", 0.77, 0.013, 400),
        ("m/bare", "quiz", 0.79, None, 500),
        ("m/zero", "quiz", 1.0, 0.0, 5),
        ("m/one", "essay", 0.81, 0.012, None),
        ("m/two", "essay", 0.77, 0.013, None),
    ):
        run = rows.run(model, benchmark)
        rows.published(
            run,
            value,
            metric=acc,
            benchmark=benchmark,
            standard_error=error,
            n=n,
        )
    answered = rows.run("m/asked", "quiz")
    rows.scores(answered, {f"q{place}": float(place % 4 > 0) for place in range(80)})
    return rows


ROWS = build()


def test_the_difference_is_equations_5_and_6_of_the_errors_as_printed(
    world: Store,
) -> None:
    (row,) = compare_unpaired(world, "m/one", "m/two", benchmark="quiz").rows
    error = math.hypot(0.012, 0.013)
    assert row.difference == pytest.approx(0.04)
    assert row.standard_error == pytest.approx(error, rel=1e-12)
    df = error**4 / (0.012**4 / 999 + 0.013**4 / 399)  # Welch and Satterthwaite
    p = 2 * stats.t.sf(0.04 / error, df)
    low, high = stats.t.interval(0.95, df, loc=0.04, scale=error)
    assert (row.p_value, row.ci_low, row.ci_high) == pytest.approx(
        (p, low, high), rel=1e-9
    )
    assert (row.method, row.better, row.n_prompts_a) == ("welch_t", "a", 1000)
    assert row.flags == ("published_a", "published_b")
    assert "taken as independent" in row.reason


def test_without_a_number_of_prompts_it_is_the_normal_test(world: Store) -> None:
    (row,) = compare_unpaired(world, "m/one", "m/two", benchmark="essay").rows
    error = math.hypot(0.012, 0.013)
    low, high = stats.norm.interval(0.95, loc=0.04, scale=error)
    assert (row.ci_low, row.ci_high) == pytest.approx((low, high), rel=1e-9)
    assert row.p_value == pytest.approx(2 * stats.norm.sf(0.04 / error), rel=1e-9)
    assert (row.method, row.degrees_of_freedom) == ("normal", None)


def test_a_figure_and_samples_are_compared_too(world: Store) -> None:
    (row,) = compare_unpaired(world, "m/asked", "m/one", benchmark="quiz").rows
    own = math.sqrt(0.75 * 0.25 / 79)
    assert row.standard_error == pytest.approx(math.hypot(own, 0.012), rel=1e-9)
    assert (row.n_prompts_a, row.n_prompts_b, row.n_shared) == (80, 1000, 0)


@pytest.mark.parametrize(
    ("model", "found"),
    [("m/bare", "(0.79) has no standard error"), ("m/zero", "a standard error of 0")],
)
def test_a_figure_without_an_error_is_refused_with_what_it_needs(
    world: Store, model: str, found: str
) -> None:
    for ask in (compare, compare_unpaired):
        with pytest.raises(MisuseError) as caught:
            ask(world, "m/one", model, benchmark="quiz")
        assert found in str(caught.value)
        assert "ingest the samples behind it, or results that print" in str(
            caught.value
        )


def test_the_way_out_can_be_pasted(run: Caller, url: str) -> None:
    refused = run("compare", "m/one", "m/two", "-b", "quiz", db=url)
    refused.fails(2, "a published figure, which cannot be paired")
    assert "warehouse compare m/one m/two --unpaired" in " ".join(refused.err.split())
    said = run("compare", "m/one", "m/two", "--unpaired", "-b", "quiz", db=url).out
    first, second, *_ = said.splitlines()
    assert first == "m/one against m/two · acc · published figures, not paired"
    assert second == "one is better on quiz."
    assert "with the error that its source prints" in said
