"""Tables as text: fitted to a width, or as wide as they are."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from warehouse.tables.view import Below, Table, View
from warehouse.tables.words import cell, is_number

GAP = "  "
#: Texts up to this length are never folded.
SHORT = 16
#: Longer ones are never folded to less than this.
LEAST = 10
#: As long as there are columns to leave out, they are not folded to less than this.
COMFORTABLE = 26
#: Pages below this break lines themselves.
NARROW = 60
#: Characters of a line where nothing says how wide the page is.
WIDTH = 80
#: Rows that a page of text has; frames and files have all.
ROWS = 60


@dataclass(frozen=True)
class Laid:
    """A table in lines, with the columns that it shows and those for which there was no room."""

    lines: tuple[str, ...]
    columns: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def lay_out(table: Table, *, width: int | None = None, wide: bool = False, chosen: Sequence[str] = ()) -> Laid:
    """A table in lines.

    Args:
        table: what it shows.
        width: characters of a line; None: any number.
        wide: leave no column out, and fold none.
        chosen: these columns only, in this order.
    """
    if not table.rows:
        return Laid((table.empty,), ())
    kept = [table.columns.index(name) for name in chosen] if chosen else table.filled()
    texts = _texts_of(table, kept)
    if width is None:
        return Laid(tuple(_plain(texts)), tuple(texts.columns))
    left_out = [] if chosen or wide else _left_out(texts, table.spare, width)
    if left_out:
        texts = _texts_of(table, [index for index in kept if table.columns[index] not in left_out])
    folded = texts.width > width >= texts.least_width() and not wide
    lines = _folded(texts, width) if folded else _plain(texts)
    return Laid(tuple(lines), tuple(texts.columns), tuple(left_out))


def in_text(view: View, *, width: int = WIDTH, rows: int = ROWS) -> str:
    """A view as lines of a width."""
    lines: list[str] = []
    shown: set[str] = set()
    for part in view.parts:
        if isinstance(part, Table):
            table = Table(part.columns, part.rows[:rows], part.empty, part.needless, part.counts, part.spare)
            laid = lay_out(table, width=width)
            lines = [*lines, *laid.lines]
            shown |= {*laid.columns}
            if len(part.rows) > rows:
                lines.append(f"... and {len(part.rows) - rows} more rows: to_frame() has all")
            if laid.left_out:
                lines += wrap(f"(left out: {', '.join(laid.left_out)}; to_frame() has all)", width)
        elif isinstance(part, Below):
            lines += wrap(part.line, width) if not part.column or part.column in shown else []
        else:
            lines += wrap(part, width)
    lines += [line for note in view.notes for line in wrap(f"note: {note}", width)]
    return "\n".join(lines)


def wrap(text: str, width: int) -> list[str]:
    """Lines broken at blanks, the later ones of a sentence indented; none is lost."""
    if width < NARROW:
        return text.split("\n")
    return [
        part
        for line in text.split("\n")
        for part in (
            textwrap.wrap(line, width, subsequent_indent=GAP, break_long_words=False, break_on_hyphens=False)
            if len(line) > width
            else [line]
        )
    ]


def _texts_of(table: Table, kept: Sequence[int]) -> _Texts:
    return _Texts([table.columns[index] for index in kept], [[row[index] for index in kept] for row in table.rows])


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


class _Texts:
    """A table in words, and how wide its columns are."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.columns = columns
        self.rows = [[cell(value) for value in row] for row in rows]
        self.n_rows = len(rows)
        self.right = [is_number([row[index] for row in rows]) for index in range(len(columns))]
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


def _plain(table: _Texts) -> Iterator[str]:
    def line(cells: Sequence[str]) -> str:
        padded = [
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(cells, table.widths, table.right, strict=True)
        ]
        return GAP.join(padded).rstrip()

    yield line(table.columns)
    yield GAP.join("-" * width for width in table.widths)
    yield from map(line, table.rows)


def _folded(table: _Texts, width: int) -> Iterator[str]:
    """Long texts go on in the line below; numbers and other short ones stay whole."""
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    shown = Drawn(box=None, pad_edge=False, padding=(0, len(GAP), 0, 0))
    columns = zip(table.columns, table.widths, table.folded(), table.right, strict=True)
    for name, widest, least, to_right in columns:
        shown.add_column(
            Text(name.replace(" ", "\n") if least < len(name) else name),
            justify="right" if to_right else "left",
            no_wrap=widest <= SHORT,
            min_width=least,
            overflow="fold",
        )
    for row in table.rows:
        shown.add_row(*(Text(text) for text in row))
    page = StringIO()
    Console(file=page, highlight=False, width=width, color_system=None).print(shown)
    yield from (line.rstrip() for line in page.getvalue().splitlines())
