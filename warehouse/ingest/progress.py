"""Callbacks on the progress of an ingest."""

from __future__ import annotations

from typing import Protocol

from warehouse.store.load.state import LoadReport


class IngestProgress(Protocol):
    """What ingest tells while it works."""

    def start(self, total_bytes: int) -> None:
        """All sources are known; ``total_bytes`` is their size."""

    def source(self, name: str, size: int) -> None:
        """A source of ``size`` bytes is begun."""

    def advance(self, rows: int) -> None:
        """``rows`` more sample rows have been parsed."""

    def done(self, report: LoadReport, size: int) -> None:
        """A source of ``size`` bytes is finished; others may have begun before it was."""


class FetchProgress(Protocol):
    """Callbacks while files at URLs are fetched, called from several threads."""

    def fetch(self, name: str, files: int, total_bytes: int | None) -> None:
        """So many files of a URL are begun; their size, if it is known."""

    def came(self, count: int) -> None:
        """So many more bytes are there."""


class Silent:
    """Progress callbacks that do nothing."""

    def start(self, total_bytes: int) -> None: ...
    def source(self, name: str, size: int) -> None: ...
    def advance(self, rows: int) -> None: ...
    def done(self, report: LoadReport, size: int) -> None: ...
