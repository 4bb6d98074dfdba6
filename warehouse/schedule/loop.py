"""The scheduler process: waits for the next time of a cron expression, runs the job,
and reports the outcome.

The calendar is cronsim's, which has Debian cron's rules: Sunday is 0 or 7; if both day
fields are restricted, either will do; a fixed time that the clock skips in spring is
run right after the gap, one that it repeats in autumn is run once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from warehouse.errors import MisuseError
from warehouse.schedule.log import Health, JobLog, Level, stamp
from warehouse.schedule.worker import BEAT, Ended, Stop, run_child


@dataclass(frozen=True)
class Scheduler:
    """Runs a job at its times until SIGINT or SIGTERM."""

    timetable: Timetable  #: its times.
    #: the job; a process of its own, so that a run that dies, hangs or grows takes
    #: nothing with it, and the store is open during a job only.
    command: Sequence[str]
    environment: Mapping[str, str]  #: of the job.
    log: JobLog  #: told what happens.
    health: Health  #: told how it stands.
    grace: float  #: seconds that a running job has to end after the first signal.
    clock: Callable[[], datetime]  #: the time of day, aware.

    def run(self, stop: Stop) -> None:
        """Go on until a signal comes."""
        static = {
            name: self.health.content[name]
            for name in ("pid", "version", "cron", "timezone")
        }
        self.health.tell(next_run=self._next())
        self.log.write("started", **static, next_run=self._next())
        while not stop.count:
            look = self.timetable.look()
            if look.set_back:
                self.log.write(
                    "clock_set_back",
                    "warning",
                    seconds=round(look.set_back, 3),
                    next_run=self._next(),
                )
            if look.left <= 0:
                self._job(stop)
            else:
                self.health.tell(next_run=self._next())
                stop.wait(
                    min(look.left, BEAT)
                )  # a machine that slept: noticed soon after
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
        self.health.tell(
            state="waiting",
            running_since=None,
            next_run=self._next(),
            last=self._last(begun, due, ended),
        )
        if not ended.last:
            level: Level = "info" if stop.count else "error"
            self.log.write(
                "job_died", level, result=ended.result, exit_code=ended.exit_code
            )
        if outlasted:
            self.log.write(
                "times_left_out", "warning", times=outlasted, next_run=self._next()
            )

    def _child(self, stop: Stop) -> Ended:
        def beat() -> None:
            self.health.tell(state="stopping" if stop.count else "running")

        try:
            return run_child(
                self.command,
                self.environment,
                stop,
                self.log,
                grace=self.grace,
                beat=beat,
            )
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


FIELDS = ("second", "minute", "hour", "day-of-month", "month", "day-of-week")
EXPECTED = "minute hour day-of-month month day-of-week, such as '0 * * * *'"
#: Missed times are counted up to this number.
MOST_COUNTED = 1000
#: A clock that is set back by less leaves the next time as it was: no job runs twice
#: for it.
SET_BACK = timedelta(seconds=60)

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def zone_named(name: str | None) -> tzinfo:
    """A time zone; that of this machine (also of ``TZ``) for None.

    Raises:
        MisuseError: there is none of this name, or this machine's cannot be told.
    """
    if name is None:
        from tzlocal import reload_localzone

        try:
            return reload_localzone()  # not what an earlier call found
        except (LookupError, ValueError, OSError) as error:
            reason = " ".join(str(error).split())
            raise MisuseError(
                f"this machine does not say its time zone ({reason}); name one with "
                "--timezone"
            ) from None
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise MisuseError(
            f"no time zone '{name}'; expected a name such as Europe/Berlin or UTC"
        ) from None


class Times:
    """The times of a cron expression (MisuseError: it is malformed, or there is no such
    time).

    Args:
        expression: five fields, or six with seconds first.
        zone: in which the fields are read.
    """

    def __init__(self, expression: str, zone: tzinfo) -> None:
        self.expression, self.zone = expression, zone
        try:
            CronSim(expression, _ANY_DAY)
        except (CronSimError, ValueError) as error:
            raise MisuseError(_fault(expression, str(error))) from None
        self.after(_ANY_DAY)

    def after(self, moment: datetime) -> datetime:
        """The first time later than an aware moment; in UTC (MisuseError: there is none
        within 50 years)."""
        start = moment.astimezone(self.zone)
        for candidate in CronSim(self.expression, start):
            if (
                candidate.astimezone(UTC) > moment
            ):  # in a repeated hour it may name the first pass
                return candidate.astimezone(UTC)
        raise MisuseError(f"'{self.expression}' never fires")

    def upcoming(self, moment: datetime, count: int) -> list[datetime]:
        """The next ``count`` times after a moment, in UTC."""
        times: list[datetime] = []
        while len(times) < count:
            times.append(self.after(times[-1] if times else moment))
        return times

    def count(self, since: datetime, until: datetime) -> int:
        """Times in (since, until], at most :data:`MOST_COUNTED`."""
        number, moment = 0, since
        while number < MOST_COUNTED and (moment := self.after(moment)) <= until:
            number += 1
        return number


def _fault(expression: str, message: str) -> str:
    """What is wrong with an expression that cronsim refuses."""
    parts = expression.split()
    if len(parts) not in (5, 6):
        return f"'{expression}' has {len(parts)} fields; expected five: {EXPECTED}"
    six = parts
    if len(parts) == 5:
        six = ["0", *parts]
    field = message.removeprefix("Bad ")
    if field == "day-of-month" and _is_fine([*six[:4], "*", six[5]]):
        return f"'{expression}' never fires: no month that it names has such a day"
    wrong = next(
        islice((p for name, p in zip(FIELDS, six, strict=True) if name == field), 1), ""
    )
    return (
        f"'{expression}': {field or 'a field'} cannot be '{wrong}'; expected {EXPECTED}"
    )


def _is_fine(parts: list[str]) -> bool:
    try:
        CronSim(" ".join(parts), _ANY_DAY)
    except (CronSimError, ValueError):
        return False
    return True


@dataclass(frozen=True)
class ClockReading:
    """A reading of the clock against the next scheduled time."""

    left: float  #: seconds until the next time; 0 or less: it has come.
    set_back: float = 0.0  #: seconds by which the clock was set back, if that moved the next time, else 0.


class Timetable:
    """The next time, on a clock that is set, or stands still while the machine sleeps.

    Times that were missed are one run, when that is noticed. One that comes while a job
    runs is left out. Where the clock is set back, the next time is found anew.

    Args:
        times: of the jobs.
        wall: the time of day, aware.
        steady: seconds that only go forward.
    """

    def __init__(
        self, times: Times, wall: Callable[[], datetime], steady: Callable[[], float]
    ) -> None:
        self.times, self.wall, self.steady = times, wall, steady
        self.due = times.after(wall())
        self._seen = (wall(), steady())

    def look(self) -> ClockReading:
        """How long it is until the next time."""
        now, ticks = self.wall(), self.steady()
        expected = self._seen[0] + timedelta(seconds=ticks - self._seen[1])
        self._seen = (now, ticks)
        back = expected - now
        if back >= SET_BACK:
            self.due = self.times.after(now)
        return ClockReading(
            (self.due - now).total_seconds(),
            back.total_seconds() if back >= SET_BACK else 0.0,
        )

    def begin(self) -> tuple[datetime, int]:
        """The time that has come, and how many later ones have passed too."""
        return self.due, self.times.count(self.due, self.wall())

    def finish(self, begun: datetime) -> int:
        """The job that was begun at a time of day is done; how many times it has
        outlasted."""
        now = self.wall()
        self.due, self._seen = self.times.after(now), (now, self.steady())
        return self.times.count(begun, now)
