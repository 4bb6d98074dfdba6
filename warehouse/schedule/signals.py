"""Signals that ask the process to stop, noticed between two steps."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """While it is entered, SIGINT, SIGTERM and SIGHUP are counted. Only in the main thread.

    A SIGHUP that was ignored before, as by ``nohup``, is ignored still.

    Args:
        patient: whether a second SIGINT is only counted too; else it raises `KeyboardInterrupt`.

    Attributes:
        count: signals so far.
    """

    def __init__(self, *, patient: bool = True) -> None:
        self.count = 0
        self.patient = patient
        self._before: dict[signal.Signals, Any] = {}
        self._pipe = (-1, -1)

    def __enter__(self) -> Stop:
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        numbers = [
            number for number in NUMBERS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
        ]
        self._before = {number: signal.signal(number, self._note) for number in numbers}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        for end in self._pipe:
            os.close(end)

    def wait(self, seconds: float, files: Sequence[int] = ()) -> list[int]:
        """Wait for a signal or for one of some files to be readable; the readable ones."""
        ready, _, _ = select.select([self._pipe[0], *files], [], [], max(seconds, 0))
        with suppress(BlockingIOError):
            os.read(self._pipe[0], 4096)
        return [file for file in files if file in ready]

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if number == signal.SIGINT and self.count > 1 and not self.patient:
            raise KeyboardInterrupt
        with suppress(BlockingIOError):  # full: whoever waits is awake already
            os.write(self._pipe[1], b"!")
