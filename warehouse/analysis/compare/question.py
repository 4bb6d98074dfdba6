"""The questions how two models differ."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.pairs.question import METHODS
from warehouse.errors import StatisticsError
from warehouse.questions.options import (
    COSTS,
    PROMPTS_SAMPLED,
    AsRows,
    Estimand,
    Force,
    OfSomePrompts,
    PairSeeds,
    Prices,
    Reference,
    Seed,
    SelectedAtLevel,
    UnderPolicy,
)
from warehouse.questions.question import Option, Options, Question


@dataclass(frozen=True)
class TwoConditions(Options):
    """Two models, on one benchmark or on several."""

    a: Reference
    b: Reference
    _: KW_ONLY
    benchmark: Annotated[
        str | None,
        Option(
            "Default: every benchmark that both have.",
            "NAME",
            ("-b", "--benchmark"),
            if_several=(
                "leave it out for all that both have, and take their rows of the answer"
            ),
        ),
    ] = None


@dataclass(frozen=True)
class CompareUnpaired(SelectedAtLevel, TwoConditions, Question):
    """The difference of two models that answered different prompts of a benchmark.

    Each model's figure is over its own prompts, and the errors are taken as
    independent. Where prompts are shared the paired comparison is the one to make: it
    is refused without ``force``.

    Raises:
        MisuseError: an unknown or ambiguous reference, no benchmark in common, prompts
            in common, or runs that should not be compared.
        StatisticsError: ``level`` out of range.
    """

    NAME, ANSWER = "compare_unpaired", "unpaired:compare_unpaired"
    COMMAND = "compare --unpaired"

    _: KW_ONLY
    force: Force = False


@dataclass(frozen=True)
class Compare(
    UnderPolicy, OfSomePrompts, AsRows, SelectedAtLevel, TwoConditions, Question
):
    """The paired difference of two models, on one benchmark or on all that both have.

    Raises:
        MisuseError: an unknown or ambiguous reference, nothing in common, or runs that
            should not be compared.
        StatisticsError: a number out of range.
    """

    NAME = "compare"

    _: KW_ONLY
    method: Annotated[
        str, Option("The test that decides what is better; auto: t.", choices=METHODS)
    ] = "auto"
    estimand: Estimand = PROMPTS_SAMPLED
    equivalence: Annotated[
        float | None,
        Option(
            "Test whether they are equal within ±MARGIN, in the unit of the metric.",
            "MARGIN",
            least=0,
            most=float("inf"),
            is_open=(True, True),
        ),
    ] = None
    across_links: Annotated[
        bool,
        Option(
            "On two benchmarks whose prompts are linked: two formulations, the models "
            "named or one model."
        ),
    ] = False
    second_metric: Annotated[
        str | None,
        Option(
            "Metric of B, where its tool has another name for it. [default: the same "
            "as of A]",
            "NAME",
        ),
    ] = None
    cost: Annotated[
        str | None,
        Option("Also what an answer costs, and the ratio of both.", choices=COSTS),
    ] = None
    prices: Prices = None
    pair_seeds: PairSeeds = False
    flips: Annotated[
        int,
        Option(
            "List the N prompts of each benchmark on which they differ most.",
            "N",
            least=0,
        ),
    ] = 0
    n_resamples: Annotated[
        int,
        Option(
            "Random patterns of a permutation test that is not exact.",
            "N",
            ("--resamples",),
            least=1,
        ),
    ] = 9999
    seed: Seed = 0
    force: Force = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.equivalence is not None and self.level <= 0.5:
            raise StatisticsError(
                f"equivalence needs a level above 0.5, found {self.level}"
            )
        if self.cost != "dollars":
            self.refuse(
                "makes dollars of tokens: it goes with --cost dollars", "prices"
            )

    @property
    def test(self) -> str:
        """The test behind ``p_value``."""
        if self.method == "auto":
            return "t"
        return self.method
