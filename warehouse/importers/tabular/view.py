"""What an expression can see: the rows of a file, and what belongs to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.tabular.chunks import Chunk
from warehouse.importers.tabular.columns import Column, Constant, decode, encode
from warehouse.importers.tabular.field_paths import MISSING, descend, parse_path, plain_steps
from warehouse.importers.tabular.values import text_of


@dataclass
class Joined:
    """Records of another file: one for all rows, or one by key.

    ``on`` is the path whose value is looked up among the keys; empty: the file is one record.
    ``missing`` says that there is no such file and need not be: all paths in it are null.
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
        found = [descend(self.records.get(str(text_of(key)), MISSING), steps) for key in keys]
        return decode(codes, [_or_none(value) for value in found])

    def holds(self, path: str) -> bool:
        """Whether any record has something at the path, as far as there is a file to say so."""
        if self.missing:
            return True
        steps = plain_steps(parse_path(path))
        return any(descend(record, steps) is not MISSING for record in self.records.values())


@dataclass
class View:
    """Rows, with what else the mapping can see of their file: groups of the path pattern, joined
    files, and texts that mean null."""

    chunk: Chunk
    groups: Mapping[str, str] = field(default_factory=dict)
    joins: Mapping[str, Joined] = field(default_factory=dict)
    nulls: frozenset[str] = frozenset()

    @property
    def size(self) -> int:
        return self.chunk.size

    def column(self, path: str) -> Column:
        """The values at a field path."""
        if path.startswith("&") and parse_path(path).join in self.joins:
            column = self.joins[parse_path(path).join].column(self.chunk, path)
        else:
            column = self.chunk.column(path)
        return _without(column, self.nulls) if self.nulls else column

    def holds(self, path: str) -> bool:
        """Whether there is something at the path in any row."""
        if path.startswith("&"):
            join = self.joins.get(parse_path(path).join)
            return join is not None and join.holds(path)
        return self.chunk.holds(path)


def _without(column: Column, nulls: frozenset[str]) -> Column:
    """The column with null in place of the texts that mean it."""
    if isinstance(column, Constant):
        known = isinstance(column.value, str) and column.value in nulls
        return Constant(None) if known else column
    if isinstance(column, list):
        return [None if isinstance(value, str) and value in nulls else value for value in column]
    if not pa.types.is_string(column.type):
        return column
    found = pc.is_in(column, pa.array(sorted(nulls), pa.string()))
    return pc.if_else(found, pa.scalar(None, pa.string()), column)


def _or_none(value: Any) -> Any:
    return None if value is MISSING else value
