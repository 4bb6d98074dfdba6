"""Lines of a samples file, one JSON document each."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import InputError
from warehouse.records import Rejection, parse_json

if TYPE_CHECKING:
    pass


#: Longest line that is read; a longer one is no sample.
LONGEST_LINE = 256 << 20


Row = dict[str, Any]


def read_lines(path: Path, rejections: list[Rejection]) -> Iterator[Row]:
    """The rows of a file; a line that is none is recorded with its number."""
    with path.open("rb") as handle:
        number = 0
        while line := handle.readline(LONGEST_LINE):
            number += 1
            if not line.strip():
                continue
            try:
                row = parse_json(line.removeprefix(BOM_UTF8))
                if not isinstance(row, dict) or not isinstance(row.get("sample_id"), (str, int)):
                    raise ValueError("no object with a sample_id")
            except (ValueError, RecursionError) as error:
                where = f"{path.name} line {number}"
                rejections.append(Rejection(where, str(error)[:300], "a sample as a JSON object"))
            else:
                yield row


def first_line(path: Path) -> Row:
    """The first sample of a file.

    Raises:
        InputError: there is none.
    """
    line = next(read_lines(path, []), None)
    if line is None:
        raise InputError(
            "no line is a sample", path=str(path), expected="samples of Every Eval Ever, one JSON object a line"
        )
    return line
