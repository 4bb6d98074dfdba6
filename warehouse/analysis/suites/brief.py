"""The table of a suite as people read it first: places, figures with their errors, and
what each row is beside the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.leaderboard.brief import (
    interval_of,
    order_of,
    seeds_of,
    standings,
    unit_of,
    with_gap,
)
from warehouse.analysis.leaderboard.places import Place
from warehouse.analysis.leaderboard.view import flag_words
from warehouse.analysis.suites.row import SuiteLeaf, SuiteRow, leaves_in_words
from warehouse.tables.units import Unit
from warehouse.tables.view import Table
from warehouse.tables.words import direction, level_column, span_of

#: Columns that a table does without where they are empty.
_HIDE_EMPTY = (
    "place",
    "rank",
    "settings",
    "vs. best",
    "seeds",
    "published",
    "flags",
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("published", "flags", "questions")


def suite_heading(
    suite: str,
    metric: str,
    higher_is_better: bool | None,
    leaves: Sequence[SuiteLeaf],
    weights: str,
    rows: Sequence[SuiteRow],
) -> str:
    """What the figures are means of, and on how much they rest: ``mmlu · acc, higher is
    better · mean of 57 benchmarks, each the same weight · 14042 questions``."""
    parts = [
        suite,
        f"{metric}, {direction(higher_is_better)}",
        leaves_in_words(leaves, weights),
    ]
    sizes = [row.n_prompts for row in rows if row.rank is not None and row.n_prompts]
    if sizes:
        parts.append(f"{span_of(sizes)} questions")
    return " · ".join(parts)


def suite_unit(rows: Sequence[SuiteRow], *, is_share: bool) -> Unit:
    """The unit of the figures: percent, where those of all benchmarks are shares."""
    return unit_of(rows, in_percent=is_share)


def brief_table(
    rows: Sequence[SuiteRow],
    unit: Unit,
    higher_is_better: bool | None,
    *,
    top: int | None,
) -> Table:
    """The rows that a reader looks for first.

    Args:
        rows: those with a rank first, best first.
        top: rows that are shown; None: of many those at both ends; 0: all.
    """
    standing_rows = standings(rows, higher_is_better, unit)
    head, order = order_of(standing_rows)
    cells = []
    for standing, at in zip(standing_rows, order, strict=True):
        shown = str(at) if isinstance(at, Place) else at
        cells.append({head: shown} | _cells(standing.row, unit, standing.beside))
    if len({row.n_prompts for row in rows}) == 1:
        for named in cells:
            del named["questions"]
    if not any(row.n_missing for row in rows):
        for named in cells:
            del named["benchmarks"]
    hidden = (*_HIDE_EMPTY, *{level_column(row.level) for row in rows})
    return Table.of(with_gap(cells, top), hide_empty=hidden, minor=_MINOR)


def _cells(row: SuiteRow, unit: Unit, compared: str | None) -> dict[str, Any]:
    """The cells of a row, behind its place."""
    return {
        "model": row.model,
        "settings": row.condition,
        "score": unit.with_error(row.estimate, row.standard_error),
        level_column(row.level): interval_of(row, unit),
        "vs. best": compared,
        "benchmarks": _benchmarks(row),
        "seeds": seeds_of(row, unit),
        "questions": row.n_prompts or None,
        "published": unit.figure(row.published),
        "flags": [flag_words(flag, row) for flag in row.flags],
    }


def _benchmarks(row: SuiteRow) -> str:
    """How many benchmarks a figure is of, and of how many."""
    return f"{row.n_leaves} of {row.n_leaves + row.n_missing}"
