"""The answer of a benchmark in one sentence: who leads, by how much, and who does not differ by a test."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.comparison.all_pairs import Pairs
from warehouse.analysis.comparison.all_pairs_row import PairRow
from warehouse.analysis.comparison.pair_group import PairGroup
from warehouse.analysis.comparison.words import Sentence, interval_in_words
from warehouse.analysis.leaderboard.leaderboard import Leaderboard
from warehouse.analysis.leaderboard.words import counts_in_words, first_in_words, rows_in_words, tied_in_words
from warehouse.analysis.suites.leaderboard import SuiteBoard
from warehouse.tables.words import decimals, fixed

#: Groups besides the first's that a sentence has.
MOST_GROUPS = 2


def answer(board: Leaderboard, pairs: Pairs | None, bounds: tuple[float | None, float | None] | None) -> Sentence:
    """One sentence on a leaderboard, from its largest group of rows that can be compared.

    The difference of the first two has its simultaneous interval; who does not differ is decided by
    Holm's tests over all pairs.

    Args:
        board: with at least one row.
        pairs: of the same conditions; None where there are none.
        bounds: of the metric's values: differences of shares of 1 are given in points.
    """
    if not pairs or not pairs.groups:
        return rows_in_words(board.rows, board.higher_is_better)
    group = pairs.groups[0]
    rows = pairs.rows[: len(group.pairs)]
    sentence = _of_pairs(group, rows, board.higher_is_better, as_points=bounds == (0.0, 1.0))
    counted = [row for row in board.rows if row.rank is not None and row.split == group.split]
    more = "; other groups of runs are ranked alone" if len(pairs.groups) > 1 else ""
    return sentence + Sentence(f"{counts_in_words(counted)}{more}.")


def suite_answer(board: SuiteBoard) -> Sentence:
    """One sentence on a suite."""
    ranked = [row for row in board.rows if row.rank is not None]
    sentence = first_in_words(ranked, board.rows, board.higher_is_better)
    return sentence + Sentence(f"; mean of {len(board.leaves)} benchmarks.")


def _of_pairs(group: PairGroup, rows: Sequence[PairRow], higher_is_better: bool | None, *, as_points: bool) -> Sentence:
    labels = group.labels
    letters = [set(one) for one in group.ranks.groups]
    tied = [place for place in range(1, len(labels)) if letters[0] & letters[place]]
    first = rows[0]
    scale = 100 if as_points else 1
    places = max(decimals([first.standard_error]) - (2 if as_points else 0), 0)
    difference, low, high = (
        None if value is None else scale * value for value in (first.difference, first.ci_low, first.ci_high)
    )
    verb = "is first" if tied or higher_is_better is None else "leads"
    gap = (
        ""
        if difference is None
        else f", {fixed(difference, places, sign=True)}{' points' * as_points}"
        f" {'over' if higher_is_better is not False else 'against'} {{}}{interval_in_words(low, high, places)}"
    )
    sentence = Sentence(f"{{}} {verb}{gap}", (labels[0], labels[1]) if gap else (labels[0],))
    if tied:
        sentence += Sentence("; ") + tied_in_words([labels[0], *(labels[place] for place in tied)])
    return sentence + _other_groups(labels, group.ranks.groups)


def _other_groups(labels: Sequence[str], groups: Sequence[str]) -> Sentence:
    """Models other than the first that do not differ from one another."""
    by_letter: dict[str, list[str]] = {}
    for label, letters in zip(labels, groups, strict=True):
        for letter in letters:
            by_letter.setdefault(letter, []).append(label)
    others = [members for letter, members in by_letter.items() if letter not in groups[0] and len(members) > 1]
    if len(others) > MOST_GROUPS:
        return Sentence(f"; the others fall into {len(others)} groups that overlap")
    sentence = Sentence("")
    for members in others:
        sentence += Sentence("; ") + tied_in_words(members)
    return sentence
