"""Callbacks on the progress of an ingest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from warehouse.store.load.state import LoadReport


class IngestProgress(Protocol):
    """Progress of ingest, told while it works."""

    def start(self, total_bytes: int) -> None:
        """All sources are known; ``total_bytes`` is their size."""

    def source(self, name: str, size: int) -> None:
        """A source of ``size`` bytes is begun."""

    def advance(self, rows: int) -> None:
        """``rows`` more sample rows have been parsed."""

    def done(self, report: LoadReport, size: int) -> None:
        """A source of ``size`` bytes is finished; others may have begun before it
        was."""


class FetchProgress(Protocol):
    """Callbacks while files at URLs are fetched, called from several threads."""

    def fetch(self, name: str, files: int, total_bytes: int | None) -> None:
        """So many files of a URL are begun; their size, if it is known."""

    def came(self, count: int) -> None:
        """So many more bytes are there."""


class Silent:
    """Progress callbacks that show nothing.

    Args:
        after_each: called when a source is done; what it raises ends the ingest there.
    """

    def __init__(self, after_each: Callable[[], object] = lambda: None) -> None:
        self.after_each = after_each

    def start(self, total_bytes: int) -> None: ...
    def source(self, name: str, size: int) -> None: ...
    def advance(self, rows: int) -> None: ...
    def done(self, report: LoadReport, size: int) -> None:
        """Do what comes after each source."""
        self.after_each()
