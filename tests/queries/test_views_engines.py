"""Every view on every engine: the columns that its header names, one grain, the same
values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.builders import StoreRows
from tests.support.stores import ENGINES, filled_store
from tests.support.world import build_world
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.sql import query_files
from warehouse.store.sql.run_query import run_named

VIEWS = {view.name: view for view in query_files.views()}
#: View -> columns that tell its rows apart, as its grain says.
GRAIN = {
    "benchmark_tree": "ancestor_id, benchmark_id",
    "run_current": "run_id",
    "headline_metric": "benchmark_id, metric_id",
    "ingest_log": "source_id",
    "published_figure": "source_id, run_group_id, run_id, benchmark_id, metric_id, statistic, perturbation, split,"
    " value",
    "infinite_score": "run_id, metric_id, perturbation",
    "weighted_error": "run_id, metric_id, perturbation",
    "score_by_perturbation": "run_id, metric_id, perturbation",
    "score_summary": "run_id, metric_id",
    "run_score": "run_id, metric_id",
    "variance_components": "run_id, metric_id",
    "performance_matrix": "run_id, prompt_id, metric_id",
    "condition_matrix": "condition_run_id, prompt_id, metric_id",
    "prompt_difficulty": "prompt_id, metric_id",
    "prompt_p_correct": "run_id, prompt_id, metric_id",
    "item_statistics": "prompt_id, metric_id",
    "seed_summary": "model, recipe, position, agent, benchmark, split, task_version, harness,"
    " formulation, fewshot, temperature, metric_id",
    "checkpoint_curve": "run_id, metric_id",
    "mean_win_rate": "suite, checkpoint_id, agent_id",
    "published_pass": "run_id, metric_id, perturbation, statistic",
    "published_against_recomputed": (
        "run_id, run_group_id, benchmark, metric_id, statistic, perturbation, published"
    ),
    "published_errors": (
        "source_id, run_id, metric_id, statistic, perturbation, published"
    ),
    "transcript_summary": "run_id",
    "tool_use": "run_id, tool",
    "run_price": "run_id",
    "run_cost": "run_id",
    "preference_current": (
        "source_id, scorer_id, voter, prompt_id, model_a, model_b, first, draw"
    ),
    "preference_summary": "benchmark, scorer_id, model_a, model_b",
    "judge_agreement": "benchmark, scorer_id, other_scorer_id",
    "opponent_vote": "run_id, prompt_id, metric_id",
    "prompt_cost": "run_id, prompt_id, cost",
    "cost_summary": "run_id, cost",
    "cost_per_solved": "run_id, metric_id, cost",
    "metric_history": "refresh_id, subject_kind, subject, benchmark, metric, statistic",
    "metric_current": "subject_kind, subject, benchmark, metric, statistic",
}


def _world() -> StoreRows:
    """The world, and a run with infinite scores."""
    rows = build_world()
    rows.describe("loss", rows.metric())
    rows.scores(
        rows.run("org/a", "loss"),
        {"q0": math.inf, "q1": [1.0, -math.inf], "q2": 1.0, "q3": None},
    )
    rows.scores(rows.run("org/b", "loss"), {"q0": math.inf, "q1": 2.0, "q2": 1.0})
    return rows


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest) -> Iterator[Store]:
    with filled_store(request, request.param, _world()) as store:
        yield store


@pytest.fixture(scope="module")
def worlds(request: pytest.FixtureRequest) -> Iterator[list[Store]]:
    with ExitStack() as stack:
        engines = ("duckdb", "postgresql")
        yield [stack.enter_context(filled_store(request, e, _world())) for e in engines]


@pytest.mark.engine
@pytest.mark.parametrize("name", VIEWS)
def test_the_engines_give_the_same_rows(worlds: list[Store], name: str) -> None:
    duck, postgres = (_sorted_rows(store, name) for store in worlds)
    assert len(duck) == len(postgres) > 0
    for one, other in zip(duck, postgres, strict=True):
        assert _differences(one, other) == []


@pytest.mark.parametrize("name", VIEWS)
def test_the_header_names_the_columns(world: Store, name: str) -> None:
    table = world.arrow(f'select * from "{name}"')
    assert table.column_names == [column for column, _ in VIEWS[name].columns]


@pytest.mark.parametrize("name", VIEWS)
def test_one_row_is_what_the_grain_says(world: Store, name: str) -> None:
    doubles = world.arrow(
        f"select {GRAIN[name]} from {name} group by {GRAIN[name]} having count(*) > 1"
    )
    assert doubles.to_pylist() == []


@pytest.mark.parametrize(
    "name", ["score_summary", "score_by_perturbation", "prompt_cost"]
)
def test_rows_of_a_view_come_in_one_order_on_each_engine(
    world: Store, name: str
) -> None:
    """Also those of one run, whose first columns are alike."""
    rows = [
        [(value is None, "" if value is None else value) for value in row.values()]
        for row in run_named(world, name, {}).to_pylist()
    ]
    assert rows and rows == sorted(rows)


def test_views_of_an_empty_store_are_empty(store_url: str) -> None:
    with open_store(store_url, create=True) as store:
        counts = {
            name: store.arrow(f'select * from "{name}"').num_rows for name in VIEWS
        }
    assert counts == dict.fromkeys(VIEWS, 0)


def _sorted_rows(store: Store, name: str) -> list[dict[str, Any]]:
    keys = ", ".join(
        f"{column.strip()} nulls last" for column in GRAIN[name].split(",")
    )
    with store.begin() as connection:
        result = connection.exec_driver_sql(f'select * from "{name}" order by {keys}')
        return [dict(row._mapping) for row in result]


def _differences(
    one: dict[str, Any], other: dict[str, Any]
) -> list[tuple[str, Any, Any]]:
    """Columns that differ in value beyond rounding, or in Python type (a decimal is no
    float)."""
    return [
        (name, value, other[name])
        for name, value in one.items()
        if type(value) is not type(other[name]) or not _equal(value, other[name])
    ]


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)
