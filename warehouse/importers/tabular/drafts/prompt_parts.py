"""Prompts that no column names, and several together do: the scenario and its turn, the
kind of a case and its number. Each model has each of them once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from warehouse.importers.tabular.column_names import (
    SAMPLE_NAMES,
    Grade,
    grade_of,
    is_metric,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.condition_names import is_condition, is_of_outcome
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.looks import are_times, is_long, is_verdict
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import toml_text
from warehouse.importers.tabular.evidence import Evidence

#: Parts of a prompt at most, columns that are tried, and prompts at least.
_TOGETHER, _TRIED, _PROMPTS = 4, 10, 8
#: Share of all pairs of a model and a prompt that have a row, at least.
_CELLS = 0.9
#: The greatest step of ratings.
_STEPS = 10
#: Words of names of columns that say which prompt a row is about, or a part of it.
_OF_PROMPTS = frozenset(
    "scenario case instance turn turns class category type task question item example "
    "problem puzzle story topic subject language lang level difficulty domain document "
    "doc id index idx number no position round".split()
)
#: Words of names of numbers that measure something.
_MEASURES = frozenset(
    "ms s sec seconds time latency duration tokens cost usd length len chars words steps "
    "calls count counts n num size tries retries".split()
)


def take_parts(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """Take columns that name prompts together, where their names say that they do; else
    remember them for the question what rows are."""
    found = _parts_in(table, columns, fields)
    if not found:
        return
    fields.may_be_parts = found
    if not all({*words_of(own.name)} & _OF_PROMPTS for own in found):
        return
    fields.parts = found
    together = " and ".join(own.path for own in found)
    for column in found:
        fields.forget(column)
        fields.say(column, f"prompt: {together} together, each once a model")
    evidence = fields.evidence
    fields.evidence = Evidence(evidence.rows, evidence.models, [*found])


def template_of(parts: Sequence[ColumnProfile]) -> str:
    """The expression for the id that several columns give together."""
    template = " ".join(f"{{{own.path}}}" for own in parts)
    return f"{{ template = {toml_text(template)} }}"


def _parts_in(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> tuple[ColumnProfile, ...]:
    """The fewest columns that name prompts of which each model has each once, or once
    under each condition; none where rows may be figures."""
    model = fields.run.get("model")
    is_named = bool({"prompt_id", "text", "position", "draw"} & {*fields.sample})
    if model is None or len(model.values) < 2 or is_named or fields.metric is not None:
        return ()
    if table.location.draws or fields.scorers.columns or model.nulls:
        return ()
    if not _has_scores_of_prompts(table):
        return ()
    free = [own for own in columns if own not in fields.run.values()]
    tried = [own for own in free if _may_be_part(own)]
    conditions = [own for own in tried if is_condition(own.name)]
    tried = [own for own in tried if own not in conditions][:_TRIED]
    for others in ([], conditions) if conditions else ([],):
        for parts in _combined(tried):
            if _tell(model, parts, others):
                return parts
    return ()


def _combined(columns: Sequence[ColumnProfile]) -> Iterator[tuple[ColumnProfile, ...]]:
    """Some columns together, two of them first."""
    for number in range(2, _TOGETHER + 1):
        yield from combinations(columns, number)


def _has_scores_of_prompts(table: TableProfile) -> bool:
    """True if columns are right or wrong, or ratings, and none is a mean."""
    named = [own for own in table.columns if is_metric(own.name) and own.is_number]
    if any(map(_is_broken, named)):
        return False
    numbers = [own for own in table.columns if own.is_number]
    are_steps = [own for own in named if max(own.numbers, default=99) <= _STEPS]
    return bool(are_steps) or any(map(is_verdict, (*named, *numbers)))


def _is_broken(column: ColumnProfile) -> bool:
    """True if a column has fractions, as means have."""
    return any(number % 1 for number in column.numbers)


def _may_be_part(column: ColumnProfile) -> bool:
    """True if a column has a few values, each in several rows, that no name calls a
    measure, a score or an answer."""
    if not 2 <= len(column.values) <= column.rows // 2 or column.nulls:
        return False
    if column.kind not in ("text", "number", "0/1", "true/false"):
        return False
    words = {*words_of(column.name)}
    if is_metric(column.name) or is_of_outcome(column.name) or words & _MEASURES:
        return False
    named = (*SAMPLE_NAMES["target"], *SAMPLE_NAMES["response"])
    if plain_name(column.name) in named or grade_of(column.name) >= Grade.LIKELY:
        return False
    return not _is_broken(column) and not is_long(column) and not are_times(column)


def _tell(
    model: ColumnProfile,
    parts: Sequence[ColumnProfile],
    conditions: Sequence[ColumnProfile],
) -> bool:
    """True if parts tell apart the rows of each model and condition, and models have
    nearly all of them in common."""
    prompts = _codes(parts)
    n_prompts = np.unique(prompts).size
    runs = _codes([model, *conditions])
    cells = np.unique(np.stack([runs, prompts]), axis=1).shape[1]
    is_told = cells == runs.size
    n_runs = np.unique(runs).size
    return bool(
        is_told and n_prompts >= _PROMPTS and cells >= _CELLS * n_prompts * n_runs
    )


def _codes(
    columns: Sequence[ColumnProfile],
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """A number for each row, the same where all columns have the same values."""
    stacked = np.stack([own.codes for own in columns])
    found = np.unique(stacked, axis=1, return_inverse=True)[1]
    return found.reshape(-1)
