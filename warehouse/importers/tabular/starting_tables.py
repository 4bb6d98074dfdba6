"""Tables of columns by model, prompt or benchmark, as a starting mapping takes them:
matrices of scores, and published figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from warehouse.importers.tabular.column_names import (
    BENCHMARK_LABELS,
    MODEL_LABELS,
    WEAK_LABELS,
    Grade,
    are_models,
    are_numbered,
    grade_of,
    is_flag,
    is_metric,
    looks_like_model,
    path_of,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.profile import (
    ColumnProfile,
    TableProfile,
    column_of_values,
)
from warehouse.importers.tabular.readers import ORIENTATIONS
from warehouse.importers.tabular.runs import is_summary
from warehouse.importers.tabular.starting_fields import Fields
from warehouse.importers.tabular.starting_toml import (
    Choice,
    inline_table,
    safe,
    short,
    texts,
    toml_text,
)

#: What a draft says of rows and columns such as ``Average``.
LEFT_OUT = "left out, since it sums up others"
_BY_MODELS, _BY_PROMPTS = ORIENTATIONS
_NAMED = 4


@dataclass(frozen=True)
class MatrixColumns:
    """The columns of a matrix."""

    label: ColumnProfile  #: names the rows.
    columns: Sequence[ColumnProfile]  #: the cells.
    orientation: str  #: as ``[matrix]`` has it; ``""`` where it is to be decided.
    is_all: bool = False

    @property
    def together(self) -> ColumnProfile:
        """All cells as one column."""
        return column_of_values(
            chain.from_iterable(column.values for column in self.columns)
        )

    @property
    def choices(self) -> list[Choice]:
        """Choices that are to be made."""
        if self.orientation:
            return []
        names = [toml_text(column.name) for column in self.columns]
        more = ""
        if len(names) > _NAMED:
            more = f" … ({len(names)} in all)"
        shown = ", ".join(names[:_NAMED]) + more
        label = toml_text(self.label.name)
        return [
            Choice(
                f"what the columns {shown} are",
                (
                    f"models, and each row a prompt, named by {label}",
                    f"prompts, and each row a model, named by {label}",
                    "benchmarks or metrics of which figures are published, and each "
                    f"row a model, named by {label}",
                    "scores of different kinds, and each row a prompt",
                ),
                (
                    f'[matrix] orientation = "{_BY_MODELS}"',
                    f'[matrix] orientation = "{_BY_PROMPTS}"',
                    '[run] model = "@row", benchmark = "@column", and [[published]] '
                    'metric = "score", value = "@cell"'
                    " in place of [[scores]]",
                    "no [matrix], and [[scores]] metric, value for each of them",
                ),
            )
        ]

    def section(self) -> Iterator[str]:
        """The section ``[matrix]``."""
        yield "# A column per model or per prompt: each cell becomes a row."
        yield "[matrix]"
        if self.orientation != _BY_PROMPTS:
            first, second = ORIENTATIONS
        else:
            first, second = reversed(ORIENTATIONS)
        if self.orientation:
            yield f'orientation = "{first}"  # or "{second}"'
        else:
            yield from (f'# orientation = "{first}"', f'# orientation = "{second}"')
        yield f"label = {toml_text(self.label.name)}  # the column that names the rows"
        if not self.is_all:
            names = "|".join(re.escape(column.name) for column in self.columns)
            yield f"cells = {toml_text(names)}  # the columns with scores"
        yield ""


def cells_of(table: TableProfile, fields: Fields) -> MatrixColumns | None:
    """The matrix that a table is; ``None`` where its rows are no rows of cells."""
    if (
        not table.columns
        or table.location.at
        or table.location.draws
        or {"response", "target"} <= {*fields.sample}
    ):
        return None
    if table.is_object:
        return None  # whose keys are no header
    if {"model_a", "model_b"} <= {plain_name(column.name) for column in table.columns}:
        return None  # votes
    label = fields.sample.get("prompt_id") or fields.sample.get("text")
    label = label or next(
        (c for c in table.columns if MODEL_LABELS.fullmatch(plain_name(c.name))),
        table.columns[0],
    )
    if "model" in fields.run and (
        fields.run["model"] is not label or not label.is_unique
    ):
        return None
    columns = _cell_columns(table, fields, label)
    names = [column.name for column in columns]
    if len(columns) < 2 or sum(map(is_metric, names)) * 2 >= len(names):
        return None
    orientation = _orientation(table, fields, label, columns)
    if orientation is None:
        return None
    return MatrixColumns(
        label, columns, orientation, len(columns) + 1 == len(table.columns)
    )


def _cell_columns(
    table: TableProfile, fields: Fields, label: ColumnProfile
) -> list[ColumnProfile]:
    """Columns of scores without a known name; those of 0 and 1, if there are several
    such."""
    free = [
        c
        for c in table.columns
        if c.path not in fields.taken | {label.path} and not c.parents
    ]
    scores = [column for column in free if _may_be_cells(column, table)]
    truths = [column for column in scores if column.scores.is_truth]
    if len(truths) > 1:
        return truths
    return scores


def _may_be_cells(column: ColumnProfile, table: TableProfile) -> bool:
    if column.kind in ("empty", "list", "object") or _is_flag(column):
        return False
    if grade_of(column.name) is Grade.NEVER and not are_models([column.name]):
        return False
    if column.is_number or column.scores.is_truth:
        return not (column.is_unique and column.rows > 2 and are_counted(column))
    return bool(column.reading(table.delimiter)[0])


def _is_flag(column: ColumnProfile) -> bool:
    return (column.scores.is_truth or column.kind == "true/false") and is_flag(
        column.name
    )


def _orientation(
    table: TableProfile,
    fields: Fields,
    label: ColumnProfile,
    columns: Sequence[ColumnProfile],
) -> str | None:
    """How rows and columns lie; ``""`` where that is to be decided, ``None`` where it
    is no matrix of prompts."""
    names = [column.name for column in columns]
    numbered = are_numbered(names) and not is_metric(
        words_of(names[0])[0] if words_of(names[0]) else ""
    )
    graded = all(map(is_unit_score, columns))
    labels_prompts = label.path in {c.path for c in fields.sample.values()}
    labels_models = bool(MODEL_LABELS.fullmatch(plain_name(label.name)))
    if graded and numbered and not labels_prompts:
        return _BY_PROMPTS
    if (
        graded
        and labels_prompts
        and not numbered
        and are_models(names)
        and label.is_unique
    ):
        return _BY_MODELS
    if BENCHMARK_LABELS.fullmatch(plain_name(label.name)) and not graded:
        return None
    if (
        graded
        and not labels_models
        and not numbered
        and are_models(names)
        and label.is_unique
    ):
        return _BY_MODELS
    plausible = label.is_unique and (
        labels_prompts or labels_models or are_models(names) or numbered
    )
    if plausible or graded and label.is_unique and len(columns) > 2:
        return ""
    return None


def is_unit_score(column: ColumnProfile) -> bool:
    """True if all values are scores of a prompt as they are usual: 0 to 1, or 1 and −1,
    or words for them."""
    numbers = column.numbers
    if column.scores.is_truth:
        return True
    return (
        not column.scores.texts
        and bool(numbers)
        and (min(numbers) >= 0 and max(numbers) <= 1 or is_signed(column))
    )


def is_signed(column: ColumnProfile) -> bool:
    """True if the values are 1 and −1, one of them or both."""
    return column.is_number and {*column.numbers} <= {-1.0, 1.0}


def are_counted(column: ColumnProfile) -> bool:
    """True if the values are whole numbers one after the other, as ids are."""
    texts = [str(value) for value in column.values]
    if not all(text.isascii() and text.isdigit() for text in texts):
        return False
    numbers = [int(text) for text in texts]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


#: Names of columns with errors, and with numbers of prompts.
_ERROR = re.compile(r"(.*_)?(std_?err(or)?|standard_error|se|sem)")
_SIZE = re.compile(
    r"n|num|count|size|(n|num|number_of)_(total|samples|prompts|examples|questions|instances)"
)
#: Names of columns of means, as `groupby` of pandas writes them.
_MEANS = ("mean", "avg", "average")
#: Share of rows with a name of their own from which on rows are models.
_MOSTLY = 0.7


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
        for column in (self.label, self.benchmark):
            sums = []
            if column is not None:
                sums = [str(value) for value in column.values if is_summary(value)]
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
            yield from ('metric = "score"', f"value = {self._value('@cell')}", "")
            return
        for number, column in enumerate(self.values):
            if number and column.path not in self.errors and not self.is_stated:
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
            yield f"value = {self._value(column.path)}"
            error = self.errors.get(column.path)
            size = None
            if self.is_stated or not number:
                size = self.size
            for name, other in (("standard_error", error), ("n", size)):
                if other is not None:
                    yield f"{name} = {toml_text(other.path)}"
            yield ""

    def _value(self, path: str) -> str:
        if self.keys:
            return inline_table({"path": path} | dict(self.keys))
        return toml_text(path)


def _shown(names: Sequence[str]) -> str:
    return safe(", ".join(map(short, names)))


def figures_of(table: TableProfile, fields: Fields) -> PublishedColumns | None:
    """The columns of a table of figures; None where its rows are prompts or cannot be
    told from them."""
    if {*fields.sample} & {
        "text",
        "response",
        "draw",
        "choices",
    } or table.location.draws:
        return None
    if not table.location.at:
        figures = _turned(table, fields) or _wide(table, fields)
        if figures is not None:
            return figures
    return _long(table, fields)


# --- a row per model ------------------------------------------------------------------------------


def _wide(table: TableProfile, fields: Fields) -> PublishedColumns | None:
    label, is_sure = _label(table, fields)
    ids = fields.sample.get("prompt_id")
    if (
        label is None
        or "benchmark" in fields.run
        or (ids is not None and not ids.is_unique)
    ):
        return None
    error, size, values = _columns(table, label)
    if not values:
        return None
    is_wide = error is None and len(values) > 1
    are_percents = any(
        column.is_percent or column.numbers and max(column.numbers) > 1
        for column in values
    )
    if (
        is_wide
        and are_numbered([column.name for column in values])
        and not are_percents
    ):
        return None
    choices = [] if label.is_unique else [_which_label(label, table)]
    if not is_sure or not _are_figures(values, table):
        choices.append(_what_rows_are(label, values))
    others = values
    if is_wide:
        others = [column for column in values if not is_summary(column.name)]
    values, left_out = (
        (others, [c for c in values if c not in others]) if others else (values, [])
    )
    errors = {} if error is None else {values[0].path: error}
    keys = _keys(values if is_wide else values[:1], table)
    return PublishedColumns(
        label,
        values,
        size,
        errors,
        keys,
        is_wide=is_wide,
        choices=tuple(choices),
        left_out=left_out,
    )


def _label(table: TableProfile, fields: Fields) -> tuple[ColumnProfile | None, bool]:
    """The column that names the models of the rows, and whether its name says so."""
    texts = [
        c for c in table.columns if c.kind == "text" and not c.parents and c.rows > 1
    ]
    named = [
        column for column in texts if MODEL_LABELS.fullmatch(plain_name(column.name))
    ]
    named = [
        c
        for c in named
        if c.coverage >= _MOSTLY and len(c.values) > _MOSTLY * (c.rows - c.nulls)
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
        if are_models([str(value) for value in column.values]) or _has_error(table):
            return column, _has_error(table)
    return None, False


def _has_error(table: TableProfile) -> bool:
    return any(_ERROR.fullmatch(plain_name(column.name)) for column in table.columns)


def _unlikeliness(label: ColumnProfile) -> tuple[bool, bool, float]:
    """Evidence against a column as the one that names models: repetitions, markup, few
    that look like names."""
    texts = list(map(str, label.values))
    return (
        not label.is_unique,
        any("<" in text for text in texts),
        -sum(map(looks_like_model, texts)) / len(texts),
    )


def _columns(
    table: TableProfile, label: ColumnProfile
) -> tuple[ColumnProfile | None, ColumnProfile | None, list[ColumnProfile]]:
    """The column of errors, that of sizes, and those of figures."""
    free = [
        c
        for c in table.columns
        if c is not label and not c.parents and c.kind not in ("empty", "true/false")
    ]
    numbers = [column for column in free if column.is_figures]
    errors = [column for column in numbers if _ERROR.fullmatch(plain_name(column.name))]
    error = None
    if len(errors) == 1:
        error = errors[0]
    size = next(
        (c for c in numbers if _SIZE.fullmatch(plain_name(c.name)) and c is not error),
        None,
    )
    others = [
        column for column in numbers if column not in errors and column is not size
    ]
    values = [column for column in others if _is_figure(column)]
    percents = [
        column for column in values if column.is_percent
    ]  # other numbers are then times and prices
    if not any(is_metric(column.name) for column in percents) and len(
        percents
    ) * 2 < len(values):
        values, percents = (
            [column for column in values if column not in percents],
            [],
        )  # these are properties
    usual = [column for column in values if grade_of(column.name) is Grade.USUAL]
    return (
        error,
        size,
        percents or (usual if usual and len(usual) == len(values) else values),
    )


def _is_figure(column: ColumnProfile) -> bool:
    """True if a column may hold figures: rates, percentages, whatever is called as
    metrics are."""
    if (
        _is_flag(column)
        or are_counted(column)
        and column.is_unique
        and min(column.numbers) <= 1
    ):
        return False
    if column.is_percent:
        return not {*words_of(column.name)} & {"error", "stderr", "std", "ci"}
    if grade_of(column.name) is Grade.NEVER or not column.numbers:
        return False
    return (
        is_metric(column.name)
        or min(column.numbers) >= 0
        and max(column.numbers) <= 100
    )


def _are_figures(values: Sequence[ColumnProfile], table: TableProfile) -> bool:
    """True if numbers are means rather than verdicts on single prompts."""
    return any(map(_has_fractions, values)) or _has_error(table)


def _has_fractions(column: ColumnProfile) -> bool:
    return column.is_percent or any(number % 1 for number in column.numbers)


def _which_label(label: ColumnProfile, table: TableProfile) -> Choice:
    unique = [
        c
        for c in table.columns
        if c.kind == "text" and c.is_unique and not c.parents and c is not label
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


def _what_rows_are(label: ColumnProfile, values: Sequence[ColumnProfile]) -> Choice:
    path, shown = (
        toml_text(label.path),
        ", ".join(toml_text(column.name) for column in values[:4]),
    )
    return Choice(
        f"what the rows are, which {path} names",
        (
            f"models, of which {shown} are published figures",
            f"prompts, of which {shown} are scores",
        ),
        (
            "leave [run] and [[published]] as they are",
            f'[sample] prompt_id = {path} and [[scores]] metric = "score", value = '
            f"{toml_text(values[0].path)} in "
            "their place, without [matrix]",
        ),
    )


# --- a row per benchmark, rows of single figures --------------------------------------------------


def _turned(table: TableProfile, fields: Fields) -> PublishedColumns | None:
    """A column per model and a row per benchmark."""
    first = None
    if table.columns:
        first = table.columns[0]
    if (
        first is None
        or not BENCHMARK_LABELS.fullmatch(plain_name(first.name))
        or not first.is_unique
        or first.rows < 2
    ):
        return None
    values = [
        column
        for column in table.columns[1:]
        if column.is_figures and not is_summary(column.name)
    ]
    values = [
        c
        for c in values
        if looks_like_model(c.name) or grade_of(c.name) is not Grade.NEVER
    ]
    names = [column.name for column in values]
    if (
        len(values) < 2
        or not are_models(names)
        or any(map(is_metric, names))
        or not _are_figures(values, table)
    ):
        return None
    return PublishedColumns(
        first, values, keys=_keys(values, table), is_wide=True, is_turned=True
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
    is_sure = is_told or table.location.at.endswith(
        "{}{}"
    )  # whose outer keys are asked about
    choices = () if is_sure else (_what_tasks_are(table, values),)
    return PublishedColumns(
        model,
        values,
        _size_in(table),
        errors,
        _keys(values, table),
        is_keyed=True,
        is_stated=True,
        choices=choices,
    )


def _names_tasks(table: TableProfile) -> bool:
    """True if a text of the document lists the tasks that it states figures of, and
    none that it does not."""
    tasks, others = {*table.location.task_keys}, {*table.location.skipped}
    texts = [
        {*re.split(r"\s*,\s*", text)}
        for text in table.document.values()
        if isinstance(text, str)
    ]
    return any(tasks <= text and not others & text for text in texts)


def _what_tasks_are(table: TableProfile, values: Sequence[ColumnProfile]) -> Choice:
    task, figure = table.location.task_keys[0], values[0].name
    path = f"{table.location.at.removesuffix('{}')}.{path_of(task)}.{path_of(figure)}".removeprefix(
        "."
    )
    tasks = ", ".join(map(toml_text, table.location.task_keys[:_NAMED]))
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


def _long(table: TableProfile, fields: Fields) -> PublishedColumns | None:
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
        and column.is_figures
        and not column.path.startswith("^")
        and (
            grade_of(column.name, column.parents) >= Grade.LIKELY
            or not column.parents
            and plain_name(column.name) in _MEANS
        )
    ]
    model = fields.run.get("model")
    if table.location.task_keys and values and "benchmark" not in fields.run:
        return _stated(table, values, model)
    axes = [
        column
        for column in (*fields.run.values(), fields.metric)
        if column and len(column.values) > 1
    ]
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
    are_apart = bool(rows) and len({*rows}) > _MOSTLY * len(rows)
    names_rows = model is not None and are_apart
    if not values or table.rows < 2 and not is_keyed or not is_keyed and not names_rows:
        return None
    first = first or values[0]
    values = [first, *(column for column in values if column is not first)]
    choices = (
        ()
        if is_keyed or len({*rows}) == len(rows)
        else (_which_label(model or first, table),)
    )
    keys = _keys(values[:1], table)
    errors = {
        c.path: error for c in values if (error := _error_of(c, table)) is not None
    }
    found = PublishedColumns(
        model, values, _size_in(table), errors, keys, is_keyed=is_keyed, choices=choices
    )
    metric = fields.metric.path if fields.metric is not None else ""
    return replace(found, metric_path=metric, benchmark=fields.run.get("benchmark"))


def _size_in(table: TableProfile) -> ColumnProfile | None:
    """The column with numbers of prompts; ``size`` is rather a model's."""
    names = (
        (plain_name(column.name), column)
        for column in table.columns
        if column.is_number
    )
    return next(
        (column for name, column in names if name != "size" and _SIZE.fullmatch(name)),
        None,
    )


def _error_of(column: ColumnProfile, table: TableProfile) -> ColumnProfile | None:
    """The column of standard errors that belongs to one of figures."""
    name, words = (
        plain_name(column.name),
        ("stderr", "se", "sem", "std_err", "standard_error"),
    )
    names = {f"{name}_{word}" for word in words} | {
        *(words if name in (*_MEANS, "value", "score") else ())
    }
    return next(
        (other for other in table.columns if plain_name(other.name) in names), None
    )


def _keys(columns: Sequence[ColumnProfile], table: TableProfile) -> dict[str, Any]:
    """Keys that turn the values of columns into numbers; nothing where they are
    numbers."""
    return column_of_values(
        chain.from_iterable(column.values for column in columns)
    ).reading(table.delimiter)[0]
