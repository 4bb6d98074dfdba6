"""Which columns of a table hold scores of prompts, as a starting mapping takes them,
and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os.path import commonprefix
from typing import Any

import numpy as np

from warehouse.importers.tabular.column_names import (
    SCORE_NAMES,
    Grade,
    are_models,
    grade_of,
    is_counted,
    is_flag,
    is_metric,
    looks_like_model,
    path_of,
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
    ScoreColumns,
    are_letters,
    compare,
    what_counts,
)
from warehouse.importers.tabular.drafts.columns import Fields, says_something
from warehouse.importers.tabular.drafts.heed import (
    full_marks,
    is_verdict,
    of_full_marks,
)
from warehouse.importers.tabular.drafts.other_scores import (
    OFFERED,
    by_two_keys,
    in_texts,
    is_number,
    of_counts,
    of_elements,
    of_lists,
    of_numbers,
    of_object,
    of_whole,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    texts,
    toml_text,
)
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
#: Share of rows without a value from which on a column may belong to rows of another
#: kind.
_SPARSE = 0.5


def scores_of(table: TableProfile, fields: Fields) -> ScoreColumns:
    """The scores of the rows of a table."""
    candidates = _without_marks(list(_candidates(table, fields)), fields)
    candidates = _without_properties(candidates, fields)
    scores = _chosen(table, fields, candidates)
    used = {candidate.column.path for candidate in scores.chosen}
    rest = [candidate for candidate in candidates if candidate.column.path not in used]
    scores.offered = sorted(rest, key=lambda c: (-c.grade, c.column.depth))[:OFFERED]
    best = max((candidate.grade for candidate in candidates), default=Grade.NEVER)
    if best < Grade.LIKELY and not scores.chosen:
        compare(table, fields, scores)
    if not scores.chosen and not scores.is_compared and not scores.choices:
        scores.choices.append(_nothing(table, fields, scores))
    scores.choices += _of_missing(table, fields, scores)
    scores.choices += _of_marks_beside(table, fields, scores)
    return scores


def _of_marks_beside(
    table: TableProfile, fields: Fields, scores: ScoreColumns
) -> Iterator[Choice]:
    """Questions whether scores are points of what each prompt gives at most."""
    for candidate in scores.chosen:
        marks = fields.marks.get(candidate.column.path)
        if marks is None:
            marks = full_marks(table, candidate.column, fields)
        if marks is not None and len(marks.values) > 1:
            yield of_full_marks(candidate.column, marks)


def _without_marks(
    candidates: Sequence[ScoreColumn], fields: Fields
) -> list[ScoreColumn]:
    """The candidates without full marks: what another of them reaches at most in each
    row, and what does not differ between models."""
    kept = []
    for candidate in candidates:
        column = candidate.column
        is_whole = all(number.is_integer() for number in column.numbers)
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


def _candidates(table: TableProfile, fields: Fields) -> Iterator[ScoreColumn]:
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
            fields.why_not.setdefault(column.path, f"score: {why}")
            continue
        if grade is Grade.NEVER or not _may_be_read(column, grade, keys, fields):
            continue
        if column.path.startswith("^.") or is_flag(column.name):
            grade = min(grade, Grade.POSSIBLE)
        figures = _means(column, keys, fields.run.get("model"))
        metric = _metric(column, fields)
        yield ScoreColumn(column, metric, grade, keys, meaning, figures)


#: Models of which a reading says the figures.
_SHOWN_MODELS = 3


def _means(
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
    is_outcome = fields.evidence.standing_at(column.path) is Standing.OUTCOME
    is_graded = _is_graded(column)
    may_be_scores = (
        is_verdict(column) or _are_ratings(column) or _is_unit(column, False)
    )
    if is_outcome and is_graded and may_be_scores:
        return max(grade, Grade.LIKELY)
    is_result = plain_name(column.name) in ("result", "results")
    if grade is Grade.POSSIBLE and is_result and column.scores.is_truth:
        return Grade.LIKELY
    return grade


def _may_be_read(
    column: ColumnProfile, grade: Grade, keys: dict[str, Any], fields: Fields
) -> bool:
    """True if values are numbers of a range that fits what the name says."""
    if not column.is_number and not column.scores.is_truth and not keys:
        return False
    if grade is Grade.POSSIBLE:
        is_outcome = fields.evidence.standing_at(column.path) is Standing.OUTCOME
        return _is_unit(column, bool(keys)) or is_outcome and _are_ratings(column)
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
    if standing is Standing.CONSTANT and column.rows >= _TELLING and not is_truth:
        return str(standing.value)
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


def _are_ratings(column: ColumnProfile) -> bool:
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


# --- which of them --------------------------------------------------------------------------------


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
        if _are_systems(usual):
            return ScoreColumns(choices=[_systems(table, usual)])
        if _are_by_model(usual):
            return ScoreColumns(choices=[_by_model(usual)])
        if rivals:
            return ScoreColumns(choices=[_which(table, [*rivals, *usual])])
        return ScoreColumns(usual)
    if likely:
        first = _highest(likely)
        first += [
            c
            for c in named
            if c not in likely and c.column.depth == first[0].column.depth
        ]
        if _are_by_model(first):
            return ScoreColumns(choices=[_by_model(first)])
        alike = all(_are_equal(table, first[0], other) for other in first[1:])
        varies = len(first[0].column.values) > 1
        if alike and varies:
            return ScoreColumns(first[:1], is_guess=True)
        return ScoreColumns(choices=[_which(table, first)])
    if named:
        return ScoreColumns(choices=[_sparse(named[0])])
    return _by_rows(full, fields)


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
    if "model" in fields.run and are_judges and _are_by_model(outcomes):
        for candidate in outcomes:
            reason = "score: a judge, whose name it bears, beside the models' column"
            fields.say(candidate.column, reason)
        return ScoreColumns(list(outcomes), is_guess=True)
    if len(outcomes) == len(verdicts) == 1:
        column = verdicts[0].column
        fields.say(column, f"score: right or wrong, {Standing.OUTCOME.value}")
        return ScoreColumns(verdicts, is_guess=True)
    return ScoreColumns()


def _are_systems(candidates: Sequence[ScoreColumn]) -> bool:
    """True if columns have one name in different objects, which then may be different
    systems."""
    names = {plain_name(candidate.column.name) for candidate in candidates}
    return len(candidates) > 1 and len(names) == 1 and not names & _GENERIC


def _are_by_model(candidates: Sequence[ScoreColumn]) -> bool:
    """True if columns of one object have names of models, with the name of a metric
    before or after them or not."""
    names = _between_affixes([candidate.column.name for candidate in candidates])[1]
    around = {candidate.column.parents for candidate in candidates}
    return (
        len(names) > 1
        and len(around) == 1
        and are_models(names)
        and not any(map(is_metric, names))
    )


def _between_affixes(names: Sequence[str]) -> tuple[str, list[str], str]:
    """Names divided into what they begin with, where they differ, and what they end
    with: ``a_correct``, ``b_correct``. Beginnings and ends that are no name of a metric
    belong to what differs."""
    start = re.sub(r"[^_. /-]*$", "", commonprefix(names))
    backwards = commonprefix([name[::-1] for name in names])
    end = re.sub(r"^[^_. /-]*", "", backwards[::-1])
    if not is_metric(start):
        start = ""
    if not is_metric(end):
        end = ""
    middles = [name[len(start) : len(name) - len(end)] for name in names]
    return start, middles, end


def _by_model(candidates: Sequence[ScoreColumn]) -> Choice:
    start, systems, end = _between_affixes(
        [candidate.column.name for candidate in candidates]
    )
    names = ", ".join(map(toml_text, systems))
    parents = candidates[0].column.parents
    around = "".join(f"{path_of(parent)}." for parent in parents)
    return Choice(
        f"what {names} are, of which each prompt has a score",
        ("models", "metrics of one model"),
        (
            f'[each] system = [{names}], with [run] model = {{ const = "{{system}}" }} '
            "and one [[scores]] with "
            f"value = '{around}\"{start}{{system}}{end}\"'",
            "uncomment the [[scores]] of each",
        ),
    )


def _systems(table: TableProfile, candidates: Sequence[ScoreColumn]) -> Choice:
    around = [
        candidate.column.parents[-1]
        for candidate in candidates
        if candidate.column.parents
    ]
    name = candidates[0].column.name
    between = ["different models", "different metrics of one model"]
    written = [
        f"[each] system = [{', '.join(map(toml_text, around))}], with [run] model = "
        f'{{ const = "{{system}}" }} and one [[scores]] with value = '
        f'"{{system}}.{name}"',
        "uncomment the [[scores]] of each",
    ]
    if table.rows == 1 and not table.location.at and candidates[0].column.parents:
        at = "".join(
            f"{path_of(parent)}." for parent in candidates[0].column.parents[:-1]
        ).removesuffix(".")
        figure = toml_text(path_of(name))
        beside = (
            ()
            if at
            else {(*column.parents, column.name)[0]: None for column in table.columns}
        )
        others = texts(key for key in beside if key not in around)
        skip = ""
        if others != "[]":
            skip = f'[[rows.skip]] path = "@key", equal_to = {others}, '
        between.append("benchmarks, of which figures are published")
        written.append(
            f'[rows] at = {toml_text(f"{at}{{}}")}, {skip}[run] benchmark = "@key", '
            f"[[published]] metric = {toml_text(name)}, value = {figure}; what stands "
            'beside as "$.NAME", such as model = "$.model"'
        )
    elif table.location.at == "{}" and {
        len(candidate.column.parents) for candidate in candidates
    } == {1}:
        between.append(
            "benchmarks of the models that the keys around them name, with published "
            "figures"
        )
        written.append(by_two_keys("^@key", "@key", name, path_of(name)))
    what = (
        f"what {', '.join(map(toml_text, around[:4]))} are, each of which has its own "
        f"{toml_text(name)}"
    )
    return Choice(what, tuple(between), tuple(written))


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


def _which(table: TableProfile, candidates: Sequence[ScoreColumn]) -> Choice:
    between = [candidate.shown for candidate in candidates[:OFFERED]]
    written = ["uncomment the [[scores]] and [metrics.NAME] of one or more of them"]
    if table.is_object:
        between.append("none: they are published figures of a whole benchmark")
        written.append(_as_figures(candidates))
        if not any(c.column.parents for c in candidates):
            for words, text in of_object(table):
                between.append(words)
                written.append(text)
    return Choice(
        "which columns are the scores of the prompts", tuple(between), tuple(written)
    )


def _as_figures(candidates: Sequence[ScoreColumn]) -> str:
    """How a mapping says that they are published: a benchmark for each object, where
    one metric has several."""
    first = candidates[0]
    if len({candidate.metric for candidate in candidates}) == len(candidates):
        path = toml_text(first.column.path)
        return (
            f"[[published]] metric = {toml_text(first.metric)}, value = {path}, one "
            "for each of them"
        )
    name = path_of(first.column.name)
    around = texts(
        c.column.path.removesuffix(f".{name}")
        for c in candidates
        if c.metric == first.metric
    )
    return (
        f'[each] benchmark = {around}, [run] benchmark = {{ const = "{{benchmark}}" '
        f"}}, [[published]] metric = "
        f"{toml_text(first.metric)}, value = {toml_text(f'{{benchmark}}.{name}')}"
    )


def _sparse(candidate: ScoreColumn) -> Choice:
    rows = candidate.column.rows
    missing = candidate.column.nulls
    return Choice(
        f"what the rows without {toml_text(candidate.column.path)} are ({missing} of "
        f"{rows})",
        ("rows of another kind, which are skipped", "prompts without a score"),
        (
            f"[[rows.skip]] path = {toml_text(candidate.column.path)}, null = true; "
            "and its [[scores]] below",
            "uncomment its [[scores]] below, and say there what if_null is",
        ),
    )


def _nothing(table: TableProfile, fields: Fields, scores: ScoreColumns) -> Choice:
    if _are_by_model(scores.offered):
        return _by_model(scores.offered)
    offered = tuple(candidate.shown for candidate in scores.offered)
    readings = (
        *of_whole(
            table, fields, [c.column for c in scores.offered if c.column.is_number]
        ),
    )
    readings += (
        *of_counts(table),
        *of_lists(table),
        *of_object(table),
        *in_texts(table),
    )
    readings += tuple(of_elements(table, fields))
    between = tuple(words for words, _ in readings)
    written = tuple(text for _, text in readings)
    if not offered:
        numbers = of_numbers(table, fields)
        return Choice(
            "where the scores are (no column looks like scores of prompts)",
            (
                *between,
                "a column that this draft does not "
                f"offer{f', such as {numbers}' if numbers else ''}",
                "another file holds them",
            ),
            (
                *written,
                '[[scores]] metric = "score", value = "COLUMN"; or [[published]] for '
                "figures of a whole benchmark",
            ),
        )
    return Choice(
        "whether any of these columns are scores of prompts (no name says so)",
        (*offered, *between),
        ("uncomment the [[scores]] and [metrics.NAME] of those that are", *written),
    )


def _leaves_marks_out(candidate: ScoreColumn) -> bool:
    """True if numbers such as -1 are read as no rating."""
    nulls = candidate.keys.get("null", ())
    return bool(nulls) and all(str(text).startswith("-") for text in nulls)


def _of_marks(candidate: ScoreColumn) -> Iterator[Choice]:
    column = candidate.column
    if _leaves_marks_out(candidate):
        return  # which is said beside it
    values = column.scores
    path = toml_text(column.path)
    if values.is_marked:
        quoted = [f'"{mark:g}", "{mark}"' for mark in sorted(values.marks)]
        marks = ", ".join(quoted)
        yield Choice(
            f"what {min(values.marks):g} in {path} is, beside {values.low:g} to "
            f"{values.high:g}",
            ("no score: judging failed", "a score as the others"),
            (
                f"value = {{ path = {path}, null = [{marks}] }} in its [[scores]]",
                "leave its [[scores]] as it is",
            ),
        )


def _of_missing(
    table: TableProfile, fields: Fields, scores: ScoreColumns
) -> Iterator[Choice]:
    """Rows without a score: left out, or wrong."""
    for candidate in scores.chosen:
        yield from _of_marks(candidate)
        is_asked = candidate.missing and not _leaves_marks_out(candidate)
        if is_asked and fields.metric is None:
            where = f" in the [[scores]] of {toml_text(candidate.column.path)}"
            yield what_counts(candidate.column, table, where)
