"""Asking once: an expensive result is computed, stored, and read back while nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Protocol, Self, TypeVar

import sqlalchemy as sa

from warehouse.errors import StoreError
from warehouse.store.computed import result_cache
from warehouse.store.computed.result_cache import Question
from warehouse.store.opener import StoreOpener


class Answer(Protocol):
    """A frozen dataclass that can be stored and read back.

    Attributes:
        computed_at: when, ISO 8601 in UTC.
        notes: what a reader should know.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def computed_at(self) -> str: ...

    @property
    def notes(self) -> tuple[str, ...]: ...

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        ...

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """What `to_dict` gave."""
        ...


Found = TypeVar("Found", bound=Answer)


def answer(
    opener: StoreOpener,
    question: Question,
    kind: type[Found],
    compute: Callable[[], Found],
    *,
    fresh: bool,
    store_result: bool = True,
) -> Found:
    """The stored answer to a question, else a new one, which is then stored.

    Args:
        fresh: compute even where there is an answer.
        store_result: False for a trial: what is computed is not stored.

    Returns:
        the result; a note says where it was read back, or why it could not be stored.
    """
    if not fresh:
        with opener.reading() as store:
            stored = result_cache.get(store, question)
        if stored is not None:
            found = kind.from_dict(stored.result)
            moment = stored.created_at.isoformat(sep=" ", timespec="seconds")
            note = f"read back: computed on {moment} UTC, and nothing has changed since"
            return replace(found, notes=(*found.notes, note))
    now = datetime.now(UTC).replace(tzinfo=None)
    found = replace(compute(), computed_at=now.isoformat(timespec="seconds"))
    if not store_result:
        return replace(found, notes=(*found.notes, "not stored: a trial (--no-store)"))
    try:
        with opener.writing() as store:
            result_cache.put(store, question, found.to_dict(), now=now)
    except (StoreError, sa.exc.DBAPIError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        return replace(found, notes=(*found.notes, f"not stored: {reason}"))
    return found
