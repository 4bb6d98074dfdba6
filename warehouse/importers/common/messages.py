"""Names in messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def listed(names: Iterable[Any], limit: int = 40) -> str:
    """Names for a message, the first ``limit`` of them."""
    texts = [str(name) for name in names]
    shown = ", ".join(texts[:limit])
    if len(texts) > limit:
        return f"{shown}, … ({len(texts)} in all)"
    return shown


def similar(name: str, names: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` where a known name is close."""
    close = difflib.get_close_matches(name, list(names), 1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return ""
