"""Which questions are asked by a method of a warehouse."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from warehouse.questions.question import Question
from warehouse.questions.registry import ENTRIES, question_of

#: Files of questions that have no command of their own.
_BESIDE = (
    "warehouse.analysis.handful.question",
    "warehouse.analysis.sequential.question",
    "warehouse.analysis.slices.question",
    "warehouse.analysis.winner.question",
)
#: Asked by a method that is written by hand.
_BY_HAND = frozenset({"power"})


def questions_of_methods() -> dict[str, type[Question]]:
    """The questions that methods ask, by the names of these: those of the registry, and
    what stands in the same files."""
    kinds: list[type[Any]] = [
        question_of(name) for name, entry in ENTRIES.items() if entry.question
    ]
    modules = dict.fromkeys([kind.__module__ for kind in kinds] + [*_BESIDE])
    for module in map(import_module, modules):
        own = [kind for kind in vars(module).values() if isinstance(kind, type)]
        kinds += [kind for kind in own if kind.__module__ == module.__name__]
    found: dict[str, type[Question]] = {}
    for kind in kinds:
        is_method = issubclass(kind, Question) and "NAME" in vars(kind)
        if is_method and kind.NAME not in _BY_HAND:
            found.setdefault(kind.NAME, kind)
    return found
