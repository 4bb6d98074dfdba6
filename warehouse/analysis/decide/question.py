"""The question whether two recipes differ by more than seeds do."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.analysis.seeds.question import Averaged
from warehouse.questions.options import ByMetric, Level, Trained
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Decide(ByMetric, Averaged, Question):
    """Is the difference of two trained models more than another training seed would
    make?

    All seeds of a reference are taken. With three seeds of the two together their
    spread is the measure, else that of the other recipes on the benchmark that have
    seeds, else spreads that are known of other benchmarks.

    Raises:
        MisuseError: an unknown or ambiguous reference, or nothing in common.
        StatisticsError: a number out of range.
    """

    NAME = "decide"
    COMMAND = "training decide"

    a: Trained
    b: Trained
    _: KW_ONLY
    benchmark: Annotated[
        str | None,
        Option(
            "Only this one. [default: all that both have]",
            "NAME",
            ("-b", "--benchmark"),
        ),
    ] = None
    level: Level = 0.95
