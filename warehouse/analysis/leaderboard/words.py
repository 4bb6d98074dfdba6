"""What a leaderboard says in one sentence: who is first, and who cannot be told from it."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.comparison.words import CANNOT_TELL, Sentence, interval_in_words
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.suites.row import SuiteRow
from warehouse.tables.words import decimals, fixed, listed

#: Names in one group that a sentence has.
MOST_NAMES = 4


def rows_in_words(rows: Sequence[LeaderboardRow], higher_is_better: bool | None) -> Sentence:
    """The sentence of a leaderboard, by its figures and the letters of its groups.

    Args:
        rows: at least one.
        higher_is_better: direction of their metric; nobody leads where it is not known.
    """
    counted = [row for row in rows if row.rank is not None]
    # a judge that tells groups apart stands in no row, but only of different groups are figures both first
    n_groups = len({(row.split, row.metric, row.estimate) for row in rows if row.rank == 1})
    more = "; other groups of runs are ranked alone" if n_groups > 1 else ""
    return first_in_words(counted, rows, higher_is_better) + Sentence(f"{counts_in_words(counted or rows)}{more}.")


def first_in_words(
    ranked: Sequence[LeaderboardRow] | Sequence[SuiteRow],
    every: Sequence[LeaderboardRow] | Sequence[SuiteRow],
    higher_is_better: bool | None,
) -> Sentence:
    """Without tests of pairs: the first by its figure, and those who share a letter with it."""
    rows = [row for row in ranked or every if row.estimate is not None]
    if not rows or rows[0].estimate is None:
        return Sentence("No figure")
    first = rows[0]
    places = decimals(row.standard_error for row in every)
    figure = f"{fixed(rows[0].estimate, places)}{interval_in_words(first.ci_low, first.ci_high, places)}"
    if "planned" in first.flags:
        figure += ", estimated from a planned subset"
    tied = [row for row in rows[1:] if set(row.group) & set(first.group)]
    leads = first.group and not tied and higher_is_better is not None
    verb = "has" if len(rows) == 1 else "leads with" if leads else "is first with"
    sentence = Sentence(f"{{}} {verb} {figure}", (_label(first),))
    if tied:
        sentence += Sentence("; ") + tied_in_words([_label(first), *map(_label, tied)])
    elif len(rows) > 1 and not first.group:
        sentence += Sentence("; no test of differences")
    return sentence


def tied_in_words(names: Sequence[str]) -> Sentence:
    """That no test separates these."""
    if len(names) > MOST_NAMES:
        return Sentence(f"{{}} and {len(names) - 1} others {CANNOT_TELL}", (names[0],))
    return Sentence(f"{listed(['{}'] * len(names))} {CANNOT_TELL}", tuple(names))


def _label(row: LeaderboardRow | SuiteRow) -> str:
    return f"{row.model} ({row.condition})" if row.condition else row.model


def counts_in_words(rows: Sequence[LeaderboardRow]) -> str:
    """How many prompts and clusters the figures rest on; a semicolon before them."""
    if not any(row.n_prompts for row in rows):
        return "; published figures" if any(row.estimate is not None for row in rows) else ""
    prompts = _span([row.n_prompts for row in rows])
    clusters = [row.n_clusters for row in rows if row.n_clusters is not None]
    within = f" in {_span(clusters)} clusters" if clusters else ""
    return f"; {prompts} {'prompt' if prompts == '1' else 'prompts'}{within}"


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"
