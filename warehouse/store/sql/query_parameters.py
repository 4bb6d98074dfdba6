"""Typed parameters of library queries: declared in a file's header, read from a user's text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warehouse.errors import InputError, MisuseError

_DECLARATION = re.compile(
    r"(?P<name>[a-z]\w*) (?P<type>\w+)(?: = (?P<default>'(?:[^']|'')*'|\S+))?"
    r" -- (?P<description>.+)"
)


def _whole(text: str) -> int:
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]


#: Type -> how it is read from text; a KeyError or ValueError means that it cannot be.
TYPES: dict[str, Callable[[str], Any]] = {
    "text": str,
    "integer": _whole,
    "number": _number,
    "boolean": _flag,
    "timestamp": datetime.fromisoformat,
}
_PYTHON = {"text": str, "integer": int, "number": float, "boolean": bool, "timestamp": datetime}
_EXAMPLE = {
    "text": "any text",
    "integer": "a whole number",
    "number": "a finite number",
    "boolean": "true or false",
    "timestamp": "a time such as 2026-01-31 or 2026-01-31T12:00",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a query.

    Attributes:
        type: a key of :data:`TYPES`.
        default: value where none is given (``None`` if ``required``).
        required: there is no default.
    """

    name: str
    type: str
    description: str
    default: Any = None
    required: bool = False

    def read(self, value: Any) -> Any:
        """A value given as text or already of the type.

        Raises:
            MisuseError: it cannot be read.
        """
        if not isinstance(value, str):
            return self._checked(value)
        try:
            return TYPES[self.type](value)
        except (KeyError, ValueError):
            raise self._unreadable(value) from None

    def _checked(self, value: Any) -> Any:
        wanted = _PYTHON[self.type]
        if self.type == "number" and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise self._unreadable(value)
        return value

    def _unreadable(self, value: Any) -> MisuseError:
        return MisuseError(f"parameter {self.name}: {value!r} is not {_EXAMPLE[self.type]}")


def parse_parameter(declaration: str, path: str, line: int) -> Parameter:
    """Read ``name type = default -- description``; without a default a value is required.

    Raises:
        InputError: another form, an unknown type, a default that is not of it.
    """
    match = _DECLARATION.fullmatch(declaration)
    if match is None or match["type"] not in TYPES:
        raise InputError(
            f"parameter {declaration!r}",
            path=path,
            place=f"line {line}",
            expected=f"name type = default -- description, with a type of {', '.join(TYPES)}",
        )
    bare = Parameter(match["name"], match["type"], match["description"])
    if match["default"] is None:
        return Parameter(bare.name, bare.type, bare.description, required=True)
    try:
        default = bare.read(_unquoted(match["default"]))
    except MisuseError as error:
        raise InputError(f"default of {error}", path=path, place=f"line {line}") from None
    return Parameter(bare.name, bare.type, bare.description, default)


def _unquoted(default: str) -> str:
    quoted = len(default) > 1 and default[0] == default[-1] == "'"
    return default[1:-1].replace("''", "'") if quoted else default
