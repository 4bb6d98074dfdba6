"""Rows of a suite whose figure is that of all prompts, though of some benchmarks only a
part was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from warehouse.analysis.selection.hook_table import Hook
from warehouse.analysis.suites.read import Leaf
from warehouse.analysis.suites.row import SuiteRow
from warehouse.analysis.suites.scored import Scored


class LeavesOnPlans(Protocol):
    """The runs on the leaves of a suite that are on stored plans."""

    def estimated(
        self, scored: Sequence[Scored], leaves: Sequence[Leaf], level: float
    ) -> tuple[list[Scored], list[str]]:
        """The rows, those on plans with the figures of all prompts, and why others have
        none."""

    def placed(
        self,
        rows: Sequence[SuiteRow],
        planned: Sequence[SuiteRow],
        higher_is_better: bool | None,
    ) -> list[SuiteRow]:
        """Ranked rows with those on plans among them, each at the rank that its figure
        has among the others."""

    def describe(self, rows: Sequence[SuiteRow]) -> Iterable[str]:
        """Lines on what their figures rest on."""


SUITES_ON_PLANS: Hook[Callable[[Sequence[Leaf]], LeavesOnPlans]] = Hook(
    "suites on plans"
)
