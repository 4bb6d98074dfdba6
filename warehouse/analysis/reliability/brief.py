"""The reliability of a suite as people read it first: whether the order of the models
holds, who is first, and what fewer prompts would say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from warehouse.analysis.reliability.results import (
    ModelRow,
    PoolRow,
    ReliabilityRow,
)
from warehouse.tables.view import Part, Table
from warehouse.tables.words import counted, percentage

#: An order, or a winner, counts as settled from this share of draws on.
SETTLED = 0.95
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("prompts a model",)
#: What is drawn anew, in words.
_DRAWN = {
    "scenarios": "scenarios",
    "subscenarios": "subscenarios",
    "seeds": "few-shot seeds",
}
_TWO = 2


class ReliableSuite(Protocol):
    """What is told of the reliability of a suite."""

    @property
    def rows(self) -> tuple[ReliabilityRow, ...]:
        """By what is drawn anew, and size."""

    @property
    def prompt_rows(self) -> list[ReliabilityRow]:
        """Those of other prompts, all of them last."""

    @property
    def models(self) -> tuple[ModelRow, ...]:
        """Best first."""

    @property
    def pool(self) -> tuple[PoolRow, ...]:
        """What each model's leaving does."""

    @property
    def n_models(self) -> int:
        """Models of the suite."""


def brief_parts(report: ReliableSuite, suite: str) -> list[Part]:
    """What people are shown of a suite's reliability.

    Args:
        suite: what it is made of, in a sentence.
    """
    others = [
        row
        for row in report.rows
        if row.size is None and row.granularity in _DRAWN and row.ranking is not None
    ]
    rows = [*report.prompt_rows, *others]
    parts: list[Part] = [_order(report), _first(report), suite, ""]
    if any(row.same_order is not None for row in rows):
        parts += [Table.of(map(_cells, rows), minor=_MINOR), ""]
        parts.append(
            "same order: share of draws in which all models stand as on all prompts; "
            "first two change: how often the second beats the first. Fresh prompts would "
            "agree less"
        )
    return [*parts, *_moved(report)]


def _order(report: ReliableSuite) -> str:
    """Whether other prompts like these would give the same order."""
    whole = report.prompt_rows[-1]
    n = counted(report.n_models, "model")
    if whole.same_order is None or whole.ranking is None:
        return f"Whether the order of {n} holds cannot be told: {whole.reason}."
    again = (
        f"draws of as many prompts give the same order in {_percent(whole.same_order)} of "
        "cases"
    )
    moves = ""
    if whole.rank_resolution:
        places = counted(whole.rank_resolution, "place")
        moves = f"; 95 % of places are off by at most {places}"
    if whole.same_order < SETTLED:
        return f"The order of {n} is not settled: {again}{moves}."
    size = next(
        (row.size for row in report.prompt_rows if _is_settled(row)),
        None,
    )
    enough = ""
    if size is not None:
        enough = f"; {size} prompts of each scenario are enough for it"
    return f"The order of {n} is settled: {again}{enough}."


def _is_settled(row: ReliabilityRow) -> bool:
    return row.same_order is not None and row.same_order >= SETTLED


def _first(report: ReliableSuite) -> str:
    """Whether the first two are told apart, by name."""
    rows = report.prompt_rows
    names = [row.model for row in report.models if row.rank is not None][:_TWO]
    errors = [_error(row) for row in rows]
    if len(names) < _TWO or not rows[-1].best_errors:
        return "Who is first cannot be told."
    first, second = names
    last = errors[-1]
    if last is None:
        return f"{first} and {second} stand first, not on the same scenarios."
    if last > 1 - SETTLED:
        return (
            f"{first} and {second}, the first two, cannot be told apart: "
            f"{second} is ahead in {_percent(last)} of draws."
        )
    size = _least_size(rows, errors)
    by = "all prompts"
    if size is not None:
        by = f"{size} prompts of each scenario or more"
    return f"{first} is first, told apart from {second} by {by}."


def _error(row: ReliabilityRow) -> float | None:
    """How often the second of all models beats the first."""
    if not row.best_errors:
        return None
    return row.best_errors[0]


def _least_size(
    rows: Sequence[ReliabilityRow], errors: Sequence[float | None]
) -> int | None:
    """The size from which on the first two are told apart; None: all prompts."""
    size = None
    for row, error in zip(reversed(rows), reversed(errors), strict=True):
        if error is None or error > 1 - SETTLED:
            break
        size = row.size
    return size


def _cells(row: ReliabilityRow) -> dict[str, Any]:
    return {
        "drawn anew": _drawn(row),
        "prompts a model": round(row.n_prompts),
        "same order": percentage(row.same_order),
        "places off by": row.rank_resolution,
        "first two change": percentage(_error(row)),
    }


def _drawn(row: ReliabilityRow) -> str:
    if row.granularity in _DRAWN:
        return _DRAWN[row.granularity]
    if row.size is None:
        return "all prompts"
    return f"{row.size} of each scenario"


def _moved(report: ReliableSuite) -> list[str]:
    """What another aggregate, and another pool of models, would change."""
    said = []
    moved = [
        row
        for row in report.models
        if row.rank_low is not None and row.rank_low != row.rank_high
    ]
    if moved:
        worst = max(moved, key=lambda row: (row.rank_high or 0) - (row.rank_low or 0))
        said.append(
            f"Another aggregate than win rates moves {len(moved)} of {report.n_models} "
            f"models, most of all {worst.model} ({worst.rank_low} to {worst.rank_high})."
        )
    leaders = [row.model for row in report.pool if row.leader_changes]
    if leaders:
        said.append(
            f"Who leads the others hangs on whether {leaders[0]} is among the models"
            f"{_and_more(len(leaders) - 1)}."
        )
    return said


def _and_more(n: int) -> str:
    if n < 1:
        return ""
    return f", and so on {n} more of them"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
