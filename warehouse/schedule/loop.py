"""The process that stays: waits for the next time, has the job run, tells how it went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warehouse.schedule.cron import Timetable
from warehouse.schedule.health import Health
from warehouse.schedule.log import Level, Log, stamp
from warehouse.schedule.signals import Stop
from warehouse.schedule.worker import BEAT, Ended, run_child


@dataclass(frozen=True)
class Scheduler:
    """Runs a job at its times until SIGINT or SIGTERM.

    Attributes:
        timetable: its times.
        command: the job; a process of its own, so that a run that dies, hangs or grows takes
            nothing with it, and the store is open during a job only.
        environment: of the job.
        log: told what happens.
        health: told how it stands.
        grace: seconds that a running job has to end after the first signal.
        clock: the time of day, aware.
    """

    timetable: Timetable
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Log
    health: Health
    grace: float
    clock: Callable[[], datetime]

    def run(self, stop: Stop) -> None:
        """Go on until a signal comes."""
        known = {name: self.health.content[name] for name in ("pid", "version", "cron", "timezone")}
        self.health.tell(next_run=self._next())
        self.log.write("started", **known, next_run=self._next())
        while not stop.count:
            look = self.timetable.look()
            if look.set_back:
                self.log.write("clock_set_back", "warning", seconds=round(look.set_back, 3), next_run=self._next())
            if look.left <= 0:
                self._job(stop)
            else:
                self.health.tell(next_run=self._next())
                stop.wait(min(look.left, BEAT))  # a machine that slept: noticed soon after
        self.health.tell(state="stopped", next_run=None)
        self.log.write("stopped")

    def _job(self, stop: Stop) -> None:
        begun = self.clock()
        due, missed = self.timetable.begin()
        late = round(max((begun - due).total_seconds(), 0), 3)
        self.health.tell(state="running", running_since=stamp(begun), next_run=None)
        self.log.write("job_started", due=stamp(due), late_seconds=late, missed=missed)
        ended = self._child(stop)
        outlasted = self.timetable.finish(begun)
        self.health.tell(state="waiting", running_since=None, next_run=self._next(), last=self._last(begun, due, ended))
        if not ended.last:
            level: Level = "info" if stop.count else "error"
            self.log.write("job_died", level, result=ended.result, exit_code=ended.exit_code)
        if outlasted:
            self.log.write("times_left_out", "warning", times=outlasted, next_run=self._next())

    def _child(self, stop: Stop) -> Ended:
        def beat() -> None:
            self.health.tell(state="stopping" if stop.count else "running")

        try:
            return run_child(self.command, self.environment, stop, self.log, grace=self.grace, beat=beat)
        except OSError as error:
            self.log.write("job_not_started", "error", error=str(error))
            return Ended(1)

    def _last(self, begun: datetime, due: datetime, ended: Ended) -> dict[str, Any]:
        return {
            "start": stamp(begun),
            "end": stamp(self.clock()),
            "due": stamp(due),
            **ended.last,
            "result": ended.result,
            "exit_code": ended.exit_code,
        }

    def _next(self) -> str:
        return stamp(self.timetable.due)
