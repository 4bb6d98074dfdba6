"""YAML of strangers: every scalar is the text that stands there, within bounds.

pyyaml's BaseLoader keeps texts too, but knows no merges, and takes tags of Python and
keys that stand twice.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from warehouse.errors import InputError

#: Bounds of a file: its bytes, collections inside each other, and places that repeat
#: another (``*name``).
MOST_BYTES, MOST_DEEP, MOST_ALIASES = 1_000_000, 50, 100
#: Lines of a file that are mended, and what the parser says of them.
MOST_MENDED, _UNQUOTED = 20, "mapping values are not allowed in this context"
# "  site: https://example.org/a: b"
_ENTRY = re.compile(r"^(\s*(?:- +)?[\w.-]+\s*:\s+)([^\s'\"\[{&*!|>].*?)\s*$")
_FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _PlainLoader(_FAST):  # type: ignore[misc]
    """Builds texts, lists and mappings alone; what asks for another type of Python is
    refused.

    In YAML 1.1 ``no`` is false, ``1.10`` is 1.1 and ``2024-05-01`` a date: here they
    are texts, as they are meant in names and versions. Only ``<<`` keeps its meaning.
    """

    yaml_constructors = {
        tag: make
        for tag, make in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.endswith((":str", ":seq", ":map"))
    }
    yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", re.compile("^<<$"))]}

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping, in which no key stands twice."""
        keys: set[str] = set()
        for key, _ in node.value:
            if key.value in keys and key.tag != "tag:yaml.org,2002:merge":
                raise _refusal(f"the key {key.value!r} stands twice", key)
            if isinstance(key.value, str):
                keys.add(key.value)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping


def read_yaml(path: Path) -> Any:
    """The one document of a file: texts, lists, and mappings; ``None`` where there is
    none.

    Raises:
        InputError: it cannot be read, is no YAML, passes a bound, or holds tags of
            Python; names the line.
    """
    with _naming(path):
        data = path.read_bytes()
        if len(data) > MOST_BYTES:
            raise InputError(
                f"{len(data):,} bytes",
                path=str(path),
                expected=f"{MOST_BYTES:,} at most",
            )
        return _read(data.decode("utf-8-sig"))


def read_front_matter(path: Path) -> Any:
    """The document between two lines of dashes that a file begins with, as
    :func:`read_yaml`; ``None`` where it begins otherwise."""
    with _naming(path), path.open("rb") as file:
        text = file.read(MOST_BYTES).decode("utf-8-sig", "replace")
        lines = text.splitlines()
        if not lines or lines[0].rstrip() != "---":
            return None
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() == "---":
                # with its line, so that errors name the lines of the file
                return _read("\n".join(["", *lines[1:number]]))
    return None


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn what can go wrong into an :class:`InputError` with file and line."""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        location = ""
        if error.problem_mark:
            location = f"line {error.problem_mark.line + 1}"
        raise InputError(
            str(error.problem or error.context),
            path=str(path),
            place=location,
            expected="YAML",
        ) from None
    except (OSError, ValueError, TypeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"cannot be read: {reason}", path=str(path), expected="YAML in UTF-8"
        ) from None


def _read(text: str) -> Any:
    """The document of a text; a value with ``: `` in it that nobody quoted is the text
    that it looks like."""
    lines = text.split("\n")
    for _ in range(MOST_MENDED):
        try:
            _check_bounds("\n".join(lines))
            break
        except yaml.MarkedYAMLError as error:
            if error.problem_mark and error.problem == _UNQUOTED:
                line = error.problem_mark.line
            else:
                line = len(lines)
            entry = None
            if line < len(lines):
                entry = _ENTRY.match(lines[line])
            if entry is None:
                raise
            quoted = entry[2].replace("'", "''")
            lines[line] = f"{entry[1]}'{quoted}'"
    return yaml.load("\n".join(lines), _PlainLoader)


def _check_bounds(text: str) -> None:
    """Refuse what is small to write and large to build: before any of it is built."""
    opened: list[
        bool
    ] = []  # whether each collection around has a name that others may repeat
    n_aliases = 0
    for event in yaml.parse(text, _FAST):
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append(event.anchor is not None)
        elif isinstance(event, yaml.CollectionEndEvent):
            opened.pop()
        elif isinstance(event, yaml.AliasEvent):
            n_aliases += 1
            if any(opened) or n_aliases > MOST_ALIASES:
                raise _refusal(
                    f"*{event.anchor} within what is repeated itself, or more than "
                    f"{MOST_ALIASES} repetitions",
                    event,
                )
        if len(opened) > MOST_DEEP:
            raise _refusal(
                f"more than {MOST_DEEP} lists or mappings inside each other", event
            )


def _refusal(problem: str, node: Any) -> yaml.MarkedYAMLError:
    """An error at the place of an event or a node."""
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
