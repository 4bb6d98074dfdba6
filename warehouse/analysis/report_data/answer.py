"""The answer of a benchmark in one sentence: who leads, by how much, and who does not
differ by a test."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.comparison.pair_rows import PairRow
from warehouse.analysis.comparison.words import Sentence, interval_in_words
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.leaderboard.words import (
    NOBODY_LEADS,
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
from warehouse.tables.words import counted, decimals, fixed

#: Groups besides the first's that a sentence has.
MOST_GROUPS = 2


def answer(
    board: Leaderboard,
    pairs: Pairs | None,
    bounds: tuple[float | None, float | None] | None,
) -> Sentence:
    """One sentence on a leaderboard, from its largest group of rows that can be
    compared.

    The difference of the first two has its simultaneous interval; who does not differ
    is decided by Holm's tests over all pairs.

    Args:
        board: with at least one row.
        pairs: of the same conditions; None where there are none.
        bounds: of the metric's values: differences of shares of 1 are given in points.
    """
    if not pairs or not pairs.groups:
        return rows_in_words(board.rows, board.higher_is_better)
    group = pairs.groups[0]
    counted = first_group(
        [row for row in board.rows if row.rank is not None and row.split == group.split]
    )
    if not counted:
        return rows_in_words(board.rows, board.higher_is_better)
    sentence = _of_pairs(
        group, pairs.rows[0], counted, board, as_points=bounds == (0.0, 1.0)
    )
    sentence += Sentence(
        not_compared(group.n_not_compared)
        + beside_first(counted, board.rows, board.higher_is_better)
    )
    more = ""
    if len(pairs.groups) > 1:
        more = "; other groups of runs are ranked alone"
    return sentence + Sentence(f"{counts_in_words(counted)}{more}.")


def suite_answer(board: SuiteBoard) -> Sentence:
    """One sentence on a suite."""
    benchmarks = counted(len(board.leaves), "benchmark")
    return board.sentence + Sentence(f"; mean of {benchmarks}.")


def _of_pairs(
    group: PairGroup,
    first: PairRow,
    counted: Sequence[LeaderboardRow],
    board: Leaderboard,
    *,
    as_points: bool,
) -> Sentence:
    """Who is first of the rows that are counted, with which score, by how much over the
    next, and who cannot be told from whom."""
    labels, groups, higher_is_better = (
        group.labels,
        group.groups,
        board.higher_is_better,
    )
    own = next((row for row in counted if label_of(row) == labels[0]), None)
    score = figure_in_words(own, board.rows) if own else ""
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
    gap = _gap(first, higher_is_better, as_points)
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


def _gap(row: PairRow, higher_is_better: bool | None, as_points: bool) -> str:
    """By how much the first is ahead of the next, which has a place in the words; empty
    without a common prompt."""
    if row.difference is None:
        return ""
    scale = 1
    if as_points:
        scale = 100
    digits = max(decimals([row.standard_error]) - (2 if as_points else 0), 0)
    low, high = (
        None if value is None else scale * value for value in (row.ci_low, row.ci_high)
    )
    return (
        f", {fixed(scale * row.difference, digits, sign=True)}{' points' * as_points} "
        f"{'over' if higher_is_better is not False else 'against'} "
        f"{{}}{interval_in_words(low, high, digits)}"
    )


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
