"""Curves along training as people read them first: what each recipe does, and where it
begins and ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.analysis.curves.row import CurveRow
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, View
from warehouse.tables.words import counted, level_column, visible

#: Curves whose findings are told one by one.
_MOST_SENTENCES = 6
_HIDE_EMPTY = (
    *("split", "metric", "recipe", "setting", "seeds"),
    *("above chance from", "drops"),
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("split", "metric", "checkpoints", "first", "seeds", "setting")
#: Where a chance level is from, in words behind it.
_SOURCES = {"given": "", "metric": " by the metric", "options": " by the options"}


def brief_view(
    rows: Sequence[CurveRow],
    said: Sequence[str],
    notes: Sequence[str],
    unit: Unit,
    level: float,
) -> View:
    """What people are shown of curves.

    Args:
        rows: one for each.
        said: what follows from all of them.
        notes: what is missing, and why.
        unit: of the scores.
        level: of the intervals.
    """
    cells = [_cells(row, unit, level) for row in rows]
    for name in ("benchmark", "split", "metric"):
        if len({getattr(row, name) for row in rows}) == 1:
            for own in cells:
                del own[name]
    if all(row.n_seeds == 1 for row in rows):
        for own in cells:
            del own["seeds"]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    return View((_heading(rows), *map(visible, said), "", table), tuple(notes))


def unit_of(rows: Sequence[CurveRow], *, in_percent: bool) -> Unit:
    """The unit in which people read scores of curves."""
    errors = []
    for row in rows:
        if row.ci_low is not None and row.ci_high is not None:
            errors.append((row.ci_high - row.ci_low) / 4)
    return Unit.of(errors, in_percent=in_percent)


def _heading(rows: Sequence[CurveRow]) -> str:
    """On what, by what, and how many curves: ``arc_easy · acc · 2 curves over step``."""
    parts = []
    for name in ("benchmark", "split", "metric"):
        values = {getattr(row, name) for row in rows}
        if len(values) == 1:
            parts.append(values.pop() or "")
    curves = counted(len(rows), "curve")
    units = sorted({row.unit for row in rows})
    parts.append(f"{curves} over {' and '.join(units)}")
    return " · ".join(filter(None, parts))


def _cells(row: CurveRow, unit: Unit, level: float) -> dict[str, Any]:
    recipe = ""
    if row.recipe not in row.model:
        recipe = row.recipe
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "model": row.model,
        "recipe": recipe,
        "setting": row.setting,
        "seeds": row.n_seeds,
        "checkpoints": row.n_checkpoints,
        "first": unit.figure(row.first),
        "last": unit.figure(row.last),
        level_column(level): unit.ends(row.ci_low, row.ci_high, row.last),
        "above chance from": row.above_chance_from,
        "drops": row.n_drops,
    }


def sentences(
    rows: Sequence[CurveRow],
    one_line: str,
    unit: Unit,
    *,
    kendall: float | None,
    pearson: float | None,
) -> list[str]:
    """The findings in words; of many curves the numbers only.

    Args:
        rows: one for each curve.
        one_line: the findings in numbers.
        unit: of the scores.
        kendall: how the last scores of recipes go together in two formulations; None
            unless two are compared.
        pearson: the same by Pearson's correlation.
    """
    told: list[str] = []
    if len(rows) <= _MOST_SENTENCES:
        told += _one_by_one(rows, unit)
    else:
        told.append(f"{one_line}.")
    told += _crossings(rows)
    if kendall is not None:
        also = ""
        if pearson is not None:
            also = f", Pearson {pearson:.2f}"
        told.append(
            "Over the recipes the last scores of the two go together by Kendall "
            f"{kendall:.2f}{also}."
        )
    return told or [f"{one_line}."]


def _one_by_one(rows: Sequence[CurveRow], unit: Unit) -> Iterator[str]:
    """What each curve does."""
    are_several = len({row.benchmark for row in rows}) > 1
    for row in rows:
        findings = list(_findings(row, unit))
        if not findings:
            continue
        name = row.name
        if are_several:
            name = f"{row.name} on {row.benchmark}"
        yield f"{name}: {', '.join(findings)}."


def _crossings(rows: Sequence[CurveRow]) -> list[str]:
    """Where curves cross, once for each two."""
    are_several = len({row.name for row in rows if row.other}) > 2
    told: dict[str, None] = {}
    for row in rows:
        if not row.crossing_in_words:
            continue
        words = row.crossing_in_words
        if are_several:
            words = f"{row.name}: {words}"
        told[f"{words}."] = None
    return list(told)[:_MOST_SENTENCES]


def _findings(row: CurveRow, unit: Unit) -> Iterator[str]:
    """Whether one is above chance, and where it falls."""
    if row.chance is not None and row.band:
        yield _above_chance(row, unit)
    if row.n_drops == 0:
        yield "no significant drop"
    elif row.n_drops and row.largest_drop is not None:
        by = unit.points(abs(row.largest_drop))
        points = " points" if unit.in_percent else ""
        largest = ", the largest" if row.n_drops > 1 else ","
        yield (
            f"{counted(row.n_drops, 'significant drop')}{largest} by {by}{points} at "
            f"{row.unit} {row.largest_drop_at:.12g}"
        )


def _above_chance(row: CurveRow, unit: Unit) -> str:
    """From where on a curve is above chance."""
    chance = f"chance ({unit.figure(row.chance)}{_SOURCES[row.chance_from]})"
    if row.above_chance_from is not None:
        return f"above {chance} from {row.unit} {row.above_chance_from:.12g} on"
    if row.above_chance_at is not None:
        return (
            f"first above {chance} at {row.unit} {row.above_chance_at:.12g}, not to the "
            "end"
        )
    return f"never significantly above {chance}"
