"""Votes on two answers in a table that does not name whose they are."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.importers.tabular.column_names import VOTE_NAMES, plain_name
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import text_of
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, toml_text
from warehouse.importers.tabular.votes import OUTCOMES

#: What columns of votes are called.
_NAMES = {"outcome", *VOTE_NAMES["outcome"]}


def of_votes(table: TableProfile) -> Iterator[Choice]:
    """The question whose answers a column of votes is about, where each of its words is
    the side of an answer, or a tie."""
    for column in table.columns:
        if plain_name(column.name) in _NAMES and _is_of_two_sides(column):
            yield _whose_answers(column)
            return


def _is_of_two_sides(column: ColumnProfile) -> bool:
    """True if all words are those of votes, and both sides are among them."""
    words = [str(text_of(value)).strip().lower() for value in column.values]
    if column.kind != "text" or not all(word in OUTCOMES for word in words):
        return False
    return {"a", "b"} <= {OUTCOMES[word] for word in words}


def _whose_answers(column: ColumnProfile) -> Choice:
    path = toml_text(column.path)
    shown = ", ".join(str(text_of(value)) for value in column.values)
    return Choice(
        f"whose two answers {path} votes on ({shown}), as no columns name their models",
        (
            "two columns of the file, or of one beside it, name the models",
            "the same two models in all rows",
            "words of something else than votes",
        ),
        (
            f'[votes] model_a = "COLUMN", model_b = "COLUMN", outcome = {path}, in '
            "place of [[scores]]; a file beside it: [join.NAME]",
            '[votes] model_a = { const = "NAME" }, model_b = { const = "NAME" }, '
            f"outcome = {path}, in place of [[scores]]",
            "leave [sample] and [[scores]] as they are",
        ),
    )
