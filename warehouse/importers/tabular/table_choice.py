"""One table of a file that may hold several: a sheet of a spreadsheet, a table of a
database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from warehouse.errors import InputError
from warehouse.importers.common.messages import listed, similar

#: The table that a person names where no mapping does: of a draft, which is to be one.
_NAMED: ContextVar[str] = ContextVar("named table", default="")


@contextmanager
def named_table(name: str) -> Iterator[None]:
    """Let files of several tables be read by one, where no mapping says which."""
    token = _NAMED.set(name)
    try:
        yield
    finally:
        _NAMED.reset(token)


def named() -> str:
    """The table that a person has named; empty: none."""
    return _NAMED.get()


def chosen_table(tables: Mapping[str, str], asked: str, *, kind: str, path: str) -> str:
    """The table to read.

    Args:
        tables: those with rows, by name, each with what stands in it, in a few words.
        asked: the one that a mapping names; empty: it names none.
        kind: what messages call one: ``sheet``, ``table``.
        path: of the file, for messages.

    Raises:
        InputError: there is none, none of that name, or nothing says which of several.
    """
    name = asked or named()
    shown = [
        f"{table!r} ({contents})" if contents else repr(table)
        for table, contents in tables.items()
    ]
    if not tables:
        raise InputError(
            f"no {kind} with rows", path=path, expected=f"a {kind} with a row of names"
        )
    if name in tables:
        return name
    if name:
        raise InputError(
            f"no {kind} {name!r}{similar(name, tables)}",
            path=path,
            expected=f"one of {listed(shown, 20)}",
        )
    if len(tables) == 1:
        return next(iter(tables))
    raise InputError(
        f"{len(tables)} {kind}s: {listed(shown, 20)}",
        path=path,
        expected="one of them, that rows are read from",
        advice=(
            f'say which in the mapping: [table] {kind} = "NAME" '
            "(`warehouse mapping FILE --table NAME` begins one)"
        ),
    )
