"""Rows of what was found of published tables, and what people are shown of them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warehouse.analysis.board.named import NamedBoard
from warehouse.analysis.results import Result, Row
from warehouse.stats.board.finding import CHECK, NOTE, WRONG
from warehouse.tables.text import WIDTH
from warehouse.tables.view import Part, Verbatim, View
from warehouse.tables.words import visible

#: The last line of every answer.
LAST_LINE = "Nothing was rerun. A file without hits may still be wrong."
#: What stands above the findings of a grade.
HEADINGS = {WRONG: "cannot be right", CHECK: "ask", NOTE: "notes"}
#: Characters of the column of names, lines of notes that are shown unasked, and files
#: that could not be read.
_NAME, _MOST_NOTES, _MOST_UNREAD = 24, 10, 5
#: Columns without a clear leader that are named unasked.
_MOST_LEADERS = 3
#: What is found of entries that are named in the text, but for the first.
_OF_TWO = ("the same figures", "right and wrong on the same")
#: What each rule looks at.
RULES = {
    "B1": "a figure that is no share of n items",
    "B2": "a rule between columns that nearly all rows keep",
    "B3": "figures that can only rise, or fall, with k",
    "B4": "figures out of range, or on another scale",
    "B5": "standard errors that their figures cannot have",
    "B6": "names that stand twice, and rows of equal figures",
    "B7": "the order of a sorted table",
    "B8": "ties that are told apart",
    "B9": "the samples behind a figure",
    "B10": "cells that nearly all others have",
    "B11": "another number of items",
    "B12": "figures that are unlikely beside the others of their row",
    "B13": "costs",
    "B14": "dates",
    "B15": "figures below chance",
    "B16": "the headline beside other metrics",
}


@dataclass(frozen=True)
class BoardRow(Row):
    """One thing found of a published table."""

    board: str  #: the file, and the place of the table in it.
    #: ``wrong``: two things contradict each other; ``check``: to be asked about;
    #: ``note``: to be known.
    grade: str
    rule: str  #: ``B1`` to ``B16``: what was looked at.
    entries: tuple[str, ...]  #: names of the rows it is of; empty where of a column.
    n_entries: int  #: how many these are.
    column: str  #: name of the column; empty where it is of rows.
    printed: str  #: the text of the cell; empty where it is of several.
    expected: float | None  #: what the figure would have to be; None: not said.
    found: str  #: what was found, in words.
    score: float  #: how far beyond what is allowed, in units of the rule.
    is_suspicion: bool  #: whether it is only unlikely, and contradicts nothing.

    @property
    def who(self) -> str:
        """The entry, or how many."""
        if not self.entries:
            return "the column"
        if self.n_entries == 1 or self.found.startswith(_OF_TWO):
            return self.entries[0]
        return f"{self.n_entries} entries"


@dataclass(frozen=True)
class BoardChange(Row):
    """A cell that two versions of a table print differently."""

    board: str  #: the file, and the place of the table in it.
    entry: str  #: name of the row.
    column: str  #: name of the column.
    before: str  #: what the earlier version printed; empty where nothing.
    now: str  #: what the later one prints.
    was_found: (
        bool  #: whether the earlier cell cannot be right, or is to be asked about.
    )


@dataclass(frozen=True, repr=False)
class BoardReport(Result):
    """What was found of published tables."""

    rows: tuple[BoardRow, ...]  #: wrong ones first; within a table the strongest first.
    n_figures: int  #: figures that were looked at.
    n_entries: int  #: entries of all tables.
    n_boards: int  #: tables.
    n_files: int  #: files that were looked at.
    n_not_shown: int  #: further entries with an unlikely figure.
    unread: tuple[str, ...] = ()  #: files that could not be read, with the reason.
    #: cells that changed since an earlier version, those that had been found first; None:
    #: none was named.
    changes: tuple[BoardChange, ...] | None = None
    in_store: str = ""  #: what a store has of the tables; empty: none was asked.
    #: columns whose highest figure is within noise of others, a sentence each.
    leaders: tuple[str, ...] = ()
    #: the tables, as they were read.
    boards: tuple[NamedBoard, ...] = ()
    not_in_store: str = ""  #: names that it lacks, or that are not clear.

    notebook_columns = ("grade", "rule", "entries", "column", "found")

    @property
    def wrong(self) -> tuple[BoardRow, ...]:
        """The findings that cannot be right."""
        return self.of_grade(WRONG)

    @property
    def n_wrong(self) -> int:
        """How many these are."""
        return len(self.wrong)

    def of_grade(self, grade: str) -> tuple[BoardRow, ...]:
        """The findings of a grade."""
        return tuple(row for row in self.rows if row.grade == grade)

    @property
    def one_line(self) -> str:
        return str(self)

    def __str__(self) -> str:
        n_wrong = self.n_wrong
        n_checks, n_notes = len(self.of_grade(CHECK)), len(self.of_grade(NOTE))
        if not self.rows:
            said = "Nothing found"
        else:
            certain = "No certain error"
            if n_wrong:
                certain = f"{_counted(n_wrong, 'finding')} cannot be right"
            said = f"{certain}, {n_checks:,} to ask about, {_counted(n_notes, 'note')}"
        of_tables = ""
        if self.n_boards != 1:
            of_tables = f", {_counted(self.n_boards, 'table')}"
        entries = "1 entry" if self.n_entries == 1 else f"{self.n_entries:,} entries"
        return f"{said}: {_counted(self.n_figures, 'figure')}, {entries}{of_tables}."

    def view(self, *, verbose: bool = False) -> View:
        """A sentence, then what cannot be right, what to ask, and notes.

        Args:
            verbose: with all notes, and the rule of each.
        """
        parts: list[Part] = [str(self)]
        parts += _wrapped([self.in_store, self.not_in_store])
        for grade, heading in HEADINGS.items():
            rows = self.of_grade(grade)
            if rows:
                parts += ["", heading]
                parts += _of_grade(rows, verbose=verbose, several=self.n_boards > 1)
        if self.n_not_shown:
            entries = "entry" if self.n_not_shown == 1 else "entries"
            parts.append(
                f"{self.n_not_shown:,} further {entries} with an unlikely figure not "
                "shown."
            )
        parts += _within_noise(self.leaders, verbose=verbose)
        parts += _changed(self.changes, verbose=verbose)
        if verbose and self.rows:
            parts += ["", *_rules(self.rows)]
        parts += ["", *_unread(self.unread), LAST_LINE]
        return View(tuple(parts))


def _within_noise(leaders: Sequence[str], *, verbose: bool) -> Iterator[str]:
    """Whose highest figures are within noise of others."""
    if not leaders:
        return
    shown = list(leaders)
    if not verbose:
        shown = shown[:_MOST_LEADERS]
    yield ""
    yield "within noise"
    for line in _wrapped(shown):
        yield f"  {line}"
    n_more = len(leaders) - len(shown)
    if n_more:
        yield f"  {_counted(n_more, 'further column')}: --explain"


def _wrapped(lines: Sequence[str]) -> Iterator[str]:
    """Lines broken as the findings are; nothing of empty ones."""
    for line in filter(None, lines):
        yield from textwrap.wrap(visible(line), WIDTH - 2, subsequent_indent="  ")


def _counted(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}s"


def _of_grade(
    rows: Sequence[BoardRow], *, verbose: bool, several: bool
) -> Iterator[Part]:
    shown = list(rows)
    if rows[0].grade == NOTE and not verbose:
        shown = shown[:_MOST_NOTES]
    board = ""
    for row in shown:
        if several and row.board != board:
            board = row.board
            yield Verbatim(f" {visible(board)}")
        text = row.found
        if verbose:
            text = f"{text} ({row.rule})"
        yield from _lines(visible(row.who), visible(text))
    if len(rows) > len(shown):
        yield f"  {len(rows) - len(shown):,} further notes: --explain"


def _lines(name: str, text: str) -> Iterator[Part]:
    """A name and what was found of it, the text below its own beginning."""
    indent = " " * (_NAME + 2)
    broken = textwrap.wrap(text, WIDTH - len(indent), break_on_hyphens=False) or [""]
    if len(name) + 2 > _NAME:
        for line in textwrap.wrap(name, WIDTH - 2, break_on_hyphens=False):
            yield Verbatim(f"  {line}")
    else:
        yield Verbatim(f"  {name}".ljust(len(indent)) + broken.pop(0))
    for line in broken:
        yield Verbatim(indent + line)


def _changed(changes: Sequence[BoardChange] | None, *, verbose: bool) -> Iterator[Part]:
    if changes is None:
        return
    n_found = sum(change.was_found for change in changes)
    yield ""
    yield (
        f"{_counted(len(changes), 'cell')} changed since the earlier version; {n_found} "
        "of them had been found."
    )
    shown = list(changes)
    if not verbose:
        shown = shown[:_MOST_NOTES]
    for change in shown:
        was, now = change.before or "nothing", change.now or "nothing"
        text = f"{change.column} {was}, now {now}"
        if change.was_found:
            text += " (had been found)"
        yield from _lines(visible(change.entry), visible(text))
    if len(changes) > len(shown):
        yield f"  {len(changes) - len(shown):,} further cells: --explain"


def _rules(rows: Sequence[BoardRow]) -> Iterator[str]:
    for rule in dict.fromkeys(row.rule for row in rows):
        yield f"{rule}: {RULES[rule]}."


def _unread(unread: Sequence[str]) -> Iterator[str]:
    if not unread:
        return
    yield f"{_counted(len(unread), 'file')} could not be read:"
    for line in unread[:_MOST_UNREAD]:
        yield f"  {line}"
    if len(unread) > _MOST_UNREAD:
        yield f"  and {len(unread) - _MOST_UNREAD:,} more"
