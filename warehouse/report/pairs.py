"""Pairs on the page: differences from the first, and all of them as a table or as a
heat map."""

from __future__ import annotations

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
from warehouse.tables.words import decimals, fixed


def pair_groups(pairs: Pairs) -> list[dict[str, Any]]:
    """Groups of conditions, each with its table of differences and all its pairs; of
    pairs whose rows are the first condition's alone."""
    groups, rows = [], list(pairs.rows)
    for group in pairs.groups:
        own, rows = rows[: len(group.labels) - 1], rows[len(group.labels) - 1 :]
        groups.append(
            _group(group, own, pairs.benchmark, several=len(pairs.groups) > 1)
        )
    return groups


def _group(
    group: PairGroup, rows: list[PairRow], benchmark: str, several: bool
) -> dict[str, Any]:
    labels = group.labels
    part = ""
    if several:
        part = ", ".join(filter(None, (group.metric, group.split, group.task_version)))
    small = len(labels) <= MOST_NUMBERS
    return {
        "first": labels[0],
        "name": part,
        "table": _forest(group, rows, " ".join(filter(None, (benchmark, part)))),
        "matrix": _numbers(group, benchmark, part) if small else None,
        "differences": differences(group, rows, benchmark),
        "picture": None if small else all_pairs(group, benchmark),
        "n_shown": min(len(labels), MOST_PAIRED),
        "more": max(0, len(labels) - MOST_PAIRED),
    }


def _forest(group: PairGroup, rows: list[PairRow], benchmark: str) -> Markup:
    """Differences from the first, in rows."""
    labels, size = group.labels, round(1 - group.pairs.level, 10)
    n_decimals = decimals(row.standard_error for row in rows)
    differ = group.pairs.differ.tolist()[: len(rows)]
    return table(
        f"Differences from {labels[0]} on {benchmark}",
        f"Paired differences, first minus other, on the {shared_prompts(group)} "
        f"prompts that both have. Intervals hold for all pairs ({len(group.pairs)}) "
        f"together ({max_t_words(group.pairs)}). Differs: by Holm at {size:g}.",
        [
            name("Other model", labels[1:]),
            number(
                "Difference", [row.difference for row in rows], n_decimals, sign=True
            ),
            number("Low", [row.ci_low for row in rows], n_decimals, sign=True),
            number("High", [row.ci_high for row in rows], n_decimals, sign=True),
            text(
                "Differs",
                ["yes" if is_different else "no" for is_different in differ],
                keep=True,
            ),
            number("SE", [row.standard_error for row in rows], n_decimals, minor=True),
            number("p", [row.p_value for row in rows], "%.2g", minor=True),
            number("p, Holm", [row.p_holm for row in rows], "%.2g", minor=True),
            number(
                "p, step-down", [row.p_step_down for row in rows], "%.2g", minor=True
            ),
            number("Correlation", [row.correlation for row in rows], 2, minor=True),
            count("Prompts", [row.n_prompts for row in rows]),
            text("Flags", [flags(row.flags) for row in rows], minor=True, wrap=True),
            text("Why no error", [row.reason for row in rows], wrap=True, minor=True),
        ],
    )


def _numbers(group: PairGroup, benchmark: str, part: str) -> Markup:
    """Row minus column, with a star where they differ."""
    differences, tested = square(group, "difference"), square(group, "differ")
    n_decimals = decimals(
        error for error in group.pairs.standard_error.tolist() if error == error
    )

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
                words = fixed(value, n_decimals)
            if differs:
                words = f"<b>{words}*</b>"
            cells.append(f"<td>{words}")
        return PageColumn(f"<bdi>{escape(heads[column])}</bdi>", "n", tuple(cells))

    heading = f"All pairs of {benchmark}"
    if part:
        heading += f" {part}"
    return table(
        heading,
        f"Row minus column, on the {shared_prompts(group)} prompts that both have; "
        f"bold with *: differs by Holm at {round(1 - group.pairs.level, 10):g}.",
        [
            name("Model", group.labels),
            *(cells(column) for column in range(len(group.labels))),
        ],
        sortable=False,
    )
