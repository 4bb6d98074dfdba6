"""What a starting mapping leaves to be decided: both readings stand in it, and ``ingest`` refuses it until one is
chosen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.profile import ColumnProfile, TableProfile


@dataclass(frozen=True)
class Choice:
    """Something that a table does not tell.

    Attributes:
        what: what is to be decided.
        between: the readings, in words.
        written: what the mapping says for each, as comments; empty where its sections have that themselves.
    """

    what: str
    between: tuple[str, ...]
    written: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """The table ``[[choose]]`` for it."""
        yield "[[choose]]  # to be decided: write one of the readings into this mapping, then delete this table"
        yield f"what = {toml_text(safe(self.what))}"
        yield f"between = {texts(map(safe, self.between))}"
        yield from (f"#   {number}. {safe(text)}" for number, text in enumerate(self.written, 1))
        yield ""


def of_places(table: TableProfile) -> Iterator[Choice]:
    """What a document holds beside the records that a mapping takes."""
    if table.beside:
        places = (table.at, *table.beside)
        yield Choice(
            f"which of {listed(map(toml_text, places), 8)} hold the samples: all have the same fields",
            tuple(f"{toml_text(place)} alone" for place in places),
            tuple(f"[rows] at = {toml_text(place)}" for place in places),
        )
    keys = next((column for column in table.columns if column.path.lstrip("^") == "@key" != column.path), None)
    if keys is not None and not _says_again(table, keys):
        named = toml_text(keys.path)
        yield Choice(
            f"what the keys {listed([toml_text(str(key)) for key in keys.values], 4)} above the records name",
            ("models", "benchmarks", "a property of the prompts"),
            (f"[run] model = {named}", f"[run] benchmark = {named}", f"[metadata] group = {named}"),
        )
    if table.parallel:
        fields = ", ".join(toml_text(f"$.{path}[@key]") for path in table.parallel[:8])
        yield Choice(
            f"what {listed(map(toml_text, table.parallel), 8)} hold, by the same keys as {toml_text(table.at)}",
            ("further columns of the table", "something else"),
            (f"{fields} in [run], [sample] or [metadata], as their names say", "leave them out"),
        )


def _says_again(table: TableProfile, keys: ColumnProfile) -> bool:
    """Whether texts of the records tell apart what the keys above them do."""
    by_key = table.values(keys)
    return any(
        len(column.values) == len(keys.values) == len({*zip(by_key, map(str, table.values(column)), strict=True)})
        for column in table.columns
        if column is not keys and column.kind == "text"
    )


def undecided(tables: Iterator[Mapping[str, Any]] | list[Mapping[str, Any]]) -> Iterator[str]:
    """What is said of each ``[[choose]]`` that is left in a mapping."""
    for table in tables:
        line = f"line {table['line']}: " if "line" in table else ""
        between = [str(reading) for reading in table.get("between", ())]
        shown = listed([f"({number}) {reading}" for number, reading in enumerate(between, 1)], 8)
        yield (
            f"{line}[[choose]] {table.get('what', 'something')} is not decided: {shown}; "
            "write one of these into the mapping, as the comments there show, and delete this [[choose]]"
        )


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
