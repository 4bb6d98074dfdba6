"""Every condition on one benchmark, with its figure, its interval and its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warehouse.metrics.entries import Entry, is_partial, select_entries
from warehouse.metrics.leaderboard_rows import LeaderboardRow, make_row
from warehouse.metrics.results import Result
from warehouse.stats.inputs import as_level
from warehouse.store.engine import Store


@dataclass(frozen=True)
class Leaderboard(Result):
    """Rows in order of rank; those of another split, task version or metric come after.

    Attributes:
        benchmark: name of the benchmark.
        metric: name of the metric, with its filter.
        higher_is_better: direction of the ranks; None if unknown (then higher is first).
        notes: what a reader should know before comparing rows.
    """

    benchmark: str
    metric: str
    higher_is_better: bool | None
    rows: tuple[LeaderboardRow, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        best = next((row for row in self.rows if row.rank == 1), None)
        first = "" if best is None else f", first {best.model} at {best.estimate:.4g}"
        return f"{self.benchmark} by {self.metric}: {len(self.rows)} conditions{first}"


def leaderboard(
    store: Store,
    benchmark: str,
    *,
    metric: str | None = None,
    where: Sequence[str] = (),
    level: float = 0.95,
    method: str = "auto",
    cluster: str | None = None,
    latest: bool = False,
    subset_ok: bool = False,
) -> Leaderboard:
    """All conditions on a benchmark, best first.

    A row is one condition; its repeats are pooled as draws. Conditions are ranked among those
    with the same split, task version, metric and judge.

    Args:
        benchmark: name of a benchmark with prompts of its own.
        metric: ``name`` or ``name,filter``; None for the headline metric.
        where: conditions ``field=value`` on the runs.
        level: nominal coverage of the intervals, in (0, 1).
        method: of the intervals, as in :func:`warehouse.stats.estimate_mean`.
        cluster: clustering for the errors: None for the benchmark's default, ``"none"``,
            ``"same_text"``, or a name.
        latest: of each model only the condition that ran last, per split.
        subset_ok: rank runs on a part of the benchmark beside complete ones.

    Raises:
        MisuseError: unknown benchmark, metric, clustering or field; a suite; nothing to show.
        StatisticsError: ``level`` or ``method`` that the data do not allow.
    """
    as_level(level)
    found = select_entries(store, benchmark, metric, where, cluster, latest)
    rows = [
        (entry, make_row(entry, found.clusters, level, method, found.wholes[entry.group]))
        for entry in found.entries
    ]
    return Leaderboard(
        benchmark=found.benchmark.name,
        metric=found.metric.label,
        higher_is_better=found.metric.higher_is_better,
        rows=tuple(_ranked(rows, subset_ok)),
        notes=tuple(_notes(rows, subset_ok)),
    )


def _ranked(rows: Sequence[tuple[Entry, LeaderboardRow]], subset_ok: bool) -> list[LeaderboardRow]:
    groups: dict[tuple[str, ...], list[tuple[Entry, LeaderboardRow]]] = {}
    for entry, row in rows:
        groups.setdefault(entry.group, []).append((entry, row))
    largest_first = sorted(groups.values(), key=len, reverse=True)
    return [row for group in largest_first for row in _rank_group(group, subset_ok)]


def _rank_group(
    group: Sequence[tuple[Entry, LeaderboardRow]], subset_ok: bool
) -> list[LeaderboardRow]:
    lower_is_better = group[0][0].metric.higher_is_better is False
    rows = [row for _, row in group if row.estimate is not None]
    rows.sort(key=lambda row: (row.estimate or 0.0) * (1 if lower_is_better else -1))
    complete = [row for row in rows if not is_partial(row.flags)]
    eligible = rows if subset_ok or not complete else complete
    figures = [_comparable(row) for row in eligible]
    ranks = {row.run_ids: figures.index(_comparable(row)) + 1 for row in eligible}
    rest = [row for _, row in group if row.estimate is None]
    return [replace(row, rank=ranks.get(row.run_ids)) for row in rows + rest]


def _comparable(row: LeaderboardRow) -> str:
    """The figure at 12 significant digits: what differs only by rounding is a tie."""
    return f"{row.estimate:.12g}"


def _notes(rows: Sequence[tuple[Entry, LeaderboardRow]], subset_ok: bool) -> list[str]:
    notes = []
    partial = sum(is_partial(row.flags) for _, row in rows)
    if partial and not subset_ok and partial < len(rows):
        notes.append(
            f"{partial} rows on a part of the benchmark are not ranked (subset_ok ranks them)"
        )
    others = sum("other_prompts" in row.flags for _, row in rows)
    if others:
        notes.append(f"{others} rows saw other prompts than most (compare pairs the common ones)")
    if len({entry.group for entry, _ in rows}) > 1:
        notes.append(
            "rows differ in split, task version, metric or judge; each group is ranked alone"
        )
    if any(entry.metric.higher_is_better is None for entry, _ in rows):
        notes.append("it is not known whether higher is better; higher is ranked first")
    return notes
