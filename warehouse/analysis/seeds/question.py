"""The question what another training seed would have given."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import Benchmarks, ByMetric, Level
from warehouse.questions.question import Option, Options, Question


@dataclass(frozen=True, kw_only=True)
class Averaged(Options):
    """What the figure of a run is."""

    averaged: Annotated[
        int,
        Option(
            "A run's figure is the mean of its last M checkpoints.",
            "M",
            ("--average",),
            least=1,
        ),
    ] = 1


@dataclass(frozen=True)
class Seeds(ByMetric, Averaged, Question):
    """How much a figure would change with another training seed, and from checkpoint to
    checkpoint.

    Raises:
        MisuseError: an unknown name, or no run with a seed or a position.
        StatisticsError: a number out of range.
    """

    NAME = "seeds"
    COMMAND = "training seeds"
    IS_DRAWN = True

    benchmarks: Benchmarks = ()
    _: KW_ONLY
    against: Annotated[
        str | None,
        Option("A second metric: whose signal to noise is larger?", "METRIC"),
    ] = None
    level: Level = 0.95
