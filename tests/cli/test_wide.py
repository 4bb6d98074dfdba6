"""``--wide`` is the brief table with more columns behind; ``--percent`` says where it
changes nothing."""

from __future__ import annotations

import random

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.tables.view import Table, View
from warehouse.tables.wide import wide_view


def build() -> StoreRows:
    rows, dice = StoreRows(), random.Random(3)
    for name in ("quiz", "exam"):
        rows.describe(name, rows.metric())
        for model, right in (("m/good", 0.9), ("m/mid", 0.6), ("m/low", 0.3)):
            scores = {f"{name}{n}": float(dice.random() < right) for n in range(60)}
            rows.scores(rows.run(model, name), scores)
    return rows


ROWS = build()


def heads(text: str) -> list[list[str]]:
    """The headings of each table: the line above one of dashes."""
    lines = text.splitlines()
    found = []
    for above, line in zip(lines, lines[1:], strict=False):
        if line.startswith("---"):
            ends = [at for at, mark in enumerate(line + " ") if mark == " "]
            starts = [0, *(at + 1 for at in ends if line[at + 1 : at + 2] == "-")]
            stops = [*(start - 2 for start in starts[1:]), len(above)]
            cells = zip(starts, stops, strict=True)
            found.append([above[start:stop].strip() for start, stop in cells])
    return found


@pytest.mark.parametrize(
    "command",
    [
        "leaderboard quiz",
        "compare m/good m/low",
        "gate m/good m/low --margin 0.1",
        "noise variance quiz",
    ],
)
def test_a_wide_table_begins_with_the_columns_of_the_brief_one(
    run: Caller, url: str, command: str
) -> None:
    brief = run(*command.split(), db=url).out
    wide = run(*command.split(), "--wide", db=url).out
    assert brief.splitlines()[0] == wide.splitlines()[0]
    for own, more in zip(heads(brief), heads(wide), strict=True):
        assert more[: len(own)] == own
    assert sum(map(len, heads(wide))) > sum(map(len, heads(brief)))


def test_columns_of_both_can_be_chosen(run: Caller, url: str) -> None:
    call = ("leaderboard", "quiz", "--columns", "place,model,estimate,se,score")
    (head,) = heads(run(*call, db=url).out)
    assert head == ["place", "model", "estimate", "se", "score"]


def test_rows_are_matched_by_what_they_are_and_not_by_where_they_stand() -> None:
    brief = View((Table(("model", "score"), (("b", 2), ("a", 1))),))
    whole = View((Table(("model", "n"), (("a", 10), ("b", 20))),))
    (table,) = wide_view(brief, whole).parts
    assert isinstance(table, Table)
    assert table.rows == (("b", 2, 20), ("a", 1, 10))
    other = View((Table(("model", "n"), (("a", 10), ("c", 20))),))
    assert wide_view(brief, other) is other  # nothing says which row is which


def test_percent_says_where_shares_are_in_per_cent_already(
    run: Caller, url: str
) -> None:
    brief = run("leaderboard", "quiz", "--latex", "--percent", db=url)
    assert "--percent changes nothing" in brief.err and "\\%" in brief.out
    whole = run("--explain", "leaderboard", "quiz", "--latex", "--percent", db=url)
    assert "changes nothing" not in whole.err and "\\%" in whole.out
