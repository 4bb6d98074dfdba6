"""Votes on two answers in a table that does not name whose they are."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.importers.tabular.column_names import VOTE_NAMES, plain_name, words_of
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.columns import text_of
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.toml import Choice, toml_text
from warehouse.importers.tabular.votes import OUTCOMES

#: What columns of votes are called.
_NAMES = {"outcome", *VOTE_NAMES["outcome"]}
#: How names of columns of the two sides end.
_SIDES = (("_a", "_b"), ("_1", "_2"), ("_left", "_right"), ("A", "B"))
#: Names that a question shows.
_SHOWN = 3


def of_votes(table: TableProfile) -> Iterator[Choice]:
    """The question whose answers a column of votes is about, where each of its words is
    the side of an answer, or a tie.

    A longer name (``overall_winner``) is one of votes where two columns name the sides.
    """
    sides = _sides_in(table)
    for column in table.columns:
        is_called = plain_name(column.name) in _NAMES
        is_like = bool(sides) and bool({*words_of(column.name)[-1:]} & _NAMES)
        if (is_called or is_like) and _is_of_two_sides(column):
            yield _whose_answers(column, sides)
            return


def _sides_in(table: TableProfile) -> tuple[ColumnProfile, ColumnProfile] | None:
    """Two columns of a few names that change places, never the same in a row: whose
    answers stand on the two sides, as ``label_a`` and ``label_b`` say."""
    named = [own for own in table.columns if own.kind == "text" and not own.nulls]
    by_name = {own.path: own for own in named}
    for first in named:
        for one, two in _SIDES:
            stem = first.path.removesuffix(one)
            second = by_name.get(stem + two)
            if stem == first.path or second is None:
                continue
            if _change_places(table, first, second):
                return first, second
    return None


def _change_places(
    table: TableProfile, first: ColumnProfile, second: ColumnProfile
) -> bool:
    """True if two columns have the same names, each in several rows, and no row has one
    twice."""
    names = {*map(str, first.values)}
    is_same = names == {*map(str, second.values)}
    are_few = 2 <= len(names) <= first.rows // 2
    if not is_same or not are_few:
        return False
    pairs = zip(table.values(first), table.values(second), strict=True)
    return all(one != two for one, two in pairs)


def _is_of_two_sides(column: ColumnProfile) -> bool:
    """True if all words are those of votes, and both sides are among them."""
    words = [str(text_of(value)).strip().lower() for value in column.values]
    if column.kind != "text" or not all(word in OUTCOMES for word in words):
        return False
    return {"a", "b"} <= {OUTCOMES[word] for word in words}


def _whose_answers(
    column: ColumnProfile, sides: tuple[ColumnProfile, ColumnProfile] | None
) -> Choice:
    path = toml_text(column.path)
    shown = ", ".join(str(text_of(value)) for value in column.values)
    kinds, lines = [], []
    if sides is not None:
        one, two = (toml_text(own.path) for own in sides)
        names = ", ".join(map(str, sides[0].values[:_SHOWN]))
        kinds = [f"those that {one} and {two} name ({names})"]
        lines = [
            f"[votes] model_a = {one}, model_b = {two}, outcome = {path}, in place of "
            "[matrix] and [[scores]]"
        ]
    return Choice(
        f"whose two answers {path} votes on ({shown}), as no columns name their models",
        (
            *kinds,
            "two columns of the file, or of one beside it, name the models",
            "the same two models in all rows",
            "words of something else than votes",
        ),
        (
            *lines,
            f'[votes] model_a = "COLUMN", model_b = "COLUMN", outcome = {path}, in '
            "place of [[scores]]; a file beside it: [join.NAME]",
            '[votes] model_a = { const = "NAME" }, model_b = { const = "NAME" }, '
            f"outcome = {path}, in place of [[scores]]",
            "leave [sample] and [[scores]] as they are",
        ),
    )
