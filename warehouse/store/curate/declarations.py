"""What people say of a benchmark beside what its dumps say, each with its day: kept by
names, listed, and taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.dimensions import allocate
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

About = Literal["metric alias", "policy", "slices"]
METRIC_ALIAS: About = "metric alias"
POLICY: About = "policy"
SLICES: About = "slices"


@dataclass(frozen=True)
class Declaration:
    """One thing that was said."""

    about: About  #: ``metric alias``, ``policy`` or ``slices``.
    benchmark: str  #: its name; empty: every benchmark.
    subject: str  #: the metric (empty: every metric) or the field.
    #: the metric that it counts as, or the policy; None of a field.
    said: str | None
    wrong_value: float | None  #: score of wrong samples; None: the metric's worst.
    digest: str | None  #: of all that a policy says.
    declared_at: datetime  #: when, UTC.


def declarations(store: Store, benchmark: str | None = None) -> list[Declaration]:
    """What was said, by kind, benchmark and subject.

    Args:
        store: an open store.
        benchmark: what holds on this one alone, also what holds on every one; None:
            all.

    Raises:
        MisuseError: no such benchmark.
    """
    found = [
        Declaration(**row) for row in store.rows(query_text("store", "declarations"))
    ]
    if benchmark is None:
        return found
    from warehouse.store.curate.aliases import find_named

    with store.reading():
        find_named(store.connection, "benchmark", benchmark)
    names = {"", *names_beside(store, benchmark)}
    return [one for one in found if one.benchmark in names]


def names_beside(store: Store, benchmark: str) -> list[str]:
    """All names of the benchmark that a name is one of; the name alone, where there is
    no such benchmark."""
    shown = {
        row["benchmark"]: row["shown_as"]
        for row in store.rows(query_text("store", "benchmark_aliases"))
    }
    own = shown.get(benchmark, benchmark)
    return [own, *(name for name, other in shown.items() if other == own)]


def declare(
    connection: sa.Connection,
    about: About,
    benchmark: str,
    subject: str,
    *,
    at: datetime,
    values: Mapping[str, Any],
) -> None:
    """Say something, in place of what was said of the same before.

    Args:
        connection: with an open transaction.
        about: what kind of thing.
        benchmark: its name; empty: every benchmark.
        subject: the metric or the field.
        at: when, UTC.
        values: further columns.
    """
    table = tables.declaration
    take_back(connection, about, [benchmark], subject)
    connection.execute(
        sa.insert(table).values(
            id=allocate(connection, table.name, 1),
            about=about,
            benchmark=benchmark,
            subject=subject,
            declared_at=at,
            **values,
        )
    )


def take_back(
    connection: sa.Connection, about: About, benchmarks: list[str], subject: str
) -> int:
    """Take back what was said; returns how much there was.

    Args:
        connection: with an open transaction.
        about: what kind of thing.
        benchmarks: names of one benchmark, or the empty one.
        subject: the metric or the field.
    """
    table = tables.declaration
    query = sa.delete(table).where(
        table.c.about == about,
        table.c.benchmark.in_(benchmarks),
        table.c.subject == subject,
    )
    return len(connection.execute(query.returning(table.c.id)).all())
