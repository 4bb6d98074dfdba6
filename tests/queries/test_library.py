"""The library queries on both engines: their columns, their answers, their parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import pytest
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from tests.support.builders import StoreRows
from tests.support.stores import ENGINES, filled_store
from tests.support.world import the_world
from warehouse.analysis.compare.answer import compare
from warehouse.store.connection import Store
from warehouse.store.sql import query_files

ROWS = the_world()
QUERIES = {query.name: query for query in query_files.library()}


def run_ids(model: str, benchmark: str) -> list[int]:
    found = []
    for run in ROWS.rows["run"]:
        place = ROWS.rows["checkpoint"][run["checkpoint_id"] - 1]
        seed = ROWS.rows["training_seed"][place["training_seed_id"] - 1]
        name = ROWS.rows["model"][seed["model_id"] - 1]["name"]
        if (name, run["benchmark_id"]) == (model, ROWS.benchmark(benchmark)):
            found.append(run["id"])
    return found


QUIZ = {"run_a": run_ids("org/c", "quiz")[0], "run_b": run_ids("org/d", "quiz")[0]}
#: Query -> parameters that give rows; what they leave out takes its default.
GIVEN: dict[str, dict[str, Any]] = {
    "published_policies": {},
    "benchmark_overview": {},
    "checkpoint_history": {"model": "lab/seeds"},
    "disagreements": QUIZ,
    "duplicate_prompts": {},
    "generation_cost": {},
    "hardest_prompts": {"benchmark": "items"},
    "leaderboard": {"benchmark": "quiz"},
    "paired_difference": QUIZ,
    "published_differences": {},
    "regressions_since": {"since": "2026-01-06", "min_z": "-100"},
    "slice_scores": {"benchmark": "golden", "clustering": "topic"},
    "runs_of_model": {"model": "org/a"},
    "unscored_samples": {"limit": 1000},
    "vote_scores": {"benchmark": "quiz", "scorer": "people"},
}


@pytest.fixture(scope="module")
def worlds(request: pytest.FixtureRequest) -> Iterator[list[Store]]:
    with ExitStack() as stack:
        engines = ("duckdb", "postgresql")
        yield [stack.enter_context(filled_store(request, e, ROWS)) for e in engines]


def ask(store: Store, name: str, **given: Any) -> list[dict[str, Any]]:
    query = QUERIES[name]
    rows: list[dict[str, Any]] = store.arrow(query.text, query.bind(given)).to_pylist()
    return rows


def test_every_query_has_a_case() -> None:
    assert GIVEN.keys() == QUERIES.keys()


@pytest.mark.engine
@pytest.mark.parametrize("name", GIVEN)
def test_the_engines_give_the_same_rows_and_the_columns_of_the_header(
    worlds: list[Store], name: str
) -> None:
    duck, postgres = (ask(store, name, **GIVEN[name]) for store in worlds)
    assert list(duck[0]) == [column for column, _ in QUERIES[name].columns]
    assert len(duck) == len(postgres) > 0
    for one, other in zip(duck, postgres, strict=True):
        assert [key for key in one if not _equal(one[key], other[key])] == []


@pytest.mark.parametrize(
    ("benchmark", "cluster"),
    [("essay", None), ("words", None), ("items", None), ("quiz", None)],
)
def test_paired_difference_equals_the_python_figure(
    world: Store, benchmark: str, cluster: str | None
) -> None:
    pairs = {"items": ("item/model2", "item/model3"), "quiz": ("org/c", "org/d")}
    model_a, model_b = pairs.get(benchmark, ("org/a", "org/b"))
    (expected,) = compare(
        world, model_a, model_b, benchmark=benchmark, cluster=cluster
    ).rows
    (row,) = ask(
        world, "paired_difference", run_a=expected.runs_a[0], run_b=expected.runs_b[0]
    )
    same = {
        "estimate_a": "mean_a",
        "estimate_b": "mean_b",
        "difference": "difference",
        "standard_error": "standard_error",
        "correlation": "correlation",
        "n_prompts": "n_prompts",
        "only_a": "only_a",
        "only_b": "only_b",
        "n_clusters": "n_clusters",
        "se_eq7": "se_unclustered",
    }
    for column, name in same.items():
        assert _equal(row[column], getattr(expected, name)), column


def test_paired_difference_has_all_clustered_errors(world: Store) -> None:
    from warehouse.stats import paired_difference

    runs = [run_ids(model, "essay")[0] for model in ("org/a", "org/b")]
    (row,) = ask(
        world, "paired_difference", run_a=runs[0], run_b=runs[1], metric="chrf"
    )
    sides = [
        {
            f["prompt_id"]: f["value"]
            for f in ROWS.rows["prompt_score"]
            if f["run_id"] == run
        }
        for run in runs
    ]
    members = {m["prompt_id"]: m["cluster_id"] for m in ROWS.rows["prompt_cluster"]}
    prompts = list(sides[0])
    expected = paired_difference(
        [sides[0][p] for p in prompts],
        [sides[1][p] for p in prompts],
        clusters=[members.get(p, -p) for p in prompts],
    )
    for name in ("se_eq7", "se_eq8", "se_cr0", "se_cr1", "se_cr2"):
        assert row[name] == pytest.approx(getattr(expected, name), rel=1e-9), name


def test_equal_runs_have_no_error_of_their_difference(world: Store) -> None:
    first, second = run_ids("item/model0", "items")
    (row,) = ask(world, "paired_difference", run_a=first, run_b=second)
    assert (row["difference"], row["standard_error"], row["se_eq7"]) == (0, None, 0)
    assert row["correlation"] == pytest.approx(1)


def test_disagreements_list_the_largest_differences_first(world: Store) -> None:
    found = ask(world, "disagreements", **QUIZ, smallest=1.0)
    assert {row["difference"] for row in found} <= {1.0, -1.0}
    assert len(found) == len(
        [r for r in ask(world, "disagreements", **QUIZ) if abs(r["difference"]) == 1]
    )


def test_leaderboard_ranks_by_direction(world: Store) -> None:
    assert ask(world, "leaderboard", benchmark="quiz")[0]["estimate"] == 1.0
    words = ask(world, "leaderboard", benchmark="words")
    assert words[0]["estimate"] < words[1]["estimate"]
    (other,) = {
        row["metric"]
        for row in ask(world, "leaderboard", benchmark="words", metric="bits_per_byte")
    }
    assert other == "bits_per_byte"


def test_regressions_are_those_beyond_the_error(world: Store) -> None:
    (row,) = ask(world, "regressions_since", since="2026-01-06", min_z=-100)
    before, after = run_ids("drift/a", "drift")
    assert (row["run_before"], row["run_after"]) == (before, after)
    assert row["change"] == pytest.approx(-0.25)
    assert row["z"] == pytest.approx(row["change"] / row["standard_error"])


def changed_answers() -> StoreRows:
    """Models before and after, on other prompts: so many right of so many."""
    rows = StoreRows()
    rows.describe("quiz", rows.metric())
    for model, runs in {
        "fell": ((100, 100), (30, 100)),
        "lucky": ((100, 100), (1980, 2000)),
        "plain": CHANGED,
    }.items():
        for month, (right, n) in enumerate(runs, start=1):
            run = rows.run(
                model, "quiz", revision=f"v{month}", started_at=datetime(2026, month, 1)
            )
            rows.scores(
                run,
                {f"{model}{month}-{place}": float(place < right) for place in range(n)},
            )
    return rows


CHANGED = ((150, 200), (120, 200))


@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES)
def test_a_model_that_had_all_right_can_get_worse(
    request: pytest.FixtureRequest, engine: str
) -> None:
    with filled_store(request, engine, changed_answers()) as store:
        rows = {
            row["model"]: row
            for row in ask(store, "regressions_since", since="2026-01-15", min_z=0.01)
        }
    assert set(rows) == {"fell", "lucky", "plain"}
    for model, (before, after) in {
        "fell": ((100, 100), (30, 100)),
        "lucky": ((100, 100), (1980, 2000)),
    }.items():
        ends = [
            proportion_confint(*own, method="wilson")[side]
            for own, side in ((before, 0), (after, 1))
        ]
        halves = [
            end - own[0] / own[1]
            for end, own in zip(ends, (before, after), strict=True)
        ]
        assert rows[model]["standard_error"] == pytest.approx(
            math.hypot(*halves) / norm.ppf(0.975), rel=1e-9
        )
    (right, n), (then, of) = CHANGED
    errors = [
        math.sqrt(p * (1 - p) / (m - 1)) for p, m in ((right / n, n), (then / of, of))
    ]
    assert rows["plain"]["standard_error"] == pytest.approx(
        math.hypot(*errors), rel=1e-9
    )


def test_unscored_samples_name_their_run(world: Store) -> None:
    found = ask(world, "unscored_samples", run=QUIZ["run_b"], limit=1000)
    assert len(found) == 48
    assert {row["status"] for row in found} == {"error"}


def test_checkpoint_history_keeps_the_best(world: Store) -> None:
    found = [
        row
        for row in ask(world, "checkpoint_history", model="lab/seeds")
        if row["training_seed"] == "s1"
    ]
    figures = [row["estimate"] for row in found]
    assert [row["best_so_far"] for row in found] == [
        max(figures[: n + 1]) for n in range(3)
    ]


def test_published_differences_leave_out_what_agrees(world: Store) -> None:
    found = ask(world, "published_differences")
    assert "exact" not in {row["verdict"] for row in found}


def test_runs_of_a_model_and_the_overview_count_aliases_once(world: Store) -> None:
    quiz = ask(world, "runs_of_model", model="org/a", benchmark="quiz")
    assert len(quiz) == 2  # its own, and that of the alias
    (row,) = [
        row for row in ask(world, "benchmark_overview") if row["benchmark"] == "quiz"
    ]
    assert (row["n_models"], row["n_prompts"]) == (8, 42 + 40)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return type(one) is type(other) and bool(one == other)
