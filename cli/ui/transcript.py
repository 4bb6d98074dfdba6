"""A stored transcript as people read it: roles, what was said, calls of tools, results folded."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

from warehouse.tables.transcript import messages_of

#: Lines of a message before it is folded.
FOLDED = 12


def transcript_lines(text: str, *, whole: bool) -> Iterator[str]:
    """The lines of a transcript, within the width of the terminal.

    Args:
        text: JSON list of messages, as stored.
        whole: every message to its end; else :data:`FOLDED` lines of each.
    """
    columns = shutil.get_terminal_size().columns
    width = max(20, min(columns, 100) - 2)
    for message in messages_of(text, columns):
        yield f"[{message.title}]"
        lines = [line for part in message.parts for line in _wrapped(part, width)] or ["(nothing)"]
        shown = lines if whole or len(lines) <= FOLDED + 1 else lines[:FOLDED]
        yield from (f"  {line}".rstrip() for line in shown)
        if len(shown) < len(lines):
            yield f"  ... {len(lines) - len(shown)} more lines (--full)"


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.expandtabs(4).splitlines():
        said = line.lstrip()
        indent = line[: min(len(line) - len(said), width // 2)]
        yield from textwrap.wrap(said, width, initial_indent=indent, subsequent_indent=indent) or [""]
