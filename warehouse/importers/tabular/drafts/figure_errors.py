"""Which columns of a table are standard errors of others, as names and sizes say."""

from __future__ import annotations

import re

from warehouse.importers.tabular.column_names import (
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import number_of
from warehouse.importers.tabular.drafts.profile import TableProfile

#: Names of columns with errors.
ERROR = re.compile(r"(.*_)?(std_?err(or)?|standard_error|se|sem)")
#: Names of columns of means, as `groupby` of pandas writes them.
MEANS = ("mean", "avg", "average")


def error_of(column: ColumnProfile, table: TableProfile) -> ColumnProfile | None:
    """The column of standard errors that belongs to one of figures."""
    name = plain_name(column.name)
    words = ("stderr", "se", "sem", "std_err", "standard_error")
    names = {f"{name}_{word}" for word in words} | {
        *(words if name in (*MEANS, "value", "score") else ())
    }
    named = (other for other in table.columns if plain_name(other.name) in names)
    return next((other for other in named if is_small(other, table)), None)


#: Names that say in full that a column is one of standard errors.
_SAID = re.compile(r"(.*_)?(std_?err(or)?|standard_error)")
#: Share of a figure that a standard error is at most, in most rows.
_MOST_ERROR = 0.5


def is_small(error: ColumnProfile, table: TableProfile) -> bool:
    """True if numbers are small beside those of a column before them that begins with
    the same word, as standard errors are: ``wer_sem`` beside ``wer_raw`` may be another
    way to count. True where nothing stands before them that is called alike, and where
    the name says it in full."""
    if _SAID.fullmatch(plain_name(error.name)):
        return True
    first = words_of(error.name)[:1]
    place = table.columns.index(error) if error in table.columns else 0
    alike = [
        column
        for column in table.columns[:place]
        if column.is_number and words_of(column.name)[:1] == first
    ]
    if not alike or not error.is_number:
        return True
    pairs = zip(table.values(error), table.values(alike[-1]), strict=True)
    parts = [
        abs(part / whole)
        for part, whole in (map(_number, pair) for pair in pairs)
        if part is not None and whole
    ]
    large = [part for part in parts if part > _MOST_ERROR]
    return len(large) * 2 <= len(parts)


def is_no_error(column: ColumnProfile, table: TableProfile) -> bool:
    """True if a column is called as an error of another, than which it is no
    smaller."""
    is_called = bool(ERROR.fullmatch(plain_name(column.name)))
    return is_called and column.is_figures and not is_small(column, table)


def _number(value: object) -> float | None:
    number = number_of(str(value).strip().removesuffix("%"))
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return float(number)
