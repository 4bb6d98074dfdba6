"""Which column of a table names its models, and whether tasks are benchmarks or prompts,
as its rows say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from warehouse.importers.tabular.column_names import (
    SAMPLE_NAMES,
    are_models,
    are_numbered,
    is_metric,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.looks import (
    is_long,
    is_verdict,
    names_several_models,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.prompt_evidence import is_row_number
from warehouse.importers.tabular.drafts.row_readings import AGAIN
from warehouse.importers.tabular.drafts.toml import Choice, toml_key, toml_text
from warehouse.importers.tabular.evidence import Evidence, Rows, Standing

#: Models and prompts of which a table needs so many, before its rows say which is which.
_MODELS, _PROMPTS = 50, 10

#: Tasks from which on they are prompts where each is right or wrong, and from which on
#: they may be prompts whatever their scores are.
_TASKS, _MANY_TASKS = 10, 40


def take_tasks(table: TableProfile, rows: Rows, fields: Fields) -> None:
    """Take tasks for prompts, not for benchmarks, where each stands once a model and is
    right or wrong."""
    task = fields.run.get("benchmark")
    ids = fields.sample.get("prompt_id")
    is_row = ids is not None and is_row_number(ids)
    if task is None or "text" in fields.sample or ids is not None and not is_row:
        return
    if len(task.values) < _TASKS or task.nulls:
        return
    models = [fields.run["model"]] if "model" in fields.run else []
    bare = Evidence(rows, models)
    if models and len(models[0].values) > 1:
        is_prompt = bare.names_prompts(task)
    else:
        is_prompt = task.is_unique
    if not is_prompt and not bare.repeats(task):
        return
    evidence = Evidence(rows, models, [task])
    free = [column for column in table.columns if column.path not in fields.taken]
    is_right_or_wrong = any(map(is_verdict, free)) and not any(
        _are_means(column, evidence) for column in free
    )
    is_numbered = are_numbered([str(value) for value in task.values])
    if is_right_or_wrong or is_numbered:
        del fields.run["benchmark"]
        fields.sample["prompt_id"] = task
        why = "right or wrong" if is_right_or_wrong else "numbered as items are"
        fields.say(task, f"prompt: each stands once a model, {why}")
    elif len(task.values) >= _MANY_TASKS:
        fields.questions.append(_what_tasks_are(task))


def _are_means(column: ColumnProfile, evidence: Evidence) -> bool:
    """True if a column has the name of a metric and other numbers than 0 and 1, which
    differ between models."""
    is_named = is_metric(column.name) and column.is_number
    standing = evidence.standing(column)
    return is_named and not is_verdict(column) and standing is not Standing.OF_PROMPT


def _what_tasks_are(task: ColumnProfile) -> Choice:
    path = toml_text(task.path)
    return Choice(
        f"what the {len(task.values)} values of {path} are, each once a model",
        ("benchmarks, of which figures are published", "prompts of one benchmark"),
        (
            f"leave [run] benchmark = {path} as it is",
            f"[sample] prompt_id = {path} in its place, and [[scores]] for "
            "[[published]]",
        ),
    )


def take_models(
    table: TableProfile, rows: Rows, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """The column that names models by the rows, where no name says so: each of its few
    values has all prompts once."""
    if "model" in fields.run or rows.n_files > 1 or fields.metric is not None:
        return
    if table.location.draws:
        return  # which are answers of one model
    crossed = dict(_crossing(rows, columns, fields))
    found = [column for column in columns if column.path in crossed]
    models = [column for column in found if are_models(list(map(str, column.values)))]
    if len(models) != 1 and len(found) != 1:
        return
    if not models and any(map(names_several_models, columns)):
        return  # which is asked
    model = (models or found)[0]
    fields.forget(model)
    fields.run["model"] = model
    if models:
        fields.say(model, "model: names of models, each with all prompts")
    else:
        fields.questions.append(_what_crosses(model, crossed[model.path]))


def take_model_of_files(
    rows: Rows, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """The column that holds one name of a model in each of the files beside another."""
    if {"model"} & {*fields.run, *fields.document} or rows.n_files < 2:
        return
    for column in columns:
        codes = rows.codes[column.path]
        is_alone = len(column.values) == 1 and not column.nulls
        names = np.unique(codes)
        files_of_names = np.unique(np.stack([codes, rows.files]), axis=1).shape[1]
        is_told = names.size == files_of_names == rows.n_files
        if is_alone and is_told and are_models([str(column.values[0])]):
            fields.forget(column)
            fields.run["model"] = column
            fields.say(column, "model: another name in each file beside this one")
            return


def _what_crosses(column: ColumnProfile, prompts: ColumnProfile) -> Choice:
    path = toml_text(column.path)
    shown = ", ".join(map(str, column.values[:3]))
    template = toml_text(f"{{{prompts.path}}} {{{column.path}}}")
    return Choice(
        f"what {path} names ({shown}), of which each has all prompts once",
        (
            "models",
            "settings of one model, a run each",
            "who gave the scores",
            f"prompts, each told by {toml_text(prompts.path)} and {path} together",
        ),
        (
            f"leave [run] model = {path} as it is",
            f"[run.configuration] {toml_key(column.name)} = {path}, without [run] "
            f"model = {path}",
            f"[scorer] scorer = {path}, without [run] model = {path}",
            f"[sample] prompt_id = {{ template = {template} }}, without [run] model = "
            f"{path}",
        ),
    )


def _depends_on(rows: Rows, column: ColumnProfile, other: ColumnProfile) -> bool:
    """True if a column has one value for each of another, as the version of a judge."""
    codes = rows.codes.get(other.path)
    if codes is None:
        return False
    pairs = np.unique(np.stack([codes, rows.codes[column.path]]), axis=1)
    return bool(pairs.shape[1] == np.unique(codes).size)


def _has_targets(
    rows: Rows, column: ColumnProfile, columns: Sequence[ColumnProfile]
) -> bool:
    """True if a column is called the right answer, or that has one value for each of its
    values: it is of prompts, then, and names no models."""
    targets = [
        other
        for other in columns
        if len(other.values) > 1 and plain_name(other.name) in SAMPLE_NAMES["target"]
    ]
    return any(other is column or _depends_on(rows, other, column) for other in targets)


def _crossing(
    rows: Rows, columns: Sequence[ColumnProfile], fields: Fields
) -> Iterator[tuple[str, ColumnProfile]]:
    """Columns of a few names of which each has all prompts once, by path, with the one
    that names the prompts."""
    evidence = Evidence(rows)
    named = {own.path for name, own in fields.run.items() if name != "benchmark"}
    named |= {own.path for own in fields.scorers.columns}
    few = [
        column
        for column in columns
        if column.kind == "text"
        and column.path not in named
        and 2 <= len(column.values) <= min(_MODELS, column.rows // 2)
        and not is_long(column)
        and not is_verdict(column)
        and not any(
            _depends_on(rows, column, judge) for judge in fields.scorers.columns
        )
        and not _has_targets(rows, column, columns)
        and not {*words_of(column.name)[-1:]} & AGAIN
    ]
    keys = [
        column
        for column in columns
        if column.kind not in ("list", "object", "true/false")
        and _PROMPTS <= len(column.values) < column.rows
    ]
    for column in few:
        for key in keys:
            if key is not column and evidence.crosses(column, key):
                yield column.path, key
                break
