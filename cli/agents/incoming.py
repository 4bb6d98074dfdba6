"""Lines that an agent sends over standard input, so that each is answered: half of a
pair of surrogates, which JSON may spell and no text can hold, would be dropped by the
protocol's package without a word."""

from __future__ import annotations

import fcntl
import os
import re
from io import BufferedReader, TextIOWrapper

#: An escape of JSON: a pair of surrogates, one alone, or any other.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<alone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def with_whole_pairs(line: str) -> str:
    r"""A line of JSON with ``\ufffd`` for each surrogate that stands alone.

    >>> with_whole_pairs(r'"\ud800 \ud83d\ude00 \\ud800"')
    '"\\ufffd \\ud83d\\ude00 \\\\ud800"'
    """
    if r"\u" in line:
        return _ESCAPE.sub(
            lambda found: r"\ufffd" if found["alone"] else found[0], line
        )
    return line


class IncomingLines(TextIOWrapper):
    """Standard input as lines that the protocol can read."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """The next line."""
        return with_whole_pairs(super().readline(size))


def standard_input() -> IncomingLines:
    """The lines of standard input, which whatever runs in this process or is started by
    it finds empty from now on."""
    private = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    raw = os.fdopen(private, "rb")
    assert isinstance(raw, BufferedReader)
    return IncomingLines(raw, encoding="utf-8", errors="replace")
