"""What a query that people type, or ask for by name, may take: time, and memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.errors import MisuseError

#: Share of the machine's memory that an engine in this process may use, and share of that which an answer may
#: have outside it: together less than half of the machine.
_OF_THE_MACHINE, _OF_THE_ENGINE = 0.36, 0.25
#: Where the kernel says how much memory a container has.
_CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
#: Seconds between two interruptions: one that comes between two statements is lost.
_AGAIN = 0.1


#: Longest time limit that can be said: more than servers and threads take.
_MOST_SECONDS = 1_000_000
#: Bytes without which the embedded engine does not open a store.
_LEAST_MEMORY = 20_000_000


@dataclass(frozen=True)
class Limits:
    """What a query may take.

    Attributes:
        seconds: until it is stopped; 0: it is not.
        memory: bytes that an engine in this process may use; 0: ``$WAREHOUSE_MEMORY_LIMIT``, else 36 % of the
            machine's. The answer may have a quarter as much beside it.
    """

    seconds: float = 300.0
    memory: int = 0

    def __post_init__(self) -> None:
        seconds: Any = self.seconds  # from notebooks comes what no type holds back
        memory: Any = self.memory
        if not isinstance(seconds, int | float) or not 0 <= seconds <= _MOST_SECONDS:
            raise MisuseError(
                f"--timeout (in Python: timeout=) lies between 0 (no limit) and {_MOST_SECONDS} seconds,"
                f" found {seconds!r}"
            )
        if not isinstance(memory, int) or 0 != memory < _LEAST_MEMORY:
            raise MisuseError(
                f"--memory (in Python: memory=) is {_LEAST_MEMORY // 10**6} MB and more, found {memory!r} bytes"
            )

    @property
    def answer(self) -> int:
        """Bytes that an answer may have."""
        return int(_OF_THE_ENGINE * (self.memory or _OF_THE_MACHINE * machine_memory()))

    @property
    def setting(self) -> str:
        """The memory as the embedded engine is told it."""
        said = "" if self.memory else os.environ.get("WAREHOUSE_MEMORY_LIMIT", "")
        return said or f"{(self.memory or _OF_THE_MACHINE * machine_memory()) / 1e6:.0f}MB"


def machine_memory() -> int:
    """Bytes of memory of the machine, or of the container that this runs in."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _CONTAINER:
        with suppress(OSError, ValueError):  # no container, or "max"
            sizes.append(int(Path(path).read_text()))
    return min(sizes)


class Clock:
    """How long a query has run.

    Attributes:
        seconds: that it may; 0: without end.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self._began = seconds, time.monotonic()

    @property
    def has_run_out(self) -> bool:
        """The query has been stopped, or is about to be."""
        return self.seconds > 0 and time.monotonic() - self._began > 0.98 * self.seconds


@contextmanager
def interrupted_after(seconds: float, interrupt: Callable[[], object]) -> Iterator[Clock]:
    """Call ``interrupt`` from another thread after so many seconds, again and again until the block ends."""
    clock = Clock(seconds)
    if not seconds:
        yield clock
        return
    ended = threading.Event()

    def watch() -> None:
        wait = seconds
        while not ended.wait(wait):
            with suppress(Exception):  # the connection is closed, or the server gone: the block says so
                interrupt()
            wait = _AGAIN

    thread = threading.Thread(target=watch, name="warehouse-time-limit", daemon=True)
    thread.start()
    try:
        yield clock
    finally:
        ended.set()
        thread.join()
