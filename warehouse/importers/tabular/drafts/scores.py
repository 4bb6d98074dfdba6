"""Which columns of a table hold scores of prompts, as a draft takes them, and how sure
that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

from warehouse.importers.tabular.column_names import (
    Grade,
    grade_of,
    is_flag,
    looks_like_model,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import number_of
from warehouse.importers.tabular.drafts.answers import (
    ScoreColumn,
    ScoreColumns,
    compare,
)
from warehouse.importers.tabular.drafts.candidates import candidates_in, means
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.looks import is_verdict
from warehouse.importers.tabular.drafts.no_scores import of_detectors, of_ends
from warehouse.importers.tabular.drafts.other_scores import (
    OFFERED,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.ratings import (
    are_of_one_scale,
    are_ratings,
    aspects_rated,
    ratings_alike,
    ratings_beside,
)
from warehouse.importers.tabular.drafts.score_questions import (
    nothing,
    of_marks_beside,
    of_missing,
    sparse,
    which,
)
from warehouse.importers.tabular.drafts.system_questions import (
    are_by_model,
    are_systems,
    by_model,
    systems,
)
from warehouse.importers.tabular.drafts.systems_above import systems_above
from warehouse.importers.tabular.evidence import Standing

#: Share of rows without a value from which on a column may belong to rows of another
#: kind.
_SPARSE = 0.5


def scores_of(table: TableProfile, fields: Fields) -> ScoreColumns:
    """The scores of the rows of a table."""
    candidates = [
        own for own in candidates_in(table, fields) if not _was_set(own.column, fields)
    ]
    scores = _chosen(table, fields, candidates)
    others = [own for own in candidates if own not in scores.chosen]
    beside = ratings_beside(table, fields, candidates, others)
    if beside and scores.is_guess and are_ratings(scores.chosen):
        scores = ScoreColumns(choices=[which(table, fields, [*scores.chosen, *beside])])
    elif beside and not scores.chosen and are_of_one_scale(candidates):
        rated = [c for c in candidates if c.grade is Grade.LIKELY]
        scores = ScoreColumns(choices=[which(table, fields, [*rated, *beside])])
    paths = {own.column.path for own in beside}
    candidates = [own for own in candidates if own.column.path not in paths] + beside
    if not candidates:
        candidates = _outcomes(table, fields)
    used = {candidate.column.path for candidate in scores.chosen}
    rest = [candidate for candidate in candidates if candidate.column.path not in used]
    scores.offered = sorted(rest, key=lambda c: (-c.grade, c.column.depth))[:OFFERED]
    best = max((candidate.grade for candidate in candidates), default=Grade.NEVER)
    if best < Grade.LIKELY and not scores.chosen:
        compare(table, fields, scores)
    detected = of_detectors(table, fields, scores.chosen)
    detected = detected or of_ends(table, fields, scores.chosen)
    if detected is not None:
        chosen, scores.chosen = scores.chosen, []
        scores.offered = [*chosen, *scores.offered]
        scores.choices.append(detected)
    if not scores.chosen and not scores.is_compared and not scores.choices:
        scores.choices.append(nothing(table, fields, scores))
    scores.choices += of_missing(table, fields, scores)
    scores.choices += of_marks_beside(table, fields, scores)
    return scores


def _was_set(column: ColumnProfile, fields: Fields) -> bool:
    """True if a column is what was set, or has one value for each of its values."""
    was_set = fields.was_set
    if was_set is None or column is was_set or column.codes.size != was_set.codes.size:
        return column is was_set and was_set is not None
    if len(column.values) < 2:
        return False
    pairs = {*zip(was_set.codes.tolist(), column.codes.tolist(), strict=True)}
    return len(pairs) == len({*was_set.codes.tolist()})


def _is_one_of(
    table: TableProfile, candidate: ScoreColumn, others: Sequence[ScoreColumn]
) -> bool:
    return any(_are_equal(table, candidate, other) for other in others)


def _chosen(
    table: TableProfile, fields: Fields, candidates: Sequence[ScoreColumn]
) -> ScoreColumns:
    full = [
        candidate for candidate in candidates if candidate.column.coverage >= _SPARSE
    ]
    named = [candidate for candidate in candidates if candidate.grade >= Grade.LIKELY]
    usual = _highest(
        [candidate for candidate in full if candidate.grade is Grade.USUAL]
    )
    likely = [candidate for candidate in full if candidate.grade is Grade.LIKELY]
    if usual:
        higher = [c for c in likely if c.column.depth < usual[0].column.depth]
        rivals = [c for c in higher if not _is_one_of(table, c, usual)]
        if are_systems(usual):
            above = systems_above(table, usual)
            return ScoreColumns(choices=[above or systems(table, usual)])
        if are_by_model(usual):
            return ScoreColumns(choices=[by_model(usual)])
        rated = aspects_rated(usual, full)
        if rated:
            return ScoreColumns(choices=[which(table, fields, rated)])
        if rivals:
            return ScoreColumns(choices=[which(table, fields, [*rivals, *usual])])
        return ScoreColumns(usual)
    if likely:
        return _of_likely(table, fields, likely, named, full)
    if named:
        return ScoreColumns(choices=[sparse(table, fields, named[0])])
    return _by_equality(table, full, fields) or _by_rows(full, fields)


def _of_likely(
    table: TableProfile,
    fields: Fields,
    likely: Sequence[ScoreColumn],
    named: Sequence[ScoreColumn],
    full: Sequence[ScoreColumn],
) -> ScoreColumns:
    """Which of the columns that are called as metrics are the scores.

    Args:
        likely: those with a value in most rows.
        named: those without as well.
        full: all candidates with a value in most rows.
    """
    first = _highest(likely)
    first += [
        c for c in named if c not in likely and c.column.depth == first[0].column.depth
    ]
    if are_by_model(first):
        return ScoreColumns(choices=[by_model(first)])
    ratings = ratings_alike(first[0], full)
    if len(ratings) > 1 and all(candidate in ratings for candidate in first):
        return ScoreColumns(ratings, is_guess=True)
    alike = all(_are_equal(table, first[0], other) for other in first[1:])
    varies = len(first[0].column.values) > 1
    if alike and varies:
        return ScoreColumns(first[:1], is_guess=True)
    beside = [c for c in ratings if c not in first]
    shares = [] if table.is_object else _shares_beside(first, full)
    beside += [c for c in shares if c not in beside]
    return ScoreColumns(choices=[which(table, fields, [*first, *beside])])


def _shares_beside(
    named: Sequence[ScoreColumn], candidates: Sequence[ScoreColumn]
) -> list[ScoreColumn]:
    """Shares of which names say nothing, that lie as high as those called as scores:
    ``combined`` beside ``diagnosis.match``."""
    depth = max(candidate.column.depth for candidate in named)
    found = [
        own
        for own in candidates
        if own not in named
        and own.grade is Grade.POSSIBLE
        and own.column.depth <= depth
        and any(0 < number < 1 for number in own.column.numbers)
    ]
    return sorted(found, key=lambda own: own.column.depth)


def _number(value: object) -> float:
    """The number that a value is read as, words such as ``False`` too; NaN where it is
    none."""
    number = number_of(value)
    return float(number) if isinstance(number, int | float) else math.nan


def _outcomes(table: TableProfile, fields: Fields) -> list[ScoreColumn]:
    """Columns of numbers that differ between rows of one prompt, and that no name
    excludes, where nothing else may be scores."""
    return [
        ScoreColumn(
            column,
            column.name,
            Grade.POSSIBLE,
            {},
            "",
            means(column, {}, fields.run.get("model")),
        )
        for column in table.columns
        if column.is_number
        and column.path not in fields.taken
        and grade_of(column.name, column.parents) is Grade.POSSIBLE
        and fields.evidence.standing(column) is Standing.OUTCOME
    ]


#: Rows from which on it is no chance that a verdict says where two columns are equal,
#: and columns of answers that are tried.
_TELLING, _TRIED = 8, 12


def _by_equality(
    table: TableProfile, candidates: Sequence[ScoreColumn], fields: Fields
) -> ScoreColumns | None:
    """The one column that is 1 just where two others hold the same: an answer and the
    right one, whatever they are called; None without one."""
    answers = [
        column
        for column in table.columns
        if not column.nulls and len(column.values) > 1 and column.kind == "text"
    ]
    pairs = [*combinations(answers[:_TRIED], 2)]
    verdicts = [c for c in candidates if is_verdict(c.column) and not c.column.nulls]
    known = {candidate.column.path for candidate in candidates}
    of_words = [c for c in answers if len(c.values) == 2 and c.path not in known]
    found = []
    for candidate in (*verdicts, *_either_way(of_words, fields)):
        pair = next((p for p in pairs if _says_equal(table, candidate, *p)), None)
        if pair is not None:
            found.append((candidate, pair))
    if len(found) != 1:
        return None
    candidate, (first, second) = found[0]
    reason = f"score: 1 just where {first.path} and {second.path} are equal"
    fields.say(candidate.column, reason)
    _take_id(table, fields)
    return ScoreColumns([candidate], is_guess=True)


def _either_way(
    columns: Sequence[ColumnProfile], fields: Fields
) -> Iterator[ScoreColumn]:
    """Columns of two words as verdicts, each word once as the one for right."""
    for column in columns:
        one, other = map(str, column.values)
        for right, wrong in ((one, other), (other, one)):
            keys = {"values": {right: 1, wrong: 0}}
            figures = means(column, keys, fields.run.get("model"))
            meaning = f"{right} = 1, {wrong} = 0"
            yield ScoreColumn(
                column, column.name, Grade.POSSIBLE, keys, meaning, figures
            )


def _take_id(table: TableProfile, fields: Fields) -> None:
    """Take the one column with another name in each row for the id of prompts, where
    each row is an answer."""
    if {"prompt_id", "text"} & {*fields.sample}:
        return
    ids = [
        column
        for column in table.columns
        if column.is_unique and column.kind == "text" and not column.parents
        if column.path not in fields.taken
    ]
    if len(ids) == 1:
        fields.sample["prompt_id"] = ids[0]
        fields.say(ids[0], "prompt: another in each row, each row an answer")


def _says_equal(
    table: TableProfile,
    candidate: ScoreColumn,
    first: ColumnProfile,
    second: ColumnProfile,
) -> bool:
    """True if a verdict is 1 where two columns are equal, and 0 elsewhere; both
    occur."""
    column = candidate.column
    if column in (first, second) or table.rows < _TELLING:
        return False
    words = candidate.keys.get("values", {})
    verdicts = [words.get(str(v), _number(v)) for v in table.values(column)]
    pairs = zip(table.values(first), table.values(second), strict=True)
    are_equal = [float(a == b) for a, b in pairs]
    return verdicts == are_equal and 0 < sum(are_equal) < table.rows


def _by_rows(candidates: Sequence[ScoreColumn], fields: Fields) -> ScoreColumns:
    """The one column of verdicts that differ between rows of one prompt, where no name
    says anything; or those of several judges, which bear the names of models."""
    outcomes = [
        candidate
        for candidate in candidates
        if fields.evidence.standing_at(candidate.column.path) is Standing.OUTCOME
        and not is_flag(candidate.column.name)
    ]
    verdicts = [candidate for candidate in outcomes if is_verdict(candidate.column)]
    are_judges = all(looks_like_model(c.column.name) for c in outcomes)
    if "model" in fields.run and are_judges and are_by_model(outcomes):
        for candidate in outcomes:
            reason = "score: a judge, whose name it bears, beside the models' column"
            fields.say(candidate.column, reason)
        return ScoreColumns(list(outcomes), is_guess=True)
    ratings = ratings_alike(outcomes[0], outcomes) if outcomes else []
    if len(ratings) > 1 and len(ratings) == len(outcomes):
        return ScoreColumns(ratings, is_guess=True)
    if len(outcomes) == len(verdicts) == 1:
        column = verdicts[0].column
        fields.say(column, f"score: right or wrong, {Standing.OUTCOME.value}")
        return ScoreColumns(verdicts, is_guess=True)
    return ScoreColumns()


def _highest(candidates: Sequence[ScoreColumn]) -> list[ScoreColumn]:
    """Candidates that lie in the fewest objects."""
    depth = min((candidate.column.depth for candidate in candidates), default=0)
    return [candidate for candidate in candidates if candidate.column.depth == depth]


def _are_equal(table: TableProfile, first: ScoreColumn, second: ScoreColumn) -> bool:
    """True if two columns hold the same numbers."""
    pair = (table.values(first.column), table.values(second.column))
    try:
        return all(
            a == b or a is not None and b is not None and float(a) == float(b)
            for a, b in zip(*pair, strict=True)
        )
    except (TypeError, ValueError):
        return False
