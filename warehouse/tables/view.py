"""What people are shown of an answer: sentences, tables and charts, and as HTML for
notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, TypedDict, Unpack

from warehouse.tables.words import (
    NOTHING,
    StrongNumber,
    WrittenInterval,
    cell,
    is_number,
    visible,
)


class TableLook(TypedDict, total=False):
    """What a table leaves out, and says of no rows: keywords of whatever makes or
    prints one; see :class:`Table`."""

    empty: str
    hide_empty: Sequence[str]
    counts: Sequence[str]
    minor: Sequence[str]
    narrow: Table | None
    paper: Table | None


@dataclass(frozen=True)
class Table:
    """Rows under columns."""

    columns: tuple[str, ...]  #: names, in order.
    rows: tuple[tuple[Any, ...], ...]  #: a value for each of them.
    empty: str = "no rows"  #: what to say where there are no rows.
    #: columns that are left out where they say nothing in any row.
    hide_empty: Sequence[str] = ()
    counts: Sequence[str] = ()  #: those that are left out where they are 0, too.
    #: those that a narrow page drops, the first of them first.
    minor: Sequence[str] = ()
    #: what a page shows in its place that has no room for all of its columns.
    narrow: Table | None = None
    #: what Markdown, LaTeX and HTML have in its place: as papers print it.
    paper: Table | None = None

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], **look: Unpack[TableLook]) -> Table:
        """A table of rows that name their cells, all in the same order."""
        cells = list(rows)
        columns: tuple[str, ...] = ()
        if cells:
            columns = tuple(cells[0])
        return cls(columns, tuple(tuple(row.values()) for row in cells), **look)

    @classmethod
    def of_columns(
        cls, columns: Mapping[str, Sequence[Any]], **look: Unpack[TableLook]
    ) -> Table:
        """A table of columns of one length."""
        return cls(tuple(columns), tuple(zip(*columns.values(), strict=True)), **look)

    def only(self, names: Sequence[str]) -> Table:
        """The table with these columns, in this order; all of them where none is named."""
        if not names or not self.rows:
            return self
        kept = [self.values(self.columns.index(name)) for name in names]
        return Table(tuple(names), tuple(zip(*kept, strict=True)), self.empty)

    def without(self, names: Sequence[str]) -> Table:
        """The table without some columns, which need not be there."""
        kept = [at for at, name in enumerate(self.columns) if name not in names]
        return replace(
            self,
            columns=tuple(self.columns[at] for at in kept),
            rows=tuple(tuple(row[at] for at in kept) for row in self.rows),
        )

    def values(self, index: int) -> list[Any]:
        """The cells of a column."""
        return [row[index] for row in self.rows]

    def filled(self) -> list[int]:
        """Indices of the columns that say something."""
        return [
            index
            for index, name in enumerate(self.columns)
            if name not in (*self.hide_empty, *self.counts) or self._says(index)
        ]

    def _says(self, index: int) -> bool:
        """True where a column has a value; of a count, one beside 0."""
        is_count = self.columns[index] in self.counts
        for row in self.rows:
            value = row[index]
            if value not in NOTHING and not (is_count and value == 0):
                return True
        return False


@dataclass(frozen=True)
class TableNote:
    """A line below a table; with a column only where that one is shown."""

    line: str  #: a sentence.
    column: str = ""  #: name of a column of the table above.
    #: characters at which it is broken also where a page has no width; 0: never.
    width: int = 0
    is_term: bool = True  #: a terminal names the page of the column's word in the glossary, where it has one.


#: What it means that a number stands out, where all is plain text; and where it is bold.
MARKED = "*: best of its column, or not distinguishable from it"
MARKED_BOLD = "Bold: best of its column, or not distinguishable from it"


class Verbatim(str):
    """A line that is printed as it is, however wide: a text of a dump, or one that was
    broken already."""


class HangingText(str):
    """A name and what it is, on one line; where there is no room the text goes on below
    its own beginning."""

    name: str
    text: str

    @classmethod
    def of(cls, name: str, text: str) -> HangingText:
        """The line of a name and a text."""
        made = cls(f"{name}  {text}".rstrip())
        made.name, made.text = name, text
        return made


#: A sentence, a table, or a line below one.
Part = str | Table | TableNote


@dataclass(frozen=True)
class View:
    """Sentences, tables and lines below them, in order, and remarks on the whole."""

    parts: tuple[Part, ...]  #: an empty sentence is an empty line.
    #: what a reader should know, each a sentence; a command says them on standard
    #: error.
    notes: tuple[str, ...] = ()

    @property
    def explained(self) -> tuple[TableNote, ...]:
        """The lines that say what a column means, where the glossary may have more."""
        return tuple(
            part
            for part in self.parts
            if isinstance(part, TableNote) and part.column and part.is_term
        )


def constants(
    rows: list[dict[str, Any]], names: Iterable[str]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Sentences that say once what is the same in all rows, and the rows without it.

    Args:
        names: columns that may be left out.
    """
    sentences: list[str] = []
    for name in names:
        values = {row[name] for row in rows}
        if len(values) != 1:
            continue
        (value,) = values
        if value != "":
            sentences.append(f"{name}: {value}")
        rows = [_without(row, name) for row in rows]
    return sentences, rows


def _without(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


def legend(meanings: Mapping[str, str], *, are_terms: bool = True) -> list[TableNote]:
    """A line for each column, ``name: meaning``, below a table that shows it.

    Args:
        are_terms: a terminal names the pages of these words in the glossary.
    """
    return [
        TableNote(f"{name}: {meaning}", name, is_term=are_terms)
        for name, meaning in meanings.items()
    ]


#: Width and height of a drawn interval, in pixels, and what is left free at its ends.
_WIDTH, _HEIGHT, _MARGIN = 120, 14, 4
#: Styles stand on the elements: pages of notebooks throw style sheets away, and no
#: colour is set that is not the page's own or half transparent, so that it holds on
#: white and on black.
_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.4em 0"
_HEAD = (
    "text-align:{align};padding:.2em .7em;border-bottom:1px solid "
    "rgba(128,128,128,.6);white-space:nowrap"
)
_CELL = (
    "text-align:{align};padding:.2em .7em;border-bottom:1px solid rgba(128,128,128,.2)"
)
_LINE = "margin:.2em 0;max-width:60em"
_FAINT = "margin:.15em 0;max-width:60em;opacity:.75;font-size:.92em"


def in_html(view: View, *, rows: int) -> str:
    """A view as HTML; every text of a dump is escaped.

    Args:
        view: what is shown.
        rows: of a table at most.
    """
    parts: list[str] = []
    shown: set[str] = set()
    for part in view.parts:
        if isinstance(part, Table):
            if part.rows:
                shown |= {part.columns[index] for index in part.filled()}
            parts.append(_table(part, rows))
        elif not isinstance(part, TableNote):
            if part:
                parts.append(_line(part, _LINE))
        elif not part.column or part.column in shown:
            line = MARKED_BOLD if part.line == MARKED else part.line
            parts.append(_line(line, _FAINT))
    parts += [_line(f"note: {note}", _FAINT) for note in view.notes]
    return f"<div>{''.join(parts)}</div>"


def _line(text: str, style: str) -> str:
    return f'<p style="{style}">{_text(text)}</p>'


def _text(text: str) -> str:
    return escape(visible(text)).replace("\n", "<br>")


def _table(table: Table, most: int) -> str:
    if not table.rows:
        return _line(table.empty, _LINE)
    kept = table.filled()
    head, body = "", ""
    columns: list[tuple[int, str, tuple[float, float] | None]] = []
    for index in kept:
        values = table.values(index)
        align = _align(is_number(values))
        style = _HEAD.format(align=align)
        head += f'<th scope="col" style="{style}">{_text(table.columns[index])}</th>'
        opened = f'<td style="{_CELL.format(align=align)}">'
        columns.append((index, opened, _scale(values)))
    for row in table.rows[:most]:
        cells = [
            f"{opened}{_cell(row[index], scale)}</td>"
            for index, opened, scale in columns
        ]
        body += f"<tr>{''.join(cells)}</tr>"
    more = len(table.rows) - most
    below = ""
    if more > 0:
        below = _line(f"... and {more} more rows: to_frame() has all", _FAINT)
    return (
        '<div style="overflow-x:auto"><table '
        f'style="{_TABLE}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{below}"
    )


def _align(right: bool) -> str:
    if right:
        return "right"
    return "left"


def _cell(value: Any, scale: tuple[float, float] | None) -> str:
    if isinstance(value, WrittenInterval) and scale is not None:
        drawn = _drawn(value, *scale)
        return f'<span style="white-space:nowrap">{drawn} {_text(value)}</span>'
    if value is None:
        return ""
    if isinstance(value, StrongNumber):
        return f"<strong>{_text(value.text)}</strong>"
    return _text(cell(value))


def _scale(values: Sequence[Any]) -> tuple[float, float] | None:
    """The common ends of the intervals of a column; None where there is nothing to
    draw."""
    ends: list[float] = []
    for value in values:
        if isinstance(value, WrittenInterval):
            ends += filter(math.isfinite, (value.low, value.high))
    if ends and min(ends) < max(ends):
        return min(ends), max(ends)
    return None


def _drawn(value: WrittenInterval, low: float, high: float) -> str:
    """An interval as a line with a dot at the estimate, on the scale of its column; the
    line of 0 where it lies within."""

    def x_at(at: float) -> float:
        share = (min(max(at, low), high) - low) / (high - low)
        return round(_MARGIN + share * (_WIDTH - 2 * _MARGIN), 1)

    middle = _HEIGHT / 2
    zero, dot = "", ""
    if low < 0 < high:
        zero = (
            f'<line x1="{x_at(0)}" x2="{x_at(0)}" y1="0" y2="{_HEIGHT}" '
            'stroke="currentColor" stroke-opacity=".35"/>'
        )
    if value.at is not None and math.isfinite(value.at):
        dot = f'<circle cx="{x_at(value.at)}" cy="{middle}" r="3" fill="currentColor"/>'
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(value)}" style="vertical-align:middle">{zero}<line '
        f'x1="{x_at(value.low)}" x2="{x_at(value.high)}" y1="{middle}" y2="{middle}" '
        f'stroke="currentColor" stroke-width="2" stroke-opacity=".6"/>{dot}</svg>'
    )
