"""Choices that a mapping that is begun leaves to its reader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.column_names import (
    Grade,
    are_models,
    grade_of,
    is_metric,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.answers import ScoreColumns
from warehouse.importers.tabular.drafts.apart import rows_apart
from warehouse.importers.tabular.drafts.boards import parts_in
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.files_beside import count_beside
from warehouse.importers.tabular.drafts.judges import scores_by_key
from warehouse.importers.tabular.drafts.looks import is_verdict, names_several_models
from warehouse.importers.tabular.drafts.other_scores import is_number
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.prompt_parts import template_of
from warehouse.importers.tabular.drafts.prompts import other_ids
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    inline_table,
    toml_text,
)
from warehouse.importers.tabular.mapping_variants import RUN_FIELDS


def _what_keys_are(
    table: TableProfile,
    judges: Sequence[tuple[str, str]],
    values: Sequence[ColumnProfile],
    fields: Any,
    size: ColumnProfile | None,
) -> Choice:
    """What names records by key: prompts, or what their figures are of."""
    after = f", n = {toml_text(size.path)}" if size is not None else ""
    after += _further(table, values)
    stated = [
        _as_published(values, f'[run] {name} = "@key", and ', fields.metric) + after
        for name in ("benchmark", "model")
    ]
    kinds = ["ids of prompts", "benchmarks, of which figures are published"]
    if "model" not in fields.run:
        kinds.append("models or systems, of which figures are published")
    return Choice(
        "what the keys of the records are",
        (*(words for words, _ in judges), *kinds),
        (
            *(text for _, text in judges),
            '[sample] prompt_id = "@key"',
            *stated[: len(kinds) - 1],
        ),
    )


def of_rows(table: TableProfile, fields: Any, scores: ScoreColumns) -> Iterator[Choice]:
    """The choice of whether rows are prompts, where nothing names prompts."""
    values = [candidate.column for candidate in scores.chosen]
    shown = ", ".join(toml_text(column.path) for column in values)
    keyed = fields.sample.get("prompt_id")
    is_keyed = keyed is not None and keyed.path == "@key"
    judges = scores_by_key(table) if is_keyed else ()
    size = _size_of_shares(table, values) if is_keyed else None
    are_answers = bool({"target", "response"} & {*fields.sample})
    if judges or is_keyed and (size is not None or not are_answers):
        if all(map(is_verdict, values)) and not judges:
            return
        yield _what_keys_are(table, judges, values, fields, size)
    elif (
        not fields.names_prompts
        or not {"benchmark", "text", "target", "response"}
        & {*fields.run, *fields.sample}
        and any(column.is_percent for column in values)
        or table.is_object
    ):
        yield _what_rows_are(table, fields, values, shown)


def _what_rows_are(
    table: TableProfile, fields: Any, values: Sequence[ColumnProfile], shown: str
) -> Choice:
    """Whether rows are prompts, or figures of runs.

    Args:
        shown: the names of the columns of scores.
    """
    ids = []
    if table.rows > 1:
        ids = [c.path for c in other_ids(table, fields) if c.kind == "text"]
    named = [toml_text(own.path) for own in _repeated_names(table, fields)]
    told = _told_by(table, fields, ids)
    parts = fields.may_be_parts
    together = " and ".join(toml_text(own.path) for own in parts)
    composed = f"prompts, each told by {together} together" if parts else ""
    model = fields.run.get("model")
    is_below = model is not None and len(model.values) > 1
    figures = _as_published(values, f"{told}for [[scores]], ", fields.metric)
    return Choice(
        f"what the rows are, of which {shown or 'the scores'} is one value each",
        (
            *([composed] if parts else []),
            *(f"answers to prompts, which {path} names" for path in named),
            *([] if is_below else ["prompts, which all files list in the same order"]),
            "figures of whole benchmarks or runs",
            "prompts with an id",
        ),
        (
            *([f"[sample] prompt_id = {template_of(parts)}"] if parts else []),
            *(f"[sample] prompt_id = {path}" for path in named),
            *([] if is_below else ['[sample] position = "@index"']),
            figures + _further(table, values),
            f"[sample] prompt_id = {toml_text((*ids, 'COLUMN')[0])}",
        ),
    )


#: What columns are called that name what was asked, in the rows of several.
_ASKED = frozenset(
    "task problem item case question exercise scenario instance example puzzle issue "
    "prompt target aufgabe frage tarea pregunta".split()
)


def _repeated_names(table: TableProfile, fields: Any) -> Iterator[ColumnProfile]:
    """The first column that may name prompts of which each has several rows, as its
    name says."""
    for column in table.columns:
        is_called = bool({*words_of(column.name)[-1:]} & _ASKED)
        is_named = column.kind in ("text", "number") and not column.nulls
        is_repeated = 1 < len(column.values) < table.rows
        is_taken = column.path in {own.path for own in fields.run.values()}
        if is_called and is_named and is_repeated and not is_taken:
            yield column
            return


#: Keys up to which records of shares may be benchmarks.
_FEW_KEYS = 20


def _size_of_shares(
    table: TableProfile, values: Sequence[ColumnProfile]
) -> ColumnProfile | None:
    """The numbers that scores of a few keys are shares of, as figures of many prompts
    are: ``{"correct": 8, "total": 10, "score": 0.8}``."""
    keys = next(column for column in table.columns if column.path == "@key")
    if len(keys.values) > _FEW_KEYS:
        return None
    return next((size for _, size, _ in parts_in(table, values)), None)


def _telling_apart(fields: Any) -> str:
    """Fields of a run of which most rows have a value of their own: what tells figures
    of one model apart."""
    by_path = {
        path: why.partition(":")[0]
        for path, why in fields.why_not.items()
        if why.endswith(" rows") and why.partition(":")[0] in RUN_FIELDS
    }
    return "".join(
        f"[run] {name} = {toml_text(path)}, and " for path, name in by_path.items()
    )


def _told_by(table: TableProfile, fields: Any, ids: Sequence[str]) -> str:
    """What tells rows of figures apart, and names who they are of."""
    told = _telling_apart(fields)
    apart = rows_apart(table, fields) if not told else ""
    return told + (apart or _naming(fields, ids))


def _naming(fields: Any, ids: Sequence[str]) -> str:
    """The column that may name the models of rows of figures, where none is called
    so."""
    if not ids or {"model"} & {*fields.run, *fields.document}:
        return ""
    return f"[run] model = {toml_text(ids[0])} if it names those, and "


def _further(table: TableProfile, values: Sequence[ColumnProfile]) -> str:
    """The numbers beside the first of some, in the same object, which may be figures
    as well, as a line of a mapping goes on to say."""
    beside = [
        toml_text(own.path)
        for own in table.columns
        if values
        and own.parents
        and (own.parents == values[0].parents or is_metric(own.name))
        and own.is_number
        and own not in values
        and grade_of(own.name) is not Grade.NEVER
    ]
    if not beside:
        return ""
    more = f" … ({len(beside)} in all)" if len(beside) > _FURTHER else ""
    return f"; one more for each of {', '.join(beside[:_FURTHER])}{more}"


def _as_published(
    values: Sequence[ColumnProfile], before: str, named: ColumnProfile | None
) -> str:
    if not values:
        return before
    metric = toml_text(values[0].name if is_metric(values[0].name) else "score")
    if named is not None:
        metric = inline_table({"path": named.path})
    return (
        f"{before}[[published]] metric = {metric}, value = {toml_text(values[0].path)}"
    )


#: Further figures that a line names.
_FURTHER = 8
#: Models that a question shows.
_SHOWN = 3


def _names_rows(column: ColumnProfile) -> bool:
    """True if a column has another name in each row."""
    return column.kind == "text" and column.is_unique and not column.nulls


def _different(
    table: TableProfile, columns: Sequence[ColumnProfile]
) -> list[ColumnProfile]:
    """The columns that do not say what one before them says in each row."""
    found: dict[tuple[str, ...], ColumnProfile] = {}
    for column in columns:
        found.setdefault(tuple(map(str, table.values(column))), column)
    return [*found.values()]


def of_models(table: TableProfile, fields: Fields) -> Iterator[Choice]:
    """Which column names the models, where none is called so, and some are called as
    models of something are: ``source_model``, ``model_returned``."""
    if {"model"} & {*fields.run, *fields.document}:
        return
    taken = {*fields.taken, *fields.scorers.paths}
    named = [
        column
        for column in table.columns
        if column.path not in taken and names_several_models(column)
    ]
    if any(_names_rows(column) for column in table.columns):
        named = [column for column in named if not column.nulls]
    named = _different(table, named)
    if not named:
        return
    shown = []
    for column in named:
        models = ", ".join(map(str, column.values[:_SHOWN]))
        shown.append(f"{toml_text(column.path)} ({models})")
    yield Choice(
        "which column names the models that were evaluated",
        (*shown, "none of them: all rows are of one model"),
        (
            *(f"[run] model = {toml_text(column.path)}" for column in named),
            "leave it out of [run], and say --set model=NAME",
        ),
    )


def of_record_paths(table: TableProfile, fields: Fields) -> Iterator[Choice]:
    """Choices on what a document holds beside the records that a mapping takes."""
    location = table.location
    if location.alternatives:
        places = (location.at, *location.alternatives)
        yield Choice(
            f"which of {listed(map(toml_text, places), 8)} hold the samples: all have "
            "the same fields",
            tuple(f"{toml_text(path)} alone" for path in places),
            tuple(f"[rows] at = {toml_text(path)}" for path in places),
        )
    for column in table.columns:
        is_key = column.path.lstrip("^") == "@key" != column.path
        is_told = column.path in fields.reasons
        if is_key and not is_told and not _says_again(table, column):
            yield _what_keys_name(column, table, fields)
    if location.parallel:
        paths = ", ".join(
            toml_text(f"$.{path}[@key]") for path in location.parallel[:8]
        )
        folder = location.at.removesuffix("{}").rpartition(".")[0]
        names = [
            path.rpartition(".")[2].strip('"')
            for path in (location.at.removesuffix("{}"), *location.parallel)
        ]
        of_models = ("each a model",) * are_models(names)
        by_model = (
            f'[rows] at = {toml_text(f"{folder}{{}}{{}}")}, [run] model = "^@key"'
        )
        yield Choice(
            f"what {listed(map(toml_text, location.parallel), 8)} hold, by the same "
            f"keys as {toml_text(location.at)}",
            (*of_models, "further columns of the table", "something else"),
            (
                *([by_model] if of_models else []),
                f"{paths} in [run], [sample] or [metadata], as their names say",
                "leave them out",
            ),
        )


#: Keys from which on they may be prompts of several records each.
_KEYS = 8


def _what_keys_name(keys: ColumnProfile, table: TableProfile, fields: Fields) -> Choice:
    """What keys above the records name; of many without an id, each may be a prompt."""
    named = toml_text(keys.path)
    is_named = bool({"prompt_id", "text"} & {*fields.sample})
    may_ask = (
        len(keys.values) >= _KEYS and not is_named and len(keys.values) < table.rows
    )
    as_prompts = f"[sample] prompt_id = {named}, and say --on-duplicate draws"
    return Choice(
        f"what the keys {listed([toml_text(str(key)) for key in keys.values], 4)} "
        "above the records name",
        (
            "models",
            "benchmarks",
            "a property of the prompts",
            *(["prompts, whose records are generations or tests"] if may_ask else []),
        ),
        (
            f"[run] model = {named}",
            f"[run] benchmark = {named}",
            f"[metadata] group = {named}",
            *([as_prompts] if may_ask else []),
        ),
    )


#: Files beside one from which on each may hold a prompt, and its rows at most.
_FILES, _ROWS = 5, 20


def of_files(table: TableProfile, fields: Fields) -> Iterator[Choice]:
    """The choice of whether each file is a prompt, where many of few rows lie side by
    side and no row names a prompt."""
    is_small = table.rows <= _ROWS and not table.is_flat
    if not is_small or {"prompt_id", "text"} & {*fields.sample}:
        return
    n_files = count_beside(table.path)
    if n_files < _FILES:
        return
    numbers = _numbers_of_file(table)
    value = toml_text(numbers[0] if numbers else "PATH")
    pattern = f"(?P<model>[^/]+)/(?P<task>[^/]+){re.escape(table.path.suffix)}"
    yield Choice(
        f"what each file is ({n_files} lie beside this one)",
        (
            f"one prompt, of which {' or '.join(numbers[:4]) or 'a number'} is the "
            "score",
            "a run, whose rows are the prompts",
        ),
        (
            f'files = ["*{table.path.suffix}"], together = true, [path] pattern = '
            f"'{pattern}', [sample] prompt_id = {{ group = \"task\" }}, [[scores]] "
            f'metric = "score", value = {value} (or {{ quotient = [EARNED, POSSIBLE] '
            "}), without [rows]",
            "leave [rows] and [sample] as they are",
        ),
    )


def _numbers_of_file(table: TableProfile) -> list[str]:
    """Paths of the numbers that a file states once."""
    paths = [
        path.removeprefix("$.")
        for path, value in table.document.items()
        if is_number(value)
    ]
    if table.is_object:
        paths += [column.path for column in table.columns if column.is_number]
    named = [path for path in paths if is_metric(path.replace(".", "_"))]
    return named or paths


def _says_again(table: TableProfile, keys: ColumnProfile) -> bool:
    """True if texts of the records tell apart what the keys above them do."""
    by_key = table.values(keys)
    return any(
        len(column.values)
        == len(keys.values)
        == len({*zip(by_key, map(str, table.values(column)), strict=True)})
        for column in table.columns
        if column is not keys and column.kind == "text"
    )
