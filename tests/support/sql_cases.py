"""Queries with the rows that are expected, as text: read from a file, asked of a store,
and written back.

A file holds cases that stand apart by a line of ``==``, each with a heading of what is
proven, a query and its rows::

    == an alias shows under its canonical name
    select model, model_recorded from run_current where model_recorded = 'old/a'
    ---
    org/a | old/a

A query of the library is asked by its name: ``library hardest_prompts benchmark=items:
tool_prompt_id, difficulty``. Lines that begin with ``--`` say why. Cells stand apart by
`` | ``: numbers are the same to a billionth, what is not known is ``null``. Rows stand
in the order that the query says; one that names none gives one row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.store.connection import Store
from warehouse.store.sql import query_files

_LIBRARY = re.compile(r"library (?P<name>\w+)(?P<given>[^:]*): (?P<columns>[\w, ]+)")
_CELL = " | "


@dataclass(frozen=True)
class Case:
    """One query with its rows."""

    file: str
    heading: str
    query: str
    rows: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}: {self.heading}"


def cases_of(folder: Path) -> Iterator[Case]:
    """The cases of all files of a folder."""
    for path in sorted(folder.glob("*.txt")):
        for part in re.split(
            r"^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )[1:]:
            heading, _, text = part.partition("\n")
            query, _, rows = text.partition("\n---\n")
            yield Case(
                path.stem,
                heading,
                query,
                tuple(row for row in rows.splitlines() if row),
            )


def ask(store: Store, case: Case) -> list[dict[str, Any]]:
    """The rows that a store gives."""
    query = "\n".join(
        line for line in case.query.splitlines() if not line.startswith("--")
    ).strip()
    named = _LIBRARY.fullmatch(query)
    if named is None:
        rows: list[dict[str, Any]] = store.arrow(query, {}).to_pylist()
        return rows
    found = query_files.find(named["name"], store.dialect.name)
    given = dict(word.split("=", 1) for word in named["given"].split())
    columns = [name.strip() for name in named["columns"].split(",")]
    rows = store.arrow(found.text, found.bind(given)).to_pylist()
    return [{name: row[name] for name in columns} for row in rows]


def differences(found: list[dict[str, Any]], expected: tuple[str, ...]) -> list[str]:
    """Lines that differ, as a diff; none where all rows are as expected."""
    shown = [in_words(row) for row in found]
    lines = []
    for place in range(max(len(shown), len(expected))):
        one = expected[place] if place < len(expected) else None
        other = shown[place] if place < len(shown) else None
        if (
            one is None
            or other is None
            or not _alike(one.split(_CELL), other.split(_CELL))
        ):
            lines += [f"- {one}"] * (one is not None) + [f"+ {other}"] * (
                other is not None
            )
    return lines


def in_words(row: dict[str, Any]) -> str:
    """A row as it stands in a file."""
    return _CELL.join(_cell(value) for value in row.values())


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(value)


def _alike(expected: list[str], found: list[str]) -> bool:
    """Cells that are the same, or numbers that differ by rounding alone."""
    if len(expected) != len(found):
        return False
    return all(
        one == other or _are_close(one, other)
        for one, other in zip(expected, found, strict=True)
    )


def _are_close(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-12)
    except ValueError:
        return False
