"""What commands print of a result, as a view: ``print(result)`` and notebooks show the command's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from warehouse.tables.view import View

from .table import recording

#: Printers by the class of a result: module, function, and what it takes after the result.
_PRINTERS: dict[str, tuple[str, str, tuple[Any, ...]]] = {}


class _Remarks:
    """In place of a command's state: keeps what it remarks on."""

    quiet = verbose = False

    def __init__(self) -> None:
        self.remarks: list[str] = []

    def say(self, text: str) -> None:
        self.remarks.append(text.removeprefix("note: "))

    def notes(self, notes: Iterable[str]) -> None:
        self.remarks += notes


def view_of(result: Any) -> View | None:
    """The command's view of a result; None where no command prints such a one."""
    entry = _PRINTERS.get(type(result).__name__)
    if entry is None:
        return None
    module, name, further = entry
    printer: Callable[..., None] = getattr(import_module(module, "warehouse.cli.commands"), name)
    state = _Remarks()
    given = [{"state": state}.get(str(word), word) for word in further]
    with recording() as parts:
        printer(result, *given)
    notes = (*state.remarks, *(note for note in getattr(result, "notes", ()) if note not in state.remarks))
    while parts and parts[-1] == "":
        parts.pop()
    return View(tuple(parts), notes)
