"""Subjects of stored figures: kinds of subjects, and their names, the same in every
store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.selection.conditions import Condition
from warehouse.records.canonical_json import short_digest

#: Kind of the subject of figures of all seeds and checkpoints of a recipe.
RECIPE = "recipe"
#: Kinds of the subjects of scores: a condition that is a row itself, a row over seeds
#: at one checkpoint, and a seed or checkpoint behind such a row.
CONDITION, ROW, PART = "condition", "row", "part"
#: Digits of the digest in a subject.
_KEY_LENGTH = 12


def subject_of(condition: Condition) -> str:
    """``model#`` and the head of the condition's key: readable, and the same in every
    store."""
    return f"{condition.model}#{condition.key[:_KEY_LENGTH]}"


def row_subject(model: str, settings: Sequence[Any]) -> str:
    """``model#`` and a digest of the settings that the seeds and checkpoints of a row
    share."""
    return f"{model}#{short_digest(list(settings))[:_KEY_LENGTH]}"


def model_of(subject: str) -> str:
    """The model that the subject of a condition or recipe names."""
    return subject.rpartition("#")[0]


def key_of(subject: str) -> str:
    """The head of the condition's key that a subject names."""
    return subject.rpartition("#")[2]


def pair_of(first: Condition, second: Condition) -> str:
    """Subject of a difference, first minus second."""
    return f"{subject_of(first)} - {subject_of(second)}"
