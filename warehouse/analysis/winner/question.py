"""The question what the first of a leaderboard would score, had nobody picked it for
being first."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import (
    AsRows,
    OfSomePrompts,
    Seed,
    SelectedAtLevel,
    SubsetOk,
    UnderPolicy,
)
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Winner(UnderPolicy, OfSomePrompts, AsRows, SelectedAtLevel, Question):
    """The figure of the first of a leaderboard, corrected for having been picked: of
    many alike the first is the lucky one.

    The plain figure keeps its place, and nothing is ranked or compared by the corrected
    one. Where the first is clearly ahead nothing is corrected. It is of the rows that
    are compared here: what was tried and is not stored is not known.

    Raises:
        MisuseError: an unknown benchmark, metric, clustering or field; a suite; fewer
            than two rows with scores of questions.
        StatisticsError: ``level`` or ``seed`` out of range.
    """

    NAME = "winner"
    COMMAND = "leaderboard --winner"

    benchmark: Annotated[str, Option("Name of a benchmark.")]
    _: KW_ONLY
    subset_ok: SubsetOk = False
    seed: Seed = 0
