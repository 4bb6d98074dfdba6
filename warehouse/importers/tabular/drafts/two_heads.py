"""Tables whose columns are named by two rows, as those of spreadsheets with joined cells
(a model over the columns of what was seen of it), or by none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import number_of
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, toml_text

#: Names of columns that the first row leaves blank.
_BLANK = re.compile(r"column_\d+")
#: Share of columns without a name from which on a second row may name them, and rows
#: below it.
_UNNAMED, _ROWS = 0.4, 2


def of_two_heads(table: TableProfile) -> Iterator[Choice]:
    """The question what the first row of a table is, where it says again and again what
    stands below names that stand over several columns."""
    seconds = _second_names(table)
    if not seconds:
        return
    named = [(c.name, s) for c, s in zip(table.columns, seconds, strict=True)]
    first = next(pair for pair in named if not _BLANK.fullmatch(pair[0]))
    joined = toml_text(" ".join(first))
    yield Choice(
        "what the first row below the header is, which names columns again ("
        f"{', '.join(seconds[:4])})",
        ("a second row of headers", "data"),
        (
            f"join both in the file to one row, as {joined}, with a name for each "
            "column; save it, and begin again",
            "give the columns without a name one, and begin again",
        ),
    )


def of_joined_cells(table: TableProfile) -> Iterator[Choice]:
    """The question what empty cells of the first column are, where each name stands
    once, over several rows, as joined cells of a sheet are read."""
    if table.location.at or not table.columns:
        return
    column = table.columns[0]
    values = table.values(column)
    names = [value for value in values if value is not None]
    are_once = len({*map(str, names)}) == len(names) > 1
    is_over = bool(values) and values[0] is not None and 2 * len(names) <= len(values)
    if column.kind != "text" or not are_once or not is_over:
        return
    yield Choice(
        f"what the empty cells of {toml_text(column.name)} below each name are",
        ("the name above, of joined cells", "rows without a name"),
        (
            "write the name into each of its rows; save the file, and begin again",
            "[[rows.skip]] path = " + toml_text(column.path) + ", null = true",
        ),
    )


def of_no_head(table: TableProfile) -> Iterator[Choice]:
    """The question whether the first row names the columns, where it holds numbers and
    a text that stands below it too."""
    if table.location.at or table.rows < _ROWS:
        return
    columns = table.columns
    numbers = [c for c in columns if c.is_number and _is_fraction(c.name)]
    again = [c for c in columns if c.kind == "text" and c.name in c.values]
    if not numbers or not again:
        return
    shown = ", ".join(toml_text(column.name) for column in [*again, *numbers][:4])
    yield Choice(
        f"what the first row of the file is, which holds {shown}, as rows below it do",
        ("data: no row names the columns", "names of columns"),
        (
            "put a row above it that names the columns; save the file, and begin again "
            "(or, in a mapping of your own, [table] header = false, and column_1, "
            "column_2, … for their names)",
            "leave the names as they are",
        ),
    )


def _is_fraction(name: str) -> bool:
    """True if a name is a number that is not whole."""
    number = number_of(name)
    return isinstance(number, float) and not number.is_integer()


def _second_names(table: TableProfile) -> list[str]:
    """The first row below the header, where it names columns; else nothing."""
    blank = [column for column in table.columns if _BLANK.fullmatch(column.name)]
    is_of_names = len(blank) >= _UNNAMED * len(table.columns)
    if table.location.at or table.rows < _ROWS or not is_of_names:
        return []
    if len(blank) == len(table.columns):
        return []
    names = [_first(table, column) for column in table.columns]
    filled = [name for name in names if name]
    are_again = len({*filled}) < len(filled)
    if not are_again or len(filled) * 2 < len(names):
        return []
    if any(_is_value(table, column) for column in table.columns):
        return []
    return names


def _first(table: TableProfile, column: ColumnProfile) -> str:
    """What the first row holds."""
    value = table.values(column)[0]
    return "" if value is None else str(value)


def _is_value(table: TableProfile, column: ColumnProfile) -> bool:
    """True if what the first row holds is a number, or stands in another row too."""
    first, *others = table.values(column)
    if first is None:
        return False
    is_number = isinstance(number_of(str(first)), int | float)
    return is_number or first in others
