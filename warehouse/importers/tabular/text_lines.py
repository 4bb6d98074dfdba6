"""Joined files that are lines of text, without any structure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.streams import members

#: What a mapping calls their format.
TEXT = "text"
#: What their lines are found by: their number from 0, or from 1.
NUMBERS = ("@index", "@line")


def lines_by_number(path: Path, key: str) -> dict[str, Any]:
    """Lines of a file (also in gzip, or the files in a zip) by their number.

    Args:
        path: the file.
        key: ``@index`` counts from 0, ``@line`` from 1.

    Raises:
        InputError: it cannot be read, or is no UTF-8.
    """
    lines: list[str] = []
    for member in members(path, path.name, ("*",) if path.suffix.lower() == ".zip" else ()):
        try:
            text = member.content().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(
                f"bytes that are not UTF-8 ({error.reason})", path=path.name, expected="lines of text in UTF-8"
            ) from None
        lines += text.removesuffix("\n").split("\n")
    first = int(key == NUMBERS[1])
    return {str(number): line.removesuffix("\r") for number, line in enumerate(lines, first)}
