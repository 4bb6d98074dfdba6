"""``link``: one question under several keys."""

from __future__ import annotations

from typing import Literal

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options, refuse_typed
from ..ui.output import Output
from ..ui.table import echo


@command("link")
@click.argument("benchmark", required=False)
@click.argument("canonical", required=False)
@click.option(
    "--by",
    type=click.Choice(["text", "id"]),
    default="text",
    show_default=True,
    help="What must be equal: the normalised question, or the tool's own id.",
)
@click.option("--undo", is_flag=True, help="Take BENCHMARK's prompts apart again.")
@output_options
@pass_state
def link(
    state: State, benchmark: str | None, canonical: str | None, by: Literal["text", "id"], undo: bool, output: Output
) -> None:
    from warehouse.store.curate import prompt_links

    if benchmark is None:
        refuse_typed("needs a BENCHMARK: without one the links are listed", "by", "undo")
        with state.open() as store:
            links = prompt_links.links(store)
        output.emit_records(prompt_links.LinkEntry, links, empty="no prompts are linked")
    elif undo:
        refuse_typed("goes with linking, not with --undo", "by")
        if canonical is not None:
            raise click.UsageError(f"--undo takes all prompts of {benchmark} apart: name it alone, without {canonical}")
        with state.open(write=True) as store:
            echo(f"{prompt_links.unlink(store, benchmark)} prompts taken apart")
    elif canonical is None:
        raise click.UsageError("link to which benchmark? warehouse link BENCHMARK CANONICAL")
    else:
        with state.open(write=True) as store:
            echo(str(prompt_links.link(store, benchmark, canonical, by=by)))
