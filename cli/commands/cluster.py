"""``cluster``: prompts that belong together, by fields of their documents."""

from __future__ import annotations

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import fields_callback


@command("cluster")
@click.argument("benchmark")
@click.option(
    "--by",
    "fields",
    metavar="FIELD[,FIELD]",
    required=True,
    callback=fields_callback,
    help="Prompts that agree in these fields form one cluster; dots reach inside.",
)
@click.option("--default", "default", is_flag=True, help="Use it for error bars from now on.")
@pass_state
def cluster(state: State, benchmark: str, fields: tuple[str, ...], default: bool) -> None:
    from warehouse.store.curate.field_clusters import cluster_by

    with state.open(write=True) as store:
        name, clusters, prompts = cluster_by(store, benchmark, fields, default=default)
    used = "; error bars use it" if default else ""
    click.echo(f"{benchmark}: {prompts} prompts in {clusters} clusters by {name}{used}")
