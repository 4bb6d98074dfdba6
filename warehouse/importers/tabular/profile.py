"""A first look at a table: where its records are, and what each of their columns holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.streams import Member, members
from warehouse.importers.tabular.chunks import Chunk, NestedChunk
from warehouse.importers.tabular.columns import as_list
from warehouse.importers.tabular.field_paths import FieldPath, parse_path
from warehouse.importers.tabular.plain_tables import guess, path_of
from warehouse.importers.tabular.readers import JsonReader, Reader, ReadingRules, ignore
from warehouse.importers.tabular.score_words import ScoreValues
from warehouse.importers.tabular.table import open_reader
from warehouse.importers.tabular.values import text_of

#: Rows that are looked at.
SAMPLE_ROWS = 2_000
_DEPTH = 4
_DISTINCT = 1_000


@dataclass
class ColumnProfile:
    """A column of a table, as its first rows show it.

    Attributes:
        name: what it is called; ``path`` is how a mapping names it.
        values: the distinct values, at most a thousand of them, nulls left out.
        rows: how many rows were looked at; ``nulls`` of them have no value.
    """

    name: str
    path: str
    rows: int
    nulls: int
    values: list[Any]

    @property
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

    @property
    def scores(self) -> ScoreValues:
        """The values as if they were scores."""
        scores = ScoreValues()
        scores.learn_values(value for value in self.values if value != "")
        return scores

    @property
    def is_number(self) -> bool:
        """Whether all of its values are numbers."""
        scores = self.scores
        return scores.numbers and not scores.texts

    @property
    def is_unique(self) -> bool:
        """Whether every row has a value of its own."""
        return len(self.values) == self.rows > 0


@dataclass
class TableProfile:
    """A file as its first rows show it.

    Attributes:
        at, draws: paths of the records in a document and of the generations in a record.
        document: scalars of the document that holds the records, by path.
    """

    path: Path
    format: str
    delimiter: str
    columns: list[ColumnProfile]
    rows: int
    at: str = ""
    draws: str = ""
    document: dict[str, Any] = field(default_factory=dict)


def profile(path: Path) -> TableProfile:
    """Look at a CSV, TSV, JSON, JSON lines or Parquet file, also in gzip, or in a zip the first.

    Raises:
        InputError: the file cannot be read as a table, or has no rows.
    """
    member = members(path, path.name)[0]
    reader = open_reader(member, ReadingRules())
    table = TableProfile(path, reader.kind, getattr(reader, "delimiter", ""), [], 0)
    if isinstance(reader, JsonReader):
        reader = _placed(member, reader, table)
    chunk = next(iter(reader.chunks(None, ignore)), None)
    if chunk is None or not chunk.size:
        raise InputError("no rows", path=path.name, expected="a table with at least one row")
    table.rows = min(chunk.size, SAMPLE_ROWS)
    chunk = chunk.keep(range(table.rows))
    if not reader.is_table and not table.draws:
        draws = _draws(chunk.records())
        if draws:
            table.draws = draws
            rules = ReadingRules(at=_parsed(table.at), draws=parse_path(draws))
            chunk = next(iter(open_reader(member, rules).chunks(None, ignore)), chunk)
            table.rows = min(chunk.size, SAMPLE_ROWS)
            chunk = chunk.keep(range(table.rows))
    paths = _table_paths(chunk) if reader.is_table else _record_paths(chunk, table.draws)
    table.columns = [_column(chunk, name, text) for name, text in paths]
    return table


def _placed(member: Member, reader: JsonReader, table: TableProfile) -> Reader:
    """The reader of a document's records; fills in where they are."""
    chunk = next(iter(reader.chunks(None, ignore)), None)
    rows = chunk.rows if isinstance(chunk, NestedChunk) else []
    document = rows[0].levels[0][0] if rows else None
    if not isinstance(document, dict):
        return reader
    places = sorted(_places(document, ""), key=lambda item: item[1], reverse=True)
    if not places:
        return reader
    table.at = places[0][0]
    table.document = dict(_scalars(document, "$"))
    return open_reader(member, ReadingRules(at=_parsed(table.at)))


def _places(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, tuple[int, int]]]:
    """Where records may be in a document: path, with how many fields are known and how many
    records there are."""
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        records = [item for item in value[:50] if isinstance(item, dict)]
        if records and len(records) == len(value[:50]):
            yield f"{path}[]", (_known(records[0]), len(value))
            yield from _places_inside(records[0], f"{path}[].", depth)
    elif isinstance(value, dict):
        inner = list(value.values())
        keys = {frozenset(item) for item in inner if isinstance(item, dict)}
        if len(inner) > 2 and len(keys) == 1 and all(isinstance(item, dict) for item in inner):
            yield f"{path}{{}}", (_known(inner[0]), len(inner))
        yield from _places_inside(value, f"{path}." if path else "", depth)


def _places_inside(value: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, tuple[int, int]]]:
    for key, inner in value.items():
        if isinstance(inner, list | dict):
            yield from _places(inner, f"{prefix}{path_of(str(key))}", depth + 1)


def _known(record: Mapping[str, Any]) -> int:
    """How many columns of a record have usual names."""
    guessed = guess([str(key) for key in record], objects=True)
    return len(guessed.run) + len(guessed.sample) + len(guessed.metadata) + len(guessed.scores)


def _draws(records: Sequence[Any]) -> str:
    """The path of the generations in records: the longest list of objects with a score or text."""
    first = next((record for record in records if isinstance(record, dict)), {})
    candidates = [
        (len(value), f"{path_of(str(key))}[]")
        for key, value in first.items()
        if isinstance(value, list)
        and value
        and all(isinstance(item, dict) for item in value)
        and (guess([str(k) for k in value[0]], objects=True).scores)
    ]
    return max(candidates)[1] if candidates else ""


def _scalars(value: Mapping[str, Any], path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        here = f"{path}.{path_of(str(key))}"
        if isinstance(inner, dict) and depth < 2:
            yield from _scalars(inner, here, depth + 1)
        elif isinstance(inner, str | int | float) and inner != "":
            yield here, inner


def _table_paths(chunk: Chunk) -> list[tuple[str, str]]:
    return [(name, path_of(name)) for name in chunk.names()]


def _record_paths(chunk: Chunk, draws: str) -> list[tuple[str, str]]:
    """Names and paths of the fields of records, those inside objects included."""
    names_by_path: dict[str, str] = {}
    for record in chunk.records()[:50]:
        if isinstance(record, dict):
            for name, path in _fields(record, ""):
                if not draws or not path.startswith(draws.removesuffix("[]")):
                    names_by_path.setdefault(path, name)
    if draws and isinstance(chunk, NestedChunk):
        for row in chunk.rows[:50]:
            for name, path in _fields(row.draw, f"{draws}.") if isinstance(row.draw, dict) else ():
                names_by_path.setdefault(path, name)
    return [(name, path) for path, name in names_by_path.items()]


def _fields(record: Mapping[str, Any], prefix: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    for key, value in record.items():
        path = f"{prefix}{path_of(str(key))}"
        if isinstance(value, dict) and value and depth < 2:
            yield from _fields(value, f"{path}.", depth + 1)
        else:
            yield str(key), path


def _column(chunk: Chunk, name: str, path: str) -> ColumnProfile:
    values = as_list(chunk.column(path), chunk.size)
    distinct: dict[str, Any] = {}
    nulls = 0
    for value in values:
        if value is None:
            nulls += 1
        elif len(distinct) < max(_DISTINCT, SAMPLE_ROWS):
            distinct.setdefault(f"{type(value).__name__} {text_of(value)}", value)
    return ColumnProfile(name, path, chunk.size, nulls, list(distinct.values()))


def _parsed(text: str) -> FieldPath | None:
    return parse_path(text) if text else None
