"""What training runs say: seeds, checkpoints, and whether a difference of two recipes is noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.options import REFERENCE, ByMetric, Cluster, Level
from warehouse.questions.question import Option, Options, Question

_Benchmarks = Annotated[
    Sequence[str],
    Option("Names, also of suites; default: all that have some.", "[BENCHMARK|SUITE]...", is_argument=True),
]
_Trained = Annotated[str, Option("Reference of a trained model, or run:ID.", "MODEL")]


@dataclass(frozen=True, kw_only=True)
class Averaged(Options):
    """What the figure of a run is."""

    averaged: Annotated[
        int, Option("A run's figure is the mean of its last M checkpoints.", "M", ("--average",), least=1)
    ] = 1


@dataclass(frozen=True)
class Seeds(ByMetric, Averaged, Question):
    """How much a figure would change with another training seed, and from checkpoint to checkpoint.

    Raises:
        MisuseError: an unknown name, or no run with a seed or a position.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "seeds", "warehouse.analysis.training.seeds:seeds"
    IS_DRAWN = True

    benchmarks: _Benchmarks = ()
    _: KW_ONLY
    against: Annotated[str | None, Option("A second metric: whose signal to noise is larger?", "METRIC")] = None
    level: Level = 0.95


@dataclass(frozen=True)
class Curves(ByMetric, Question):
    """Scores along training: above chance from where, significant drops, and where two curves cross.

    Raises:
        MisuseError: an unknown name, no checkpoint with a place in training, or units that differ between two curves
            that were asked for.
        StatisticsError: ``level`` out of range.
    """

    NAME, ANSWER = "curves", "warehouse.analysis.training.curves:curves"

    benchmark: Annotated[str, Option("Name of a benchmark.", "BENCHMARK")]
    references: Annotated[
        Sequence[str],
        Option(
            "Models, or run:ID; default: all. Two curves are held against each other.",
            f"[{REFERENCE}]...",
            is_argument=True,
        ),
    ] = ()
    _: KW_ONLY
    against: Annotated[str | None, Option("The other formulation of it: where do the two cross?", "BENCHMARK")] = None
    chance: Annotated[float | None, Option("What guessing scores. [default: what the data say]", "SCORE")] = None
    cluster: Cluster = None
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.chance is not None and not math.isfinite(self.chance):
            raise MisuseError(f"chance must be a number, found {self.chance}")


@dataclass(frozen=True)
class Decide(ByMetric, Averaged, Question):
    """Is the difference of two trained models more than another training seed would make?

    All seeds of a reference are taken. With three seeds of the two together their spread is the measure, else that of
    the other recipes on the benchmark that have seeds, else spreads that are known of other benchmarks.

    Raises:
        MisuseError: an unknown or ambiguous reference, or nothing in common.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "decide", "warehouse.analysis.training.decide:decide"

    a: _Trained
    b: _Trained
    _: KW_ONLY
    benchmark: Annotated[
        str | None, Option("Only this one. [default: all that both have]", "NAME", ("-b", "--benchmark"))
    ] = None
    level: Level = 0.95


@dataclass(frozen=True, kw_only=True)
class ScalePlan(Options):
    """At which scales recipes are compared, what is to be found, and what it may cost."""

    small: Annotated[
        Sequence[str], Option("Runs of the small scale, as tokens=29B (what rounds to it). Repeatable.", "FIELD=VALUE")
    ] = ()
    large: Annotated[
        Sequence[str], Option("Runs of the large scale, as parameter_count=6.9B. Repeatable.", "FIELD=VALUE")
    ] = ()
    delta: Annotated[float | None, Option("Plan to find this difference of two recipes.", "D")] = None
    power: Annotated[float, Option("Power of the plan.", "P", least=0, most=1, is_open=(True, True))] = 0.8
    run_cost: Annotated[float, Option("Of training one run.", "COST", least=0)] = 1.0
    checkpoint_cost: Annotated[float, Option("Of evaluating one checkpoint.", "COST", least=0)] = 0.0
    budget: Annotated[float | None, Option("For both recipes together.", "COST", least=0, is_open=(True, False))] = None
    prompts_sampled: Annotated[bool, Option("Plan for other prompts like these too.")] = False
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is None:
            costs = ("run_cost", "checkpoint_cost", "budget")
            return self.refuse("is for a plan: give a delta too", "power", *costs, "prompts_sampled")
        if not (math.isfinite(self.delta) and self.delta != 0):
            raise MisuseError(f"delta must be a number other than 0, found {self.delta}")
        if not self.run_cost + self.checkpoint_cost > 0:
            raise MisuseError(f"costs are not both 0, found {self.run_cost} and {self.checkpoint_cost}")


@dataclass(frozen=True)
class Recipes(ByMetric, Averaged, ScalePlan, Question):
    """Which benchmarks can decide between recipes, and what a decision costs.

    A recipe is named by its data mix, and by the model where that has no name. Its figure at a scale is the mean over
    the runs there.

    Raises:
        MisuseError: unknown names, fewer than two recipes, or what is for plans without ``delta``.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "recipes", "warehouse.analysis.training.recipes:recipes"

    benchmarks: _Benchmarks = ()
    _: KW_ONLY
    metric: Annotated[
        str | None, Option("Metric, or METRIC,FILTER; '*' for all; default: the headline metric.", "NAME")
    ] = None
