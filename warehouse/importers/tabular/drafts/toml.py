"""A starting mapping as TOML: names, texts, values, and what is to be
decided."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
#: Characters of an example.
_WIDTH = 60


@dataclass(frozen=True)
class Choice:
    """Something that a table does not tell."""

    what: str  #: what is to be decided.
    between: tuple[str, ...]  #: the readings, in words.
    #: what the mapping says for each, as comments; empty where its sections have that
    #: themselves.
    written: tuple[str, ...] = ()

    @property
    def said(self) -> tuple[str, ...]:
        """All that it says."""
        return (self.what, *self.between, *self.written)

    def lines(self) -> Iterator[str]:
        """The table ``[[choose]]`` for it."""
        yield (
            "[[choose]]  # to be decided: write one of the readings into this mapping, "
            "then delete this table"
        )
        yield f"what = {toml_text(safe(self.what))}"
        yield f"between = {texts(map(safe, self.between))}"
        yield from (
            f"#   {number}. {safe(text)}" for number, text in enumerate(self.written, 1)
        )
        yield ""


#: Readings of a question that stand for themselves.
_READINGS = 3


def brief(
    readings: Sequence[tuple[str, str]],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The first readings, in words and as a mapping says them; the rest, where they are
    two or more, as one.

    Args:
        readings: words and mapping of each, the likeliest first.
    """
    first, rest = [*readings[:_READINGS]], readings[_READINGS:]
    if len(rest) > 1:
        words = "; or ".join(words for words, _ in rest)
        lines = "; or ".join(f"{words}: {line}" for words, line in rest)
        rest = [(f"something else: {words}", lines)]
    first += rest
    return tuple(words for words, _ in first), tuple(line for _, line in first)


def toml_key(name: str) -> str:
    """A name as a key, in quotes where it needs them."""
    if _BARE.fullmatch(name):
        return name
    return toml_text(name)


def short(value: Any) -> str:
    """A value as an example: its text, cut where it is long."""
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _WIDTH:
        return text
    return text[: _WIDTH - 1] + "…"


def safe(text: str) -> str:
    """The text without characters that a comment may not have."""
    return "".join(char if char.isprintable() else " " for char in text)


def toml_text(text: str) -> str:
    """A text as TOML."""
    if "\\" in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def texts(texts: Iterable[str]) -> str:
    """A list of texts."""
    return f"[{', '.join(map(toml_text, texts))}]"


def inline_table(values: Mapping[str, Any]) -> str:
    """An inline table."""
    parts = []
    for key, value in values.items():
        parts.append(f"{toml_key(key)} = {_value(value)}")
    return f"{{ {', '.join(parts)} }}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return inline_table(value)
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, Sequence):
        return texts(value)
    return json.dumps(value)
