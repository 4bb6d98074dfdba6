"""``query``: views, library queries and single SELECTs, on a connection that cannot write."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import assignments, limit_options, output_options, pairs_callback, refuse_typed
from ..ui.output import Output
from ..ui.table import asked_for_columns, print_hanging, print_text

if TYPE_CHECKING:
    from warehouse.store.engines import Limits


@command("query")
@click.argument("name", required=False)
@click.option("--sql", metavar="SQL", help="One SELECT; :name in it are parameters. -: from standard input.")
@click.option(
    "-p",
    "--param",
    "parameters",
    metavar="NAME=VALUE",
    multiple=True,
    callback=pairs_callback,
    help="Value of a parameter. Repeatable.",
)
@limit_options
@output_options
@pass_state
def query(
    state: State, name: str | None, sql: str | None, parameters: tuple[str, ...], limits: Limits, output: Output
) -> None:
    if name and sql:
        raise click.UsageError("give the name of a query or --sql, not both")
    values = assignments(parameters, "-p")
    if sql == "-":
        sql = _typed_in()
    if not name and sql is None:
        if values:
            raise click.UsageError("-p needs the name of a query, or --sql")
        refuse_typed("is for a query that runs: give its name, or --sql", "timeout", "memory")
        return list_queries(output)
    from warehouse.store.curate.aliases import hints_on_names
    from warehouse.store.sql.run_query import is_name, run_query, run_sql

    with state.open(guarded=True, limits=limits, typed=sql is not None or not is_name(name or "")) as store:
        table = run_sql(store, sql, values) if sql is not None else run_query(store, name or "", values)
        hints = [] if table.num_rows else hints_on_names(store, values)
    output.emit_arrow(table)
    for hint in hints:
        state.say(f"note: {hint}")


def _typed_in() -> str:
    """A statement from standard input.

    Raises:
        UsageError: nothing came, or no text.
    """
    try:
        text = sys.stdin.read() if sys.stdin else ""
    except UnicodeDecodeError as error:
        raise click.UsageError(f"--sql -: byte {error.start} of standard input is not {error.encoding}") from None
    if not text.strip():
        raise click.UsageError("--sql -: expected a SELECT on standard input, found nothing")
    return text


def list_queries(output: Output) -> None:
    """Every view and library query with what it says."""
    from warehouse.store.sql import query_files

    rows = [
        {
            "name": item.name,
            "kind": item.kind,
            "parameters": ", ".join(p.name if p.required else f"{p.name}={p.default}" for p in item.parameters),
            "rows": item.grain,
            "meaning": item.description.partition(". ")[0].removesuffix("."),
        }
        for item in (*query_files.views(), *query_files.library())
    ]
    columns = ["name", "kind", "parameters", "meaning", "rows"]
    if not output.for_people or not sys.stdout.isatty() or asked_for_columns():
        return output.emit(columns, rows, shown=columns[:-1])
    for kind, title in (("view", "Views"), ("library", "Library queries, with parameters: -p NAME=VALUE")):
        print_text(f"{title}:")
        for row in rows:
            if row["kind"] == kind:
                given = f" ({row['parameters']})" if row["parameters"] else ""
                print_hanging(f"  {row['name']:<25}", f"{row['meaning']}{given}")
