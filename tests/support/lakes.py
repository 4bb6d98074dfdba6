"""Lakes for tests: whether the extra is installed, and what an independent reader finds
in one."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.world import build_world
from warehouse.store.open import open_store

if TYPE_CHECKING:
    from warehouse.store.lake.check import LakeCheck
    from warehouse.store.lake.sync import SyncReport

INSTALLED = all(
    importlib.util.find_spec(name) for name in ("deltalake", "pysail", "pyspark")
)
needs_lake = pytest.mark.skipif(
    not INSTALLED, reason="no lakes: pip install -e '.[lake]', or make test-lake"
)
MARKS = [pytest.mark.lake, needs_lake]


def rows_of(lake: Path, table: str, version: int | None = None) -> list[dict[str, Any]]:
    """What an independent reader finds in a table of a lake, at a version of the lake."""
    from deltalake import DeltaTable

    at = table_versions(lake, version)[table]
    rows: list[dict[str, Any]] = (
        DeltaTable(lake / table, version=at).to_pyarrow_dataset().to_table().to_pylist()
    )
    return rows


def table_versions(lake: Path, version: int | None = None) -> dict[str, int]:
    """The Delta version of each table at a version of a lake."""
    from deltalake import DeltaTable

    named = (
        DeltaTable(lake / "lake_version", version=version)
        .to_pyarrow_dataset()
        .to_table()
        .to_pylist()
    )
    return {row["table_name"]: row["table_version"] for row in named}


def files_of(lake: Path, table: str, version: int | None = None) -> set[str]:
    """The data files of a table at a version of a lake."""
    from deltalake import DeltaTable

    return set(
        DeltaTable(
            lake / table, version=table_versions(lake, version)[table]
        ).file_uris()
    )


def world_with_lake(folder: Path) -> Path:
    """A folder with a store of the world of tests, and a lake of it."""
    from warehouse.store.lake.sync import sync

    url = f"duckdb:///{folder / 'store.duckdb'}"
    with open_store(url, create=True) as store:
        build_world().write(store)
    with open_store(url) as store:
        sync(store, str(folder / "lake"))
    return folder


def bring_up(url: str, lake: Path, **options: bool) -> SyncReport:
    """Sync a lake from a store."""
    from warehouse.store.lake.sync import sync

    with open_store(url) as store:
        return sync(store, str(lake), **options)


def held_against(url: str, lake: Path) -> LakeCheck:
    """A lake, held against its store."""
    from warehouse.store.lake.check import check

    with open_store(url) as store:
        return check(store, str(lake))


def written(report: SyncReport) -> set[str]:
    """Tables that a sync has written."""
    return {table.table for table in report.tables if table.written}


class SailServer:
    """Sail as a server on loopback, within this process; stops at the end.

    Attributes:
        url: for ``--on``, and with ``?lake=…`` for ``--db``.
    """

    def __enter__(self) -> SailServer:
        from pysail.spark import SparkConnectServer

        os.environ.setdefault("RUST_LOG", "off")
        self._server = SparkConnectServer(ip="127.0.0.1", port=0)
        self._server.start(background=True)
        self.url = f"sc://127.0.0.1:{self._server.listening_address[1]}"
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.stop()
