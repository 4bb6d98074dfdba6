"""Which column of a table names its prompts, as its rows say."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.importers.tabular.column_names import (
    ID_NAMES,
    SAMPLE_NAMES,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.looks import are_times, is_long, is_verdict
from warehouse.importers.tabular.evidence import Evidence, Rows

#: Prompts of which a table needs so many, before its rows say which column names them.
_PROMPTS = 10

#: Endings of the names of ids.
_IDS = frozenset("id ids idx index nr no number key uid uuid qid".split())


def evidence_on(
    rows: Rows, columns: Sequence[ColumnProfile], fields: Fields
) -> Evidence:
    """What the rows say, by the column that names prompts best."""
    models = [fields.run[name] for name in ("model",) if name in fields.run]
    told = (fields.metric, fields.filter, *fields.scorers.columns)
    models += [column for column in told if column is not None]
    bare = Evidence(rows, models)
    ids = fields.sample.get("prompt_id")
    text = fields.sample.get("text")
    named = [column for column in (ids, text) if column is not None]
    keys = [column for column in named if bare.names_prompts(column)]
    if not keys:
        keys = sorted(
            (column for column in columns if _may_name_prompts(bare, column, fields)),
            key=_unlikeliness,
        )
    if not keys or is_row_number(keys[0]):
        keys = _with_draws(bare, columns, fields) or keys
    if not keys:
        # several answers of one model, say
        keys = [column for column in reversed(named) if not column.is_unique]
    return Evidence(rows, models, keys[:1])


def is_row_number(column: ColumnProfile) -> bool:
    """True if keys of records are numbers of rows."""
    return column.path == "@key" and column.is_counted


def _with_draws(
    evidence: Evidence, columns: Sequence[ColumnProfile], fields: Fields
) -> list[ColumnProfile]:
    """The column that names prompts of which each model has equally many rows."""
    found = []
    for column in columns:
        if not _is_free_of_prompt(column, fields):
            continue
        n_draws = evidence.repeats(column)
        if n_draws and len(column.values) >= max(_PROMPTS, n_draws):
            found.append((n_draws, _unlikeliness(column), column))
    if not found:
        return []
    return [min(found, key=lambda item: item[:2])[2]]


def _is_free_of_prompt(column: ColumnProfile, fields: Fields) -> bool:
    """True if no name says of a column that it is something else than a prompt."""
    others = {column.path for column in fields.run.values()} | fields.scorers.paths
    others |= {
        column.path for column in (fields.metric, fields.filter) if column is not None
    }
    others |= {
        column.path
        for name, column in fields.sample.items()
        if name not in ("prompt_id", "text")
    }
    is_of_prompts = column.path not in others and not are_times(column)
    return is_of_prompts and column.kind not in ("list", "object", "true/false")


def _may_name_prompts(
    evidence: Evidence, column: ColumnProfile, fields: Fields
) -> bool:
    if not _is_free_of_prompt(column, fields) or len(column.values) < _PROMPTS:
        return False
    return _may_be_ids(column) and evidence.names_prompts(column)


def _may_be_ids(column: ColumnProfile) -> bool:
    """True if values may name something: texts, and numbers that count or that are
    called as ids; others are sizes."""
    is_called = bool({*words_of(column.name)[-1:]} & _IDS)
    is_whole = all(number.is_integer() for number in column.numbers)
    is_size = column.is_number and not column.is_counted and not is_called
    return is_whole and not is_size


def _unlikeliness(column: ColumnProfile) -> tuple[bool, bool, bool, int]:
    """Evidence against a column as the one that names prompts, the strongest first."""
    is_named = plain_name(column.name) in (*ID_NAMES, *SAMPLE_NAMES["prompt_id"])
    is_called = bool({*words_of(column.name)[-1:]} & _IDS)
    return (
        not (is_named or is_called),
        is_long(column),
        column.is_counted,
        column.depth,
    )


def take_prompts(evidence: Evidence, fields: Fields) -> None:
    """The column that names prompts by the rows, where names say none or a wrong
    one."""
    key = evidence.prompts[0]
    named = fields.sample.get("prompt_id")
    if key in fields.sample.values():
        if named is not None and named is not key and _is_of_row(evidence, named):
            del fields.sample["prompt_id"]
            fields.why_not[named.path] = "prompt_id: another in each row"
        return
    if named is not None and not _is_of_row(evidence, named):
        return
    if is_verdict(key):
        return
    fields.forget(key)
    if named is not None:
        fields.why_not[named.path] = "prompt_id: another in each row"
        del fields.sample["prompt_id"]
    if is_long(key) and "text" not in fields.sample:
        fields.sample["text"] = key
    else:
        fields.sample["prompt_id"] = key
    fields.say(key, f"prompt: {_how_many(evidence)}")


def _is_of_row(evidence: Evidence, column: ColumnProfile) -> bool:
    """True if a column has other values in all rows, of all models."""
    return evidence.n_differing(column) == evidence.n_repeated


def _how_many(evidence: Evidence) -> str:
    if evidence.rows.n_files > 1:
        return f"{evidence.n_repeated} also stand in files beside this one"
    return f"{evidence.n_repeated} stand in rows of several models"
