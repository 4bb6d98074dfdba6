"""The question whether a model may take the place of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import (
    COSTS,
    MAX_UNSCORED,
    AsRows,
    FalseVerdicts,
    Force,
    MaxUnscored,
    OfSomePrompts,
    PairSeeds,
    Prices,
    Selected,
    UnderPolicy,
)
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Replacement(Selected):
    """Two models, of which one is to take the place of the other, and the loss that is
    tolerated."""

    candidate: Annotated[
        str, Option("The model to be released, if it is not named first.")
    ]
    baseline: Annotated[
        str, Option("The model that it follows, if it is not named second.")
    ]
    margin: Annotated[
        float | None,
        Option(
            "Loss that is tolerated, in the unit of the metric; None: each benchmark "
            "has its own.",
            flags=("--margin",),
            least=0,
        ),
    ]
    _: KW_ONLY
    margins: Annotated[
        Mapping[str, float] | None,
        Option("Such losses by benchmark.", flags=("--margin",)),
    ] = None
    benchmarks: Annotated[
        Sequence[str],
        Option(
            "Has to be there for both. Repeatable. Default: every benchmark that both "
            "have.",
            "NAME",
            ("-b", "--benchmark"),
        ),
    ] = ()
    force: Force = False


@dataclass(frozen=True)
class ReleaseGate(UnderPolicy, OfSomePrompts, AsRows, Replacement, Question):
    """Whether a candidate may take the place of a baseline.

    On each benchmark the non-inferiority test of the paired differences (clustered
    where the benchmark is), adjusted for the number of benchmarks (Holm).

    Raises:
        MisuseError: an unknown or ambiguous reference, a benchmark that one of them
            lacks, nothing in common, or runs that should not be compared.
        StatisticsError: a number out of range.
    """

    NAME = "gate"

    _: KW_ONLY
    alpha: FalseVerdicts = 0.05
    cheaper: Annotated[
        float | None,
        Option(
            "Also how many times cheaper the candidate has to be, at least; passes by "
            "both.",
            "X",
            least=1,
        ),
    ] = None
    cost: Annotated[
        str, Option("With --cheaper: what an answer costs.", choices=COSTS)
    ] = COSTS[0]
    prices: Prices = None
    pair_seeds: PairSeeds = False
    max_unscored: MaxUnscored = MAX_UNSCORED

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cheaper is None:
            self.refuse("goes with --cheaper", "cost", "prices")
        if self.cost != "dollars":
            self.refuse(
                "makes dollars of tokens: it goes with --cost dollars", "prices"
            )
