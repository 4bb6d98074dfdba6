"""One JSON document in a file that may be packed by gzip."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import IO, Any, cast

from warehouse.errors import InputError
from warehouse.importers.base import require_utf8
from warehouse.importers.common.gzip_stream import PackedReader
from warehouse.records import Candidate, parse_json

_POINTERS = (b"version https://git-lfs", b"/annex/objects/", b".git/annex/objects/")


def head_text(candidate: Candidate) -> str:
    """First characters of a file, unpacked, without byte-order mark and leading blanks."""
    head = candidate.head
    if candidate.path.suffix == ".gz":
        head = _unpacked(head)
    return head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")


def open_text(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked where it is packed."""
    if path.suffix == ".gz":
        return cast(IO[bytes], PackedReader(path))
    return path.open("rb")


def require_content(path: Path) -> None:
    """Refuse what is only a stand-in for a file, and text in an encoding that nobody expects.

    Raises:
        InputError: the file is empty, a pointer of a large-file store, or UTF-16.
    """
    with path.open("rb") as handle:
        head = handle.read(300)
    if not head.strip():
        raise InputError("the file is empty", path=str(path), advice="run or copy it again")
    if any(head.startswith(mark) for mark in _POINTERS):
        raise InputError(
            "the file is a pointer to large-file storage, not the file itself",
            path=str(path),
            advice="fetch the content first (git lfs pull, git annex get)",
        )
    require_utf8(head, str(path))


def read_document(path: Path) -> dict[str, Any]:
    """A results file.

    Raises:
        InputError: not one JSON object.
    """
    require_content(path)
    try:
        with open_text(path) as handle:
            document = parse_json(handle.read().removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be parsed: {error}", path=str(path), expected="a complete JSON object") from None
    if not isinstance(document, dict):
        raise InputError(f"a JSON {type(document).__name__}", path=str(path), expected="a JSON object")
    return document


def _unpacked(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(head, 65_536)
    except zlib.error:
        return b""
