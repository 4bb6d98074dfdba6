"""What people are shown of an answer: sentences, tables, and what stands below them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.tables.words import NOTHING


@dataclass(frozen=True)
class Table:
    """Rows under columns.

    Attributes:
        columns: names, in order.
        rows: a value for each of them.
        empty: what to say where there are no rows.
        needless: columns that are left out where they say nothing in any row.
        counts: those that are left out where they are 0, too.
        spare: those that a narrow page does without, the first of them first.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    empty: str = "no rows"
    needless: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        empty: str = "no rows",
        needless: Sequence[str] = (),
        counts: Sequence[str] = (),
        spare: Sequence[str] = (),
    ) -> Table:
        """A table of rows that name their cells, all in the same order."""
        cells = list(rows)
        columns = tuple(cells[0]) if cells else ()
        values = tuple(tuple(row.values()) for row in cells)
        return cls(columns, values, empty, tuple(needless), tuple(counts), tuple(spare))

    def filled(self) -> list[int]:
        """Places of the columns that say something."""
        return [
            index
            for index, name in enumerate(self.columns)
            if name not in (*self.needless, *self.counts)
            or any(row[index] not in NOTHING and not (name in self.counts and row[index] == 0) for row in self.rows)
        ]


@dataclass(frozen=True)
class Below:
    """A line below a table; with a column only where that one is shown.

    Attributes:
        line: a sentence.
        column: name of a column of the table above.
        width: characters at which it is broken also where a page has no width; 0: never.
    """

    line: str
    column: str = ""
    width: int = 0


@dataclass(frozen=True)
class View:
    """Sentences, tables and lines below them, in order, and remarks on the whole.

    Attributes:
        parts: an empty sentence is an empty line.
        notes: what a reader should know, each a sentence; a command says them on standard error.
    """

    parts: tuple[str | Table | Below, ...]
    notes: tuple[str, ...] = ()

    @property
    def explained(self) -> tuple[Below, ...]:
        """The lines that say what a column means."""
        return tuple(part for part in self.parts if isinstance(part, Below) and part.column)


def legend(meanings: Mapping[str, str]) -> list[Below]:
    """A line for each column, ``name: meaning``, below a table that shows it."""
    return [Below(f"{name}: {meaning}", name) for name, meaning in meanings.items()]
