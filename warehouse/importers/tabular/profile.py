"""A first look at a table: where its records are, and what each of their columns holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.common.streams import members
from warehouse.importers.tabular.chunks import Chunk, NestedChunk
from warehouse.importers.tabular.columns import as_list, number_of, text_of
from warehouse.importers.tabular.field_paths import FieldPath, Row, parse_path
from warehouse.importers.tabular.plain_tables import path_of
from warehouse.importers.tabular.readers import JsonLinesReader, JsonReader, ReadingRules, ignore
from warehouse.importers.tabular.record_places import Place, keyed_kind, place_of
from warehouse.importers.tabular.score_words import NULL_WORDS, PERCENT, ScoreValues, plain
from warehouse.importers.tabular.table import open_reader

#: Rows that are looked at, cells of them where columns are many, and rows in any case.
SAMPLE_ROWS, _CELLS, _LEAST_ROWS = 10_000, 2_000_000, 200
#: Levels of objects in a record that are looked into, records that are asked for their fields, most columns,
#: most fields of an object that is no map.
_DEPTH, _ASKED, _MOST, _FIELDS = 5, 200, 400, 40


@dataclass
class ColumnProfile:
    """A column of a table, as its first rows show it.

    Attributes:
        name: what it is called; ``path`` is how a mapping names it.
        values: the distinct values, nulls left out.
        rows: how many rows were looked at; ``nulls`` of them have no value.
        parents: names of the objects that it lies in, outermost first.
    """

    name: str
    path: str
    rows: int
    nulls: int
    values: list[Any]
    parents: tuple[str, ...] = ()

    @cached_property
    def kind(self) -> str:
        """What its values are, in a word or two."""
        if not self.values:
            return "empty"
        if all(isinstance(value, list | dict) for value in self.values):
            return "list" if isinstance(self.values[0], list) else "object"
        if all(isinstance(value, bool) for value in self.values):
            return "true/false"
        scores = self.scores
        if scores.texts:
            return "mixed" if scores.numbers else "text"
        return "0/1" if scores.is_truth else "number"

    @cached_property
    def scores(self) -> ScoreValues:
        """The values as if they were scores."""
        scores = ScoreValues()
        scores.learn_values(value for value in self.values if value != "")
        return scores

    def reading(self, delimiter: str = ",") -> tuple[dict[str, Any], str]:
        """Keys of an expression that turn the values into numbers, and what they do in words; nothing where they
        are numbers, or none at all."""
        if self.is_percent:
            return ColumnProfile("", "", 0, 0, self.values[:8]).scores.reading(delimiter)
        return self.scores.reading(delimiter)

    @cached_property
    def is_percent(self) -> bool:
        """Whether all values are texts like ``85.2 %``, but for those that stand for a missing one."""
        texts = [value.strip() for value in self.values if isinstance(value, str)]
        stated = [text for text in texts if text and plain(text) not in NULL_WORDS]
        return len(texts) == len(self.values) and bool(stated) and all(map(PERCENT.fullmatch, stated))

    @cached_property
    def numbers(self) -> list[float]:
        """The values that are numbers."""
        return [float(number) for value in self.values if isinstance(number := number_of(value), int | float)]

    @property
    def coverage(self) -> float:
        """Share of the rows that have a value."""
        return 1 - self.nulls / self.rows if self.rows else 0.0

    @property
    def is_number(self) -> bool:
        """Whether all of its values are numbers."""
        scores = self.scores
        return scores.numbers and not scores.texts

    @property
    def depth(self) -> int:
        """Objects of the record that it lies in; what lies beside the record counts as deeper than what is in it."""
        return len(self.parents) + self.path.startswith("^")

    @property
    def is_unique(self) -> bool:
        """Whether every row has a value of its own."""
        return len(self.values) == self.rows > 0


@dataclass
class TableProfile:
    """A file as its first rows show it.

    Attributes:
        at, draws: paths of the records in a document and of the generations in a record.
        beside, parallel: what the document holds of such records elsewhere (``Place``).
        document: scalars of the document that holds the records, by path.
        chunk: the rows themselves.
    """

    path: Path
    format: str
    delimiter: str
    columns: list[ColumnProfile]
    rows: int
    chunk: Chunk
    at: str = ""
    draws: str = ""
    beside: tuple[str, ...] = ()
    parallel: tuple[str, ...] = ()
    document: dict[str, Any] = field(default_factory=dict)

    @property
    def is_flat(self) -> bool:
        """Whether a cell is a text or a number, as in CSV."""
        return self.format in ("CSV", "TSV")

    def values(self, column: ColumnProfile) -> list[Any]:
        """The values of a column, row by row."""
        return as_list(self.chunk.column(column.path), self.rows)


def profile(path: Path) -> TableProfile:
    """Look at a CSV, TSV, JSON, JSON lines or Parquet file, also in gzip, or in a zip the first.

    Raises:
        InputError: the file cannot be read as a table, or has no rows.
    """
    member = members(path, path.name)[0]
    reader = open_reader(member, ReadingRules())
    place = Place()
    document: Any = None
    if isinstance(reader, JsonReader | JsonLinesReader):
        place, document = _placed(reader)
        reader = open_reader(member, ReadingRules(at=_parsed(place.at), draws=_parsed(place.draws)))
    bad: list[str] = []
    told = reader.chunks(None, lambda place, found, expected: bad.append(f": {place}: {found}; expected {expected}"))
    chunk = next((part for part in told if part.size), None)
    if chunk is None:
        first = bad[0] if bad else ""
        raise InputError(f"no rows{first}", path=path.name, expected="" if bad else "a table with at least one row")
    rows = max(_LEAST_ROWS, min(SAMPLE_ROWS, _CELLS // max(1, len(chunk.names()))))
    chunk = chunk.keep(range(min(chunk.size, rows)))
    table = TableProfile(path, reader.kind, getattr(reader, "delimiter", ""), [], chunk.size, chunk)
    table.at, table.draws, table.beside, table.parallel = place.at, place.draws, place.beside, place.parallel
    if place.at and isinstance(document, dict):
        table.document = dict(_scalars(document, "$"))
    paths = _table_paths(chunk) if reader.is_table else _record_paths(chunk, place, isinstance(document, dict))
    table.columns = [_column(chunk, *item) for item in paths]
    return table


def why_unreadable(path: Path) -> str:
    """What is wrong with a file of JSON (with line and column), CSV or TSV; nothing if it can be read, or is none."""
    if path.suffix.lower() not in (".json", ".jsonl", ".ndjson", ".csv", ".tsv"):
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


def _placed(reader: JsonReader | JsonLinesReader) -> tuple[Place, Any]:
    """Where the records of a document are, and the document; nothing said where they are its elements or lines."""
    chunk = next(iter(reader.chunks(None, ignore)), None)
    if chunk is None or not chunk.size:
        return Place(), None
    is_nested = isinstance(chunk, NestedChunk)
    document = chunk.rows[0].levels[0][0] if isinstance(chunk, NestedChunk) else None
    if is_nested and isinstance(document, dict):
        return place_of(document), document
    records = [record for record in chunk.keep(range(min(chunk.size, _ASKED))).records() if isinstance(record, dict)]
    place = place_of(records)
    if place.at == "[]":
        return Place("", place.draws), None
    return Place(place.at if is_nested else place.at.removeprefix("[]."), place.draws), None


def _scalars(value: Mapping[str, Any], path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
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
        values = as_list(chunk.column(name), chunk.size) if not _is_plain_column(chunk, name) else []
        objects = [value for value in values if isinstance(value, dict)]
        if not objects:
            found.append((name, path_of(name), ()))
        known = {path: (key, path, inner) for value in objects[:_ASKED] for key, path, inner in _fields({name: value})}
        found += known.values()
    return found


def _is_plain_column(chunk: Chunk, name: str) -> bool:
    column = chunk.column(name)
    return not isinstance(column, list) and not pa.types.is_nested(getattr(column, "type", pa.null()))


def _record_paths(chunk: Chunk, place: Place, is_document: bool) -> list[_Where]:
    """Names and paths of the fields of records, those inside objects included, and of what the records lie in."""
    found: dict[str, _Where] = {}
    inner = place.draws.removesuffix("[]")
    for record in chunk.records()[:_ASKED]:
        for item in _fields(record) if isinstance(record, dict) else ():
            if not inner or not item[1].startswith(inner):
                found.setdefault(item[1], item)
    if isinstance(chunk, NestedChunk):
        for row in chunk.rows[:_ASKED]:
            for item in _around(row, place, is_document):
                found.setdefault(item[1], item)
    if place.at and isinstance(chunk, NestedChunk) and not any(isinstance(part, dict) for part in chunk.records()):
        found = {path: item for path, item in found.items() if path.lstrip("^").startswith("@")}
        found.setdefault("@", ("value", place.draws or "@", ()))
    return _gathered(found.values())[:_MOST]


def _gathered(found: Iterable[_Where]) -> list[_Where]:
    """The columns, with one for all fields of an object that has too many of them to be one record."""
    several = list(found)
    counts = Counter(parents for _, _, parents in several)
    keyed = {parents for parents, count in counts.items() if parents and count > _FIELDS}
    kept: dict[str, _Where] = {}
    for name, path, parents in several:
        around = next((parents[:n] for n in range(1, len(parents) + 1) if parents[:n] in keyed), None)
        item = (name, path, parents)
        if around is not None and not path.startswith("^"):
            item = (around[-1], ".".join(map(path_of, around)), around[:-1])
        kept.setdefault(item[1], item)
    return list(kept.values())


def _around(row: Row, place: Place, is_document: bool) -> Iterator[_Where]:
    """The key of a record, the fields of its generation, and those of the record that it lies in."""
    if place.at.endswith("{}"):
        yield "@key", "@key", ()
    elif "{}" in place.at:
        path = "^" * place.at.rpartition("{}")[2].count("[]") + "@key"
        yield path, path, ()
    if place.draws and isinstance(row.draw, dict):
        yield from ((name, f"{place.draws}.{path}", parents) for name, path, parents in _fields(row.draw))
    around = row.levels[-2][0] if len(row.levels) > 1 + is_document else None
    for name, value in around.items() if isinstance(around, dict) else ():
        if not isinstance(value, list | dict):
            yield str(name), f"^.{path_of(str(name))}", ()


def _fields(record: Mapping[str, Any], parents: tuple[str, ...] = (), depth: int = 0) -> Iterator[_Where]:
    """The fields of a record; an object with keys that are no names of fields is one of them."""
    for key, value in record.items():
        if isinstance(value, dict) and value and depth < _DEPTH - 1 and not keyed_kind(value):
            yield from _fields(value, (*parents, str(key)), depth + 1)
        else:
            yield str(key), ".".join(path_of(str(step)) for step in (*parents, key)), parents


def _column(chunk: Chunk, name: str, path: str, parents: tuple[str, ...]) -> ColumnProfile:
    values = as_list(chunk.column(path), chunk.size)
    distinct: dict[str, Any] = {}
    nulls = 0
    for value in values:
        if value is None:
            nulls += 1
        else:
            distinct.setdefault(f"{type(value).__name__} {text_of(value)}", value)
    return ColumnProfile(name, path, chunk.size, nulls, list(distinct.values()), parents)


def _parsed(text: str) -> FieldPath | None:
    return parse_path(text) if text else None
