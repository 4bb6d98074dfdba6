"""Rows of a leaderboard whose figure is that of the whole benchmark, though only a part
of it was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.selection.hook_table import Hook
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
)

Line = tuple[ScoredCondition, LeaderboardRow]


class RowsOnPlans(Protocol):
    """The rows of a benchmark that are on stored plans."""

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why some of them have no figure of the whole benchmark."""

    def divide(self, lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
        """Rows as they are, and rows on plans with the figure of the whole benchmark."""

    def insert(
        self, groups: Sequence[Sequence[Line]], planned: Sequence[Line]
    ) -> list[list[Line]]:
        """Groups with the rows on plans, each at the place that its figure has."""

    def describe(self, rows: Sequence[LeaderboardRow]) -> Iterable[str]:
        """Lines on what their figures rest on."""


ROWS_ON_PLANS: Hook[Callable[[BenchmarkScores, Ranking], RowsOnPlans]] = Hook(
    "rows on plans"
)
