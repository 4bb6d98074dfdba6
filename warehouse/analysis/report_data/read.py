"""All that the sections on one benchmark rest on, read at once: they ask the store
nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

from warehouse.analysis.leaderboard.answer import Leaderboard, board_of
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.selection.benchmarks import (
    Benchmark,
    BenchmarkFacts,
    BenchmarkNames,
    read_facts,
)
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.analysis.selection.select import select_among
from warehouse.analysis.selection.selection import Selection, row_rules
from warehouse.analysis.selection.targets import Targets, targets_of
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.shared_reads import in_blocks

Found = TypeVar("Found")


class Reader(Protocol):
    """A reader of something of each benchmark: the class of a section."""

    def read(self, store: Store, reads: BenchmarkReads, ranks: Ranking) -> Any:
        """The data that a section needs of the store beside what is read for all; None
        for nothing."""


@dataclass(frozen=True)
class BenchmarkReads:
    """One benchmark as the store has it."""

    name: str  #: of the benchmark.
    facts: BenchmarkFacts  #: its runs and metrics.
    #: by the headline metric, in rows; None with ``why_no_scores``.
    scores: BenchmarkScores | None
    each: BenchmarkScores | None  #: the same with a row for each condition.
    why_no_scores: str
    board: Leaderboard | None  #: made of them, which says what else is worth a look.
    #: by other metrics, scores of the conditions that ``board`` lacks.
    by_other_metrics: tuple[BenchmarkScores, ...]
    benchmark: Benchmark  #: its ids.
    #: what each section read for itself, by its class.
    own: Mapping[Any, Any] = field(default_factory=dict)

    @cached_property
    def targets(self) -> tuple[Targets | None, str]:
        """Its conditions as statistics of draws and seeds take them, or why they do
        not."""
        scores = self.each or self.scores
        if scores is None:
            return None, self.why_no_scores
        return or_why(lambda: targets_of(scores))


def benchmarks_with_votes(store: Store, names: BenchmarkNames) -> list[str]:
    """Names of the benchmarks whose answers were held against each other."""
    rows = store.rows("select distinct benchmark_id as id from preference")
    by_id = {}
    for name, own in names.joined.items():
        for row in own:
            by_id[row["id"]] = name
    return sorted({by_id[row["id"]] for row in rows})


def read_benchmarks(
    store: Store,
    names: BenchmarkNames,
    runs: Mapping[str, Sequence[Mapping[str, Any]]],
    ranks: Ranking,
    readers: Collection[Reader],
    progress: Callable[[str, int, int], None] | None = None,
) -> Iterator[BenchmarkReads]:
    """Read benchmarks one after the other, a block of them with shared reads.

    Args:
        names: of all benchmarks.
        runs: id and number of scores of the runs, by benchmark that is wanted.
        ranks: what makes a row, level of all intervals, and draws behind rank sets.
        readers: the sections, which read what they need besides.
        progress: gets name, number done and number of all before each.
    """
    for done, (name, shared) in enumerate(in_blocks(store, runs)):
        if progress is not None:
            progress(name, done, len(runs))
        yield read_parts(shared, names, name, ranks, readers)


def read_parts(
    store: Store,
    names: BenchmarkNames,
    name: str,
    ranks: Ranking,
    readers: Collection[Reader],
) -> BenchmarkReads:
    """Read a benchmark; a mistake in the request becomes a message instead of an error.

    Args:
        names: of all benchmarks.
        name: of a benchmark with current runs.
        ranks: what makes a row, level of all intervals, and draws behind rank sets.
        readers: the sections, which read what they need besides.
    """
    benchmark = names.benchmark(name)
    with_facts = benchmark, facts = benchmark, read_facts(store, benchmark.ids)
    rows = row_rules(ranks)
    policed = store.under(None)
    scores, why_not = or_why(
        lambda: select_among(policed, with_facts, Selection(name, rows=rows))
    )
    each = scores
    # several runs or conditions may make one row
    if scores and len(scores.entries) != len(facts.runs):
        each = select_among(policed, with_facts, Selection(name))
    board = None
    if scores:
        board = board_of(scores, ranks)
    elsewhere = (
        [other.metric for other in board.others if other.n_elsewhere] if board else []
    )
    others = [Selection(name, metric, rows=rows) for metric in elsewhere]
    reads = BenchmarkReads(
        name,
        facts,
        scores,
        each,
        why_not,
        board,
        by_other_metrics=tuple(
            select_among(policed, with_facts, selection) for selection in others
        ),
        benchmark=benchmark,
    )
    return replace(
        reads, own={reader: reader.read(store, reads, ranks) for reader in readers}
    )


def or_why(compute: Callable[[], Found]) -> tuple[Found | None, str]:
    """A computed result, else why it is refused."""
    try:
        return compute(), ""
    except MisuseError as error:
        return None, str(error)
