"""A brief view with every column: its own first, under their names, then the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from warehouse.tables.view import Part, Table, View

#: Columns that a brief table has under another name: they are left out of a wide one.
_SAME: Mapping[str, Sequence[str]] = {
    "place": ("rank set", "ranks"),
    "score": ("estimate", "se"),
    "difference": ("a", "b", "a - b", "at least"),
    "verdict": ("better",),
    "settings": ("condition",),
    "questions": ("prompts",),
    "at worst": ("at least",),
    "allowed": ("margin",),
}


def wide_view(brief: View, whole: View, *, chosen: bool = False) -> View:
    """A view whose tables begin with the columns of the brief one.

    Args:
        brief: what people are shown first, with all of its rows.
        whole: the same with every column.
        chosen: somebody names columns: those that say the same are there, too.

    Returns:
        the brief view; a table of it that has no counterpart with the same rows is that
        of ``whole``.
    """
    tables = [part for part in whole.parts if isinstance(part, Table)]
    parts: list[Part] = []
    n_seen = 0
    for part in brief.parts:
        if isinstance(part, Table):
            if n_seen >= len(tables):
                return whole
            widened = _widened(part, tables[n_seen], chosen=chosen)
            if widened is None:
                return whole
            part = widened
            n_seen += 1
        parts.append(part)
    if n_seen < len(tables):
        return whole
    return View(tuple(parts), brief.notes)


def _widened(brief: Table, whole: Table, *, chosen: bool) -> Table | None:
    """The brief table with the further columns; None where rows cannot be matched."""
    rows = _matched(brief, whole)
    if rows is None:
        return None
    left_out = set(brief.columns)
    if not chosen:
        for name in brief.columns:
            left_out |= {*_SAME.get(name, ())}
    further = []
    for index in whole.filled():
        if whole.columns[index] not in left_out:
            further.append(index)
    columns = (*brief.columns, *(whole.columns[index] for index in further))
    joined = []
    for own, other in zip(brief.rows, rows, strict=True):
        joined.append((*own, *(other[index] for index in further)))
    return replace(brief, columns=columns, rows=tuple(joined), minor=(), narrow=None)


def _matched(brief: Table, whole: Table) -> list[tuple[Any, ...]] | None:
    """The rows of the whole table in the order of the brief one, by the texts that both
    have; None where that does not tell which is which."""
    common = [
        name
        for name in brief.columns
        if name in whole.columns and _is_text(brief, name) and _is_text(whole, name)
    ]
    if not common or len(brief.rows) != len(whole.rows):
        return None
    own, others = _keys(brief, common), _keys(whole, common)
    if own == others:
        return list(whole.rows)
    if len(set(own)) < len(own) or set(own) != set(others):
        return None
    by_key = dict(zip(others, whole.rows, strict=True))
    return [by_key[key] for key in own]


def _is_text(table: Table, name: str) -> bool:
    """Whether a column says what a row is, rather than a figure of it."""
    values = table.values(table.columns.index(name))
    return all(type(value) is str for value in values)


def _keys(table: Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    places = [table.columns.index(name) for name in names]
    return [tuple(row[place] for place in places) for row in table.rows]
