"""What ingest tells while it works."""

from __future__ import annotations

from typing import Protocol

from warehouse.store.load.state import LoadReport


class Progress(Protocol):
    """What ingest tells while it works."""

    def start(self, total_bytes: int) -> None:
        """All sources are known; ``total_bytes`` is their size."""

    def source(self, name: str, size: int) -> None:
        """A source of ``size`` bytes is begun."""

    def advance(self, rows: int) -> None:
        """``rows`` more sample rows have been parsed."""

    def done(self, report: LoadReport) -> None:
        """The source is finished."""


class Silent:
    """Progress that nobody watches."""

    def start(self, total_bytes: int) -> None: ...
    def source(self, name: str, size: int) -> None: ...
    def advance(self, rows: int) -> None: ...
    def done(self, report: LoadReport) -> None: ...
