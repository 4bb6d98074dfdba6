"""The whole store as Parquet files, by natural keys: stores can be merged, ids never
could.

Every reference to a row of another table is written as the columns of that row's
natural key (``run_id`` becomes ``run_recorded_key``, ``run_content_digest`` and
``run_execution_key``), followed through to the end (``prompt_id`` becomes
``prompt_benchmark_name``, ``prompt_split`` …).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from warehouse.errors import MisuseError
from warehouse.files import draft_beside, in_place_of, put_back, replace_file
from warehouse.store.connection import Store
from warehouse.store.schema import revision, tables
from warehouse.store.sql import query_files
from warehouse.store.sql.natural_keys import slices, table_query, view_query

MANIFEST = "manifest.json"
#: Fields of which a manifest of an export has one: as Parquet, in the formats of
#: others.
_MARKS = {"program", "format"}
#: Rows that are held in memory at a time: of facts and of prompts or texts, which are
#: longer.
FACT_ROWS, TEXT_ROWS = 500_000, 20_000


@dataclass(frozen=True)
class ExportReport:
    """What was written."""

    folder: Path  #: where.
    rows: dict[str, int]  #: rows of each file, by its path inside the folder.
    bytes: int  #: size of all files together.

    def __str__(self) -> str:
        total = sum(self.rows.values())
        return (
            f"{len(self.rows)} files, {total} rows, {self.bytes} bytes in {self.folder}"
        )


def export(
    store: Store,
    folder: Path,
    *,
    overwrite: bool = False,
    progress: Callable[[str], None] = lambda _name: None,
) -> ExportReport:
    """Write every table and view to ``tables/NAME.parquet`` and ``views/NAME.parquet``.

    All of it is one state of the store. The folder is complete or not there at all: it
    is written beside its place and renamed.

    Args:
        folder: where to; must not exist or be empty.
        overwrite: replace an earlier export that lies there.
        progress: told each file's name before it is written.

    Raises:
        MisuseError: the folder holds something already.
    """
    folder = require_free(folder, overwrite, MANIFEST)
    partial = draft_beside(folder)
    with in_place_of(folder, partial):
        rows = _write_all(store, partial, progress)
        _write_manifest(store, partial, rows)
        size = sum(file.stat().st_size for file in partial.rglob("*.parquet"))
    return ExportReport(folder, rows, size)


def require_free(folder: Path, overwrite: bool, manifest: str) -> Path:
    """The folder behind a path, if an export can be written there; what killed ones
    have left of it is undone.

    Args:
        overwrite: replace an earlier export.
        manifest: its file that lists the others, under ``rows``.

    Raises:
        MisuseError: it holds something other than an earlier export that is to be
            replaced.
    """
    real = folder.resolve()
    if not real.parent.is_dir():
        raise MisuseError(f"the folder {real.parent} does not exist; create it first")
    put_back(real)
    if real.exists() and not real.is_dir():
        raise MisuseError(f"{folder} is a file; expected a folder")
    if not real.exists() or not any(real.iterdir()):
        return real
    if not overwrite:
        raise MisuseError(
            f"{folder} is not empty; --overwrite replaces an earlier export"
        )
    listed = _listed(real / manifest)
    if listed is None:
        raise MisuseError(
            f"{folder} holds no earlier export (no {manifest} of one); it is left alone"
        )
    others = _besides(real, {manifest, *listed})
    if others:
        several = ", ".join(others[:3]) + (" …" if len(others) > 3 else "")
        raise MisuseError(
            f"{folder} holds an earlier export and besides: {several}; move that out "
            "of it first"
        )
    return real


def _listed(manifest: Path) -> list[str] | None:
    """The files of an earlier export, by its manifest; None if this program did not
    write it: others have one too."""
    try:
        head = json.loads(manifest.read_text(encoding="utf-8"))
        if _MARKS & head.keys():
            return list(head["rows"])
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _besides(folder: Path, listed: set[str]) -> list[str]:
    """Entries of a folder that its manifest does not list."""
    found = (
        path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()
    )
    return sorted(
        str(path.relative_to(folder))
        for path in found
        if path.relative_to(folder).as_posix() not in listed
    )


def _write_all(
    store: Store, folder: Path, progress: Callable[[str], None]
) -> dict[str, int]:
    rows: dict[str, int] = {}
    with store.begin() as connection:
        if not store.dialect.embedded:  # others may write meanwhile
            connection.exec_driver_sql(
                "set transaction isolation level repeatable read"
            )
        for path, parts in _files(store, connection):
            progress(path)
            rows[path] = _write(parts, folder / path)
    return rows


def _files(
    store: Store, connection: sa.Connection
) -> Iterator[tuple[str, Iterator[pa.Table]]]:
    for name in tables.metadata.tables:
        if name == tables.content.name:
            yield f"tables/{name}.parquet", _texts(connection)
        elif name not in (tables.id_counter.name, tables.statement.name):
            yield f"tables/{name}.parquet", _slices(store, name)
    for view in query_files.views(store.dialect.name):
        yield f"views/{view.name}.parquet", iter([store.arrow(view_query(view))])


def _slices(store: Store, name: str) -> Iterator[pa.Table]:
    query = table_query(name)
    for part in slices(store, name, TEXT_ROWS if name == "prompt" else FACT_ROWS):
        yield store.arrow(f"{query} {part.condition}", part.parameters)


def _texts(connection: sa.Connection) -> Iterator[pa.Table]:
    """The table of texts, which no id can cut into slices."""
    schema = pa.schema([("sha256", pa.binary()), ("text", pa.string())])
    query = sa.select(tables.content).execution_options(
        stream_results=True, yield_per=TEXT_ROWS
    )
    yield schema.empty_table()
    for part in connection.execute(query).partitions():
        hashes, texts = zip(*part, strict=True)
        yield pa.table(
            [pa.array(hashes, pa.binary()), pa.array(texts, pa.string())], schema=schema
        )


def _write(parts: Iterator[pa.Table], path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    first = next(parts)
    count = int(first.num_rows)
    with (
        path.open("wb") as file,
        pq.ParquetWriter(file, first.schema, compression="zstd") as writer,
    ):
        writer.write_table(first)
        for table in parts:
            writer.write_table(table.cast(first.schema))
            count += table.num_rows
    return count


def _write_manifest(store: Store, folder: Path, rows: dict[str, int]) -> None:
    from importlib.metadata import version

    manifest: dict[str, Any] = {
        "program": version("eval-warehouse"),
        "schema": revision.HEAD,
        "store": store.name,
        "rows": rows,
    }
    text = json.dumps(manifest, indent=2) + "\n"
    replace_file(folder / MANIFEST, text.encode())
