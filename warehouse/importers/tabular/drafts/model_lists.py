"""Models that name the records of a document, or what they lie in: elements of a list
that is called ``models``, keys that are names of models."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warehouse.importers.tabular.column_names import (
    MODEL_LABELS,
    are_models,
    are_numbered,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.profile import TableProfile

#: A list or a map in the path of records: its name, and which of the two it is.
_CONTAINER = re.compile(r'([^."\[\]{}]+)"?(\[\]|\{\})')
#: Names of what names an element, the likelier first.
_NAMES = ("model_name", "model_id", "name", "display_name", "id", "label", "key")
#: Characters of a name.
_NAME = 100


def name_in_list(
    table: TableProfile, columns: Sequence[ColumnProfile]
) -> ColumnProfile | None:
    """The column that names the elements of a list of models, which the records are or
    lie in; None where they lie in none, or nothing names each of them."""
    prefix = _level_of_models(table.location.at)
    if prefix is None:
        return None
    for name in _NAMES:
        for column in columns:
            is_there = column.path.rpartition(".")[0] == prefix and not column.parents
            if is_there and plain_name(column.name) == name and _is_name(column):
                return column
    return None


def keys_of_models(
    table: TableProfile, columns: Sequence[ColumnProfile]
) -> ColumnProfile | None:
    """The keys of the records, where most are names of models, with a vendor before
    them or not; None where there are none, or they are numbered as prompts are."""
    if table.location.at.count("{}") != 1 or table.location.draws:
        return None
    for column in columns:
        texts = [str(value) for value in column.values]
        bare = [text.rpartition("/")[2] for text in texts]
        if column.path == "@key" and are_models(bare) and not are_numbered(texts):
            return column
    return None


def _level_of_models(at: str) -> str | None:
    """What paths of the fields of a model begin with, by the path of the records: ``""``
    where these are models, ``^`` where they lie in one; None where they do not."""
    containers = _CONTAINER.findall(at)
    levels = ["", "^"]
    for level, (name, kind) in zip(levels, reversed(containers), strict=False):
        if kind == "[]" and MODEL_LABELS.fullmatch(plain_name(name)):
            return level
    return None


def _is_name(column: ColumnProfile) -> bool:
    """True if values are short texts."""
    is_text = column.kind == "text" and not column.nulls
    return is_text and all(len(str(value)) <= _NAME for value in column.values)
