"""``export``: the store as files."""

from __future__ import annotations

from pathlib import Path

import click

from .frame import command
from .state import State, pass_state


@command("export")
@click.option(
    "--parquet", "folder", metavar="DIR", required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write; must not exist or be empty.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace an earlier export that lies there.")
@pass_state
def export(state: State, folder: Path, overwrite: bool) -> None:
    from warehouse.export import export as write

    with state.open() as store:
        click.echo(str(write(store, folder, overwrite=overwrite, progress=state.detail)))
