"""Subsets: which prompts of a benchmark to ask instead of all of them."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.options import ChosenScores, Level, Seed, StoreResult
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class PlanSubset(ChosenScores, Question):
    """Draw the prompts of a benchmark to ask, and store the plan.

    Asked on them alone, a model gets an unbiased estimate of its figure on the whole benchmark with a valid interval.
    The plan has to be made before a model is asked. There is one for each benchmark; ``write(path)`` writes the plan
    file.

    Raises:
        MisuseError: unknown names, none or several of ``size``, ``width`` and ``budget``, nothing that shows all
            prompts, a baseline that lacks scores.
        StatisticsError: a size out of range.
    """

    NAME, ANSWER = "subset_plan", "warehouse.analysis.subsets.make:plan_subset"
    COMMAND = "subset plan"
    OPENS = True

    benchmark: Annotated[
        str, Option("Name of a benchmark, or of a suite: then each of its benchmarks gets a part.", "BENCHMARK|SUITE")
    ]
    _: KW_ONLY
    size: Annotated[int | None, Option("Prompts to ask.", "M")] = None
    width: Annotated[float | None, Option("Instead: as many as make the interval so wide, by history.", "W")] = None
    budget: Annotated[float | None, Option("Instead: what may be spent.", "GENERATIONS")] = None
    draws: Annotated[int, Option("Generations for a prompt.", "K", least=1)] = 1
    against: Annotated[str | None, Option("A stored model, with all prompts, to be compared with.", "BASELINE")] = None
    level: Level = 0.95
    seed: Seed = 0
    store_result: StoreResult = True
    now: Annotated[
        datetime | None, Option("When the plan is made, naive UTC; None for the clock's time.", in_python_only=True)
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(one is not None for one in (self.size, self.width, self.budget)) != 1:
            raise MisuseError("say how many prompts: one of --size, --width and --budget")
        if self.budget is None:
            self.refuse("goes with {budget}: it says how far that goes", "draws")
        if self.width is not None and not 0 < self.width < math.inf:
            raise MisuseError(f"the width of an interval is a number above 0, found {self.width}")
        if self.budget is not None and not 0 < self.budget < math.inf:
            raise MisuseError(f"a budget is a number of generations above 0, found {self.budget}")

    @property
    def wanted(self) -> int | None:
        """Prompts to ask; None where the width says."""
        return self.size if self.budget is None else int(self.budget // self.draws)
