"""A leaderboard for every benchmark that can have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.analysis.leaderboard.leaderboard import Leaderboard, leaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.results import Result, plain
from warehouse.errors import MisuseError
from warehouse.questions.leaderboard import EveryLeaderboard, OneLeaderboard
from warehouse.questions.question import answers
from warehouse.store.connection import Store
from warehouse.store.curate.aliases import benchmarks
from warehouse.tables.view import Below, View


@dataclass(frozen=True)
class Leaderboards(Result):
    """Leaderboards by name of the benchmark.

    Attributes:
        boards: one for each benchmark that has one.
        left_out: why the others have none.
    """

    ROW = LeaderboardRow

    boards: tuple[Leaderboard, ...]
    left_out: tuple[str, ...]

    @property
    def rows(self) -> tuple[LeaderboardRow, ...]:  # type: ignore[override]  # of all boards, read only
        """The rows of all boards."""
        return tuple(row for board in self.boards for row in board.rows)

    @property
    def one_line(self) -> str:
        """The result in one line."""
        return f"{len(self.boards)} benchmarks, {len(self.rows)} rows"

    def to_dict(self) -> dict[str, Any]:
        """Boards as dictionaries, and what was left out."""
        return {"boards": [board.to_dict() for board in self.boards], "left_out": plain(self.left_out)}

    def view(self, *, verbose: bool = False) -> View:
        """The boards one below the other; what columns mean stands at the end, once."""
        parts: list[Any] = []
        legend: dict[Below, None] = {}
        notes: list[str] = []
        for board in self.boards:
            view = board.view(verbose=verbose)
            legend |= dict.fromkeys(view.explained)
            parts += [*([""] if parts else []), *(part for part in view.parts if part not in view.explained)]
            notes += [f"{board.benchmark}: {note}" for note in view.notes]
        return View((*parts, *legend), (*notes, *(f"left out: {reason}" for reason in self.left_out)))


@answers(EveryLeaderboard)
def leaderboards(store: Store, question: EveryLeaderboard) -> Leaderboards:
    """By the names that benchmarks are shown under.

    Raises:
        MisuseError: no benchmark can have one; with the reasons.
    """
    boards, reasons = [], []
    for name in sorted({row.shown_as for row in benchmarks(store) if row.n_runs}):
        try:
            boards.append(leaderboard.to(store, question.only(OneLeaderboard, "", benchmark=name)))
        except MisuseError as error:
            reasons.append(str(error))
    if not boards:
        raise MisuseError("; ".join(reasons) or "the store has no runs yet; see: warehouse ingest")
    return Leaderboards(tuple(boards), tuple(reasons))
