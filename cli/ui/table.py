"""Tables for people: fitted to a terminal, of full width anywhere else."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TextIO, Unpack

import click

from warehouse.tables.text import FLAGS, LEAST, flags_in_words, fold, lay_out, wrap
from warehouse.tables.text import NARROW as NARROW
from warehouse.tables.view import (
    HangingText,
    Table,
    TableLook,
    TableNote,
    Verbatim,
    View,
)
from warehouse.tables.words import cell as cell
from warehouse.tables.words import decimals as decimals
from warehouse.tables.words import direction as direction
from warehouse.tables.words import excerpt as excerpt
from warehouse.tables.words import interval as interval
from warehouse.tables.words import number as number
from warehouse.tables.words import p_value as p_value
from warehouse.tables.words import percentage as percentage
from warehouse.tables.words import visible as visible

#: Rows that a terminal is given; files and pipes get all.
TERMINAL_ROWS = 1000
#: Lines that are one text when they are printed.
LINES_AT_ONCE = 10_000
#: What is printed goes here in place of the screen, while somebody records.
_RECORDED: ContextVar[list[str | Table | TableNote] | None] = ContextVar(
    "recorded", default=None
)
#: Where a call keeps what the user wants of its tables (`click.Context.meta`).
WIDE, CHOSEN = "warehouse.wide", "warehouse.columns"


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], **look: Unpack[TableLook]
) -> tuple[str, ...]:
    """Print rows under their columns, numbers to the right; the names of the columns
    that are shown.

    Columns named ``hide_empty`` are left out where they say nothing in any row, those
    named ``counts`` where they are 0 as well. A terminal that is too narrow does
    without the columns named ``minor``, the first of them first, as far as it has to;
    ``--wide`` shows them, ``--columns`` shows those that it names.
    """
    return _print(Table(tuple(columns), tuple(map(tuple, rows)), **look))


def print_rows(
    rows: Iterable[Mapping[str, Any]], **look: Unpack[TableLook]
) -> tuple[str, ...]:
    """Print rows that name their cells, all in the same order; see :func:`print_table`."""
    return _print(Table.of(rows, **look))


def print_view(view: View) -> set[str]:
    """Print sentences, tables and what stands below them, its notes apart; the columns
    that are shown."""
    shown: set[str] = set()
    recorded = _RECORDED.get()
    if recorded is not None:
        recorded += view.parts
        return shown
    for part in view.parts:
        if isinstance(part, Table) and part.rows:
            chosen_columns(
                part.columns
            )  # a name that there is not is refused before anything is said
    for part in view.parts:
        if isinstance(part, Table):
            shown |= {*_print(part)}
        elif isinstance(part, str):
            _print_line(part)
        elif not part.column or part.column in shown:
            print(
                "\n".join(wrap(visible(part.line), part.width))
                if part.width and not sys.stdout.isatty()
                else fitted(visible(part.line), sys.stdout)
            )
    if sys.stdout.isatty():
        _name_terms([part.column for part in view.explained if part.column in shown])
    return shown


def _print_line(text: str) -> None:
    """Print a sentence, a text as it is, or one that hangs from its name."""
    if isinstance(text, Verbatim):
        echo(text)
    elif isinstance(text, HangingText):
        print_hanging(text.name, text.text)
    else:
        print_text(text)


def _name_terms(columns: Sequence[str]) -> None:
    """Where the words of explained columns are explained at length."""
    from warehouse.tables.glossary import find

    names = dict.fromkeys(term.name for column in columns if (term := find(column)))
    if names:
        print_text(f"in plain words: warehouse help {' '.join(names)}")


@contextmanager
def recording() -> Iterator[list[str | Table | TableNote]]:
    """What is printed inside, as parts of a view; nothing of it reaches the screen."""
    parts: list[str | Table | TableNote] = []
    token = _RECORDED.set(parts)
    try:
        yield parts
    finally:
        _RECORDED.reset(token)


#: That nothing became per cent.
ALREADY = "note: --percent changes nothing: shares are in per cent here already"


def print_page(
    parts: Sequence[str | Table | TableNote], form: str, *, percent: bool
) -> None:
    """Print what was recorded as ``markdown``, ``latex`` or ``html``, shares of 1 in
    per cent if so."""
    from warehouse.tables.markup import in_latex, in_markdown, in_percent
    from warehouse.tables.view import in_html

    view = View(tuple(map(_on_a_page, parts)))
    if percent:
        shown = in_percent(view)
        if shown == view:
            echo(ALREADY, err=True)
        view = shown
    if form == "html":
        print(in_html(view, rows=sys.maxsize))
    else:
        print((in_latex if form == "latex" else in_markdown)(view), end="")


def _on_a_page(part: str | Table | TableNote) -> str | Table | TableNote:
    """A part with the columns that were chosen, else a table as papers print it."""
    if not isinstance(part, Table):
        return part
    chosen = chosen_columns(part.columns)
    if not chosen and part.paper is not None:
        return part.paper
    return part.only(chosen)


def _record(part: str | Table) -> bool:
    """Keep a part where somebody records."""
    recorded = _RECORDED.get()
    if recorded is None:
        return False
    if isinstance(part, str):
        recorded += part.split("\n")
    else:
        recorded += [part]
    return True


def echo(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    """Print a text as it is, but for what would steer a terminal."""
    if err or not _record(text if nl else text.removesuffix("\n")):
        print(
            visible(text),
            end="\n" if nl else "",
            file=sys.stderr if err else sys.stdout,
            flush=err,
        )


def _print(table: Table) -> tuple[str, ...]:
    if _record(table):
        if table.rows:
            return tuple(table.columns[index] for index in table.filled())
        return ()
    chosen = []
    if table.rows:
        chosen = chosen_columns(table.columns)
    if not sys.stdout.isatty():
        layout = lay_out(table, chosen=chosen)
        for start in range(0, len(layout.lines), LINES_AT_ONCE):
            print("\n".join(layout.lines[start : start + LINES_AT_ONCE]))
        return layout.columns
    width = shutil.get_terminal_size().columns
    shown = replace(table, rows=table.rows[:TERMINAL_ROWS])
    layout = lay_out(shown, width=width, wide=bool(_table_option(WIDE)), chosen=chosen)
    print("\n".join(layout.lines))
    if len(shown.rows) < len(table.rows):
        print(
            f"... and {len(table.rows) - len(shown.rows)} more rows: --json, --csv or "
            "a pipe has all"
        )
    if FLAGS in layout.left_out:
        print_text(visible(flags_in_words(table)))
    if layout.left_out:
        print_text(f"({', '.join(layout.left_out)}: --wide)")
    return layout.columns


def _table_option(name: str) -> Any:
    """An option of tables as the user gave it in this call; None where it was not
    given."""
    context = click.get_current_context(silent=True)
    if context:
        return context.meta.get(name)
    return None


def has_column_options() -> bool:
    """Whether the user wants all columns of tables, or named some."""
    return bool(_table_option(WIDE) or _table_option(CHOSEN))


def has_chosen_columns() -> bool:
    """Whether the user named columns."""
    return bool(_table_option(CHOSEN))


def rows_wanted(top: int | None) -> int | None:
    """How many rows of a table are shown: all where somebody wants columns."""
    if top is None and has_column_options():
        return 0
    return top


def chosen_columns(columns: Sequence[str]) -> list[str]:
    """Those that ``--columns`` names, in its order; empty where nothing was chosen.

    Raises:
        UsageError: there is none of such a name.
    """
    chosen: Sequence[str] = _table_option(CHOSEN) or ()
    unknown = [name for name in chosen if name not in columns]
    if unknown:
        raise click.UsageError(
            f"no column '{unknown[0]}'; there are: {', '.join(filter(None, columns))}"
        )
    return list(chosen)


def print_text(text: str) -> None:
    """A sentence, broken at blanks to fit a terminal."""
    if not _record(text):
        print(fitted(visible(text), sys.stdout))


def print_hanging(name: str, text: str) -> None:
    """A name and what it is; on a terminal the text goes on below its own beginning."""
    if _record(f"{name}  {text}".rstrip()):
        return
    room = shutil.get_terminal_size().columns - len(name) - 2
    text = visible(text)
    lines = [text]
    if sys.stdout.isatty() and room > LEAST:
        lines = fold(text, room)
    print(
        f"{name}  {lines[0]}".rstrip(),
        *(" " * (len(name) + 2) + line for line in lines[1:]),
        sep="\n",
    )


def fitted(text: str, stream: TextIO) -> str:
    """Lines broken at blanks where a stream is a terminal, unchanged where it is not."""
    if stream.isatty():
        return "\n".join(wrap(text, shutil.get_terminal_size().columns))
    return text
