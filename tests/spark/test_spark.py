"""A real cluster of Spark gives what the store gives, and what dies in it changes no
figure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_lake import faults
from tests.queries.test_library import GIVEN
from tests.queries.test_views_engines import GRAIN
from tests.support.cli import Caller
from tests.support.lakes import world_with_lake
from tests.support.same_rows import assert_same_rows
from tests.support.same_stores import store_differences
from tests.support.spark_cluster import SparkCluster
from warehouse.analysis.matrix import analyses
from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.lake.check import check
from warehouse.store.open import open_store
from warehouse.store.sql import query_files
from warehouse.store.sql.run_query import run_named, run_sql

pytestmark = [pytest.mark.spark]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, and a lake of it."""
    return world_with_lake(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def store(made: Path) -> Iterator[Store]:
    with open_store(f"duckdb:///{made / 'store.duckdb'}") as opened:
        yield opened


@pytest.fixture(scope="module")
def lake(made: Path, cluster: SparkCluster) -> Iterator[Store]:
    with open_store(f"{cluster.url}?lake={made / 'lake'}", guarded=True) as opened:
        yield opened


#: Left to `make test-spark`: what asks views that are compared here for little more,
#: which Sail too is held to (`tests/store/test_lake_engine.py`), and what comes to the
#: cluster by the way of its neighbours.
MORE = pytest.mark.slow
#: Views that are compared each time: recursion, windows, JSON, infinite numbers,
#: quantiles, conditional sums.
EACH_TIME = (
    "benchmark_tree",
    "run_current",
    "infinite_score",
    "score_summary",
    "seed_summary",
    "mean_win_rate",
)
EACH_TIME += (
    "item_statistics",
    "run_cost",
    "metric_current",
    "judge_agreement",
    "published_against_recomputed",
)
VIEWS = [view.name for view in query_files.views()]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in EACH_TIME else MORE) for name in VIEWS],
)
def test_a_view_gives_the_same_rows(store: Store, lake: Store, name: str) -> None:
    """Sorted here: to sort the rows of several tasks Spark computes them twice. Library
    queries sort there."""
    keys = [(column.strip(), "ascending") for column in GRAIN[name].split(",")]
    assert_same_rows(
        *(
            run_sql(side, f"select * from {name}", {}).sort_by(keys)
            for side in (store, lake)
        )
    )


OF_VIEWS = (
    "checkpoint_history",
    "hardest_prompts",
    "published_differences",
    "runs_of_model",
    "generation_cost",
)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=MORE if name in OF_VIEWS else ()) for name in GIVEN],
)
def test_a_library_query_gives_the_same_rows_in_the_same_order(
    store: Store, lake: Store, name: str
) -> None:
    assert_same_rows(*(run_named(side, name, GIVEN[name]) for side in (store, lake)))


@pytest.mark.parametrize(
    "line",
    [
        *("leaderboard quiz", "compare org/b org/c --benchmark quiz"),
        *(
            pytest.param(line, marks=MORE)
            for line in ("pairs quiz", "noise variance quiz")
        ),
    ],
)
def test_a_command_answers_as_on_the_store(
    run: Caller, made: Path, cluster: SparkCluster, line: str
) -> None:
    urls = (f"duckdb:///{made / 'store.duckdb'}", f"{cluster.url}?lake={made / 'lake'}")
    one, other = (run(*line.split(), "--json", db=url) for url in urls)
    assert one.code == other.code and one.out.startswith("["), other.err
    assert list(faults(json.loads(one.out), json.loads(other.out))) == []


@pytest.mark.parametrize(
    "line",
    [
        "matrix test items --permutations 40",
        pytest.param(
            "matrix cluster items --clusters 2,3 --permutations 2", marks=MORE
        ),
    ],
)
def test_permutations_on_executors_are_those_of_the_store(
    run: Caller,
    made: Path,
    cluster: SparkCluster,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    came: list[int] = []
    whole = engines.Executors.map

    def counted(
        self: engines.Executors, function: Any, tasks: Sequence[bytes]
    ) -> Iterator[tuple[int, bytes]]:
        for number, data in whole(self, function, tasks):
            came.append(number)
            yield number, data

    monkeypatch.setattr(analyses, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(engines.Executors, "map", counted)
    urls = (f"duckdb:///{made / 'store.duckdb'}", f"{cluster.url}?lake={made / 'lake'}")
    one, other = (run(*line.split(), "--json", "--no-store", db=url) for url in urls)
    assert one.code == other.code == 0 and "executors could not" not in other.err, (
        other.err
    )
    assert len(came) > 2 and list(faults(one.rows, other.rows)) == []


def test_dumps_that_executors_read_give_the_same_store(
    run: Caller, cluster: SparkCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    urls = [f"duckdb:///{tmp_path / name}.duckdb" for name in ("here", "there")]
    folders = (
        "docs/demo/results",
        "tests/data/lm_eval",
        "tests/data/inspect",
        "tests/data/tabular",
    )
    here = run("ingest", *folders, db=urls[0])
    there = run(
        "ingest",
        *folders,
        "--on",
        cluster.url,
        "--lake",
        str(tmp_path / "lake"),
        db=urls[1],
    )
    assert here.code == there.code == 3
    assert here.err.replace(urls[0], "STORE") == there.err.replace(urls[1], "STORE")
    assert store_differences(*urls) == []
    with open_store(urls[1]) as made:
        assert check(made, str(tmp_path / "lake")).verdict == "same"
