"""One job in a process of its own: its events are relayed, signals ask it to stop, and
it ends within a bound."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any

from warehouse.schedule.log import JobLog

#: The event in which a job tells how it went.
FINISHED = "job_finished"
#: Bytes of a line that is kept whole.
LONGEST_LINE = 1 << 20
#: Seconds between two signs of life.
BEAT = 15.0


@dataclass
class Ended:
    """How a job ended."""

    exit_code: int = 0  #: of the process; negative: the signal that ended it.
    #: fields of its last event; empty if it died before.
    last: dict[str, Any] = field(default_factory=dict)

    @property
    def result(self) -> str:
        """In a word: what the job says of itself, else ``stopped`` (by SIGTERM),
        ``killed`` or ``crashed``."""
        silent = "killed"
        if self.exit_code >= 0:
            silent = "crashed"
        elif self.exit_code == -signal.SIGTERM:
            silent = "stopped"
        return str(self.last.get("result", silent))


def run_child(
    command: Sequence[str],
    environment: Mapping[str, str],
    stop: Stop,
    log: JobLog,
    *,
    grace: float,
    beat: Callable[[], None],
) -> Ended:
    """Run a job to its end (OSError: it cannot be started).

    The first signal is handed on as SIGTERM; a job that has not ended ``grace`` seconds
    later, or when the second signal comes, is killed, with all processes of its group.

    Args:
        command: of the job; what it writes is relayed to the log.
        environment: of the job.
        stop: signals so far.
        log: where its events go.
        grace: seconds.
        beat: called at least every :data:`BEAT` seconds.
    """
    ended = Ended()
    with subprocess.Popen(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        process_group=0,
    ) as process:
        _Minder(process, stop, log, grace, ended).watch(beat)
        ended.exit_code = process.wait()
    return ended


class _Minder:
    """What looks after one process."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stop: Stop,
        log: JobLog,
        grace: float,
        ended: Ended,
    ) -> None:
        self.process, self.stop, self.log = process, stop, log
        self.grace, self.ended = grace, ended
        self.deadline = float("inf")
        self.killed = False
        self.rest = b""

    def watch(self, beat: Callable[[], None]) -> None:
        """Look after the process until it has closed its end of the pipe."""
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        while True:
            ready = self.stop.wait(min(BEAT, self.deadline - time.monotonic()), [pipe])
            beat()
            self._hand_on()
            if not ready:
                continue
            data = os.read(pipe, 65_536)
            self._take(data)
            if not data:
                return

    def _hand_on(self) -> None:
        """Ask the process to stop if we are asked, then insist."""
        if not self.stop.count:
            return
        if self.deadline == float("inf"):
            self.deadline = time.monotonic() + self.grace
            self.log.write(
                "stopping", waiting_for="the running job", at_most=self.grace
            )
            self._signal(signal.SIGTERM)
        if not self.killed and (
            self.stop.count > 1 or time.monotonic() >= self.deadline
        ):
            self.killed, self.deadline = True, time.monotonic() + BEAT
            self.log.write("killing", "warning", after=self.grace)
            self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def _take(self, data: bytes) -> None:
        """Relay whole lines; at the end, what is left."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        if not data or len(self.rest) > LONGEST_LINE:
            lines, self.rest = [*lines, self.rest], b""
        for line in lines:
            text = line.decode("utf-8", "replace").rstrip()
            if text:
                event = self.log.relay(text)
                if event["event"] == FINISHED:
                    self.ended.last = event["fields"]


NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """While it is entered, SIGINT, SIGTERM and SIGHUP are counted. Only in the main
    thread.

    A SIGHUP that was ignored before, as by ``nohup``, is ignored still.

    Args:
        patient: whether a second SIGINT is only counted too; else it raises
            `KeyboardInterrupt`.

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
            number
            for number in NUMBERS
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
        ]
        self._before = {number: signal.signal(number, self._note) for number in numbers}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
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
