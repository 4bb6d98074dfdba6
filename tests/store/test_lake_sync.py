"""A lake is what the store holds, comes up in proportion to what is new, and shows
whole versions."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.support.lakes import (
    MARKS,
    bring_up,
    files_of,
    held_against,
    rows_of,
    table_versions,
    written,
)
from tests.support.races import dumps
from tests.support.same_rows import assert_same_rows
from tests.support.world import build_world
from warehouse.api import connect
from warehouse.errors import MisuseError
from warehouse.store.computed import result_cache
from warehouse.store.curate import aliases
from warehouse.store.lake import sync as lake_sync
from warehouse.store.lake import versions
from warehouse.store.lake.contents import LEFT_OUT, TABLES, UNITS, VIEWS
from warehouse.store.lake.versions import LakeLocation, vacuum
from warehouse.store.load.source_ledger import forget
from warehouse.store.open import open_store
from warehouse.store.schema import tables
from warehouse.store.sql.run_query import run_sql

pytestmark = MARKS
FACTS = {"generation", "score", "prompt_score", "draw_score", "run_metric"}
FACTS |= {"run", "run_current", "source", "run_source", UNITS}


def test_a_lake_holds_every_row_of_the_store(store_url: str, tmp_path: Path) -> None:
    with open_store(store_url, create=True) as store:
        build_world().write(store)
    report = bring_up(store_url, tmp_path / "lake")
    assert (report.version, report.is_new, report.n_runs, report.n_gone) == (
        0,
        True,
        79,
        0,
    )
    assert {table.name for table in TABLES} == {*tables.metadata.tables} - {
        *LEFT_OUT
    } | {*VIEWS}
    with open_store(store_url) as store:
        for table in TABLES:
            stored = (
                store.connection.execute(sa.text(f"select * from {table.name}"))
                .mappings()
                .all()
            )
            of_lake = rows_of(tmp_path / "lake", table.name)
            if (
                table.name == "metric_value"
            ):  # those of a refresh that is under way come and go
                stored = [row for row in stored if row["refresh_id"] != 3]
            assert Counter(map(_plain, stored)) == Counter(map(_plain, of_lake)), (
                table.name
            )
    found = held_against(store_url, tmp_path / "lake")
    assert found.verdict == "same" and "holds what the store holds" in str(found)


def _plain(row: object) -> tuple[object, ...]:
    """Values of a row, times without their zone, numbers as numbers whatever the driver
    made of them."""
    return tuple(map(_comparable, dict(row).values()))  # type: ignore[call-overload]


def _comparable(value: object) -> object:
    """A lake keeps JSON as its text, a driver may read it."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, str) and value.startswith('{"'):
        value = json.loads(value)
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value


@pytest.mark.parametrize(
    "store_url",
    ["duckdb", pytest.param("postgresql", marks=pytest.mark.on_server)],
    indirect=True,
)  # of either engine the first sync reads every row, in the test above
def test_a_sync_writes_what_is_new_and_takes_out_what_is_gone(
    store_url: str, tmp_path: Path
) -> None:
    files, lake = dumps(tmp_path / "dumps", 3), tmp_path / "lake"
    warehouse = connect(store_url)
    warehouse.ingest(files[0])
    assert bring_up(store_url, lake).version == 0
    warehouse.ingest(files[1], files[2])
    assert held_against(store_url, lake).verdict == "behind"
    report = bring_up(store_url, lake)
    assert (report.version, report.n_runs, report.n_gone) == (1, 2, 0)
    assert written(report) == {
        *FACTS,
        "benchmark",
        "benchmark_metric",
        "benchmark_tree",
        "headline_metric",
        "prompt",
        "run_group",
        "choice",
        "transcript",
        "tool_call",
    }
    assert str(report).startswith(
        f"{lake} is at version 1: 2 runs written, 0 removed; "
    )
    for table in ("score", "prompt_score", "generation"):
        assert files_of(lake, table, 0) < files_of(
            lake, table
        )  # what was there stays as it was
    assert table_versions(lake)["model"] == table_versions(lake, 0)["model"]
    assert held_against(store_url, lake).verdict == "same"
    assert len(rows_of(lake, "score", 0)) == 40 and len(rows_of(lake, "score")) == 120

    again = bring_up(store_url, lake)
    assert (again.version, again.is_new, written(again)) == (1, False, set())
    assert str(again) == f"{lake} is up to date at version 1"

    with open_store(store_url, write=True) as store:
        forget(store, "1")
    report = bring_up(store_url, lake)
    assert (report.version, report.n_runs, report.n_gone) == (2, 0, 1)
    kept = {row["id"] for row in rows_of(lake, "run")}
    assert len(kept) == 2 and {row["run_id"] for row in rows_of(lake, "score")} == kept
    assert held_against(store_url, lake).verdict == "same"
    assert len(rows_of(lake, "score", 1)) == 120


def test_a_lake_from_before_views_were_kept_is_asked_and_gets_them(
    duckdb_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(duckdb_url, create=True) as store:
        build_world().write(store)
    lake, sql = (
        tmp_path / "lake",
        "select * from score_summary order by run_id, metric_id",
    )
    with monkeypatch.context() as before:
        before.setattr(
            lake_sync,
            "TABLES",
            [table for table in TABLES if table.name not in VIEWS[1:]],
        )
        bring_up(duckdb_url, lake)
    for verdict in ("behind", "same"):
        assert held_against(duckdb_url, lake).verdict == verdict
        with open_store(duckdb_url) as store, open_store(f"sail:?lake={lake}") as asked:
            assert_same_rows(*(run_sql(side, sql, {}) for side in (store, asked)))
        bring_up(duckdb_url, lake)


def test_what_people_say_of_the_store_is_brought_up(
    duckdb_url: str, tmp_path: Path
) -> None:
    with open_store(duckdb_url, create=True) as store:
        build_world().write(store)
    lake = tmp_path / "lake"
    bring_up(duckdb_url, lake)
    with open_store(duckdb_url, write=True) as store:
        aliases.alias(store, "model", "org/c", "org/b")
    assert written(bring_up(duckdb_url, lake)) == {"model", "run_current"}
    with open_store(duckdb_url, write=True) as store:
        question = result_cache.StoredQuestion("matrix", "quiz", "1", "f")
        result_cache.put(store, question, {"p": 0.5})
    assert written(bring_up(duckdb_url, lake)) == {"analysis", UNITS}
    with open_store(duckdb_url, write=True) as store:
        result_cache.put(store, question, {"p": 0.25})
    report = bring_up(duckdb_url, lake)
    assert written(report) == {"analysis", UNITS} and [
        row["result"] for row in rows_of(lake, "analysis")
    ] == ['{"p":0.25}']
    with (
        open_store(duckdb_url, write=True) as store,
        store.begin() as connection,
    ):  # a document gets a further field
        connection.execute(
            sa.update(tables.prompt)
            .where(tables.prompt.c.id == 3)
            .values(metadata={"a": 1})
        )
        connection.execute(sa.text("delete from prompt_cluster where prompt_id = 1"))
    report = bring_up(duckdb_url, lake)
    assert written(report) == {"prompt", "prompt_cluster", "cluster", UNITS}
    assert held_against(duckdb_url, lake).verdict == "same"


def test_vacuum_removes_what_only_old_versions_need(
    duckdb_url: str, tmp_path: Path
) -> None:
    lake, files = tmp_path / "lake", dumps(tmp_path / "dumps", 3)
    for file in files:
        connect(duckdb_url).ingest(file)
        bring_up(duckdb_url, lake)
    with open_store(duckdb_url, write=True) as store:
        forget(store, "1")
    bring_up(duckdb_url, lake)
    kept = vacuum(str(lake))
    assert (
        kept.n_versions,
        kept.n_files,
        kept.n_joined,
        kept.oldest,
        kept.version,
    ) == (0, 0, 0, 0, 3)
    assert len(rows_of(lake, "score", 0)) == 40
    done = vacuum(str(lake), older_than=timedelta(0), many=2)
    assert (
        (done.n_versions, done.oldest, done.version) == (3, 3, 4)
        and done.n_files > 5
        and done.n_joined >= 3
    )
    assert len(files_of(lake, "score")) == 1
    assert [one.number for one in versions.history(LakeLocation(str(lake)))] == [4, 3]
    with pytest.raises(MisuseError, match="has the versions 3 to 4, no version 2"):
        versions.find(LakeLocation(str(lake)), 2)
    assert held_against(duckdb_url, lake).verdict == "same"
    assert (
        vacuum(str(lake), older_than=timedelta(0)).n_files >= 3
    )  # those from before the joining
    assert vacuum(str(lake), older_than=timedelta(0)).n_files == 0
    connect(duckdb_url).ingest(files[0])
    assert bring_up(duckdb_url, lake).n_runs == 1
    assert held_against(duckdb_url, lake).verdict == "same"
    with pytest.raises(MisuseError, match="expected 0 or more"):
        vacuum(str(lake), older_than=timedelta(days=-1))
