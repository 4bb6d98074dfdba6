"""Columns of published figures in a mapping that is begun, and tables with a figure in
each row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from warehouse.importers.tabular.column_names import (
    SIZE,
    Grade,
    grade_of,
    path_of,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile, column_of_values
from warehouse.importers.tabular.drafts.boards import are_metrics, is_rate, sizes_of
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.conditions import (
    conditions_of,
    what_conditions_are,
)
from warehouse.importers.tabular.drafts.figure_errors import (
    MEANS,
    error_of,
    is_no_error,
)
from warehouse.importers.tabular.drafts.made_columns import (
    differences_in,
    numbers_of,
)
from warehouse.importers.tabular.drafts.matrix import (
    NAMED,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.published_columns import PublishedColumns
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    toml_text,
)

#: Rows of which one may state again what another does.
_ONE_IN = 50
#: Readings of a question that name a column each.
_SHOWN = 3
#: Share of rows with a name of their own from which on rows are models.
MOSTLY = 0.7


def which_label(label: ColumnProfile, table: TableProfile) -> Choice:
    others = [column for column in table.columns if column is not label]
    unique = [
        column
        for column in others
        if column.kind == "text" and column.is_unique and not column.parents
    ]
    path = toml_text(label.path)
    first = '"COLUMN"'
    if unique:
        first = toml_text(unique[0].path)
    repeated = label.rows - label.nulls - len(label.values)
    alias = ""
    if unique:
        alias = f", as {first}"
    return Choice(
        f"what names each row: {path} is empty in {label.nulls} of {label.rows} rows "
        f"and says again what stands in another in {repeated}",
        (
            "another column" + alias,
            f"{path} with a second column",
            f"{path}: others go",
        ),
        (
            f"[matrix] label = {first}, or [run] model = {first}",
            f'[run] model = {{ template = "{{{label.path}}} {{COLUMN}}" }}',
            f"[[rows.skip]] path = {path}, null = true; and one for the rows that say "
            "it again",
        ),
    )


def _stated(
    table: TableProfile, values: Sequence[ColumnProfile], model: ColumnProfile | None
) -> PublishedColumns:
    """Figures of the tasks of a document, by their names."""
    errors = {
        column.path: error
        for column in values
        if (error := error_of(column, table)) is not None
    }
    is_told = bool(errors) and len(table.location.task_keys) > 2 or _names_tasks(table)
    # whose outer keys are asked about
    is_sure = is_told or table.location.at.endswith("{}{}")
    choices = () if is_sure else (_what_tasks_are(table, values, model is not None),)
    return PublishedColumns(
        model,
        values,
        _size_in(table),
        errors,
        key_fields(values, table),
        is_keyed=True,
        is_stated=True,
        choices=choices,
    )


def _names_tasks(table: TableProfile) -> bool:
    """True if a text of the document lists the tasks that it states figures of, and
    none that it does not."""
    tasks = {*table.location.task_keys}
    others = {*table.location.skipped}
    texts = [
        {*re.split(r"\s*,\s*", text)}
        for text in table.document.values()
        if isinstance(text, str)
    ]
    return any(tasks <= text and not others & text for text in texts)


def _what_tasks_are(
    table: TableProfile, values: Sequence[ColumnProfile], has_model: bool
) -> Choice:
    task = table.location.task_keys[0]
    figure = values[0].name
    path = f"{table.location.at.removesuffix('{}')}.{path_of(task)}.{path_of(figure)}".removeprefix(
        "."
    )
    tasks = ", ".join(map(toml_text, table.location.task_keys[:NAMED]))
    systems = [] if has_model else ["models or systems, of which figures are published"]
    return Choice(
        f"what {tasks} are, of which {toml_text(figure)} is one value each",
        (
            "benchmarks, of which figures are published",
            "parts of one prompt, of which these are scores",
            *systems,
        ),
        (
            "leave [rows], [run] and [[published]] as they are",
            f"[[scores]] metric = {toml_text(task)}, value = {toml_text(path)}, one "
            "for each of them, in their place",
            *["[run] model in place of [run] benchmark"] * len(systems),
        ),
    )


def _values_in(table: TableProfile, fields: Fields) -> list[ColumnProfile]:
    """The columns that may be figures, but for those that compare two others."""
    differences = differences_in(table.columns, numbers_of(table))
    return [
        column
        for column in table.columns
        if column.path not in fields.taken
        and column not in differences
        and (_may_be_figure(column) or is_no_error(column, table))
    ]


def long_table(table: TableProfile, fields: Fields) -> PublishedColumns | None:
    """A figure in each row, which the fields of the run tell apart."""
    ids = fields.sample.get("prompt_id")
    are_of_rows = (
        ids is not None and ids.is_unique and {"model", "benchmark"} <= {*fields.run}
    )
    if (
        "position" in fields.sample
        or ids is not None
        and ids.path != "@key"
        and not are_of_rows
    ):
        return None
    values = _values_in(table, fields)
    model = fields.run.get("model")
    if table.location.task_keys and values and "benchmark" not in fields.run:
        return _stated(table, values, model)
    named_by = [*fields.run.values(), *filter(None, [fields.metric])]
    axes = [column for column in named_by if len(column.values) > 1]
    rows = []
    if axes:
        rows = list(
            zip(*(map(str, table.values(column)) for column in axes), strict=True)
        )
    first = next(
        (column for column in values if error_of(column, table) is not None), None
    )
    is_keyed = (
        table.location.at.endswith("{}")
        and first is not None
        and "benchmark" not in fields.run
    )
    are_apart = bool(rows) and len({*rows}) > MOSTLY * len(rows)
    names_rows = model is not None and are_apart
    crossing: list[ColumnProfile] = []
    if not is_keyed and not names_rows:
        crossing = conditions_of(table, fields, values)
        names_rows = bool(crossing)
    if not values or table.rows < 2 and not is_keyed or not is_keyed and not names_rows:
        return None
    first = first or values[0]
    values = [first, *(column for column in values if column is not first)]
    if crossing:
        choices: tuple[Choice, ...] = (
            what_conditions_are(crossing, values, table, fields),
        )
    elif is_keyed or _are_faults(len(rows) - len({*rows}), len(rows)):
        choices = ()
    else:
        choices = (which_label(model or first, table),)
    keys = key_fields(values[:1], table)
    errors = {
        c.path: error for c in values if (error := error_of(c, table)) is not None
    }
    found = PublishedColumns(
        model, values, _size_in(table), errors, keys, is_keyed=is_keyed, choices=choices
    )
    found = replace(found, parts=crossing)
    metric = fields.metric.path if fields.metric is not None else ""
    named = [column for column in values if not is_no_error(column, table)]
    if not metric and not is_keyed and are_metrics(named):
        found = _stating_all(found, named, table)
    found = _with_question(found, metric)
    if not found.choices and _are_verdicts(found.read):
        found = replace(found, choices=(_what_verdicts_are(found, fields),))
    return replace(found, metric_path=metric, benchmark=fields.run.get("benchmark"))


def _stating_all(
    found: PublishedColumns, named: Sequence[ColumnProfile], table: TableProfile
) -> PublishedColumns:
    """Figures of which each column is one, with the numbers of prompts behind them."""
    return replace(
        found,
        is_stated=True,
        keys=key_fields(found.values, table),
        sizes=sizes_of(named, found.size, table),
    )


def _are_verdicts(values: Sequence[ColumnProfile]) -> bool:
    """True if all numbers are 0 or 1, as no means of many prompts are."""
    numbers = [{*column.numbers} for column in values]
    return all(own and own <= {0.0, 1.0} for own in numbers)


def _what_verdicts_are(found: PublishedColumns, fields: Fields) -> Choice:
    figure = toml_text(found.values[0].name)
    task = fields.run.get("benchmark")
    path = toml_text("COLUMN" if task is None else task.path)
    return Choice(
        f"what the rows are, of which {figure} is 0 or 1",
        (
            f"verdicts on prompts, which {path} names",
            "figures of whole benchmarks, which happen to be 0 and 1",
        ),
        (
            f"[sample] prompt_id = {path} in place of [run] benchmark, [[scores]] for "
            "[[published]], and --set benchmark=NAME",
            "leave [run] and [[published]] as they are",
        ),
    )


def _with_question(found: PublishedColumns, metric: str) -> PublishedColumns:
    """Figures below keys that name models, with the question which of several numbers
    are some, where no column names the metric."""
    is_keyed_by_model = found.label is not None and found.label.path == "@key"
    are_several = len(found.values) > 1 and not found.is_stated and not metric
    if not is_keyed_by_model or not are_several:
        return found
    return replace(found, choices=(*found.choices, _which_figures(found.values)))


def _which_figures(values: Sequence[ColumnProfile]) -> Choice:
    """The question which of several numbers below the name of a model are figures."""
    names = tuple(toml_text(column.name) for column in values)
    return Choice(
        "which of the numbers of each model are figures",
        (*names[:_SHOWN], "several of them, each a metric"),
        (
            *(
                f"[[published]] metric = {n}, value = {n}, alone"
                for n in names[:_SHOWN]
            ),
            "uncomment the [[published]] of those that are",
        ),
    )


def _are_faults(n_repeated: int, n_rows: int) -> bool:
    """True if rows that state a figure again are few enough to be faults of a table,
    which ingest names one by one."""
    return n_repeated * _ONE_IN <= n_rows


def _may_be_figure(column: ColumnProfile) -> bool:
    """True if a column of figures is called as scores, rates or means are."""
    if not column.is_figures or column.path.startswith("^"):
        return False
    grade = grade_of(column.name, column.parents)
    if grade >= Grade.LIKELY or grade is Grade.POSSIBLE and is_rate(column.name):
        return True
    return not column.parents and plain_name(column.name) in MEANS


def _size_in(table: TableProfile) -> ColumnProfile | None:
    """The column with numbers of prompts; ``size`` is rather a model's."""
    names = (
        (plain_name(column.name), column)
        for column in table.columns
        if column.is_number
    )
    return next(
        (column for name, column in names if name != "size" and SIZE.fullmatch(name)),
        None,
    )


def key_fields(columns: Sequence[ColumnProfile], table: TableProfile) -> dict[str, Any]:
    """Keys that turn the values of columns into numbers; nothing where they are
    numbers."""
    return column_of_values(
        chain.from_iterable(column.values for column in columns)
    ).reading(table.delimiter)[0]
