"""Reasons below a table: each once, with the rows that it holds for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..state import State

#: Notes of one kind that are shown; programs get all.
SHOWN = 5
_NAMES = 3


def say_reasons(pairs: Iterable[tuple[Any, str]], state: State) -> None:
    """Rows (of a model and condition) with what is to be said of each; empty: nothing."""
    names: dict[str, list[str]] = {}
    for row, reason in pairs:
        if reason:
            names.setdefault(reason, []).append(f"{row.model} {row.condition}".rstrip())
    for reason, which in list(names.items())[:SHOWN]:
        state.say(f"note: {some_of(list(dict.fromkeys(which)))}: {reason}")
    if len(names) > SHOWN:
        state.say(f"note: and {len(names) - SHOWN} more reasons; --json has all")


def some_of(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:_NAMES])
    return shown if len(names) <= _NAMES else f"{shown} and {len(names) - _NAMES} more"
