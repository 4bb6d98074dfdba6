"""Large lists of JSON, an element at a time, by the indentation that HELM writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warehouse.records import parse_json

#: About so many bytes are parsed at a time.
BLOCK_BYTES = 1 << 20

_BOM = b"\xef\xbb\xbf"


def read_bytes(path: Path) -> bytes:
    """A file without byte-order mark."""
    return path.read_bytes().removeprefix(_BOM)


def elements(raw: bytes, member: str | None = None) -> Iterator[Any]:
    """The elements of a list.

    In JSON that is indented by two, a line of exactly that indentation ends an element: no line
    inside it has so little, and no string holds a line break. Other JSON is parsed whole.

    Args:
        raw: the list, or an object.
        member: name of the object's member that is the list.

    Raises:
        ValueError: no JSON.
        TypeError: no list stands there.
    """
    span = _indented(raw, member)
    if span is None:
        yield from _whole(parse_json(raw), member)
        return
    start, end, blanks = span
    outside = raw[:start] + raw[end:]
    parse_json(outside)  # what stands around it must be JSON too
    gap = b"\n" + blanks + b"},\n" + blanks + b"{"
    while start < end:
        cut = raw.find(gap, min(start + BLOCK_BYTES, end), end)
        stop = end if cut < 0 else cut + len(blanks) + 2
        yield from parse_json(b"[" + raw[start:stop] + b"]")
        start = stop + 1 if cut >= 0 else end


def _indented(raw: bytes, member: str | None) -> tuple[int, int, bytes] | None:
    """Begin and end of what stands between the brackets, and the indentation of elements; none
    where the layout is another."""
    blanks = b"  " if member is None else b"    "
    name = b"" if member is None else b'\n  "' + member.encode() + b'": '
    opening, closing = name + b"[\n" + blanks + b"{", b"\n" + blanks + b"}\n" + blanks[2:] + b"]"
    first = raw.find(opening)
    last = raw.rfind(closing)
    if first < 0 or last < first or (member is None and first != 0):
        return None
    if member is not None and raw.find(closing, first) != last:
        return None
    return first + len(name) + 1, last + len(blanks) + 2, blanks


def _whole(document: Any, member: str | None) -> list[Any]:
    found = document if member is None else None
    if member is not None and isinstance(document, dict):
        found = document.get(member) or []
    if not isinstance(found, list):
        raise TypeError("no list")
    return found
