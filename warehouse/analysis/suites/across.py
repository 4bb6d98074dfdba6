"""Models across benchmarks: a column each, and the mean of all with its error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.brief import RankedRow
from warehouse.analysis.leaderboard.every import Leaderboards
from warehouse.analysis.leaderboard.places import places_of
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.leaderboard.words import first_group, in_short
from warehouse.analysis.selection.benchmarks import BenchmarkNames, read_names
from warehouse.analysis.selection.scored_conditions import is_partial
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.suites.across_means import rows_with_means
from warehouse.analysis.suites.across_row import (
    Across,
    Column,
    ModelAcross,
    RowAcross,
    Shown,
)
from warehouse.analysis.suites.across_view import across_view
from warehouse.analysis.suites.answer import SuiteBoard, suite_board
from warehouse.analysis.suites.question import (
    FEWEST,
    AnyLeaderboard,
    OnSuite,
    SuiteLeaderboard,
)
from warehouse.analysis.suites.read import (
    Leaf,
    SuiteEntries,
    is_mixed_within,
    read_suite_entries,
    scale_of,
)
from warehouse.analysis.suites.row import SuiteRow
from warehouse.analysis.suites.tree import EQUAL, Suite
from warehouse.errors import MisuseError
from warehouse.questions.options import PROMPTS_FIXED
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.tables.view import View
from warehouse.tables.words import counted, some_of

#: Benchmarks that a message names.
_MOST_NAMED = 3
#: Why a mean is not over a benchmark.
ANOTHER_SCALE = "of another scale"
SCORED_IN_SEVERAL_WAYS = "scored in several ways"
NOTHING_TO_AVERAGE = "no figures that a mean can be over"
NOT_RUN_BY_ALL = "not run by all models of the mean"
#: What the suite of all benchmarks is called.
ALL = "all benchmarks"


@dataclass(frozen=True)
class AcrossBenchmarks(Leaderboards):
    """Leaderboards by name of the benchmark, and each model across them."""

    across: Across = Across()  #: a row for each model, a column for each benchmark.

    @cached_property
    def rows(self) -> tuple[RowAcross, ...]:  # type: ignore[override]
        """The rows of all boards, each with the mean of its model over benchmarks."""
        rows = chain.from_iterable(board.rows for board in self.boards)
        return tuple(rows_with_means(self.across, rows))

    @property
    def one_line(self) -> str:
        if self.across.mean is None:
            return super().one_line
        n_boards, n_rows = len(self.boards), len(self.rows)
        mean = in_short(self.across.mean.rows, self.across.mean.higher_is_better)
        over = counted(len(self.across.in_mean), "benchmark")
        return f"{n_boards} benchmarks, {n_rows} rows; by the mean of {over}{mean}"

    def view(self, *, verbose: bool = False, top: int | None = None) -> View:
        """Models across benchmarks; ``verbose``: every leaderboard below it.

        Args:
            verbose: with every leaderboard, every column, and how figures were made.
            top: rows of the tables; None: those that a reader looks for first; 0: all.
        """
        boards = super().view(verbose=verbose, top=top)
        return across_view(self.across, self.boards, boards, verbose=verbose, top=top)


def across_benchmarks(
    store: Store, boards: Leaderboards, question: AnyLeaderboard
) -> Leaderboards:
    """Leaderboards with what they say together, where three or more rank models.

    Args:
        boards: of every benchmark.
        question: that they answer.
    """
    ranking = [board for board in boards.boards if _ranks_models(board)]
    if len(ranking) < FEWEST:
        return boards
    names = [board.benchmark for board in ranking]
    entries, why_none = _all_entries(store, names, question)
    held = _held(_grouped(store, names), entries, question)
    columns = _columns(ranking, held)
    groups = {name: own.members for name, own in held.items()}
    if len(columns) < FEWEST:
        return boards
    mean: SuiteBoard | None = None
    over: list[str] = []
    left_out: dict[str, str] = {}
    if entries is not None:
        of_one_scale, left_out = _of_one_scale(entries, groups)
        over = _had_by_most(_models_of(columns), of_one_scale)
        for name in of_one_scale:
            if name not in over:
                left_out[name] = NOT_RUN_BY_ALL
        try:
            mean = _mean(entries, groups, over, question)
        except MisuseError as error:
            why_none = with_first_case(str(error))
    across = Across(
        columns=tuple(columns),
        models=tuple(_models(columns, mean)),
        mean=mean,
        why_no_mean=why_none,
        in_mean=tuple(over),
        not_in_mean=left_out,
    )
    return AcrossBenchmarks(boards.boards, boards.left_out, across)


def mean_of_ranked(
    store: Store, ranked: Mapping[str, Collection[str]], question: AnyLeaderboard
) -> SuiteBoard | None:
    """The mean that :func:`across_benchmarks` gives, for somebody who has the
    leaderboards already; None where there is none.

    Args:
        ranked: the models that the leaderboard of each benchmark ranks.
        question: that they answer.
    """
    several = {name: models for name, models in ranked.items() if len(models) > 1}
    if len(several) < FEWEST:
        return None
    shared = SharedReads(store)
    entries, _ = _all_entries(shared, list(several), question)
    if entries is None:
        return None
    held = _held(_grouped(shared, list(several)), entries, question)
    if len(held) < FEWEST:
        return None
    groups = {name: own.members for name, own in held.items()}
    models: dict[str, Collection[str]] = {}
    for name, own in held.items():
        if own.whole is None:
            models[name] = several[name]
        else:
            models[name] = ranked_models(own.whole)
    of_one_scale, _ = _of_one_scale(entries, groups)
    over = _had_by_most(models, of_one_scale)
    try:
        return _mean(entries, groups, over, question)
    except MisuseError:
        return None


def ranked_models(board: Leaderboard | SuiteBoard) -> tuple[str, ...]:
    """The models of a board that ranks any, by name; none where it ranks fewer than
    two."""
    if not _ranks_models(board):
        return ()
    return tuple(sorted({shown.row.model for shown in _shown_rows(board)}))


def _ranks_models(board: Leaderboard | SuiteBoard) -> bool:
    """True if a board has two rows that are ranked among one another."""
    return len(_first_rows(board)) > 1


def with_first_case(message: str) -> str:
    """A refusal whose further lines list every case, with the first of these and how
    many more there are."""
    head, *cases = message.splitlines()
    if not cases:
        return head
    counted = [case for case in cases if not case.strip().startswith("...")]
    said = f"{head.rstrip(':')}: {cases[0].strip()}"
    more = len(counted) - 1
    if more:
        said += f", and {more} more" + " at least" * (len(counted) < len(cases))
    return said


def _first_rows(board: Leaderboard | SuiteBoard) -> list[Any]:
    """The rows of a board that are ranked with the first."""
    ranked = [row for row in board.rows if row.rank is not None]
    return first_group(ranked)


def _all_entries(
    store: Store, benchmarks: Sequence[str], question: AnyLeaderboard
) -> tuple[SuiteEntries | None, str]:
    """The scores on all of these benchmarks, or why there is no mean of them."""
    if question.estimand == PROMPTS_FIXED:
        return None, "with prompts fixed there is no mean over benchmarks"
    if question.method != "auto":
        return None, "with a method of its own there is no mean over benchmarks"
    names = read_names(store)
    leaves = tuple(map(names.benchmark, benchmarks))
    suite = Suite(ALL, (), leaves, ())
    asked = question.shared_with(SuiteLeaderboard, group=ALL)
    selection = selection_of(asked)
    try:
        return read_suite_entries(store, suite, EQUAL, selection, force=True), ""
    except MisuseError as error:
        return None, str(error)


def _grouped(store: Store, benchmarks: Sequence[str]) -> dict[str, list[str]]:
    """Benchmarks by what stands at the top above them in the tree; where that is one
    for all, by what stands below it."""
    names = read_names(store)
    paths = {benchmark: _path(names, benchmark) for benchmark in benchmarks}
    depth = 0
    while True:
        groups: dict[str, list[str]] = {}
        for benchmark, path in paths.items():
            own = path[min(depth, len(path) - 1)]
            groups.setdefault(own, []).append(benchmark)
        if len(groups) >= FEWEST or depth >= max(map(len, paths.values())):
            return groups
        depth += 1


def _path(names: BenchmarkNames, benchmark: str) -> list[str]:
    """The suites above a benchmark, the topmost first, and itself."""
    path = [benchmark]
    while (above := names.above(path[0])) and above not in path:
        path.insert(0, above)
    return path


@dataclass(frozen=True)
class _Held:
    """What one column holds."""

    members: list[str]  #: names of its benchmarks.
    whole: SuiteBoard | None = None  #: of a suite; None for a benchmark by itself.


def _held(
    groups: Mapping[str, Sequence[str]],
    entries: SuiteEntries | None,
    question: OnSuite,
) -> dict[str, _Held]:
    """The columns by name, in order, and which benchmarks each holds.

    A suite is one column where its benchmarks have one scale and one row for each
    model; else each of them is a column.
    """
    held: dict[str, _Held] = {}
    for group, members in groups.items():
        whole = None
        if entries is not None and len(members) > 1:
            whole = _suite_of(entries, group, members, question)
        if whole is not None:
            held[group] = _Held([*members], whole)
            continue
        for name in members:
            held[name] = _Held([name])
    return dict(sorted(held.items()))


def _columns(boards: Sequence[Leaderboard], held: Mapping[str, _Held]) -> list[Column]:
    """The columns, with the figures of models on them."""
    by_name = {board.benchmark: board for board in boards}
    columns = []
    for name, own in held.items():
        board = own.whole or by_name[name]
        n_benchmarks = len(own.members)
        columns.append(_column(name, n_benchmarks, board, is_share=board.is_share))
    return columns


def _models_of(columns: Sequence[Column]) -> dict[str, set[str]]:
    """The models of each column, by its name."""
    found = {}
    for column in columns:
        found[column.name] = {figure.row.model for figure in column.figures}
    return found


def _suite_of(
    entries: SuiteEntries, name: str, members: Sequence[str], question: OnSuite
) -> SuiteBoard | None:
    """The board of a suite among all that was read; None where its benchmarks cannot be
    put together."""
    leaves = [leaf for leaf in entries.leaves if leaf.name in members]
    scales = {scale_of(leaf) for leaf in leaves}
    is_whole = len(leaves) == len(members) and len(scales) == 1
    if not is_whole or any(map(is_mixed_within, leaves)):
        return None
    part = replace(
        entries,
        suite=Suite(
            name, (), tuple(leaf.leaf_entries.benchmark for leaf in leaves), ()
        ),
        leaves=tuple(leaves),
        figures=(),
        notes=(),
    )
    try:
        board = suite_board(part, question)
    except MisuseError:
        return None
    if len(_first_rows(board)) < 2:
        return None
    return board


def _column(
    name: str, n_benchmarks: int, board: Leaderboard | SuiteBoard, *, is_share: bool
) -> Column:
    return Column(name, n_benchmarks, is_share, tuple(_shown_rows(board)))


def _shown_rows(board: Leaderboard | SuiteBoard) -> Iterator[Shown]:
    """The rows that are ranked with the first, and those beside them that rest on less."""
    first = _first_rows(board)
    places = places_of(first, board.higher_is_better)
    for row, place in zip(first, places, strict=True):
        verdict, at = "", ""
        if place is not None:
            verdict, at = place.verdict, str(place)
        yield Shown(row, verdict, is_part=False, place=at)
    for row in board.rows:
        if row.rank is None and row.estimate is not None and _is_beside(row, first[0]):
            lacks = isinstance(row, SuiteRow) and row.n_missing > 0
            yield Shown(row, "", is_part=is_partial(row.flags) or lacks)


def _is_beside(row: RankedRow, first: RankedRow) -> bool:
    """True for a row of the same split and metric as the first."""
    if isinstance(row, LeaderboardRow) and isinstance(first, LeaderboardRow):
        return (row.split, row.metric) == (first.split, first.metric)
    return True


def _of_one_scale(
    entries: SuiteEntries, groups: Mapping[str, Sequence[str]]
) -> tuple[list[str], dict[str, str]]:
    """The columns that a mean can be over: of the scale that most have, each with one
    judge and one version. And of the others why each is not."""
    by_name = {leaf.name: leaf for leaf in entries.leaves}
    scales: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for column, members in groups.items():
        leaves = [by_name[name] for name in members if name in by_name]
        own = {scale_of(leaf) for leaf in leaves}
        if not leaves:
            left_out[column] = NOTHING_TO_AVERAGE
        elif any(map(is_mixed_within, leaves)):
            left_out[column] = SCORED_IN_SEVERAL_WAYS
        elif len(own) != 1:
            left_out[column] = ANOTHER_SCALE
        else:
            scales[column] = own.pop()
    if not scales:
        return [], left_out
    ((most, _),) = Counter(scales.values()).most_common(1)
    for column, scale in scales.items():
        if scale != most:
            left_out[column] = ANOTHER_SCALE
    return [column for column in scales if column not in left_out], left_out


def _had_by_most(
    models: Mapping[str, Collection[str]], names: Sequence[str]
) -> list[str]:
    """Of some columns those that the mean is over: as many columns times models that
    have all of them as there can be, the columns that most models have first.

    Which these are depends on what was run, and never on a score.

    Args:
        models: of each column, by its name.
        names: of the columns that a mean can be over.
    """
    order = sorted(names, key=lambda name: -len(models[name]))
    best: list[str] = []
    largest = 0
    having: set[str] | None = None
    for number, name in enumerate(order, 1):
        own = set(models[name])
        having = own if having is None else having & own
        size = number * len(having)
        if len(having) > 1 and size >= largest:
            best = order[:number]
            largest = size
    return [name for name in names if name in best]


def _mean(
    entries: SuiteEntries,
    groups: Mapping[str, Sequence[str]],
    over: Sequence[str],
    question: OnSuite,
) -> SuiteBoard:
    """Models by their mean over some columns, each with the same weight (MisuseError:
    there is none)."""
    by_name = {leaf.name: leaf for leaf in entries.leaves}
    if len(over) < 2:
        mixed = [leaf.name for leaf in entries.leaves if is_mixed_within(leaf)]
        if mixed:
            raise MisuseError(
                f"rows on {some_of(mixed, _MOST_NAMED)} differ in task version, metric "
                "or judge; --where narrows them"
            )
        raise MisuseError("no two benchmarks have one scale and models in common")
    leaves: list[Leaf] = []
    for column in over:
        own = [by_name[name] for name in groups[column]]
        weight = sum(leaf.weight for leaf in own)
        times = min(weight, 1.0) / weight
        leaves += [replace(leaf, weight=leaf.weight * times) for leaf in own]
    suite = replace(
        entries.suite, leaves=tuple(leaf.leaf_entries.benchmark for leaf in leaves)
    )
    whole = replace(entries, suite=suite, leaves=tuple(leaves), figures=())
    board = suite_board(whole, question)
    if not any(row.rank for row in board.rows):
        raise MisuseError("no model has figures of all benchmarks")
    return board


def _models(columns: Sequence[Column], mean: SuiteBoard | None) -> list[ModelAcross]:
    """A row for each model and its settings: those of the mean in its order, then those
    that only columns have."""
    rows: list[_Row] = []
    if mean is not None:
        verdicts = {shown.row.run_ids: shown for shown in _shown_rows(mean)}
        for row in mean.rows:
            shown = verdicts.get(row.run_ids)
            if row.n_missing:
                shown = None
            rows.append(_Row(row.model, row.condition, {*row.run_ids}, {}, shown))
    for column in columns:
        for figure in column.figures:
            _place_of(rows, figure.row).figures[column.name] = figure
    with_figures = [row for row in rows if row.figures]
    return [
        ModelAcross(row.model, row.settings, row.figures, row.mean)
        for row in with_figures
    ]


@dataclass
class _Row:
    """A row that is filled column by column."""

    model: str
    settings: str
    run_ids: set[int]
    figures: dict[str, Shown]
    mean: Shown | None = None


def _place_of(rows: list[_Row], figure: RankedRow) -> _Row:
    """The row that a figure stands in: that of its runs, or of its model and settings;
    else a new one."""
    for row in rows:
        if row.run_ids.issuperset(figure.run_ids):
            return row
    for row in rows:
        if (row.model, row.settings) == (figure.model, figure.condition):
            row.run_ids |= {*figure.run_ids}
            return row
    made = _Row(figure.model, figure.condition, {*figure.run_ids}, {})
    rows.append(made)
    return made
