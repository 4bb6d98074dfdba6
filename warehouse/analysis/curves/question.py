"""The question where scores rise, fall and cross along training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.errors import MisuseError
from warehouse.questions.options import REFERENCE, ByMetric, Cluster, Level
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Curves(ByMetric, Question):
    """Scores along training: above chance from where, significant drops, and where two
    curves cross.

    Raises:
        MisuseError: an unknown name, no checkpoint with a place in training, or units
            that differ between two curves that were asked for.
        StatisticsError: ``level`` out of range.
    """

    NAME = "curves"
    COMMAND = "training curves"

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
    against: Annotated[
        str | None,
        Option("The other formulation of it: where do the two cross?", "BENCHMARK"),
    ] = None
    chance: Annotated[
        float | None,
        Option("What guessing scores. [default: what the data say]", "SCORE"),
    ] = None
    cluster: Cluster = None
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.chance is not None and not math.isfinite(self.chance):
            raise MisuseError(f"chance must be a number, found {self.chance}")
