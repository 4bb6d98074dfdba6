"""``ingest --watch``: ingest what settles in some folders, until a signal says stop."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import StoreError
from warehouse.ingest.progress import Silent

from ..state import State
from ..ui.table import echo

if TYPE_CHECKING:
    from warehouse.ingest.report import IngestReport
    from warehouse.ingest.watch import Watcher

#: Loads sources: those for which the function says yes, telling the progress.
Ingest = Callable[[Callable[[Sequence[Path]], bool], Any], "IngestReport"]


class _WatchStopped(Exception):
    """A signal came, and the source that was being loaded is done."""


def watch(
    state: State, watcher: Watcher, ingest: Ingest, published: Callable[[], None]
) -> None:
    """Go on until SIGINT or SIGTERM; then end after the source that is being loaded."""
    pause = min(max(watcher.settle / 2, 0.1), 5.0)
    with stopping() as stop:
        state.say(f"watching {', '.join(map(str, watcher.paths))}; Ctrl-C ends")
        last_error = ""
        while not stop.is_set():
            if watcher.look():
                try:
                    _once(state, watcher, ingest, stop, published)
                    last_error = ""
                except _WatchStopped:
                    break
                except (
                    StoreError
                ) as error:  # held, or away for a while: the files stay new
                    if str(error) != last_error:
                        last_error = str(error)
                        echo(f"Error: {last_error}; trying again", err=True)
            stop.wait(pause)
        state.say("stopped")


def _once(
    state: State,
    watcher: Watcher,
    ingest: Ingest,
    stop: threading.Event,
    published: Callable[[], None],
) -> None:
    from warehouse.records.clock import utc_now

    from ..ui.ingest_summary import print_errors

    chosen, unknown = watcher.ready()
    for item in unknown:
        echo(f"{'Error' if item.is_missed else 'note'}: {item}", err=True)
    watcher.take([item.path for item in unknown])
    if not chosen:
        return
    chosen_files = set(chosen)

    def end_if_stopped() -> None:
        if stop.is_set():
            raise _WatchStopped

    report = ingest(lambda files: tuple(files) in chosen_files, Silent(end_if_stopped))
    state.notes(report.all_notes)
    print_errors(report.refused)
    now = utc_now()
    echo(f"{now:%Y-%m-%dT%H:%M:%SZ} {report.one_line}, {len(report.refused)} refused")
    sys.stdout.flush()  # whoever reads a pipe or a log of it waits for this line, not for the end
    watcher.take(list(chain.from_iterable(chosen)))
    if any(item.state == "loaded" for item in report.sources):
        published()


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that the first signal sets; the second acts as always."""
    stop = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}

    def ask(number: int, _frame: Any) -> None:
        stop.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in numbers:
        signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number in numbers:
            signal.signal(number, before[number])
