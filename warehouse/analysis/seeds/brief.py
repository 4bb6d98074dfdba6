"""Training seeds as people read them first: below which difference two runs of one recipe
say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.analysis.seeds.row import SeedsRow
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, View
from warehouse.tables.words import counted

#: Flag of rows whose spread rests on few seeds.
FEW = "few_seeds"
_HIDE_EMPTY = (
    *("split", "metric", "recipe", "setting", "mean", "spread"),
    *("says nothing below", "checkpoint to checkpoint"),
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("split", "metric", "setting")
#: Columns that a heading says where all rows have one.
_SHARED = ("split", "metric")


def brief_view(
    rows: Sequence[SeedsRow], level: float, notes: Sequence[str], *, in_percent: bool
) -> View:
    """What people are shown of training seeds.

    Args:
        rows: one for each benchmark, metric and recipe.
        level: of the noise floors.
        notes: what is missing, and why.
        in_percent: scores are shares.
    """
    spreads = [row.seed_sd if row.seed_sd else row.jitter for row in rows]
    unit = Unit.of(spreads, in_percent=in_percent)
    cells = [_cells(row, unit) for row in rows]
    for name in _SHARED:
        if len({getattr(row, name) for row in rows}) == 1:
            for own in cells:
                del own[name]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    return View((*_sentences(rows, level, in_percent), "", table), tuple(notes))


def _sentences(
    rows: Sequence[SeedsRow], level: float, in_percent: bool
) -> Iterator[str]:
    """What the last column says, and what makes it uncertain."""
    floors = [row for row in rows if row.noise_floor is not None]
    if not floors:
        yield (
            "How far two runs of one recipe lie apart by their seed alone cannot be "
            "told: no recipe has two training seeds with figures."
        )
        return
    figure = "last checkpoint"
    if floors[0].averaged != 1:
        figure = f"mean of the last {floors[0].averaged} checkpoints"
    unit = ", in points" if in_percent else ""
    yield (
        f"How far do two runs of one recipe differ by their seed alone? ({figure}"
        f"{unit})"
    )
    yield (
        "A smaller difference than in the last column says nothing: seeds alone exceed "
        f"it in {100 * (1 - level):.2g} % of cases."
    )
    few = [row for row in floors if FEW in row.flags]
    if few:
        fewest = min(row.n_seeds for row in few)
        yield (
            f"{counted(fewest, 'seed')} of a recipe are few: one that fails in ten is "
            "easily missed."
        )


def _cells(row: SeedsRow, unit: Unit) -> dict[str, Any]:
    jitter = None
    if row.noise_floor is None:
        jitter = row.jitter
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "model": row.model,
        "recipe": row.recipe,
        "setting": row.setting,
        "seeds": row.n_seeds,
        "mean": unit.figure(row.seed_mean),
        "spread": unit.points(row.seed_sd),
        "checkpoint to checkpoint": unit.points(jitter),
        "says nothing below": unit.points(row.noise_floor),
    }
