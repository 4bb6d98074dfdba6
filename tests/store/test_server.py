"""What only the server engine has: counts for its planner, and settings of a
connection."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import races
from warehouse.ingest.pipeline import ingest
from warehouse.store.connection import Store
from warehouse.store.open import open_store

pytestmark = pytest.mark.engine


def counted(store: Store, table: str) -> int:
    """Rows that the planner believes a table to have; -1 where nobody has counted."""
    query = "select reltuples as n from pg_class where oid = cast(:name as regclass)"
    return int(store.arrow(query, {"name": table})["n"][0].as_py())


def test_after_a_load_the_tables_that_grew_are_counted(
    postgres_url: str, tmp_path: Path
) -> None:
    first, second = races.dumps(tmp_path / "large", 1, 300) + races.dumps(
        tmp_path / "small", 1, 3
    )
    with open_store(postgres_url, create=True) as store:
        assert counted(store, "score") == counted(store, "run") == -1
        ingest(store, [first])
        assert (counted(store, "score"), counted(store, "run")) == (300, 1)
        assert counted(store, "refresh") <= 0
        ingest(store, [second])
        assert (counted(store, "score"), counted(store, "run")) == (
            300,
            2,
        )  # 1 % more, and twice


def test_after_a_load_indexes_know_the_new_rows(
    postgres_url: str, tmp_path: Path
) -> None:
    names = "('ix_score_run_id', 'ix_generation_run_id')"
    left = (
        f"select brin_summarize_new_values(oid) from pg_class where relname in {names}"
    )
    with open_store(postgres_url, create=True) as store:
        ingest(
            store, races.dumps(tmp_path / "first", 1, 40_000)
        )  # more than the range that an index begins with
        with store.begin() as connection:
            assert [row[0] for row in connection.exec_driver_sql(left)] == [0, 0]


def test_views_are_not_compiled(postgres_url: str) -> None:
    with open_store(postgres_url, create=True) as store:
        assert store.arrow("select current_setting('jit') as jit")[
            "jit"
        ].to_pylist() == ["off"]
