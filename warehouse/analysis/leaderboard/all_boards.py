"""A leaderboard for every benchmark that can have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.leaderboard.leaderboard import Leaderboard, leaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.results import DRAWS, Result, plain
from warehouse.errors import MisuseError
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
            legend |= dict.fromkeys(part for part in view.parts if isinstance(part, Below) and _explains(part))
            parts += [*([""] if parts else []), *(part for part in view.parts if not _explains(part))]
            notes += [f"{board.benchmark}: {note}" for note in view.notes]
        return View((*parts, *legend), (*notes, *(f"left out: {reason}" for reason in self.left_out)))


def _explains(part: Any) -> bool:
    """Whether a part says what a column means."""
    return isinstance(part, Below) and bool(part.column)


def leaderboards(
    store: Store,
    *,
    metric: str | None = None,
    where: Sequence[str] = (),
    level: float = 0.95,
    method: str = "auto",
    cluster: str | None = None,
    latest: bool = False,
    subset_ok: bool = False,
    estimand: str = "prompts_sampled",
    max_unscored: float = 0.05,
    n_resamples: int = DRAWS,
    seed: int = 0,
) -> Leaderboards:
    """Leaderboards of all benchmarks with runs, by the names that they are shown under.

    Args:
        metric: ``name`` or ``name,filter``; None for each benchmark's headline metric.
        where: conditions ``field=value`` on the runs.
        level: nominal coverage of the intervals, in (0, 1).
        method: of the intervals.
        cluster: clustering for the errors.
        latest: of each model only the condition that ran last, per split.
        subset_ok: rank runs on a part of the benchmark too.
        estimand: ``prompts_sampled`` or ``prompts_fixed``.
        max_unscored: share of unscored samples above which a row is flagged, in [0, 1].
        n_resamples: draws behind the rank confidence sets.
        seed: of these draws.

    Raises:
        MisuseError: no benchmark can have one; with the reasons.
    """
    boards, reasons = [], []
    for name in sorted({row.shown_as for row in benchmarks(store) if row.n_runs}):
        try:
            boards.append(
                leaderboard(
                    store,
                    name,
                    metric=metric,
                    where=where,
                    level=level,
                    method=method,
                    cluster=cluster,
                    latest=latest,
                    subset_ok=subset_ok,
                    estimand=estimand,
                    max_unscored=max_unscored,
                    n_resamples=n_resamples,
                    seed=seed,
                )
            )
        except MisuseError as error:
            reasons.append(str(error))
    if not boards:
        raise MisuseError("; ".join(reasons) or "the store has no runs yet; see: warehouse ingest")
    return Leaderboards(tuple(boards), tuple(reasons))
