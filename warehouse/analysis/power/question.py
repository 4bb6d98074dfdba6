"""The questions how many prompts and draws a comparison takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated

from warehouse.questions.options import COSTS, AsRows, Prices, Seed, Selected
from warehouse.questions.question import Option, Options, Question


@dataclass(frozen=True)
class PowerPilot(AsRows, Selected, Question):
    """Variance parts of two stored runs, or of one that stands for both.

    Raises:
        MisuseError: unknown or ambiguous references, no common prompts, no scores, runs
            that are no repeats.
        StatisticsError: a single prompt or cluster, or ``correlation`` out of range.
    """

    NAME, ANSWER = "power", "pilot:read_pilot"

    references: Annotated[
        Sequence[str],
        Option("One or two stored runs.", "A [B]", ("--from",), is_spread=True),
    ]
    _: KW_ONLY
    benchmark: Annotated[
        str | None,
        Option("With --from: where more than one fits.", "NAME", ("-b", "--benchmark")),
    ] = None
    correlation: Annotated[
        float | None,
        Option(
            "With one stored run: of the two models over prompts. [default: 0, the "
            "safe side]",
            "R",
            least=-1,
            most=1,
            is_open=(False, True),
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class GivenVariances(Options):
    """Variances that are given, not estimated."""

    omega2: Annotated[
        float | None,
        Option("Variance over prompts of the models' true difference.", "V"),
    ] = None
    sigma2_a: Annotated[
        float | None, Option("Variance of one draw of A. [default: 0]", "V")
    ] = None
    sigma2_b: Annotated[float | None, Option("The same of B. [default: A's]", "V")] = (
        None
    )
    icc: Annotated[
        float | None,
        Option(
            "With --cluster-size: correlation of differences within a cluster.", "R"
        ),
    ] = None
    cluster_size: Annotated[float | None, Option("Mean prompts in a cluster.", "M")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class Planned(Options):
    """What is to be planned. Of ``delta`` and ``n``, what is left out is worked out."""

    delta: Annotated[
        float | None, Option("Difference to find, on the metric's scale.", "D")
    ] = None
    n: Annotated[int | None, Option("Prompts.", "N")] = None
    power: Annotated[float | None, Option("Chance to find it. [default: 0.8]", "P")] = (
        None
    )
    alpha: Annotated[float, Option("Two-sided significance level.", "P")] = 0.05
    k: Annotated[
        Sequence[int] | None,
        Option(
            "Draws per prompt of both: the first for the answer, all for the table. "
            "[default: 1,2,5,10]",
            "K,...",
        ),
    ] = None
    k_b: Annotated[
        int | None, Option("Draws of B, where they are there and not to be made.", "K")
    ] = None
    n_values: Annotated[
        Sequence[int] | None, Option("Prompts in the table.", "N,...")
    ] = None
    budget: Annotated[
        float | None,
        Option("What may be spent: the n and K with the least error.", "GENERATIONS"),
    ] = None
    available: Annotated[
        int | None, Option("Prompts there are. [default: the pilot's]", "N")
    ] = None


@dataclass(frozen=True)
class PowerFromRuns(Planned, PowerPilot):
    """How many prompts and draws a comparison takes, by the variances of one or two
    stored runs.

    Raises:
        MisuseError: as of a pilot, or all three or none of difference, prompts and
            power are given.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "power", "answer:power_from_runs"


@dataclass(frozen=True, kw_only=True)
class PlannedCosts(Options):
    """That a comparison of costs is planned, in place of scores."""

    cost: Annotated[
        str | None,
        Option(
            "With --from A B: plan to show that A costs less than B; --alpha is "
            "one-sided.",
            choices=COSTS,
        ),
    ] = None
    prices: Prices = None
    cheaper: Annotated[
        float,
        Option("With --cost: how many times cheaper is to be shown.", "X", least=1),
    ] = 1.0
    seed: Seed = 0


@dataclass(frozen=True)
class CostPower(PlannedCosts, PowerPilot):
    """How many prompts show that the first of two models costs less, by what answers to
    stored prompts cost.

    Raises:
        MisuseError: as of a pilot, costs that are not known, or both prompts and power
            given.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "cost_power", "costs:cost_power"
    COMMAND = "power"

    references: Annotated[Sequence[str], Option("Two stored runs.", "A B", ("--from",))]
    _: KW_ONLY
    cost: Annotated[
        str, Option("What an answer costs.", flags=("--cost",), choices=COSTS)
    ] = field()
    n: Annotated[
        int | None,
        Option("Prompts, to work out the power.", "N", least=2, most=10_000_000),
    ] = None
    power: Annotated[float | None, Option("Chance to show it. [default: 0.8]", "P")] = (
        None
    )
    alpha: Annotated[float, Option("One-sided significance level.", "P")] = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cost != COSTS[0]:
            self.refuse(
                "makes dollars of tokens: it goes with --cost dollars", "prices"
            )
        if self.n is not None:
            self.refuse("is worked out with --n", "power")
        self.refuse(
            "is of scores: costs are planned without",
            "metric",
            "correlation",
            "repeats",
            "seeds_are",
        )
