"""Files of strangers as text, within bounds."""

from __future__ import annotations

import codecs
from pathlib import Path

from warehouse.errors import InputError
from warehouse.importers.common.bounds import refuse_large
from warehouse.importers.common.file_walk import open_regular, refuse_pointer

#: Bytes of a file that is read as a table.
MOST_BYTES = 64 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD = 4_096


def read_text(path: Path) -> str:
    """The text of a file: UTF-8, or UTF-16 with its mark; else Windows' Western one.

    Raises:
        InputError: it cannot be read, is too large, stands for another file, or is no
            text.
    """
    try:
        refuse_large(path, MOST_BYTES, "for a table")
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}", path=str(path)
        ) from None
    refuse_pointer(data[:64], str(path))
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data, encoding, path)
    if b"\0" in data[:_HEAD]:
        raise InputError(
            "bytes that are no text",
            path=str(path),
            expected="a table as JSON, YAML, CSV, Markdown, HTML, LaTeX or drawn on a terminal",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decoded(data, "cp1252", path)


def _decoded(data: bytes, encoding: str, path: Path) -> str:
    try:
        return data.decode(encoding, "replace" if encoding == "cp1252" else "strict")
    except UnicodeError:
        raise InputError(
            f"bytes that are no {encoding}", path=str(path), expected="UTF-8"
        ) from None
