"""Pairs on the page: differences from the first, and all of them as a table or as a
heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from warehouse.analysis.comparison.pair_rows import PairRow
from warehouse.analysis.pairs.answer import Pairs
from warehouse.analysis.pairs.charts import MOST_NUMBERS, MOST_PAIRED, square
from warehouse.analysis.pairs.group import PairGroup
from warehouse.analysis.pairs.view import max_t_words
from warehouse.charts.chart import distinct
from warehouse.report.board import flags
from warehouse.report.figures import all_pairs, differences, shared_prompts
from warehouse.tables.page import PageColumn, count, name, number, table, text
from warehouse.tables.units import Unit
from warehouse.tables.words import fixed


def pair_groups(pairs: Pairs, *, in_percent: bool = False) -> list[dict[str, Any]]:
    """Groups of conditions, each with its table of differences and all its pairs; of
    pairs whose rows are the first condition's alone.

    Args:
        in_percent: scores are shares, and differences are given in points.
    """
    groups, rows = [], list(pairs.rows)
    for group in pairs.groups:
        own, rows = rows[: len(group.labels) - 1], rows[len(group.labels) - 1 :]
        groups.append(
            _group(
                group,
                own,
                pairs.benchmark,
                several=len(pairs.groups) > 1,
                in_percent=in_percent,
            )
        )
    return groups


def _group(
    group: PairGroup,
    rows: list[PairRow],
    benchmark: str,
    *,
    several: bool,
    in_percent: bool,
) -> dict[str, Any]:
    labels = group.labels
    unit = Unit.of((row.standard_error for row in rows), in_percent=in_percent)
    part = ""
    if several:
        part = ", ".join(filter(None, (group.metric, group.split, group.task_version)))
    small = len(labels) <= MOST_NUMBERS
    return {
        "first": labels[0],
        "name": part,
        "table": _forest(group, rows, " ".join(filter(None, (benchmark, part))), unit),
        "matrix": _numbers(group, benchmark, part, in_percent) if small else None,
        "differences": differences(group, rows, benchmark, unit),
        "picture": None if small else all_pairs(group, benchmark),
        "n_shown": min(len(labels), MOST_PAIRED),
        "more": max(0, len(labels) - MOST_PAIRED),
    }


def _forest(
    group: PairGroup, rows: list[PairRow], benchmark: str, unit: Unit
) -> Markup:
    """Differences from the first, in rows."""
    labels, size = group.labels, round(1 - group.pairs.level, 10)
    differ = group.pairs.differ.tolist()[: len(rows)]
    return table(
        f"Differences from {labels[0]} on {benchmark}",
        f"Paired differences, first minus other, on the {shared_prompts(group)} "
        f"questions that both have. Intervals hold for all pairs ({len(group.pairs)}) "
        f"together ({max_t_words(group.pairs)}). Differs: by Holm at {size:g}.",
        [
            name("Other model", labels[1:]),
            _in_unit(
                "Difference, points" if unit.in_percent else "Difference",
                [row.difference for row in rows],
                unit,
            ),
            _in_unit("Low", [row.ci_low for row in rows], unit),
            _in_unit("High", [row.ci_high for row in rows], unit),
            text(
                "Differs",
                ["yes" if is_different else "no" for is_different in differ],
                keep=True,
            ),
            number(
                "SE",
                [unit.in_unit(row.standard_error) for row in rows],
                unit.digits,
                minor=True,
            ),
            number("p", [row.p_value for row in rows], "%.2g", minor=True),
            number("p, Holm", [row.p_holm for row in rows], "%.2g", minor=True),
            number(
                "p, step-down", [row.p_step_down for row in rows], "%.2g", minor=True
            ),
            number("Correlation", [row.correlation for row in rows], 2, minor=True),
            count("Questions", [row.n_prompts for row in rows]),
            text("Flags", [flags(row.flags) for row in rows], minor=True, wrap=True),
            text("Why no error", [row.reason for row in rows], wrap=True, minor=True),
        ],
    )


def _in_unit(head: str, values: Sequence[float | None], unit: Unit) -> PageColumn:
    """A column of differences, with their signs."""
    return number(head, map(unit.in_unit, values), unit.digits, sign=True)


def _numbers(group: PairGroup, benchmark: str, part: str, in_percent: bool) -> Markup:
    """Row minus column, with a star where they differ."""
    differences, tested = square(group, "difference"), square(group, "differ")
    errors = [error for error in group.pairs.standard_error.tolist() if error == error]
    unit = Unit.of(errors, in_percent=in_percent)
    heads = distinct(group.labels, 16)

    def cells(column: int) -> PageColumn:
        values = [
            (row[column], tests[column] == 1)
            for row, tests in zip(differences, tested, strict=True)
        ]
        cells: list[str] = []
        for value, differs in values:
            words = "·"
            if value == value:
                words = fixed(unit.in_unit(value) or 0.0, unit.digits)
            if differs:
                words = f"<b>{words}*</b>"
            cells.append(f"<td>{words}")
        return PageColumn(f"<bdi>{escape(heads[column])}</bdi>", "n", tuple(cells))

    heading = f"All pairs of {benchmark}"
    if part:
        heading += f" {part}"
    points = " in points" if in_percent else ""
    return table(
        heading,
        f"Row minus column{points}, on the {shared_prompts(group)} questions that both "
        f"have; "
        f"bold with *: differs by Holm at {round(1 - group.pairs.level, 10):g}.",
        [
            name("Model", group.labels),
            *(cells(column) for column in range(len(group.labels))),
        ],
        sortable=False,
    )
