"""Corrected figures in place of those of ``leaderboard``, ``compare`` and ``gate``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.judge.question import (
    CorrectedComparison,
    CorrectedGate,
    CorrectedLeaderboard,
)
from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.questions.question import Question

from ..state import State
from ..ui.next_step import say_next
from ..ui.only_benchmark import of_one
from ..ui.output import Output
from ..ui.table import print_view

if TYPE_CHECKING:
    from warehouse.analysis.judge.corrected_figures import CorrectedFigures


def give_corrected(
    state: State,
    output: Output,
    question: Question,
    unused: str,
    *,
    judge: str | None,
    human: str | None,
) -> CorrectedFigures:
    """The three figures of each row, and what they are; rows for programs.

    Args:
        question: that the command would have asked.
        unused: why what else was given is refused.
    """
    question = of_one(state, question, "--corrected")
    asked = question.only(_corrected_kind(question), unused, judge=judge, human=human)
    found: CorrectedFigures = state.ask(asked)
    output.give(found, lambda: print_view(found.view()))
    state.notes(found.notes)
    say_next(state, output, found, asked)
    return found


def _corrected_kind(question: Question) -> type[Question]:
    """The question of corrected figures in place of a command's own."""
    if isinstance(question, AnyLeaderboard):
        return CorrectedLeaderboard
    if isinstance(question, Compare):
        return CorrectedComparison
    return CorrectedGate
