"""Mapping files: those that are shipped, their tables read key by key, and the
expressions in them.

Reading collects every mistake on the way. Pydantic (10 MB, 0.1 s to import) gave 59
errors for 9 mistakes, one for each form that an expression might have had; msgspec
stops at the first, and refuses unions of untagged tables.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

from warehouse.errors import InputError, MappingError, MisuseError, did_you_mean
from warehouse.importers.common.messages import listed, similar
from warehouse.importers.common.patterns import Pattern, PatternError
from warehouse.importers.common.streams import glob_matches
from warehouse.importers.tabular.field_paths import PathError, Special, parse_path
from warehouse.importers.tabular.null_words import NullWords, null_words
from warehouse.records.own_files import own_text


def load_mapping(path: Path) -> dict[str, Any]:
    """Parse a mapping file's TOML.

    Raises:
        MappingError: no such file, or not TOML.
    """
    try:
        text = own_text(path, "a mapping file (docs/mappings.md)")
        values = _numbered(tomllib.loads(text), text)
        return {
            key: _with_lines(value, key, text.splitlines())
            for key, value in values.items()
        }
    except InputError as error:
        raise MappingError(str(error)) from None
    except RecursionError:
        raise MappingError(
            "nested too deep",
            path=str(path),
            expected="tables and lists a few levels deep",
        ) from None
    except ValueError as error:
        raise MappingError(f"not TOML: {error}", path=str(path)) from None


class LinedText(str):
    """A pattern of a mapping that knows the line it stands in, from 1; 0: unknown."""

    line = 0


def _with_lines(value: Any, key: str, lines: Sequence[str]) -> Any:
    """The value of a key, with the patterns in it as :class:`LinedText`: TOML's parser
    tells no lines."""
    if isinstance(value, dict):
        return {name: _with_lines(part, name, lines) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_lines(part, key, lines) for part in value]
    if not isinstance(value, str) or key not in _PATTERNS:
        return value
    text = LinedText(value)
    first = (value.splitlines() or [""])[0]
    spellings = (first, first.replace("\\", "\\\\").replace('"', '\\"'))
    for number, line in enumerate(lines, 1):
        if any(spelling in line for spelling in spellings):
            text.line = number
            break
    return text


def _numbered(values: dict[str, Any], text: str) -> dict[str, Any]:
    """The mapping with the line of each ``[[choose]]``, which is to be found and
    deleted."""
    lines = (
        number
        for number, line in enumerate(text.splitlines(), 1)
        if line.lstrip().startswith("[[choose]]")
    )
    for table, line in zip(values.get("choose", ()), lines, strict=False):
        if isinstance(table, dict):
            table["line"] = line
    return values


def in_row(path: str) -> bool:
    """True if a path reads the row itself (not its document, what it lies in, or a
    joined file)."""
    try:
        parsed = parse_path(path)
    except PathError:
        return True  # a column name that is no path
    if parsed.root == "special":
        return parsed.steps != (Special("draw"),) and not getattr(
            parsed.steps[0], "up", 0
        )
    return parsed.root == "row" and not parsed.up


#: Keys that hold regular expressions.
_PATTERNS = ("pattern", "matching", "not_matching", "cells")
_KINDS = {str: "text", bool: "true or false", dict: "a table", list: "a list"}


class Section:
    """A table of the mapping file. Keys are taken one by one; what is left over is a
    mistake.

    Args:
        values: the parsed table.
        where: its name, for messages (``"[rows]"``).
        mistakes: grows.
    """

    def __init__(
        self, values: Mapping[str, Any], where: str, mistakes: list[str]
    ) -> None:
        self.values = dict(values)
        self.where = where
        self.mistakes = mistakes
        self.keys: list[str] = []

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """The value of a key, or the default where it is missing or of another kind."""
        self.keys.append(key)
        if key not in self.values:
            return default
        value = self.values.pop(key)
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        expected = "a number"
        if isinstance(kind, type):
            expected = _KINDS.get(kind, "a number")
        self.mistakes.append(f"{self.where} {key} = {value!r}: expected {expected}")
        return default

    def text(self, key: str, default: str = "") -> str:
        """A text."""
        return str(self.take(key, str, default))

    def texts(self, key: str) -> tuple[str, ...]:
        """A text or a list of texts."""
        if isinstance(self.values.get(key), str):
            return (self.take(key, str),)
        values = self._plain(key, "texts")
        return tuple(
            value if isinstance(value, str) else str(value) for value in values
        )

    def nulls(self, key: str) -> NullWords:
        """A text, a number, or a list of them, that mean null."""
        value = self.values.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return null_words([self.take(key, (str, int, float))])
        return null_words(self._plain(key, "texts and numbers"))

    def _plain(self, key: str, expected: str) -> list[Any]:
        """A list without tables or lists in it."""
        values: list[Any] = self.take(key, list, [])
        if any(isinstance(value, dict | list) for value in values):
            self.mistakes.append(
                f"{self.where} {key} = {values!r}: expected {expected}".strip()
            )
        return values

    def table(self, key: str) -> Section:
        """A table inside this one (empty where it is missing)."""
        return Section(self.take(key, dict, {}), self._inner(key), self.mistakes)

    def tables(self, key: str) -> list[Section]:
        """An array of tables."""
        if isinstance(self.values.get(key), dict):
            self.mistakes.append(f"[{key}]: one of several; write [[{key}]]")
            self.values[key] = [self.values[key]]
        tables = [
            value for value in self.take(key, list, []) if isinstance(value, dict)
        ]
        return [
            Section(value, f"[[{key}]] {number}", self.mistakes)
            for number, value in enumerate(tables, 1)
        ]

    def anything(self, key: str) -> Any:
        """A value of any kind, ``None`` where it is missing."""
        self.keys.append(key)
        return self.values.pop(key, None)

    def pattern(self, key: str, *, whole: bool = False) -> Pattern | None:
        """A regular expression; ``whole``: of whole texts."""
        text = self.take(key, str)
        if text is None:
            return None
        return self._compiled(key, text, whole)

    def patterns(self, key: str) -> tuple[Pattern, ...]:
        """A regular expression of whole texts, or a list of them."""
        patterns = (self._compiled(key, text, True) for text in self.texts(key))
        return tuple(pattern for pattern in patterns if pattern is not None)

    def rest(self) -> dict[str, Any]:
        """All keys that were not taken, which may have any name."""
        rest, self.values = self.values, {}
        return rest

    def close(self) -> None:
        """Name every key that nobody asked for."""
        for key in self.values:
            self.mistakes.append(
                f"{self.where} {key}: no such key".strip()
                + f"{similar(key, self.keys)}; keys here: {listed(self.keys)}"
            )

    def _compiled(self, key: str, text: str, whole: bool) -> Pattern | None:
        try:
            return Pattern(str(text), whole=whole)
        except PatternError as error:
            line = ""
            if isinstance(text, LinedText) and text.line:
                line = f" (line {text.line})"
            setting = f"{key} = {str(text)!r}"
            self.mistakes.append(f"{self.where} {setting}{line}: {error}")
            return None

    def _inner(self, key: str) -> str:
        if self.where == "":
            return f"[{key}]"
        return f"{self.where[:-1]}.{key}]"


def shipped_mappings() -> dict[str, Path]:
    """The files of the mappings for published dumps, by name."""
    paths = (
        Path(str(item))
        for item in files("warehouse.mappings").iterdir()
        if item.name.endswith(".toml")
    )
    return {path.stem: path for path in sorted(paths)}


def describe_mapping(path: Path) -> str:
    """The first sentence of the comment that a mapping begins with."""
    comment = takewhile(
        lambda line: line.startswith("#") and line.strip("# "),
        path.read_text("utf-8").splitlines(),
    )
    return (
        " ".join(" ".join(line.removeprefix("#") for line in comment).split())
        .partition(". ")[0]
        .rstrip(".:")
    )


def mapping_file(given: str | Path) -> Path:
    """The file that a path, or the name of a shipped mapping, stands for; a file that
    is there goes first.

    Raises:
        MisuseError: a word that is neither. A path is given back as it is, whether or
            not a file is there.
    """
    path = Path(given)
    if path.is_file() or path.suffix or len(path.parts) != 1:
        return path
    shipped = shipped_mappings()
    if str(given) not in shipped:
        hint = did_you_mean(
            str(given), shipped, "names of those that are: warehouse mapping --list"
        )
        raise MisuseError(
            f"there is no file '{given}', and no mapping of that name is shipped; "
            f"{hint}"
        )
    return shipped[str(given)]


def named_by_others(path: Path, but: Path) -> bool:
    """True if the ``files`` of another shipped mapping name a file: it is of another
    dump then.

    Args:
        path: of the file, absolute.
        but: the mapping that is asked for, which does not count.
    """
    others = (globs for file, globs in _globs().items() if file != but)
    return any(
        glob_matches(glob, path)
        for glob in chain.from_iterable(others)
        if "/" in glob  # one of a suffix alone says nothing
    )


@cache
def _globs() -> dict[Path, tuple[str, ...]]:
    return {
        file: tuple(load_mapping(file).get("files", ()))
        for file in shipped_mappings().values()
    }
