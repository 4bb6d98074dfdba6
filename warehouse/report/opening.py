"""The opening of the page: the answer of each benchmark, all models on all, what
changed; names of files, anchors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup, escape

from warehouse.analysis.comparison.words import Sentence
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.report_data.answer import answer, suite_answer
from warehouse.analysis.report_data.part import BenchmarkPart
from warehouse.analysis.report_data.report import Changes, ReportData, ScoreChange
from warehouse.analysis.report_data.suite_part import SuitePart
from warehouse.analysis.suites.across import ranked_models
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.report.found import found_in_words, leader_of
from warehouse.report.heat import (
    PART,
    ROWS,
    HeatColumn,
    HeatWindow,
    cells_of,
    mark_of,
    mean_column,
    window,
)
from warehouse.tables.anchors import anchor
from warehouse.tables.page import count, name, number, table, text
from warehouse.tables.words import decimals, fixed, plural

#: Columns and cells of the heat table that is folded below the first of it.
MOST_COLUMNS, MOST_CELLS = 200, 12_000
#: Sentences that stand before the heat table; more stand after it.
FEW = 2
#: Sentences that are seen at once.
MOST_LINES = 40
#: Rows of the table of changes.
MOST_CHANGES = 50


@dataclass(frozen=True)
class OpeningLine:
    """The answer of one benchmark or suite."""

    link: str  #: of its section or page.
    name: str  #: of it.
    words: Markup  #: the sentence, as HTML.


@dataclass(frozen=True)
class HeadEntry:
    """Entry of a benchmark at the head of a report."""

    name: str  #: of it.
    answer: Markup  #: its sentence.
    #: on it, for want of a direction, a second model or a difference.
    nobody_first: bool
    n_parts: int  #: rows on a part of it.
    #: of the heat table, without its link; None without a leaderboard.
    column: HeatColumn | None
    has_answer: bool  #: a section has an answer without a leaderboard.
    models: tuple[
        str, ...
    ] = ()  #: that its leaderboard ranks; none for fewer than two.


def head_of(part: BenchmarkPart, answer: Markup) -> HeadEntry:
    """Make the entry of a benchmark, with its sentence."""
    board = part.board
    column = None
    if board:
        column = HeatColumn(
            part.name,
            board.metric,
            board.higher_is_better,
            cells_of(board.rows),
            leader=leader_of(board.rows, board.higher_is_better),
            is_share=board.is_share,
        )
    n_parts = 0
    if board:
        n_parts = sum(mark_of(row) == PART for row in board.rows)
    return HeadEntry(
        part.name,
        answer,
        board is not None and _is_without_first(board),
        n_parts,
        column,
        bool(part.answer),
        ranked_models(board) if board else (),
    )


def opening(
    suites: Sequence[SuitePart],
    benchmarks: Sequence[HeadEntry],
    changes: Changes | None,
    links: Mapping[str, str],
    note: str = "",
    left_out: Sequence[tuple[str, str]] = (),
    mean: SuiteBoard | None = None,
) -> dict[str, Any]:
    """Parts of the head of the page.

    Args:
        changes: between the last two refreshes; None without them. Where there are
            none, and no note, nothing is said, so that a page without news is the same
            page.
        links: page of a benchmark by its name; without one it is a section of this
            page.
        note: what came into the store since.
        left_out: what is broken or does not count, of `left_out_of`.
        mean: over benchmarks; None without one.
    """
    lines = [
        OpeningLine(
            f"#{anchor('suite', part.name)}",
            f"Suite {part.name}",
            as_html(suite_answer(part.board)),
        )
        for part in suites
        if part.board and part.board.rows
    ]
    lines += [
        OpeningLine(_link(head.name, links), head.name, head.answer)
        for head in benchmarks
    ]
    heat = heat_windows(heat_columns(suites, benchmarks, links, mean=mean))
    answers: dict[str, str] = {}
    if links and len(lines) > FEW:
        answers = {line.link: line.words for line in lines}
    told = None
    if changes and (changes.rows or note):
        nobody_first = {head.name for head in benchmarks if head.nobody_first}
        told = _changes(changes, note, nobody_first)
    return {
        "found": [
            *of_mean(mean),
            *found_in_words([head.column for head in benchmarks if head.column]),
        ],
        "lines": lines,
        "answers": answers,
        "few": FEW,
        "most": MOST_LINES,
        "left_out": left_out,
        "heat": heat,
        "changes": told,
    }


def of_mean(mean: SuiteBoard | None) -> list[Markup]:
    """Who leads by the mean over benchmarks; nothing without one."""
    if mean is None:
        return []
    words = as_html(mean.sentence_in_unit)
    return [Markup("By the mean of {} benchmarks: {}.").format(len(mean.leaves), words)]


def _link(benchmark: str, links: Mapping[str, str]) -> str:
    return links.get(benchmark) or f"#{anchor('benchmark', benchmark)}"


def answer_of(part: BenchmarkPart) -> Markup:
    """The sentence of a benchmark; why there is none where it has neither leaderboard
    nor votes."""
    if part.board is None and part.answer:
        return escape(part.answer)
    if part.board is None or not part.board.rows:
        return Markup("No leaderboard: {}").format(part.why_no_board)
    return as_html(answer(part.board, part.pairs))


def as_html(sentence: Sentence) -> Markup:
    """A sentence as HTML; names of dumps are escaped, and keep their direction of
    writing."""
    return Markup(escape(sentence.template)).format(
        *(Markup("<bdi>{}</bdi>").format(name) for name in sentence.names)
    )


def heat_columns(
    suites: Sequence[SuitePart],
    benchmarks: Sequence[HeadEntry],
    links: Mapping[str, str],
    page: str = "",
    mean: SuiteBoard | None = None,
) -> list[HeatColumn]:
    """Columns of the heat table: what has a score.

    Args:
        links: page of a benchmark by its name; without one it is a section of this
            page.
        page: that suites stand on; empty for this one.
        mean: over benchmarks; None without one.
    """
    columns = [mean_column(mean)] if mean else []
    columns += [
        HeatColumn(
            part.name,
            part.board.metric,
            part.board.higher_is_better,
            cells_of(part.board.rows),
            f"{page}#{anchor('suite', part.name)}",
            is_suite=True,
            is_share=part.board.is_share,
        )
        for part in suites
        if part.board
    ]
    columns += [
        replace(head.column, link=_link(head.name, links))
        for head in benchmarks
        if head.column
    ]
    return [column for column in columns if column.cells]


def heat_windows(
    columns: Sequence[HeatColumn],
) -> tuple[HeatWindow, HeatWindow | None] | None:
    """What is seen first, and all of it where that is more; None where there is nothing
    to put side by side."""
    first = window(columns)
    if first.n_rows * first.n_columns < 2:
        return None
    if first.is_whole:
        return first, None
    n_columns = min(first.n_columns, MOST_COLUMNS)
    return first, window(
        columns, n_rows=max(ROWS, MOST_CELLS // n_columns), n_columns=n_columns
    )


def _is_without_first(board: Leaderboard) -> bool:
    """Whether nobody is first: of one model, of several that are tied, of no known
    direction."""
    ranks = [row.rank for row in board.rows if row.rank is not None]
    return board.higher_is_better is None or len(ranks) < 2 or ranks[1] == 1


def left_out_of(
    data: ReportData, benchmarks: Sequence[HeadEntry], shows: Collection[str]
) -> list[tuple[str, str]]:
    """What is broken or does not count: a link to the part of this page that shows it,
    empty where none, and words.

    Args:
        data: of the report.
        benchmarks: that are shown.
        shows: parts of this page.
    """
    columns = [head.column for head in benchmarks if head.column]
    unscored = sum(row["n_samples"] for row in data.unscored)
    contradicted = sum(row["verdict"] == "contradicts" for row in data.published)
    unknown = sum(column.higher_is_better is None for column in columns)
    counts = [
        ("published", contradicted, "published figure", " that samples contradict"),
        ("unscored", unscored, "sample", " without a score"),
        (
            "",
            sum(head.n_parts for head in benchmarks),
            "run",
            " on a part of a benchmark",
        ),
        ("", unknown, "benchmark", " of unknown direction"),
        (
            "",
            sum(not (head.column or head.has_answer) for head in benchmarks),
            "benchmark",
            " without a leaderboard",
        ),
    ]
    return [
        (f"#{part}" if part in shows else "", f"{n:,} {plural(what, n)}{which}")
        for part, n, what, which in counts
        if n
    ]


def _changes(changes: Changes, note: str, nobody_first: set[str]) -> dict[str, Any]:
    rows = changes.rows[:MOST_CHANGES]
    return {
        "words": _in_words(changes, nobody_first),
        "note": note,
        "more": len(changes.rows) - len(rows),
        "table": _changes_table(rows) if rows else None,
    }


def _in_words(changes: Changes, nobody_first: set[str]) -> Markup:
    since = f"Since the refresh of {changes.previous_at:%Y-%m-%d %H:%M} UTC"
    counts = (
        ("changed", len(changes.moved)),
        ("new", len(changes.new)),
        ("gone", len(changes.gone)),
    )
    phrases = [f"{n} {plural('figure', n)} {word}" for word, n in counts if n]
    if not phrases:
        return Markup("{}, no figure has changed.").format(since)
    first = [
        row
        for row in changes.rows
        if row.leads_now and row.benchmark not in nobody_first
    ]
    leads = Markup("").join(
        Markup("; <bdi>{}</bdi> is now first on <bdi>{}</bdi>").format(
            row.model, row.benchmark
        )
        for row in first[:3]
    )
    return Markup("{}: {}{}.").format(since, ", ".join(phrases), leads)


def _changes_table(rows: Sequence[ScoreChange]) -> Markup:
    n_decimals = decimals(row.standard_error for row in rows)
    return table(
        "Figures that changed",
        "Figures that the newest refresh changed, the largest changes of each "
        "benchmark first.",
        [
            name("Model that changed", [row.model for row in rows]),
            text("Benchmark", [row.benchmark for row in rows]),
            text("Metric", [row.metric for row in rows], minor=True),
            number("Before", [row.before for row in rows], n_decimals),
            number("Now", [row.now for row in rows], n_decimals),
            text("Change", [_change(row, n_decimals) for row in rows], keep=True),
            number("Low", [row.low for row in rows], n_decimals, minor=True),
            number("High", [row.high for row in rows], n_decimals, minor=True),
            count("Rank before", [row.rank_before for row in rows]),
            count("Rank now", [row.rank_now for row in rows]),
        ],
    )


def _change(row: ScoreChange, n_decimals: int) -> str:
    if row.before is None:
        return "new"
    if row.now is None:
        return "gone"
    return fixed(row.now - row.before, n_decimals, sign=True)
