"""The question which few prompts stand for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.reliability.question import ONE_AT_LEAST
from warehouse.errors import MisuseError
from warehouse.questions.options import ChosenScores, Seed
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Anchors(ChosenScores, Question):
    """Anchors (tinyBenchmarks), biased by design, with their measured errors on models
    left out.

    All benchmarks count alike in the score, and all prompts of one. Scores that are no
    right draws are cut to right and wrong.

    Raises:
        MisuseError: unknown names, fewer than eight models with answers to the same
            prompts, as many anchors as prompts.
        StatisticsError: a number out of range.
    """

    NAME = "anchors"
    COMMAND = "subset anchors"

    benchmarks: Annotated[
        Sequence[str],
        Option("Names of benchmarks and suites, globs among them.", "BENCHMARK..."),
    ]
    _: KW_ONLY
    sizes: Annotated[
        Sequence[int] | None,
        Option(
            "Numbers of anchors. [default: 50, 100; a fifth of fewer than 200 prompts]",
            "N,N...",
            least=1,
        ),
    ] = None
    by: Annotated[
        str,
        Option(
            "Cluster prompts by (a, b) of an item response model, or by the scores of "
            "all models.",
            choices=("irt", "scores"),
        ),
    ] = "irt"
    model: Annotated[
        str | None,
        Option(
            "Item response model. [default: 2pl from 20 models on, else 1pl]", "1pl|2pl"
        ),
    ] = None
    dimensions: Annotated[
        int | None,
        Option(
            "A 2PL of N dimensions in place of one; see: warehouse irt dimensions.",
            "N",
            least=1,
        ),
    ] = None
    models: Annotated[
        bool,
        Option(
            "Each model's score and estimates from the most anchors, with standard "
            "errors, instead."
        ),
    ] = False
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimensions is not None:
            self.refuse("chooses between models of one dimension", "model")
        if self.sizes == ():
            raise MisuseError(f"sizes {ONE_AT_LEAST}")

    def _command(self) -> str:
        if self.by == "irt":
            return self.COMMAND  # the errors are those of all ways to choose
        if self.models:
            raise MisuseError(
                "by and models cannot both be said on the command line: ask in Python"
            )
        return f"{self.COMMAND} --list"
