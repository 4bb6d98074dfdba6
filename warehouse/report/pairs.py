"""Pairs on the page: differences from the first, and all of them as a table or as a heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from warehouse.analysis.comparison.all_pairs import PairGroup, PairRow, Pairs
from warehouse.report.charts import Chart
from warehouse.report.matrix_charts import SHADES, heat_map
from warehouse.report.table import PageColumn, count, drawing, interval_drawn, make_axis, name, number, table, text
from warehouse.tables.words import decimals, fixed

#: Conditions of one group that all pairs show, and up to which they are a table of numbers.
MOST, MOST_NUMBERS = 50, 15


def pair_groups(pairs: Pairs) -> list[dict[str, Any]]:
    """Groups of conditions, each with its table of differences and all its pairs; of pairs whose rows are the first
    condition's alone."""
    groups, rows = [], list(pairs.rows)
    for group in pairs.groups:
        own, rows = rows[: len(group.labels) - 1], rows[len(group.labels) - 1 :]
        groups.append(_group(group, own, pairs.benchmark, several=len(pairs.groups) > 1))
    return groups


def heat_maps(pairs: Pairs) -> list[tuple[Chart | None, tuple[str, ...]]]:
    """Of each group that is too large for a table of numbers: its map, and what its numbers stand for."""
    large = [group for group in pairs.groups if len(group.labels) > MOST_NUMBERS]
    return [(_heat(group), tuple(group.labels[:MOST])) for group in large]


def apart(pairs: Pairs | None) -> dict[tuple[str, str], bool]:
    """Whether two conditions differ by Holm's test, by their labels, in both orders."""
    distinct: dict[tuple[str, str], bool] = {}
    for group in pairs.groups if pairs else ():
        labels, tests = group.labels, group.pairs
        places = zip(tests.first.tolist(), tests.second.tolist(), tests.differ.tolist(), strict=True)
        for a, b, differs in places:
            distinct[labels[a], labels[b]] = distinct[labels[b], labels[a]] = differs
    return distinct


def _group(group: PairGroup, rows: list[PairRow], benchmark: str, several: bool) -> dict[str, Any]:
    labels = group.labels
    part = ", ".join(filter(None, (group.metric, group.split, group.task_version))) if several else ""
    small = len(labels) <= MOST_NUMBERS
    return {
        "first": labels[0],
        "name": part,
        "table": _forest(group, rows, " ".join(filter(None, (benchmark, part)))),
        "matrix": _numbers(group, benchmark, part) if small else None,
        "chart": None if small else _heat(group),
        "key": None if small else _key(labels[:MOST], benchmark),
        "more": max(0, len(labels) - MOST),
    }


def _forest(group: PairGroup, rows: list[PairRow], benchmark: str) -> Markup:
    """Differences from the first, in rows."""
    labels, size = group.labels, round(1 - group.pairs.level, 10)
    axis = make_axis([end for row in rows for end in (row.difference, row.ci_low, row.ci_high)], zero=True)
    places = decimals(row.standard_error for row in rows)
    drawn = [
        interval_drawn(axis, row.difference, row.ci_low, row.ci_high, zero=True, filled=differs) if axis else ""
        for row, differs in zip(rows, group.pairs.differ.tolist(), strict=False)
    ]
    return table(
        f"Differences from {labels[0]} on {benchmark}",
        "Paired differences, first minus other, on the prompts that both have. Intervals hold for all pairs"
        f" ({len(group.pairs)}) together (max-|T|). Filled: differs by Holm at {size:g}.",
        [
            name("Other model", labels[1:]),
            number("Difference", [row.difference for row in rows], places, sign=True),
            drawing("Simultaneous interval", axis, drawn),
            number("Low", [row.ci_low for row in rows], places, sign=True),
            number("High", [row.ci_high for row in rows], places, sign=True),
            number("SE", [row.standard_error for row in rows], places, minor=True),
            number("p", [row.p_value for row in rows], "%.2g", minor=True),
            number("p, Holm", [row.p_holm for row in rows], "%.2g", minor=True),
            number("p, step-down", [row.p_step_down for row in rows], "%.2g", minor=True),
            number("Correlation", [row.correlation for row in rows], 2, minor=True),
            count("Prompts", [row.n_prompts for row in rows]),
            text("Why no error", [row.reason for row in rows], wrap=True, minor=True),
        ],
    )


def _square(group: PairGroup, what: str) -> list[list[float]]:
    square: list[list[float]] = group.pairs.square(what)[:MOST, :MOST].tolist()
    return square


def _numbers(group: PairGroup, benchmark: str, part: str) -> Markup:
    """Row minus column, with a star where they differ."""
    differences, tested = _square(group, "difference"), _square(group, "differ")
    places = decimals(error for error in group.pairs.standard_error.tolist() if error == error)

    def cells(column: int) -> PageColumn:
        values = [(row[column], tests[column] == 1) for row, tests in zip(differences, tested, strict=True)]
        written = [fixed(value, places) if value == value else "·" for value, _ in values]
        cells = [
            f"<td><b>{words}*</b>" if differs else f"<td>{words}"
            for words, (_, differs) in zip(written, values, strict=True)
        ]
        return PageColumn(f"{column + 1}", "n", tuple(cells))

    labels = [f"{index} {label}" for index, label in enumerate(group.labels, 1)]
    return table(
        f"All pairs of {benchmark}{' ' * bool(part)}{part}",
        f"Row minus column; bold with *: differs by Holm at {round(1 - group.pairs.level, 10):g}.",
        [name("Model", labels), *(cells(column) for column in range(len(labels)))],
        sortable=False,
    )


def _heat(group: PairGroup) -> Chart | None:
    """Where the row differs from the column, and by how much; empty where the test finds no difference."""
    differences, tested = _square(group, "difference"), _square(group, "differ")
    size = round(1 - group.pairs.level, 10)
    largest = max((abs(value) for row in differences for value in row if value == value), default=0.0) or 1.0
    shares = [
        [
            min(max((value / largest + 1) / 2, 0.0), 1.0) if value == value and differs == 1 else None
            for value, differs in zip(values, tests, strict=True)
        ]
        for values, tests in zip(differences, tested, strict=True)
    ]
    n_differing = sum(share is not None for row in shares for share in row) // 2
    n_pairs = len(shares) * (len(shares) - 1) // 2
    edges = [largest * (2 * shade / SHADES - 1) for shade in range(SHADES + 1)]
    places = _decimals([edges])
    words = [f"{fixed(a, places)} to {fixed(b, places)}" for a, b in zip(edges, edges[1:], strict=False)]
    return heat_map(
        shares,
        title=f"Row minus column, where Holm's test tells them apart at {size:g}; empty: it does not",
        say=f"Heat map of {len(shares)} by {len(shares)} conditions in order of rank: {n_differing} of {n_pairs} pairs"
        " differ",
        words=words,
    )


def _key(labels: Sequence[str], benchmark: str) -> Markup:
    return table(
        f"Numbers of {benchmark}",
        "Numbers of the heat map.",
        [count("No.", range(1, len(labels) + 1), minor=False, keep=True), name("Model", labels)],
    )


def _decimals(differences: Sequence[Sequence[float]]) -> int:
    """Decimals at which the largest difference has three digits."""
    largest = max((abs(value) for row in differences for value in row if value == value), default=0)
    return min(8, max(0, 2 - math.floor(math.log10(largest)))) if largest else 0
