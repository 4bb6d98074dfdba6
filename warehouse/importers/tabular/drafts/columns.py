"""Columns that stand for fields in a mapping that is begun, as far as they are
found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.scorers import (
    Scorers,
)
from warehouse.importers.tabular.drafts.toml import (
    Choice,
)
from warehouse.importers.tabular.evidence import Evidence, Rows
from warehouse.importers.tabular.score_values import NULL_WORDS, plain

#: Fields of a run that are numbers, and how a text holds one: ``step1000``.
POSITIONS = ("step", "epoch", "tokens")


@dataclass
class Fields:
    """Fields of runs and of rows with the column of each."""

    run: dict[str, ColumnProfile] = field(default_factory=dict)
    sample: dict[str, ColumnProfile] = field(default_factory=dict)
    metadata: dict[str, ColumnProfile] = field(default_factory=dict)
    #: fields of a run that the document around the records holds: field -> path.
    document: dict[str, str] = field(default_factory=dict)
    metric: ColumnProfile | None = None
    filter: ColumnProfile | None = None
    scorers: Scorers = field(default_factory=Scorers)  #: who gave the scores.
    #: path of a column that its name makes a field -> why it is none.
    why_not: dict[str, str] = field(default_factory=dict)
    #: the fields that tell prompts apart where no column holds an id.
    key: tuple[str, ...] = ()
    #: the columns that name prompts together, where none does alone.
    parts: tuple[ColumnProfile, ...] = ()
    #: those that may.
    may_be_parts: tuple[ColumnProfile, ...] = ()
    draw: str = ""  #: an expression for the number of a generation.
    #: is asked about, as each of its values stands with all prompts equally often: it
    #: was set, and is no score.
    was_set: ColumnProfile | None = None
    #: tells apart the prompts of one id: those of a conversation.
    turn: ColumnProfile | None = None
    choices: list[Choice] = field(default_factory=list)  #: what is to be decided.
    #: files beside the table hold the same answers to its prompts, scored otherwise.
    same_answers: bool = False
    #: what the rows leave open.
    questions: list[Choice] = field(default_factory=list)
    #: what the rows say of each column.
    evidence: Evidence = field(
        default_factory=lambda: Evidence(Rows({}, Evidence.one_file(0)))
    )
    #: path of a column -> what it was taken for, and why.
    reasons: dict[str, str] = field(default_factory=dict)
    #: path of a column of points -> the column of full marks beside it.
    marks: dict[str, ColumnProfile] = field(default_factory=dict)
    #: names that a field of a row has in tables, the likeliest first.
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def say(self, column: ColumnProfile, reason: str) -> None:
        """Remember what a column was taken for, and why."""
        self.reasons[column.path] = reason

    def forget(self, column: ColumnProfile) -> None:
        """Take a column for nothing."""
        for fields in (self.run, self.sample, self.metadata):
            for name in [name for name, own in fields.items() if own is column]:
                del fields[name]

    @property
    def taken(self) -> set[str]:
        """Paths of the columns that are fields."""
        columns = (
            *self.run.values(),
            *self.sample.values(),
            *self.metadata.values(),
            *self.parts,
            self.metric,
            self.filter,
        )
        return {
            column.path for column in columns if column is not None
        } | self.scorers.paths

    @property
    def names_prompts(self) -> bool:
        """True if a prompt is told by an id or by its text."""
        return (
            bool(self.key or self.parts)
            or bool({"prompt_id", "position", "text"} & {*self.sample})
            or bool(self.choices)
        )


def says_something(column: ColumnProfile) -> bool:
    """True if a column has values that are not all words for a missing one (``none``
    may be a filter's name)."""
    words = NULL_WORDS - {"none"}
    return any(
        not isinstance(value, str) or plain(value) not in words
        for value in column.values
    )
