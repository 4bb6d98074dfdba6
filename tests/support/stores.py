"""Stores that a whole test module reads: opened once on each engine, filled from
`world`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import StoreRows
from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.engines import duckdb
from warehouse.store.open import StoreOpener, open_store
from warehouse.store.schema import new_store, objects

ENGINES = [
    pytest.param("duckdb", marks=pytest.mark.engine),
    pytest.param("postgresql", marks=pytest.mark.engine),
]

#: Of a block of stores that tests make: an empty one has a third of the bytes of those
#: that users make.
BLOCK_BYTES = 16_384


@contextmanager
def filled_store(
    request: pytest.FixtureRequest, engine: str, rows: StoreRows
) -> Iterator[Store]:
    """A store of this module alone, holding `rows`."""
    with empty_store(request, engine) as url, open_store(url, write=True) as store:
        rows.write(store)
        yield store


@contextmanager
def empty_store(request: pytest.FixtureRequest, engine: str) -> Iterator[str]:
    """URL of an empty store of this module alone."""
    if engine == "duckdb":
        folder = request.getfixturevalue("tmp_path_factory").mktemp("store")
        yield copied(request.getfixturevalue("empty_file"), folder / "store.duckdb")
        shutil.rmtree(
            folder
        )  # what a factory makes else stays until the session ends, a hundred such stores
        return
    cluster = request.getfixturevalue("postgres_cluster")
    name = cluster.create(template=request.getfixturevalue("empty_database"))
    try:
        yield cluster.url(name)
    finally:
        cluster.drop(name)


def store_at(path: Path) -> str:
    """URL of the store of the embedded engine in a file. Where there is none yet an
    empty one is copied there, in a fiftieth of the time that it takes to make one."""
    return f"duckdb:///{path}" if path.exists() else copied(_empty_file(), path)


def copied(store: Path | bytes, path: Path) -> str:
    """URL of a copy of a store that this program made. What is known of the one is
    known of the other: to look through what stands in it takes half the time of opening
    it."""
    if isinstance(store, Path):
        shutil.copy(store, path)
    else:
        path.write_bytes(store)
    url = f"duckdb:///{path}"
    if seen := objects.look_of(engines.parse_url(url), duckdb.DUCKDB):
        seen.keep()
    return url


@cache
def _empty_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(new_store, "create", _made_anew)
        patch.setattr(duckdb, "BLOCK_BYTES", BLOCK_BYTES)
        path = Path(folder) / "store.duckdb"
        open_store(f"duckdb:///{path}", create=True).close()
        return path.read_bytes()


_FILLED: dict[object, bytes] = {}


def filled_once(url: str, key: object, fill: Callable[[], object]) -> str:
    """URL of an empty store that is filled, or on the embedded engine a copy of the one
    that was filled under this key in this process; what its sources name need not be
    there any more."""
    path = Path(url.removeprefix("duckdb:///"))
    if key in _FILLED and url.startswith("duckdb"):
        return copied(_FILLED[key], path)
    fill()
    if url.startswith("duckdb"):
        _FILLED[key] = path.read_bytes()
    return url


_made_anew = new_store.create


def made_from_copy(store: Store) -> bool:
    """In place of `new_store.create`, for all tests of this process: an empty file of
    the embedded engine becomes a copy of one that was made once, in a fraction of the
    time."""
    if not store.dialect.embedded or store.rows(
        "select table_name from information_schema.tables"
    ):
        return _made_anew(store)
    store.close()
    Path(store.url.database or "").write_bytes(_empty_file())
    engine = store.dialect.open_engine(store.url, True, None)
    vars(store).update(vars(Store(store.url, store.dialect, engine, write=True)))
    return True


def opener_of(url: str) -> StoreOpener:
    """How to open the store at a URL."""
    return StoreOpener(partial(open_store, url), partial(open_store, url, write=True))


def select(store: Store, sql: str, **parameters: Any) -> list[dict[str, Any]]:
    """Rows of one query as dictionaries."""
    rows: list[dict[str, Any]] = store.arrow(sql, parameters).to_pylist()
    return rows
