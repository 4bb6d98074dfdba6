"""``query`` and ``shell``: views, library queries and SELECTs, on a connection that
cannot write.

The store is opened for each statement and let go of after it, so that others can write.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from warehouse.errors import WarehouseError

from ..lazy_group import command
from ..state import State
from ..ui.options import (
    assignments,
    limit_options,
    option,
    output_options,
    pairs_callback,
    refuse_typed,
)
from ..ui.output import Output
from ..ui.table import echo, has_column_options, print_hanging, print_text

if TYPE_CHECKING:
    import pyarrow as pa

    from warehouse.store.engines import Limits


@command("query")
@click.argument("name", required=False)
@option("--describe", "What its columns mean, in place of its rows.", is_flag=True)
@option("--sql SQL", "One SELECT; :name in it are parameters. -: from standard input.")
@option(
    "-p --param NAME=VALUE",
    "Value of a parameter. Repeatable.",
    name="parameters",
    multiple=True,
    callback=pairs_callback,
)
@limit_options
@output_options
def query(
    state: State,
    name: str | None,
    describe: bool,
    sql: str | None,
    parameters: tuple[str, ...],
    limits: Limits,
    output: Output,
) -> None:
    if name and sql:
        raise click.UsageError("give the name of a query or --sql, not both")
    if describe:
        if not name:
            raise click.UsageError(
                "--describe is of a view or library query: give its name"
            )
        refuse_typed(
            "is for a query that runs: leave out it or --describe",
            "parameters",
            "timeout",
            "memory",
        )
        return output.emit(*columns_of_query(name))
    values = assignments(parameters, "-p")
    if name and name.endswith(".sql"):
        raise click.UsageError(
            f"{name} is no name of a query; the SELECT in a file: warehouse query "
            f"--sql - < {name}"
        )
    if sql == "-":
        sql = _typed_in()
    if not name and sql is None:
        if values:
            raise click.UsageError("-p needs the name of a query, or --sql")
        refuse_typed(
            "is for a query that runs: give its name, or --sql", "timeout", "memory"
        )
        return list_queries(output)
    from warehouse.store.sql.run_query import is_name, run_named

    if sql is not None or not is_name(name or ""):
        output.emit_arrow(
            _typed_rows(state, sql if sql is not None else name or "", values, limits)
        )
        return
    from warehouse.store.curate.aliases import hints_on_names

    with state.open(guarded=True, limits=limits, typed=False) as store:
        table = run_named(store, (name or "").strip(), values)
        hints = [] if table.num_rows else hints_on_names(store, values)
    output.emit_arrow(table)
    state.notes(hints)


def _typed_rows(
    state: State, sql: str, values: dict[str, str], limits: Limits
) -> pa.Table:
    """The rows of a SELECT that somebody typed."""
    from warehouse.store.sql.apart import TypedQuery, query_apart

    config = state.config()
    query = TypedQuery(
        config.url.value, sql, values, limits, config.reader.value, state.wait
    )
    return query_apart(query, say=state.say)


def _typed_in() -> str:
    """A statement from standard input (UsageError: nothing came, or no text)."""
    try:
        text = ""
        if sys.stdin:
            text = sys.stdin.read()
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"--sql -: byte {error.start} of standard input is not {error.encoding}"
        ) from None
    if not text.strip():
        raise click.UsageError(
            "--sql -: expected a SELECT on standard input, found nothing"
        )
    return text


Listed = tuple[list[str], list[dict[str, str]]]


def queries() -> Listed:
    """Every view and library query with what it says: columns, and rows."""
    from warehouse.store.sql import query_files

    rows = []
    for item in (*query_files.views(), *query_files.library()):
        rows.append(
            {
                "name": item.name,
                "kind": item.kind,
                "parameters": ", ".join(
                    p.name if p.required else f"{p.name}={p.default}"
                    for p in item.parameters
                ),
                "rows": item.grain,
                "meaning": item.description.partition(". ")[0].removesuffix("."),
            }
        )
    return ["name", "kind", "parameters", "meaning", "rows"], rows


def columns_of_query(name: str) -> Listed:
    """The columns of a view or library query with their meanings (MisuseError: there is
    none of that name)."""
    from warehouse.store.sql import query_files

    found = query_files.find(name).columns
    return ["column", "meaning"], [
        {"column": column, "meaning": meaning} for column, meaning in found
    ]


def list_queries(output: Output) -> None:
    """Print what :func:`queries` has."""
    columns, rows = queries()
    if not output.for_people or not sys.stdout.isatty() or has_column_options():
        return output.emit(columns, rows, shown=columns[:-1])
    for kind, title in (
        ("view", "Views"),
        ("library", "Library queries, with parameters: -p NAME=VALUE"),
    ):
        print_text(f"{title}:")
        for row in rows:
            if row["kind"] == kind:
                given = ""
                if row["parameters"]:
                    given = f" ({row['parameters']})"
                print_hanging(f"  {row['name']:<25}", f"{row['meaning']}{given}")


PROMPT, MORE = "warehouse> ", "      ...> "
HELP = """Type a SELECT that ends in ; or the name of a view or library query.
.list  views and library queries
.help  this text
.quit  leave (also Ctrl-D); Ctrl-C drops what was begun"""
OPENING = ("select", "with", "values", "table", "from")

#: Gives the next line, or ``None`` at the end; told whether a statement is begun.
Reader = Callable[[bool], str | None]


@command("shell")
@limit_options
def shell(state: State, limits: Limits) -> None:
    state.open(guarded=True, typed=False).close()  # says at once if there is no store
    if sys.stdin.isatty():
        _talk(state, limits)
    else:
        while (
            statement := next_statement(lambda _more: sys.stdin.readline() or None)
        ) is not None:
            _run(state, statement, limits)


def next_statement(read: Reader) -> str | None:
    """The next statement: ends with ``;`` at the end of a line, or is a word on its
    own."""
    begun: list[str] = []
    while (line := read(bool(begun))) is not None:
        text = line.strip()
        if text.endswith(";") or (not begun and _stands_alone(text)):
            return "\n".join([*begun, text]).removesuffix(";")
        if text:
            begun += [text]
    return "\n".join(begun) or None


def _stands_alone(text: str) -> bool:
    return len(text.split()) == 1 and text.lower() not in OPENING


def _talk(state: State, limits: Limits) -> None:
    import contextlib

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (lines can be edited and called back)
    state.say(HELP)
    while True:
        try:
            statement = next_statement(_typed)
        except KeyboardInterrupt:
            echo()
            continue
        if statement is None or statement in (".quit", ".exit"):
            return
        try:
            _run(state, statement, limits)
        except WarehouseError as error:
            echo(f"Error: {error}", err=True)


def _typed(more: bool) -> str | None:
    try:
        return input(MORE if more else PROMPT)
    except EOFError:
        echo()
        return None


def _run(state: State, statement: str, limits: Limits) -> None:
    if statement == ".list":
        list_queries(Output())
    elif statement.startswith("."):
        echo(HELP)
    else:
        from warehouse.store.sql.run_query import is_name, run_named

        if is_name(statement):
            with state.open(guarded=True, limits=limits, typed=False) as store:
                table = run_named(store, statement.strip(), {})
        else:
            table = _typed_rows(state, statement, {}, limits)
        Output().emit_arrow(table)
