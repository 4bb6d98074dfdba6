"""Tables for people: fitted to a terminal, of full width anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor, log10
from typing import Any

#: Rows that a terminal is given; files and pipes get all.
TERMINAL_ROWS = 1000
GAP = "  "
MOST_DECIMALS = 8
NOTHING: tuple[Any, ...] = (None, "", (), [], 0)


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
    return None if value is None else Figure(f"{value:{'+' if sign else ''}.{places}f}")


def interval(low: float | None, high: float | None, places: int) -> str | None:
    """Both ends of an interval."""
    return None if low is None or high is None else f"[{low:.{places}f}, {high:.{places}f}]"


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    empty: str = "no rows",
    needless: Sequence[str] = (),
) -> None:
    """Print rows under their columns; numbers to the right.

    Columns named ``needless`` are left out where they say nothing in any row.
    """
    kept = [
        place for place, name in enumerate(columns)
        if name not in needless or any(row[place] not in NOTHING for row in rows)
    ]  # fmt: skip
    columns = [columns[place] for place in kept]
    rows = [[row[place] for place in kept] for row in rows]
    if not rows:
        print(empty)
    elif sys.stdout.isatty():
        _print_fitted(columns, rows[:TERMINAL_ROWS])
        if len(rows) > TERMINAL_ROWS:
            print(f"... and {len(rows) - TERMINAL_ROWS} more rows: --json, --csv or a pipe has all")
    else:
        _print_plain(columns, rows)


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
    return " ".join(str(value).split())


def _print_plain(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    texts = [[cell(value) for value in row] for row in rows]
    widths = [
        max(len(name), *(len(row[place]) for row in texts)) for place, name in enumerate(columns)
    ]
    right = [_is_number(rows, place) for place in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(cells, widths, right, strict=True)
        ]
        return GAP.join(padded).rstrip()

    print(line(columns))
    print(GAP.join("-" * width for width in widths))
    for row in texts:
        print(line(row))


def _print_fitted(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, name in enumerate(columns):
        to_right = _is_number(rows, place)
        table.add_column(
            Text(name), justify="right" if to_right else "left", no_wrap=to_right, overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    Console(highlight=False).print(table)


def _is_number(rows: Sequence[Sequence[Any]], place: int) -> bool:
    found = [row[place] for row in rows if row[place] is not None]
    return bool(found) and all(
        isinstance(value, int | float | Figure) and not isinstance(value, bool) for value in found
    )
