"""Tables of columns by model, prompt or benchmark, as a starting mapping takes them:
matrices of scores, and published figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from warehouse.importers.tabular.column_names import (
    BENCHMARK_LABELS,
    SIZE,
    Grade,
    are_models,
    are_numbered,
    grade_of,
    is_metric,
    looks_like_model,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.board_labels import has_error, label_of
from warehouse.importers.tabular.drafts.boards import (
    Board,
    board_of,
    is_one_metric_of_several,
    is_percentage,
    sizes_of,
    what_columns_are,
    what_else_is,
)
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.conditions import (
    are_means,
    conditions_of,
    tell_apart,
    what_conditions_are,
)
from warehouse.importers.tabular.drafts.figure_errors import ERROR, is_small
from warehouse.importers.tabular.drafts.judges import of_judges
from warehouse.importers.tabular.drafts.long_tables import (
    key_fields,
    long_table,
    which_label,
)
from warehouse.importers.tabular.drafts.made_columns import (
    differences_in,
    numbers_in,
)
from warehouse.importers.tabular.drafts.matrix import (
    BY_MODELS,
    looks_like_flag,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.published_columns import PublishedColumns
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    toml_text,
)
from warehouse.importers.tabular.runs import is_summary

#: The greatest mark that a single prompt gets.
_MOST_STEPS = 200


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
    return _in_list(table, fields) or long_table(table, fields)


def _in_list(table: TableProfile, fields: Fields) -> PublishedColumns | None:
    """The figures of a list of models in a document; none where each column is a
    benchmark, of which a cell of a record cannot be one."""
    if not table.location.at.endswith("[]"):
        return None
    return _wide(table, fields)


# --- a row per model ------------------------------------------------------------------------------


def _wide(table: TableProfile, fields: Fields) -> PublishedColumns | None:
    label, is_sure = label_of(table, fields)
    crossing = None
    if label is None:
        label, crossing = _label_and_conditions(table, fields)
    ids = fields.sample.get("prompt_id")
    if (
        label is None
        or "benchmark" in fields.run
        or (ids is not None and len(ids.values) > 1 and not ids.is_unique)
    ):
        return None
    errors, size, values = _columns(table, label)
    if not values:
        return None
    is_board = not errors and len(values) > 1
    board = board_of(values, table) if is_board else None
    if board is not None:
        are_metrics = board.are_metrics or board.are_compared
    else:
        are_metrics = _are_metrics([column.name for column in values])
    is_wide = is_board and not are_metrics
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
    choices = []
    if crossing:
        choices.append(what_conditions_are(crossing, values, table, fields, is_wide))
    elif crossing is None:
        choices += _of_label(label, table)
    if crossing is None and not is_sure or not _are_figures(values, table):
        choices.append(_what_rows_are(label, values))
    choices += of_judges(label)
    left_out: list[ColumnProfile] = []
    if board is not None:
        values, left_out = board.values, board.left_out
        choices += _questions(board, label)
    choices += _what_else_names(table, fields, is_wide)
    is_stated = are_metrics and not is_wide
    keys = key_fields(values if is_wide or is_stated else values[:1], table)
    return PublishedColumns(
        label,
        values,
        size,
        _figures_of(errors, values, table),
        keys,
        is_wide=is_wide,
        is_stated=is_stated,
        choices=tuple(choices),
        left_out=left_out,
        sizes=sizes_of(values, size, table),
    )


def _label_and_conditions(
    table: TableProfile, fields: Fields
) -> tuple[ColumnProfile | None, list[ColumnProfile] | None]:
    """The column of models of which each has several rows, and what tells these apart
    beside fields of the run, where no figure is called as a metric is; None for both
    where nothing does, or rows may be prompts."""
    model = fields.run.get("model")
    if model is None:
        return None, None
    values = _columns(table, model)[2]
    if not values or any(grade_of(own.name) >= Grade.LIKELY for own in values):
        return None, None
    values = board_of(values, table).values
    if (
        are_means(values)
        and len(values) > 1
        and tell_apart(table, [*fields.run.values()])
    ):
        return model, []
    crossing = conditions_of(table, fields, values)
    return (model, crossing) if crossing else (None, None)


def _of_label(label: ColumnProfile, table: TableProfile) -> Iterator[Choice]:
    """What names each row, where several have one name."""
    if not label.is_unique:
        yield which_label(label, table)


def _what_else_names(
    table: TableProfile, fields: Fields, is_wide: bool
) -> Iterator[Choice]:
    """Whether a column that is called as benchmarks are names that of each figure, where
    nearly every row has another: figures of several are not ranked together. Nothing
    where each column of figures is a benchmark."""
    if is_wide:
        return
    for column in table.columns:
        why = fields.why_not.get(column.path, "")
        if why.startswith("benchmark: ") and why.endswith(" rows"):
            path = toml_text(column.path)
            shown = ", ".join(map(str, column.values[:3]))
            yield Choice(
                f"what {path} names ({shown}), another in most rows",
                ("benchmarks, of which the row states figures", "something else"),
                (
                    f"[run] benchmark = {path}",
                    "leave it, and say --set benchmark=NAME",
                ),
            )


def _questions(board: Board, label: ColumnProfile) -> Iterator[Choice]:
    """What names and rows leave open of the columns of a board."""
    if not board.is_sure:
        cells = "|".join(re.escape(column.name) for column in board.values)
        yield what_columns_are(
            board.values, label, toml_text(cells), board.are_compared
        )
    if board.unknown:
        yield what_else_is(board.unknown)


def _columns(
    table: TableProfile, label: ColumnProfile
) -> tuple[list[ColumnProfile], ColumnProfile | None, list[ColumnProfile]]:
    """The columns of errors, that of sizes, and those of figures."""
    free = [
        c
        for c in table.columns
        if c is not label and not c.parents and c.kind not in ("empty", "true/false")
    ]
    numbers = [column for column in free if column.is_figures]
    errors = [
        column
        for column in numbers
        if ERROR.fullmatch(plain_name(column.name)) and is_small(column, table)
    ]
    size = next(
        (c for c in numbers if SIZE.fullmatch(plain_name(c.name)) and c not in errors),
        None,
    )
    others = [
        column for column in numbers if column not in errors and column is not size
    ]
    values = [column for column in others if _is_figure(column)]
    rows = {column.path: numbers_in(column) for column in numbers}
    differences = differences_in(numbers, rows)
    values = [column for column in values if column not in differences]
    percents = [
        column for column in values if column.is_percent or is_percentage(column.name)
    ]  # other numbers are then times and prices
    if not any(is_metric(column.name) for column in percents) and len(
        percents
    ) * 2 < len(values):
        # these are properties
        values = [column for column in values if column not in percents]
        percents = []
    usual = [column for column in values if grade_of(column.name) is Grade.USUAL]
    return (
        errors,
        size,
        percents or (usual if usual and len(usual) == len(values) else values),
    )


def _are_metrics(names: Sequence[str]) -> bool:
    """True if several names are those of metrics of one benchmark: all are called as
    metrics are, and they are not one metric of several (``BabyAI progress``, ``NetHack
    progress``)."""
    if len(names) < 2 or not all(map(is_metric, names)):
        return False
    return not is_one_metric_of_several(names)


def _figures_of(
    errors: Sequence[ColumnProfile],
    values: Sequence[ColumnProfile],
    table: TableProfile,
) -> dict[str, ColumnProfile]:
    """Columns of errors by the path of the figure that each is of: the one that it is
    named after, else the one that stands before it."""
    order = {column.path: place for place, column in enumerate(table.columns)}
    found: dict[str, ColumnProfile] = {}
    for error in errors:
        called = plain_name(error.name)
        named = [c for c in values if called.startswith(f"{plain_name(c.name)}_")]
        before = [c for c in values if order[c.path] < order[error.path]]
        figure = max(named, key=lambda c: len(c.name)) if named else None
        if figure is None and before:
            figure = before[-1]
        if figure is not None:
            found.setdefault(figure.path, error)
    return found


def _is_figure(column: ColumnProfile) -> bool:
    """True if a column may hold figures: rates, percentages, whatever is called as
    metrics are."""
    if (
        looks_like_flag(column)
        or column.is_counted
        and column.is_unique
        and min(column.numbers, default=0) <= 1  # ids of more digits are no numbers
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
    """True if numbers are means rather than verdicts on single prompts, or ratings of
    another scale than those of single prompts (Elo)."""
    are_ratings = any(max(column.numbers, default=0) > _MOST_STEPS for column in values)
    are_percentages = any(
        is_percentage(column.name) and len(column.values) > 2 for column in values
    )
    if are_ratings or are_percentages:
        return True
    return any(map(_has_fractions, values)) or has_error(table)


def _has_fractions(column: ColumnProfile) -> bool:
    return column.is_percent or any(number % 1 for number in column.numbers)


def _what_rows_are(label: ColumnProfile, values: Sequence[ColumnProfile]) -> Choice:
    path = toml_text(label.path)
    shown = ", ".join(toml_text(column.name) for column in values[:4])
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
    choices = (_what_tasks_are(first),) if _may_be_items(first) else ()
    return PublishedColumns(
        first,
        values,
        keys=key_fields(values, table),
        is_wide=True,
        is_turned=True,
        choices=choices,
    )


#: Rows from which on they may be prompts whatever the column that names them is called.
_MANY_ROWS = 30


def _may_be_items(label: ColumnProfile) -> bool:
    """True if rows may be prompts rather than benchmarks: numbered, without names, or
    many."""
    texts = [str(value) for value in label.values]
    return label.kind != "text" or are_numbered(texts) or len(texts) >= _MANY_ROWS


def _what_tasks_are(label: ColumnProfile) -> Choice:
    path = toml_text(label.path)
    return Choice(
        f"what the rows are, which {path} names",
        ("benchmarks, of which figures are published", "prompts of one benchmark"),
        (
            "leave [run] and [[published]] as they are",
            f"[matrix] orientation = {toml_text(BY_MODELS)}, and [[scores]] metric = "
            '"score", value = "@cell" in place of [run] and [[published]]',
        ),
    )
