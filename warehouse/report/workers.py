"""Sections of a report made by processes side by side, each of which reads the store
for itself."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from warehouse.analysis.report_data.report import OtherProcessReader, ReportReading
from warehouse.errors import StoreError
from warehouse.report.page import Makes, Renderer, Section

#: Benchmarks from which on processes pay for their start, and how many start unasked:
#: each took .55 GB of five million scores.
MANY, MOST = 100, 2
#: Blocks of benchmarks that wait for whoever writes them, for each process.
AHEAD = 2


def jobs_for(n_benchmarks: int) -> int:
    """Processes that a report is made by where nobody says how many."""
    if n_benchmarks >= MANY:
        return min(MOST, os.cpu_count() or 1)
    return 1


def side_by_side(reading: ReportReading, jobs: int | None = None) -> Makes | None:
    """What makes the sections in so many processes (None: as many as pay); None where
    this process does it all."""
    where = reading.other_process_reader
    n = jobs_for(len(reading.names)) if jobs is None else jobs
    if where is None or n < 2:
        return None
    return lambda renderer: _sections(reading, where, renderer, n)


def _sections(
    reading: ReportReading, where: OtherProcessReader, renderer: Renderer, jobs: int
) -> Iterator[Section]:
    spawn = multiprocessing.get_context(
        "spawn"
    )  # a forked engine would wait for threads that it has not
    done = 0
    with ProcessPoolExecutor(jobs, spawn, _begin, (where, renderer.made, jobs)) as pool:
        try:
            for block in _in_order(pool, reading.blocks(), AHEAD * jobs):
                for section in block:
                    reading.begin(section.head.name, done)
                    done += 1
                    yield section
        except BrokenProcessPool as error:
            raise StoreError(
                "a process that made a part of the report was killed, perhaps for lack "
                "of memory; use fewer: --jobs 1"
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _in_order(
    pool: ProcessPoolExecutor, blocks: Iterable[list[str]], ahead: int
) -> Iterator[list[Section]]:
    waiting: deque[Future[list[Section]]] = deque()
    for block in blocks:
        waiting.append(pool.submit(_made, block))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


_reading: ReportReading
_renderer: Renderer


def _begin(where: OtherProcessReader, made: str, jobs: int) -> None:
    """Make a process ready: it ends with the one that started it, which alone is told
    of Ctrl-C."""
    global _reading, _renderer
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.setdefault(
        "WAREHOUSE_THREADS", str(max((os.cpu_count() or 1) // jobs, 1))
    )
    _reading, _renderer = where.open(), Renderer(made)
    gc.freeze()  # looking for circles among what stays and in many short-lived rows takes a tenth of the time
    gc.set_threshold(50_000)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _made(names: list[str]) -> list[Section]:
    """The sections of some benchmarks."""
    made = [_renderer.section(part, _reading.ranks) for part in _reading.parts(names)]
    gc.collect()
    return made
