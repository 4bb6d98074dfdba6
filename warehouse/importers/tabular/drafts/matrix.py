"""Tables of cells in a mapping that is begun: rows of prompts with a column of scores
for each model, or the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from warehouse.importers.tabular.column_names import (
    BENCHMARK_LABELS,
    MODEL_LABELS,
    Grade,
    are_models,
    are_numbered,
    grade_of,
    is_flag,
    is_metric,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile, column_of_values
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.made_columns import named_means
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    toml_text,
)
from warehouse.importers.tabular.readers import ORIENTATIONS

#: What a draft says of rows and columns such as ``Average``.
LEFT_OUT = "left out, since it sums up others"
BY_MODELS, _BY_PROMPTS = ORIENTATIONS
NAMED = 4


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
        if len(names) > NAMED:
            more = f" … ({len(names)} in all)"
        shown = ", ".join(names[:NAMED]) + more
        label = toml_text(self.label.name)
        return [
            Choice(
                f"what the columns {shown} are",
                (
                    f"models, and each row a prompt, named by {label}",
                    f"prompts, and each row a model, named by {label}",
                    "benchmarks of which figures are published, and each row a "
                    f"model, named by {label}",
                    "metrics of which figures are published, and each row a model, "
                    f"named by {label}",
                    "scores of different kinds, and each row a prompt",
                ),
                (
                    f'[matrix] orientation = "{BY_MODELS}"',
                    f'[matrix] orientation = "{_BY_PROMPTS}"',
                    '[run] model = "@row", benchmark = "@column", and [[published]] '
                    'metric = "score", value = "@cell"'
                    " in place of [[scores]]",
                    f"[run] model = {toml_text(self.label.path)}, and [[published]] "
                    "metric, value for each of them in place of [matrix] and "
                    "[[scores]]",
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
    if fields.evidence.rows.n_files > 1:
        return None  # rows of one model, as files beside it say
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
    if {"text", "target"} <= {*fields.sample} and not are_models(names):
        return None  # a row per prompt, and columns of several kinds
    orientation = _orientation(table, fields, label, columns)
    if orientation is None:
        return None
    means = named_means(columns)
    columns = [column for column in columns if column not in means]
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
    if column.kind in ("empty", "list", "object") or looks_like_flag(column):
        return False
    if grade_of(column.name) is Grade.NEVER and not are_models([column.name]):
        return False
    if column.is_number or column.scores.is_truth:
        return not (column.is_unique and column.rows > 2 and column.is_counted)
    return bool(column.reading(table.delimiter)[0])


def looks_like_flag(column: ColumnProfile) -> bool:
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
        return BY_MODELS
    if BENCHMARK_LABELS.fullmatch(plain_name(label.name)) and not graded:
        return None
    if (
        graded
        and not labels_models
        and not numbered
        and are_models(names)
        and label.is_unique
    ):
        return BY_MODELS
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
