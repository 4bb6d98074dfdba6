"""Files of the embedded engine: how large the blocks of a new one are, and those that
were made with larger ones."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import warehouse
from warehouse.store import engines
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check
from warehouse.store.snapshot import publish

TABLE = "model,benchmark,prompt_id,metric,score\n{0},quiz,p1,acc,1\n{0},quiz,p2,acc,0\n"


def blocks(path: Path) -> int:
    with duckdb.connect(str(path), read_only=True) as raw:
        answer = raw.execute("select block_size from pragma_database_size()").fetchone()
    assert answer is not None
    return int(answer[0])


@pytest.fixture
def older(duckdb_url: str, tmp_path: Path) -> Path:
    """A store of one run, in blocks as the engine has them by itself."""
    (tmp_path / "a.csv").write_text(TABLE.format("org/a"))
    warehouse.connect(duckdb_url).ingest(tmp_path / "a.csv")
    path = tmp_path / "older.duckdb"
    with duckdb.connect() as raw:
        raw.execute(
            f"attach '{duckdb_url.removeprefix('duckdb:///')}' as small (read_only)"
        )
        raw.execute(f"attach '{path}' as large (storage_version 'v1.5.0')")
        raw.execute("copy from database small to large")
    assert blocks(path) == 262_144
    return path


def test_a_new_file_has_small_blocks(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    url = engines.parse_url(f"duckdb:///{path}")
    with engines.dialect_of(url).open_engine(url, True, None).connect() as connection:
        connection.exec_driver_sql("create table t (i integer)")
    assert blocks(path) == 65_536


def test_a_store_with_larger_blocks_is_written_read_and_published(
    older: Path, tmp_path: Path
) -> None:
    url = f"duckdb:///{older}"
    (tmp_path / "b.csv").write_text(TABLE.format("org/b"))
    report = warehouse.connect(url).ingest(tmp_path / "b.csv")
    assert not report.refused and report.total("n_scores") == 2
    done = publish(url, tmp_path / "copy.duckdb")
    assert (blocks(older), blocks(Path(done.path))) == (262_144, 65_536)
    with open_store(url) as stored, open_store(done.path) as copy:
        assert check(copy) == check(stored)
        for table in (
            "run",
            "prompt",
            "score",
            "score_summary",
            "published_score",
            "source",
        ):
            query = f"select * from {table} order by 1, 2"
            assert copy.arrow(query) == stored.arrow(query)
    # a copy of small blocks, replaced by one of a store that has grown, and two stores
    # beside each other
    (tmp_path / "c.csv").write_text(TABLE.format("org/c"))
    warehouse.connect(url).ingest(tmp_path / "c.csv")
    publish(url, done.path)
    with duckdb.connect(done.path, read_only=True) as raw:
        raw.execute(f"attach '{older}' as other (read_only)")
        query = (
            "select count(*), count(distinct run_id) from score union all from "
            "other.score select count(*), 3"
        )
        assert raw.execute(query).fetchall() == [(6, 3), (6, 3)]
