"""Which columns of a table, and which values around its records, say what was run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warehouse.importers.tabular.column_names import (
    BACKENDS,
    MODEL_LABELS,
    PLACEHOLDERS,
    RUN_NAMES,
    are_models,
    is_of_judge,
    is_of_prompt,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import text_of
from warehouse.importers.tabular.drafts.columns import (
    POSITIONS,
    Fields,
)
from warehouse.importers.tabular.drafts.looks import shown_text
from warehouse.importers.tabular.drafts.model_lists import (
    keys_of_models,
    name_in_list,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.prompts import (
    named_as,
)
from warehouse.importers.tabular.drafts.toml import (
    toml_text,
)
from warehouse.importers.tabular.mapping_variants import (
    RECORD_FIELDS,
    RUN_FIELDS,
    SAMPLE_FIELDS,
)

#: Objects that describe a benchmark.
_OBJECTS = frozenset({"benchmark", "dataset", "suite"})
#: Fields of a run that differ between rows of one: when it began, what it cost, how it
#: went.
_OF_ONE_RUN = frozenset(
    {
        "started_at",
        "cost",
        "status",
        "note",
        "tags",
        "hardware",
        "n_benchmark",
        "n_requested",
        "tokens",
    }
)
_WHOLE = frozenset(
    {
        "step",
        "epoch",
        "tokens",
        "training_seed",
        "initialisation_seed",
        "data_order_seed",
        "fewshot",
    }
)
_ONE_NUMBER = re.compile(r"[^\d.,]*\d+[^\d.,]*")
#: Tokens that a model is trained on, at least.
_LEAST_TOKENS = 1_000_000
#: Characters of what may be a name.
_NAME = 100


#: What answers in place of a model.
_STANDS_IN = frozenset({"mock"})
#: Fields of a run that describe its model.
_OF_MODELS = ("family", "developer", "parameter_count", "base_checkpoint")


def take_run(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    for name in RUN_FIELDS:
        if (
            name in (*SAMPLE_FIELDS, "status")
            or name in RECORD_FIELDS
            and table.is_flat
        ):
            continue
        words = (name, *RUN_NAMES.get(name, ()))
        anywhere = name in ("model", "benchmark")
        free = [
            c
            for c in columns
            if c.path not in fields.taken and (anywhere or not c.parents)
        ]
        if name == "model":
            free = [
                c
                for c in free
                if not is_of_prompt(c.parents) and not is_of_judge(c.parents)
            ]
        column = named_as(free, words)
        if column is None and name == "model":
            column = next((c for c in free if _labels_models(c)), None)
        if column is None and name == "benchmark":
            column = next((c for c in free if _labels_benchmarks(c)), None)
        if column is None and name == "model":
            column = _model_of_list(table, columns, fields)
        if column is None:
            continue
        why = "" if _stands_alone(column, columns) else _why_no_run(name, column)
        if name == "epoch" and any(plain_name(c.name) == "eval_id" for c in columns):
            # samples_df of Inspect numbers repeats so
            fields.sample.setdefault("draw", column)
        elif why:
            fields.why_not[column.path] = f"{name}: {why}"
        else:
            fields.run[name] = column
    _forget_of_no_model(fields)


def stands_for_a_model(column: ColumnProfile) -> bool:
    """True if a column holds the name of what answers in place of a model."""
    return {str(value).strip().lower() for value in column.values} <= _STANDS_IN


def _stands_alone(column: ColumnProfile, columns: Sequence[ColumnProfile]) -> bool:
    """True if a column names what answers in place of a model, and no other names
    models."""
    is_model = plain_name(column.name) in ("model", *RUN_NAMES["model"])
    return (
        is_model and stands_for_a_model(column) and not any(map(_names_models, columns))
    )


def _names_models(column: ColumnProfile) -> bool:
    """True if a column holds several names, which look like those of models."""
    texts = [str(value) for value in column.values]
    are_several = 1 < len(texts) <= column.rows // 2
    return column.kind == "text" and are_several and are_models(texts)


def _forget_of_no_model(fields: Fields) -> None:
    """Take nothing for a property of the model that has several values in the rows of
    one: ``family`` may be that of the questions."""
    model = fields.run.get("model")
    if model is None:
        return
    for name in _OF_MODELS:
        column = fields.run.get(name)
        if column is None or column is model or column.codes.size != model.codes.size:
            continue
        pairs = {*zip(model.codes.tolist(), column.codes.tolist(), strict=True)}
        if len(pairs) > len({*model.codes.tolist()}):
            del fields.run[name]
            fields.why_not[column.path] = f"{name}: several in the rows of one model"


def _model_of_list(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> ColumnProfile | None:
    """What names the elements of a list of models, or of an object by model, and no
    prompts."""
    column = name_in_list(table, columns) or keys_of_models(table, columns)
    if column is not None:
        fields.forget(column)
    return column


def _labels_models(column: ColumnProfile) -> bool:
    """True if the name of a column is one for models, beyond the usual ones."""
    is_short = all(len(str(value)) <= _NAME for value in column.values)
    if len(column.parents) == 1 and plain_name(column.name) in ("name", "id"):
        inside = plain_name(column.parents[0])
        return is_short and bool(MODEL_LABELS.fullmatch(inside))
    return (
        not column.parents
        and is_short
        and bool(MODEL_LABELS.fullmatch(plain_name(column.name)))
    )


def is_of_run(column: ColumnProfile) -> bool:
    """True if a column is the name or the id of a benchmark or a model, or of what a
    model is described by: ``{"model": {"id": …, "provider": {"id": …}}}``."""
    around = [plain_name(parent) for parent in column.parents]
    is_name = plain_name(column.name) in ("name", "id")
    is_inside = is_name and any(map(MODEL_LABELS.fullmatch, around))
    return is_inside or _labels_benchmarks(column)


def _labels_benchmarks(column: ColumnProfile) -> bool:
    """True if a column is the name or the id in an object that is called as benchmarks
    are: ``{"dataset": {"id": …}}``. A task may be a prompt as well."""
    around = [plain_name(parent) for parent in column.parents[-1:]]
    return plain_name(column.name) in ("name", "id") and bool(_OBJECTS & {*around})


def _why_no_run(name: str, column: ColumnProfile) -> str:
    """Why what a column holds does not fit a field of a run; nothing if it does."""
    texts = {str(text_of(value)).strip().lower() for value in column.values}
    if name in ("model", "benchmark"):
        if column.kind != "text":
            return f"{column.kind}, where a name is expected"
        if texts <= PLACEHOLDERS:
            return f"{toml_text(min(texts))} names nothing"
        if name == "model" and texts <= BACKENDS:
            return f"{toml_text(min(texts))} is what runs models"
    if len(column.values) > 1 and column.rows > 2:
        if name in _OF_ONE_RUN:
            return "differs from row to row"
        if len(column.values) * 2 > column.rows and name != "model":
            return f"{len(column.values)} different in {column.rows} rows"
    if why := _why_no_number(name, column):
        return why
    if name not in RECORD_FIELDS or column.kind == "object":
        return ""
    return "no object"


def _why_no_number(name: str, column: ColumnProfile) -> str:
    """Why values are not the numbers that a field wants; nothing if they are, or it
    wants none."""
    if name == "tokens" and min(column.numbers, default=0) < _LEAST_TOKENS:
        return "too few for those of a training"
    if name in _WHOLE and not all(number.is_integer() for number in column.numbers):
        return "no whole numbers"
    if name in POSITIONS and not column.is_number:
        is_one = all(
            _ONE_NUMBER.fullmatch(shown_text(value)) for value in column.values
        )
        if is_one:
            return ""
        return "texts with more than a number, or none"
    return ""


def of_document(table: TableProfile, fields: Fields) -> dict[str, str]:
    """Fields of a run that the document around the records holds: field -> path."""
    paths: dict[str, list[str]] = {}
    for path in table.document:
        *around, last = (plain_name(step.strip('"')) for step in path.split("."))
        name = last
        if last in ("name", "id") and around[-1] == "model":
            name = f"model_{last}"
        if not is_of_judge(around):
            paths.setdefault(name, []).append(path)
    names = (
        "model",
        "benchmark",
        "temperature",
        "top_p",
        "max_tokens",
        "split",
        "revision",
    )
    chosen: dict[str, str] = {}
    for name in names:
        if name in fields.run:
            continue
        for word in (
            name,
            *RUN_NAMES.get(name, ()),
            *(("name",) if name == "benchmark" else ()),
        ):
            named = [
                path
                for path in paths.get(word, ())
                if word != "name" or path.count(".") == 1
            ]
            if named and not _is_no_name(name, table, named):
                chosen[name] = min(named, key=lambda path: path.count("."))
                break
    return chosen


def _is_no_name(name: str, table: TableProfile, paths: Sequence[str]) -> bool:
    """True if places of a document hold several names, or none."""
    if name not in ("model", "benchmark"):
        return False
    values = {str(table.document[path]).strip().lower() for path in paths}
    return (
        len(values) > 1
        or values <= PLACEHOLDERS
        or name == "model"
        and values <= BACKENDS
    )
