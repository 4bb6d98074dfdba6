"""What a column may be that tells apart rows of one prompt: the readings that its rows
support, the likeliest first. What the rows contradict is not offered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.importers.tabular.column_names import (
    SAMPLE_NAMES,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.condition_names import is_condition
from warehouse.importers.tabular.drafts.crossed import may_number, numbered
from warehouse.importers.tabular.drafts.looks import shown_text
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.scorers import OF_PEOPLE, word_for
from warehouse.importers.tabular.drafts.toml import (
    Choice,
    brief,
    texts,
    toml_key,
    toml_text,
)

#: What both are called, answers that are right and those of a model.
_EITHER = frozenset({"answer", "label", "reference"})
#: Words of names of columns that number what was done again.
AGAIN = frozenset(
    "draw trial attempt repeat repetition rollout generation sample run rep replicate "
    "iteration iter try round seed pass".split()
)


@dataclass(frozen=True)
class RepeatedRows:
    """Rows of one prompt that a column tells apart.

    Args:
        keys: what is known to tell rows apart, by row.
        prompts: paths of the columns that name the prompts.
        has_model: whether a column names the models.
        is_scorer: whether the column may name who scored.
    """

    table: TableProfile
    keys: Sequence[tuple[str, ...]]
    prompts: Sequence[str]
    has_model: bool
    is_scorer: bool

    @property
    def repeated(self) -> int:
        """How many rows repeat another."""
        return len(self.keys) - len({*self.keys})

    def differs(self, column: ColumnProfile) -> bool:
        """True if most prompts of several rows have several values of a column."""
        by_key: dict[tuple[str, ...], list[str]] = {}
        values = map(shown_text, self.table.values(column))
        for key, value in zip(self.keys, values, strict=True):
            by_key.setdefault(key, []).append(value)
        several = [values for values in by_key.values() if len(values) > 1]
        differing = [values for values in several if len({*values}) > 1]
        return 2 * len(differing) > len(several)


def are_right_answers(column: ColumnProfile) -> bool:
    """True if a column is called the right answer, which no condition changes."""
    names = {*SAMPLE_NAMES["target"]} - _EITHER
    return plain_name(column.name) in names


def are_answers(column: ColumnProfile) -> bool:
    """True if a column is called what a model said, or what is right."""
    is_said = plain_name(column.name) in (*SAMPLE_NAMES["response"], "predicted")
    return is_said or are_right_answers(column)


def which_rows(
    column: ColumnProfile, rows: RepeatedRows, response: ColumnProfile | None
) -> Choice:
    """What a column tells apart, where rows are of one prompt."""
    path = toml_text(column.path)
    readings = [*_by_prompt(column, rows)]
    if not _is_of_prompt(column, rows):
        readings += _by_run(column, rows, response)
    readings.sort(key=lambda reading: -reading[0])
    between, written = brief([(words, line) for _, words, line in readings])
    return Choice(
        f"what {path} tells apart, where rows are of one prompt ({rows.repeated} of "
        f"{len(rows.keys)} repeat another)",
        between,
        written,
    )


#: How well rows support a reading, what it is in words, and how a mapping says it.
_Reading = tuple[int, str, str]


def _by_prompt(column: ColumnProfile, rows: RepeatedRows) -> list[_Reading]:
    template = " ".join(f"{{{name}}}" for name in (*rows.prompts, column.path))
    line = f"[sample] prompt_id = {{ template = {toml_text(template)} }}"
    return [(1, "prompts", line)]


def _by_run(
    column: ColumnProfile, rows: RepeatedRows, response: ColumnProfile | None
) -> list[_Reading]:
    """The readings by which rows are of one prompt."""
    path = toml_text(column.path)
    is_again = bool({*words_of(column.name)} & AGAIN)
    are_named = column.kind == "text" and not may_number(column)
    setting = f"[run.configuration] {toml_key(column.name)} = {path}"
    found = [
        (
            4 if is_again else 3 - 3 * are_named,
            "generations of each prompt",
            f"[sample] draw = {numbered(column)}",
        ),
        (2 + 2 * is_condition(column.name), "runs, a figure each", setting),
    ]
    if rows.is_scorer:
        line = f"[scorer] {word_for(column)} = {path}{OF_PEOPLE[word_for(column)]}"
        found.append((5, "judges or ways to score, a figure each", line))
    elif not column.is_number and (response is None or not rows.differs(response)):
        line = f"filter = {{ path = {path} }} in each of the [[scores]]"
        found.append((2, "judges or ways to score, a figure each", line))
    if not rows.has_model and not column.is_number and not is_again:
        are_letters = all(len(shown_text(value)) == 1 for value in column.values)
        found.append((5 - 3 * are_letters, "models", f"[run] model = {path}"))
    if rows.has_model and column.is_number and not rows.is_scorer:
        is_seed = "seed" in words_of(column.name)
        line = f"[run] training_seed = {path}"
        found.append((3 * is_seed, "training seeds of each model", line))
    return found


def _is_of_prompt(column: ColumnProfile, rows: RepeatedRows) -> bool:
    """True if right answers differ with a column, as between no runs: it is of the
    prompts."""
    answers = [own for own in rows.table.columns if are_right_answers(own)]
    for answer in answers:
        if answer is column or len(answer.values) < 2 or not rows.differs(answer):
            continue
        told = zip(rows.keys, map(shown_text, rows.table.values(column)), strict=True)
        pairs = {*zip(told, map(shown_text, rows.table.values(answer)), strict=True)}
        if len(pairs) == len({key for key, _ in pairs}):
            return True
    return False


def what_repeats_are(
    table: TableProfile, key: Sequence[str], rows: Sequence[tuple[str, ...]]
) -> Choice:
    """What rows of one content are: generations only where one answer is right."""
    told = RepeatedRows(table, rows, key, has_model=True, is_scorer=False)
    answers = [own for own in table.columns if are_right_answers(own)]
    again = ("generations of one prompt", f"key = {texts(key)}")
    if any(len(own.values) > 1 and told.differs(own) for own in answers):
        again = (
            "other prompts, which a column of another file names",
            '[join.NAME], and [sample] prompt_id = "COLUMN"',
        )
    in_order = "different prompts, in the same order in all files"
    return Choice(
        f"what rows of the same {' and '.join(key)} are ({told.repeated} of "
        f"{len(rows)} repeat another)",
        (again[0], in_order),
        (again[1], '[sample] position = "@index"'),
    )
