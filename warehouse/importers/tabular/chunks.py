"""Some thousand rows of a file, of which columns are taken by field path
(``completions[].score``, ``$.config.seed``).

docs/reference/mapping_language.md is the reference of paths. JMESPath cannot say most
of them: what a
record lies in (``^``), keys and numbers of its elements (``@key``), other files
(``&``), null apart from missing; and it takes 15 times as long. :class:`TableChunk`
comes from CSV, TSV and Parquet, :class:`FlatChunk` from JSON lines with one record a
line, :class:`NestedChunk` from records that lie deeper or hold several generations. A
:class:`RowView` adds what else an expression can see: groups of the path, joined files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.tabular.columns import (
    Column,
    Constant,
    decode,
    encode,
    text_of,
)
from warehouse.importers.tabular.field_paths import (
    MISSING,
    Each,
    FieldPath,
    PathError,
    Special,
    Woven,
    child,
    column_of,
    descend,
    parse_path,
    plain_steps,
)
from warehouse.importers.tabular.null_words import NO_NULLS, NullWords

# --- documents ------------------------------------------------------------------------------------

#: Value, key in the object that holds it, number among its siblings.
Level = tuple[Any, str | None, int]


@dataclass(slots=True)
class NestedRow:
    """One row of a nested document: what it lies in, outermost first, and its
    generation."""

    levels: tuple[Level, ...]
    draw: Any = None
    draw_number: int | None = None


@dataclass
class Walk:
    """How to find the rows in a document.

    ``lacking`` counts documents without any record while walking, ``empty`` records
    without any generation.
    """

    #: path of the records; ``None``: the elements of a list, or the object itself.
    at: FieldPath | None
    draws: FieldPath | None  #: path of the generations in a record.
    lacking: int = field(default=0, compare=False)
    empty: int = field(default=0, compare=False)

    def begin(self) -> None:
        """Count from nothing."""
        self.lacking = self.empty = 0

    @property
    def begins_with_a_name(self) -> bool:
        """True if the records lie in a field: a list has none, its elements may."""
        return (
            self.at is not None
            and bool(self.at.steps)
            and isinstance(self.at.steps[0], str)
        )

    def rows(self, document: Any, number: int = 0) -> Iterator[NestedRow]:
        """The rows of a document. ``number`` is the document's own among its
        siblings."""
        steps: Sequence[Any]
        if self.at:
            steps = self.at.steps
        else:
            steps = ()
        if self.at is None and isinstance(document, list):
            steps = (Each.ITEM,)
        is_lacking = True
        for levels in _walk(((document, None, number),), document, steps):
            is_lacking = False
            yield from self._generations(levels)
        self.lacking += is_lacking

    def _generations(self, levels: tuple[Level, ...]) -> Iterator[NestedRow]:
        if self.draws is None:
            yield NestedRow(levels)
            return
        rows = [
            NestedRow(levels, value, number)
            for value, _, number in self._inner(levels[-1][0], self.draws.steps)
        ]
        self.empty += not rows
        yield from rows

    def _inner(self, record: Any, steps: Sequence[Any]) -> Iterable[Level]:
        is_only_one = Each not in map(type, steps[:-1])
        if isinstance(steps[-1], Each) and is_only_one:
            return _elements(descend(record, steps[:-1]), steps[-1])
        return (levels[-1] for levels in _walk(((record, None, 0),), record, steps))


def _walk(
    levels: tuple[Level, ...], value: Any, steps: Sequence[Any]
) -> Iterator[tuple[Level, ...]]:
    for depth, step in enumerate(steps):
        if isinstance(step, Each):
            for level in _elements(value, step):
                yield from _walk((*levels, level), level[0], steps[depth + 1 :])
            return
        value = child(value, step)
    if value is not MISSING:
        if value is levels[-1][0]:
            yield levels
        else:
            yield (*levels, (value, None, 0))


def _elements(value: Any, step: Each) -> Iterable[Level]:
    if step is Each.ITEM and isinstance(value, list):
        return ((element, None, number) for number, element in enumerate(value))
    if step is Each.VALUE and isinstance(value, dict):
        return ((value[key], key, number) for number, key in enumerate(value))
    return ()


def location_in_document(walk: Walk, row: NestedRow) -> str:
    """The path of a row in its document, with numbers and keys filled in."""
    levels = row.levels[1:]
    steps: Sequence[Any] = ()
    if walk.at:
        steps = walk.at.steps
    elif levels:
        steps = (Each.ITEM,)
    text = _filled(steps, levels)
    if row.draw_number is None or not walk.draws:
        return text
    draw = _filled(walk.draws.steps, [(None, None, row.draw_number)])
    if text:
        return f"{text}.{draw}"
    return draw


def _filled(steps: Any, levels: Sequence[Any]) -> str:
    remaining, text = iter(levels), ""
    for step in steps:
        if isinstance(step, Each):
            _, key, number = next(remaining, (None, None, 0))
            if key is None:
                text += f"[{number}]"
            else:
                text += f"[{key!r}]"
        elif text:
            text += f".{step}"
        else:
            text = str(step)
    return text


class Chunk(Protocol):
    """Rows of one file."""

    @property
    def size(self) -> int:
        """How many."""

    def column(self, text: str) -> Column:
        """The values at a field path, one per row; null where a row has none.

        Raises:
            PathError: the path means nothing in this kind of file.
        """

    def holds(self, text: str) -> bool:
        """True if any row has something (null counts) at the path."""

    def names(self) -> list[str]:
        """Columns, or keys of the records, for messages."""

    def location(self, row: int) -> str:
        """Where a row stands in its file."""

    def records(self) -> list[Any]:
        """The rows as objects."""

    def keep(self, rows: Sequence[int]) -> Chunk:
        """Some of the rows."""


@dataclass
class TableChunk:
    """Rows of a table. ``indices`` count the records of the file from 0, ``numbers``
    are the rows' numbers for people (the header of a CSV file is row 1), ``order`` are
    the names of all columns of the file (empty: those of ``data``), for columns that
    are meant by their place."""

    data: pa.Table
    indices: Sequence[int]
    numbers: Sequence[int]
    order: Sequence[str] = field(default=(), kw_only=True)

    @property
    def size(self) -> int:
        return int(self.data.num_rows)

    @cached_property
    def _columns(self) -> frozenset[str]:
        return frozenset(self.data.column_names)

    def column(self, text: str) -> Column:
        if text in self._columns:
            return self.data.column(text).combine_chunks()
        if text == "@index":
            return pa.array(self.indices, pa.int64())
        top, steps = self._nested(text)
        return [_or_none(descend(value, steps)) for value in top]

    def holds(self, text: str) -> bool:
        if text in self._columns or text == "@index":
            return True
        if column_of(text, self.order or self.data.column_names) not in self._columns:
            return False
        top, steps = self._nested(text)
        return any(descend(value, steps) is not MISSING for value in top)

    def names(self) -> list[str]:
        return [str(name) for name in self.data.column_names]

    def location(self, row: int) -> str:
        return f"row {self.numbers[row]}"

    def records(self) -> list[Any]:
        return list(self.data.to_pylist())

    def _nested(self, text: str) -> tuple[list[Any], Sequence[str | int]]:
        """The values of the column that a path begins with, and its further steps."""
        first, *steps = plain_steps(parse_path(text)) or ("",)
        name = column_of(text, self.order or self.data.column_names)
        if name not in self._columns:
            raise PathError(f"no column {first!r}")
        return list(self.data.column(name).to_pylist()), steps

    def keep(self, rows: Sequence[int]) -> TableChunk:
        taken = self.data.take(pa.array(rows, pa.int64()))
        return TableChunk(
            taken, _at(self.indices, rows), _at(self.numbers, rows), order=self.order
        )


class RecordChunk(ABC):
    """The base of chunks of JSON records: walking the steps of a path."""

    size: int

    def column(self, text: str) -> Column:
        return [_or_none(value) for value in self._values(parse_path(text))]

    def holds(self, text: str) -> bool:
        return any(value is not MISSING for value in self._values(parse_path(text)))

    def names(self) -> list[str]:
        keys: dict[str, None] = {}
        for record in self.records():
            keys.update(dict.fromkeys(record if isinstance(record, dict) else ()))
        return list(keys)

    def beside(self, text: str) -> list[str]:
        """Keys that stand where a step of a path is missing; none where no objects
        do."""
        path = parse_path(text)
        for n in range(len(path.steps) - 1, -1, -1):
            with suppress(PathError):  # of generations
                found = [
                    v
                    for v in self._values(replace(path, steps=path.steps[:n]))
                    if v is not MISSING
                ]
                if found:
                    objects = (value for value in found if isinstance(value, dict))
                    keys = map(str, chain.from_iterable(objects))
                    return list(dict.fromkeys(keys))
        return []

    def records(self) -> list[Any]:
        return self._records(0)

    def _values(self, path: FieldPath) -> list[Any]:
        if path.root == "special":
            return self._special(path.steps[0])
        values, steps = self._start(path)
        for step in steps:
            if isinstance(step, Special):
                values = [
                    child(value, key)
                    for value, key in zip(values, self._special(step), strict=True)
                ]
            elif isinstance(step, Woven):
                parts = zip(*map(self._special, step.specials()), strict=True)
                values = [
                    child(value, step.filled(words))
                    for value, words in zip(values, parts, strict=True)
                ]
            elif isinstance(step, Each):
                raise PathError(f"{path.text!r} iterates where one value is meant")
            elif isinstance(step, str):
                values = [
                    value.get(step, MISSING) if type(value) is dict else MISSING
                    for value in values
                ]
            else:
                values = [child(value, step) for value in values]
        return values

    def _start(self, path: FieldPath) -> tuple[list[Any], Sequence[Any]]:
        if path.root == "document":
            return self._documents(), path.steps
        return self._records(path.up), path.steps

    @abstractmethod
    def _special(self, step: Any) -> list[Any]:
        """The value of ``@name`` in each row."""

    @abstractmethod
    def _records(self, up: int) -> list[Any]:
        """The records, or what lies ``up`` levels above each."""

    @abstractmethod
    def _documents(self) -> list[Any]:
        """The document that each row stands in."""


class FlatChunk(RecordChunk):
    """Records of a JSON lines file, one a line. ``indices`` count them from 0,
    ``lines`` are their line numbers (from 1)."""

    def __init__(
        self, items: list[Any], indices: Sequence[int], lines: Sequence[int]
    ) -> None:
        self.items = items
        self.indices = indices
        self.lines = lines
        self.size = len(items)

    def column(self, text: str) -> Column:
        path = parse_path(text)
        if path.root == "row" and not path.up and len(path.steps) == 1:
            name = path.steps[0]
            return [record.get(name) for record in self.items]
        return super().column(text)

    def keep(self, rows: Sequence[int]) -> FlatChunk:
        return FlatChunk(
            _at(self.items, rows), _at(self.indices, rows), _at(self.lines, rows)
        )

    def location(self, row: int) -> str:
        return f"line {self.lines[row]}"

    def _records(self, up: int) -> list[Any]:
        if up:
            raise PathError("nothing lies above a line; write the path without '^'")
        return self.items

    def _documents(self) -> list[Any]:
        return self.items

    def _special(self, step: Special) -> list[Any]:
        if step == Special(""):
            return self.items
        if step == Special("index"):
            return list(self.indices)
        raise PathError(
            f"'@{step.name}' means nothing in a file of one record per line"
        )


class NestedChunk(RecordChunk):
    """Rows that lie deeper in JSON documents, one per record and generation.

    ``draws`` is the path of the generations, relative to the record, if there are
    several.
    """

    def __init__(
        self,
        rows: list[NestedRow],
        draws: FieldPath | None,
        location: Callable[[NestedRow], str],
    ) -> None:
        self.rows, self.draws, self.size = rows, draws, len(rows)
        self._location = location

    def location(self, row: int) -> str:
        return self._location(self.rows[row])

    def keep(self, rows: Sequence[int]) -> NestedChunk:
        return NestedChunk(_at(self.rows, rows), self.draws, self._location)

    def names(self) -> list[str]:
        draws = (row.draw for row in self.rows if isinstance(row.draw, dict))
        keys = chain.from_iterable(draws)
        inner = sorted({str(text_of(key)) for key in keys})
        path = ""
        if self.draws:
            path = self.draws.text
        return super().names() + [f"{path}.{key}" for key in inner]

    def _start(self, path: FieldPath) -> tuple[list[Any], Sequence[Any]]:
        draws = self.draws
        if draws and path.root == "row" and not path.up:
            depth = len(draws.steps)
            if path.steps[:depth] == draws.steps:
                return [row.draw for row in self.rows], path.steps[depth:]
        return super()._start(path)

    def _records(self, up: int) -> list[Any]:
        return [level[0] for level in self._level(up)]

    def _documents(self) -> list[Any]:
        return [row.levels[0][0] for row in self.rows]

    def _level(self, up: int) -> list[Level]:
        if self.rows and up >= len(self.rows[0].levels):
            raise PathError(f"'{'^' * up}' climbs above the document")
        return [row.levels[-1 - up] for row in self.rows]

    def _special(self, step: Special) -> list[Any]:
        if step.name == "draw":
            return [row.draw_number for row in self.rows]
        position = {"": 0, "key": 1, "index": 2}.get(step.name)
        if position is None:
            raise PathError(f"'@{step.name}' is known in tables with a [matrix] only")
        return [level[position] for level in self._level(step.up)]


def _at(values: Sequence[Any], rows: Sequence[int]) -> list[Any]:
    return [values[row] for row in rows]


# --- what an expression can see -------------------------------------------------------------------


@dataclass
class Joined:
    """Records of another file: one for all rows, or one by key.

    ``on`` is the path whose value is looked up among the keys; empty: the file is one
    record. ``missing`` says that there is no such file and need not be: all paths in it
    are null.
    """

    records: Mapping[str, Any]
    on: str = ""
    missing: bool = False

    def column(self, chunk: Chunk, path: str) -> Column:
        """The values at a path in the record that belongs to each row."""
        steps = plain_steps(parse_path(path))
        if not self.on:
            return Constant(_or_none(descend(self.records.get(""), steps)))
        codes, keys = encode(chunk.column(self.on), chunk.size)
        values = [
            descend(self.records.get(str(text_of(key)), MISSING), steps) for key in keys
        ]
        return decode(codes, [_or_none(value) for value in values])

    def holds(self, path: str) -> bool:
        """True if any record has something at the path, as far as there is a file to
        say so."""
        if self.missing:
            return True
        steps = plain_steps(parse_path(path))
        return any(
            descend(record, steps) is not MISSING for record in self.records.values()
        )


@dataclass
class RowView:
    """Rows, with what else the mapping can see of their file: groups of the path
    pattern, joined files, and what means null."""

    chunk: Chunk
    groups: Mapping[str, str] = field(default_factory=dict)
    joins: Mapping[str, Joined] = field(default_factory=dict)
    nulls: NullWords = NO_NULLS

    @property
    def size(self) -> int:
        return self.chunk.size

    def column(self, path: str) -> Column:
        """The values at a field path."""
        join = None
        if path.startswith("&"):
            join = self.joins.get(parse_path(path).join)
        if join is None:
            column = self.chunk.column(path)
        else:
            column = join.column(self.chunk, path)
        if self.nulls:
            return _without(column, self.nulls)
        return column

    def holds(self, path: str) -> bool:
        """True if there is something at the path in any row."""
        if not path.startswith("&"):
            return self.chunk.holds(path)
        join = self.joins.get(parse_path(path).join)
        return join is not None and join.holds(path)


def _without(column: Column, nulls: NullWords) -> Column:
    """The column with null in place of what means it."""
    if isinstance(column, Constant):
        return Constant(_unless_null(column.value, nulls))
    if isinstance(column, list):
        return [_unless_null(value, nulls) for value in column]
    if pa.types.is_string(column.type) and not nulls.numbers:
        return pc.if_else(
            pc.is_in(column, pa.array(sorted(nulls.texts), pa.string())),
            pa.scalar(None, pa.string()),
            column,
        )
    codes, values = encode(column, len(column))
    if not any(map(nulls.holds, values)):
        return column
    return decode(codes, [_unless_null(value, nulls) for value in values])


def _unless_null(value: Any, nulls: NullWords) -> Any:
    if isinstance(value, str | int | float) and nulls.holds(value):
        return None
    return value


def _or_none(value: Any) -> Any:
    if value is MISSING:
        return None
    return value
