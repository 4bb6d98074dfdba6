"""A first look at a file: where its records are, also in JSON documents, and what each
of their columns holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from warehouse.errors import InputError
from warehouse.importers.common.streams import TooManyTablesError, members
from warehouse.importers.tabular.chunks import Chunk, NestedChunk
from warehouse.importers.tabular.column_names import (
    path_of,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import as_list, text_of
from warehouse.importers.tabular.drafts.column_paths import (
    ASKED,
    parsed,
    record_paths,
    table_paths,
)
from warehouse.importers.tabular.drafts.record_locations import (
    RecordLocation,
    location_of,
)
from warehouse.importers.tabular.readers import (
    JsonLinesReader,
    JsonReader,
    ReadingRules,
    RowReader,
    ignore,
)
from warehouse.importers.tabular.table import SHEETS, open_reader
from warehouse.importers.tabular.titles import said

#: Objects of a document that are looked at.
_MOST_OBJECTS = 5_000
#: Rows that are looked at, cells of them where columns are many, and rows in any case.
SAMPLE_ROWS, _CELLS, _LEAST_ROWS = 10_000, 2_000_000, 200


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
    #: other places of the document that have numbers by the keys of the records.
    same_keys: tuple[str, ...] = ()
    above: str = ""  #: what is said of titles above the names of the columns.
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
            member, ReadingRules(at=parsed(location.at), draws=parsed(location.draws))
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
        table_paths(chunk)
        if reader.is_table
        else record_paths(chunk, location, isinstance(document, dict))
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
        same_keys=tuple(_same_keys(document, location)),
        above=said(getattr(reader, "titles", ())),
        parent=parent,
    )


#: Depth to which a document is searched, places that are named, and the share of the
#: keys that a place has.
_DEEP, _PLACES, _OF_KEYS = 5, 12, 0.6
#: Words by which a place says what its keys are, not how they were done.
_OF_KEYS_NAMES = frozenset(
    "version versions shot shots fewshot count counts size sizes seed seeds".split()
)


def _same_keys(document: Any, location: RecordLocation) -> Iterator[str]:
    """Places of a document, beside that of its records, that hold numbers by the same
    keys."""
    if not location.at.endswith("{}") or not isinstance(document, dict):
        return
    places = dict(islice(_objects_in(document, "", 0), _MOST_OBJECTS))
    own = places.get(location.at.removesuffix("{}"))
    keys = {*own} if own is not None else set()
    found = [
        path
        for path, value in places.items()
        if value is not own
        and len(keys & {*value}) >= max(2, _OF_KEYS * len(keys))
        and any(_has_number(value[key]) for key in keys & {*value})
        and not _says_of_keys(path, value)
    ]
    yield from found[:_PLACES]


def _objects_in(
    value: Mapping[str, Any], path: str, depth: int
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a document with the path of each."""
    yield path, value
    if depth >= _DEEP:
        return
    for key, inner in value.items():
        if isinstance(inner, dict):
            name = path_of(str(key))
            here = f"{path}.{name}" if path else name
            yield from _objects_in(inner, here, depth + 1)


def _has_number(value: Any) -> bool:
    """True if a value is a number, or an object with one."""
    values = value.values() if isinstance(value, dict) else [value]
    return any(isinstance(own, int | float) for own in values)


def _says_of_keys(path: str, values: Mapping[str, Any]) -> bool:
    """True if a place is called as versions or counts of its keys, and holds whole
    numbers: what benchmarks are, and no figures of them."""
    words = words_of(path.rpartition(".")[2])
    are_whole = all(
        value is None or isinstance(value, int) for value in values.values()
    )
    return are_whole and not _OF_KEYS_NAMES.isdisjoint(words)


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
    called = [name for name in chunk.names() if "parent" in plain_name(name)]
    if not called:
        return "", []
    columns = {
        name: as_list(chunk.column(path_of(name)), chunk.size) for name in chunk.names()
    }
    for name in called:
        above = [_parents_in(value) for value in columns[name]]
        roots = [row for row, parents in enumerate(above) if not parents]
        named = set(map(str, chain.from_iterable(above)))
        if not named or not roots:
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
        for record in chunk.keep(range(min(chunk.size, ASKED))).records()
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


def _column(
    chunk: Chunk, name: str, path: str, parents: tuple[str, ...]
) -> ColumnProfile:
    numbers: dict[str | tuple[str, ...], int] = {}
    distinct: list[Any] = []
    found = []
    for value in as_list(chunk.column(path), chunk.size):
        if value is None:
            found.append(-1)
            continue
        # texts are most of the values, and are told apart as they are
        label = value if type(value) is str else (label_of_value(value),)
        number = numbers.setdefault(label, len(distinct))
        if number == len(distinct):
            distinct.append(value)
        found.append(number)
    codes = np.array(found, np.int64)
    nulls = int((codes < 0).sum())
    return ColumnProfile(name, path, chunk.size, nulls, distinct, parents, codes)


def label_of_value(value: Any) -> str:
    """A text that is another for each value of each kind, in any file."""
    return f"{type(value).__name__} {text_of(value)}"
