"""``mapping``: a starting mapping for a table of somebody's own, and those that are shipped."""

from __future__ import annotations

from pathlib import Path

import click

from warehouse.files import MAPPING, write_output

from ..lazy_group import command
from ..ui.options import MappingFile, refuse_typed
from ..ui.output_files import OutputFile
from ..ui.table import echo, excerpt, print_rows

#: Characters of what a shipped mapping reads, in a list.
DESCRIPTION = 100


@command("mapping")
@click.argument("file", metavar="[FILE|NAME]", required=False, type=MappingFile())
@click.option("--list", "listing", is_flag=True, help="List the mappings for published dumps, which are shipped.")
@click.option(
    "-o", "--output", metavar="FILE", type=OutputFile(MAPPING), help="Write it there; default: standard output."
)
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
def mapping(file: str | None, listing: bool, output: Path | None, force: bool) -> None:
    from warehouse.importers.tabular.mistakes import describe_mapping, mapping_file, shipped_mappings
    from warehouse.importers.tabular.starting_mapping import starting_mapping

    if listing:
        if file is not None:
            raise click.UsageError(f"--list lists the shipped mappings: name no file, found {file}")
        refuse_typed("goes with a file or the name of a mapping, not with --list", "output", "force")
        known = shipped_mappings().items()
        print_rows({"name": name, "reads": excerpt(describe_mapping(path), DESCRIPTION)} for name, path in known)
        return
    if file is None:
        raise click.UsageError("expected a table to begin from, the name of a shipped mapping, or --list")
    path = mapping_file(file)
    shipped = not Path(file).is_file()
    text = path.read_text(encoding="utf-8") if shipped else starting_mapping(path, _known(path))
    if output is None:
        refuse_typed("goes with --output", "force")
        echo(text, nl=False)
        return
    write_output(output, text.encode(), MAPPING, force=force)
    dumps = "DUMPS" if shipped else path
    open_choices = text.count("\n[[choose]]")
    first = f"decide what [[choose]] asks ({open_choices}), then " if open_choices else ""
    echo(f"wrote {output}; next: {first}warehouse ingest {dumps} --map {output}", err=True)


def _known(path: Path) -> str:
    """The importer that reads a file without a mapping; nothing where that is none."""
    from warehouse.ingest.discover import discover

    names = {job.importer.name for job in discover([path]).jobs}
    return next(iter(names - {"tabular"}), "")
