"""Tables that hold one score in each cell, of a prompt by a model.

They are read as if they were long: one row per cell, with ``@row`` (the label in the row's first column),
``@column`` (the column's name) and ``@cell``. Empty cells are left out and counted: a model that was not
asked has no score.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from warehouse.importers.common.patterns import Pattern
from warehouse.importers.tabular.chunks import Chunk, TableChunk
from warehouse.importers.tabular.columns import as_array, as_list, to_text
from warehouse.importers.tabular.json_lines import Reject
from warehouse.importers.tabular.readers import Reader

#: What the labels of rows and columns are.
ORIENTATIONS = {
    "prompts_by_models": {"prompt_id": "@row", "model": "@column"},
    "models_by_prompts": {"model": "@row", "prompt_id": "@column"},
}
_CELLS_PER_CHUNK = 1 << 20


@dataclass(frozen=True)
class MatrixRule:
    """Which column labels the rows (empty: the first), and which hold cells (none: the rest)."""

    label: str = ""
    cells: Pattern | None = None
    orientation: str = ""

    def label_of(self, columns: Sequence[str]) -> str:
        """The column with the labels of the rows."""
        return self.label or columns[0]

    def cells_of(self, columns: Sequence[str]) -> list[str]:
        """The columns with cells."""
        label = self.label_of(columns)
        others = [name for name in columns if name != label]
        return [name for name in others if self.cells is None or self.cells.fullmatch(name)]


@dataclass
class _Cells(TableChunk):
    """Cells of a matrix; ``rows`` says which row of ``wide`` each stands in."""

    wide: Chunk
    rows: Sequence[int]

    def place(self, row: int) -> str:
        column = self.data.column("@column")[row].as_py()
        return f"{self.wide.place(self.rows[row])}, column {column!r}"


class MatrixReader:
    """A table, cell by cell. Other columns stay in reach, repeated for each cell of their row.

    Args:
        table: the wide table.
        rule: which columns are cells.
        name: what notes call the file.
        select: leaves out rows of the wide table that are no data.
    """

    kind = "matrix"
    is_table = True

    def __init__(self, table: Reader, rule: MatrixRule, name: str, select: Callable[[Chunk], Chunk]) -> None:
        self.table, self.rule, self.name, self.select = table, rule, name, select
        self.empty = 0

    def chunks(self, wanted: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        self.empty = 0
        for chunk in map(self.select, self.table.chunks(None, reject)):
            cells = self.rule.cells_of(chunk.names())
            step = max(1, _CELLS_PER_CHUNK // max(1, len(cells)))
            for start in range(0, chunk.size, step):
                part = chunk.keep(range(start, min(start + step, chunk.size)))
                yield self._melted(part, cells)

    def notes(self) -> list[str]:
        notes = self.table.notes()
        if self.empty:
            notes.append(f"{self.name}: {self.empty} empty cells of the matrix left out")
        return notes

    def _melted(self, wide: Chunk, cells: Sequence[str]) -> _Cells:
        arrays = [as_array(wide.column(name), wide.size) for name in cells]
        values = pa.concat_arrays(_same_type(arrays))
        full = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        self.empty += len(values) - len(full)
        rows, columns = full % wide.size, full // wide.size
        taken = pa.array(rows)
        names = wide.names()
        others = dict.fromkeys(names)
        for name in cells:
            del others[name]
        data = {name: as_array(wide.column(name), wide.size).take(taken) for name in others}
        data["@row"] = data[self.rule.label_of(names)]
        data["@column"] = pa.array(list(cells), pa.string()).take(pa.array(columns))
        data["@cell"] = values.take(pa.array(full))
        numbers = np.array(as_list(wide.column("@index"), wide.size), dtype=np.int64)
        return _Cells(pa.table(data), numbers[rows].tolist(), (), wide, rows.tolist())


def _same_type(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """The columns as doubles if all are numbers, else as text, so that they can be one column."""
    kinds = {column.type for column in columns}
    if len(kinds) <= 1:
        return list(columns)
    if all(map(_is_number, kinds)):
        return [column.cast(pa.float64(), safe=False) for column in columns]
    return [as_array(to_text(column, len(column)).array, len(column)) for column in columns]


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return any(
        test(kind) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    )
