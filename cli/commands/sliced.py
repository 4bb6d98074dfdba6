"""Results by a field of the prompts in place of those of ``leaderboard`` and
``compare``."""

from __future__ import annotations

from typing import Any

import click

from warehouse.analysis.slices.question import (
    PROMPTS,
    CompareBy,
    CompareSlope,
    LeaderboardBy,
)
from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.questions.question import Question

from ..state import State
from ..ui.output import Output
from ..ui.slices import Sliced
from ..ui.table import has_column_options


def give_sliced(
    state: State,
    output: Output,
    question: Question,
    sliced: Sliced,
    unused: str,
    *,
    top: int | None,
    typed: tuple[str, ...],
) -> None:
    """Ask by the field, and print what is found; rows for programs.

    Args:
        question: that the command would have asked.
        sliced: by what.
        unused: why what else was given is refused.
        top: rows of a table; 0: all.
        typed: names of options that were given.
    """
    asked = _asked(question, sliced, unused, typed)
    found: Any = state.ask(asked)
    how: dict[str, Any] = {"verbose": state.explains or has_column_options()}
    if not isinstance(asked, CompareSlope):
        how["top"] = top
    state.give(output, found, lambda: found.view(**how))


def _asked(
    question: Question, sliced: Sliced, unused: str, typed: tuple[str, ...]
) -> Question:
    """The question by a field that says the same as the command's own (UsageError: not
    of one benchmark)."""
    if isinstance(question, AnyLeaderboard):
        if question.benchmark is None:
            raise click.UsageError("--by is of one benchmark: name it")
        weights: Any = PROMPTS
        if "weights" in typed:
            weights = question.weights
        if not isinstance(weights, str):
            raise click.UsageError(
                "--weights with --by: of slices it is prompts or equal"
            )
        return question.only(
            LeaderboardBy,
            unused,
            by=sliced.by,
            bins=sliced.bins,
            weights=weights,
            rank_by=sliced.rank_by,
        )
    if sliced.slope is not None:
        return question.only(
            CompareSlope,
            unused.replace("--by", "--slope"),
            slope=sliced.slope,
            per_doubling=sliced.per_doubling,
        )
    return question.only(CompareBy, unused, by=sliced.by, bins=sliced.bins)
