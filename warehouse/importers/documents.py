"""Single JSON files and simple fields of them: what importers of small dumps share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.records import Candidate, parse_json

#: Larger files are not parsed whole.
LARGEST_BYTES = 2 << 30

_BOM = b"\xef\xbb\xbf"


def read_document(path: Path, kind: type = dict) -> Any:
    """A JSON file that holds one object (``kind=dict``) or one list (``kind=list``).

    Raises:
        InputError: unreadable, too large, no JSON, or JSON of another kind.
    """
    expected = f"one JSON {'list' if kind is list else 'object'}"
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise InputError(f"{path.stat().st_size} bytes are too many to be read at once",
                             path=str(path), expected=f"at most {LARGEST_BYTES}")  # fmt: skip
        found = parse_json(path.read_bytes().removeprefix(_BOM))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read: {error}", path=str(path), expected=expected) from None
    if not isinstance(found, kind):
        raise InputError(f"a {type(found).__name__} stands here", path=str(path), expected=expected)
    return found


def head_of(candidate: Candidate) -> str:
    """The first bytes of a file as text, without byte-order mark and blanks before."""
    return candidate.head.removeprefix(_BOM).decode("utf-8", "replace").lstrip()


def has_keys(head: str, *keys: str) -> bool:
    """Whether a text has all these keys of JSON objects."""
    return all(re.search(rf'"{re.escape(key)}"\s*:', head) for key in keys)


def moment(stated: Any) -> datetime | None:
    """A time with zone, or one that its writer means as UTC, as naive UTC; none otherwise.

    >>> moment("2026-01-02T03:04:05+01:00")
    datetime.datetime(2026, 1, 2, 2, 4, 5)
    """
    try:
        found = datetime.fromisoformat(stated) if isinstance(stated, str) else None
        if found is None or found.tzinfo is None:
            return found
        return found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def seconds_between(begin: Any, end: Any) -> float | None:
    """Seconds from one stated time to another; none where one is lacking or they are reversed."""
    first, last = moment(begin), moment(end)
    if first is None or last is None or last < first:
        return None
    return (last - first).total_seconds()


def texts_of(value: Any) -> list[str]:
    """The texts in a list; empty for anything else."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def nearest(folder: Path, folders: Iterable[Path]) -> Path | None:
    """The folder itself or the closest one above it that is among ``folders``."""
    known = set(folders)
    return next((item for item in (folder, *folder.parents) if item in known), None)
