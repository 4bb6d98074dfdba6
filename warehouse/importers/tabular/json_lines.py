"""Lines of JSON in blocks, with their numbers."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson

from warehouse.errors import InputError
from warehouse.records import CUT_SHORT, is_cut, parse_json

#: Called with what cannot be read: place in the file, what was found, what was expected.
Reject = Callable[[str, str, str], None]
#: Longest line of a JSON lines file, in bytes.
MAX_LINE_BYTES = 256 << 20
BLOCK_BYTES = 1 << 20
_DIGITS = bytes.maketrans(b"123456789", b"000000000")


def line_blocks(stream: Any, name: str) -> Iterator[tuple[list[bytes], int]]:
    """Lines, about a MiB at a time, and the number of the first (from 1).

    Raises:
        InputError: a line of more than :data:`MAX_LINE_BYTES`.
    """
    begun: list[bytes] = []  # pieces of a line whose end has not been read
    length, first = 0, 1
    while block := stream.read(BLOCK_BYTES):
        head, newline, tail = block.rpartition(b"\n")
        begun.append(head if newline else tail)
        length += len(begun[-1])
        if length > MAX_LINE_BYTES:
            raise InputError(f"a line of more than {MAX_LINE_BYTES} bytes", path=name, place=f"line {first}")
        if newline:
            lines = b"".join(begun).split(b"\n")
            yield lines, first
            first += len(lines)
            begun, length = [tail], len(tail)
    if any(begun):
        yield b"".join(begun).split(b"\n"), first


def parsed_lines(lines: list[bytes], first: int, flat: bool, reject: Reject) -> tuple[list[Any], Sequence[int]]:
    """The values of the lines that hold one (objects, if ``flat``), and their line numbers."""
    if first == 1:
        lines = [lines[0].removeprefix(BOM_UTF8), *lines[1:]]
    records = _parsed_at_once(lines) if flat else None
    if records is not None:
        return records, range(first, first + len(lines))
    numbers = [number for number, line in enumerate(lines, first) if line and not line.isspace()]
    kept: list[tuple[Any, int]] = []
    for number in numbers:
        line = lines[number - first]
        try:
            value = parse_json(line, keep_infinite=True)
        except ValueError as error:
            cut = CUT_SHORT if number == first + len(lines) - 1 and is_cut(line) else ""
            reject(f"line {number}", f"{cut}{line[:60]!r}: {error}", "one JSON record in UTF-8")
            continue
        if flat and not isinstance(value, dict):
            reject(f"line {number}", repr(value)[:60], "a JSON object")
        else:
            kept.append((value, number))
    return [value for value, _ in kept], [number for _, number in kept]


def _parsed_at_once(lines: list[bytes]) -> list[Any] | None:
    """All lines as one JSON array (twice as fast), or ``None`` where a line needs a closer look."""
    joined = b"[" + b",".join(lines) + b"]"
    if b"0" * 19 in joined.translate(_DIGITS):
        return None  # perhaps an integer beyond 64 bits
    try:
        records = orjson.loads(joined)
    except orjson.JSONDecodeError:
        return None  # perhaps NaN, or an empty line
    whole = len(records) == len(lines) and set(map(type, records)) == {dict}
    return records if whole else None
