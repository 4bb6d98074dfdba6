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


@command("board")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@option("--fail", "End with status 3 if a figure cannot be right.", is_flag=True)
@output_options
def board(state: State, /, files: tuple[str, ...], fail: bool, output: Output) -> int:
    from warehouse.boards.asking import board as audited

    report = audited(*files)
    state.give(output, report, partial(report.view, verbose=state.explains))
    if fail and report.n_wrong:
        raise click.exceptions.Exit(_WRONG)
    return 0
