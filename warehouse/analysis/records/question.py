"""The question which records of a benchmark over time stand."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from warehouse.questions.options import (
    AsRows,
    OfSomePrompts,
    SelectedAtLevel,
    SubsetOk,
    UnderPolicy,
)
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class RecordsOverTime(UnderPolicy, OfSomePrompts, AsRows, SelectedAtLevel, Question):
    """Which records of a benchmark over time are more than the luck of many entries.

    A record is a figure above those of all earlier days. It stands where it is shown to
    be better than the last record that stands, for all entries since. A verdict never
    changes when entries of later days are added. Days are those of submission or of the
    run, else of the model's release; without one a row is left out.

    Raises:
        MisuseError: an unknown benchmark, metric, clustering or field; a suite; entries
            of fewer than two days, or of a metric without a direction.
        StatisticsError: ``level`` out of range.
    """

    NAME = "records"

    benchmark: Annotated[str, Option("Name of a benchmark with prompts of its own.")]
    _: KW_ONLY
    steps: Annotated[
        bool,
        Option(
            "Hold each record against the one that it replaced, by Holm over the steps; "
            "progress by many small steps is then not seen."
        ),
    ] = False
    subset_ok: SubsetOk = False
