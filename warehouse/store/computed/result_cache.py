"""Results of expensive analyses: stored under the question they answer, read back while
it holds.

A question is a kind of analysis, a subject (natural key), and settings with a seed. The
row of a question also says which version of the method answered it and from which data;
where either differs now, the answer is out of date and counts as absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from warehouse.errors import StoreError, first_line
from warehouse.records.canonical_json import canonical_digest
from warehouse.records.clock import utc_now
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener


@dataclass(frozen=True)
class StoredQuestion:
    """The question that an analysis was asked."""

    kind: str  #: which analysis, such as ``"matrix_test"``.
    subject: str  #: of what, by natural key, such as the name of a benchmark.
    #: of the computation; another version does not answer this question.
    method_version: str
    input_fingerprint: str  #: of the data that go in (:func:`warehouse.records.canonical_json.fingerprint`).
    seed: int | None = None  #: of what is random, None where nothing is.
    #: every setting that changes the answer; values that JSON can hold.
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters_key(self) -> str:
        """sha256 (hex) of settings and seed."""
        settings = {"parameters": dict(self.parameters), "seed": self.seed}
        return canonical_digest(settings)


@dataclass(frozen=True)
class CachedResult:
    """A stored result."""

    result: dict[str, Any]  #: as it was given to :func:`put`.
    created_at: datetime  #: when it was computed, UTC.


@dataclass(frozen=True)
class Kept:
    """A stored analysis, without its result."""

    id: int  #: of the row.
    kind: str  #: which analysis.
    parameters: dict[str, Any]  #: its settings.
    created_at: datetime  #: when it was computed, UTC.


#: Which question a row answers.
_SAME = "kind = :kind and subject = :subject and parameters_key = :parameters_key"
#: By which method, and from which data.
_METHOD = "method_version = :method_version"
_DATA = "input_fingerprint = :input_fingerprint"


def get(store: Store, question: StoredQuestion) -> CachedResult | None:
    """The stored answer, None where there is none or method or data have changed since."""
    sql = (
        f"select result, created_at from analysis where {_SAME} and {_METHOD} and "
        f"{_DATA}"
    )
    rows = store.rows(sql, _cache_key(question))
    if not rows:
        return None
    return CachedResult(json.loads(rows[0]["result"]), rows[0]["created_at"])


def outdated(store: Store, question: StoredQuestion) -> datetime | None:
    """When the question was last answered from other data or by another version of the
    method; else None."""
    sql = (
        f"select created_at from analysis where {_SAME} and not ({_METHOD} and {_DATA})"
    )
    rows = store.rows(sql, _cache_key(question))
    return rows[0]["created_at"] if rows else None


def _cache_key(question: StoredQuestion) -> dict[str, str]:
    names = ("kind", "subject", "parameters_key", "method_version", "input_fingerprint")
    return {name: getattr(question, name) for name in names}


def analysed_subjects(store: Store) -> set[str]:
    """Subjects that there are stored analyses of."""
    return {
        row["subject"] for row in store.rows("select distinct subject from analysis")
    }


def kept(store: Store, subject: str, method_version: str) -> list[Kept]:
    """The analyses of a subject by this version of the method, newest first."""
    if subject not in analysed_subjects(store):
        return []
    rows = store.rows(_KEPT, {"subject": subject, "method_version": method_version})
    return [Kept(**row | {"parameters": json.loads(row["parameters"])}) for row in rows]


_KEPT = (
    "select id, kind, parameters, created_at from analysis where subject = :subject "
    f"and {_METHOD} order by created_at desc nulls last, id desc nulls last"
)


def result_of(store: Store, analysis: Kept) -> dict[str, Any]:
    """The result of a stored analysis, as it was given to :func:`put`."""
    rows = store.rows("select result from analysis where id = :id", {"id": analysis.id})
    result: dict[str, Any] = json.loads(rows[0]["result"])
    return result


def put(
    store: Store,
    question: StoredQuestion,
    result: Mapping[str, Any],
    *,
    now: datetime | None = None,
) -> None:
    """Store an answer in place of an earlier one to the same question.

    Args:
        store: open for writing.
        result: what JSON can hold; no NaN.
        now: when it was computed, naive UTC; None for the clock's time.
    """
    from warehouse.store.load.dimensions import (
        allocate,
    )  # readers do without, and start sooner
    from warehouse.store.schema.later import tables

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
    key = {
        "kind": question.kind,
        "subject": question.subject,
        "parameters_key": question.parameters_key,
    }
    with store.begin() as connection:
        statement = engines.upsert(table).values(
            id=allocate(connection, table.name, 1), **key, **values
        )
        connection.execute(
            statement.on_conflict_do_update(index_elements=list(key), set_=values)
        )


class Storable(Protocol):
    """A result that can be stored and read back."""

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        ...

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], /) -> Self:
        """The record that `to_dict` wrote."""
        ...


class StorableArrays:
    """For a dataclass whose fields are arrays, tuples of texts, texts and numbers: it
    is storable."""

    #: type of each field that is an array.
    DTYPES: ClassVar[Mapping[str, type[np.generic]]]

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        fields = dict(vars(self))
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                fields[name] = value.tolist()
        return fields

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], /) -> Self:
        """The record that `to_dict` wrote."""
        return cls(**{name: cls._field(name, value) for name, value in stored.items()})

    @classmethod
    def _field(cls, name: str, value: Any) -> Any:
        if name in cls.DTYPES:
            return np.array(value, cls.DTYPES[name])
        if isinstance(value, list):
            return tuple(value)
        return value


Result = TypeVar("Result", bound=Storable)


@dataclass(frozen=True)
class StoredAnswer(Generic[Result]):
    """The answer to a question."""

    result: Result  #: what was computed, now or before.
    computed_at: datetime  #: when, naive UTC.
    read_back: bool = False  #: whether it was computed before.
    not_stored: str = ""  #: why a new result is not stored; empty if it is.
    #: when the answer was computed that the store held and that is out of date, naive
    #: UTC.
    replaces: datetime | None = None

    @property
    def computed_on(self) -> str:
        """When, in words."""
        return f"{self.computed_at.isoformat(sep=' ', timespec='seconds')} UTC"


def answer(
    opener: StoreOpener,
    question: StoredQuestion,
    kind: type[Result],
    compute: Callable[[datetime], Result],
    *,
    fresh: bool,
    store_result: bool = True,
) -> StoredAnswer[Result]:
    """The stored answer to a question, else a new one, which is then stored.

    A store that is busy or read-only costs the next who ask the same work; the answer
    is none the worse.

    Args:
        kind: class of the result.
        compute: gives the result; told what time it is.
        fresh: compute even where there is an answer.
        store_result: False for a trial: what is computed is not stored.
    """
    replaces = None
    if not fresh:
        with opener.reading() as store:
            stored = get(store, question)
            replaces = None if stored is not None else outdated(store, question)
        if stored is not None:
            return StoredAnswer(
                kind.from_dict(stored.result), stored.created_at, read_back=True
            )
    now = utc_now()
    result = compute(now)
    if not store_result:
        return StoredAnswer(
            result, now, not_stored="a trial (--no-store)", replaces=replaces
        )
    try:
        with opener.writing() as store:
            put(store, question, result.to_dict(), now=now)
    except (StoreError, sa.exc.DBAPIError) as error:
        return StoredAnswer(
            result, now, not_stored=first_line(error), replaces=replaces
        )
    return StoredAnswer(result, now, replaces=replaces)
