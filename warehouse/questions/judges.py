"""A judge held against people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.labels import AnyJudge, Human
from warehouse.questions.options import Estimand, Seed, SelectedAtLevel
from warehouse.questions.question import Option, Question

#: What `warehouse.stats.rogan_gladen` rests on.
ASSUMPTION = "the judge is as sensitive and as specific here as in the sample, and alike for all models"


@dataclass(frozen=True)
class HeldAgainstPeople(SelectedAtLevel, Question):
    """How far a judge and people agree, whom it favours, and what people would say on average.

    Of scores of single answers, or of votes between two. Agreement is of the answers that both have judged. The
    corrected mean moves the labels' by what the judge says of the others; it needs labels that were drawn by known
    chance (``judge_next``).

    Raises:
        MisuseError: unknown names, several judges and none named, no answer that both have judged.
        StatisticsError: a number out of range.
    """

    NAME, ANSWER = "judge", "warehouse.analysis.judges.agreement:judge"

    benchmark: Annotated[str, Option("Name of a benchmark.")]
    models: Annotated[
        Sequence[str], Option("Two models: their difference as people would have it, too.", "[A B]", is_argument=True)
    ] = ()
    _: KW_ONLY
    judge: AnyJudge = None
    human: Human = None
    estimand: Estimand = "prompts_sampled"
    rogan_gladen: Annotated[
        str | None,
        Option("Correct rates by the judge's errors on another benchmark, which people have labelled.", "SAMPLE"),
    ] = None
    transportable: Annotated[bool, Option(f"With it, say so yourself: {ASSUMPTION}.")] = False
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.models) not in (0, 2):
            raise MisuseError(f"name two models, or none; found {len(self.models)}")
        if self.rogan_gladen is None:
            self.refuse("goes with {rogan_gladen}", "transportable")
        elif not self.transportable:
            raise MisuseError(
                f"the rate holds only if {ASSUMPTION}: nothing in the store can show that; say --transportable"
                " (transportable=True) if you take it for true"
            )
