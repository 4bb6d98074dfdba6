"""Bytes on their way to the CSV parser, which must be handed UTF-8 and nothing else."""

from __future__ import annotations

import io
import re
from typing import Any

#: Stands where bytes were no UTF-8. A noncharacter, which no text holds.
MARK = "\ufdd0"
_ESCAPED = re.compile("[\udc80-\udcff]+")


class CheckedStream(io.RawIOBase):
    """Passes bytes on; what is not UTF-8 becomes :data:`MARK`.

    ``marked`` says whether that happened, ``quotes`` counts the double quotes. The end is always
    a line break.
    """

    def __init__(self, raw: Any) -> None:
        self.raw, self.quotes, self.marked = raw, 0, False
        self._ready, self._begun, self._ended = b"", b"", False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._ended and (size < 0 or len(self._ready) < size):
            self._fill(size)
        cut = len(self._ready) if size < 0 else size
        data, self._ready = self._ready[:cut], self._ready[cut:]
        return data

    def _fill(self, size: int) -> None:
        new: bytes = self.raw.read(size)
        self._ended = not new
        data = self._begun + (new or b"\n")
        cut = len(data) - (0 if self._ended else _unfinished(data))
        data, self._begun = data[:cut], data[cut:]
        self.quotes += data.count(b'"')
        self._ready += self._checked(data)

    def _checked(self, data: bytes) -> bytes:
        try:
            data.decode()
        except UnicodeDecodeError:
            self.marked = True
            return _ESCAPED.sub(MARK, data.decode("utf-8", "surrogateescape")).encode()
        return data


def _unfinished(data: bytes) -> int:
    """How many of the last bytes begin a character whose rest is still to come."""
    for back, byte in enumerate(reversed(data[-3:]), 1):
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if length > back else 0
        if byte < 0x80:
            return 0
    return 0
