"""A first look at a file: where its records are, also in JSON documents, and what each
of their columns holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.common.streams import TooManyTablesError, members
from warehouse.importers.tabular.chunks import Chunk, NestedChunk, NestedRow
from warehouse.importers.tabular.column_names import (
    path_of,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import as_list, text_of
from warehouse.importers.tabular.drafts.record_locations import (
    DEPTH,
    RecordLocation,
    are_beside,
    keyed_kind,
    location_of,
)
from warehouse.importers.tabular.field_paths import FieldPath, parse_path
from warehouse.importers.tabular.readers import (
    JsonLinesReader,
    JsonReader,
    ReadingRules,
    RowReader,
    ignore,
)
from warehouse.importers.tabular.table import SHEETS, open_reader

#: What exports call the objects that they flatten into columns (``inputs.question``).
_FLATTENED = frozenset(
    "dataset input inputs output outputs reference_outputs reference expected target "
    "feedback feedback_stats"
    " feedback_scores scores score metrics metadata meta example extra summary usage".split()
)


#: Rows that are looked at, cells of them where columns are many, and rows in any case.
SAMPLE_ROWS, _CELLS, _LEAST_ROWS = 10_000, 2_000_000, 200
#: Records that are asked for their fields, most columns, most fields of an object that
#: is no map.
_ASKED, _MOST, _FIELDS = 200, 400, 40


@dataclass
class TableProfile:
    """A file as its first rows show it."""

    path: Path
    format: str
    delimiter: str
    columns: list[ColumnProfile]
    rows: int
    chunk: Chunk  #: the rows themselves.
    #: where the records are, and the generations in each.
    location: RecordLocation = RecordLocation()
    #: scalars of the document that holds the records, by path.
    document: dict[str, Any] = field(default_factory=dict)
    parent: str = ""  #: where other rows, which are left out here, name the row that they are a part of.

    @property
    def is_flat(self) -> bool:
        """True if a cell is a text or a number, as in CSV."""
        return self.format in ("CSV", "TSV")

    @property
    def is_object(self) -> bool:
        """True if the file is one object of JSON that holds no records."""
        return (
            self.rows == 1 and self.format.startswith("JSON") and not self.location.at
        )

    def values(self, column: ColumnProfile) -> list[Any]:
        """The values of a column, row by row."""
        return as_list(self.chunk.column(column.path), self.rows)


def profile(path: Path) -> TableProfile:
    """Look at a CSV, TSV, JSON, JSON lines or Parquet file, also in gzip, or in a zip
    the first.

    Raises:
        InputError: the file cannot be read as a table, or has no rows.
    """
    member = members(path, path.name)[0]
    reader = open_reader(member, ReadingRules())
    location = RecordLocation()
    document: Any = None
    if isinstance(reader, JsonReader | JsonLinesReader):
        location, document = _placed(reader)
        reader = open_reader(
            member, ReadingRules(at=_parsed(location.at), draws=_parsed(location.draws))
        )
    chunk = _first_chunk(reader, path)
    if location.skipped:
        keys = as_list(chunk.column("@key"), chunk.size)
        chunk = chunk.keep(
            [row for row, key in enumerate(keys) if key in location.task_keys]
        )
    parent, roots = _above_others(chunk)
    chunk = chunk.keep(roots) if parent else chunk
    n_columns = max(1, len(chunk.names()))
    rows = max(_LEAST_ROWS, min(SAMPLE_ROWS, _CELLS // n_columns))
    chunk = chunk.keep(range(min(chunk.size, rows)))
    paths = (
        _table_paths(chunk)
        if reader.is_table
        else _record_paths(chunk, location, isinstance(document, dict))
    )
    columns = [_column(chunk, *item) for item in paths]
    scalars = {}
    if location.at and isinstance(document, dict):
        scalars = dict(_scalars(_around_records(document, location), "$"))
    return TableProfile(
        path,
        reader.kind,
        getattr(reader, "delimiter", ""),
        columns,
        chunk.size,
        chunk,
        location=location,
        document=scalars,
        parent=parent,
    )


def _first_chunk(reader: RowReader, path: Path) -> Chunk:
    """The first rows of a table (InputError: it has none)."""
    bad: list[str] = []

    def reject(location: str, found: str, expected: str) -> None:
        bad.append(f": {location}: {found}; expected {expected}")

    chunks: Iterator[Chunk] = reader.chunks(None, reject)
    for chunk in chunks:
        if chunk.size:
            return chunk
    if bad:
        raise InputError(f"no rows{bad[0]}", path=path.name, expected="")
    raise InputError(
        "no rows", path=path.name, expected="a table with at least one row"
    )


def _parents_in(value: Any) -> list[Any]:
    """Names of the rows above, of which a cell holds a list, one or none."""
    if isinstance(value, list):
        return value
    if value in (None, ""):
        return []
    return [value]


def _above_others(chunk: Chunk) -> tuple[str, list[int]]:
    """Where rows name the row that they are a part of, as spans of a trace do, and the
    rows that name none; nothing where there are none of either kind."""
    columns = {
        name: as_list(chunk.column(path_of(name)), chunk.size) for name in chunk.names()
    }
    for name, values in columns.items():
        above = [_parents_in(value) for value in values]
        roots = [row for row, parents in enumerate(above) if not parents]
        named = set(map(str, chain.from_iterable(above)))
        if "parent" not in plain_name(name) or not named or not roots:
            continue
        if any(
            named <= {*map(str, ids)} for other, ids in columns.items() if other != name
        ):
            return path_of(name), roots
    return "", []


def why_unreadable(path: Path) -> str:
    """The fault of JSON (with line and column), CSV, TSV or a spreadsheet, or with an
    archive of too many tables; nothing if it can be read."""
    if path.suffix.lower() == ".zip":
        return _too_many(path)
    if path.suffix.lower() not in (
        ".json",
        ".jsonl",
        ".ndjson",
        ".csv",
        ".tsv",
        *SHEETS,
    ):
        return ""
    try:
        reader = open_reader(members(path, path.name)[0], ReadingRules())
        if not isinstance(reader, JsonLinesReader):
            next(iter(reader.chunks(None, ignore)), None)
    except InputError as error:
        return str(error)
    except OSError:
        pass  # which the walk has said
    return ""


def _too_many(path: Path) -> str:
    try:
        members(path, path.name)
    except TooManyTablesError as error:
        return str(error)
    except InputError:  # which is said otherwise
        return ""
    return ""


def _placed(reader: JsonReader | JsonLinesReader) -> tuple[RecordLocation, Any]:
    """Where the records of a document are, and the document; nothing said where they
    are its elements or lines."""
    chunk = next(iter(reader.chunks(None, ignore)), None)
    if chunk is None or not chunk.size:
        return RecordLocation(), None
    is_nested = isinstance(chunk, NestedChunk)
    document = None
    if isinstance(chunk, NestedChunk):
        document = chunk.rows[0].levels[0][0]
    if is_nested and isinstance(document, dict):
        return location_of(document), document
    records = [
        record
        for record in chunk.keep(range(min(chunk.size, _ASKED))).records()
        if isinstance(record, dict)
    ]
    location = location_of(records)
    if location.at == "[]":
        return RecordLocation("", location.draws), None
    if is_nested:
        place = location.at
    else:
        place = location.at.removeprefix("[].")
    return RecordLocation(place, location.draws), None


def _around_records(
    document: Mapping[str, Any], location: RecordLocation
) -> Mapping[str, Any]:
    """What a document holds beside its records; all of it where these are a list."""
    if not location.at.startswith("{}"):
        return document
    return {key: document[key] for key in location.skipped if key in document}


def _scalars(
    value: Mapping[str, Any], path: str, depth: int = 0
) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        here = f"{path}.{path_of(str(key))}"
        if isinstance(inner, dict) and depth < 2:
            yield from _scalars(inner, here, depth + 1)
        elif isinstance(inner, str | int | float) and inner != "":
            yield here, inner


#: Name, path and objects around a column.
_Where = tuple[str, str, tuple[str, ...]]


def _table_paths(chunk: Chunk) -> list[_Where]:
    """Columns of a table, and the fields of those that hold objects."""
    found: list[_Where] = []
    for name in chunk.names():
        column = chunk.column(name)
        is_nested = isinstance(column, list) or pa.types.is_nested(
            getattr(column, "type", pa.null())
        )
        objects = []
        if is_nested:
            objects = [
                value
                for value in as_list(column, chunk.size)
                if isinstance(value, dict)
            ]
        if not objects:
            found.append(_unflattened(name, path_of(name), ()))
        fields: dict[str, _Where] = {}
        for value in objects[:_ASKED]:
            fields |= {field[1]: field for field in _fields({name: value})}
        found += fields.values()
    return found


def _unflattened(name: str, path: str, parents: tuple[str, ...]) -> _Where:
    """A column by its last name, where an export made it of objects
    (``inputs.question``)."""
    *around, last = name.split(".")
    is_inside = bool(around) and not parents and plain_name(around[0]) in _FLATTENED
    if is_inside:
        return (last, path, tuple(around))
    return (name, path, parents)


def _record_paths(
    chunk: Chunk, location: RecordLocation, is_document: bool
) -> list[_Where]:
    """Names and paths of the fields of records, those inside objects included, and of
    what the records lie in."""
    found: dict[str, _Where] = {}
    inner = location.draws.removesuffix("[]")
    records = [part for part in chunk.records()[:_ASKED] if isinstance(part, dict)]
    opened = _opened(records)
    for record in records:
        for item in _fields(record, opened=opened):
            if inner and are_beside(record.get(item[0]), record.get(inner)):
                # a list beside that of the generations
                item = (
                    item[0].removesuffix("s"),
                    f"{item[1]}[@draw]",
                    (),
                )
            if not inner or not item[1].startswith(inner):
                found.setdefault(item[1], item)
    if isinstance(chunk, NestedChunk):
        for row in chunk.rows[:_ASKED]:
            for item in _around(row, location, is_document):
                found.setdefault(item[1], item)
    if (
        location.at
        and isinstance(chunk, NestedChunk)
        and not any(isinstance(part, dict) for part in chunk.records())
    ):
        found = {
            path: item
            for path, item in found.items()
            if path.lstrip("^").startswith("@")
        }
        found.setdefault("@", ("value", location.draws or "@", ()))
    return _gathered(found.values())[:_MOST]


def _gathered(found: Iterable[_Where]) -> list[_Where]:
    """The columns, with one for all fields of an object that has too many of them to be
    one record."""
    columns = list(found)
    counts = Counter(parents for _, _, parents in columns)
    keyed = {
        parents for parents, count in counts.items() if parents and count > _FIELDS
    }
    kept: dict[str, _Where] = {}
    for name, path, parents in columns:
        around = next(
            (parents[:n] for n in range(1, len(parents) + 1) if parents[:n] in keyed),
            None,
        )
        if around is not None and not path.startswith("^"):
            name = around[-1]
            path = ".".join(map(path_of, around))
            parents = around[:-1]
        kept.setdefault(path, (name, path, parents))
    return list(kept.values())


def _keys_of(location: RecordLocation) -> list[str]:
    """Paths of the keys that records lie under."""
    if location.at.endswith("{}{}"):
        return ["@key", "^@key"]
    if location.at.endswith("{}"):
        return ["@key"]
    if "{}" not in location.at:
        return []
    path = "^" * location.at.rpartition("{}")[2].count("[]") + "@key"
    if "{}{}" in location.at:
        return [path, f"^{path}"]
    return [path]


def _around(
    row: NestedRow, location: RecordLocation, is_document: bool
) -> Iterator[_Where]:
    """The key of a record, the fields of its generation, and those of the record that
    it lies in."""
    for path in _keys_of(location):
        yield path, path, ()
    if (
        location.draws != "[]"
        and row.draw is not None
        and not isinstance(row.draw, dict)
    ):
        yield location.draws.removesuffix("[]"), location.draws, ()
    elif location.draws and isinstance(row.draw, dict):
        yield from (
            (name, f"{location.draws}.{path}", parents)
            for name, path, parents in _fields(row.draw)
        )
    around = row.levels[-2][0] if len(row.levels) > 1 + is_document else None
    is_map = not location.at.endswith("[]")
    if not isinstance(around, dict):
        return
    for name, path, parents in _fields(around):
        value: Any = around
        for key in (*parents, name):
            value = value[key]
        if not isinstance(value, list | dict) and not (parents and is_map):
            yield name, f"^.{path}", parents


def _opened(records: Sequence[Mapping[str, Any]]) -> frozenset[tuple[str, ...]]:
    """Objects that are taken field by field in some records, which are so in all, as
    those of models that were asked about one task beside others about three."""
    around: set[tuple[str, ...]] = set()
    for record in records:
        around |= {parents for _, _, parents in _fields(record) if parents}
    return frozenset(
        parents[:n] for parents in around for n in range(1, len(parents) + 1)
    )


def _fields(
    record: Mapping[str, Any],
    parents: tuple[str, ...] = (),
    depth: int = 0,
    opened: Collection[tuple[str, ...]] = (),
) -> Iterator[_Where]:
    """The fields of a record; an object with keys that are no names of fields is one of
    them.

    Args:
        opened: objects of which the fields are wanted whatever their keys are.
    """
    for key, value in record.items():
        inside = (*parents, str(key))
        is_inside = isinstance(value, dict) and bool(value) and depth < DEPTH - 1
        if is_inside and (inside in opened or not keyed_kind(value)):
            yield from _fields(value, inside, depth + 1, opened)
        else:
            yield _unflattened(
                str(key),
                ".".join(path_of(str(step)) for step in (*parents, key)),
                parents,
            )


def _column(
    chunk: Chunk, name: str, path: str, parents: tuple[str, ...]
) -> ColumnProfile:
    numbers: dict[str, int] = {}
    distinct: list[Any] = []
    codes = np.full(chunk.size, -1, np.int64)
    for row, value in enumerate(as_list(chunk.column(path), chunk.size)):
        if value is None:
            continue
        number = numbers.setdefault(label_of_value(value), len(distinct))
        if number == len(distinct):
            distinct.append(value)
        codes[row] = number
    nulls = int((codes < 0).sum())
    return ColumnProfile(name, path, chunk.size, nulls, distinct, parents, codes)


def label_of_value(value: Any) -> str:
    """A text that is another for each value of each kind, in any file."""
    return f"{type(value).__name__} {text_of(value)}"


def _parsed(text: str) -> FieldPath | None:
    if text:
        return parse_path(text)
    return None
