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
from warehouse.analysis.leaderboard.places import BEST, HIGHEST, TIE, Place
from warehouse.analysis.leaderboard.view import flag_words
from warehouse.analysis.suites.row import SuiteLeaf, SuiteRow, leaves_in_words
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, TableNote
from warehouse.tables.words import (
    StrongNumber,
    WrittenNumber,
    direction,
    level_column,
    span_of,
)

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
#: The column of the mean over benchmarks.
MEAN = "mean"
#: Verdicts on a row that no test tells from the best.
WITH_THE_BEST = (BEST, TIE, HIGHEST)
#: Benchmarks of which a page has a column each.
_MOST_LEAVES = 12
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
    paper: Table | None = None,
) -> Table:
    """The rows that a reader looks for first.

    Args:
        rows: those with a rank first, best first.
        top: rows that are shown; None: of many those at both ends; 0: all.
        paper: what Markdown and LaTeX have in place of the table.
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
    return Table.of(with_gap(cells, top), hide_empty=hidden, minor=_MINOR, paper=paper)


def paper_table(
    rows: Sequence[SuiteRow],
    leaves: Sequence[SuiteLeaf],
    unit: Unit,
    higher_is_better: bool | None,
) -> Table | None:
    """Models by benchmarks with their mean, as papers print them: the best figure of a
    benchmark is bold, and the means that no test tells from the best; None where there
    are too many benchmarks for a page.

    Args:
        rows: those with a rank first, best first.
        leaves: the benchmarks.
        unit: of the figures.
    """
    if len(leaves) > _MOST_LEAVES:
        return None
    best = [_best(rows, at, higher_is_better) for at in range(len(leaves))]
    cells = []
    for standing in standings(rows, higher_is_better, unit):
        row = standing.row
        named: dict[str, Any] = {"model": row.model, "settings": row.condition}
        for at, leaf in enumerate(leaves):
            value = row.leaf_estimates[at]
            written = unit.with_error(value, row.leaf_errors[at])
            named[leaf.name] = _bold(written, value is not None and value == best[at])
        mean = unit.with_error(row.estimate, row.standard_error)
        is_with_best = standing.place is not None and (
            standing.place.verdict in WITH_THE_BEST
        )
        named[MEAN] = _bold(mean, is_with_best)
        named["flags"] = [flag_words(flag, row) for flag in row.flags]
        cells.append(named)
    return Table.of(cells, hide_empty=("settings", "flags"))


def paper_note(leaves: Sequence[SuiteLeaf]) -> TableNote:
    """What is bold in `paper_table`, where that is shown."""
    return TableNote(
        "bold: the best figure of a benchmark, untested; of the means those that no test "
        "tells from the best",
        leaves[0].name,
        is_term=False,
    )


def _best(
    rows: Sequence[SuiteRow], at: int, higher_is_better: bool | None
) -> float | None:
    """The best figure on a benchmark of the rows with a rank; None without direction."""
    figures = []
    for row in rows:
        value = row.leaf_estimates[at]
        if row.rank is not None and value is not None:
            figures.append(value)
    if not figures or higher_is_better is None:
        return None
    if higher_is_better:
        return max(figures)
    return min(figures)


def _bold(written: WrittenNumber | None, is_bold: bool) -> WrittenNumber | None:
    if written is None or not is_bold:
        return written
    return StrongNumber(written.text)


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
