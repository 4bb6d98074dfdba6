"""``history``: how stored figures have changed."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from warehouse.refresh.question import FigureHistory

from ..lazy_group import command
from ..state import State
from ..ui.options import REFERENCE, option, output_options
from ..ui.output import Output
from ..ui.questions import options_of


@command("history")
@click.argument("names", nargs=-1, metavar=f"[run:ID|{REFERENCE}] [BENCHMARK]")
@option(
    "-b --benchmark NAME", "The benchmark, where it does not stand after the model."
)
@options_of(FigureHistory, without=("model", "benchmark"))
@output_options
def history(
    state: State,
    /,
    names: tuple[str, ...],
    benchmark: str | None,
    output: Output,
    **options: Any,
) -> None:
    from warehouse.refresh.history import history as look
    from warehouse.refresh.history import history_of

    given = (*names, *([benchmark] if benchmark else []))
    if not 1 <= len(given) <= 2:
        raise click.UsageError(
            "expected a model, a benchmark, or a model and a benchmark; found "
            f"{len(given)} names"
        )
    with state.open() as store:
        if len(given) == 2:
            changes = look(store, *given, **options)
        else:
            if benchmark:
                changes = look(store, None, benchmark, **options)
            else:
                changes = history_of(store, names[0], **options)
    state.give(output, changes, partial(state.view_of, changes.view))
