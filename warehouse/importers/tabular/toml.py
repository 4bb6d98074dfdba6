"""Names and values as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 60


def toml_key(name: str) -> str:
    """A name as a key, in quotes where it needs them."""
    return name if _BARE.fullmatch(name) else toml_text(name)


def short(value: Any) -> str:
    """A value as an example: its text, cut where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


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
    parts = (f"{toml_key(key)} = {_value(value)}" for key, value in values.items())
    return f"{{ {', '.join(parts)} }}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return inline_table(value)
    if isinstance(value, str):
        return toml_text(value)
    return texts(value) if isinstance(value, Sequence) else json.dumps(value)
