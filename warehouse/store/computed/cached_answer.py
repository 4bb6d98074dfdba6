"""Asking once: an expensive result is computed, stored, and read back while nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from warehouse.errors import StoreError, first_line
from warehouse.records.clock import utc_now
from warehouse.store.alchemy import sa
from warehouse.store.computed import result_cache
from warehouse.store.computed.result_cache import Question
from warehouse.store.opener import StoreOpener


class Storable(Protocol):
    """A result that can be stored and read back."""

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        ...

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], /) -> Self:
        """What `to_dict` gave."""
        ...


class StorableArrays:
    """For a dataclass whose fields are arrays, tuples of texts, texts and numbers: it is storable.

    Attributes:
        DTYPES: type of each field that is an array.
    """

    DTYPES: ClassVar[Mapping[str, type[np.generic]]]

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], /) -> Self:
        """What `to_dict` gave."""
        return cls(**{name: cls._field(name, value) for name, value in stored.items()})

    @classmethod
    def _field(cls, name: str, value: Any) -> Any:
        if name in cls.DTYPES:
            return np.array(value, cls.DTYPES[name])
        return tuple(value) if isinstance(value, list) else value


Result = TypeVar("Result", bound=Storable)


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """The answer to a question.

    Attributes:
        result: what was computed, now or before.
        computed_at: when, naive UTC.
        read_back: whether it was computed before.
        not_stored: why a new result is not stored; empty if it is.
        replaces: when the answer was computed that the store held and that is out of date, naive UTC.
    """

    result: Result
    computed_at: datetime
    read_back: bool = False
    not_stored: str = ""
    replaces: datetime | None = None

    @property
    def computed_on(self) -> str:
        """When, in words."""
        return f"{self.computed_at.isoformat(sep=' ', timespec='seconds')} UTC"


def answer(
    opener: StoreOpener,
    question: Question,
    kind: type[Result],
    compute: Callable[[datetime], Result],
    *,
    fresh: bool,
    store_result: bool = True,
) -> Answer[Result]:
    """The stored answer to a question, else a new one, which is then stored.

    A store that is busy or read-only costs the next who ask the same work; the answer is none the
    worse.

    Args:
        kind: class of the result.
        compute: gives the result; told what time it is.
        fresh: compute even where there is an answer.
        store_result: False for a trial: what is computed is not stored.
    """
    replaces = None
    if not fresh:
        with opener.reading() as store:
            stored = result_cache.get(store, question)
            replaces = None if stored is not None else result_cache.outdated(store, question)
        if stored is not None:
            return Answer(kind.from_dict(stored.result), stored.created_at, read_back=True)
    now = utc_now()
    result = compute(now)
    if not store_result:
        return Answer(result, now, not_stored="a trial (--no-store)", replaces=replaces)
    try:
        with opener.writing() as store:
            result_cache.put(store, question, result.to_dict(), now=now)
    except (StoreError, sa.exc.DBAPIError) as error:
        return Answer(result, now, not_stored=first_line(error), replaces=replaces)
    return Answer(result, now, replaces=replaces)
