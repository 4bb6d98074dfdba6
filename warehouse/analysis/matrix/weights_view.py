"""Scores and ranks when prompts do not weigh the same: rows and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warehouse.analysis.matrix.results import MatrixResult, heading
from warehouse.analysis.results import Row
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import WrittenNumber, number, percentage

#: Models whose columns a table holds; more are told by --json.
MOST_COLUMNS = 12


@dataclass(frozen=True)
class WeightRow(Row):
    """One model under one weighting (their figure 1)."""

    scheme: str  #: name of the weighting.
    model: str  #: which.
    score: float  #: weighted mean.
    rank: int  #: 1 = best.
    rank_change: int  #: rank by uniform weights minus this one: above 0 is a rise.
    effective_prompts: float  #: 1/Σw²: prompts of equal weight that say as much.


@dataclass(frozen=True)
class RandomWeightRow(Row):
    """One model over random weightings (their figures 3 and 11)."""

    model: str  #: which.
    uniform: float  #: score with equal weights.
    lowest: float  #: smallest score of any weighting drawn.
    low: float  #: 2.5 % quantile.
    median: float  #: 50 % quantile.
    high: float  #: 97.5 % quantile.
    highest: float  #: largest score.
    standard_deviation: float  #: over weightings, in closed form.
    best: float  #: share of weightings in which the model is best.


@dataclass(frozen=True)
class OutrankRow(Row):
    """How often one model is better than another over random weightings."""

    model: str  #: the row of their figure 3.
    other: str  #: its column.
    outranks: float  #: share of weightings; ties count for neither.


@dataclass(frozen=True)
class MatrixWeights(MatrixResult):
    """Scores and ranks when prompts do not weigh the same."""

    DRAWN_BY = "warehouse.analysis.matrix.charts:outrank_charts"

    rows: tuple[WeightRow, ...]
    n_draws: int  #: random weightings.
    random: tuple[RandomWeightRow, ...]  #: a row for each model.
    outranks: tuple[OutrankRow, ...]  #: a row for each ordered pair of models.
    clustering: str  #: clusters behind the medoid and distance weights.

    def view(
        self,
        *,
        verbose: bool = False,
        part: Literal["schemes", "random", "pairs"] | None = None,
    ) -> View:
        """Changes of rank by scheme, then what random weightings do.

        Args:
            part: one table alone; ``pairs``: how often one model is above another.
        """
        parts: list[Part] = []
        if part in (None, "schemes"):
            parts.append(_schemes(self))
        if part is None:
            parts.append("")
        if part in (None, "random"):
            parts += [
                f"over {self.n_draws} random weightings (seed {self.seed}):",
                "",
                _random(self.random),
            ]
        if part == "pairs":
            parts += _pairs(self)
        return View(
            (*heading(self, f"medoids and distances: {self.clustering}"), *parts),
            self.notes,
        )


def _schemes(result: MatrixWeights) -> Table:
    """A row for each model, best first; score and rank, then the change under each
    scheme."""
    schemes = list(dict.fromkeys(row.scheme for row in result.rows))
    cells = {(row.model, row.scheme): row for row in result.rows}
    models = sorted(result.models, key=lambda model: cells[model, "uniform"].rank)
    rows = []
    for model in models:
        plain = cells[model, "uniform"]
        others = [cells[model, scheme] for scheme in schemes[1:]]
        changes = [
            WrittenNumber(f"{row.score:.4f} {row.rank_change:+d}") for row in others
        ]
        rows.append((plain.rank, model, number(plain.score, 4), *changes))
    return Table(
        ("rank", "model", "uniform", *(f"{scheme} ±rank" for scheme in schemes[1:])),
        tuple(rows),
    )


def _random(rows: tuple[RandomWeightRow, ...]) -> Table:
    """Scores over random weightings, of the model that is best most often first."""
    cells = []
    for row in sorted(rows, key=lambda row: (-row.best, -row.uniform)):
        scores = (
            row.uniform,
            row.standard_deviation,
            row.lowest,
            row.low,
            row.high,
            row.highest,
        )
        cells.append(
            (row.model, *(number(score, 4) for score in scores), percentage(row.best))
        )
    columns = (
        "model",
        "uniform",
        "sd",
        "lowest",
        "2.5%",
        "97.5%",
        "highest",
        "best in",
    )
    return Table(columns, tuple(cells))


def _pairs(result: MatrixWeights) -> list[Part]:
    """How often the model of a row is above that of a column."""
    models = [row.model for row in sorted(result.random, key=lambda row: -row.uniform)]
    shown = models[:MOST_COLUMNS]
    shares = {(row.model, row.other): row.outranks for row in result.outranks}
    cells = []
    for rank, model in enumerate(models, start=1):
        own = [
            None
            if other == model
            else WrittenNumber(f"{100 * shares[model, other]:.1f}")
            for other in shown
        ]
        cells.append((f"{rank}", model, *own))
    table = Table(
        ("", "model", *(str(rank + 1) for rank in range(len(shown)))), tuple(cells)
    )
    parts: list[Part] = ["row outranks column in % of random weightings:", "", table]
    if len(shown) < len(models):
        parts.append(
            f"{len(shown)} of {len(models)} columns; --part pairs --json has all"
        )
    return parts
