"""Columns that are called scores and say nothing of what is right: how sure a detector was,
beside a label and a flag, and whether a run came to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from warehouse.importers.tabular.column_names import words_of
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import number_of, text_of
from warehouse.importers.tabular.drafts.answers import ScoreColumn, of_equal_answers
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, inline_table, toml_text
from warehouse.importers.tabular.evidence import Standing

#: Models that a question names.
_SHOWN = 3


def of_detectors(
    table: TableProfile, fields: Fields, scores: Sequence[ScoreColumn]
) -> Choice | None:
    """Which column says what is right, where the one that is called a score is how sure
    a detector was, or some models have none at all; None where neither is so.

    Args:
        scores: the columns that are taken for scores.
    """
    if len(scores) != 1:
        return None
    score = scores[0].column
    flags = [*_flags(table, fields, score)]
    without = _models_without(score, fields.run.get("model"))
    is_sureness = any(_is_threshold(score, flag) for flag in flags)
    if not is_sureness and not (without and flags):
        return None
    target = fields.sample["target"]
    path = toml_text(score.path)
    why = f"{path} says how sure a flag is"
    if without:
        why = f"{path} is empty in all rows of {', '.join(without[:_SHOWN])}"
    equal = [f"{toml_text(own.path)} is right where it equals" for own in flags]
    return Choice(
        f"which column says what is right: {why}",
        (
            *(f"{words} {toml_text(target.path)}" for words in equal),
            f"{path} is the score, and rows without one have none",
        ),
        (
            *(
                f'[[scores]] metric = "exact_match", value = {_equal(own, target)}'
                for own in flags
            ),
            f"uncomment the [[scores]] and [metrics.NAME] of {path}",
        ),
    )


#: What columns are called that say whether a run came to its end.
_ENDS = frozenset(
    "success succeeded successful ok completed complete done finished".split()
)
#: Share of the rows in which a score and equal answers say the same, at most, for a
#: question.
_MOST = 0.95


def of_ends(
    table: TableProfile, fields: Fields, scores: Sequence[ScoreColumn]
) -> Choice | None:
    """What says what is right, where answers can be held against right ones, and the one
    column that is called a success says otherwise; None where it does not."""
    equal = of_equal_answers(table, fields)
    if len(scores) != 1 or not equal or not {*words_of(scores[0].column.name)} & _ENDS:
        return None
    score = scores[0].column
    response, target = fields.sample["response"], fields.sample["target"]
    verdicts = [number_of(value) for value in table.values(score)]
    pairs = zip(table.values(response), table.values(target), strict=True)
    are_equal = [str(text_of(one)) == str(text_of(other)) for one, other in pairs]
    alike = sum(a == b for a, b in zip(verdicts, are_equal, strict=True))
    if alike > _MOST * len(verdicts):
        return None
    path = toml_text(score.path)
    return Choice(
        f"which column says what is right: {path} may say that a run came to its end",
        (f"{path} says what is right", *(words for words, _ in equal)),
        (
            f"uncomment the [[scores]] and [metrics.NAME] of {path}",
            *(line for _, line in equal),
        ),
    )


def _flags(
    table: TableProfile, fields: Fields, score: ColumnProfile
) -> Iterator[ColumnProfile]:
    """Columns of two values that differ between rows of one prompt, beside a right
    answer of two values."""
    target = fields.sample.get("target")
    if target is None or not _is_of_two(target):
        return
    for column in table.columns:
        if column in (target, score) or column.path in fields.taken or column.nulls:
            continue
        is_outcome = fields.evidence.standing(column) is Standing.OUTCOME
        if is_outcome and _is_of_two(column):
            yield column


def _is_of_two(column: ColumnProfile) -> bool:
    """True if values are 0 and 1, or true and false."""
    return len(column.values) == 2 and {*map(number_of, column.values)} == {0, 1}


def _models_without(score: ColumnProfile, model: ColumnProfile | None) -> list[str]:
    """The models that have no score in any row, where others have one in all."""
    if model is None or not score.nulls or model.codes.size != score.codes.size:
        return []
    found = []
    for number, name in enumerate(model.values):
        filled = score.codes[model.codes == number] >= 0
        if filled.any() and not filled.all():
            return []
        if not filled.any():
            found.append(str(text_of(name)))
    return found


def _is_threshold(score: ColumnProfile, flag: ColumnProfile) -> bool:
    """True if a column is 1 just where broken scores exceed a threshold."""
    if not any(number % 1 for number in score.numbers):
        return False
    filled = score.codes >= 0
    values = np.array([number_of(value) for value in score.values], float)
    flags = np.array([number_of(value) for value in flag.values], float)
    by_row = values[score.codes[filled]]
    is_flagged = flags[flag.codes[filled]] == 1
    if not is_flagged.any() or is_flagged.all():
        return False
    return bool(by_row[is_flagged].min() > by_row[~is_flagged].max())


def _equal(column: ColumnProfile, target: ColumnProfile) -> str:
    """The expression that is 1 where two columns of 0 and 1 say the same."""
    sides = []
    for own in (column, target):
        numbers = {str(text_of(value)): number_of(value) for value in own.values}
        sides.append(inline_table({"path": own.path, "values": numbers}))
    return f"{{ equals = [{', '.join(sides)}], numeric = true }}"
