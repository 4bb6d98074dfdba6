"""Progress bars on a terminal's standard error: of ``ingest``, and of long
computations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from warehouse.ingest.progress import FetchProgress, IngestProgress
    from warehouse.store.load.state import LoadReport


NAME_LENGTH = 40


class Bar:
    """Bytes of finished sources, rows of the one being read."""

    def __init__(self, shown: RichProgress) -> None:
        self.shown = shown
        self.task = shown.add_task("looking for dumps", total=None)
        self.name, self.rows = "", 0

    def start(self, total_bytes: int) -> None:
        """All sources are known."""
        self.shown.update(self.task, total=max(total_bytes, 1))

    def source(self, name: str, size: int) -> None:
        """A source is begun."""
        self.name, self.rows = name, 0
        self._describe()

    def advance(self, rows: int) -> None:
        """More rows of it are parsed."""
        self.rows += rows
        self._describe()

    def done(self, report: LoadReport, size: int) -> None:
        """One is finished."""
        self.shown.advance(self.task, size)

    def _describe(self) -> None:
        rows = ""
        if self.rows:
            rows = f", {self.rows:,} rows"
        self.shown.update(self.task, description=f"{_short(self.name)}{rows}")


class Fetching:
    """Bytes that have come, of a URL at a time."""

    def __init__(self, shown: RichProgress) -> None:
        self.shown = shown
        self.task = shown.add_task("looking what is there", total=None)

    def fetch(self, name: str, files: int, total_bytes: int | None) -> None:
        """The files of a URL are begun."""
        some = ""
        if files != 1:
            some = f", {files:,} files"
        self.shown.reset(
            self.task, total=total_bytes, description=f"{_short(name)}{some}"
        )

    def came(self, count: int) -> None:
        """More bytes are there."""
        self.shown.advance(self.task, count)


def _short(name: str) -> str:
    if len(name) <= NAME_LENGTH:
        return name
    return f"...{name[3 - NAME_LENGTH :]}"


@contextmanager
def progress(quiet: bool) -> Iterator[IngestProgress | None]:
    """A bar on a terminal; nothing anywhere else, or if quiet."""
    with _bar(quiet) as shown:
        yield None if shown is None else Bar(shown)


@contextmanager
def fetching(quiet: bool) -> Iterator[FetchProgress | None]:
    """The same for what is fetched."""
    with _bar(quiet) as shown:
        yield None if shown is None else Fetching(shown)


@contextmanager
def _bar(quiet: bool) -> Iterator[RichProgress | None]:
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.table import Column

    columns = (
        TextColumn(
            "{task.description}", markup=False, table_column=Column(no_wrap=True)
        ),
        BarColumn(bar_width=10),
        DownloadColumn(table_column=Column(no_wrap=True)),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield shown


class Steps:
    """A bar for work that comes in parts, one line for each part."""

    def __init__(self, shown: RichProgress) -> None:
        self.shown = shown
        self.task = shown.add_task("", total=None)

    def start(self, label: str, total: int) -> None:
        """``total`` steps are to be done."""
        self.shown.reset(self.task, description=label, total=total)

    def advance(self, steps: int) -> None:
        """So many more are done."""
        self.shown.advance(self.task, steps)


@contextmanager
def steps(quiet: bool) -> Iterator[Steps | None]:
    """A bar on a terminal's standard error; nothing anywhere else, or if quiet."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Remaining(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield Steps(shown)


@contextmanager
def share(quiet: bool, label: str) -> Iterator[Callable[[float], None] | None]:
    """The same for work that tells which share of it is done, in (0, 1]."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        Remaining(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(label, total=1.0)
        yield lambda done: shown.update(task, completed=done)
