"""Long tables: a row for an entry and a task, as one with a column for each task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from warehouse.boards.table import (
    ENTRY_NAMES,
    FEWEST_ROWS,
    TASK_NAMES,
    RawTable,
    are_figures,
)
from warehouse.errors import InputError
from warehouse.stats.board.cells import without_marks

#: Columns that tell figures of one task apart.
_APART = frozenset(
    ("metric", "metrics", "subset", "split", "filter", "subject", "category", "setting")
    + ("shots", "n-shot", "few-shot", "shot", "cat.0", "cat.1", "language", "version")
)
#: Columns of items and of errors, which go with a figure.
_ITEMS = frozenset(("num", "n", "n_samples", "num_samples", "samples", "count"))
_ERRORS = re.compile(r"(?:.*[\s_])?(?:stderr|standard_error|std_err|se)")
#: Figures of a long table, by their usual names.
_VALUES = frozenset(
    ("score", "value", "result", "accuracy", "acc", "performance", "metric value")
    + ("score (%)", "accuracy (%)", "figure")
)

Columns = Mapping[tuple[str, ...], Sequence[str]]


def as_wide(table: RawTable) -> RawTable | None:
    """A long table with a column for each task; None where it is no long table.

    It is one where entries and tasks both stand in columns of their usual names, each
    several times, and one column of figures has a usual name.

    Raises:
        InputError: an entry has a task twice with other figures, so that something else
            tells them apart, and the names do not say what.
    """
    if table.keys is not None or table.of_tasks or table.n_rows < 2 * FEWEST_ROWS:
        return None
    names = {path: without_marks(path[-1]).casefold().strip() for path in table.columns}
    entry = _first(names, ENTRY_NAMES)
    task = _first(names, TASK_NAMES)
    values = [path for path in names if _is_value(names[path], table.columns[path])]
    if entry is None or task is None or len(values) != 1 or entry == task:
        return None
    if not (_repeats(table.columns[entry]) and _repeats(table.columns[task])):
        return None
    apart = [path for path in names if names[path] in _APART and path != task]
    labels = _labels(table.columns, task, apart)
    return _pivoted(table, names, entry, labels, values[0])


def _first(
    names: Mapping[tuple[str, ...], str], usual: Sequence[str] | frozenset[str]
) -> tuple[str, ...] | None:
    for path, name in names.items():
        if name and name in usual:
            return path
    return None


def _is_value(name: str, texts: Sequence[str]) -> bool:
    return name in _VALUES and are_figures(texts)


def _repeats(texts: Sequence[str]) -> bool:
    """Whether names stand several times, most of them."""
    n_names = len(set(texts))
    return n_names > 1 and 2 * n_names <= len(texts)


def _labels(
    columns: Columns, task: tuple[str, ...], apart: Sequence[tuple[str, ...]]
) -> list[str]:
    """What the figure of each row is of: the task, and what tells its figures apart."""
    telling = [path for path in apart if len(set(columns[path])) > 1]
    labels = []
    for row, name in enumerate(columns[task]):
        parts = [name, *(columns[path][row] for path in telling)]
        labels.append(" ".join(without_marks(part) for part in parts if part.strip()))
    return labels


def _pivoted(
    table: RawTable,
    names: Mapping[tuple[str, ...], str],
    entry: tuple[str, ...],
    labels: Sequence[str],
    value: tuple[str, ...],
) -> RawTable | None:
    entries = [without_marks(text) for text in table.columns[entry]]
    order = list(dict.fromkeys(entries))
    if len(order) < FEWEST_ROWS:
        return None
    columns = _spread(table, entries, labels, table.columns[value], order)
    for path, name in names.items():
        if _ERRORS.fullmatch(name):
            errors = [f"{label}_stderr" for label in labels]
            columns |= _spread(table, entries, errors, table.columns[path], order)
    return RawTable(
        table.name,
        columns,
        tuple(order),
        is_ordered=False,
        counted=_items(table.columns, names, labels),
    )


def _spread(
    table: RawTable,
    entries: Sequence[str],
    labels: Sequence[str],
    texts: Sequence[str],
    order: Sequence[str],
) -> dict[tuple[str, ...], list[str]]:
    """Columns of texts by their labels (InputError: two for one cell)."""
    rows = {entry: row for row, entry in enumerate(order)}
    columns: dict[tuple[str, ...], list[str]] = {}
    for entry, label, text in zip(entries, labels, texts, strict=True):
        column = columns.setdefault((label,), [""] * len(order))
        before = column[rows[entry]]
        if before and text and before != text:
            raise InputError(
                f"a long table in which {entry!r} has {label!r} twice: {before} and "
                f"{text}",
                path=table.name,
                expected=(
                    "one row for an entry and a task; a column that tells several "
                    "apart is called metric, subset, split, setting or shots"
                ),
            )
        column[rows[entry]] = text or before
    return columns


def _items(
    columns: Columns, names: Mapping[tuple[str, ...], str], labels: Sequence[str]
) -> dict[str, int]:
    """Items of each task, where a column has them and all its rows agree."""
    path = _first(names, _ITEMS)
    if path is None:
        return {}
    found: dict[str, set[str]] = {}
    for label, text in zip(labels, columns[path], strict=True):
        found.setdefault(label, set()).add(text.strip())
    sizes: dict[str, int] = {}
    for label, texts in found.items():
        (text,) = texts if len(texts) == 1 else ("",)
        if text.isdecimal() and int(text) > 0:
            sizes[label] = int(text)
    return sizes
