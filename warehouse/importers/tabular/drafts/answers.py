"""Columns of scores in a mapping that is begun, and answers that are compared with targets
where a table has no scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warehouse.importers.tabular.column_names import (
    Grade,
    is_flag,
    is_setting,
    plain_name,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import text_of
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.other_scores import (
    in_texts,
    range_of,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    inline_table,
    toml_text,
)
from warehouse.importers.tabular.expressions import Equality
from warehouse.importers.tabular.score_values import NULL_WORDS, plain

LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
LETTERS_AND_NUMBERS = {**LETTERS, "0": 0, "0.0": 0, "0.5": 0.5, "1": 1, "1.0": 1}
#: Words and characters of an answer that may be held against a target as it stands.
WORDS, _CHARACTERS = 5, 60


@dataclass(frozen=True)
class ScoreColumn:
    """A column that may hold scores."""

    column: ColumnProfile
    metric: str  #: what they are called; ``""`` where a column names it.
    grade: Grade
    #: of an expression that makes numbers of its values; ``meaning`` says what they do.
    keys: dict[str, Any]
    meaning: str
    figures: str = ""  #: what it would give: means by model, in words.

    @property
    def value(self) -> str:
        """The expression for its values."""
        if self.keys:
            return inline_table({"path": self.column.path} | self.keys)
        return toml_text(self.column.path)

    @property
    def is_truth(self) -> bool:
        """True if all values are 0 or 1."""
        if "values" in self.keys and not are_letters(self.keys):
            return {*self.keys["values"].values()} <= {0, 1}
        return self.column.scores.is_truth or self.column.kind == "true/false"

    @property
    def are_grades(self) -> bool:
        """True if the values are words or letters for right and wrong."""
        return "values" in self.keys

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
        figures = ""
        if self.figures:
            figures = f"; {self.figures}"
        return (
            f"{self.column.path} ({self.column.kind}, {range_of(self.column)}{figures})"
        )


@dataclass
class ScoreColumns:
    """Columns that are taken for scores, others that may be, and what is to be
    decided."""

    chosen: list[ScoreColumn] = field(default_factory=list)
    offered: list[ScoreColumn] = field(default_factory=list)
    is_compared: bool = False
    #: True if answers are compared that are among few right answers, as labels are.
    are_labels: bool = False
    comparison: str = ""  #: what is compared, in words.
    is_guess: bool = False
    choices: list[Choice] = field(default_factory=list)


def are_letters(keys: Mapping[str, Any]) -> bool:
    return keys.get("values") is LETTERS or keys.get("values") is LETTERS_AND_NUMBERS


def what_counts(column: ColumnProfile, table: TableProfile, where: str = "") -> Choice:
    return Choice(
        f"what rows without {toml_text(column.path)} count as "
        f"({column.nulls or 'some'} of {table.rows})",
        ("nothing: they are left out of the mean", "0: the model gave no answer"),
        (
            f'if_null = "omit"{where}',
            f'if_null = {{ value = 0, status = "no_answer" }}{where}',
        ),
    )


def compare(table: TableProfile, fields: Fields, scores: ScoreColumns) -> None:
    """Responses that can be held against targets, where no column holds scores."""
    target = fields.sample.get("target")
    if target is None or "response" not in fields.sample:
        return
    response = _answers(table, fields)
    share = share_equal(table, response, target)
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
    scores.comparison = reading
    scores.are_labels = _are_labels(response, target)
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
        scores.choices.append(what_counts(response, table))


def of_equal_answers(table: TableProfile, fields: Fields) -> list[tuple[str, str]]:
    """The reading that an answer is right where it equals the right one, in words, and
    in a mapping; nothing where they are no plain answers, or none is equal."""
    target, response = (fields.sample.get(name) for name in ("target", "response"))
    if target is None or response is None or table.location.draws:
        return []
    share = share_equal(table, response, target)
    if share is None:
        return []
    way = "numeric" if target.is_number else "normalise"
    pair = f"[{toml_text(response.path)}, {toml_text(target.path)}]"
    words = f"{toml_text(response.path)} is right where it equals "
    return [
        (
            f"{words}{toml_text(target.path)} ({share:.0%} are)",
            f'[[scores]] metric = "exact_match", value = {{ equals = {pair}, {way} = '
            "true }",
        )
    ]


#: Rows of each label, on average, from which on right answers are labels; and their
#: number at most.
_PER_LABEL, _LABELS = 2, 40
#: Share of the answers that are one of the labels.
_MOST = 0.9


def _are_labels(response: ColumnProfile, target: ColumnProfile) -> bool:
    """True if right answers are a few labels that stand in many rows, and the answers
    are among them."""
    right = {plain(str(text_of(value))) for value in target.values}
    said = {plain(str(text_of(value))) for value in response.values}
    are_few = 2 <= len(right) <= min(_LABELS, target.rows // _PER_LABEL)
    return are_few and len(said & right) >= _MOST * len(said)


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
        column for column in columns if share_equal(table, column, target) is not None
    ]
    if fitting:
        return fitting[0]
    return fields.sample["response"]


def share_equal(
    table: TableProfile, response: ColumnProfile, target: ColumnProfile
) -> float | None:
    """Share of responses that equal their target; ``None`` where responses are no plain
    answers, or none is right."""
    if not _are_answers(response) or not _are_answers(target):
        return None
    has_numbers = response.is_number or response.kind == "mixed" and target.is_number
    if has_numbers != target.is_number:
        return None
    equality = Equality(normalise=not target.is_number, numeric=target.is_number)
    pairs = list(zip(table.values(response), table.values(target), strict=True))
    verdicts = [
        equality.same(a, b) for a, b in pairs if a is not None and b is not None
    ]
    if any(verdicts):
        return sum(verdicts) / len(verdicts)
    return None


def _is_of_words(value: Any) -> bool:
    """True if a list holds texts and numbers alone: ``["A", "C"]``."""
    return all(isinstance(part, str | int | float) for part in value)


def _are_answers(column: ColumnProfile) -> bool:
    texts = [str(text_of(value)) for value in column.values]
    if column.kind == "list" and not all(map(_is_of_words, column.values)):
        return False
    if column.kind in ("object", "empty") or not texts:
        return False
    return (
        sum(len(text) <= _CHARACTERS and len(text.split()) <= WORDS for text in texts)
        >= len(texts) * 0.95
    )
