"""The answer of a benchmark in one sentence: who leads, by how much, and who does not differ by a test."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.comparison.all_pairs import PairGroup, Pairs
from warehouse.analysis.comparison.all_pairs_row import PairRow
from warehouse.analysis.comparison.words import CANNOT_TELL, Sentence, interval_in_words
from warehouse.analysis.leaderboard.leaderboard import Leaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.suites.leaderboard import SuiteBoard
from warehouse.analysis.suites.row import SuiteRow
from warehouse.tables.words import decimals, fixed, listed

#: Names in one group, and groups besides the first's, that a sentence has.
MOST_NAMES, MOST_GROUPS = 4, 2


def answer(board: Leaderboard, pairs: Pairs | None, bounds: tuple[float | None, float | None] | None) -> Sentence:
    """One sentence on a leaderboard, from its largest group of rows that can be compared.

    The difference of the first two has its simultaneous interval; who does not differ is decided by
    Holm's tests over all pairs.

    Args:
        board: with at least one row.
        pairs: of the same conditions; None where there are none.
        bounds: of the metric's values: differences of shares of 1 are given in points.
    """
    n_groups = len(pairs.groups) if pairs else len({(row.split, row.metric) for row in board.rows if row.rank == 1})
    if pairs and pairs.groups:
        group = pairs.groups[0]
        rows = pairs.rows[: len(group.pairs)]
        sentence = _of_pairs(group, rows, board.higher_is_better, as_points=bounds == (0.0, 1.0))
        counted = [row for row in board.rows if row.rank is not None and row.split == group.split]
    else:
        sentence = _of_rows([row for row in board.rows if row.rank is not None], board.rows)
        counted = [row for row in board.rows if row.rank is not None] or list(board.rows)
    more = "; other groups of runs are ranked alone" if n_groups > 1 else ""
    return sentence + Sentence(f"{_counts(counted)}{more}.")


def suite_answer(board: SuiteBoard) -> Sentence:
    """One sentence on a suite."""
    sentence = _of_rows([row for row in board.rows if row.rank is not None], board.rows)
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
        sentence += Sentence("; ") + _tied([labels[0], *(labels[place] for place in tied)])
    return sentence + _other_groups(labels, group.ranks.groups)


def _other_groups(labels: Sequence[str], groups: Sequence[str]) -> Sentence:
    """Models other than the first that do not differ from one another."""
    found: dict[str, list[str]] = {}
    for label, letters in zip(labels, groups, strict=True):
        for letter in letters:
            found.setdefault(letter, []).append(label)
    others = [members for letter, members in found.items() if letter not in groups[0] and len(members) > 1]
    if len(others) > MOST_GROUPS:
        return Sentence(f"; the others fall into {len(others)} groups that overlap")
    sentence = Sentence("")
    for members in others:
        sentence += Sentence("; ") + _tied(members)
    return sentence


def _tied(names: Sequence[str]) -> Sentence:
    if len(names) > MOST_NAMES:
        return Sentence(f"{{}} and {len(names) - 1} others {CANNOT_TELL}", (names[0],))
    return Sentence(f"{listed(['{}'] * len(names))} {CANNOT_TELL}", tuple(names))


def _of_rows(
    ranked: Sequence[LeaderboardRow] | Sequence[SuiteRow], every: Sequence[LeaderboardRow] | Sequence[SuiteRow]
) -> Sentence:
    """Without tests of pairs: the first by its figure, and those who share a letter with it."""
    rows = [row for row in ranked or every if row.estimate is not None]
    if not rows or rows[0].estimate is None:
        return Sentence("No figure")
    first = rows[0]
    places = decimals([first.standard_error])
    figure = f"{fixed(rows[0].estimate, places)}{interval_in_words(first.ci_low, first.ci_high, places)}"
    tied = [row for row in rows[1:] if set(row.group) & set(first.group)]
    verb = "has" if len(rows) == 1 else "leads with" if first.group and not tied else "is first with"
    sentence = Sentence(f"{{}} {verb} {figure}", (_label(first),))
    if tied:
        sentence += Sentence("; ") + _tied([_label(first), *map(_label, tied)])
    elif len(rows) > 1 and not first.group:
        sentence += Sentence("; no test of differences")
    return sentence


def _label(row: LeaderboardRow | SuiteRow) -> str:
    return f"{row.model} ({row.condition})" if row.condition else row.model


def _counts(rows: Sequence[LeaderboardRow]) -> str:
    if not any(row.n_prompts for row in rows):
        return "; published figures" if any(row.estimate is not None for row in rows) else ""
    prompts = _span([row.n_prompts for row in rows])
    clusters = [row.n_clusters for row in rows if row.n_clusters is not None]
    within = f" in {_span(clusters)} clusters" if clusters else ""
    return f"; {prompts} {'prompt' if prompts == '1' else 'prompts'}{within}"


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"
