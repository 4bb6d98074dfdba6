"""Scores and ranks when prompts do not weigh the same: rows and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from warehouse.analysis.matrix.results import MatrixResult, heading
from warehouse.analysis.results import Row
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import (
    WrittenNumber,
    count_range,
    counted,
    interval,
    listed,
    number,
    percentage,
    some_of,
)

#: Models whose columns a table holds; more are told by --json.
MOST_COLUMNS = 12
#: Those of a table that is read first, and its schemes.
_BRIEF_COLUMNS, _BRIEF_SCHEMES = 5, 4
#: Models of the table that is read first, and models that a sentence names.
_MOST, _RIVALS = 20, 2
#: Prompts of equal weight that a scheme has to be worth, to be told of first.
_FEWEST = 10
#: The scheme of equal weights.
_UNIFORM = "uniform"


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
        """Who is best however prompts weigh, and which places depend on that.

        Args:
            verbose: every scheme, and more of what random weightings do.
            part: one table alone; ``pairs``: how often one model is above another.
        """
        parts: list[Part] = []
        if part is None and not verbose:
            return View(tuple(_brief(self)), self.notes)
        if part in (None, "schemes"):
            parts.append(_schemes(self, None if verbose else _BRIEF_SCHEMES))
        if part is None:
            parts.append("")
        if part in (None, "random"):
            drawn = _random(self.random)
            if not verbose:
                drawn = drawn.without(("lowest", "highest"))
            parts += [
                f"over {self.n_draws} random weightings (seed {self.seed}):",
                "",
                drawn,
            ]
        if part == "pairs":
            parts += _pairs(self, MOST_COLUMNS if verbose else _BRIEF_COLUMNS)
        return View(
            (*heading(self, f"medoids and distances: {self.clustering}"), *parts),
            self.notes,
        )


def _brief(result: MatrixWeights) -> list[Part]:
    """Who is best by random weightings, who by other schemes, and the places of all."""
    ranks: dict[str, list[int]] = {}
    for row in _telling(result.rows):
        ranks.setdefault(row.model, []).append(row.rank)
    drawn = {row.model: row for row in result.random}
    plain = [row for row in result.rows if row.scheme == _UNIFORM]
    plain = sorted(plain, key=lambda row: row.rank)
    shown = plain[:_MOST]
    cells = [
        {
            "place": row.rank,
            "model": row.model,
            "score": number(row.score, 3),
            "95% of weightings": interval(
                drawn[row.model].low, drawn[row.model].high, 3, at=row.score
            ),
            "best in": percentage(drawn[row.model].best),
            "places by scheme": count_range(
                min(ranks[row.model]), max(ranks[row.model])
            ),
        }
        for row in shown
    ]
    parts: list[Part] = [_best_drawn(result), *_best_by_scheme(result)]
    parts += [*heading(result, f"{result.n_draws} random weightings"), Table.of(cells)]
    if len(shown) < len(plain):
        parts.append(f"… {len(plain) - len(shown)} more (--explain)")
    return parts


def _telling(rows: Sequence[WeightRow]) -> list[WeightRow]:
    """Rows of equal weights, and of schemes that rest on some prompts: of a few medoids
    many models have all."""
    return [
        row
        for row in rows
        if row.scheme == _UNIFORM or row.effective_prompts >= _FEWEST
    ]


def _best_drawn(result: MatrixWeights) -> str:
    """Which model is best in most random weightings."""
    first, *others = sorted(result.random, key=lambda row: (-row.best, -row.uniform))
    said = (
        f"{first.model} is best in {100 * first.best:.0f} % of "
        f"{result.n_draws} random weightings of the prompts"
    )
    rivals = [row for row in others if row.best > 0]
    if not rivals:
        return f"{said}."
    named = [f"{row.model} in {100 * row.best:.0f} %" for row in rivals[:_RIVALS]]
    more = ""
    if len(rivals) > _RIVALS:
        more = f", {len(rivals) - _RIVALS} others sometimes"
    return f"{said}, {listed(named)}{more}."


def _best_by_scheme(result: MatrixWeights) -> list[str]:
    """Whether weights by the clusters of the prompts have another model first."""
    rows = _telling(result.rows)
    schemes = list(dict.fromkeys(row.scheme for row in rows))
    best: dict[str, list[str]] = {name: [] for name in schemes}
    for row in rows:
        if row.rank == 1:
            best[row.scheme].append(row.model)
    others = [name for name in schemes if name != _UNIFORM]
    if not others:
        return []
    moved = [name for name in others if not set(best[name]) & set(best[_UNIFORM])]
    first = listed(best[_UNIFORM][:_RIVALS])
    have = "has" if len(best[_UNIFORM]) == 1 else "have"
    if not moved:
        return [
            f"{first}, which {have} the highest plain mean, stays first under each of "
            f"{counted(len(others), 'other scheme')} of weights by clusters of prompts."
        ]
    name = moved[0]
    return [
        f"{first} {have} the highest plain mean; under {len(moved)} of "
        f"{counted(len(others), 'other scheme')} another is first: "
        f"{some_of(best[name])} by {name}."
    ]


def _schemes(result: MatrixWeights, most: int | None) -> Table:
    """A row for each model, best first; score and rank, then the change under each
    scheme.

    Args:
        most: schemes beside equal weights that have a column; None: all.
    """
    schemes = list(dict.fromkeys(row.scheme for row in result.rows))
    if most is not None:
        schemes = schemes[: most + 1]
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


def _pairs(result: MatrixWeights, most: int) -> list[Part]:
    """How often the model of a row is above that of a column.

    Args:
        most: columns, of the models with the highest plain means.
    """
    models = [row.model for row in sorted(result.random, key=lambda row: -row.uniform)]
    shown = models[:most]
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
            f"columns: the first {_BRIEF_COLUMNS} of {len(models)} models (--wide: "
            f"{MOST_COLUMNS}; --part pairs --json: all)"
        )
    return parts
