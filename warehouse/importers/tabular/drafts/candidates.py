"""Columns of a table that may hold scores of prompts, as a draft takes them: by what
their names say, and as far as the rows allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from warehouse.importers.tabular.column_names import (
    SCORE_NAMES,
    Grade,
    grade_of,
    is_counted,
    is_flag,
    is_metric,
    looks_like_model,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import number_of
from warehouse.importers.tabular.drafts.answers import (
    LETTERS,
    LETTERS_AND_NUMBERS,
    WORDS,
    ScoreColumn,
    are_letters,
)
from warehouse.importers.tabular.drafts.boards import is_percentage, parts_in
from warehouse.importers.tabular.drafts.columns import Fields, says_something
from warehouse.importers.tabular.drafts.looks import is_verdict
from warehouse.importers.tabular.drafts.other_scores import (
    is_number,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.evidence import Standing, bounds
from warehouse.importers.tabular.verdict_words import (
    are_judged,
    numbers_of_letters,
    numbers_of_words,
)

#: Names that say nothing of what was measured, where the objects around them may.
_GENERIC = frozenset(
    "value score scores result results data metrics metric evaluation evaluations review sample_score".split()
)

#: Words of the names of verdicts.
_GRADED = frozenset(
    "grade graded verdict judgement judgment judged label score scored rating outcome "
    "correct correctness evaluation result hit bewertung urteil note оценка".split()
)

#: Points that a prompt gives, at most.
_MOST_POINTS = 100

#: Prompts of several rows from which on a column that is equal in all rows of each is no
#: score, by what its name says for scores.
_TELLING_PROMPTS = {
    Grade.NEVER: 2,
    Grade.POSSIBLE: 5,
    Grade.LIKELY: 5,
    Grade.USUAL: 20,
}

#: Rows from which on one number in all of them is no score.
_TELLING = 20


def candidates_in(table: TableProfile, fields: Fields) -> list[ScoreColumn]:
    """The columns that may hold scores, without full marks and properties of
    prompts."""
    candidates = _without_counts(table, list(_named(table, fields)), fields)
    candidates = _without_marks(candidates, fields)
    return _without_properties(candidates, fields)


def _named(table: TableProfile, fields: Fields) -> Iterator[ScoreColumn]:
    for column in (*table.columns, *_only_elements(table)):
        if column.path in fields.taken or not says_something(column):
            continue
        if column.kind in ("list", "object") or column.path.endswith("@key"):
            continue
        grade = _grade(column, fields)
        keys, meaning = _reading(column, grade, table)
        if are_letters(keys):
            grade = Grade.USUAL
        if not keys and column.kind in ("text", "mixed"):
            keys, meaning, grade = _of_verdicts(column, grade, fields)
        if why := _why_no_score(column, grade, fields):
            if grade >= Grade.LIKELY or column.is_number:
                fields.why_not.setdefault(column.path, f"score: {why}")
            continue
        if grade is Grade.NEVER or not _may_be_read(column, grade, keys, fields):
            continue
        if column.path.startswith("^.") or is_flag(column.name):
            grade = min(grade, Grade.POSSIBLE)
        figures = means(column, keys, fields.run.get("model"))
        metric = _metric(column, fields)
        yield ScoreColumn(column, metric, grade, keys, meaning, figures)


def _without_counts(
    table: TableProfile, candidates: Sequence[ScoreColumn], fields: Fields
) -> list[ScoreColumn]:
    """The candidates without numbers of which another is the share: how many of all
    cases were solved, beside the rate."""
    shares = [c.column for c in candidates if max(c.column.numbers, default=2) <= 1]
    counts = {count.path: share for share, _, count in parts_in(table, shares)}
    kept = []
    for candidate in candidates:
        column = candidate.column
        if column.path in counts and max(column.numbers) > 1:
            share = counts[column.path].path
            fields.why_not[column.path] = (
                f"score: a count, of which {share} is the rate"
            )
        else:
            kept.append(candidate)
    return kept


def _without_marks(
    candidates: Sequence[ScoreColumn], fields: Fields
) -> list[ScoreColumn]:
    """The candidates without full marks: what another of them reaches at most in each
    row, and what does not differ between models."""
    kept = []
    for candidate in candidates:
        column = candidate.column
        is_whole = all(number.is_integer() for number in column.numbers)
        is_whole = is_whole and not is_percentage(column.name)
        is_outcome = fields.evidence.standing_at(column.path) is Standing.OUTCOME
        points = [
            other.column
            for other in candidates
            if other is not candidate
            and other.grade >= Grade.LIKELY
            and _may_be_points(other.column, column)
        ]
        if is_whole and not is_outcome and points:
            fields.marks[points[0].path] = column
            fields.why_not[column.path] = f"score: full marks of {points[0].path}"
        else:
            kept.append(candidate)
    return kept


def _may_be_points(column: ColumnProfile, marks: ColumnProfile) -> bool:
    """True if a column may hold points of full marks: not in 0 to 1, and at most
    these."""
    return max(column.numbers, default=0) > 1 and bounds(column, marks)


def _without_properties(
    candidates: Sequence[ScoreColumn], fields: Fields
) -> list[ScoreColumn]:
    """The candidates without what is equal in all rows of each prompt, where another
    differs: files that hold the same twice say nothing."""
    evidence = fields.evidence
    standings = [evidence.standing_at(c.column.path) for c in candidates]
    if Standing.OUTCOME not in standings:
        return list(candidates)
    kept = []
    for candidate, standing in zip(candidates, standings, strict=True):
        if standing is Standing.OF_PROMPT and candidate.grade < Grade.USUAL:
            fields.why_not[candidate.column.path] = f"score: {standing.value}"
        else:
            kept.append(candidate)
    return kept


#: Models of which a reading says the figures.
_SHOWN_MODELS = 3


def means(
    column: ColumnProfile, keys: dict[str, Any], model: ColumnProfile | None
) -> str:
    """The mean of a column of each of a few models, as a mapping would give it; empty
    where its numbers are read otherwise than word by word."""
    words = keys.get("values")
    if words is None and (keys or not column.is_number):
        return ""
    given = [words.get(str(v)) if words else number_of(v) for v in column.values]
    numbers = [n if isinstance(n, int | float) else None for n in given]
    if any(number is None for number in numbers):
        return ""
    by_row = np.append(np.array(numbers, float), np.nan)[column.codes]
    if model is None or len(model.values) < 2 or model.codes.size != by_row.size:
        return f"mean {np.nanmean(by_row):.4g}" if column.codes.size > 1 else ""
    shown = []
    for number, name in enumerate(model.values[:_SHOWN_MODELS]):
        rows = by_row[model.codes == number]
        if not np.isnan(rows).all():
            shown.append(f"{name} {np.nanmean(rows):.4g}")
    return ", ".join(shown)


def _grade(column: ColumnProfile, fields: Fields) -> Grade:
    """How much the name of a column says for scores, and what it holds."""
    if column.path in ("@", "[]"):
        return Grade.LIKELY
    grade = grade_of(column.name, column.parents)
    if grade is Grade.LIKELY and _is_no_rate(column):
        return Grade.POSSIBLE
    if grade is Grade.NEVER and (_is_best(column) or _is_broken_total(column)):
        return Grade.POSSIBLE
    is_outcome = fields.evidence.standing_at(column.path) is Standing.OUTCOME
    is_graded = _is_graded(column)
    may_be_scores = is_verdict(column) or are_ratings(column) or _is_unit(column, False)
    if is_outcome and is_graded and may_be_scores:
        return max(grade, Grade.LIKELY)
    is_result = plain_name(column.name) in ("result", "results")
    if grade is Grade.POSSIBLE and is_result and column.scores.is_truth:
        return Grade.LIKELY
    return grade


def _is_best(column: ColumnProfile) -> bool:
    """True if a column is called as the best of a metric, and holds shares: the highest
    reward of an episode."""
    first, *others = words_of(column.name) or [""]
    is_called = first in ("max", "best") and bool(others)
    return is_called and is_metric("_".join(others)) and _is_unit(column, False)


def _is_broken_total(column: ColumnProfile) -> bool:
    """True if a column is called a total, and holds shares: what several parts give
    together."""
    is_called = plain_name(column.name) in ("total", "sum", "overall")
    is_broken = any(0 < number < 1 for number in column.numbers)
    return is_called and is_broken and _is_unit(column, False)


def _numbers_rows(column: ColumnProfile) -> bool:
    """True if each of many rows has a number of its own."""
    return column.is_unique and column.rows >= _TELLING


#: Words of the names of metrics that are from 0 to 1, or percentages.
_RATES = frozenset("precision recall accuracy acc f1 em auc ndcg mrr".split())
#: Whole numbers up to which values are no percentages.
_NO_PERCENT = 10


def _is_no_rate(column: ColumnProfile) -> bool:
    """True if a column is called as a rate, and holds a few whole numbers above 1: the
    digits that an answer shall have, say."""
    numbers = column.numbers
    is_called = bool({*words_of(column.name)} & _RATES)
    are_whole = all(number.is_integer() for number in numbers)
    return is_called and are_whole and 1 < max(numbers, default=0) <= _NO_PERCENT


def _may_be_read(
    column: ColumnProfile, grade: Grade, keys: dict[str, Any], fields: Fields
) -> bool:
    """True if values are numbers of a range that fits what the name says."""
    if not column.is_number and not column.scores.is_truth and not keys:
        return False
    are_whole = all(number.is_integer() for number in column.numbers)
    if grade is Grade.POSSIBLE and are_whole and _numbers_rows(column):
        return False
    if grade is Grade.POSSIBLE:
        is_outcome = fields.evidence.standing_at(column.path) is Standing.OUTCOME
        return _is_unit(column, bool(keys)) or is_outcome and are_ratings(column)
    by_name = max(
        grade_of(column.name),
        Grade.USUAL if plain_name(column.name) in _GENERIC else Grade.NEVER,
    )
    # beside scores, and of no likely range
    is_beside = grade is Grade.USUAL and by_name < Grade.LIKELY
    return not is_beside or _is_unit(column, bool(keys))


def _only_elements(table: TableProfile) -> Iterator[ColumnProfile]:
    """Numbers that stand alone in a list each: ``[3.7]``."""
    if table.is_flat or table.is_object:
        return
    for column in table.columns:
        lists = [value for value in column.values if isinstance(value, list)]
        are_alone = [len(value) == 1 and is_number(value[0]) for value in lists]
        if lists and len(lists) == len(column.values) and all(are_alone):
            values = [value[0] for value in lists]
            yield replace(column, path=f"{column.path}[0]", values=values)


def _why_no_score(column: ColumnProfile, grade: Grade, fields: Fields) -> str:
    """What the rows say against a column of scores; nothing where they do not."""
    evidence = fields.evidence
    standing = evidence.standing_at(column.path.removesuffix("[0]"))
    least = _TELLING_PROMPTS[grade]
    is_told = evidence.n_repeated >= least
    is_truth = column.scores.is_truth or column.kind == "true/false"
    is_verdict_by_name = is_truth and grade >= Grade.LIKELY
    if is_told and standing is Standing.OF_PROMPT and not is_verdict_by_name:
        return str(standing.value)
    if is_told and standing is Standing.OF_MODEL:
        return str(standing.value)
    is_named = grade >= Grade.LIKELY or looks_like_model(column.name)
    may_be_all_right = is_truth and is_named
    is_constant = len(column.values) == 1
    is_sparse = 2 * column.nulls > column.rows
    may_be_scored = may_be_all_right and not is_sparse
    if is_constant and column.rows >= _TELLING and not may_be_scored:
        return str(Standing.CONSTANT.value)
    return ""


def _of_verdicts(
    column: ColumnProfile, grade: Grade, fields: Fields
) -> tuple[dict[str, Any], str, Grade]:
    """How words of verdicts are read, where the rows or the words themselves say that
    they are some."""
    is_outcome = fields.evidence.standing(column) is Standing.OUTCOME
    is_graded = _is_graded(column)
    numbers = numbers_of_words(column.values)
    if not numbers and (is_graded or is_outcome):
        numbers = numbers_of_letters(column.values)
    target = fields.sample.get("target")
    if not numbers or target is not None and _share_values(column, target):
        return {}, "", grade
    meaning = ", ".join(f"{word} = {number:g}" for word, number in numbers.items())
    keys = {"values": numbers}
    if is_graded or are_judged(column.values):
        return keys, meaning, max(grade, Grade.LIKELY)
    if is_outcome:
        return keys, meaning, max(grade, Grade.POSSIBLE)
    return keys, meaning, grade


def _is_graded(column: ColumnProfile) -> bool:
    """True if a column is called as verdicts are, and as no count of them."""
    return bool({*words_of(column.name)} & _GRADED) and not is_counted(column.name)


def _share_values(column: ColumnProfile, target: ColumnProfile) -> bool:
    """True if a column has the words of the right answers, as the answers of a model
    do."""
    words = {plain_name(str(value)) for value in column.values}
    right = {plain_name(str(value)) for value in target.values}
    return 2 * len(words & right) >= len(right)


def _reading(
    column: ColumnProfile, grade: Grade, table: TableProfile
) -> tuple[dict[str, Any], str]:
    texts = {str(value) for value in column.values}
    is_graded = grade is Grade.USUAL and column.parents or _is_of_inspect(column)
    if is_graded and texts <= {*LETTERS} and texts & {"C", "I"}:
        shown = ", ".join(
            f"{letter} = {LETTERS[letter]:g}" for letter in LETTERS if letter in texts
        )
        return {"values": LETTERS}, shown
    letters = set(column.scores.texts)
    if (
        grade is Grade.USUAL
        and letters <= {*LETTERS}
        and letters & {"C", "I"}
        and column.scores.binary
    ):
        shown = ", ".join(
            f"{letter} = {LETTERS[letter]:g}" for letter in LETTERS if letter in letters
        )
        return {"values": LETTERS_AND_NUMBERS}, f"{shown}; numbers as they stand"
    keys, meaning = column.reading(table.delimiter)
    if not keys and grade < Grade.USUAL and column.scores.is_marked:
        marks = [f"{mark:g}" for mark in sorted(column.scores.marks)]
        both = [text for mark in marks for text in (mark, f"{mark}.0")]
        return {"null": both}, f"{' and '.join(marks)} may mean no rating: left out"
    words = sorted(column.scores.texts)
    if (
        not keys
        and grade is Grade.USUAL
        and column.scores.numbers
        and 0 < len(words) <= WORDS
    ):
        if column.scores.unread(table.delimiter) is not None:
            return {}, ""
        return {"null": words}, f"{' and '.join(map(repr, words))} = missing"
    return keys, meaning


def _is_of_inspect(column: ColumnProfile) -> bool:
    """True if a column is called as ``samples_df`` of Inspect calls those of
    scorers."""
    return not column.parents and column.name.startswith("score_")


def _is_unit(column: ColumnProfile, is_read: bool) -> bool:
    """True if numbers of which the name says nothing may be scores: truth values,
    shares, percentages."""
    numbers = column.numbers
    return (
        is_read
        or column.scores.is_truth
        or bool(numbers)
        and min(numbers) >= 0
        and max(numbers) <= 1
    )


def are_ratings(column: ColumnProfile) -> bool:
    """True if numbers of which the name says nothing may be points or ratings: up to 10,
    or up to 100 where few differ."""
    numbers = [number for number in column.numbers if number not in (-1, -9, -99)]
    if not numbers or min(numbers) < 0:
        return False
    is_whole = all(number.is_integer() for number in numbers)
    most = _MOST_POINTS if is_whole else _MOST_POINTS / 10
    return max(numbers) <= most and len(numbers) <= _MOST_POINTS + 1


def _metric(column: ColumnProfile, fields: Fields) -> str:
    if fields.metric is not None:
        return ""
    name = plain_name(column.name)
    if column.path in ("@", "[]"):
        return "score"
    if name not in _GENERIC:
        return SCORE_NAMES.get(name, column.name)
    around = [
        parent
        for parent in reversed(column.parents)
        if plain_name(parent) not in _GENERIC
    ]
    if around and column.parents[-1] == around[0]:
        return around[0]
    return SCORE_NAMES.get(name, "score")
