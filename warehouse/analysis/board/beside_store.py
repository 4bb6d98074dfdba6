"""Published tables beside a store: items of columns, samples and costs of cells (B1, B9,
B13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from warehouse.analysis.board.alike_models import AlikeModels, read_alike
from warehouse.analysis.board.named import NamedBoard
from warehouse.analysis.board.store_figures import (
    StoredCost,
    StoredMean,
    read_costs,
    read_means,
)
from warehouse.analysis.board.store_names import (
    Matched,
    StoreName,
    benchmark_index,
    matched,
    model_index,
)
from warehouse.stats.board.costs import COST
from warehouse.stats.board.finding import CHECK, WRONG, Finding
from warehouse.stats.board.samples import mean_finding
from warehouse.stats.board.shares import are_mostly_shares
from warehouse.stats.board.table import Board, FigureColumn
from warehouse.stats.board.words import counted, listed, short
from warehouse.store.connection import Store

#: Share of the figures of a column that are shares of the items of the store, from which
#: these are its items.
_MOSTLY = 0.5
#: Times that a cost may be off before it is asked about.
_FAR = 5.0

Cell = tuple[str, str]


@dataclass(frozen=True)
class BoardBeside:
    """What a store has of a table."""

    board: NamedBoard  #: with the items of its columns.
    findings: tuple[Finding, ...]  #: of its cells.
    n_held: int  #: figures that were held against samples.


@dataclass(frozen=True)
class BesideStore:
    """What a store has of some tables."""

    boards: tuple[BoardBeside, ...]  #: in their order.
    said: str  #: what was found of them in the store, in a line.
    not_found: str  #: which names were not, or may mean several; empty where all were.


def beside_store(boards: Sequence[NamedBoard], store: Store) -> BesideStore:
    """Tables with what a store has of their entries and columns.

    Names are those of the store, or their aliases, whatever their case and breaks; a name
    that may mean several is said, and nothing is taken for it.
    """
    told = [named for named in boards if not named.of_tasks]
    entries = matched(model_index(store), _names(told, of_columns=False))
    columns = matched(benchmark_index(store), _names(told, of_columns=True))
    models = {meant.name for meant in entries.found.values()}
    benchmarks = {meant.name for meant in columns.found.values()}
    means = read_means(store, models, benchmarks)
    costs: Mapping[Cell, Sequence[StoredCost]] = {}
    if any(COST.search(name) for named in told for name in named.board.columns):
        costs = read_costs(store, models, benchmarks)
    alike = read_alike(store, means)
    looks = _Looks(entries.found, columns.found, means, costs, alike)
    beside = tuple(looks.at(named) for named in boards)
    n_held = sum(one.n_held for one in beside)
    said = (
        f"store: {len(entries.found):,} of {_n(entries):,} entries and "
        f"{len(columns.found):,} of {_n(columns):,} columns are there; "
        f"{counted(n_held, 'figure')} held against samples."
    )
    return BesideStore(beside, said, _not_found(entries, columns))


def _names(boards: Iterable[NamedBoard], *, of_columns: bool) -> list[str]:
    """Names of entries or of columns of scores, each once for all tables; of entries
    twice what a table has twice."""
    found: list[str] = []
    for named in boards:
        if of_columns:
            own = [column.name for column in named.board.scores]
        else:
            own = list(named.board.entries)
        before = set(found)
        found += [name for name in own if name not in before]
    return found


def _n(names: Matched) -> int:
    return len(names.found) + len(names.absent) + len(names.ambiguous)


def _not_found(entries: Matched, columns: Matched) -> str:
    """The names that the store lacks, and those that are not clear."""
    parts = []
    if entries.absent:
        n = counted(len(entries.absent), "entry")
        parts.append(f"{n} not there: {listed(entries.absent)}")
    if columns.absent:
        n = counted(len(columns.absent), "column")
        parts.append(f"{n} not there: {listed(columns.absent)}")
    unclear = (*entries.ambiguous, *columns.ambiguous)
    if unclear:
        parts.append(f"not clear, and left alone: {listed(unclear)}")
    return "; ".join(parts)


@dataclass(frozen=True)
class _Looks:
    """What a store has, by names of tables."""

    entries: Mapping[str, StoreName]
    columns: Mapping[str, StoreName]
    means: Mapping[Cell, Sequence[StoredMean]]
    costs: Mapping[Cell, Sequence[StoredCost]]
    alike: Mapping[str, Sequence[AlikeModels]]  #: of each benchmark.

    def at(self, named: NamedBoard) -> BoardBeside:
        """What it has of one table."""
        if named.of_tasks:
            return BoardBeside(named, (), 0)
        board = named.board
        findings: list[Finding] = []
        n_held = 0
        for column in board.scores:
            meant = self.columns.get(column.name)
            if meant is None:
                continue
            for row, means in self._of_column(board, meant):
                if column.figures[row] is None:
                    continue
                n_held += 1
                findings += _of_cell(board, column, row, means)
            findings += self._of_alike(board, column, meant)
        findings += self._of_costs(board)
        sizes = {**self._sizes(board), **board.sizes}
        sized = replace(named, board=replace(board, sizes=sizes))
        return BoardBeside(sized, tuple(findings), n_held)

    def _of_column(
        self, board: Board, meant: StoreName
    ) -> Iterator[tuple[int, list[StoredMean]]]:
        """The rows of which the store has samples of a column."""
        for row, entry in enumerate(board.entries):
            if entry not in self.entries:
                continue
            own = self.means.get((self.entries[entry].name, meant.name), ())
            means = [mean for mean in own if mean.is_of(meant)]
            if any(mean.samples.n_scored for mean in means):
                yield row, means

    def _of_alike(
        self, board: Board, column: FigureColumn, meant: StoreName
    ) -> Iterator[Finding]:
        """Entries whose samples of a column are right and wrong on the same prompts."""
        rows = {}
        for row, entry in enumerate(board.entries):
            if entry in self.entries and column.figures[row] is not None:
                rows[self.entries[entry].name] = row
        for pair in self.alike.get(meant.name, ()):
            if pair.first not in rows or pair.second not in rows:
                continue
            both = (rows[pair.first], rows[pair.second])
            text = (
                f"right and wrong on the same prompts of {column.name} as "
                f"{board.entries[both[1]]}: {pair.n_differing:,} of {pair.n:,} differ, "
                f"{pair.expected:.0f} are expected of their accuracies"
            )
            yield Finding(CHECK, "B9", both, column.name, text, pair.z)

    def _sizes(self, board: Board) -> dict[str, int]:
        """Items of columns whose metric is right or wrong, where all runs of the store
        have so many and most figures are shares of them."""
        found: dict[str, int] = {}
        for column in board.scores:
            meant = self.columns.get(column.name)
            if meant is None:
                continue
            headline: list[StoredMean] = []
            for _, means in self._of_column(board, meant):
                headline += _of_headline(means, meant)
            sizes = {mean.samples.n for mean in headline}
            is_binary = all(mean.is_binary for mean in headline)
            if len(sizes) != 1 or not is_binary:
                continue
            (n,) = sizes
            if are_mostly_shares(column, n, _MOSTLY):
                found[column.name] = n
        return found

    def _of_costs(self, board: Board) -> Iterator[Finding]:
        """Costs that are far from what the store has, where the table is of one
        benchmark."""
        names = {self.columns[one].name for one in board.columns if one in self.columns}
        if len(names) != 1:
            return
        (benchmark,) = names
        for column in board.figures:
            if not COST.search(column.name):
                continue
            for row, entry in enumerate(board.entries):
                meant = self.entries.get(entry)
                costs = () if meant is None else self.costs.get((meant.name, benchmark))
                if costs:
                    yield from _of_cost(column, row, costs)


def _of_headline(means: Iterable[StoredMean], meant: StoreName) -> list[StoredMean]:
    """The means of the metric that is meant: of a column that names none the headline
    metric."""
    if meant.metric is not None:
        return list(means)
    return [mean for mean in means if mean.is_headline]


def _of_cell(
    board: Board, column: FigureColumn, row: int, means: Sequence[StoredMean]
) -> list[Finding]:
    """What samples say against a figure: nothing where some run has it by some metric
    that may be meant, and a question where several conditions may be."""
    printed = board.cells[board.columns.index(column.name)][row]
    found: list[tuple[Finding, StoredMean]] = []
    for mean in means:
        if not mean.samples.n_scored:
            continue
        one = mean_finding(
            printed,
            mean.samples,
            scale=column.scale or 1,
            row=row,
            column=column.name,
        )
        if one is None:
            return []
        found.append((one, mean))
    of_headline = [pair for pair in found if pair[1].is_headline] or found
    nearest, _ = min(of_headline, key=lambda pair: pair[0].score)
    measured = {(mean.condition, mean.metric, mean.metric_filter) for _, mean in found}
    if len(measured) == 1:
        return [nearest]
    grade = CHECK if nearest.grade == WRONG else nearest.grade
    ways = f"{len(measured):,} conditions and metrics"
    text = f"{nearest.text}; none of its {ways} in the store has this figure"
    return [replace(nearest, grade=grade, text=text)]


def _of_cost(
    column: FigureColumn, row: int, costs: Sequence[StoredCost]
) -> Iterator[Finding]:
    """A cost that is neither in all nor of an answer near what the store has."""
    figure = column.figures[row]
    if figure is None or figure.value <= 0:
        return
    value = float(figure.value)
    known: list[float] = []
    for cost in costs:
        known += [cost.total, cost.total / max(1, cost.n_answers)]
    ratios = [max(value / one, one / value) for one in known]
    if min(ratios) < _FAR:
        return
    first = costs[0]
    text = (
        f"{column.name} {{printed}}, but its {counted(first.n_answers, 'answer')} in the "
        f"store cost {short(first.total, 4)}"
    )
    yield Finding(CHECK, "B13", (row,), column.name, text, min(ratios) / _FAR)
