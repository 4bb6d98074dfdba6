"""Full marks beside points that were earned of them."""

from __future__ import annotations

from warehouse.importers.tabular.column_names import (
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.looks import is_verdict
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, toml_text
from warehouse.importers.tabular.evidence import Standing, bounds

#: Words of the names of full marks.
_POSSIBLE = frozenset(
    "max maximum full possible total points marks punkte maximal available out".split()
)


#: Words of the names of other limits.
_COUNTED = frozenset(
    "turn turns digit digits token tokens step steps option options time seconds "
    "attempt attempts retry retries length chars words call calls".split()
)


def full_marks(
    table: TableProfile, score: ColumnProfile, fields: Fields
) -> ColumnProfile | None:
    """The column of what could be earned of each prompt, beside a column of what was
    earned."""
    if is_verdict(score) or max(score.numbers, default=0) <= 1:
        return None
    for column in table.columns:
        if column.path in fields.taken or column is score:
            continue
        words = {*words_of(column.name)}
        is_called = bool(words & _POSSIBLE) and not words & _COUNTED
        standing = fields.evidence.standing(column)
        is_of_prompt = standing in (
            Standing.OF_PROMPT,
            Standing.CONSTANT,
            Standing.UNKNOWN,
        )
        if is_called and is_of_prompt and bounds(score, column):
            return column
    return None


def of_full_marks(score: ColumnProfile, marks: ColumnProfile) -> Choice:
    """The question whether a score is a share of what could be earned."""
    path = toml_text(score.path)
    possible = toml_text(marks.path)
    return Choice(
        f"what {path} is beside {possible}, which no row exceeds",
        (
            f"points of which each prompt gives up to {possible}: their share",
            "a score of its own: its mean",
        ),
        (
            f"value = {{ quotient = [{path}, {possible}] }} in its [[scores]]",
            "leave its [[scores]] as it is",
        ),
    )
