"""Reasons below a table: each once, with the rows that it holds for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from warehouse.tables.words import SHOWN, reasons, some_of

from ..state import State

__all__ = ["SHOWN", "say_reasons", "some_of"]


def say_reasons(pairs: Iterable[tuple[Any, str]], state: State) -> None:
    """Rows (of a model and condition) with what is to be said of each; empty: nothing."""
    state.notes(reasons(pairs))
