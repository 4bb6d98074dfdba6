"""The opening of the page: the answer of each benchmark, all models on all of them, what changed; names of places."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from warehouse.analysis.comparison.words import Sentence
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.report_data.answer import answer, suite_answer
from warehouse.analysis.report_data.benchmark import BenchmarkPart
from warehouse.analysis.report_data.partial_runs import SuitePart
from warehouse.analysis.report_data.report import Changes, ScoreChange
from warehouse.report.table import PageColumn, broken, count, name, number, table, text, written
from warehouse.tables.words import decimals, fixed

#: Models and benchmarks of the heat table; beyond these it is left out.
MOST_MODELS, MOST_BENCHMARKS = 60, 40
#: Rows of the table of changes.
MOST_CHANGES = 50
#: Benchmarks that a phone shows at once.
_NARROW = 5
#: Shades of the heat table.
_SHADES = 5


@dataclass(frozen=True)
class OpeningLine:
    """The answer of one benchmark or suite.

    Attributes:
        link: of its section or page.
        name: of it.
        words: the sentence, as HTML.
        check: where the command stands that writes the figure down for others; empty: nowhere.
    """

    link: str
    name: str
    words: Markup
    check: str = ""


def opening(
    suites: Sequence[SuitePart],
    benchmarks: Sequence[BenchmarkPart],
    changes: Changes | None,
    links: Mapping[str, str],
    note: str = "",
) -> dict[str, Any]:
    """What stands at the head of the page.

    Args:
        changes: between the last two refreshes; None without them. Where there are none, and no note,
            nothing is said, so that a page without news is the same page.
        links: page of a benchmark by its name; without one it is a section of this page.
        note: what came into the store since.
    """
    lines = [
        OpeningLine(
            f"#{anchor('suite', part.name)}",
            f"Suite {part.name}",
            as_html(suite_answer(part.board)),
            f"#{anchor('check-suite', part.name)}",
        )
        for part in suites
        if part.board and part.board.rows
    ]
    lines += [
        OpeningLine(
            links.get(part.name) or f"#{anchor('benchmark', part.name)}",
            part.name,
            answer_of(part),
            f"{links.get(part.name, '')}#{anchor('check', part.name)}" if part.board and part.board.rows else "",
        )
        for part in benchmarks
    ]
    return {
        "lines": lines,
        "heat": heat_table(benchmarks),
        "changes": _changes(changes, note, without_first(benchmarks)) if changes and (changes.rows or note) else None,
    }


def answer_of(part: BenchmarkPart) -> Markup:
    """The sentence of a benchmark; why there is none where it has no leaderboard."""
    if part.board is None or not part.board.rows:
        return Markup("No leaderboard: {}").format(part.why_no_board)
    return as_html(answer(part.board, part.pairs, part.bounds))


def as_html(sentence: Sentence) -> Markup:
    """Names of dumps are escaped, and keep their direction of writing."""
    return Markup(escape(sentence.template)).format(*(Markup("<bdi>{}</bdi>").format(one) for one in sentence.names))


def heat_table(benchmarks: Sequence[BenchmarkPart]) -> Markup | None:
    """Models by benchmarks, shaded by what the tests say; None for a single model or too many.

    The shade is the share of the other rows of the benchmark that are not significantly better, so that
    models that cannot be told apart look alike, however their figures differ.
    """
    parts = [part for part in benchmarks if part.board and any(row.rank is not None for row in part.board.rows)]
    best = {part.name: _best_rows(part) for part in parts}
    models = sorted({model for rows in best.values() for model in rows})
    if not 1 < len(models) <= MOST_MODELS or not 0 < len(parts) <= MOST_BENCHMARKS:
        return None
    standing = {
        model: [_share_not_better(best[part.name][model], part) for part in parts if model in best[part.name]]
        for model in models
    }
    models.sort(key=lambda model: (-len(standing[model]), -sum(standing[model]) / len(standing[model]), model))
    several = any(
        len({row.model for row in part.board.rows}) < len(part.board.rows) for part in parts if part.board is not None
    )
    return table(
        "Models by benchmarks",
        Markup(
            "Estimates, models that do well on most benchmarks first. The darker, the fewer models are significantly"
            " better; than the darkest, none."
        )
        + (" Of several conditions of a model the one with the best rank." if several else "")
        + (Markup('<span class="more"> More benchmarks stand to the right.</span>') if len(parts) > _NARROW else ""),
        [
            name("Model overall", models),
            *(_heat_column(part, [best[part.name].get(model) for model in models]) for part in parts),
        ],
    )


def _best_rows(part: BenchmarkPart) -> dict[str, LeaderboardRow]:
    """Of each model the row with the best rank."""
    best: dict[str, LeaderboardRow] = {}
    for row in part.board.rows if part.board else ():
        if row.rank is not None and (row.model not in best or row.rank < (best[row.model].rank or 0)):
            best[row.model] = row
    return best


def _share_not_better(row: LeaderboardRow, part: BenchmarkPart) -> float:
    """1 for a row that none is significantly better than, 0 for one that all others are."""
    n_others = sum(one.rank is not None for one in part.board.rows) - 1 if part.board else 0
    better = row.statistical_rank if row.statistical_rank is not None else row.rank
    return 1.0 if n_others < 1 or better is None else 1 - min((better - 1) / n_others, 1.0)


def _heat_column(part: BenchmarkPart, rows: Sequence[LeaderboardRow | None]) -> PageColumn:
    places = decimals(row.standard_error for row in rows if row)
    cells = []
    for row in rows:
        if row is None:
            cells.append("<td>")
            continue
        shade = _shade(row, part)
        own = f" class=up{shade}" if shade else ""
        cells.append(f'<td{own} data-v="{written(row.estimate, "%.8g")}">{written(row.estimate, places)}')
    return PageColumn(Markup("<bdi>{}</bdi>").format(broken(part.name)), "n", tuple(cells))


def _shade(row: LeaderboardRow, part: BenchmarkPart) -> int:
    """5 where none is significantly better, less the more are; 0 without a test, or without another model."""
    if row.statistical_rank is None or part.board is None or sum(one.rank is not None for one in part.board.rows) < 2:
        return 0
    return _SHADES if row.statistical_rank == 1 else round((_SHADES - 1) * _share_not_better(row, part))


def without_first(benchmarks: Sequence[BenchmarkPart]) -> set[str]:
    """Names of benchmarks on which nobody is first: of one model, of several that are tied, of no known direction."""
    boards = {part.name: part.board for part in benchmarks if part.board is not None}
    return {
        name
        for name, board in boards.items()
        if board.higher_is_better is None
        or len(ranked := [row for row in board.rows if row.rank is not None]) < 2
        or ranked[1].rank == 1
    }


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
    counts = (("changed", len(changes.moved)), ("new", len(changes.new)), ("gone", len(changes.gone)))
    phrases = [f"{n} {'figure' if n == 1 else 'figures'} {word}" for word, n in counts if n]
    if not phrases:
        return Markup("{}, no figure has changed.").format(since)
    first = [row for row in changes.rows if row.leads_now and row.benchmark not in nobody_first]
    leads = Markup("").join(
        Markup("; <bdi>{}</bdi> is now first on <bdi>{}</bdi>").format(row.model, row.benchmark) for row in first[:3]
    )
    return Markup("{}: {}{}.").format(since, ", ".join(phrases), leads)


def _changes_table(rows: Sequence[ScoreChange]) -> Markup:
    places = decimals(row.standard_error for row in rows)
    return table(
        "Figures that changed",
        "Figures that the newest refresh changed, the largest changes of each benchmark first.",
        [
            name("Model that changed", [row.model for row in rows]),
            text("Benchmark", [row.benchmark for row in rows]),
            text("Metric", [row.metric for row in rows], minor=True),
            number("Before", [row.before for row in rows], places),
            number("Now", [row.now for row in rows], places),
            text("Change", [_change(row, places) for row in rows], keep=True),
            number("Low", [row.low for row in rows], places, minor=True),
            number("High", [row.high for row in rows], places, minor=True),
            count("Rank before", [row.rank_before for row in rows]),
            count("Rank now", [row.rank_now for row in rows]),
        ],
    )


def _change(row: ScoreChange, places: int) -> str:
    if row.before is None:
        return "new"
    return "gone" if row.now is None else fixed(row.now - row.before, places, sign=True)


#: Characters of a benchmark's name in its slug.
MOST = 80

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9_-]+)*")
_OTHER = re.compile(r"[^a-z0-9_.-]+")


def slug(name: str, taken: tuple[str, ...] = ()) -> str:
    """A name, where every file system and address takes it and no other name can have it; else what
    is left of it, with a hash.

    Args:
        name: of a benchmark or suite.
        taken: words that it may not be.
    """
    if _PLAIN.fullmatch(name) and len(name) <= MOST and name not in taken:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    words = _OTHER.sub("-", name.lower())[:MOST].strip("-.")
    return f"{words or 'benchmark'}~{digest}"


def anchor(part: str, name: str) -> str:
    """Where a part of a benchmark or suite stands in a page, such as ``pairs-gsm8k``."""
    return f"{part}-{slug(name)}"
