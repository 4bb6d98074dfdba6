"""The question how few prompts a model's place needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.reliability.question import ONE_AT_LEAST, OfSuite
from warehouse.errors import MisuseError
from warehouse.questions.options import ChosenScores, Seed
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Flash(ChosenScores, OfSuite, Question):
    """Rank a model on a suite with as few prompts as its place needs, and name those to
    ask next.

    Prompts are asked in an order that depends on their keys and the seed alone. A low
    rank is settled by few, a high one by more (Flash, Perlitz et al. 2024 §6). Every
    stored model is ranked as if it were new, as a check.

    Raises:
        MisuseError: unknown names, ambiguous conditions, fewer than two stored models,
            new without a model.
        StatisticsError: numbers out of range.
    """

    NAME = "flash"
    COMMAND = "subset flash"

    _: KW_ONLY
    model: Annotated[
        str | None,
        Option("The model to rank. [default: only check the stored ones]", "MODEL"),
    ] = None
    new: Annotated[bool, Option("The model has no answers yet.")] = False
    sizes: Annotated[
        Sequence[int] | None,
        Option(
            "Prompts of a scenario at each step before all. [default: 20, 50, 200, "
            "1000]",
            "N,N...",
            least=1,
        ),
    ] = None
    tiers: Annotated[
        Sequence[int] | None,
        Option(
            "Best rank for which each size is enough. [default: 20, 10, 5, 2 for about "
            "40 models, else by their number]",
            "RANK,...",
            least=1,
        ),
    ] = None
    n_resamples: Annotated[
        int,
        Option(
            "Random orders of the prompts behind resolution and check.",
            "N",
            ("--resamples",),
            least=1,
        ),
    ] = 200
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model is None:
            self.refuse("goes with {model}", "new")
        if self.sizes == ():
            raise MisuseError(f"sizes {ONE_AT_LEAST}")
