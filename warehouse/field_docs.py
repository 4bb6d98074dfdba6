"""Docstrings of classes that say behind each field what it means: ``n_prompts: int  #:
prompts with a score``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from textwrap import fill

#: A line ``#: meaning``, or a field with what is behind it.
_LINE = re.compile(r" {4}(?:(?P<field>\w+): .*?)?(?:#: (?P<text>.*))?")
_SEVERAL = re.compile(r"\w+(?:, \w+)+: ")
#: What a dataclass has once it is made: while it is made it only looks whether there is
#: a docstring.
_MADE = "__match_args__"
_WIDTH = 100


class FieldDocs:
    """``__doc__`` of a class: its text with the fields under ``Attributes``, read from
    the source when asked for."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def __get__(self, instance: object, owner: type) -> str | None:
        if self.text is None or "Attributes:" in self.text or _MADE not in vars(owner):
            return self.text
        fields = [
            fill(entry, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
            for base in reversed(owner.__mro__)
            if _MADE in vars(base)
            for entry in _entries(base)
        ]
        return "\n".join(
            [
                inspect.cleandoc(self.text),
                *(["", "Attributes:", *fields] if fields else []),
            ]
        )


def document_fields(documented: type) -> None:
    """Makes its docstring one that has the meanings of its fields."""
    text = vars(documented).get("__doc__")
    if not isinstance(text, FieldDocs):
        type.__setattr__(documented, "__doc__", FieldDocs(text))


def _entries(documented: type) -> Iterator[str]:
    """``field: meaning`` of each field that says so in the source of the class itself."""
    try:
        lines = inspect.getsource(documented).splitlines()
    except (OSError, TypeError):  # no source
        return
    above: list[str] = []
    for line in lines:
        read = _LINE.fullmatch(line)
        field, text = (None, None)
        if read:
            field, text = read.group("field", "text")
        if field and (text or above):
            meaning = text or " ".join(above)
            yield meaning if _SEVERAL.match(meaning) else f"{field}: {meaning}"
        if text and not field:
            above = [*above, text]
        else:
            above = []
