"""Answers on standard output: a table for people, JSON, CSV or Parquet for programs."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from importlib.metadata import version
from io import TextIOWrapper
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from warehouse.files import ANSWER, PARQUET_KEY, write_output
from warehouse.records.answer_text import without_surrogates
from warehouse.records.canonical_json import columns_of, json_rows, json_text
from warehouse.tables.view import TableLook

from .table import chosen_columns, echo, print_table, visible

if TYPE_CHECKING:
    import pyarrow as pa

    from warehouse.analysis.results import Result

#: The beginning of what spreadsheets take for a formula, also the wide forms of its
#: characters.
_FORMULA = re.compile(r"^(?=\s*[=+\-@|%\t\r\uff1d\uff0b\uff0d\uff20])")
#: Columns of views that a narrow terminal keeps before all others.
_FIGURES = frozenset(
    (
        "model benchmark metric estimate standard_error score mean_score mean value "
        "difference prompt run_id statistic subject published recomputed verdict"
    ).split()
)
Row = Mapping[str, Any]
Form = Literal["table", "json", "jsonl", "csv", "parquet"]


@dataclass(frozen=True)
class Output:
    """The form that the user chose; ``path`` is the Parquet file, ``safe`` of CSV that
    no cell of it is a formula to a spreadsheet, ``force`` of a file that it may be of
    somebody else's."""

    form: Form = "table"
    path: Path | None = None
    safe: bool = False
    force: bool = False

    @property
    def for_people(self) -> bool:
        """The answer is read by a person, not by a program."""
        return self.form == "table"

    def emit(
        self,
        columns: Sequence[str],
        rows: Iterable[Row],
        *,
        shown: Sequence[str] | None = None,
        **look: Unpack[TableLook],
    ) -> None:
        """Write rows.

        Args:
            columns: every column, in order.
            rows: a value for each of them.
            shown: the columns that the table for people has (default: all).
            look: what it leaves out; see :class:`warehouse.tables.view.Table`.
        """
        chosen = chosen_columns(columns)
        if chosen and self.form != "table":
            columns = chosen
        if self.form in ("json", "jsonl", "csv"):
            _write_utf8()
        if self.form in ("json", "jsonl"):
            write_json(columns, rows, lines=self.form == "jsonl")
        elif self.form == "csv":
            write_csv(columns, rows, safe=self.safe)
        elif self.path is not None:
            self._write_parquet(columns, rows)
        else:
            names = list(chosen or shown or columns)
            cells = []
            for row in rows:
                cells.append([row[name] for name in names])
            print_table(names, cells, **look)

    def emit_arrow(self, table: pa.Table) -> None:
        """Write the result of a query."""
        if self.path is not None:
            write_parquet(table, self.path, force=self.force)
        else:
            self.emit(
                table.column_names,
                rows_of(table),
                minor=_by_importance(table) if self.for_people else (),
            )

    def emit_records(
        self,
        kind: type,
        records: Sequence[Any],
        *,
        shown: Sequence[str] | None = None,
        **look: Unpack[TableLook],
    ) -> None:
        """Write records of a dataclass; its fields, or its `columns`, are the columns.
        See :meth:`emit`."""
        columns = columns_of(kind)
        rows = ({name: getattr(record, name) for name in columns} for record in records)
        self.emit(columns, rows, shown=shown, **look)

    def answer(
        self, kind: type, records: Sequence[Any], show: Callable[[], object]
    ) -> None:
        """Show people what they are shown, and write the records for programs."""
        if self.for_people:
            show()
        else:
            self.emit_records(kind, records)

    def give(
        self,
        result: Result,
        show: Callable[[], object],
        *,
        part: str = "rows",
        records: Sequence[Any] | None = None,
    ) -> None:
        """Show people what they are shown of a result, and write what a field of it
        holds for programs.

        Args:
            part: name of the field.
            records: those of its records that are written (default: all).
        """
        self.answer(
            result.kind_of(part),
            getattr(result, part) if records is None else records,
            show,
        )

    def _write_parquet(self, columns: Sequence[str], rows: Iterable[Row]) -> None:
        import pyarrow as pa

        plain = []
        for row in rows:
            plain.append(without_surrogates({name: row[name] for name in columns}))
        if plain:
            table = pa.Table.from_pylist(plain)
        else:
            table = pa.table({name: [] for name in columns})
        write_parquet(table, self.path or Path(), force=self.force)


def _write_utf8() -> None:
    """What programs read is UTF-8, whatever the terminal's encoding."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def write_json(
    columns: Sequence[str], rows: Iterable[Row], *, lines: bool = False
) -> None:
    """An array of objects, one on each line; NaN is null, times are ISO 8601.

    Args:
        columns: in this order.
        rows: a value for each of them.
        lines: the objects alone, without the array around them (JSON lines).
    """
    for part in json_rows(columns, rows, lines=lines):
        sys.stdout.write(part)


def write_csv(
    columns: Sequence[str], rows: Iterable[Row], *, safe: bool = False
) -> None:
    """A header and a line for each row; null and NaN are empty. Control characters of
    texts are spelled out, but for tabs and line ends.

    Args:
        columns: in this order.
        rows: a value for each of them.
        safe: texts that a spreadsheet would take for a formula get an apostrophe in
            front.
    """
    writer = csv.writer(sys.stdout, lineterminator="\n")
    shown = visible
    if safe:
        shown = _harmless
    writer.writerow([shown(name) for name in columns])
    for row in rows:
        cells = [_csv_cell(row[name]) for name in columns]
        writer.writerow(
            [shown(cell) if isinstance(cell, str) else cell for cell in cells]
        )


def _harmless(text: str) -> str:
    """A text that no spreadsheet runs."""
    return _FORMULA.sub("'", visible(text), count=1)


def write_parquet(table: pa.Table, path: Path, *, force: bool = False) -> None:
    """A Parquet file, complete or not there at all."""
    import pyarrow.parquet as pq

    metadata = {**(table.schema.metadata or {}), PARQUET_KEY: version("eval-warehouse")}
    marked = table.replace_schema_metadata(metadata)
    write_output(path, lambda file: pq.write_table(marked, file), ANSWER, force=force)
    echo(f"{table.num_rows} rows written to {path}", err=True)


def _by_importance(table: pa.Table) -> list[str]:
    """Columns of an answer that a narrow terminal does without, the first of them
    first: empty ones, hashes, then what is the same in all rows, ids, and the others
    from the last on. Figures and what they are of are not among them."""
    names = [name for name in table.column_names if name not in _FIGURES]
    empty = [
        name
        for name in table.column_names
        if table.column(name).null_count == table.num_rows
    ]
    hashes = [
        name for name in names if name.endswith(("_key", "_hash", "_fingerprint"))
    ]
    constant = [
        name
        for name in names
        if table.num_rows > 1 and len(table.column(name).unique()) == 1
    ]
    ids = [name for name in names if name.endswith("_id") and name != "run_id"]
    return list(dict.fromkeys((*empty, *hashes, *constant, *ids, *reversed(names))))


def rows_of(table: pa.Table) -> Iterator[Row]:
    """The rows of a query's answer, some at a time."""
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _csv_cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return ""
    if isinstance(value, bool):
        if value:
            return "true"
        return "false"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Mapping | list | tuple | bytes):
        return json_text(value)
    return value
