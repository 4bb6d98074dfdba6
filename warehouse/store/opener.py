"""How to open a store for a question, and how long it stays open."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from warehouse.store.connection import Store


@dataclass(frozen=True)
class Access:
    """How to open the store, for as long as it takes: nobody waits while something is computed.

    Attributes:
        reading: opens it for reading.
        writing: opens it for writing.
    """

    reading: Callable[[], AbstractContextManager[Store]]
    writing: Callable[[], AbstractContextManager[Store]]
