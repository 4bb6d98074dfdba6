"""Columns of a table without a mapping held against its rows: what is called a target
and differs between the answers to one prompt is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.column_names import (
    SAMPLE_NAMES,
    Guess,
    path_of,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import encode
from warehouse.importers.tabular.evidence import Evidence, Rows, Standing
from warehouse.importers.tabular.verdict_words import numbers_of_words

#: Names of targets that are also those of answers and verdicts.
_DOUBTFUL = frozenset({"label", "answer", "reference", "expected", "truth"})
#: Distinct texts, as a share of the rows, from which on they are no verdicts.
_TEXTS = 0.2


def is_doubtful(columns: Guess) -> bool:
    """True if the rows may contradict what the names of columns say."""
    target = plain_name(columns.sample.get("target", ""))
    return target in _DOUBTFUL and "model" in columns.run


def heeded(columns: Guess, view: RowView) -> tuple[Guess, str]:
    """The columns as the rows allow, and a note on what is another than its name says.

    Args:
        columns: what the names say.
        view: the first rows.
    """
    named = {name: _profile(column, view) for name, column in columns.sample.items()}
    model = _profile(columns.run["model"], view)
    rows = _rows([model, *named.values()], view)
    bare = Evidence(rows, [model])
    prompts = [
        named[name]
        for name in ("prompt_id", "text")
        if name in named and bare.names_prompts(named[name])
    ]
    evidence = Evidence(rows, [model], prompts[:1])
    target = named["target"]
    if evidence.standing(target) is not Standing.OUTCOME:
        return columns, ""
    sample = {name: own for name, own in columns.sample.items() if name != "target"}
    said = [value for value in target.values if value is not None]
    is_verdict = bool(numbers_of_words(said))
    are_texts = not is_verdict and len(said) >= _TEXTS * view.size
    is_response = are_texts and "response" not in sample
    unused = columns.unused
    if is_response:
        sample["response"] = target.name
    else:
        unused = (*unused, target.name)
    other = _other_target(columns, evidence, view)
    if other:
        sample["target"] = other
        unused = tuple(name for name in unused if name != other)
    taken = "the response" if is_response else "no target"
    note = (
        f"{target.name} is {taken}: it differs between models in "
        f"{evidence.n_differing(target)} of {evidence.n_repeated} prompts"
    )
    return replace(columns, sample=sample, unused=unused), note


def _other_target(columns: Guess, evidence: Evidence, view: RowView) -> str:
    """Another column that is called a target, and is equal for all models."""
    by_name = {plain_name(name): name for name in columns.unused}
    for name in SAMPLE_NAMES["target"]:
        if name not in by_name:
            continue
        other = _profile(by_name[name], view)
        rows = Rows(
            {**evidence.rows.codes, other.path: other.codes}, evidence.rows.files
        )
        held = Evidence(rows, evidence.models, evidence.prompts)
        if held.standing(other) is Standing.OF_PROMPT:
            return by_name[name]
    return ""


def _profile(column: str, view: RowView) -> ColumnProfile:
    path = path_of(column)
    codes, values = encode(view.column(path), view.size)
    codes = np.array(codes, np.int64)
    for number, value in enumerate(values):
        if value is None:
            codes[codes == number] = -1
    nulls = int((codes < 0).sum())
    return ColumnProfile(column, path, view.size, nulls, values, (), codes)


def _rows(columns: list[ColumnProfile], view: RowView) -> Rows:
    codes = {column.path: column.codes for column in columns}
    return Rows(codes, Evidence.one_file(view.size))
