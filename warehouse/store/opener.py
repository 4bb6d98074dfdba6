"""How to open a store for a question, and how long it stays open."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from warehouse.store.connection import Store


@dataclass(frozen=True)
class StoreOpener:
    """How to open a store, for as long as one step takes: nobody waits while something is computed.

    Attributes:
        reading: opens it for reading.
        writing: opens it for writing.
    """

    reading: Callable[[], AbstractContextManager[Store]]
    writing: Callable[[], AbstractContextManager[Store]]

    @classmethod
    def of(cls, store: Store) -> StoreOpener:
        """Gives a store that is open already, and leaves it open."""
        return cls(lambda: nullcontext(store), lambda: nullcontext(store))
