"""Single JSON files and simple fields of them: what importers of small dumps share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import batch_of
from warehouse.importers.common.json_fields import compact
from warehouse.records import Candidate, Rejection, parse_json

#: Larger files are not parsed whole.
LARGEST_BYTES = 2 << 30

#: About so many sample rows go into one batch.
BATCH_ROWS = 1000
#: Repeats of one prompt beyond this are no dump.
LARGEST_DRAW = 1 << 20

Row = dict[str, Any]

_BOM = b"\xef\xbb\xbf"


def read_document(path: Path, kind: type = dict) -> Any:
    """A JSON file that holds one object (``kind=dict``) or one list (``kind=list``).

    Raises:
        InputError: unreadable, too large, no JSON, or JSON of another kind.
    """
    expected = f"one JSON {'list' if kind is list else 'object'}"
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise InputError(
                f"{path.stat().st_size} bytes are too many to be read at once",
                path=str(path),
                expected=f"at most {LARGEST_BYTES}",
            )
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
    quoted = [f'"{key}"' for key in keys]
    return all(key in head for key in quoted) and all(re.search(rf"{re.escape(key)}\s*:", head) for key in quoted)


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


def batches_of(
    items: Iterable[tuple[str, Any]],
    rows_of: Callable[[Any], Iterable[Row]],
    rejections: list[Rejection],
    expected: str,
) -> Iterator[pa.RecordBatch]:
    """Sample rows of items, in batches; an item that ``rows_of`` raises ``ValueError`` for is
    rejected with its place."""
    held: list[Row] = []
    for place, item in items:
        try:
            held += rows_of(item)
        except ValueError as error:
            rejections.append(Rejection(place, str(error)[:300], expected))
        if len(held) >= BATCH_ROWS:
            yield batch_of(held)
            held = []
    if held:
        yield batch_of(held)


def verdict(value: Any, name: str) -> float | None:
    """True, false (also as 1 and 0) or null as a score.

    Raises:
        ValueError: another value.
    """
    if value is None:
        return None
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        raise ValueError(f"{name} is {compact(value)[:60]}, neither true, false nor null")
    return float(value)


def required_text(row: Any, key: str) -> str:
    """A text (or whole number, as text) that a row must have.

    Raises:
        ValueError: it has none.
    """
    found = row.get(key) if isinstance(row, dict) else None
    whole = isinstance(found, int) and not isinstance(found, bool)
    if not whole and not (isinstance(found, str) and found.strip()):
        raise ValueError(f"no {key}: {compact(row)[:200]}")
    return str(found)


def list_of(row: Row, key: str) -> list[Any]:
    """A list inside a row; empty where there is none or null.

    Raises:
        ValueError: something else stands there, or the list is beyond reason.
    """
    found = row.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or len(found) > LARGEST_DRAW:
        raise ValueError(f"{key} is no list: {compact(found)[:60]}")
    return found


def item_at(values: list[Any], place: int) -> Any:
    """An item of a list that may be shorter."""
    return values[place] if place < len(values) else None
