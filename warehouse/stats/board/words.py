"""Figures and names in the sentences of findings."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 3


def short(value: float, digits: int = 6) -> str:
    """A number with at most so many significant digits."""
    return f"{value:.{digits}g}"


def counted(number: int, noun: str) -> str:
    """``1 entry``, ``3 entries``."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}s"


def listed(names: Sequence[str], shown: int = _SHOWN) -> str:
    """The first of some names."""
    text = ", ".join(names[:shown])
    if len(names) > shown:
        text += ", ..."
    return text
