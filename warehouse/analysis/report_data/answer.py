"""The answer of a benchmark in one sentence: who leads, by how much, and who does not
differ by a test."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.comparison.pair_rows import PairRow
from warehouse.analysis.comparison.words import Sentence, interval_in_words
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.brief import unit_of
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.leaderboard.words import (
    NOBODY_LEADS,
    ahead_without_place,
    alike_in_words,
    beside_first,
    counts_in_words,
    figure_in_words,
    first_group,
    is_tie,
    label_of,
    n_better,
    named,
    not_compared,
    of_whom,
    rows_in_words,
    tied_in_words,
)
from warehouse.analysis.pairs.answer import Pairs
from warehouse.analysis.pairs.group import PairGroup
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.stats.multiple.ranks import letters_in
from warehouse.tables.units import Unit
from warehouse.tables.words import counted

#: Groups besides the first's that a sentence has.
MOST_GROUPS = 2


def answer(board: Leaderboard, pairs: Pairs | None) -> Sentence:
    """One sentence on a leaderboard, from its largest group of rows that can be
    compared.

    The difference of the first two has its simultaneous interval; who does not differ
    is decided by Holm's tests over all pairs.

    Args:
        board: with at least one row.
        pairs: of the same conditions; None where there are none.
    """
    unit = unit_of(board.rows, in_percent=board.is_share)
    if not pairs or not pairs.groups:
        return _untested(board, unit)
    group = pairs.groups[0]
    counted = first_group(
        [row for row in board.rows if row.rank is not None and row.split == group.split]
    )
    if not counted:
        return _untested(board, unit)
    sentence = ahead_without_place(counted, board.rows, board.higher_is_better, unit)
    sentence += _of_pairs(group, pairs.rows[0], counted, board, unit)
    sentence += Sentence(
        not_compared(group.n_not_compared)
        + beside_first(counted, board.rows, board.higher_is_better)
    )
    more = ""
    if len(pairs.groups) > 1:
        more = "; other groups of runs are ranked alone"
    return sentence + Sentence(f"{counts_in_words(counted)}{more}.")


def _untested(board: Leaderboard, unit: Unit) -> Sentence:
    """The sentence of a leaderboard without tests of its pairs."""
    said = rows_in_words(board.rows, board.higher_is_better, unit)
    counted = [row for row in board.rows if row.rank is not None] or board.rows
    words = counts_in_words(counted)
    if not words:
        return said
    return Sentence(f"{said.template.removesuffix('.')}{words}.", said.names)


def suite_answer(board: SuiteBoard) -> Sentence:
    """One sentence on a suite."""
    benchmarks = counted(len(board.leaves), "benchmark")
    return board.sentence_in_unit + Sentence(f"; mean of {benchmarks}.")


def _of_pairs(
    group: PairGroup,
    first: PairRow,
    counted: Sequence[LeaderboardRow],
    board: Leaderboard,
    unit: Unit,
) -> Sentence:
    """Who is first of the rows that are counted, with which score, by how much over the
    next, and who cannot be told from whom."""
    labels, groups, higher_is_better = (
        group.labels,
        group.groups,
        board.higher_is_better,
    )
    own = next((row for row in counted if label_of(row) == labels[0]), None)
    score = figure_in_words(own, board.rows, unit) if own else ""
    scored = f" with {score}" if score else ""
    own_letters = {*letters_in(groups[0])}
    alike = [
        pair
        for pair in zip(labels[1:], groups[1:], strict=True)
        if own_letters & {*letters_in(pair[1])}
    ]
    top = [
        label
        for label, mean in zip(labels, group.pairs.means, strict=True)
        if is_tie(mean, group.pairs.means[0])
    ]
    of = of_whom(counted, board.rows)
    gap = _gap(first, higher_is_better, unit)
    ahead = labels[: 2 if gap else 1]
    if len(top) > 1:
        sentence = named(top, f"are tied{scored}") + Sentence(
            of and f"{', ' if scored else ''}{of.strip()}"
        )
    elif (
        higher_is_better is None
        or alike
        or group.n_not_compared
        or (own and n_better(own))
    ):
        # others may be, or are
        have = f"has the {'lowest' if higher_is_better is False else 'highest'} figure"
        sentence = Sentence(
            f"{{}} {have}{of}{of and score and ','}{score and f' {score}'}{gap}", ahead
        )
    else:
        sentence = Sentence(f"{{}} leads{scored}{gap}{of and f', first{of}'}", ahead)
    if higher_is_better is None:
        sentence += Sentence(NOBODY_LEADS)
    if {label for label, _ in alike} - set(top):
        sentence += Sentence("; ") + alike_in_words([(labels[0], groups[0]), *alike])
    return sentence + _other_groups(labels, groups)


def _gap(row: PairRow, higher_is_better: bool | None, unit: Unit) -> str:
    """By how much the first is ahead of the next, which has a place in the words; empty
    without a common prompt."""
    if row.difference is None:
        return ""
    points = " points" if unit.in_percent else ""
    over = "against" if higher_is_better is False else "over"
    low, high = (
        None if end is None else unit.many([end])[0]
        for end in (row.ci_low, row.ci_high)
    )
    ends = interval_in_words(low, high, unit.digits)
    return f", {unit.difference(row.difference)}{points} {over} {{}}{ends}"


def _other_groups(labels: Sequence[str], groups: Sequence[str]) -> Sentence:
    """Models other than the first that do not differ from one another."""
    by_letter: dict[str, list[str]] = {}
    for label, display in zip(labels, groups, strict=True):
        for letter in letters_in(display):
            by_letter.setdefault(letter, []).append(label)
    first = {*letters_in(groups[0])}
    others = [
        members
        for letter, members in by_letter.items()
        if letter not in first and len(members) > 1
    ]
    if len(others) > MOST_GROUPS:
        return Sentence(f"; the others fall into {len(others)} groups that overlap")
    sentence = Sentence("")
    for members in others:
        sentence += Sentence("; ") + tied_in_words(members)
    return sentence
