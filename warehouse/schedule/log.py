"""The log, one line for each event, and the health file for a monitor."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TextIO

from warehouse.errors import WarehouseError
from warehouse.files import HEALTH, UNATTENDED, write_output
from warehouse.records.clock import aware_now
from warehouse.records.credentials import masked

Level = Literal["info", "warning", "error"]
Form = Literal["text", "json"]
KEYS = ("time", "level", "event", "fields")


def stamp(moment: datetime) -> str:
    """A moment in UTC, ISO 8601 to the millisecond."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


class JobLog:
    """Events on a stream.

    JSON lines have the keys ``time`` (UTC), ``level`` (info, warning, error), ``event``
    and ``fields``, an object; lines of text have the same, fields as ``name=value``.

    Args:
        form: of the lines.
        stream: where they go; one that is gone is no error.
        quiet: without events of level info.
        clock: the time of day, aware.
    """

    def __init__(
        self,
        form: Form,
        stream: TextIO,
        *,
        quiet: bool = False,
        clock: Callable[[], datetime] = aware_now,
    ) -> None:
        self.form, self.stream, self.quiet, self.clock = form, stream, quiet, clock

    def write(self, event: str, level: Level = "info", **fields: Any) -> None:
        """Tell an event that happens now."""
        time = stamp(self.clock())
        self._line({"time": time, "level": level, "event": event, "fields": fields})

    def relay(self, line: str) -> dict[str, Any]:
        """Tell what another process wrote: an event of its, else the text as event
        ``output``.

        Returns:
            the event.
        """
        event = _event(line)
        if event is None:
            event = {
                "time": stamp(self.clock()),
                "level": "warning",
                "event": "output",
                "fields": {"text": line},
            }
        self._line(event)
        return event

    def _line(self, event: dict[str, Any]) -> None:
        if self.quiet and event["level"] == "info":
            return
        event = event | {"fields": _masked(event["fields"])}
        if self.form == "json":
            line = json.dumps(event)
        else:
            line = _text(event)
        with suppress(OSError, ValueError):
            self.stream.write(f"{line}\n")
            self.stream.flush()


def _masked(value: Any) -> Any:
    """What a log or a health file says, without keys and passwords: it repeats names of
    files and messages of others.

    Names of fields are ours, and stay with what they say.
    """
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {name: _masked(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return masked(str(value))


def _event(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    fits = (
        isinstance(event, dict)
        and tuple(event) == KEYS
        and isinstance(event["fields"], dict)
    )
    return event if fits else None


def _text(event: dict[str, Any]) -> str:
    fields = (f" {name}={_word(value)}" for name, value in event["fields"].items())
    return f"{event['time']} {event['level']:<7} {event['event']}{''.join(fields)}"


def _word(value: Any) -> str:
    """A value without blanks, or in quotes; always on one line."""
    if isinstance(value, str) and value.isascii() and value.isprintable():
        plain = value and not any(sign in value for sign in ' "=')
        if plain:
            return value
        return json.dumps(value)
    return json.dumps(value, default=str)


class Health:
    """A JSON file that is replaced as a whole; a path of None writes nothing.

    Its keys: ``state`` (``waiting``, ``running``, ``stopping``, ``stopped``),
    ``updated`` (renewed while the process lives), ``program``, ``started``, ``pid``,
    ``version``, ``cron``, ``timezone``, ``next_run``, ``running_since``, ``last``
    (``start``, ``end``, ``result``, ``exit_code``, ``due`` and what the job counted).
    All times are UTC.

    Raises:
        MisuseError: it cannot be written there.
        DiskFullError: there is no room.
    """

    def __init__(
        self,
        path: Path | None,
        log: JobLog,
        clock: Callable[[], datetime],
        **content: Any,
    ) -> None:
        self.path, self.log, self.clock = path, log, clock
        self.content: dict[str, Any] = {
            "program": "eval-warehouse schedule",
            "state": "waiting",
            "updated": "",
            "started": stamp(clock()),
            "pid": os.getpid(),
            "version": version("eval-warehouse"),
            **content,
            "next_run": None,
            "running_since": None,
            "last": None,
        }
        self._failed = False
        self._write()

    def tell(self, **changed: Any) -> None:
        """Renew the file; one that cannot be written any more is an event, once."""
        self.content.update(changed)
        try:
            self._write()
            self._failed = False
        except WarehouseError as error:
            if not self._failed:
                self.log.write("health_not_written", "error", error=str(error))
            self._failed = True

    def _write(self) -> None:
        if self.path is None:
            return
        self.content["updated"] = stamp(self.clock())
        text = f"{json.dumps(_masked(self.content), indent=2)}\n"
        write_output(self.path, text.encode(), HEALTH, advice=UNATTENDED)
