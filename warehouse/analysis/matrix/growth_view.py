"""Scores while a benchmark grows: rows and table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.analysis.matrix.results import MatrixResult, heading
from warehouse.analysis.results import Row
from warehouse.tables.view import Table, View
from warehouse.tables.words import listed, number


@dataclass(frozen=True)
class GrowthRow(Row):
    """One model's score at one size (their figures 2, 9, 10)."""

    order: str  #: ``informative`` or ``random``.
    size: int  #: prompts.
    model: str  #: which.
    score: float  #: mean over the first so many prompts.
    rank: int  #: 1 = best at this size.


@dataclass(frozen=True)
class GrowthStep(Row):
    """One size, over all models."""

    order: str  #: ``informative`` or ``random``.
    size: int  #: prompts.
    mean: float  #: mean score over models.
    #: largest difference of a model's score from that on all prompts.
    largest_gap: float
    #: τ-b of the models' scores with those on all prompts; None where undefined.
    kendall_tau: float | None
    last_prompt: str  #: the prompt added last.


@dataclass(frozen=True)
class MatrixGrowth(MatrixResult):
    """Scores while the benchmark grows; ``steps`` sums each size up."""

    DRAWN_BY = "warehouse.analysis.matrix.charts:growth_charts"

    rows: tuple[GrowthRow, ...]
    steps: tuple[GrowthStep, ...]

    def view(self, *, verbose: bool = False) -> View:
        """From how many prompts on models stand as on all; sizes, in both orders.

        Args:
            verbose: every size, in place of some.
        """
        steps = self.steps
        if not verbose:
            steps = _some_steps(steps)
        cells = [
            {
                "order": row.order,
                "prompts": row.size,
                "mean score": number(row.mean, 4),
                "largest gap to all": number(row.largest_gap, 4),
                "rank correlation": number(row.kendall_tau, 2),
                "added last": row.last_prompt,
            }
            for row in steps
        ]
        head = heading(self, f"seed {self.seed}")
        table = Table.of(cells)
        if not verbose:
            table = table.without(("added last",))
        return View((_settled(self.steps), *head, table), self.notes)


#: Rank correlation from which the order of models is said to be that on all prompts.
_ALIKE = 0.9
#: Sizes of an order that are shown.
_SHOWN = 9
#: What the orders are called in a sentence.
_ORDERS = {"informative": "of those that tell most", "random": "at random"}


def _settled(steps: Sequence[GrowthStep]) -> str:
    """From which size on the order of models stays as on all prompts."""
    said = []
    for order, own in _by_order(steps).items():
        size = own[-1].size
        for step in reversed(own):
            if step.kendall_tau is None or step.kendall_tau < _ALIKE:
                break
            size = step.size
        said.append(f"{size} {_ORDERS.get(order, order)}")
    return (
        f"Models stand as on all prompts (tau {_ALIKE} or more) from {listed(said)} on."
    )


def _by_order(steps: Sequence[GrowthStep]) -> dict[str, list[GrowthStep]]:
    found: dict[str, list[GrowthStep]] = {}
    for step in steps:
        found.setdefault(step.order, []).append(step)
    return found


def _some_steps(steps: Sequence[GrowthStep]) -> tuple[GrowthStep, ...]:
    """A few sizes of each order, evenly, the last among them."""
    shown: list[GrowthStep] = []
    for own in _by_order(steps).values():
        every = max(1, -(-len(own) // _SHOWN))
        chosen = own[::-1][::every]
        shown += chosen[::-1]
    return tuple(shown)
