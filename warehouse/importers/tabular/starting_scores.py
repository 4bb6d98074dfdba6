"""Which columns of a table hold scores of prompts, as a starting mapping takes them,
and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import Any

from warehouse.importers.tabular.column_names import (
    SCORE_NAMES,
    Grade,
    are_models,
    grade_of,
    is_flag,
    is_metric,
    is_setting,
    path_of,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import text_of
from warehouse.importers.tabular.expressions import Equality
from warehouse.importers.tabular.profile import TableProfile
from warehouse.importers.tabular.score_values import NULL_WORDS, plain
from warehouse.importers.tabular.starting_columns import Fields, says_something
from warehouse.importers.tabular.starting_other_scores import (
    OFFERED,
    by_two_keys,
    in_texts,
    of_counts,
    of_elements,
    of_lists,
    of_numbers,
    of_object,
    of_whole,
    range_of,
)
from warehouse.importers.tabular.starting_toml import (
    Choice,
    inline_table,
    texts,
    toml_text,
)

#: Names that say nothing of what was measured, where the objects around them may.
_GENERIC = frozenset(
    "value score scores result results data metrics metric evaluation evaluations review sample_score".split()
)
_LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
_LETTERS_AND_NUMBERS = {**_LETTERS, "0": 0, "0.0": 0, "0.5": 0.5, "1": 1, "1.0": 1}
#: Share of rows without a value from which on a column may belong to rows of another
#: kind.
_SPARSE = 0.5
#: Words and characters of an answer that may be held against a target as it stands.
_WORDS, _CHARACTERS = 5, 60


@dataclass(frozen=True)
class ScoreColumn:
    """A column that may hold scores."""

    column: ColumnProfile
    metric: str  #: what they are called; ``""`` where a column names it.
    grade: Grade
    #: of an expression that makes numbers of its values; ``meaning`` says what they do.
    keys: dict[str, Any]
    meaning: str

    @property
    def value(self) -> str:
        """The expression for its values."""
        if self.keys:
            return inline_table({"path": self.column.path} | self.keys)
        return toml_text(self.column.path)

    @property
    def is_truth(self) -> bool:
        """True if all values are 0 or 1."""
        return self.column.scores.is_truth or self.column.kind == "true/false"

    @property
    def are_grades(self) -> bool:
        """True if the values are Inspect's letters for correct, partly, incorrect and
        no answer."""
        return _are_letters(self.keys)

    @property
    def missing(self) -> int:
        """Rows without a value."""
        words = {"", *NULL_WORDS, *map(plain, self.keys.get("null", ()))}
        return self.column.nulls + any(
            plain(str(v)) in words for v in self.column.values
        )

    @property
    def shown(self) -> str:
        """Its path and what it holds, in words."""
        return f"{self.column.path} ({self.column.kind}, {range_of(self.column)})"


@dataclass
class ScoreColumns:
    """Columns that are taken for scores, others that may be, and what is to be
    decided."""

    chosen: list[ScoreColumn] = field(default_factory=list)
    offered: list[ScoreColumn] = field(default_factory=list)
    is_compared: bool = False
    is_guess: bool = False
    choices: list[Choice] = field(default_factory=list)


def scores_of(table: TableProfile, fields: Fields) -> ScoreColumns:
    """The scores of the rows of a table."""
    candidates = list(_candidates(table, fields))
    scores = _chosen(table, candidates)
    used = {candidate.column.path for candidate in scores.chosen}
    rest = [candidate for candidate in candidates if candidate.column.path not in used]
    scores.offered = sorted(rest, key=lambda c: (-c.grade, c.column.depth))[:OFFERED]
    if not candidates or max(c.grade for c in candidates) < Grade.LIKELY:
        _compare(table, fields, scores)
    if not scores.chosen and not scores.is_compared and not scores.choices:
        scores.choices.append(_nothing(table, fields, scores))
    scores.choices += _of_missing(table, fields, scores)
    return scores


def _candidates(table: TableProfile, fields: Fields) -> Iterator[ScoreColumn]:
    for column in table.columns:
        if (
            column.path in fields.taken
            or column.kind in ("list", "object")
            or not says_something(column)
        ):
            continue
        is_above = column.path.startswith("^.")
        grade = (
            Grade.LIKELY
            if column.path in ("@", "[]")
            else grade_of(column.name, column.parents)
        )
        if grade is Grade.NEVER or column.path == "@key":
            continue
        keys, meaning = _reading(column, grade, table)
        if _are_letters(keys):
            grade = Grade.USUAL
        if (
            grade is Grade.POSSIBLE
            and plain_name(column.name) in ("result", "results")
            and column.scores.is_truth
        ):
            grade = Grade.LIKELY
        if not column.is_number and not column.scores.is_truth and not keys:
            continue
        if grade is Grade.POSSIBLE and not _is_unit(column, bool(keys)):
            continue
        by_name = max(
            grade_of(column.name),
            Grade.USUAL if plain_name(column.name) in _GENERIC else Grade.NEVER,
        )
        if (
            grade is Grade.USUAL
            and by_name < Grade.LIKELY
            and not _is_unit(column, bool(keys))
        ):
            continue  # beside scores, and of no likely range
        if is_above or is_flag(column.name):
            grade = min(grade, Grade.POSSIBLE)
        yield ScoreColumn(column, _metric(column, fields), grade, keys, meaning)


def _reading(
    column: ColumnProfile, grade: Grade, table: TableProfile
) -> tuple[dict[str, Any], str]:
    texts = {str(value) for value in column.values}
    is_graded = grade is Grade.USUAL and column.parents or _is_of_inspect(column)
    if is_graded and texts <= {*_LETTERS} and texts & {"C", "I"}:
        shown = ", ".join(
            f"{letter} = {_LETTERS[letter]:g}" for letter in _LETTERS if letter in texts
        )
        return {"values": _LETTERS}, shown
    letters = set(column.scores.texts)
    if (
        grade is Grade.USUAL
        and letters <= {*_LETTERS}
        and letters & {"C", "I"}
        and column.scores.binary
    ):
        shown = ", ".join(
            f"{letter} = {_LETTERS[letter]:g}"
            for letter in _LETTERS
            if letter in letters
        )
        return {"values": _LETTERS_AND_NUMBERS}, f"{shown}; numbers as they stand"
    keys, meaning = column.reading(table.delimiter)
    words = sorted(column.scores.texts)
    if (
        not keys
        and grade is Grade.USUAL
        and column.scores.numbers
        and 0 < len(words) <= _WORDS
    ):
        if column.scores.unread(table.delimiter) is not None:
            return {}, ""
        return {"null": words}, f"{' and '.join(map(repr, words))} = missing"
    return keys, meaning


def _are_letters(keys: Mapping[str, Any]) -> bool:
    return keys.get("values") is _LETTERS or keys.get("values") is _LETTERS_AND_NUMBERS


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


def _chosen(table: TableProfile, candidates: Sequence[ScoreColumn]) -> ScoreColumns:
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


def _of_marks(column: ColumnProfile) -> Iterator[Choice]:
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
        yield from _of_marks(candidate.column)
        if candidate.missing and fields.metric is None:
            where = f" in the [[scores]] of {toml_text(candidate.column.path)}"
            yield _what_counts(candidate.column, table, where)


def _what_counts(column: ColumnProfile, table: TableProfile, where: str = "") -> Choice:
    return Choice(
        f"what rows without {toml_text(column.path)} count as "
        f"({column.nulls or 'some'} of {table.rows})",
        ("nothing: they are left out of the mean", "0: the model gave no answer"),
        (
            f'if_null = "omit"{where}',
            f'if_null = {{ value = 0, status = "no_answer" }}{where}',
        ),
    )


# --- responses against targets --------------------------------------------------------------------


def _compare(table: TableProfile, fields: Fields, scores: ScoreColumns) -> None:
    """Responses that can be held against targets, where no column holds scores."""
    target = fields.sample.get("target")
    if target is None or "response" not in fields.sample:
        return
    response = _answers(table, fields)
    share = _share_equal(table, response, target)
    if (
        share is None
        or table.location.draws
        and not response.path.startswith(table.location.draws)
    ):
        return
    fields.sample["response"] = response
    scores.is_compared, scores.is_guess = True, True
    reading = (
        f"{toml_text(response.path)} is right where it equals {toml_text(target.path)} "
        f"({share:.0%} are)"
    )
    flags = tuple(
        candidate.shown
        for candidate in scores.offered
        if not is_flag(candidate.column.name)
    )
    readings = tuple(in_texts(table))
    if flags or readings:
        how = []
        if flags:
            how.append(
                "uncomment the [[scores]] of one reading, and remove that of the other"
            )
        how += [f"in place of the [[scores]] below: {text}" for _, text in readings]
        between = (reading, *flags, *(words for words, _ in readings))
        scores.choices.append(Choice("what the scores are", between, tuple(how)))
    if response.nulls or "" in response.values:
        scores.choices.append(_what_counts(response, table))


def _answers(table: TableProfile, fields: Fields) -> ColumnProfile:
    """The column of short answers, where there is one beside longer texts; else that of
    the responses."""
    from warehouse.importers.tabular.column_names import SAMPLE_NAMES

    names = ("extracted_answer", *SAMPLE_NAMES["response"], "response")
    columns = [
        c
        for c in table.columns
        if plain_name(c.name) in names and not is_setting(c.parents) and c.values
    ]
    target = fields.sample["target"]
    fitting = [
        column for column in columns if _share_equal(table, column, target) is not None
    ]
    if fitting:
        return fitting[0]
    return fields.sample["response"]


def _share_equal(
    table: TableProfile, response: ColumnProfile, target: ColumnProfile
) -> float | None:
    """Share of responses that equal their target; ``None`` where responses are no plain
    answers, or none is right."""
    if (
        not _are_answers(response)
        or not _are_answers(target)
        or response.is_number != target.is_number
    ):
        return None
    equality = Equality(normalise=not target.is_number, numeric=target.is_number)
    pairs = list(zip(table.values(response), table.values(target), strict=True))
    verdicts = [
        equality.same(a, b) for a, b in pairs if a is not None and b is not None
    ]
    if any(verdicts):
        return sum(verdicts) / len(verdicts)
    return None


def _are_answers(column: ColumnProfile) -> bool:
    texts = [str(text_of(value)) for value in column.values]
    if column.kind in ("list", "object", "empty") or not texts:
        return False
    return (
        sum(len(text) <= _CHARACTERS and len(text.split()) <= _WORDS for text in texts)
        >= len(texts) * 0.95
    )
