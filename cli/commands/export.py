"""``export``: the store as files."""

from __future__ import annotations

from pathlib import Path

import click

from warehouse.errors import MisuseError

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.table import echo


@command("export")
@click.argument("out", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--parquet",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for all tables and views as Parquet files; must not exist or be empty.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "every-eval-ever"]),
    default="parquet",
    help="Format of OUT: the whole store as Parquet, or current runs as Every Eval Ever.",
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier export that lies there.")
@pass_state
def export(state: State, out: Path | None, folder: Path | None, form: str, overwrite: bool) -> None:
    if (out is None) == (folder is None) or (folder is not None and form != "parquet"):
        raise MisuseError("say one folder: export --parquet DIR, or export --format FORMAT OUT")
    target = out or folder or Path()
    with state.open() as store:
        if form == "parquet":
            from warehouse.export import export as write

            echo(str(write(store, target, overwrite=overwrite, progress=state.detail)))
            return
        import time

        from warehouse.interchange.every_eval_ever import export as write_evaluations

        report = write_evaluations(store, target, now=time.time(), overwrite=overwrite, progress=state.detail)
        for reason in report.left_out:
            echo(f"left out: {reason}", err=True)
        echo(str(report))
