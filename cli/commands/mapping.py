"""``mapping``: a starting mapping for a table of somebody's own."""

from __future__ import annotations

from pathlib import Path

import click

from warehouse.errors import MisuseError

from ..lazy_group import command


@command("mapping")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write it there; default: standard output.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
def mapping(file: Path, output: Path | None, force: bool) -> None:
    from warehouse.importers.tabular.starting_mapping import starting_mapping

    if output is not None and output.exists() and not force:
        raise MisuseError(f"'{output}' is there already; name another file, or say --force")
    text = starting_mapping(file)
    if output is None:
        click.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    click.echo(f"wrote {output}; next: warehouse ingest {file} --map {output}", err=True)
