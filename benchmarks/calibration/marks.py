"""Tables between two marks of a page, of which the rest stays."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write_between(page: Path, begin: str, end: str, lines: Iterable[str]) -> None:
    """Put lines in the place of what stands there."""
    before, rest = page.read_text(encoding="utf-8").split(begin)
    text = "\n".join([before + begin, *lines, end + rest.split(end)[1]])
    page.write_text(text, encoding="utf-8")
