"""Bars of long computations: steps with a label, or a share, with the time to go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


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

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), Remaining())
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

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), Remaining())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(label, total=1.0)
        yield lambda done: shown.update(task, completed=done)
