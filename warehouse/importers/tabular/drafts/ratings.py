"""Ratings of one scale: several columns of steps, each of which says something else of one
response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warehouse.importers.tabular.column_names import Grade, grade_of, plain_name
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.answers import ScoreColumn
from warehouse.importers.tabular.drafts.candidates import means
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.system_questions import are_by_model


def ratings_alike(
    first: ScoreColumn, candidates: Sequence[ScoreColumn]
) -> list[ScoreColumn]:
    """Ratings of the same scale as one of them, beside it: what one judge says of one
    response, each a metric of its own."""
    column = first.column
    if not _are_few_steps(column):
        return []
    return [
        other
        for other in candidates
        if _are_few_steps(other.column)
        and other.column.parents == column.parents
        and min(other.column.numbers) >= 0
        and _scale(other.column) == _scale(column)
    ]


#: What one of several ratings of a response is called, that is no sum of them.
_ASPECTS = frozenset({"accuracy", "correctness", "correct"})
#: Columns that are aspects of one response, or say them together, at least.
_FEWEST_ASPECTS = 3


def aspects_rated(
    usual: Sequence[ScoreColumn], candidates: Sequence[ScoreColumn]
) -> list[ScoreColumn]:
    """Ratings of one scale beside one that is called as a score is and is one aspect of
    the response, as ``accuracy`` beside ``clarity``; those that are no steps follow."""
    first = usual[0]
    if (
        plain_name(first.column.name) not in _ASPECTS
        or max(first.column.numbers, default=0) <= 1
    ):
        return []
    ratings = ratings_alike(first, candidates)
    if len(ratings) < 2:
        return []
    beside = [own for own in candidates if own not in ratings]
    scale = _scale(first.column)
    sums = [
        own
        for own in beside
        if own.column.numbers and 1 < max(own.column.numbers) <= scale
    ]
    found = [*usual, *(own for own in ratings if own not in usual), *sums]
    return found if len(found) >= _FEWEST_ASPECTS else []


#: Steps of scales of ratings.
_FEW_STEPS, _STEPS = 5, 10


def are_ratings(scores: Sequence[ScoreColumn]) -> bool:
    return bool(scores) and all(_are_few_steps(score.column) for score in scores)


def are_of_one_scale(candidates: Sequence[ScoreColumn]) -> bool:
    """True if those that are called as scores are ratings of one scale, and not of one
    model each."""
    rated = [c for c in candidates if c.grade >= Grade.LIKELY]
    if not rated or are_by_model(rated):
        return False
    if any(own.grade is Grade.USUAL for own in rated):
        return False
    are_steps = all(_are_steps(c.column) for c in rated)
    return are_steps and len({_scale(c.column) for c in rated}) == 1


def ratings_beside(
    table: TableProfile,
    fields: Fields,
    candidates: Sequence[ScoreColumn],
    others: Sequence[ScoreColumn],
) -> list[ScoreColumn]:
    """Columns beside ratings that are steps of the same scale, and of which neither
    names nor rows say anything; and the sum of all.

    Args:
        others: the candidates that are not chosen.
    """
    rated = [c.column for c in candidates if c.grade is Grade.LIKELY]
    scales = {(_scale(c), c.parents) for c in rated if _are_few_steps(c)}
    known = {c.column.path for c in candidates} | fields.taken | {*fields.why_not}
    known -= {c.column.path for c in others if c.grade is Grade.POSSIBLE}
    beside = [
        column
        for column in table.columns
        if column.path not in known
        and grade_of(column.name, column.parents) is Grade.POSSIBLE
        and _are_steps(column)
        and (_scale(column), column.parents) in scales
    ]
    if len(beside) + len(rated) > 1:
        beside += _sums_of(table, [*rated, *beside])
    model = fields.run.get("model")
    return [
        ScoreColumn(own, own.name, Grade.POSSIBLE, {}, "", means(own, {}, model))
        for own in beside
    ]


def _sums_of(
    table: TableProfile, ratings: Sequence[ColumnProfile]
) -> list[ColumnProfile]:
    """The columns that are the sum of ratings in each row, those included that are one
    number in all rows."""
    paths = {column.path for column in ratings}
    if not all(column.is_number and not column.nulls for column in ratings):
        return []
    if not ratings:
        return []
    sums = np.sum([column.by_row for column in ratings], axis=0)
    full = [c.numbers[0] for c in table.columns if c.is_number and len(c.values) == 1]
    return [
        column
        for column in table.columns
        if column.is_number
        and not column.nulls
        and column.path not in paths
        and len(column.values) > 1
        and _rest_of(sums, column.by_row) in (0, *full)
    ]


def _rest_of(
    sums: np.ndarray[Any, np.dtype[np.float64]],
    totals: np.ndarray[Any, np.dtype[np.float64]],
) -> float | None:
    """What totals have beyond sums, where it is one number in all rows."""
    rests = np.unique(np.round(totals - sums, 6))
    return float(rests[0]) if rests.size == 1 else None


def _scale(column: ColumnProfile) -> int:
    """The greatest step of the usual scale that ratings are of."""
    return _FEW_STEPS if max(column.numbers) <= _FEW_STEPS else _STEPS


def _are_few_steps(column: ColumnProfile) -> bool:
    """True if values are steps of a scale, and more than right and wrong."""
    return _are_steps(column) and sum(number >= 0 for number in column.numbers) > 2


def _are_steps(column: ColumnProfile) -> bool:
    """True if several values are numbers from 0 to 10 at most, whole or halves, and not
    just 0 and 1."""
    numbers = [number for number in column.numbers if number >= 0]
    are_steps = all((2 * number).is_integer() for number in numbers)
    is_scale = len(numbers) > 1 and 1 < max(numbers) <= _STEPS
    return are_steps and is_scale and column.is_number
