"""The heat table: scores of models by benchmarks at any size, the most telling ones
first, as a window of them.

Pure: whoever has scores makes a `HeatColumn` of each benchmark, `window` arranges them,
and the macro ``heat`` of ``heat.html.j2`` writes what it returns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from statistics import median
from typing import Literal, TypeVar

from warehouse.analysis.leaderboard.row import STOPPED, LeaderboardRow
from warehouse.analysis.leaderboard.words import first_group, label_of
from warehouse.analysis.selection.scored_conditions import is_partial
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.analysis.suites.row import SuiteRow
from warehouse.report.found import Leader
from warehouse.tables.page import is_finite, written
from warehouse.tables.units import Unit
from warehouse.tables.words import MOST_DECIMALS, decimals, direction

#: Rows and columns that a reader sees first.
ROWS, COLUMNS = 25, 40
#: Share of the benchmarks that is added to those of each row, as if it was in the
#: middle there.
_ADDED = 0.1
#: Digits of a score where its error asks for no more.
_USUAL = 3
#: Signs at scores that do not count beside the others, and what they say.
PART, ALONE, PUBLISHED, UNSCORED = "*", "†", "°", "‡"
_KEYS = {
    PART: "on a part of the benchmark: not ranked, and not coloured",
    ALONE: "of other runs (another split, version or judge), which are ranked alone: not coloured",
    PUBLISHED: "as its source publishes it",
    UNSCORED: "many samples have no score, and are missing",
}

Order = Literal["apart", "date", "name"]
#: What is put in order, and what it is told by.
Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A score."""

    estimate: float  #: the score.
    standard_error: float | None = None  #: of it; None where it has none.
    low: float | None = None  #: lower end of its interval; None without.
    high: float | None = None  #: upper end of it.
    #: among the scores that count on this benchmark, 1 is best; None for one that does
    #: not.
    rank: int | None = None
    #: 1 + number of those that are significantly better (Holm); None without a test.
    statistical_rank: int | None = None
    #: sign of a score that does not count as others do: `PART`, `ALONE`, `PUBLISHED`,
    #: `UNSCORED`; else empty.
    mark: str = ""


@dataclass(frozen=True)
class HeatColumn:
    """A benchmark or suite."""

    name: str  #: of it.
    metric: str  #: name of the metric.
    higher_is_better: bool | None  #: its direction; None: unknown, and nobody is first.
    cells: Mapping[str, HeatCell]  #: by the name of a model or condition.
    link: str = ""  #: where more of it stands; empty: nowhere.
    newest: datetime | None = None  #: when its newest score was made; None if unknown.
    #: stands before all benchmarks, which it is made of, and does not count for the
    #: order of rows.
    is_suite: bool = False
    leader: Leader | None = None  #: the first of its leaderboard; None for none.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    is_mean: bool = False  #: of the benchmarks here: stands before all others.

    @cached_property
    def in_percent(self) -> bool:
        """True where the scores are shares, as people read them in percent."""
        return self.is_share and all(
            0 <= cell.estimate <= 1 for cell in self.cells.values()
        )

    @cached_property
    def n_others(self) -> int:
        """Conditions that each is ranked among, by the cells: a model with several
        conditions has one cell."""
        ranks = [cell.rank for cell in self.cells.values() if cell.rank is not None]
        return max([len(ranks), *ranks]) - 1

    @cached_property
    def n_apart(self) -> int:
        """Pairs of models that it tells apart."""
        return sum(
            cell.statistical_rank - 1
            for cell in self.cells.values()
            if cell.statistical_rank is not None
        )


@dataclass(frozen=True)
class HeatHead:
    """Head of a column: its name, its metric where columns have several, and a sign and
    words of its direction."""

    name: str
    link: str
    metric: str
    sign: str
    direction: str
    is_suite: bool
    sort: str = ""  #: where rows are in the order of its scores; empty: nowhere.


@dataclass(frozen=True)
class ShownCell:
    """A cell: what it shows, the exact score, its interval in words, whether it is the
    best of its column or tied with it, and its sign."""

    text: str
    exact: str
    interval: str
    is_best: bool
    mark: str


@dataclass(frozen=True)
class HeatLine:
    """A row: its name, where more of it stands, on how many benchmarks it has a score
    if not on all, cells, and whether a reader has picked it."""

    name: str
    link: str
    lacks: str
    cells: tuple[ShownCell | None, ...]
    is_picked: bool = False


@dataclass(frozen=True)
class Arrangement:
    """The order of all rows and columns of a heat table."""

    rows: tuple[str, ...]  #: names.
    columns: tuple[tuple[str, bool], ...]  #: names, and whether each is of a suite.

    def of_rows(self, names: Sequence[str]) -> list[str]:
        """Rows as they stood, and new ones below them."""
        return _as_before(names, self.rows, names)

    def of_columns(self, columns: Sequence[HeatColumn]) -> list[HeatColumn]:
        """Columns as they stood, and new ones behind them."""
        keys = [(column.name, column.is_suite) for column in columns]
        return _as_before(columns, self.columns, keys)


def _as_before(
    items: Sequence[Item], before: Sequence[Key], keys: Sequence[Key]
) -> list[Item]:
    """Items in the order in which their keys stood before; those that are new come last
    in their own order."""
    places = {key: place for place, key in enumerate(before)}
    known = sorted(range(len(items)), key=lambda at: places.get(keys[at], len(places)))
    return [items[at] for at in known]


@dataclass(frozen=True)
class HeatWindow:
    """A part of a heat table, ready for the page."""

    heads: tuple[HeatHead, ...]  #: of its columns.
    lines: tuple[HeatLine, ...]  #: its rows.
    first_row: int  #: number of rows before it.
    first_column: int  #: number of columns before it.
    n_rows: int  #: of all.
    n_columns: int  #: of all.
    about: tuple[str, ...]  #: what it shows, in sentences.
    order: str  #: of rows and columns, in words; empty for a single column.
    keys: tuple[tuple[str, str], ...]  #: signs with what they say.
    arrangement: Arrangement  #: of the whole table.

    @property
    def is_whole(self) -> bool:
        """True where nothing is left out."""
        return len(self.lines) == self.n_rows and len(self.heads) == self.n_columns


def cells_of(
    rows: Sequence[LeaderboardRow] | Sequence[SuiteRow],
) -> dict[str, HeatCell]:
    """For each model the cell of its row in the first group, else of another of its
    rows; a model with several rows there, by its settings, has a cell for each, under
    the name that tells them apart."""
    ranked = [row for row in rows if row.rank is not None]
    first = {id(row) for row in first_group(ranked)}
    n_ranked = Counter(row.model for row in rows if id(row) in first)
    ordered: list[LeaderboardRow | SuiteRow] = [*rows]
    ordered.sort(
        key=lambda row: (id(row) not in first, row.rank is None, row.rank or 0)
    )
    cells: dict[str, HeatCell] = {}
    for row in ordered:
        is_alone = id(row) not in first
        if not is_finite(row.estimate) or (is_alone and n_ranked[row.model]):
            continue
        if n_ranked[row.model] > 1:
            name = label_of(row)
        else:
            name = row.model
        cells.setdefault(name, _cell_of(row, is_alone=is_alone))
    return cells


def mark_of(row: LeaderboardRow | SuiteRow) -> str:
    """Sign of a score that does not count as others do."""
    part = (
        is_partial(row.flags)
        or STOPPED in row.flags
        or (isinstance(row, SuiteRow) and row.n_missing > 0)
    )
    if part:
        return PART
    if row.method == "published":
        return PUBLISHED
    if row.rank is None:
        return PART
    if "many_unscored" in row.flags:
        return UNSCORED
    return ""


def _cell_of(row: LeaderboardRow | SuiteRow, *, is_alone: bool) -> HeatCell:
    is_alone = is_alone and row.rank is not None
    rank, statistical_rank, mark = row.rank, row.statistical_rank, mark_of(row)
    if is_alone:
        rank, statistical_rank, mark = None, None, ALONE
    return HeatCell(
        row.estimate or 0.0,
        row.standard_error,
        row.ci_low,
        row.ci_high,
        rank,
        statistical_rank,
        mark,
    )


#: Name of the column of means, which stands before all others.
MEAN = "mean"


def mean_column(board: SuiteBoard) -> HeatColumn:
    """The column of means over benchmarks, of the models that have all of them.

    Args:
        board: of the suite of these benchmarks.
    """
    rows = [row for row in board.rows if not row.n_missing]
    return HeatColumn(
        MEAN,
        f"of {len(board.leaves)} benchmarks",
        board.higher_is_better,
        cells_of(rows),
        is_suite=True,
        is_share=board.is_share,
        is_mean=True,
    )


def _within(first: int, n: int, size: int) -> int:
    """Where a part begins; of one beyond the end, where the last part does."""
    if first < n:
        return first
    return max(0, n - 1) // size * size


def window(
    columns: Sequence[HeatColumn],
    *,
    first_row: int = 0,
    n_rows: int = ROWS,
    first_column: int = 0,
    n_columns: int = COLUMNS,
    order: Order = "apart",
    sort: str = "",
    links: Mapping[str, str] | None = None,
    kept: Arrangement | None = None,
) -> HeatWindow:
    """A part of the table of all rows that columns have.

    Rows go by `rows_in_order`. In the order *apart*, columns that share their models
    stand together with them.

    Args:
        columns: benchmarks and suites.
        first_row: rows to leave out before it.
        n_rows: at most so many rows.
        first_column: columns to leave out before it.
        n_columns: at most so many columns.
        order: of columns: by how many pairs of models they tell apart, by date, the
            newest first, or by name.
        sort: name of a column by whose scores rows go, the best first, and which stands
            first; empty for `rows_in_order`.
        links: where more of a row stands, by its name.
        kept: an order that a reader has seen, which stays: what has come since stands
            behind it.
    """
    columns = [
        column for column in columns if column.n_others >= 0 or not column.is_suite
    ]
    names = rows_in_order(columns)
    first = names[:ROWS]
    ordered = sorted(columns, key=lambda column: _sort_key(column, order, first))
    if order == "apart":
        ordered, names = _in_blocks(ordered, names)
    by = next((column for column in columns if column.name == sort), None)
    if by is not None:
        ordered.sort(key=lambda column: column is not by)
        names = sorted(names, key=lambda name: _from_best(by, name))
    if kept is not None:
        ordered, names = kept.of_columns(ordered), kept.of_rows(names)
    first_column = _within(first_column, len(ordered), n_columns)
    first_row = _within(first_row, len(names), n_rows)
    shown = ordered[first_column : first_column + n_columns]
    rows = names[first_row : first_row + n_rows]
    leaves = [column for column in columns if not column.is_suite]
    several = len({column.metric for column in leaves or columns}) > 1
    drawn = [_drawn(column, rows) for column in shown]
    all_published = all(map(_is_published, leaves))
    if all_published:  # said once
        drawn = [_without_sign(cells, PUBLISHED) for cells in drawn]
    marks: set[str] = set()
    for cells in drawn:
        marks.update(cell.mark for cell in cells if cell)
    lines: list[HeatLine] = []
    for at, name in enumerate(rows):
        own = tuple(cells[at] for cells in drawn)
        link = (links or {}).get(name, "")
        lines.append(HeatLine(name, link, _lacks(name, leaves), own))
    has_gaps = any(None in cells for cells in drawn)
    all_shares = all(column.in_percent for column in shown)
    return HeatWindow(
        heads=tuple(_head(column, several, all_shares) for column in shown),
        lines=tuple(lines),
        first_row=first_row,
        first_column=first_column,
        n_rows=len(names),
        n_columns=len(ordered),
        about=tuple(_about(shown, several, all_published, has_gaps)),
        order=_in_which_order(order, ordered, by) if len(ordered) > 1 else "",
        keys=tuple((mark, words) for mark, words in _KEYS.items() if mark in marks),
        arrangement=Arrangement(
            tuple(names), tuple((column.name, column.is_suite) for column in ordered)
        ),
    )


def _is_published(column: HeatColumn) -> bool:
    return all(cell.mark == PUBLISHED for cell in column.cells.values())


def _without_sign(
    cells: Iterable[ShownCell | None], sign: str
) -> list[ShownCell | None]:
    return [cell and replace(cell, mark=cell.mark.strip(sign)) for cell in cells]


def rows_in_order(columns: Sequence[HeatColumn]) -> list[str]:
    """Names of all rows by their mean rank among those that have a score. Each row also
    counts as in the middle on some benchmarks more, so that few good scores do not lead
    over many. Rows without any rank come last."""
    counted = [column for column in columns if not column.is_suite] or list(columns)
    ahead: dict[str, float] = {}
    for column in columns:
        ahead |= dict.fromkeys(column.cells, 0.0)
    added = max(len(counted) * _ADDED, 1.0)
    n_ranked = dict.fromkeys(ahead, added)
    for column in counted:
        tied = Counter(cell.rank for cell in column.cells.values())
        for name, cell in column.cells.items():
            if (
                cell.rank is not None
                and column.higher_is_better is not None
                and column.n_others
            ):
                ahead[name] += (
                    0.5 - (cell.rank - 1 + (tied[cell.rank] - 1) / 2) / column.n_others
                )
                n_ranked[name] += 1
    return sorted(
        ahead,
        key=lambda name: (
            n_ranked[name] == added,
            -round(ahead[name] / n_ranked[name], 9),
            name,
        ),
    )


def _from_best(column: HeatColumn, name: str) -> tuple[bool, float]:
    """Sort key of a row by its score in a column; rows without one come last."""
    cell = column.cells.get(name)
    if cell is None:
        estimate = 0.0
    else:
        estimate = cell.estimate
    return cell is None, estimate if column.higher_is_better is False else -estimate


def _sort_key(
    column: HeatColumn, order: Order, first: Sequence[str]
) -> tuple[object, ...]:
    """Suites first; then what tells more models apart, which nothing without a
    direction does; then what more of the first models have a score on."""
    if order == "name":
        return not column.is_mean, not column.is_suite, column.name
    newest = 0.0
    if order == "date" and column.newest:
        newest = -column.newest.timestamp()
    if column.higher_is_better is None:
        n_apart = 0
    else:
        n_apart = column.n_apart
    n_first = sum(name in column.cells for name in first)
    return (
        not column.is_mean,
        not column.is_suite,
        newest,
        -n_apart,
        column.higher_is_better is None,
        -n_first,
        column.name,
    )


def _in_blocks(
    columns: Sequence[HeatColumn], names: Sequence[str]
) -> tuple[list[HeatColumn], list[str]]:
    """Columns that share half of their models stand together, and so do their rows:
    without this, the first window of a store of several sources is the empty corner
    between the best models of one and the best columns of another."""
    columns_of: dict[str, list[int]] = {}
    for at, column in enumerate(columns):
        for name in column.cells:
            columns_of.setdefault(name, []).append(at)
    sizes = [len(column.cells) for column in columns]
    left = dict.fromkeys(range(len(columns)))
    blocks: list[list[HeatColumn]] = []
    while left:
        seed = next(iter(left))
        shared: Counter[int] = Counter()
        for name in columns[seed].cells:
            shared.update(at for at in columns_of[name] if at in left)
        block = [
            at
            for at in left
            if at == seed or 2 * shared[at] >= max(min(sizes[seed], sizes[at]), 1)
        ]
        blocks.append([columns[at] for at in block])
        for at in block:
            del left[at]
    blocks.sort(
        key=lambda block: (
            -sum(c.n_apart for c in block if c.higher_is_better is not None),
            -_n_cells(block),
        )
    )
    first: dict[str, int] = {}
    ordered: list[HeatColumn] = []
    for number, some in enumerate(blocks):
        ordered += some
        for column in some:
            for name in column.cells:
                first.setdefault(name, number)
    return ordered, sorted(names, key=first.__getitem__)


def _n_cells(columns: Iterable[HeatColumn]) -> int:
    return sum(len(column.cells) for column in columns)


def _head(column: HeatColumn, several: bool, all_shares: bool) -> HeatHead:
    signs = {
        True: ("", ""),
        False: ("↓", "lower is better"),
        None: ("?", "direction unknown"),
    }
    sign, words = signs[column.higher_is_better]
    metric = column.metric if several or column.is_mean else ""
    if column.in_percent and not all_shares:
        metric = f"{metric}, %" if metric else "%"
    return HeatHead(
        column.name,
        column.link,
        metric,
        sign,
        words,
        column.is_suite,
    )


def _drawn(column: HeatColumn, rows: Sequence[str]) -> list[ShownCell | None]:
    """Cells of a column, in one unit."""
    unit = _unit_of(column)
    drawn: list[ShownCell | None] = []
    for name in rows:
        cell = column.cells.get(name)
        drawn.append(_shown(column, cell, unit) if cell else None)
    return drawn


def _unit_of(column: HeatColumn) -> Unit:
    """Percent where scores are shares, and as many decimals as the usual standard error
    asks for."""
    cells = column.cells.values()
    errors = [cell.standard_error for cell in cells if cell.standard_error]
    if column.in_percent:
        usual = median(errors) if errors else None
        return Unit.of([usual], in_percent=True)
    if errors:
        own = decimals([median(errors)])
        return Unit(max(own - 1, min(own, _USUAL)))
    sizes = [abs(cell.estimate) for cell in cells if math.isfinite(cell.estimate)]
    largest = max(sizes, default=0.0) or 1.0  # a mean may overflow
    whole = math.ceil(math.log10(largest))
    return Unit(min(max(_USUAL - whole, 0), MOST_DECIMALS))


def _shown(column: HeatColumn, cell: HeatCell, unit: Unit) -> ShownCell:
    (estimate,) = unit.many([cell.estimate])
    interval = ""
    if cell.low is not None and cell.high is not None:
        ends = unit.many([cell.low, cell.high])
        if all(map(math.isfinite, ends)):
            words = [written(end, unit.digits + 1) for end in ends]
            interval = f"[{words[0]}, {words[1]}]"
    return ShownCell(
        text=written(estimate, unit.digits),
        exact=repr(float(cell.estimate)),
        interval=interval,
        is_best=_is_best(column, cell),
        mark=cell.mark,
    )


def _is_best(column: HeatColumn, cell: HeatCell) -> bool:
    """True where tests were made and none is significantly better, among several of a
    known direction."""
    is_tested = cell.statistical_rank is not None and cell.rank is not None
    if not is_tested or cell.mark == PART:
        return False
    if column.higher_is_better is None or column.n_others < 1:
        return False
    return cell.statistical_rank == 1


def _lacks(name: str, leaves: Sequence[HeatColumn]) -> str:
    own = sum(name in column.cells for column in leaves)
    if own == len(leaves):
        return ""
    return f"{own} of {len(leaves)} benchmarks"


def _about(
    shown: Sequence[HeatColumn], several: bool, all_published: bool, has_gaps: bool
) -> Iterable[str]:
    """Sentences that a reader needs to understand the table."""
    all_shares = all(column.in_percent for column in shown)
    if not several and not all(column.is_mean for column in shown):
        ways = {column.higher_is_better for column in shown}
        way = ""
        if len(ways) == 1:
            way = f", {direction(ways.pop())}"
        percent = " in %" if all_shares else ""
        own = next(column for column in shown if not column.is_mean)
        yield f"Scores{percent}: {own.metric}{way}."
    elif several:
        percent = " in %" if all_shares else ""
        yield f"Scores{percent}, each by the metric below its benchmark's name."
    if has_gaps:
        yield "An empty cell: no score."
    if all_published and shown:
        yield "All are as their sources publish them."
    if any(map(_has_best, shown)):
        yield "Coloured: best of its column, or not distinguishable from it."
    if any(column.higher_is_better is None for column in shown):
        yield "Nobody is first where it is not known whether higher is better (?)."


def _has_best(column: HeatColumn) -> bool:
    return any(_is_best(column, cell) for cell in column.cells.values())


def _in_which_order(
    order: Order, columns: Sequence[HeatColumn], by: HeatColumn | None
) -> str:
    first = {
        "apart": "those that tell most models apart first",
        "date": "the newest first",
        "name": "by name",
    }[order]
    if order == "apart" and not any(column.n_apart for column in columns):
        first = "those that most of the first models have first"
    if order == "apart":
        first = f"{first}, with those that share their models"
    rows = "their mean place where they have a score; few scores count for less"
    if by:
        rows = f"score on {by.name}"
    return f"Models by {rows}. Benchmarks: {first}."
