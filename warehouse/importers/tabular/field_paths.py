"""Field paths: steps from a record to a value."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from warehouse.importers.common.patterns import Pattern
from warehouse.importers.common.streams import tails_of

_ROOT = re.compile(r"\$|&(?P<join>\w+)|(?P<up>\^*)")
_TOKEN = re.compile(
    r"""\.?"(?P<quoted>(?:[^"\\]|\\.)*)"
      | \[(?P<index>-?\d+)\]
      | \[(?P<lookup_up>\^*)@(?P<lookup>key|index|draw)\]
      | (?P<each>\[\]|\{\})
      | \.?(?P<name>[^.\[\]{}"]+)""",
    re.VERBOSE,
)
_IN_KEY = re.compile(r"\{(\^*)@(key|index|draw)\}")
_SPECIAL = re.compile(r"(?P<up>\^*)@(?P<name>key|index|draw|row|column|cell|file)?")


class PathError(ValueError):
    """A field path or pattern that is not well formed."""


class Each(enum.Enum):
    """An iteration: over the elements of a list or over the values of an object."""

    ITEM = "[]"
    VALUE = "{}"


class Missing(enum.Enum):
    """The value that a path yields where a record has no such key (null is something
    else)."""

    MISSING = 0


MISSING = Missing.MISSING


@dataclass(frozen=True)
class Special:
    """A value that the walk knows: ``@key``, ``@index``, ``@draw`` …, ``up`` levels
    above."""

    name: str
    up: int = 0


@dataclass(frozen=True)
class Woven:
    """A key that holds values that the walk knows: ``"{^@key}_stderr"``."""

    text: str

    def specials(self) -> list[Special]:
        """The values, in order."""
        return [Special(name, len(up)) for up, name in _IN_KEY.findall(self.text)]

    def filled(self, values: Sequence[Any]) -> str:
        """The key with these values."""
        remaining = iter(values)
        return _IN_KEY.sub(lambda _: str(next(remaining)), self.text)


Step = str | int | Special | Woven | Each


@dataclass(frozen=True)
class FieldPath:
    """A parsed field path.

    ``root`` is ``"row"``, ``"document"``, ``"join"`` or ``"special"``; ``up`` counts
    the levels above the row; ``join`` names the joined file.
    """

    text: str
    root: str
    steps: tuple[Step, ...] = ()
    up: int = 0
    join: str = ""


@lru_cache(maxsize=4096)
def parse_path(text: str) -> FieldPath:
    """Parse a field path.

    Raises:
        PathError: the text is not a path.
    """
    special = _SPECIAL.fullmatch(text)
    if special is not None:
        step = Special(special["name"] or "", len(special["up"]))
        return FieldPath(text, "special", (step,))
    root = _ROOT.match(text)
    assert root is not None  # the pattern matches the empty text
    steps = _steps(text, root.end())
    if root["join"]:
        return FieldPath(text, "join", steps, join=root["join"])
    if root.group() == "$":
        return FieldPath(text, "document", steps)
    return FieldPath(text, "row", steps, up=len(root["up"]))


def _steps(text: str, start: int) -> tuple[Step, ...]:
    steps: list[Step] = []
    while start < len(text):
        token = _TOKEN.match(text, start)
        if token is None:
            raise PathError(f"cannot read the path {text!r} from {text[start:]!r} on")
        steps.append(_step(token))
        start = token.end()
    return tuple(steps)


def _step(token: re.Match[str]) -> Step:
    if token["index"] is not None:
        return int(token["index"])
    if token["lookup"] is not None:
        return Special(token["lookup"], len(token["lookup_up"]))
    if token["each"] is not None:
        return Each(token["each"])
    if token["quoted"] is not None:
        text = re.sub(r"\\(.)", r"\1", token["quoted"])
        if _IN_KEY.search(text):
            return Woven(text)
        return text
    return token["name"]


def child(value: Any, step: str | int) -> Any:
    """The part one step below a value, or :data:`MISSING`."""
    if isinstance(value, dict):
        return value.get(step if isinstance(step, str) else str(step), MISSING)
    if (
        isinstance(value, list)
        and isinstance(step, int)
        and -len(value) <= step < len(value)
    ):
        return value[step]
    return MISSING


def descend(value: Any, steps: Sequence[str | int]) -> Any:
    """The part several steps below a value, or :data:`MISSING`."""
    for step in steps:
        value = child(value, step)
    return value


def plain_steps(path: FieldPath) -> tuple[str | int, ...]:
    """The steps of a path that neither iterates nor looks up.

    Raises:
        PathError: the path does one of these.
    """
    steps = tuple(step for step in path.steps if isinstance(step, str | int))
    if len(steps) != len(path.steps):
        raise PathError(f"{path.text!r} may not iterate or look up here")
    return steps


def column_of(text: str, names: Sequence[str]) -> str:
    """The column that a field path reads; ``""`` if it names none.

    Args:
        text: the path: a column's name as it stands, or one that begins with its name
            in quotes or its number, from 0 (``[0]``; ``[-1]`` is the last).
        names: all columns, in their order.
    """
    if text in names:
        return text
    try:
        path = parse_path(text)
    except PathError:
        return ""
    is_of_row = path.root == "row" and not path.up
    first = path.steps[0] if is_of_row and path.steps else ""
    if isinstance(first, int):
        if -len(names) <= first < len(names):
            return names[first]
        return ""
    if isinstance(first, str) and first in names:
        return first
    return ""


def match_tail(pattern: Pattern, path: PurePath | str) -> dict[str, str] | None:
    """Named groups of the pattern over the shortest tail of the path that it matches
    whole.

    A tail begins at a folder boundary, so a pattern sees the same text wherever the data lies.

    >>> match_tail(Pattern(r"(?P<model>.+)_temp(?P<t>[0-9.]+)\\.json"), "a/b/phi-1_temp0.2.json")
    {'model': 'phi-1', 't': '0.2'}
    """
    match = next(filter(None, map(pattern.fullmatch, tails_of(path))), None)
    if match:
        return {
            name: text for name, text in match.groupdict().items() if text is not None
        }
    return None
