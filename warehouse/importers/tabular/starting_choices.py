"""What a starting mapping leaves to be decided: both readings stand in it, and ``ingest`` refuses it until one is
chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.toml import safe, texts, toml_text


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
