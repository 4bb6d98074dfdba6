"""The question who is beaten in score and in cost."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import (
    COSTS,
    AsRows,
    Prices,
    Seed,
    SelectedAtLevel,
    SubsetOk,
)
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Frontier(AsRows, SelectedAtLevel, Question):
    """Score and cost of every model, who is beaten in both, and who may be on the
    frontier.

    Of a suite each benchmark is answered alone. Published figures stand beside, without
    tests.

    Raises:
        MisuseError: an unknown name, no costs, costs of too few answers, or a metric
            without a direction.
        InputError: a file that is none of prices.
    """

    NAME = "frontier"

    benchmark: Annotated[str, Option("Name of a benchmark or suite.")]
    _: KW_ONLY
    cost: Annotated[str, Option("What an answer costs.", choices=COSTS)] = COSTS[0]
    prices: Prices = None
    margin: Annotated[
        float | None,
        Option(
            "Loss against the best that still counts as as good, in the unit of the "
            "metric; say it before looking.",
            "DELTA",
            least=0,
            is_open=(True, False),
        ),
    ] = None
    cheaper: Annotated[
        float,
        Option(
            "With a margin: how many times cheaper, at least, to be worth it.",
            "X",
            least=1,
        ),
    ] = 1.0
    fieller: Annotated[
        bool,
        Option("Intervals of cost per solved by Fieller, which may have no upper end."),
    ] = False
    allow_missing_cost: Annotated[
        bool, Option("Keep models of which more than 5 % of the costs are missing.")
    ] = False
    subset_ok: SubsetOk = False
    n_resamples: Annotated[
        int,
        Option(
            "Samples of prompts behind the stability.",
            "N",
            ("--resamples",),
            least=1,
            most=100_000,
        ),
    ] = 1000
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cheaper != 1 and self.margin is None:
            self.refuse("goes with --margin", "cheaper")
        if self.cost != COSTS[0]:
            self.refuse(
                "makes dollars of tokens: it goes with --cost dollars", "prices"
            )
