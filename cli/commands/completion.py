"""``completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import click

from ..lazy_group import command
from ..ui.table import echo

SHELLS = ("bash", "zsh", "fish")


@command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # the three are click's own
    echo(kind(ctx.find_root().command, {}, "warehouse", "_WAREHOUSE_COMPLETE").source())
