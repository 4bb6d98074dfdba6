"""Tables for people: fitted to a terminal, of full width anywhere else."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor, log10
from typing import Any, TextIO

import click

#: Rows that a terminal is given; files and pipes get all.
TERMINAL_ROWS = 1000
GAP = "  "
#: Texts up to this length are never folded.
SHORT = 16
#: Longer ones are never folded to less than this.
LEAST = 10
#: As long as there are columns to leave out, they are not folded to less than this.
COMFORTABLE = 26
#: Where a call keeps what the user wants of its tables (`click.Context.meta`).
WIDE, CHOSEN = "warehouse.wide", "warehouse.columns"
MOST_DECIMALS = 8
#: Terminals below this break lines themselves.
NARROW = 60
NOTHING: tuple[Any, ...] = (None, "", (), [])
#: What would steer a terminal, or turn the order of a line round, instead of being read.
_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Figure:
    """A number that is written already; stands to the right like any other."""

    text: str

    def __str__(self) -> str:
        return self.text


def decimals(errors: Iterable[float | None]) -> int:
    """Decimals at which the smallest standard error has two digits that say something."""
    smallest = min((error for error in errors if error), default=0.01)
    return min(max(1 - floor(log10(smallest)), 0), MOST_DECIMALS)


def number(value: float | None, places: int, *, sign: bool = False) -> Figure | None:
    """A figure with so many decimals."""
    if value is None:
        return None
    rounded = round(float(value), places) + 0.0  # never -0.000
    return Figure(f"{rounded:{'+' if sign else ''}.{places}f}")


def p_value(value: float | None) -> Figure | None:
    """A p-value with two digits that say something."""
    return None if value is None else Figure(f"{value:.2g}")


def interval(low: float | None, high: float | None, places: int) -> str | None:
    """Both ends of an interval."""
    return None if low is None or high is None else f"[{low:.{places}f}, {high:.{places}f}]"


def level_column(level: float) -> str:
    """Heading of the column of intervals."""
    return f"{100 * level:g}% interval"


def percentage(share: float | None) -> Figure | None:
    """A share of 1 in percent, with one decimal."""
    return None if share is None else Figure(f"{100 * share:.1f}%")


def count_range(least: int, most: int) -> str:
    """The smallest and the largest count, or the one that both are."""
    return f"{least}" if least == most else f"{least}-{most}"


def direction(higher_is_better: bool | None) -> str:
    """Which end of a metric is the good one, in words."""
    return {True: "higher is better", False: "lower is better", None: "direction unknown"}[higher_is_better]


def visible(text: str) -> str:
    """A text of a dump with control characters spelled out, but for tabs and line ends."""
    return _STEERS.sub(lambda steering: ascii(steering.group())[1:-1], text.replace("\r\n", "\n"))


def excerpt(text: str | None, length: int) -> str:
    """The beginning of a text on one line."""
    words = visible(" ".join((text or "").split()))
    return words if len(words) <= length else f"{words[: length - 3]}..."


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    empty: str = "no rows",
    needless: Sequence[str] = (),
    counts: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> tuple[str, ...]:
    """Print rows under their columns, numbers to the right; the names of the columns that are shown.

    Columns named ``needless`` are left out where they say nothing in any row, those named
    ``counts`` where they are 0 as well. A terminal that is too narrow does without the columns named
    ``spare``, the first of them first, as far as it has to; ``--wide`` shows them, ``--columns``
    shows those that it names.
    """
    if not rows:
        print(empty)
        return ()
    chosen = chosen_columns(columns)
    if chosen:
        kept = [list(columns).index(name) for name in chosen]
    else:
        kept = [
            index
            for index, name in enumerate(columns)
            if name not in (*needless, *counts)
            or any(row[index] not in NOTHING and not (name in counts and row[index] == 0) for row in rows)
        ]
    table = _texts_of(columns, rows, kept)
    if not sys.stdout.isatty():
        _print_plain(table)
        return tuple(table.columns)
    width = shutil.get_terminal_size().columns
    left_out = [] if chosen or _asked(WIDE) else _left_out(table, spare, width)
    if left_out:
        table = _texts_of(columns, rows, [index for index in kept if columns[index] not in left_out])
    if table.width > width >= table.least_width() and not _asked(WIDE):
        _print_folded(table)
    else:
        _print_plain(table)
    if table.n_rows < len(rows):
        print(f"... and {len(rows) - table.n_rows} more rows: --json, --csv or a pipe has all")
    if left_out:
        print_text(f"({', '.join(left_out)}: --wide)")
    return tuple(table.columns)


def print_legend(meanings: Mapping[str, str], shown: Iterable[str]) -> None:
    """What columns mean, a line for each of those that are shown."""
    known = set(shown)
    for name, meaning in meanings.items():
        if name in known:
            print_text(f"{name}: {meaning}")


def of_shown(lines: Iterable[str], columns: Iterable[str], shown: Iterable[str]) -> list[str]:
    """Lines but those ``column: meaning`` of columns that are not shown."""
    hidden = set(columns) - set(shown)
    return [line for line in lines if line.partition(": ")[0] not in hidden]


def legend_of(lines: Iterable[str]) -> dict[str, str]:
    """``column: meaning`` by column."""
    parts = (line.partition(": ") for line in lines)
    return {name: meaning for name, _, meaning in parts}


def _asked(name: str) -> Any:
    """What the user wants of tables in this call."""
    context = click.get_current_context(silent=True)
    return context.meta.get(name) if context else None


def chosen_columns(columns: Sequence[str]) -> list[str]:
    """Those that ``--columns`` names, in its order; empty where nothing was chosen.

    Raises:
        UsageError: there is none of such a name.
    """
    chosen: Sequence[str] = _asked(CHOSEN) or ()
    unknown = [name for name in chosen if name not in columns]
    if unknown:
        raise click.UsageError(f"no column '{unknown[0]}'; there are: {', '.join(filter(None, columns))}")
    return list(chosen)


def _texts_of(columns: Sequence[str], rows: Sequence[Sequence[Any]], kept: Sequence[int]) -> _Texts:
    shown = rows[:TERMINAL_ROWS] if sys.stdout.isatty() else rows
    return _Texts([columns[index] for index in kept], [[row[index] for index in kept] for row in shown])


def _left_out(table: _Texts, spare: Sequence[str], width: int) -> list[str]:
    """Columns that a terminal does without: as few as there need be, and only where that helps."""
    if width < NARROW or table.width <= width:
        return []
    left_out: list[str] = []
    for name in spare:
        if table.least_width(COMFORTABLE, without=left_out) <= width:
            break
        if name in table.columns:
            left_out.append(name)
    return left_out


def print_rows(
    rows: Iterable[Mapping[str, Any]],
    *,
    empty: str = "no rows",
    needless: Sequence[str] = (),
    counts: Sequence[str] = (),
    spare: Sequence[str] = (),
) -> tuple[str, ...]:
    """Print rows that name their cells, all in the same order; see :func:`print_table`."""
    cells = list(rows)
    columns = list(cells[0]) if cells else []
    values = [list(row.values()) for row in cells]
    return print_table(columns, values, empty=empty, needless=needless, counts=counts, spare=spare)


def print_text(text: str) -> None:
    """A sentence, broken at blanks to fit a terminal."""
    print(fitted(text, sys.stdout))


def fitted(text: str, stream: TextIO) -> str:
    """Lines broken at blanks where a stream is a terminal, unchanged where it is not."""
    width = shutil.get_terminal_size().columns
    if not stream.isatty() or width < NARROW:
        return text
    lines = text.split("\n")
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent=GAP, break_long_words=False, break_on_hyphens=False)
        if len(line) > width
        else line
        for line in lines
    )


def cell(value: Any) -> str:
    """A value as people read it: one line, numbers to six digits."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if value != value else f"{value:.6g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple):
        return ", ".join(cell(item) for item in value)
    return visible(" ".join(str(value).split()))


class _Texts:
    """A table in words, and how wide its columns are."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.columns = columns
        self.rows = [[cell(value) for value in row] for row in rows]
        self.n_rows = len(rows)
        self.right = [_is_number([row[index] for row in rows]) for index in range(len(columns))]
        self.widths = [max(len(name), *(len(row[index]) for row in self.rows)) for index, name in enumerate(columns)]

    @property
    def width(self) -> int:
        """Characters of a line."""
        return sum(self.widths) + len(GAP) * (len(self.columns) - 1)

    def least_width(self, least: int = LEAST, *, without: Collection[str] = ()) -> int:
        """Characters of a line when texts are folded to ``least``, without some columns."""
        widths = [width for name, width in zip(self.columns, self.folded(least), strict=True) if name not in without]
        return sum(widths) + len(GAP) * (len(widths) - 1)

    def folded(self, least: int = LEAST) -> list[int]:
        """Width of each column when names and long texts are folded."""
        widths = []
        for index, name in enumerate(self.columns):
            longest = max(len(row[index]) for row in self.rows)
            word = max(map(len, name.split(" ")))
            widths.append(max(word, longest if longest <= max(SHORT, least) else least))
        return widths


def _print_plain(table: _Texts) -> None:
    def line(cells: Sequence[str]) -> str:
        padded = [
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(cells, table.widths, table.right, strict=True)
        ]
        return GAP.join(padded).rstrip()

    print(line(table.columns))
    print(GAP.join("-" * width for width in table.widths))
    for row in table.rows:
        print(line(row))


def _print_folded(table: _Texts) -> None:
    """Long texts go on in the line below; numbers and other short ones stay whole."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, padding=(0, len(GAP), 0, 0))
    columns = zip(table.columns, table.widths, table.folded(), table.right, strict=True)
    for name, width, least, to_right in columns:
        shown.add_column(
            Text(name.replace(" ", "\n") if least < len(name) else name),
            justify="right" if to_right else "left",
            no_wrap=width <= SHORT,
            min_width=least,
            overflow="fold",
        )
    for row in table.rows:
        shown.add_row(*(Text(text) for text in row))
    Console(highlight=False, width=shutil.get_terminal_size().columns).print(shown)


def _is_number(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, int | float | Figure) and not isinstance(value, bool) for value in known
    )
