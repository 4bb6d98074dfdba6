"""Tables of leaderboards, of benchmarks and of suites, and curves along training."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from warehouse.analysis.leaderboard.brief import (
    Standing,
    order_of,
    seeds_of,
    standings,
    unit_of,
)
from warehouse.analysis.leaderboard.places import Place
from warehouse.analysis.leaderboard.row import TOO_FEW, LeaderboardRow
from warehouse.analysis.leaderboard.words import counts_in_words
from warehouse.analysis.report_data.part import BenchmarkPart
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.analysis.suites.brief import suite_unit
from warehouse.analysis.suites.row import SuiteRow
from warehouse.tables.page import (
    PageColumn,
    broken,
    count,
    html,
    is_finite,
    model_and_condition,
    name,
    number,
    table,
    text,
    written,
)
from warehouse.tables.units import Unit
from warehouse.tables.words import decimals, direction, listed

#: Benchmarks of a suite whose figures stand in one table.
MOST_LEAVES = 20


def _what_differs(rows: Sequence[LeaderboardRow]) -> str:
    """How many prompts there are and by what method, where that is not said of all
    rows; a semicolon before them."""
    methods = [*dict.fromkeys(row.method.replace("_", " ") for row in rows)]
    differs = ""
    if len({row.n_prompts for row in rows}) > 1:
        differs += counts_in_words(rows)
    if len(methods) > 1:
        differs += f"; by {listed(methods)}"
    return differs


def board_table(part: BenchmarkPart, level: float) -> Markup:
    """The leaderboard of a benchmark: places, scores with their errors, and what each
    row is beside the best.

    Args:
        level: nominal coverage of the intervals.
    """
    assert part.board is not None
    board = part.board
    unit = unit_of(board.rows, in_percent=board.is_share)
    standing_rows = standings(board.rows, board.higher_is_better, unit)
    rows = [standing.row for standing in standing_rows]
    several = len({row.model for row in rows}) < len(rows)
    return table(
        f"Leaderboard of {part.name}",
        f"Leaderboard, {100 * level:g}% intervals{_what_differs(rows)}.",
        [
            _order(standing_rows),
            *model_and_condition(
                "Model",
                [row.model for row in rows],
                [row.condition for row in rows],
                minor=not several,
            ),
            text("Split", [row.split for row in rows], minor=True),
            text("Metric", [row.metric for row in rows], minor=True),
            *_scores(rows, unit),
            text("vs. best", [standing.beside for standing in standing_rows]),
            text("Seeds", [seeds_of(row, unit) for row in rows], minor=True),
            count("Questions", [row.n_prompts for row in rows]),
            count("Clusters", [row.n_clusters for row in rows]),
            count("Answers", [row.n_draws for row in rows]),
            count("Unscored", [row.n_unscored for row in rows]),
            count("Runs", [row.runs for row in rows]),
            text("Method", [row.method.replace("_", " ") for row in rows], minor=True),
            text("Flags", [flags(row.flags) for row in rows], minor=True, wrap=True),
            text(
                "Recomputed from the part that is stored",
                [_part(row, unit) for row in rows],
                minor=True,
                wrap=True,
            ),
            text(
                "Why no interval",
                [row.reason if row.ci_low is None else "" for row in rows],
                minor=True,
                wrap=True,
            ),
        ],
    )


def _order(standing_rows: Sequence[Standing[Any]]) -> PageColumn | None:
    """The places by the tests of all pairs, sorted by the best that each may be; without
    tests the order of the figures, where there are several."""
    head, order = order_of(standing_rows)
    if head == "rank":
        ranks = [at for at in order if isinstance(at, int)]
        if not ranks:
            return None
        shown = [at if isinstance(at, int) else None for at in order]
        return count("Rank", shown, minor=False, keep=True)
    cells = []
    for at in order:
        if isinstance(at, Place):
            cells.append(f'<td data-v="{at.low}">{at}')
        else:
            cells.append("<td>")
    return PageColumn("Place", "n", tuple(cells))


def _scores(
    rows: Sequence[LeaderboardRow] | Sequence[SuiteRow], unit: Unit
) -> list[PageColumn | None]:
    """Scores, the ends of their intervals and their standard errors, in one unit."""

    def column(
        head: str, values: Sequence[float | None], *, minor: bool = False
    ) -> PageColumn:
        figures = [None if value is None else unit.many([value])[0] for value in values]
        return number(head, figures, unit.digits, minor=minor)

    score = "Score, %" if unit.in_percent else "Score"
    return [
        column(score, [row.estimate for row in rows]),
        column("Low", [_said(row, row.ci_low) for row in rows]),
        column("High", [_said(row, row.ci_high) for row in rows]),
        column("SE", [row.standard_error for row in rows], minor=True),
    ]


def others_table(part: BenchmarkPart) -> Markup:
    """The metrics that a leaderboard does not show."""
    assert part.board is not None
    others = part.board.others

    def elsewhere(metric: str) -> Markup:
        own = [row for row in part.other_rows if row.metric == metric]
        return Markup(", ").join(
            Markup("<bdi>{}</bdi> {}").format(
                _label(row), _with_interval(row, decimals([row.standard_error]))
            )
            for row in own
        )

    return table(
        f"Other metrics of {part.name}",
        "Other metrics, which this leaderboard does not show.",
        [
            name("Other metric", [other.metric for other in others]),
            text(
                "Direction",
                [direction(other.higher_is_better) for other in others],
                minor=True,
            ),
            count(
                "Conditions",
                [other.n_conditions for other in others],
                minor=False,
                keep=True,
            ),
            count(
                "Not above",
                [other.n_elsewhere for other in others],
                minor=False,
                keep=True,
            ),
            html(
                "Figures of conditions that are not above",
                [elsewhere(other.metric) for other in others],
            )
            if part.other_rows
            else None,
        ],
    )


def suite_table(name_of: str, board: SuiteBoard, level: float) -> Markup:
    """The leaderboard of a suite."""
    unit = suite_unit(board.rows, is_share=board.is_share)
    standing_rows = standings(board.rows, board.higher_is_better, unit)
    rows = [standing.row for standing in standing_rows]
    return table(
        f"Leaderboard of suite {name_of}",
        f"Suite, {100 * level:g}% intervals; errors of the benchmarks add up, with "
        "covariances where they share prompts or clusters.",
        [
            _order(standing_rows),
            name("Model", [row.model for row in rows]),
            text("Condition", [row.condition for row in rows], minor=True),
            *_scores(rows, unit),
            text("vs. best", [standing.beside for standing in standing_rows]),
            count("Benchmarks", [row.n_leaves for row in rows], keep=True),
            count("Missing", [row.n_missing for row in rows], keep=True),
            count("Questions", [row.n_prompts for row in rows]),
            count("Unscored", [row.n_unscored for row in rows]),
            text("Flags", [flags(row.flags) for row in rows], minor=True, wrap=True),
            text(
                "Why no interval",
                [row.reason if row.ci_low is None else "" for row in rows],
                minor=True,
                wrap=True,
            ),
        ],
    )


def leaves_table(name_of: str, board: SuiteBoard) -> Markup:
    """The score of each model of a suite on each of its benchmarks."""
    rows = board.rows
    n_decimals = decimals(row.standard_error for row in rows)
    columns = [
        name("Model on the suite", [row.model for row in rows]),
        text("Condition", [row.condition for row in rows], minor=True),
    ]
    for at, leaf in enumerate(board.leaves):
        estimates = [row.leaf_estimates[at] for row in rows]
        columns.append(number(f"<bdi>{broken(leaf.name)}</bdi>", estimates, n_decimals))
    return table(
        f"Benchmarks of suite {name_of}",
        "Estimate on each benchmark of the suite.",
        columns,
    )


def _said(row: LeaderboardRow | SuiteRow, end: float | None) -> float | None:
    """An end of the interval; None where it says nothing for want of seeds, whose
    figures stand beside it."""
    if TOO_FEW in row.flags:
        return None
    return end


def flags(names: Iterable[str]) -> str:
    """Warnings in words."""
    return (
        ", ".join(names)
        .replace("missing_leaves", "missing benchmarks")
        .replace("leaves_", "benchmarks_")
        .replace("_", " ")
    )


def in_words(note: str) -> str:
    """A note without words that only programs know."""
    for word, plain in _PLAIN:
        note = note.replace(word, plain)
    note = _ADVICE.sub("", note)
    return _METHOD.sub(lambda match: match[0].replace("_", " "), note)


#: What to type, in notes for a terminal.
_ADVICE = re.compile(
    r"; this says so.*| \(--[a-z].*?\)|; warehouse gate --sequential has the verdict"
)
#: Names of methods, as a leaderboard's notes have them.
_METHOD = re.compile(r"intervals by \w+|: \w+ gives \[")


_PLAIN = (
    (" (subset_ok ranks them)", ""),
    (" (partial_ok ranks them)", ""),
    (" (subset_ok compares it)", ""),
    (": --json has all", ""),
)


def _part(row: LeaderboardRow, unit: Unit) -> str:
    """The figure of the part of a benchmark whose samples are stored."""
    if row.part_estimate is None:
        return ""
    ends = ""
    if is_finite(row.part_ci_low) and is_finite(row.part_ci_high):
        ends = f" {unit.ends(row.part_ci_low, row.part_ci_high)}"
    return f"{unit.figure(row.part_estimate)}{ends} of {row.part_n_prompts}"


def _with_interval(row: LeaderboardRow, n_decimals: int) -> str:
    ends = ""
    if is_finite(row.ci_low):
        low = written(row.ci_low, n_decimals)
        high = written(row.ci_high, n_decimals)
        ends = f" [{low}, {high}]"
    return f"{written(row.estimate, n_decimals)}{ends}"


def _label(row: LeaderboardRow) -> str:
    if row.condition:
        return f"{row.model} {row.condition}"
    return row.model
