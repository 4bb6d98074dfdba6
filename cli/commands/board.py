"""``board``: what is wrong with a published table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.files import REPORT, write_output

from ..lazy_group import command
from ..state import State, is_missing
from ..ui.options import option, output_options_but
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced

if TYPE_CHECKING:
    from warehouse.store.connection import Store

#: Exit status where a figure cannot be right, with ``--fail``.
_WRONG = 3


def _items(
    _ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, int]:
    """Numbers of items by column."""
    found = {}
    for text in texts:
        column, _, number = text.rpartition("=")
        if not column or not number.isdecimal():
            raise click.BadParameter(f"{text!r} is not COLUMN=N, such as humaneval=164")
        found[column] = int(number)
    return found


@command("board")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path())
@option("--fail", "End with status 3 if a figure cannot be right.", is_flag=True)
@option(
    "--items COLUMN=N",
    "Items of a column, of which its figures are shares. Repeatable.",
    multiple=True,
    callback=_items,
)
@option(
    "--before OLD",
    "An earlier version of the file: which cells changed, and had been found.",
    click.Path(),
)
@option(
    "--html FILE",
    "Write a page: the tables with the cells marked of which something was found.",
    OutputFile(REPORT),
)
@output_options_but("html")
def board(
    state: State,
    /,
    files: tuple[str, ...],
    fail: bool,
    items: dict[str, int],
    before: str | None,
    html: Path | None,
    output: Output,
) -> int:
    from warehouse.boards.asking import board_beside

    with _store(state) as store:
        report = board_beside(store, *files, items=items, before=before)
    if html is not None:
        from warehouse.report.published import published_page

        page = published_page(report)
        data = page.encode("utf-8", "backslashreplace")
        write_output(html, data, REPORT, force=forced())
        state.say(f"wrote {html}")
    state.give(output, report, partial(report.view, verbose=state.explains))
    if fail and report.n_wrong:
        return _WRONG  # what is recorded for a page is printed first
    return 0


@contextmanager
def _store(state: State) -> Iterator[Store | None]:
    """The store that holds here; None where there is none, or where nobody named it in
    this call and it cannot be opened: the files stand alone then."""
    from warehouse.errors import WarehouseError

    is_named = bool(state.db or state.dumps)
    with ExitStack() as stack:
        store: Store | None = None
        try:
            if is_named or not is_missing(state.config().url.value):
                store = stack.enter_context(state.open())
        except WarehouseError as error:
            if is_named:
                raise
            state.say(f"note: no store is asked: {error}")
        yield store
