"""The question how few units carry the lead of one of two models."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from warehouse.analysis.compare.question import TwoConditions
from warehouse.questions.options import (
    AsRows,
    Force,
    OfSomePrompts,
    SelectedAtLevel,
    UnderPolicy,
)
from warehouse.questions.question import Question


@dataclass(frozen=True)
class Handful(
    UnderPolicy, OfSomePrompts, AsRows, SelectedAtLevel, TwoConditions, Question
):
    """How few questions, clusters or training seeds would have to be left out, or have
    had another verdict, for the comparison of two models to turn.

    It describes the data that are there and is no test: a small share is no sign of
    weakness, and what is left has no p.

    Raises:
        MisuseError: an unknown or ambiguous reference, nothing in common, or runs that
            should not be compared.
        StatisticsError: ``level`` out of range.
    """

    NAME = "handful"
    COMMAND = "compare --handful"

    _: KW_ONLY
    force: Force = False
