"""Results by a field of the prompts in place of those of ``leaderboard``,
``compare`` and ``gate``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from warehouse.analysis.slices.question import (
    PROMPTS,
    CompareBy,
    CompareSlope,
    GateBy,
    LeaderboardBy,
)
from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.questions.question import Question

from ..state import State
from ..ui.only_benchmark import of_one
from ..ui.output import Output
from ..ui.table import rows_wanted

#: Reasons for what is refused beside them.
UNUSED = "changes nothing of results by a field: leave out it or --by"
UNUSED_ALONG = "changes nothing of a slope: leave out it or --slope"


def give_by(
    state: State,
    output: Output,
    question: Question,
    fields: Mapping[str, Any],
    *,
    top: int | None,
    typed: tuple[str, ...],
) -> None:
    """Ask by fields in place of a command's own question, and print what is found; rows
    for programs.

    Args:
        question: that the command would have asked.
        fields: ``by``, ``bins`` and ``rank_by``.
        top: rows of a table; 0: all.
        typed: names of options that were given.
    """
    if isinstance(question, AnyLeaderboard):
        asked: Question = _board(of_one(state, question, "--by"), fields, typed)
    else:
        own = {name: fields[name] for name in ("by", "bins")}
        asked = question.only(CompareBy, UNUSED, **own)
    found: Any = state.ask(asked)
    view = partial(found.view, top=rows_wanted(top))
    state.give(output, found, partial(state.view_of, view))


def give_along(
    state: State, output: Output, question: Question, slope: str, per_doubling: bool
) -> None:
    """Ask for the slope along a number in place of a command's own question.

    Args:
        question: that the command would have asked.
        slope: name of the number.
        per_doubling: of it.
    """
    asked = question.only(
        CompareSlope, UNUSED_ALONG, slope=slope, per_doubling=per_doubling
    )
    found: Any = state.ask(asked)
    state.give(output, found, lambda: found.view(verbose=state.explains))


def _board(
    question: AnyLeaderboard, fields: Mapping[str, Any], typed: tuple[str, ...]
) -> LeaderboardBy:
    """The leaderboard by fields (UsageError: weights of other things than slices)."""
    weights: Any = PROMPTS
    if "weights" in typed:
        weights = question.weights
    if not isinstance(weights, str):
        raise click.UsageError("--weights with --by: of slices it is prompts or equal")
    return question.only(LeaderboardBy, UNUSED, weights=weights, **fields)


def give_gate(
    state: State, output: Output, question: Question, fields: Mapping[str, Any]
) -> int:
    """Ask for a gate that looks at slices too, and print what is found; the exit code.

    Args:
        question: that the command would have asked.
        fields: ``no_slice_worse_than``, ``by`` and ``bins``.
    """
    found: Any = state.ask(question.only(GateBy, UNUSED, **fields))
    state.give(output, found, found.view)
    return int(found.exit_code)
