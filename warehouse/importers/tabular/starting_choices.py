"""What a starting mapping leaves to be decided: both readings stand in it, and ``ingest`` refuses it until one is
chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.profile import ColumnProfile, TableProfile
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
