"""The questions which model is best, on one benchmark or on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.options import (
    MAX_UNSCORED,
    PROMPTS_FIXED,
    PROMPTS_SAMPLED,
    AsRows,
    Estimand,
    OfSomePrompts,
    Seed,
    SelectedAtLevel,
    SubsetOk,
    UnderPolicy,
)
from warehouse.questions.question import Option, Question

#: Draws behind the rank sets of a leaderboard (``pairs`` takes more).
DRAWS = 1999


BOTH = "give a benchmark, or the group (suite) to rank on, not both"


@dataclass(frozen=True, kw_only=True)
class Ranking(UnderPolicy, OfSomePrompts, AsRows, SelectedAtLevel):
    """How the rows of a leaderboard are estimated and compared."""

    method: Annotated[
        str,
        Option(
            "Of the intervals, such as t, normal, wilson, bca; an unknown one is "
            "answered with all.",
            "NAME",
        ),
    ] = "auto"
    estimand: Estimand = PROMPTS_SAMPLED
    max_unscored: Annotated[
        float,
        Option(
            "Mark rows with more unscored samples: many_unscored.",
            "SHARE",
            least=0,
            most=1,
        ),
    ] = MAX_UNSCORED
    subset_ok: SubsetOk = False
    n_resamples: Annotated[
        int,
        Option(
            "Draws behind the rank confidence sets; 0: no sets.",
            "N",
            ("--resamples",),
            least=0,
        ),
    ] = DRAWS
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.estimand == PROMPTS_FIXED and self.method != "auto":
            raise MisuseError(
                f"method {self.method!r} is for prompts sampled; prompts fixed has one "
                "of its own"
            )


@dataclass(frozen=True)
class OneLeaderboard(Ranking, Question):
    """All conditions on a benchmark, best first."""

    NAME = "leaderboard"

    benchmark: Annotated[str, Option("Name of a benchmark.")]


@dataclass(frozen=True)
class EveryLeaderboard(Ranking, Question):
    """Leaderboards of all benchmarks with runs."""

    NAME, ANSWER = "leaderboard", "every:leaderboards"
