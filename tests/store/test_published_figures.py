"""Published figures and their standard errors, against what the samples give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.stores import select
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.store.connection import Store

SCORES = np.array([1.0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1])
GROUPS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 5])
KEYS = [f"q{place:02}" for place in range(len(SCORES))]


def _errors() -> dict[str, float]:
    """Standard errors of SCORES by each formula, written out."""
    n, rest = len(SCORES), SCORES - SCORES.mean()
    naive = math.sqrt(float(rest @ rest) / (n - 1) / n)
    sums = np.array([rest[group == GROUPS].sum() for group in range(6)])
    cr0 = math.sqrt(float(sums @ sums)) / n
    within = float(rest @ rest) / (n - 1)
    return {
        "naive": naive,
        "naive_n": naive * math.sqrt((n - 1) / n),
        "clustered_cr0": cr0,
        "clustered_cr1": cr0 * math.sqrt(6 / 5),
        "clustered_miller": math.sqrt(float(sums @ sums) + within) / n,
    }


@pytest.fixture(scope="module")
def rows() -> StoreRows:
    rows = StoreRows()
    for name in ("exam", "lists", "percent"):
        rows.describe(name, rows.metric())
    errors = _errors()
    errors |= {"unexplained": 0.3, "rounded": round(errors["naive"], 3)}
    for name, error in errors.items():
        run = rows.run(f"lab/{name}", "exam")
        rows.scores(run, dict(zip(KEYS, SCORES.tolist(), strict=True)))
        rows.published(
            run, float(SCORES.mean()), benchmark="exam", standard_error=error, n=12
        )
    same = rows.run("lab/same", "exam")
    rows.scores(same, dict.fromkeys(KEYS, 1.0))
    rows.published(same, 1.0, benchmark="exam", standard_error=0.0)
    rows.clusters(
        "exam",
        {
            str(group): [
                key for key, own in zip(KEYS, GROUPS, strict=True) if own == group
            ]
            for group in range(6)
        },
        default=False,
    )
    f1 = rows.metric("f1", link="none")
    rows.describe("lists", f1, default=False)
    run = rows.run("lab/lists", "lists")
    rows.scores(run, {"a": None, "b": None}, f1)
    rows.published(run, 0.71, f1, benchmark="lists", statistic="aggregate")
    thirty = rows.run("lab/thirty", "percent")
    rows.scores(thirty, {f"p{place}": float(place < 2) for place in range(30)})
    for value in (0.067, 0.0667, 0.07, 0.066, 0.06):
        rows.published(thirty, value, benchmark="percent")
    return rows


def errors_of(world: Store, model: str) -> dict[str, Any]:
    (row,) = select(
        world, "select * from published_errors where model = :model", model=model
    )
    return row


@pytest.mark.parametrize("formula", list(_errors()))
def test_a_published_error_is_named_by_its_formula(world: Store, formula: str) -> None:
    row = errors_of(world, f"lab/{formula}")
    assert row["verdict"] == formula
    assert row["recomputed"] == pytest.approx(_errors()[formula])
    assert row["clustering"] == ("topic" if formula.startswith("clustered") else "")


def test_an_error_at_its_decimals_and_one_that_no_formula_gives(world: Store) -> None:
    assert errors_of(world, "lab/rounded")["verdict"] == "naive"
    assert errors_of(world, "lab/unexplained")["verdict"] == "unexplained"


def test_a_published_error_of_0_is_0(world: Store) -> None:
    row = errors_of(world, "lab/same")
    assert (row["published"], row["recomputed"], row["verdict"]) == (0.0, 0.0, "naive")
    (figure,) = select(
        world, "select * from published_against_recomputed where model = 'lab/same'"
    )
    assert (
        figure["published_standard_error"] == figure["recomputed_standard_error"] == 0.0
    )


def test_small_figures_are_compared_at_their_decimals(world: Store) -> None:
    found = select(
        world,
        "select published, verdict from published_against_recomputed where model = "
        "'lab/thirty'",
    )
    assert {row["published"]: row["verdict"] for row in found} == {
        0.067: "rounded",
        0.0667: "rounded",
        0.07: "rounded",
        0.066: "contradicts",
        0.06: "contradicts",
    }


def test_a_figure_of_lists_appears_as_published(world: Store) -> None:
    (row,) = leaderboard(world, "lists", metric="f1").rows
    assert (row.estimate, row.method) == (0.71, "published")
    (figure,) = select(
        world,
        "select estimate, origin from run_score s join run_current r on r.run_id = "
        "s.run_id"
        " where r.model = 'lab/lists'",
    )
    assert (figure["estimate"], figure["origin"]) == (0.71, "published")
