"""Leaderboards of every benchmark."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from warehouse.analysis.leaderboard.answer import Leaderboard, leaderboard
from warehouse.analysis.leaderboard.brief import brief_unranked
from warehouse.analysis.leaderboard.question import (
    EveryLeaderboard,
    OneLeaderboard,
)
from warehouse.analysis.leaderboard.row import (
    LeaderboardRow,
)
from warehouse.analysis.leaderboard.view import (
    describe_basis,
    unranked_table,
)
from warehouse.analysis.results import Result, plain
from warehouse.analysis.selection.benchmarks import all_benchmarks, has_votes
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.store.connection import Store
from warehouse.store.shared_reads import in_blocks, runs_by_benchmark
from warehouse.tables.view import TableNote, View

#: Benchmarks of which one line says who is first.
_MOST_SAID = 3


@dataclass(frozen=True)
class Leaderboards(Result):
    """Leaderboards by name of the benchmark."""

    boards: tuple[Leaderboard, ...]  #: one for each benchmark that has one.
    left_out: tuple[str, ...]  #: why the others have none.

    @property
    def rows(self) -> tuple[LeaderboardRow, ...]:  # type: ignore[override]  # of all boards, read only
        """The rows of all boards."""
        return tuple(chain.from_iterable(board.rows for board in self.boards))

    @property
    def one_line(self) -> str:
        size = f"{len(self.boards)} benchmarks, {len(self.rows)} rows"
        said = [board.one_line for board in self.boards[:_MOST_SAID]]
        n_more = len(self.boards) - len(said)
        if n_more:
            said.append(f"{n_more} more")
        return f"{size}: {'; '.join(said)}" if said else size

    def to_dict(self) -> dict[str, Any]:
        """Boards as dictionaries, and what was left out."""
        return {
            "boards": [board.to_dict() for board in self.boards],
            "left_out": plain(self.left_out),
        }

    def view(self, *, verbose: bool = False, top: int | None = None) -> View:
        """The boards one below the other, and one table of those that rank nobody; what
        columns mean stands at the end, once.

        Args:
            verbose: every column, and how figures were made.
            top: rows of each table; None: of many those that a reader looks for first;
                0: all.
        """
        parts: list[Any] = []
        legend: dict[TableNote, None] = {}
        notes = _SharedNotes()
        alone = [board for board in self.boards if _is_of_one_model(board)]
        if not (len(alone) > 1):
            alone = []
        for board in self.boards:
            view = board.view(verbose=verbose, top=top)
            notes.add(board.benchmark, view.notes)
            if board not in alone:
                legend |= dict.fromkeys(view.explained)
                if parts:
                    parts.append("")
                parts += [part for part in view.parts if part not in view.explained]
        if alone:
            rows = list(chain.from_iterable(board.rows for board in alone))
            head = (
                f"{len(alone)} {'other ' if parts else ''}benchmarks with one model "
                "each, so nothing is ranked"
            )
            shares = {board.benchmark for board in alone if board.is_share}
            table = brief_unranked(rows, shares)
            if verbose:
                table = unranked_table(rows)
            parts += [
                *([""] if parts else []),
                head,
                table,
                *(describe_basis(rows) if verbose else ()),
            ]
        return View(
            (*parts, *legend),
            (*notes, *(f"left out: {reason}" for reason in self.left_out)),
        )


class _SharedNotes:
    """Notes of several benchmarks; what differs in the benchmark's name alone is said
    once, of the first."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._benchmarks: dict[str, list[str]] = {}

    def add(self, benchmark: str, notes: Iterable[str]) -> None:
        for note in notes:
            without_name = note.replace(benchmark, "")
            self._first.setdefault(without_name, note)
            self._benchmarks.setdefault(without_name, []).append(benchmark)

    def __iter__(self) -> Iterator[str]:
        for without_name, note in self._first.items():
            yield f"{_some_of(self._benchmarks[without_name])}: {note}"


def _some_of(benchmarks: Sequence[str]) -> str:
    """A benchmark, or how many there are and the first."""
    if len(benchmarks) == 1:
        return benchmarks[0]
    return f"{len(benchmarks)} benchmarks, the first {benchmarks[0]}"


def _is_of_one_model(board: Leaderboard) -> bool:
    """True if a board has one model, in one condition."""
    conditions = {(row.model, row.condition) for row in board.rows}
    if len(conditions) != 1:
        return False
    return all(row.rank in (None, 1) for row in board.rows)


@answers(EveryLeaderboard)
def leaderboards(store: Store, question: EveryLeaderboard) -> Leaderboards:
    """By the names that benchmarks are shown under.

    Raises:
        MisuseError: no benchmark can have one; with the reasons.
    """
    boards, reasons = [], []
    for name, shared in in_blocks(store, runs_by_benchmark(store)):
        try:
            boards.append(
                leaderboard.to(
                    shared, question.only(OneLeaderboard, "", benchmark=name)
                )
            )
        except MisuseError as error:
            reasons.append(str(error))
    if not boards:
        raise MisuseError("; ".join([*dict.fromkeys(reasons)][:5]) or _nothing(store))
    return Leaderboards(tuple(boards), tuple(reasons))


def _nothing(store: Store) -> str:
    """What a store without runs has, and what to do."""
    for benchmark in all_benchmarks(store):
        if has_votes(store, benchmark.ids):
            name = shlex.quote(benchmark.name)
            return f"the store has votes, and no runs; ask: warehouse prefer {name}"
    return "the store has no runs yet; see: warehouse ingest"
