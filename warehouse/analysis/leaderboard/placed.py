"""The rows of a leaderboard that have a place and scores of questions, for questions
about places."""

from __future__ import annotations

from warehouse.analysis.leaderboard.answer import rank_rows
from warehouse.analysis.leaderboard.hooks import Line
from warehouse.analysis.leaderboard.question import OneLeaderboard
from warehouse.analysis.selection.score_matrix import too_many
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    list_differences,
)
from warehouse.errors import MisuseError
from warehouse.tables.words import counted, listed


def placed_rows(
    scores: BenchmarkScores, options: OneLeaderboard, why: str
) -> tuple[list[Line], list[str]]:
    """The rows that are ranked among one another with the first, best first, and notes
    on those that are not among them.

    Args:
        scores: of a benchmark.
        options: how rows are made.
        why: what is missing of published figures, to follow *and of published figures*.

    Raises:
        MisuseError: fewer than two, or too many.
    """
    groups = rank_rows(scores, options)
    lines = groups[0] if groups else []
    placed = []
    for entry, row in lines:
        has_scores = entry.usable is not None and row.method != "published"
        if row.rank is not None and has_scores:
            placed.append((entry, row))
    name = scores.benchmark.name
    if len(placed) < 2:
        raise MisuseError(
            f"{name} has {len(placed)} rows with scores of its questions and a place; "
            f"two are needed, and of published figures {why} (what there is: warehouse "
            f"leaderboard {name})"
        )
    if many := too_many(len(placed)):
        raise MisuseError(f"{name}: {many}")
    return placed, _notes(scores, len(lines) - len(placed))


def _notes(scores: BenchmarkScores, n_left: int) -> list[str]:
    """Rows that are not among these."""
    notes: list[str] = []
    if differing := list_differences({entry.group for entry in scores.entries}):
        notes.append(
            f"rows differ in {listed(differing)}; here is the first group alone"
        )
    if n_left:
        verb = "is" if n_left == 1 else "are"
        notes.append(
            f"{counted(n_left, 'row')} without a place, or without scores of questions, "
            f"{verb} left out"
        )
    return notes
