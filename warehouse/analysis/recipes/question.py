"""The question which benchmarks can decide between recipes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.seeds.question import Averaged
from warehouse.errors import MisuseError
from warehouse.questions.options import Benchmarks, ByMetric, Level
from warehouse.questions.question import Option, Options, Question


@dataclass(frozen=True, kw_only=True)
class ScalePlan(Options):
    """At which scales recipes are compared, what is to be found, and what it may cost."""

    small: Annotated[
        Sequence[str],
        Option(
            "Runs of the small scale, as tokens=29B (what rounds to it). Repeatable.",
            "FIELD=VALUE",
        ),
    ] = ()
    large: Annotated[
        Sequence[str],
        Option(
            "Runs of the large scale, as parameter_count=6.9B. Repeatable.",
            "FIELD=VALUE",
        ),
    ] = ()
    delta: Annotated[
        float | None, Option("Plan to find this difference of two recipes.", "D")
    ] = None
    power: Annotated[
        float, Option("Power of the plan.", "P", least=0, most=1, is_open=(True, True))
    ] = 0.8
    run_cost: Annotated[float, Option("Of training one run.", "COST", least=0)] = 1.0
    checkpoint_cost: Annotated[
        float, Option("Of evaluating one checkpoint.", "COST", least=0)
    ] = 0.0
    budget: Annotated[
        float | None,
        Option("For both recipes together.", "COST", least=0, is_open=(True, False)),
    ] = None
    prompts_sampled: Annotated[
        bool, Option("Plan for other prompts like these too.")
    ] = False
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is None:
            costs = ("run_cost", "checkpoint_cost", "budget")
            return self.refuse(
                "is for a plan: give a delta too", "power", *costs, "prompts_sampled"
            )
        if not (math.isfinite(self.delta) and self.delta != 0):
            raise MisuseError(
                f"delta must be a number other than 0, found {self.delta}"
            )
        if not self.run_cost + self.checkpoint_cost > 0:
            raise MisuseError(
                f"costs are not both 0, found {self.run_cost} and "
                f"{self.checkpoint_cost}"
            )


@dataclass(frozen=True)
class Recipes(ByMetric, Averaged, ScalePlan, Question):
    """Which benchmarks can decide between recipes, and what a decision costs.

    A recipe is named by its data mix, and by the model where that has no name. Its
    figure at a scale is the mean over the runs there.

    Raises:
        MisuseError: unknown names, fewer than two recipes, or what is for plans without
            ``delta``.
        StatisticsError: a number out of range.
    """

    NAME = "recipes"
    COMMAND = "training recipes"

    benchmarks: Benchmarks = ()
    _: KW_ONLY
    metric: Annotated[
        str | None,
        Option(
            "Metric, or METRIC,FILTER; '*' for all; default: the headline metric.",
            "NAME",
        ),
    ] = None
