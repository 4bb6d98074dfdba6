"""Results of expensive analyses: stored under the question they answer, read back while it holds.

A question is a kind of analysis, a subject (natural key), and settings with a seed. The row of a
question also says which version of the method answered it and from which data; where either
differs now, the answer is out of date and counts as absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from warehouse.records.clock import utc_now
from warehouse.records.hashing import canonical_digest
from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.load.dimensions import allocate
from warehouse.store.schema import tables


@dataclass(frozen=True)
class Question:
    """What an analysis was asked.

    Attributes:
        kind: which analysis, such as ``"matrix_test"``.
        subject: of what, by natural key, such as the name of a benchmark.
        method_version: of the computation; another version does not answer this question.
        input_fingerprint: of the data that go in (:func:`warehouse.records.hashing.fingerprint`).
        seed: of what is random, None where nothing is.
        parameters: every setting that changes the answer; values that JSON can hold.
    """

    kind: str
    subject: str
    method_version: str
    input_fingerprint: str
    seed: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters_key(self) -> str:
        """sha256 (hex) of settings and seed."""
        settings = {"parameters": dict(self.parameters), "seed": self.seed}
        return canonical_digest(settings)


@dataclass(frozen=True)
class Answer:
    """A stored result.

    Attributes:
        result: as it was given to :func:`put`.
        created_at: when it was computed, UTC.
    """

    result: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True)
class Kept:
    """A stored analysis, without its result.

    Attributes:
        id: of the row.
        kind: which analysis.
        parameters: its settings.
        created_at: when it was computed, UTC.
    """

    id: int
    kind: str
    parameters: dict[str, Any]
    created_at: datetime


def get(store: Store, question: Question) -> Answer | None:
    """The stored answer, None where there is none or method or data have changed since."""
    table = tables.analysis
    query = sa.select(table.c.result, table.c.created_at).where(
        table.c.kind == question.kind,
        table.c.subject == question.subject,
        table.c.parameters_key == question.parameters_key,
        table.c.method_version == question.method_version,
        table.c.input_fingerprint == question.input_fingerprint,
    )
    with store.begin() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else Answer(row[0], row[1])


def outdated(store: Store, question: Question) -> datetime | None:
    """When the question was last answered from other data or by another version of the method; else None."""
    table = tables.analysis
    query = sa.select(table.c.created_at).where(
        table.c.kind == question.kind,
        table.c.subject == question.subject,
        table.c.parameters_key == question.parameters_key,
        sa.or_(
            table.c.method_version != question.method_version, table.c.input_fingerprint != question.input_fingerprint
        ),
    )
    with store.begin() as connection:
        return connection.execute(query).scalar_one_or_none()


def analysed_subjects(store: Store) -> set[str]:
    """What there are stored analyses of."""
    return store.once("analysed subjects", lambda: _subjects(store))


def kept(store: Store, subject: str, method_version: str) -> list[Kept]:
    """The analyses of a subject by this version of the method, newest first."""
    table = tables.analysis
    if subject not in analysed_subjects(store):
        return []
    query = (
        sa.select(table.c.id, table.c.kind, table.c.parameters, table.c.created_at)
        .where(table.c.subject == subject, table.c.method_version == method_version)
        .order_by(table.c.created_at.desc(), table.c.id.desc())
    )
    with store.begin() as connection:
        return [Kept(*row) for row in connection.execute(query)]


def _subjects(store: Store) -> set[str]:
    with store.begin() as connection:
        return set(connection.execute(sa.select(tables.analysis.c.subject).distinct()).scalars())


def result_of(store: Store, analysis: Kept) -> dict[str, Any]:
    """The result of a stored analysis, as it was given to :func:`put`."""
    query = sa.select(tables.analysis.c.result).where(tables.analysis.c.id == analysis.id)
    with store.begin() as connection:
        result: dict[str, Any] = connection.execute(query).scalar_one()
    return result


def put(store: Store, question: Question, result: Mapping[str, Any], *, now: datetime | None = None) -> None:
    """Store an answer in place of an earlier one to the same question.

    Args:
        store: open for writing.
        result: what JSON can hold; no NaN.
        now: when it was computed, naive UTC; None for the clock's time.
    """
    table = tables.analysis
    moment = now or utc_now()
    values = {
        "method_version": question.method_version,
        "seed": question.seed,
        "created_at": moment,
        "input_fingerprint": question.input_fingerprint,
        "parameters": dict(question.parameters),
        "result": dict(result),
    }
    key = {"kind": question.kind, "subject": question.subject, "parameters_key": question.parameters_key}
    with store.begin() as connection:
        statement = engines.upsert(table).values(id=allocate(connection, table.name, 1), **key, **values)
        connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=values))
