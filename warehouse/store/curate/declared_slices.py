"""Fields of prompts that a person named for a benchmark, with the day: what is asked by
them was planned, of scores that were stored later."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from warehouse.errors import MisuseError
from warehouse.records.clock import utc_now
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate.declarations import (
    SLICES,
    declarations,
    declare,
    names_beside,
    take_back,
)
from warehouse.store.schema.later import tables

#: Between the fields of cells.
CROSS = ","
#: How a field of a document may be written, too: as results and ``--where`` have it.
PREFIXES = ("prompt.", "metadata.")


def declare_slices(
    store: Store,
    benchmark: str,
    fields: Sequence[str],
    *,
    at: datetime | None = None,
) -> tuple[str, bool]:
    """Name fields of the prompts of a benchmark, by which scores that come later will
    be asked for; one that was named keeps its day.

    Args:
        store: a store open for writing.
        benchmark: its name; it need not be there yet.
        fields: as ``--by`` takes them; of cells with commas.
        at: when they are named, UTC; None: now.

    Returns:
        the name of the benchmark, and whether it is there.

    Raises:
        MisuseError: no field, or an empty one.
    """
    named = [field_name(field) for field in fields]
    if not named or not all(named):
        raise MisuseError(
            "name fields of the prompts, such as: warehouse fix slices mgsm language"
        )
    with store.changing_catalogue() as connection:
        name, is_there = _shown(store, connection, benchmark)
        known = {
            one.subject
            for one in declarations(store)
            if one.about == SLICES and one.benchmark in names_beside(store, name)
        }
        for field in dict.fromkeys(named):
            if field not in known:
                declare(connection, SLICES, name, field, at=at or utc_now(), values={})
    return name, is_there


def undeclare_slices(
    store: Store, benchmark: str, fields: Sequence[str] = ()
) -> list[str]:
    """Take back that fields of a benchmark were named.

    Args:
        store: a store open for writing.
        benchmark: its name.
        fields: some of them; none: all.

    Returns:
        the fields that were named and are not any more.

    Raises:
        MisuseError: none of them was named.
    """
    wanted = {field_name(field) for field in fields}
    with store.changing_catalogue() as connection:
        names = [benchmark, *names_beside(store, benchmark)]
        said = [
            one.subject
            for one in declarations(store)
            if one.about == SLICES and one.benchmark in names
        ]
        gone = [field for field in said if not wanted or field in wanted]
        unknown = sorted(wanted - {*said})
        if unknown or not gone:
            what = ", ".join(unknown) or "no field"
            raise MisuseError(
                f"{what}: not declared of {benchmark}; see: warehouse list declared"
            )
        for field in gone:
            take_back(connection, SLICES, names, field)
    return gone


def field_name(text: str) -> str:
    """A field in its one spelling, that of cells too."""
    parts = []
    for part in text.split(CROSS):
        name = part.strip()
        for prefix in PREFIXES:
            name = name.removeprefix(prefix)
        parts.append(name)
    return CROSS.join(sorted(parts)) if all(parts) else ""


def _shown(store: Store, connection: sa.Connection, benchmark: str) -> tuple[str, bool]:
    """The name that a benchmark is shown under, and whether it is there."""
    table = tables.benchmark
    query = sa.select(table.c.id).where(table.c.name == benchmark)
    is_there = connection.execute(query).first() is not None
    return names_beside(store, benchmark)[0], is_there
