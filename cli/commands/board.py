"""``board``: what is wrong with a published table."""

from __future__ import annotations

from functools import partial

import click

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options
from ..ui.output import Output

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
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
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
@output_options
def board(
    state: State,
    /,
    files: tuple[str, ...],
    fail: bool,
    items: dict[str, int],
    before: str | None,
    output: Output,
) -> int:
    from warehouse.boards.asking import board as audited

    report = audited(*files, items=items, before=before)
    state.give(output, report, partial(report.view, verbose=state.explains))
    if fail and report.n_wrong:
        raise click.exceptions.Exit(_WRONG)
    return 0
