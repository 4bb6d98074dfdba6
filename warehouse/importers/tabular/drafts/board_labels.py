"""Which column of a board names its models."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.importers.tabular.column_names import (
    MODEL_LABELS,
    WEAK_LABELS,
    are_benchmarks,
    are_models,
    looks_like_model,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.figure_errors import ERROR
from warehouse.importers.tabular.drafts.long_tables import (
    MOSTLY,
)
from warehouse.importers.tabular.drafts.profile import TableProfile

#: Share of names that look like those of models from which on rows are models, however
#: their column is called; and benchmarks among the columns that say so too.
_ALIKE, _BENCHMARKS = 0.8, 3
#: Rows from which on names of which half look like those of models may be some.
_ENTRIES = 3
#: Characters of a name, and words of one.
_NAME, _WORDS = 80, 6


def label_of(table: TableProfile, fields: Fields) -> tuple[ColumnProfile | None, bool]:
    """The column that names the models of the rows, and whether its name says so."""
    texts = [
        column
        for column in table.columns
        if column.kind == "text" and not column.parents
        if column.rows > 1 or _is_one_model(column, table)
    ]
    model = fields.run.get("model")
    named = [
        column
        for column in texts
        if column is model or MODEL_LABELS.fullmatch(plain_name(column.name))
    ]
    named = [
        c
        for c in named
        if c.coverage >= MOSTLY and len(c.values) > MOSTLY * (c.rows - c.nulls)
    ]
    if named:
        return min(named, key=_unlikeliness), True
    if "model" in fields.run:
        return None, False
    weak = [
        c
        for c in texts
        if WEAK_LABELS.fullmatch(plain_name(c.name)) or c.name == "column_1"
    ]
    for column in weak:
        if not column.is_unique:
            continue
        if are_models([str(value) for value in column.values]) or has_error(table):
            return column, has_error(table) or _are_nearly_all_models(column)
    return _label_by_rows(texts, table)


def _is_one_model(column: ColumnProfile, table: TableProfile) -> bool:
    """True if a table of one row names a model in a column."""
    return table.is_flat and are_models(list(map(str, column.values)))


def _label_by_rows(
    texts: Sequence[ColumnProfile], table: TableProfile
) -> tuple[ColumnProfile | None, bool]:
    """The column that names the rows of a board, whatever it is called: each row has
    another name, and nearly all are those of models; or the columns are benchmarks."""
    named = [column for column in texts if column.is_unique and _are_names(column)]
    for column in named:
        if _are_nearly_all_models(column):
            return column, True
    figures = [c for c in table.columns if c.is_figures and not c.parents]
    benchmarks = [column for column in figures if are_benchmarks([column.name])]
    if len(named) == 1 and len(benchmarks) >= _BENCHMARKS:
        return named[0], True
    for column in named:
        if column.rows >= _ENTRIES and are_models(list(map(str, column.values))):
            return column, False
    return None, False


def _are_nearly_all_models(column: ColumnProfile) -> bool:
    """True if nearly all of the names of rows look like those of models."""
    alike = sum(map(looks_like_model, map(str, column.values)))
    return alike >= _ALIKE * column.rows


def _are_names(column: ColumnProfile) -> bool:
    """True if all values are as short as names are, and most are no sentences, as
    answers that name a model are."""
    texts = [str(value) for value in column.values]
    n_long = sum(len(text.split()) > _WORDS for text in texts)
    return all(len(text) <= _NAME for text in texts) and 2 * n_long <= len(texts)


def has_error(table: TableProfile) -> bool:
    return any(ERROR.fullmatch(plain_name(column.name)) for column in table.columns)


def _unlikeliness(label: ColumnProfile) -> tuple[bool, bool, float]:
    """Evidence against a column as the one that names models: repetitions, markup, few
    that look like names."""
    texts = list(map(str, label.values))
    return (
        not label.is_unique,
        any("<" in text for text in texts),
        -sum(map(looks_like_model, texts)) / len(texts),
    )
