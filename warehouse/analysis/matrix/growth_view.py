"""Scores while a benchmark grows: rows and table."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.matrix.results import MatrixResult, heading
from warehouse.analysis.results import Row
from warehouse.tables.view import Table, View
from warehouse.tables.words import number


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
        """Each size, over all models, in both orders."""
        cells = [
            {
                "order": row.order,
                "prompts": row.size,
                "mean score": number(row.mean, 4),
                "largest gap to all": number(row.largest_gap, 4),
                "rank correlation": number(row.kendall_tau, 2),
                "added last": row.last_prompt,
            }
            for row in self.steps
        ]
        head = heading(self, f"seed {self.seed}")
        return View((*head, Table.of(cells)), self.notes)
