"""Times as dumps write them, as naive UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def naive_utc(time: datetime) -> datetime:
    """A time in UTC without zone; one that has none is taken as UTC."""
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)


def moment(stated: Any) -> datetime | None:
    """A time, or its ISO text, with zone or meant as UTC, as naive UTC; none for anything else.

    >>> moment("2026-01-02T03:04:05+01:00")
    datetime.datetime(2026, 1, 2, 2, 4, 5)
    """
    try:
        time = datetime.fromisoformat(stated) if isinstance(stated, str) else stated
        return naive_utc(time) if isinstance(time, datetime) else None
    except (ValueError, OverflowError):
        return None


def unix_time(seconds: float) -> datetime | None:
    """A time in Unix seconds; none beyond the years that there are."""
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


def local_time(text: str, layout: str) -> datetime | None:
    """A time in the name of a file or folder. It is local, of a zone that nothing tells."""
    try:
        return datetime.strptime(text, layout)
    except ValueError:
        return None


def seconds_between(begin: Any, end: Any) -> float | None:
    """Seconds from one stated time to another; none where one is lacking or they are reversed."""
    first, last = moment(begin), moment(end)
    if first is None or last is None or last < first:
        return None
    return (last - first).total_seconds()
