"""Which column of a table names its prompts, as its rows say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warehouse.importers.tabular.column_names import (
    ID_NAMES,
    SAMPLE_NAMES,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.looks import are_times, is_long, is_verdict
from warehouse.importers.tabular.drafts.prompts import DRAWS, named_as
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
    draws = named_as([c for c in columns if c.is_number], DRAWS)
    for column in columns:
        if column is draws or not _is_free_of_prompt(column, fields):
            continue
        n_draws = evidence.repeats(column)
        is_told = draws is not None and column.kind == "text" and n_draws > 1
        is_numbered = is_told and _are_numbered_by(draws, column, n_draws, evidence)
        are_many = len(column.values) >= max(_PROMPTS, n_draws)
        if is_numbered or n_draws and are_many and _may_be_ids(column):
            found.append((n_draws, _unlikeliness(column), column))
    if not found:
        return []
    return [min(found, key=lambda item: item[:2])[2]]


def _are_numbered_by(
    draws: ColumnProfile | None,
    column: ColumnProfile,
    n_draws: int,
    evidence: Evidence,
) -> bool:
    """True if what is called draws numbers the rows of each value of a column."""
    if draws is None or len(draws.values) != n_draws:
        return False
    rows = evidence.combined([*evidence.models, column, draws])
    return int(np.unique(rows).size) == rows.size


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


#: Digits of numbers that may name something, whatever they are called.
_DIGITS = 4


def _may_be_ids(column: ColumnProfile) -> bool:
    """True if values may name something: texts, and numbers that count, that are called
    as ids, or of equally many digits, as those of issues are; others are sizes."""
    is_called = bool({*words_of(column.name)[-1:]} & _IDS)
    is_whole = all(number.is_integer() for number in column.numbers)
    digits = {len(str(int(number))) for number in column.numbers if is_whole}
    is_even = len(digits) == 1 and min(digits) >= _DIGITS
    is_size = column.is_number and not (column.is_counted or is_called or is_even)
    return is_whole and not is_size


def _unlikeliness(column: ColumnProfile) -> tuple[bool, bool, bool, bool, int]:
    """Evidence against a column as the one that names prompts, the strongest first."""
    is_named = plain_name(column.name) in (*ID_NAMES, *SAMPLE_NAMES["prompt_id"])
    is_called = bool({*words_of(column.name)[-1:]} & _IDS)
    return (
        not (is_named or is_called),
        is_long(column),
        column.is_number,
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
