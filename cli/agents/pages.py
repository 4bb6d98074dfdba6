"""An answer as a page of JSON of limited size: the verdict, rows as ``--json`` has them, flags, the command."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from warehouse.errors import MisuseError, did_you_mean
from warehouse.questions.question import Option, Options
from warehouse.records.canonical_json import json_text
from warehouse.tables.words import MEANINGS

from ..ui.output import Row, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes of an answer, by default.
SIZE = 4_000
#: Characters of the verdict, notes, and characters of one.
VERDICT, NOTES, NOTE = 800, 4, 200
#: Texts of a row that is too large by itself are cut to ever fewer characters, its lists to ever fewer entries.
CUTS = ((200, 50), (150, 20), (120, 8), (120, 4), (100, 3), (80, 2), (40, 2), (25, 1))


@dataclass(frozen=True)
class Answered:
    """What a tool found."""

    verdict: str  #: the answer in one sentence.
    columns: Sequence[str]  #: of the rows, in order.
    rows: Sequence[Row] | pa.Table  #: a mapping each, or a table.
    brief: Sequence[str]  #: columns to show where nobody chose; empty for all.
    command: Callable[..., str]  #: makes the line that gives the same rows, with the further options that it is given.
    notes: Sequence[str] = ()  #: what a reader should know of all rows.

    def __len__(self) -> int:
        return len(self.rows)

    def since(self, offset: int) -> Iterator[Row]:
        """The rows from one on."""
        return islice(self.rows, offset, None) if isinstance(self.rows, Sequence) else rows_of(self.rows.slice(offset))


@dataclass(frozen=True, kw_only=True)
class Paging(Options):
    """Which part of an answer is asked for."""

    offset: Annotated[int, Option("Rows to pass over: next_offset of the page before.", least=0)] = 0
    max_bytes: Annotated[int, Option("Size of the answer.", least=2_000, most=200_000)] = SIZE
    text_length: Annotated[int, Option("Characters of a text; what is beyond is cut.", least=20)] = 400
    columns: Annotated[Sequence[str], Option("Columns of the rows; default: the most telling; *: all.")] = ()

    def chosen(self, answered: Answered) -> list[str]:
        """The columns to show (MisuseError: there is none of such a name)."""
        all_columns = list(answered.columns)
        if not self.columns:
            return [name for name in answered.brief if name in all_columns] or all_columns
        if list(self.columns) == ["*"]:
            return all_columns
        for name in self.columns:
            if name not in all_columns:
                raise MisuseError(f"no column {name!r}; {suggestion(name, all_columns)}")
        return list(dict.fromkeys(self.columns))


def suggestion(name: str, names: Collection[str]) -> str:
    """The name that may have been meant, else all that there are, in words."""
    return did_you_mean(name, names, f"there are: {', '.join(names)}")


def page_of(answered: Answered, paging: Paging) -> str:
    """The page as JSON, of at most ``paging.max_bytes`` bytes.

    Raises:
        MisuseError: an unknown column, an offset beyond the last row, or not even one row fits.
    """
    if paging.offset and paging.offset >= len(answered):
        raise MisuseError(f"offset {paging.offset} is beyond the last of {len(answered)} rows; leave it out")
    columns = paging.chosen(answered)
    written = partial(_written, answered, columns, paging.offset)
    rows: list[Row] = []
    size = 0
    for row in answered.since(paging.offset):
        rows.append({name: row[name] for name in columns})
        size += len(json_text(_Cutter(paging.text_length)(rows[-1])).encode())
        if size > paging.max_bytes:
            break
    text = written(rows, _Cutter(paging.text_length))
    while len(text.encode()) > paging.max_bytes and len(rows) > 1:
        rows.pop()
        text = written(rows, _Cutter(paging.text_length))
    for length, entries in CUTS:
        if len(text.encode()) <= paging.max_bytes:
            return text
        text = written(rows, _Cutter(min(length, paging.text_length), entries))
    if len(text.encode()) <= paging.max_bytes:
        return text
    raise MisuseError(
        f"one row with its command takes {len(text.encode())} bytes; name fewer columns, or allow more: max_bytes"
    )


def _written(answered: Answered, columns: Sequence[str], offset: int, rows: Sequence[Row], cut: _Cutter) -> str:
    head = {"verdict": cut.text(answered.verdict, VERDICT), "n_rows": len(answered)}
    objects = ",".join(json_text(cut(row)) for row in rows)
    after = offset + len(rows)
    tail: dict[str, Any] = {"offset": offset} if offset else {}
    if after < len(answered):
        tail |= {"more": len(answered) - after, "next_offset": after}
    flags = dict.fromkeys(flag for row in rows for flag in row.get("flags") or () if flag in MEANINGS)
    tail |= {"flags": {flag: MEANINGS[flag] for flag in flags}} if flags else {}
    notes = [cut.text(note, NOTE) for note in answered.notes[:NOTES]]
    notes += [f"{len(answered.notes) - NOTES} more notes: see the command"] if len(answered.notes) > NOTES else []
    tail |= {"notes": notes} if notes else {}
    tail |= {"cut": "whole texts and lists: text_length, max_bytes, or the command"} if cut.happened else {}
    only = [] if list(columns) == list(answered.columns) else ["--columns", ",".join(columns)]
    tail["command"] = answered.command("--json", *only)
    return f'{json_text(head)[:-1]},"rows":[{objects}],{json_text(tail)[1:]}'


class _Cutter:
    """Cuts long texts of a value, and its long lists where there is a limit; `happened` says whether it had to."""

    def __init__(self, length: int, entries: int | None = None) -> None:
        self.length, self.entries, self.happened = length, entries, False

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value, self.length)
        if isinstance(value, Mapping):
            return {name: self(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            kept = [self(item) for item in value[: self.entries]]
            if len(kept) == len(value):
                return kept
            self.happened = True
            return [*kept, f"[{len(value) - len(kept)} more]"]
        return value

    def text(self, value: str, length: int) -> str:
        if len(value) <= length:
            return value
        self.happened = True
        return f"{value[:length]}... [{len(value) - length} more]"
