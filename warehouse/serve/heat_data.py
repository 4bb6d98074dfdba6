"""What the heat table is made of: scores that are read at once, and leaderboards as
they are computed one by one, from scores that are read for a block of benchmarks."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from typing import Any

import orjson

from warehouse.analysis.leaderboard.answer import Leaderboard, board_of
from warehouse.analysis.leaderboard.question import OneLeaderboard, Ranking
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.report_data.read import or_why
from warehouse.analysis.selection.benchmarks import (
    BenchmarkNames,
    read_facts,
    read_names,
)
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.analysis.selection.select import select_among
from warehouse.analysis.selection.selection import RowRules, Selection
from warehouse.analysis.suites.across import mean_of_ranked, ranked_models
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.analysis.suites.question import AnyLeaderboard, SuiteLeaderboard
from warehouse.analysis.suites.tree import list_suites
from warehouse.errors import MisuseError, WarehouseError
from warehouse.questions.question import Question
from warehouse.report.found import leader_of
from warehouse.report.heat import (
    MEAN,
    Arrangement,
    HeatCell,
    HeatColumn,
    cells_of,
    mean_column,
)
from warehouse.serve.answers import Answers
from warehouse.store.connection import Store
from warehouse.store.shared_reads import blocks_of, in_blocks
from warehouse.store.sql.query_files import query_text
from warehouse.tables.page import is_finite

#: Facets of the table -> the field of a run that each holds against.
FACETS = {
    "benchmark": "benchmark",
    "model": "model",
    "family": "family",
    "harness": "harness",
    "tag": "tags",
}

#: Behind rank sets, which the table does not show: without them it takes a quarter of
#: the time.
_DRAWS = 0

#: In place of a name, the mean over benchmarks: no benchmark can be called so.
MEAN_OF_ALL = "\0mean"
#: Pages whose orders are remembered.
_MOST_ORDERS = 100

_LOG = logging.getLogger(__name__)
Row = dict[str, Any]


@dataclass(frozen=True)
class Facts:
    """The runs of a store, as known before any leaderboard."""

    #: current ones, with their mean score where a plain mean gives it.
    runs: tuple[Row, ...]
    suites: Mapping[str, tuple[str, ...]]  #: names of benchmarks by suite.

    def values(self, facet: str) -> list[str]:
        """Values of a facet that can be chosen, by name."""
        if facet == "suite":
            return sorted(self.suites)
        name = FACETS[facet]
        found: set[str] = set()
        for run in self.runs:
            found.update(run["tags"] if name == "tags" else [run[name]])
        return sorted(filter(None, found))

    def chosen(
        self, facets: Mapping[str, Collection[str]], since: date | None = None
    ) -> list[Row]:
        """Runs for which each facet has one of its values; a suite stands for its
        benchmarks."""
        runs = list(self.runs)
        for facet, values in facets.items():
            if not values:
                continue
            if facet == "suite":
                leaves: set[str] = set()
                for suite in values:
                    leaves.update(self.suites.get(suite, ()))
                runs = [run for run in runs if run["benchmark"] in leaves]
            elif facet == "tag":
                runs = [run for run in runs if not set(values).isdisjoint(run["tags"])]
            else:
                runs = [run for run in runs if run[FACETS[facet]] in values]
        if since is not None:
            runs = [
                run
                for run in runs
                if run["started_at"] is not None and run["started_at"].date() >= since
            ]
        return runs


def read_overview(store: Store) -> Facts:
    """The facts of a store; at 10 million scores half a second."""
    rows = store.rows(query_text("analysis", "overview_scores"))
    for row in rows:
        tags = orjson.loads(row["tags"] or "null") or []
        row["tags"] = [str(tag) for tag in tags]
    suites = list_suites(read_names(store), {row["benchmark_id"] for row in rows})
    leaves: dict[str, tuple[str, ...]] = {}
    for name, suite in suites.items():
        leaves[name] = tuple(leaf.name for leaf in suite.leaves)
    return Facts(tuple(rows), leaves)


@dataclass
class Board:
    """A leaderboard as far as the heat table needs it: its rows, or why there is none."""

    metric: str = ""
    higher_is_better: bool | None = None
    rows: Sequence[Any] = ()
    reason: str = ""
    is_share: bool = False
    models: tuple[str, ...] = ()  #: that it ranks; none for fewer than two.


@dataclass
class HeatData:
    """Facts and leaderboards of the newest state of the store, computed one after the
    other behind the pages."""

    answers: Answers
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _version: str = ""
    _boards: dict[str, Board] = field(default_factory=dict)
    _todo: int = 0
    #: orders of the table that readers have before them, by a name of each page.
    _orders: OrderedDict[str, Arrangement] = field(default_factory=OrderedDict)
    _n_orders: int = 0
    _mean: SuiteBoard | None = None  #: over benchmarks; None before it is there.

    def order_of(self, page: str) -> Arrangement | None:
        """The order that a page was first shown in; None where that is not known."""
        with self._lock:
            return self._orders.get(page)

    def keep_order(self, page: str, order: Arrangement) -> str:
        """Remember the order of a page that grows; a name for it, where it has none."""
        with self._lock:
            if page not in self._orders:
                self._n_orders += 1
                page = str(self._n_orders)
            self._orders[page] = order
            self._orders.move_to_end(page)
            while len(self._orders) > _MOST_ORDERS:
                self._orders.popitem(last=False)
            return page

    def facts(self, patience: float) -> Facts | None:
        """The facts; None while they are read. The leaderboards begin after them."""
        return self.answers.once_soon("facts", self._read, patience)

    def _read(self, store: Store) -> Facts:
        facts, version = read_overview(store), self.answers.store.version
        runs = _by_benchmark(facts.runs)
        with self._lock:
            if version != self._version:
                self._version, self._boards, self._todo = (
                    version,
                    {},
                    len(runs) + len(facts.suites) + 1,
                )
                self._mean = None
                boards = self._in_turn(runs, facts.suites)
                self.answers.later(lambda: self._compute_next(version, boards))
        return facts

    def _compute_next(
        self, version: str, boards: Iterator[tuple[str, Callable[[], Any]]]
    ) -> None:
        """One leaderboard, the others after what readers have asked for meanwhile."""
        if self._version != version or (following := next(boards, None)) is None:
            return
        name, compute = following
        if name == MEAN_OF_ALL:
            mean = _mean_or_none(compute)
            board = Board()
        else:
            mean = None
            board = _computed(name, compute)
        with self._lock:
            if self._version == version:
                self._boards[name] = board
                self._mean = mean
        self.answers.later(lambda: self._compute_next(version, boards))

    def _in_turn(
        self, runs: Mapping[str, Sequence[Row]], suites: Collection[str]
    ) -> Iterator[tuple[str, Callable[[], Any]]]:
        """What computes each leaderboard: of benchmarks, a block of which is read at
        once, then of suites."""
        for block in blocks_of(runs):
            try:
                read = self._scores({name: runs[name] for name in block})
            except (
                Exception
            ):  # it is the fault of one, which says so where it is asked alone
                read = {}
            for name in block:
                question = OneLeaderboard(name, n_resamples=_DRAWS)
                if name in read:
                    yield name, partial(_board, *read.pop(name))
                else:
                    yield name, partial(self._ask, question)
        for name in suites:
            yield name, partial(self._ask, SuiteLeaderboard(name))
        yield MEAN_OF_ALL, partial(self._read_mean, tuple(runs))

    def _read_mean(self, names: Sequence[str]) -> SuiteBoard | None:
        """The mean over the benchmarks whose leaderboards are there by now."""
        with self._lock:
            ranked = {
                name: self._boards[name].models
                for name in names
                if name in self._boards
            }
        with self.answers.store.lend() as store:
            return mean_of_ranked(store, ranked, AnyLeaderboard())

    def _scores(
        self, runs: Mapping[str, Sequence[Row]]
    ) -> dict[str, tuple[BenchmarkScores | None, str]]:
        with self.answers.store.lend() as store:
            names = read_names(store)
            return {
                name: or_why(partial(_scores_of, shared, names, name))
                for name, shared in in_blocks(store, runs)
            }

    def _ask(self, question: Question) -> Any:
        with self.answers.store.lend() as store:
            return question.ask(store)

    @property
    def mean(self) -> SuiteBoard | None:
        """The mean over benchmarks; None where there is none, or not yet."""
        with self._lock:
            if self._version != self.answers.store.version:
                return None
            return self._mean

    @property
    def left(self) -> int:
        """Leaderboards that are still to be computed."""
        if self._version != self.answers.store.version:
            return 1
        return self._todo - len(self._boards)

    def left_out(self) -> dict[str, str]:
        """Benchmarks without a leaderboard, or without a score that can be shown, and
        why."""
        with self._lock:
            found = {
                name: board.reason or _why_unseen(board.rows)
                for name, board in sorted(self._boards.items())
                if name != MEAN_OF_ALL
            }
        return {name: reason for name, reason in found.items() if reason}

    def columns(
        self, facts: Facts, runs: Sequence[Row], suites: bool
    ) -> list[HeatColumn]:
        """Columns of the heat table of some runs.

        Args:
            suites: with those of suites, whose figures are over all runs.
        """
        with self._lock:
            boards, mean = {}, None
            if self._version == self.answers.store.version:
                boards, mean = dict(self._boards), self._mean
        columns = [
            self._column(name, own, boards.get(name))
            for name, own in _by_benchmark(runs).items()
        ]
        if suites:
            columns += [
                HeatColumn(
                    name,
                    board.metric,
                    board.higher_is_better,
                    cells_of(board.rows),
                    is_suite=True,
                    is_share=board.is_share,
                )
                for name in facts.suites
                if (board := boards.get(name)) is not None
            ]
        if suites and mean is not None and MEAN not in facts.suites:
            columns.insert(0, mean_column(mean))
        return [column for column in columns if column.cells]

    def _column(
        self, name: str, runs: Sequence[Row], board: Board | None
    ) -> HeatColumn:
        dates: list[datetime] = [
            run["started_at"] for run in runs if run["started_at"] is not None
        ]
        newest = max(dates, default=None)
        if board is not None:
            chosen = {run["run_id"] for run in runs}
            rows: list[LeaderboardRow] = [
                row for row in board.rows if not chosen.isdisjoint(row.run_ids)
            ]
            return HeatColumn(
                name,
                board.metric,
                board.higher_is_better,
                cells_of(rows),
                newest=newest,
                leader=leader_of(rows, board.higher_is_better),
                is_share=board.is_share,
            )
        return _at_once(name, runs, newest)


def _why_unseen(rows: Sequence[Any]) -> str:
    """Why no row of a leaderboard has a cell; empty where one has, or there are none."""
    if not rows or any(is_finite(row.estimate) for row in rows):
        return ""
    return (
        next((row.reason for row in rows if row.reason), "")
        or "none of its scores has a finite mean"
    )


def _by_benchmark(runs: Iterable[Row]) -> dict[str, list[Row]]:
    """Runs of each benchmark, by its name."""
    found: dict[str, list[Row]] = defaultdict(list)
    for run in runs:
        found[run["benchmark"]].append(run)
    return dict(sorted(found.items()))


def _scores_of(store: Store, names: BenchmarkNames, name: str) -> BenchmarkScores:
    benchmark = names.benchmark(name)
    return select_among(
        store.under(None),
        (benchmark, read_facts(store, benchmark.ids)),
        Selection(name, rows=RowRules()),
    )


def _board(scores: BenchmarkScores | None, why_none: str) -> Leaderboard:
    if scores is None:
        raise MisuseError(why_none)
    return board_of(scores, Ranking(n_resamples=_DRAWS))


def _computed(name: str, compute: Callable[[], Any]) -> Board:
    try:
        board = compute()
    except WarehouseError as error:
        return Board(reason=str(error))
    except Exception as error:
        _LOG.warning("no leaderboard of %s: %s", name, error)
        return Board(reason="its leaderboard could not be computed")
    return Board(
        board.metric,
        board.higher_is_better,
        board.rows,
        is_share=board.is_share,
        models=ranked_models(board),
    )


def _mean_or_none(compute: Callable[[], SuiteBoard | None]) -> SuiteBoard | None:
    """The mean; None where it cannot be computed, as the table does without it."""
    try:
        return compute()
    except Exception as error:
        _LOG.warning("no mean over benchmarks: %s", error)
        return None


def _at_once(name: str, runs: Sequence[Row], newest: datetime | None) -> HeatColumn:
    """Scores of models that have a single whole run; ranks without a test."""
    counts: dict[str, int] = defaultdict(int)
    for run in runs:
        counts[run["model"]] += 1
    single = [
        run
        for run in runs
        if counts[run["model"]] == 1 and run["estimate"] is not None and _is_whole(run)
    ]
    higher = {None if run["higher"] is None else bool(run["higher"]) for run in single}
    metrics = {(run["metric"], run["metric_filter"]) for run in single}
    if len(metrics) > 1 or len(higher) > 1:
        return HeatColumn(name, "", None, {})
    direction = next(iter(higher), None)
    figures = sorted(
        {run["estimate"] for run in single}, reverse=direction is not False
    )
    ranks = {figure: rank for rank, figure in enumerate(figures, 1)}
    cells = {
        run["model"]: HeatCell(run["estimate"], rank=ranks[run["estimate"]])
        for run in single
    }
    metric, own_filter = next(iter(metrics), ("", ""))
    return HeatColumn(
        name,
        f"{metric},{own_filter}" if own_filter else metric,
        direction,
        cells,
        newest=newest,
        is_share=all(run["is_share"] for run in single),
    )


def _is_whole(run: Row) -> bool:
    return run["status"] == "complete" and (
        run["n_benchmark"] is None or run["n_found"] >= run["n_benchmark"]
    )
