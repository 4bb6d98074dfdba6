"""Files that hold one JSON document, or lines of text, perhaps packed by gzip."""

from __future__ import annotations

import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, cast

from warehouse.errors import InputError
from warehouse.importers.base import require_utf8
from warehouse.importers.common import bounds
from warehouse.importers.common.gzip_stream import PackedReader
from warehouse.records import Candidate, parse_json

_POINTERS = (b"version https://git-lfs", b"/annex/objects/", b".git/annex/objects/")
_HEAD_BYTES = 65_536


def head_of(candidate: Candidate) -> str:
    """The first bytes of a file as text, without byte-order mark and blanks before."""
    return candidate.head.removeprefix(BOM_UTF8).decode("utf-8", "replace").lstrip()


def unpacked_head(candidate: Candidate) -> str:
    """As :func:`head_of`, of what is packed in the file if it is."""
    head = candidate.head
    if candidate.path.suffix == ".gz":
        head = unpacked_start(head)
    return head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")


def unpacked_start(head: bytes) -> bytes:
    """The beginning of a file from that of its gzip; empty if it is none."""
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(head, _HEAD_BYTES)
    except zlib.error:
        return b""


def has_keys(head: str, *keys: str) -> bool:
    """Whether a text has all these keys of JSON objects."""
    quoted = [f'"{key}"' for key in keys]
    return all(key in head for key in quoted) and all(re.search(rf"{re.escape(key)}\s*:", head) for key in quoted)


def nearest(folder: Path, folders: Iterable[Path]) -> Path | None:
    """The folder itself or the closest one above it that is among ``folders``."""
    known = set(folders)
    return next((item for item in (folder, *folder.parents) if item in known), None)


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


def read_document(path: Path, kind: type = dict) -> Any:
    """A JSON file that holds one object (``kind=dict``) or one list (``kind=list``).

    Raises:
        InputError: unreadable, a stand-in for a file, too large, no JSON, or JSON of another kind.
    """
    word = "list" if kind is list else "object"
    try:
        require_content(path)
        bounds.refuse_large(path)
        with open_text(path) as handle:
            document = parse_json(handle.read().removeprefix(BOM_UTF8))
    except (OSError, ValueError, EOFError, zlib.error, RecursionError) as error:
        raise InputError(f"cannot be read: {error}", path=str(path), expected=f"a complete JSON {word}") from None
    if not isinstance(document, kind):
        raise InputError(f"a JSON {type(document).__name__}", path=str(path), expected=f"a JSON {word}")
    return document
