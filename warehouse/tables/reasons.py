"""Reasons below a table: each once, with the rows that it holds for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

#: Reasons that are shown; programs get all.
SHOWN = 5
_NAMES = 3


def reasons(pairs: Iterable[tuple[Any, str]]) -> list[str]:
    """What is to be said of rows (of a model and condition), a sentence for each reason; empty: nothing."""
    names: dict[str, list[str]] = {}
    for row, reason in pairs:
        if reason:
            names.setdefault(reason, []).append(f"{row.model} {row.condition}".rstrip())
    lines = [f"{some_of(list(dict.fromkeys(which)))}: {reason}" for reason, which in list(names.items())[:SHOWN]]
    return lines + ([f"and {len(names) - SHOWN} more reasons; --json has all"] if len(names) > SHOWN else [])


def some_of(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:_NAMES])
    return shown if len(names) <= _NAMES else f"{shown} and {len(names) - _NAMES} more"
