"""Which store, and how long it stays open: what all methods of a warehouse stand on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.open import DEFAULT_URL, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warehouse.store.open import StoreOpener


class Connection:
    """How a store is reached.

    Every call opens the store for as long as it takes and lets go of it, so that a notebook does
    not keep others from writing.
    """

    def __init__(self, url: str | Path | None = None, *, wait: float = 10.0, reader: str = "") -> None:
        """Nothing is opened yet.

        Args:
            url: ``duckdb:///file``, a bare file name, ``postgresql://…``, or ``sail:?lake=…`` for
                a lake; None for ``duckdb:///warehouse.duckdb``.
            wait: seconds to wait for a store that another process holds.
            reader: role, or whole URL, that :meth:`Warehouse.arrow` and :meth:`Warehouse.query`
                run as on a server; empty: that of ``url``, unless it has powers beyond reading.
        """
        self.url, self.wait = None if url is None else str(url), wait
        self.reader = reader

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """The store, open for reading.

        Raises:
            StoreError: there is no store, or it cannot be opened within :attr:`wait` seconds.
            SchemaVersionError: the store's schema is not the one of this program.
        """
        with open_store(self.url, wait=self.wait) as store:
            yield store

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """The store, open for writing; raises as :meth:`reading` does."""
        with open_store(self.url, write=True, wait=self.wait) as store:
            yield store

    @property
    def opener(self) -> StoreOpener:
        """How to open the store: for what lets go of it while it works."""
        from warehouse.store.open import StoreOpener

        return StoreOpener(self.reading, self.writing)

    def __repr__(self) -> str:
        from warehouse.store.engines import shown_text

        return f"{type(self).__name__}({shown_text(self.url or DEFAULT_URL)!r})"


def refuse_given(reason: str, method: Callable[..., Any], /, **values: object) -> None:
    """Refuse keywords of a method that would change nothing in this call.

    Raises:
        MisuseError: one of them is not at its default; ``reason`` follows its name.
    """
    defaults = method.__kwdefaults__ or {}
    for name, value in values.items():
        if value != defaults[name]:
            raise MisuseError(f"{name} {reason}")
