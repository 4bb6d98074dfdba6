"""Which pictures a benchmark has: intervals, ties or wins and losses, all pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

from warehouse.analysis.comparison.pair_rows import PairRow
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.brief import unit_of
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.leaderboard.words import counts_in_words, label_of
from warehouse.analysis.pairs.charts import MOST_PAIRED
from warehouse.analysis.pairs.group import PairGroup
from warehouse.analysis.pairs.view import max_t_words
from warehouse.analysis.report_data.part import BenchmarkPart
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.analysis.suites.brief import suite_unit
from warehouse.analysis.suites.row import SuiteRow
from warehouse.charts.pair_map import pair_map
from warehouse.charts.picture import Picture, note_of
from warehouse.charts.pictures import Interval, forest, wins
from warehouse.charts.scatter import Spot, by_cost, scatter
from warehouse.charts.ties import ties
from warehouse.report.heat import PART, PUBLISHED, UNSCORED, mark_of
from warehouse.tables.units import Unit
from warehouse.tables.words import decimals, span_of

#: Signs at figures that no test compares with the others.
_MARKS = {
    PART: "on a part",
    PUBLISHED: "as published, not tested",
    UNSCORED: "many samples without a score",
}


def board_pictures(part: BenchmarkPart, level: float) -> list[Picture]:
    """Pictures of a leaderboard, shown before its table; none of a single row."""
    board = part.board
    if board is None or len(board.rows) < 2:
        return []
    note = note_of(
        [
            f"{part.name}, {board.metric}",
            counts_in_words(
                [row for row in board.rows if row.rank is not None] or board.rows
            ).strip("; "),
            _methods(board.rows),
        ]
    )
    rows, own = board.rows, note
    title = f"{board.metric} on {part.name}"
    pictures = [
        _intervals(
            title,
            rows,
            board.higher_is_better,
            _figure(board.metric, in_percent=board.is_share),
            level,
            own,
            unit_of(rows, in_percent=board.is_share),
        )
    ]
    if part.pairs and part.pairs.groups:
        group = part.pairs.groups[0]
        size = f"{round(1 - group.pairs.level, 10):g}"
        pictures.append(
            _ties(
                group,
                part.name,
                board,
                f"{note}; Holm over {len(group.pairs)} pairs at {size}",
            )
            or _wins(
                group,
                part.name,
                board.higher_is_better,
                f"{note}; Holm over {len(group.pairs)} pairs at {size}",
            )
        )
    pictures += [_by_cost(part, note), _by_date(part, note)]
    return [picture for picture in pictures if picture]


def suite_picture(name: str, board: SuiteBoard, level: float) -> Picture | None:
    """Picture of a suite, shown before its table; None where every model lacks a
    benchmark."""
    if len(board.rows) < 2 or not any(row.rank is not None for row in board.rows):
        return None
    note = f"{name}; mean of {len(board.leaves)} benchmarks"
    return _intervals(
        f"Suite {name}",
        board.rows,
        board.higher_is_better,
        _figure(board.metric, in_percent=board.is_share),
        level,
        note,
        suite_unit(board.rows, is_share=board.is_share),
    )


def _figure(metric: str, *, in_percent: bool) -> str:
    """What stands along an axis."""
    if in_percent:
        return f"{metric}, %"
    return metric


def _intervals(
    title: str,
    rows: Sequence[LeaderboardRow] | Sequence[SuiteRow],
    higher_is_better: bool | None,
    metric: str,
    level: float,
    note: str,
    unit: Unit,
) -> Picture | None:
    tested = higher_is_better is not None and any(
        row.statistical_rank is not None for row in rows
    )
    shown = [
        Interval(
            label_of(row),
            unit.many([row.estimate])[0],
            unit.in_unit(row.ci_low),
            unit.in_unit(row.ci_high),
            filled=not tested or row.statistical_rank == 1,
            mark=mark_of(row) if tested else mark_of(row).replace(PUBLISHED, ""),
        )
        for row in rows
        if row.estimate is not None and row.estimate == row.estimate
    ]
    says = []
    if tested:
        says = ["filled: no other is significantly better"]
    marks = {row.mark for row in shown}
    says += [f"{mark} {words}" for mark, words in _MARKS.items() if mark in marks]
    if unit.in_percent:
        title = f"{title} in %"
    if any(row.low is not None for row in shown):
        title = f"{title}, {100 * level:g}% intervals"
    return forest(
        title,
        shown,
        figure=metric,
        n_decimals=unit.digits,
        note=note_of([note, *says]),
    )


#: A point of a scatter plot: its row, its estimate, its place along the lower axis, and
#: that in words.
Point = tuple[LeaderboardRow, float, float, str]


def _by_cost(part: BenchmarkPart, note: str) -> Picture | None:
    """Scores against what a run cost."""
    unit = _unit_of(part)
    spots: list[Spot] = []
    for row, estimate in _ranked(part):
        costs = [
            fact.cost
            for run in row.run_ids
            if (fact := part.facts.get(run)) and fact.cost is not None
        ]
        if costs and len(costs) == len(row.run_ids):
            cost = sum(costs) / len(costs)
            ends = None
            if row.ci_low is not None and row.ci_high is not None:
                low, high = unit.many([row.ci_low, row.ci_high])
                ends = (low, high)
            (score,) = unit.many([estimate])
            spots.append(
                Spot(label_of(row), cost, f"{cost:.4g}", score, False, y_ends=ends)
            )
    if len(spots) < 3 or part.board is None:
        return None
    return by_cost(
        f"Score against cost on {part.name}",
        spots,
        x="US dollars a run",
        y=_figure(part.board.metric, in_percent=unit.in_percent),
        n_decimals=unit.digits,
        note=(
            f"{note}; cost as recorded, or by tokens and "
            f"prices{_unknown(part, len(spots))}"
        ),
        higher_is_better=part.board.higher_is_better is not False,
    )


def _by_date(part: BenchmarkPart, note: str) -> Picture | None:
    """Scores by the release of models, else by the start of runs, where those stand out
    that were the best then."""
    for kind, words in (
        ("released", "release of the model"),
        ("started", "start of the run"),
    ):
        points: list[Point] = []
        for row, estimate in _ranked(part):
            days = [
                getattr(part.facts[run], kind)
                for run in row.run_ids
                if run in part.facts
            ]
            if day := min(filter(None, days), default=None):
                points.append((row, estimate, float(day.toordinal()), day.isoformat()))
        days = sorted({words for *_, words in points})
        if len(days) >= 3 and not part.has_curves:
            note, title = (
                f"{note}; blue: the best until then",
                f"Score by date on {part.name}",
            )
            ticks = [
                (float(date.fromisoformat(day).toordinal()), day)
                for day in (days[0], days[-1])
            ]
            return _scatter(part, title, points, x=words, note=note, ticks=ticks)
    return None


def _scatter(
    part: BenchmarkPart,
    title: str,
    points: Sequence[Point],
    *,
    x: str,
    note: str,
    ticks: Sequence[tuple[float, str]],
) -> Picture | None:
    """Points along the lower axis; those stand out that are better than all before and
    beside them."""
    assert part.board is not None  # it has the points
    sign = 1
    if part.board.higher_is_better is False:
        sign = -1
    unit = _unit_of(part)
    best, spots = -math.inf, []
    for row, estimate, at, words in sorted(
        points, key=lambda point: (point[2], -sign * point[1])
    ):
        (score,) = unit.many([estimate])
        spots.append(Spot(label_of(row), at, words, score, sign * estimate > best))
        best = max(best, sign * estimate)
    note += _unknown(part, len(points))
    return scatter(
        title,
        spots,
        x=x,
        y=_figure(part.board.metric, in_percent=unit.in_percent),
        n_decimals=unit.digits,
        note=note,
        ticks=ticks,
    )


def _unit_of(part: BenchmarkPart) -> Unit:
    """The unit of the scores of a benchmark."""
    if part.board is None:
        return Unit(0)
    return unit_of(part.board.rows, in_percent=part.board.is_share)


def _unknown(part: BenchmarkPart, n_shown: int) -> str:
    """How many have no cost, or no date."""
    n_others = len(_ranked(part)) - n_shown
    if not n_others:
        return ""
    return f"; {n_others} of which it is not known: not shown"


def _ranked(part: BenchmarkPart) -> list[tuple[LeaderboardRow, float]]:
    """Rows that count, with their estimates; none where no direction says which is
    better."""
    if part.board is None or part.board.higher_is_better is None:
        return []
    return [
        (row, row.estimate)
        for row in part.board.rows
        if row.rank is not None and row.estimate is not None
    ]


def _methods(rows: Sequence[LeaderboardRow]) -> str:
    """How intervals were made, where they were made in one way or two."""
    methods = {
        row.method.replace("_", " ")
        for row in rows
        if row.ci_low is not None and row.method != "published"
    }
    if not methods or len(methods) > 2:
        return ""
    return f"intervals by {' and '.join(sorted(methods))}"


def _ties(
    group: PairGroup, benchmark: str, board: Leaderboard, note: str
) -> Picture | None:
    errors = group.pairs.standard_error.tolist()
    unit = Unit.of(errors, in_percent=board.is_share)
    rows = [
        (label, unit.many([float(mean)])[0], letters)
        for label, mean, letters in zip(
            group.labels, group.pairs.means, group.groups, strict=True
        )
        if mean == mean
    ]
    if len(rows) < len(group.labels) or group.n_not_compared:
        return None
    return ties(
        f"Who cannot be told apart on {benchmark}",
        rows,
        figure=_figure(board.metric, in_percent=board.is_share),
        n_decimals=unit.digits,
        note=f"{note}; a bar joins models that no test tells apart",
    )


def _wins(
    group: PairGroup, benchmark: str, higher_is_better: bool | None, note: str
) -> Picture | None:
    """Counts of Holm's tests, of each model against the others that it has prompts in
    common with."""
    if higher_is_better is None:
        return None
    sign = -1
    if higher_is_better:
        sign = 1
    differences, differ = group.pairs.square("difference"), group.pairs.square("differ")
    compared = group.pairs.square("n_prompts") > 0
    better, worse = (
        (differ == 1) & (direction * sign * differences > 0) for direction in (1, -1)
    )
    n_better, n_worse, n_compared = (
        matrix.sum(axis=1).tolist() for matrix in (better, worse, compared)
    )
    return wins(
        "Better than, cannot be told from, worse than: number of other models on "
        f"{benchmark}",
        [
            (label, won, min(total, len(group.labels) - 1) - won - lost, lost)
            for label, won, lost, total in zip(
                group.labels, n_better, n_worse, n_compared, strict=True
            )
        ],
        note=note,
    )


def shared_prompts(group: PairGroup) -> str:
    """How many prompts the pairs that were compared have in common."""
    return span_of([n for n in group.pairs.n_prompts.tolist() if n] or [0])


def differences(
    group: PairGroup, rows: Sequence[PairRow], benchmark: str, unit: Unit
) -> Picture | None:
    """Differences from the first, with simultaneous intervals."""
    if len(rows) < 2:
        return None
    shown = [
        Interval(
            label,
            unit.many([row.difference])[0],
            unit.in_unit(row.ci_low),
            unit.in_unit(row.ci_high),
            filled=differs,
        )
        for label, row, differs in zip(
            group.labels[1:], rows, group.pairs.differ.tolist(), strict=False
        )
        if row.difference is not None
    ]
    return forest(
        f"{group.labels[0]} minus each other model on {benchmark}",
        shown,
        figure="difference, points" if unit.in_percent else "difference",
        n_decimals=unit.digits,
        note=(
            f"paired, on the {shared_prompts(group)} questions that both have; "
            f"intervals hold for all {len(group.pairs)} pairs together "
            f"({max_t_words(group.pairs)}); filled: differs by Holm at "
            f"{round(1 - group.pairs.level, 10):g}"
        ),
        zero=True,
    )


def all_pairs(group: PairGroup, benchmark: str) -> Picture | None:
    """Where a row differs from a column, of the first models."""
    most, size = MOST_PAIRED, round(1 - group.pairs.level, 10)
    return pair_map(
        f"Who differs from whom on {benchmark}",
        group.labels[:most],
        group.pairs.square("difference")[:most, :most].tolist(),
        group.pairs.square("differ")[:most, :most].tolist(),
        n_decimals=decimals(group.pairs.standard_error.tolist()),
        note=f"{shared_prompts(group)} questions that both have; row minus column where Holm's test over"
        f" {len(group.pairs)} pairs tells them apart at {size:g}; empty: it does not",
    )
