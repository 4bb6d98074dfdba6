"""The log: one line for each event, as text or as JSON, of one form."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from warehouse.records.clock import aware_now

Level = Literal["info", "warning", "error"]
Form = Literal["text", "json"]
KEYS = ("time", "level", "event", "fields")


def stamp(moment: datetime) -> str:
    """A moment in UTC, ISO 8601 to the millisecond."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


class Log:
    """Events on a stream.

    JSON lines have the keys ``time`` (UTC), ``level`` (info, warning, error), ``event`` and
    ``fields``, an object; lines of text have the same, fields as ``name=value``.

    Args:
        form: of the lines.
        stream: where they go; one that is gone is no error.
        quiet: without events of level info.
        clock: the time of day, aware.
    """

    def __init__(
        self, form: Form, stream: TextIO, *, quiet: bool = False, clock: Callable[[], datetime] = aware_now
    ) -> None:
        self.form, self.stream, self.quiet, self.clock = form, stream, quiet, clock

    def write(self, event: str, level: Level = "info", **fields: Any) -> None:
        """Tell an event that happens now."""
        time = stamp(self.clock())
        self._line({"time": time, "level": level, "event": event, "fields": fields})

    def relay(self, line: str) -> dict[str, Any]:
        """Tell what another process wrote: an event of its, else the text as event ``output``.

        Returns:
            the event.
        """
        event = _event(line)
        if event is None:
            event = {"time": stamp(self.clock()), "level": "warning", "event": "output", "fields": {"text": line}}
        self._line(event)
        return event

    def _line(self, event: dict[str, Any]) -> None:
        if self.quiet and event["level"] == "info":
            return
        line = json.dumps(event, default=str) if self.form == "json" else _text(event)
        with suppress(OSError, ValueError):
            self.stream.write(f"{line}\n")
            self.stream.flush()


def _event(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    fits = isinstance(event, dict) and tuple(event) == KEYS and isinstance(event["fields"], dict)
    return event if fits else None


def _text(event: dict[str, Any]) -> str:
    fields = (f" {name}={_word(value)}" for name, value in event["fields"].items())
    return f"{event['time']} {event['level']:<7} {event['event']}{''.join(fields)}"


def _word(value: Any) -> str:
    """A value without blanks, or in quotes; always on one line."""
    if isinstance(value, str) and value.isascii() and value.isprintable():
        plain = value and not any(sign in value for sign in ' "=')
        return value if plain else json.dumps(value)
    return json.dumps(value, default=str)
