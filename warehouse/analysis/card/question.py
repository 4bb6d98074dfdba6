"""The question for all figures of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import REFERENCE, AsRows, Reference, SelectedAtLevel
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Card(AsRows, SelectedAtLevel, Question):
    """Every figure of a model, or of a run, with how it was made: a row for each
    condition on each benchmark.

    Raises:
        MisuseError: an unknown or ambiguous reference, a benchmark that the model
            lacks, or nothing to show.
        StatisticsError: ``level`` out of range.
    """

    NAME = "card"

    model: Reference
    _: KW_ONLY
    against: Annotated[
        str | None,
        Option(
            "Add the paired differences from this model, adjusted for their number "
            "(Holm).",
            REFERENCE,
        ),
    ] = None
    benchmarks: Annotated[
        Sequence[str],
        Option(
            "Only these. Repeatable. Default: all that it has.",
            "NAME",
            ("-b", "--benchmark"),
        ),
    ] = ()
