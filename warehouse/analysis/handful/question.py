"""The questions how few units carry the lead of one of two models, the places of a
leaderboard, and the first place by votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.compare.question import TwoConditions
from warehouse.analysis.prefer.question import WEIGHTS
from warehouse.questions.options import (
    AsRows,
    Force,
    OfSomePrompts,
    Selected,
    SelectedAtLevel,
    SubsetOk,
    UnderPolicy,
)
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Handful(
    UnderPolicy, OfSomePrompts, AsRows, SelectedAtLevel, TwoConditions, Question
):
    """How few questions, clusters or training seeds would have to be left out, or have
    had another verdict, for the comparison of two models to turn.

    It describes the data that are there and is no test: a small share is no sign of
    weakness, and what is left has no p.

    Raises:
        MisuseError: an unknown or ambiguous reference, nothing in common, or runs that
            should not be compared.
        StatisticsError: ``level`` out of range.
    """

    NAME = "handful"
    COMMAND = "compare --handful"

    _: KW_ONLY
    force: Force = False


@dataclass(frozen=True)
class LeaderboardHandful(UnderPolicy, OfSomePrompts, AsRows, Selected, Question):
    """How few questions carry the first place of a leaderboard, and each place over the
    next.

    It describes the answers that are there and is no test: a small share is no sign of
    weakness, and what is left has no p.

    Raises:
        MisuseError: an unknown benchmark, metric or field; a suite; fewer than two rows
            with scores of questions.
    """

    NAME, ANSWER = "leaderboard_handful", "board:leaderboard_handful"
    COMMAND = "leaderboard --handful"

    benchmark: Annotated[str, Option("Name of a benchmark.")]
    _: KW_ONLY
    subset_ok: SubsetOk = False


@dataclass(frozen=True)
class PreferHandful(Question):
    """How few votes, voters or prompts are enough for another model to be first.

    Those that add most to the gap are left out, and the rest is fitted anew: so many
    are enough, which does not say that fewer are not. It describes the votes that are
    there and is no test.

    Raises:
        MisuseError: an unknown name, several scorers and none chosen, or votes that do
            not hold all models together.
        StatisticsError: covariates that explain all votes, or nothing that others do
            not.
    """

    NAME, ANSWER = "prefer_handful", "votes:prefer_handful"
    COMMAND = "prefer --handful"

    benchmark: Annotated[str, Option("Name of a benchmark with votes.", "BENCHMARK")]
    _: KW_ONLY
    scorer: Annotated[
        str | None, Option("Who judged; needed where several did.", "NAME")
    ] = None
    covariate: Annotated[
        Sequence[str],
        Option(
            "Hold this covariate of the answers (first less second) alike, such as "
            "length. Repeatable.",
            "NAME",
        ),
    ] = ()
    drop_both_bad: Annotated[
        bool, Option("Votes that both are bad do not count; default: they are ties.")
    ] = False
    weights: Annotated[
        str,
        Option(
            "Votes as they are, or each pair of models alike, however often it met.",
            choices=WEIGHTS,
        ),
    ] = WEIGHTS[0]
    component: Annotated[
        int | None,
        Option(
            "Only the N-th largest group of models that votes hold together.",
            "N",
            least=1,
        ),
    ] = None
