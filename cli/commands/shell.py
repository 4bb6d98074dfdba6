"""``shell``: a prompt for SELECT statements.

The store is opened for each statement and let go of after it, so that others can write.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import limit_options
from ..ui.output import Output
from ..ui.table import echo
from .query import list_queries

if TYPE_CHECKING:
    from warehouse.store.engines import Limits

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
@pass_state
def shell(state: State, limits: Limits) -> None:
    state.open(guarded=True, typed=False).close()  # says at once if there is no store
    if sys.stdin.isatty():
        _talk(state, limits)
    else:
        while (statement := next_statement(_piped)) is not None:
            _run(state, statement, limits)


def next_statement(read: Reader) -> str | None:
    """The next statement: ends with ``;`` at the end of a line, or is a word on its own."""
    begun: list[str] = []
    while (line := read(bool(begun))) is not None:
        text = line.strip()
        if text.endswith(";") or (not begun and _stands_alone(text)):
            return "\n".join([*begun, text]).removesuffix(";")
        begun += [text] if text else []
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


def _piped(_more: bool) -> str | None:
    return sys.stdin.readline() or None


def _run(state: State, statement: str, limits: Limits) -> None:
    if statement == ".list":
        list_queries(Output())
    elif statement.startswith("."):
        echo(HELP)
    else:
        from warehouse.store.sql.run_query import is_name, run_query

        with state.open(guarded=True, limits=limits, typed=not is_name(statement)) as store:
            table = run_query(store, statement, {})
        Output().emit_arrow(table)
