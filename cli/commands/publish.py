"""``publish``: a read-only copy of the store, and the same after every ingest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced

if TYPE_CHECKING:
    from warehouse.store.snapshot import Published

OCCASIONS = ("ingest", "refresh")


@command("publish")
@click.argument("path", metavar="[PATH]", required=False, type=OutputFile(None))
@click.option(
    "--after",
    metavar="WHAT",
    help="Also write to warehouse.toml that it is published again after: ingest, refresh or ingest,refresh.",
)
@output_options
@pass_state
def publish(state: State, /, path: Path | None, after: str | None, output: Output) -> None:
    from warehouse.store.snapshot import Published

    config = state.config()
    target = str(path or config.publish_path.value)
    if not target:
        raise click.UsageError("give a PATH, or publish.path in warehouse.toml")
    if after is not None:
        _check_after(after)
    done = _publish(state, target, force=forced())
    if after is not None:
        from warehouse.config import add_publish

        state.say(f"wrote to {add_publish(Path.cwd(), target, after)}")
    output.emit_records(Published, [done])


def _check_after(after: str) -> None:
    unknown = [word for word in after.split(",") if word not in OCCASIONS]
    if unknown:
        raise click.BadParameter(f"'{unknown[0]}' is not one of {', '.join(OCCASIONS)}", param_hint="--after")


def publish_after(state: State, occasion: str, path: Path | None = None) -> None:
    """Publish where the flag or ``warehouse.toml`` asks for it after an occasion (``ingest``,
    ``refresh``) that changed the store."""
    config = state.config()
    hooked = occasion in config.publish_after.value.split(",")
    target = str(path or (config.publish_path.value if hooked else ""))
    if target:
        state.say(str(_publish(state, target)))


def _publish(state: State, target: str, *, force: bool = False) -> Published:
    from warehouse.store.snapshot import publish as write

    return write(state.config().url.value, target, force=force, wait=state.wait, say=state.say)
