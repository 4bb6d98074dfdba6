"""Tables as text: fitted to a width, or as wide as they are.

rich leaves no column out, breaks names anywhere, and takes 20 times as long.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any

from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import (
    WrittenInterval,
    WrittenNumber,
    cell,
    is_number,
    some_of,
)

GAP = "  "
#: Texts up to this length are never folded.
SHORT = 16
#: Longer ones are never folded to less than this.
LEAST = 10
#: As long as there are columns to leave out, they are not folded to less than this.
COMFORTABLE = 26
#: The same of the first of them, which names a row, where leaving columns out can keep
#: it so.
NAMING = 40
#: The first columns, which no terminal does without.
KEPT = 3
#: A long word goes on in the next line after one of these.
BREAKS = "-_/=:+@"
#: Pages below this break lines themselves.
NARROW = 60
#: The column of flags, and the one that names rows.
FLAGS, _NAMES = "flags", "model"
#: Begins a flag that says how large a share it is of.
_WITH_SHARE = "unscored "
#: Rows of a flag that are named.
_MOST_NAMED = 3
#: Characters of a line where nothing says how wide the page is.
WIDTH = 80
#: Rows that a page of text has; frames and files have all.
ROWS = 60


@dataclass(frozen=True)
class TableLayout:
    """A table in lines, with the columns that it shows and those for which there was no
    room."""

    lines: tuple[str, ...]
    columns: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def lay_out(
    table: Table,
    *,
    width: int | None = None,
    wide: bool = False,
    chosen: Sequence[str] = (),
) -> TableLayout:
    """A table in lines.

    Args:
        table: what it shows.
        width: characters of a line; None: any number.
        wide: leave no column out, and fold none.
        chosen: these columns only, in this order.
    """
    if not table.rows:
        return TableLayout((table.empty,), ())
    kept = table.filled()
    if chosen:
        kept = [table.columns.index(name) for name in chosen]
    texts = _texts_of(table, kept)
    if width is None:
        return TableLayout(tuple(_plain(texts)), tuple(texts.columns))
    is_free = not (chosen or wide)
    too_wide = texts.least_width(without=table.minor) > width
    if table.narrow is not None and is_free and too_wide:
        return lay_out(table.narrow, width=width)
    if chosen or wide:
        left_out = []
    else:
        left_out = _left_out(texts, table.minor, width)
    if left_out:
        texts = _texts_of(
            table, [index for index in kept if table.columns[index] not in left_out]
        )
    folded = texts.width > width >= texts.least_width() and not wide
    if folded:
        lines = _folded(texts, width)
    else:
        lines = _plain(texts)
    return TableLayout(tuple(lines), tuple(texts.columns), tuple(left_out))


def flags_in_words(table: Table) -> str:
    """The flags of a table that has no room for their column: they change how its
    figures are read."""
    at = table.columns.index(FLAGS)
    named = 0
    if _NAMES in table.columns:
        named = table.columns.index(_NAMES)
    rows_with: dict[str, dict[str, None]] = {}
    counts: Counter[str] = Counter()
    for row in table.rows:
        for flag in filter(None, cell(row[at]).split(", ")):
            if flag.startswith(_WITH_SHARE):  # which differs from row to row
                flag = _WITH_SHARE.strip()
            rows_with.setdefault(flag, {})[cell(row[named])] = None
            counts[flag] += 1
    said = []
    for flag, names in rows_with.items():
        who = some_of(list(names), _MOST_NAMED)
        if counts[flag] == len(table.rows):
            who = "all"
        said.append(f"{flag} ({who})")
    return f"flags: {', '.join(said)}"


def in_text(view: View, *, width: int = WIDTH, rows: int = ROWS) -> str:
    """A view as lines of a width."""
    lines: list[str] = []
    shown: set[str] = set()
    parts = [*view.parts]
    while parts and parts[-1] == "":
        parts.pop()
    for part in parts:
        if isinstance(part, Table):
            layout = lay_out(replace(part, rows=part.rows[:rows]), width=width)
            lines = [*lines, *layout.lines]
            shown |= {*layout.columns}
            if len(part.rows) > rows:
                lines.append(
                    f"... and {len(part.rows) - rows} more rows: to_frame() has all"
                )
            if FLAGS in layout.left_out:
                lines += wrap(flags_in_words(part), width)
            if layout.left_out:
                lines += wrap(
                    f"(left out: {', '.join(layout.left_out)}; to_frame() has all)",
                    width,
                )
        elif isinstance(part, TableNote):
            if not part.column or part.column in shown:
                lines += wrap(part.line, width)
        else:
            lines += wrap(part, width)
    for note in view.notes:
        lines += wrap(f"note: {note}", width)
    return "\n".join(lines)


def wrap(text: str, width: int) -> list[str]:
    """Lines broken at blanks, the later ones of a sentence indented; none is lost."""
    if width < NARROW:
        return text.split("\n")
    lines: list[str] = []
    for line in text.split("\n"):
        if len(line) <= width:
            lines.append(line)
            continue
        lines += textwrap.wrap(
            line,
            width,
            subsequent_indent=GAP,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def _texts_of(table: Table, kept: Sequence[int]) -> _TableText:
    return _TableText(
        [table.columns[index] for index in kept],
        [table.values(index) for index in kept],
        len(table.rows),
    )


def _left_out(table: _TableText, minor: Sequence[str], width: int) -> list[str]:
    """Columns that a terminal does without: as few as there need be, and only where
    that helps.

    Minor ones first; where all of these are not enough, the last ones, so that no line
    is longer than the terminal.
    """
    if width < NARROW or table.width <= width:
        return []
    extra = [name for name in minor if name in table.columns]
    naming = COMFORTABLE
    if table.least_width(COMFORTABLE, NAMING, without=extra) <= width:
        naming = NAMING
    left_out: list[str] = []
    for name in extra:
        if table.least_width(COMFORTABLE, naming, without=left_out) <= width:
            break
        left_out.append(name)
    for name in reversed(table.columns[KEPT:]):
        if table.least_width(without=left_out) <= width:
            break
        if name not in left_out:
            left_out.append(name)
    return left_out


class _TableText:
    """A table in words, and how wide its columns are."""

    def __init__(
        self, columns: Sequence[str], values: Sequence[Sequence[Any]], n_rows: int
    ) -> None:
        self.columns = columns = [cell(name) for name in columns]
        texts = [_in_words(column) for column in values]
        if columns:
            self.rows = list(zip(*texts, strict=True))
        else:
            self.rows = [()] * n_rows
        self.right = [is_number(column) for column in values]
        #: The most characters of a text of each column.
        self.longest = [max(map(len, column)) for column in texts]
        self.widths = [
            max(len(name), longest)
            for name, longest in zip(columns, self.longest, strict=True)
        ]
        #: Index of the first column of long texts; -1 without one.
        self.first_long = next(
            (index for index, longest in enumerate(self.longest) if longest > SHORT), -1
        )

    @property
    def width(self) -> int:
        """Characters of a line."""
        return sum(self.widths) + len(GAP) * (len(self.columns) - 1)

    def least_width(
        self, least: int = LEAST, naming: int = LEAST, *, without: Collection[str] = ()
    ) -> int:
        """Characters of a line when texts are folded to ``least``, the first of them to
        ``naming``, without some columns."""
        folded = zip(self.columns, self.folded(least, naming), strict=True)
        widths = [width for name, width in folded if name not in without]
        return sum(widths) + len(GAP) * (len(widths) - 1)

    def folded(self, least: int = LEAST, naming: int = LEAST) -> list[int]:
        """Width of each column when names and long texts are folded."""
        widths = []
        for index, name in enumerate(self.columns):
            longest = self.longest[index]
            word = max(
                map(len, name.replace(" - ", "---").split(" "))
            )  # "a - b" stays in one line
            room = least
            if index == self.first_long:
                room = naming
            if longest <= max(SHORT, room):
                room = longest
            widths.append(max(word, room))
        return widths


def _in_words(column: Sequence[Any]) -> list[str]:
    """Each value of a column as people read it; of texts, counts and flags, which
    repeat, each only once."""
    kinds = set(map(type, column))
    repeats = kinds in ({str}, {int})
    if kinds == {tuple}:
        repeats = set(map(type, chain.from_iterable(column))) <= {str}
    if repeats:
        words = {value: cell(value) for value in set(column)}
        return [words[value] for value in column]
    if kinds <= {WrittenNumber, type(None)}:
        return ["-" if value is None else value.text for value in column]
    if kinds <= {WrittenInterval, type(None)}:
        return ["-" if value is None else str(value) for value in column]
    return list(map(cell, column))


def _plain(table: _TableText) -> Iterator[str]:
    forms = []
    for to_right, width in zip(table.right, table.widths, strict=True):
        form = f"%-{width}s"
        if to_right:
            form = f"%{width}s"
        forms.append(form)
    line = GAP.join(forms)
    yield (line % tuple(table.columns)).rstrip()
    yield GAP.join("-" * width for width in table.widths)
    for row in table.rows:
        yield (line % row).rstrip()


def _folded(table: _TableText, width: int) -> Iterator[str]:
    """Long texts go on in the line below; numbers and other short ones stay whole."""
    widths = _shared_out(table, width)
    heads = [fold(name, room) for name, room in zip(table.columns, widths, strict=True)]
    tallest = max(map(len, heads))
    yield from _lines(
        [[""] * (tallest - len(head)) + head for head in heads], widths, table.right
    )
    yield GAP.join("-" * room for room in widths)
    for row in table.rows:
        yield from _lines(
            [fold(text, room) for text, room in zip(row, widths, strict=True)],
            widths,
            table.right,
        )


def _lines(
    cells: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool]
) -> Iterator[str]:
    """The lines of a row, each cell in lines of its own."""
    for parts in zip_longest(*cells, fillvalue=""):
        padded: list[str] = []
        for text, room, to_right in zip(parts, widths, right, strict=True):
            if to_right:
                padded.append(text.rjust(room))
            else:
                padded.append(text.ljust(room))
        yield GAP.join(padded).rstrip()


def _shared_out(table: _TableText, width: int) -> list[int]:
    """Widths of columns that fill a line: what is over the least goes to those that
    need it, the modest first."""
    widths = table.folded()
    over = width - table.least_width()
    wishes = sorted(
        (wish - least, index)
        for index, (wish, least) in enumerate(zip(table.widths, widths, strict=True))
    )
    for left, (wish, index) in zip(range(len(wishes), 0, -1), wishes, strict=True):
        given = min(wish, over // left)
        cells_fit = all(len(row[index]) <= widths[index] for row in table.rows)
        if given < wish and cells_fit:
            continue  # for its heading alone, and not all of it
        widths[index] += given
        over -= given
    return widths


def fold(text: str, width: int) -> list[str]:
    """A text in lines of a width: broken at blanks, a longer word after a sign such as
    - or _ if it has one there."""
    lines = []
    while len(text) > width:
        blank = text.rfind(" ", 0, width + 1)
        sign = max(text.rfind(mark, 3, width) for mark in BREAKS) + 1
        cut = sign or width
        if blank > 0:
            cut = blank
        lines.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*lines, text]
