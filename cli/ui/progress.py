"""The progress bar of ``ingest``: on a terminal's standard error, by bytes of the sources."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from warehouse.ingest.progress import Progress
    from warehouse.store.load.state import LoadReport

NAME_LENGTH = 40


class Bar:
    """Bytes of finished sources, rows of the one being read."""

    def __init__(self, shown: RichProgress) -> None:
        self.shown = shown
        self.task = shown.add_task("looking for dumps", total=None)
        self.name, self.size, self.rows = "", 0, 0

    def start(self, total_bytes: int) -> None:
        """All sources are known."""
        self.shown.update(self.task, total=max(total_bytes, 1))

    def source(self, name: str, size: int) -> None:
        """A source is begun."""
        self.name, self.size, self.rows = name, size, 0
        self._describe()

    def advance(self, rows: int) -> None:
        """More rows of it are parsed."""
        self.rows += rows
        self._describe()

    def done(self, report: LoadReport) -> None:
        """It is finished."""
        self.shown.advance(self.task, self.size)

    def _describe(self) -> None:
        name = self.name if len(self.name) <= NAME_LENGTH else f"...{self.name[3 - NAME_LENGTH :]}"
        rows = f", {self.rows:,} rows" if self.rows else ""
        self.shown.update(self.task, description=f"{name}{rows}")


@contextmanager
def progress(quiet: bool) -> Iterator[Progress | None]:
    """A bar on a terminal; nothing anywhere else, or if quiet."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield Bar(shown)
