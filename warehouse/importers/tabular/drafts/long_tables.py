"""Columns of published figures in a mapping that is begun, and tables with a figure in
each row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from warehouse.importers.tabular.column_names import (
    SIZE,
    Grade,
    grade_of,
    path_of,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile, column_of_values
from warehouse.importers.tabular.columns import number_of
from warehouse.importers.tabular.drafts.boards import are_metrics, is_rate
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.conditions import (
    conditions_of,
    what_conditions_are,
)
from warehouse.importers.tabular.drafts.matrix import (
    LEFT_OUT,
    NAMED,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    inline_table,
    safe,
    short,
    texts,
    toml_text,
)
from warehouse.importers.tabular.runs import is_summary

#: Names of columns with errors.
ERROR = re.compile(r"(.*_)?(std_?err(or)?|standard_error|se|sem)")
#: Names of columns of means, as `groupby` of pandas writes them.
_MEANS = ("mean", "avg", "average")
#: Names of all parts together, among those of parts.
_ALL = frozenset("all any both combined everything alle todos tous tutti".split())
#: Rows of which one may state again what another does.
_ONE_IN = 50
#: Readings of a question that name a column each.
_SHOWN = 3
#: Share of rows with a name of their own from which on rows are models.
MOSTLY = 0.7


@dataclass(frozen=True)
class PublishedColumns:
    """Which columns of a table are what."""

    label: ColumnProfile | None  #: names the rows.
    values: Sequence[ColumnProfile]  #: columns of figures.
    size: ColumnProfile | None = None  #: prompts behind it, or None.
    #: standard errors, by the path of their column.
    errors: Mapping[str, ColumnProfile] = field(default_factory=dict)
    #: of an expression that makes numbers of them.
    keys: Mapping[str, Any] = field(default_factory=dict)
    is_wide: bool = False  #: whether every column of figures is a benchmark (or, if ``is_turned``, a model).
    is_turned: bool = False
    is_keyed: bool = False  #: whether the keys of the records name benchmarks.
    #: whether all columns of figures are figures, whichever the first.
    is_stated: bool = False
    #: of the column that names the metric of each row; empty without one.
    metric_path: str = ""
    benchmark: ColumnProfile | None = None  #: names the benchmark of each row.
    left_out: Sequence[ColumnProfile] = ()  #: columns that sum up the others.
    choices: tuple[Choice, ...] = ()
    #: prompts behind figures that have another number of them, by the figure's path;
    #: None where it is not known.
    sizes: Mapping[str, ColumnProfile | None] = field(default_factory=dict)
    parts: Sequence[ColumnProfile] = ()  #: columns that tell rows of a model apart.

    @property
    def metric(self) -> str:
        """The metric of the figures."""
        if self.is_wide:
            return "score"
        return self.values[0].name

    @property
    def columns(self) -> list[ColumnProfile]:
        """All of them."""
        columns = (self.label, *self.values, *self.errors.values(), self.size)
        return [column for column in columns if column is not None]

    @property
    def read(self) -> list[ColumnProfile]:
        """The columns of figures that a mapping takes; others stand in comments."""
        if self.is_wide or self.is_stated:
            return [*self.values]
        first = self.values[:1]
        others = self.values[1:]
        return [*first, *(column for column in others if column.path in self.errors)]

    def run(self) -> dict[str, str]:
        """Fields of a run and the path of each."""
        if self.is_wide:
            row, column = ("model", "benchmark")
            if self.is_turned:
                row, column = ("benchmark", "model")
            return {row: "@row", column: "@column"}
        keyed = {}
        if self.is_keyed:
            keyed = {"benchmark": "@key"}
        if self.label is None:
            return keyed
        return keyed | {"model": self.label.path}

    def rows(self) -> Iterator[str]:
        """The sections that leave out what is no model, and make a row of each cell."""
        for column in (self.label, self.benchmark, *self.parts):
            sums = []
            if column is not None:
                sums = [
                    str(value)
                    for value in column.values
                    if is_summary(value) or column in self.parts and _is_of_all(value)
                ]
            if column is not None and sums and len(sums) < len(column.values):
                yield (
                    f"[[rows.skip]]  # {LEFT_OUT}: {_shown(sums)}; without this "
                    "[[rows.skip]] it is taken too"
                )
                yield from (
                    f"path = {toml_text(column.path)}",
                    f"equal_to = {texts(sums)}",
                    "",
                )
        if self.is_wide and self.label is not None:
            kinds = ("model", "benchmark (or metric)")
            if self.is_turned:
                kinds = ("benchmark", "model")
            yield (
                f"# A row per {kinds[0]}, a column per {kinds[1]}: each cell becomes a "
                "figure."
            )
            yield "[matrix]"
            yield (
                f"label = {toml_text(self.label.name)}  # the column that names the "
                "rows"
            )
            names = "|".join(re.escape(column.name) for column in self.values)
            yield f"cells = {toml_text(names)}  # the columns with figures"
            if self.left_out:
                sums = [column.name for column in self.left_out]
                yield (
                    f"# {LEFT_OUT}: {_shown(sums)}; add to cells what is to be a "
                    "benchmark of its own"
                )
            yield ""

    def published(self) -> Iterator[str]:
        """The section of the figures themselves."""
        yield (
            "[[published]]  # figures that the table states; there are no scores of "
            "prompts behind them"
        )
        if self.is_wide:
            yield from (
                'metric = "score"',
                f"value = {self._value('@cell', self.keys)}",
                "",
            )
            return
        for number, column in enumerate(self.values):
            if column not in self.read:
                yield f"# [[published]]  # if {toml_text(column.name)} is a figure too"
                yield from (
                    f"# metric = {toml_text(column.name)}",
                    f"# value = {toml_text(column.path)}",
                    "",
                )
                continue
            if number:
                yield "[[published]]"
            named = {"path": self.metric_path}
            metric = toml_text(column.name)
            if self.metric_path:
                metric = inline_table(named)
            yield f"metric = {metric}"
            yield f"value = {self._value(column.path, self.keys)}"
            error = self.errors.get(column.path)
            size = None
            if self.is_stated or not number:
                size = self.sizes.get(column.path, self.size)
            if error is not None:
                keys = error.reading()[0]
                yield f"standard_error = {self._value(error.path, keys)}"
            if size is not None:
                yield f"n = {toml_text(size.path)}"
            yield ""

    def _value(self, path: str, keys: Mapping[str, Any]) -> str:
        if keys:
            return inline_table({"path": path} | dict(keys))
        return toml_text(path)


def _is_of_all(value: object) -> bool:
    """True if the name of a part is that of all parts together."""
    return plain_name(str(value)) in _ALL


def _shown(names: Sequence[str]) -> str:
    return safe(", ".join(map(short, names)))


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
        if (error := _error_of(column, table)) is not None
    }
    is_told = bool(errors) and len(table.location.task_keys) > 2 or _names_tasks(table)
    # whose outer keys are asked about
    is_sure = is_told or table.location.at.endswith("{}{}")
    choices = () if is_sure else (_what_tasks_are(table, values),)
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


def _what_tasks_are(table: TableProfile, values: Sequence[ColumnProfile]) -> Choice:
    task = table.location.task_keys[0]
    figure = values[0].name
    path = f"{table.location.at.removesuffix('{}')}.{path_of(task)}.{path_of(figure)}".removeprefix(
        "."
    )
    tasks = ", ".join(map(toml_text, table.location.task_keys[:NAMED]))
    return Choice(
        f"what {tasks} are, of which {toml_text(figure)} is one value each",
        (
            "benchmarks, of which figures are published",
            "parts of one prompt, of which these are scores",
        ),
        (
            "leave [rows], [run] and [[published]] as they are",
            f"[[scores]] metric = {toml_text(task)}, value = {toml_text(path)}, one "
            "for each of them, in their place",
        ),
    )


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
    values = [
        column
        for column in table.columns
        if column.path not in fields.taken
        and (_may_be_figure(column) or _is_no_error(column, table))
    ]
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
        (column for column in values if _error_of(column, table) is not None), None
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
        c.path: error for c in values if (error := _error_of(c, table)) is not None
    }
    found = PublishedColumns(
        model, values, _size_in(table), errors, keys, is_keyed=is_keyed, choices=choices
    )
    found = replace(found, parts=crossing)
    metric = fields.metric.path if fields.metric is not None else ""
    named = [column for column in values if not _is_no_error(column, table)]
    if not metric and not is_keyed and are_metrics(named):
        found = replace(found, is_stated=True, keys=key_fields(values, table))
    found = _with_question(found, metric)
    if not found.choices and _are_verdicts(found.read):
        found = replace(found, choices=(_what_verdicts_are(found, fields),))
    return replace(found, metric_path=metric, benchmark=fields.run.get("benchmark"))


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
    return not column.parents and plain_name(column.name) in _MEANS


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


def _error_of(column: ColumnProfile, table: TableProfile) -> ColumnProfile | None:
    """The column of standard errors that belongs to one of figures."""
    name = plain_name(column.name)
    words = ("stderr", "se", "sem", "std_err", "standard_error")
    names = {f"{name}_{word}" for word in words} | {
        *(words if name in (*_MEANS, "value", "score") else ())
    }
    named = (other for other in table.columns if plain_name(other.name) in names)
    return next((other for other in named if is_small(other, table)), None)


#: Share of a figure that a standard error is at most, in most rows.
_MOST_ERROR = 0.5


def is_small(error: ColumnProfile, table: TableProfile) -> bool:
    """True if numbers are small beside those of a column before them that begins with
    the same word, as standard errors are: ``wer_sem`` beside ``wer_raw`` may be another
    way to count. True where nothing stands before them that is called alike."""
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


def _is_no_error(column: ColumnProfile, table: TableProfile) -> bool:
    """True if a column is called as an error of another, than which it is no
    smaller."""
    is_called = bool(ERROR.fullmatch(plain_name(column.name)))
    return is_called and column.is_figures and not is_small(column, table)


def _number(value: object) -> float | None:
    number = number_of(str(value).strip().removesuffix("%"))
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return float(number)


def key_fields(columns: Sequence[ColumnProfile], table: TableProfile) -> dict[str, Any]:
    """Keys that turn the values of columns into numbers; nothing where they are
    numbers."""
    return column_of_values(
        chain.from_iterable(column.values for column in columns)
    ).reading(table.delimiter)[0]
