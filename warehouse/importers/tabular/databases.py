"""Tables of SQLite databases, known by their first bytes.

The file is opened for reading only, as it lies there. Of what it holds only rows of
plain tables are asked for: no view, trigger, virtual table, function or extension is
run, and what the schema says is not trusted.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from warehouse.errors import InputError
from warehouse.importers.common.messages import listed
from warehouse.importers.common.streams import Member
from warehouse.importers.tabular.chunks import Chunk
from warehouse.importers.tabular.delimited import unique_names
from warehouse.importers.tabular.readers import ReadingRules, Reject, refuse_wide
from warehouse.importers.tabular.table_choice import chosen_table
from warehouse.importers.tabular.value_rows import NumberedRow, table_chunks

MAGIC = b"SQLite format 3\0"
#: Longest text or blob of a cell, in bytes.
MAX_CELL_BYTES = 256 << 20
_SHOWN_NAMES = 6
#: Actions that are allowed while a table is read.
_ALLOWED = frozenset(
    (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_TRANSACTION)
)
#: What the engine says of columns: those of tables, and computed ones that are stored;
#: others are computed when they are read.
_STORED = (0, 3)
_TABLES = "select name, sql from sqlite_schema where type = 'table' order by rowid"


def is_sqlite(path: Path) -> bool:
    """True if a file begins as databases of SQLite do."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class DatabaseReader:
    """One table of a database."""

    kind = "SQLite"
    is_table = True

    def __init__(self, member: Member, rules: ReadingRules) -> None:
        self.member = member
        _refuse_unfinished(member)
        with self._connection() as database:
            tables = {name: _columns(database, name) for name in _tables(database)}
            described = {
                name: listed(columns, _SHOWN_NAMES)
                for name, columns in tables.items()
                if columns and _has_rows(database, name)
            }
        self.table = chosen_table(
            described, rules.table, kind="table", path=member.name
        )
        self.columns = tables[self.table]
        refuse_wide(len(self.columns), member.name)

    def chunks(self, paths: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        names = unique_names(self.columns)
        with self._connection() as database:
            yield from table_chunks(names, self._rows(database))

    def notes(self) -> list[str]:
        """Nothing that a reader of the whole file should know."""
        return []

    def _rows(self, database: sqlite3.Connection) -> Iterator[NumberedRow]:
        most = self.member.path.stat().st_size  # each row takes a byte at least
        columns = ", ".join(map(_quoted, self.columns))
        rows = database.execute(f"select {columns} from {_quoted(self.table)}")
        for number, row in enumerate(rows, 1):
            if number > most:
                raise InputError(
                    f"more than {most} rows in a file of as many bytes",
                    path=self.member.name,
                    advice="the database is damaged",
                )
            yield number, [_cell(value) for value in row]

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The database, opened for reading only (InputError: it cannot be read)."""
        place = quote(os.fsencode(self.member.path.absolute()))
        try:
            with closing(
                sqlite3.connect(
                    f"file:{place}?mode=ro&immutable=1",
                    uri=True,
                    check_same_thread=False,
                )
            ) as database:
                database.execute("pragma trusted_schema = off")
                database.execute("pragma cell_size_check = on")
                database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES)
                database.set_authorizer(_allowed)
                yield database
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise InputError(
                f"cannot be read as a database of SQLite: {error}",
                path=self.member.name,
                advice=(
                    "check that the file was copied whole; or export the rows: "
                    f'sqlite3 -header -csv {self.member.path.name} "select …" > rows.csv'
                ),
            ) from None


def _allowed(action: int, subject: str | None, *_: Any) -> int:
    """Let nothing but the reading of tables and of what they are made of happen."""
    is_question = action == sqlite3.SQLITE_PRAGMA and subject == "table_xinfo"
    if action in _ALLOWED or is_question:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _refuse_unfinished(member: Member) -> None:
    """Refuse a database of which rows still lie in a file beside it."""
    for end in ("-wal", "-journal"):
        beside = member.path.with_name(member.path.name + end)
        if beside.is_file() and beside.stat().st_size:
            raise InputError(
                f"a part of it lies in {beside.name}",
                path=member.name,
                expected="a database that no program has open",
                advice=(
                    "end the program that writes it, or copy it: sqlite3 "
                    f"{member.path.name} \"vacuum into 'copy.db'\""
                ),
            )


def _tables(database: sqlite3.Connection) -> list[str]:
    """Tables of rows: none of the engine's own, none that a module makes up, and none
    in which such a module keeps what it needs."""
    made_by = dict(database.execute(_TABLES).fetchall())
    virtual = {
        name
        for name, text in made_by.items()
        if (text or "").lstrip().upper().startswith("CREATE VIRTUAL")
    }
    others = ("sqlite_", *(f"{name}_" for name in virtual))
    return [
        name for name in made_by if name not in virtual and not name.startswith(others)
    ]


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table whose values are stored."""
    rows = database.execute(f"pragma table_xinfo({_quoted(table)})")
    return [str(name) for _, name, *_, hidden in rows if hidden in _STORED]


def _has_rows(database: sqlite3.Connection, table: str) -> bool:
    query = f"select 1 from {_quoted(table)} limit 1"
    return database.execute(query).fetchone() is not None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _cell(value: Any) -> Any:
    """A value; bytes that are no text are null."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
