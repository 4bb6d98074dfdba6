"""Every condition on one benchmark, with its figure, its interval and its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from warehouse.errors import MisuseError
from warehouse.metrics.benchmarks import Metric, choose_metrics, find_benchmark, metrics_of
from warehouse.metrics.clusterings import cluster_map
from warehouse.metrics.conditions import Condition, describe, group_runs, runs_on
from warehouse.metrics.leaderboard_rows import Entry, LeaderboardRow, Whole, make_row
from warehouse.metrics.published import read_published
from warehouse.metrics.reference import parse_where
from warehouse.metrics.results import Result
from warehouse.metrics.scores import read_scores
from warehouse.stats.inputs import as_level
from warehouse.store.engine import Store

#: Flags that keep a row from being ranked beside rows without them.
PARTIAL = ("subset", "truncated", "failed")


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
    found = find_benchmark(store, benchmark)
    conditions = _conditions(store, found.ids, found.name, where, latest)
    metrics = choose_metrics(metrics_of(store, found.ids), metric, found.name)
    entries = _entries(store, conditions, metrics)
    clusters = cluster_map(store, found.ids, found.clusterings, cluster)
    wholes = _wholes(entries)
    rows = [
        (entry, make_row(entry, clusters, level, method, wholes[entry.group])) for entry in entries
    ]
    return Leaderboard(
        benchmark=found.name,
        metric=metrics[0].label,
        higher_is_better=metrics[0].higher_is_better,
        rows=tuple(_ranked(rows, subset_ok)),
        notes=tuple(_notes(rows, subset_ok)),
    )


def _conditions(
    store: Store, benchmark_ids: Sequence[int], name: str, where: Sequence[str], latest: bool
) -> list[Condition]:
    wanted = parse_where(where)
    runs = [run for run in runs_on(store, benchmark_ids) if all(one.holds(run) for one in wanted)]
    if not runs:
        narrowed = f" with {', '.join(where)}" if where else ""
        raise MisuseError(f"{name} has no current run{narrowed}; see: warehouse runs")
    conditions = group_runs(runs)
    return _newest_of_each(conditions) if latest else conditions


def _newest_of_each(conditions: Iterable[Condition]) -> list[Condition]:
    newest: dict[tuple[str, str], Condition] = {}
    for condition in sorted(conditions, key=lambda item: item.newest):
        newest[condition.model, condition.setting("split")] = condition
    return list(newest.values())


def _entries(
    store: Store, conditions: Sequence[Condition], metrics: Sequence[Metric]
) -> list[Entry]:
    """A condition has one entry for each metric that it has figures of."""
    runs = {run: place for place, item in enumerate(conditions) for run in item.run_ids}
    labels = describe(conditions)
    entries = []
    for metric_id in sorted({metric.id for metric in metrics}):
        own = {metric.benchmark_id: metric for metric in metrics if metric.id == metric_id}
        scores = read_scores(store, runs, [metric_id])
        figures = read_published(store, runs, [metric_id])
        for place in sorted(scores.keys() | figures.keys()):
            condition = conditions[place]
            metric = own.get(condition.setting("benchmark_id")) or next(iter(own.values()))
            entries.append(
                Entry(condition, labels[place], metric, scores.get(place), figures.get(place))
            )
    return entries


def _wholes(entries: Sequence[Entry]) -> dict[tuple[str, ...], Whole]:
    """Per group the whole benchmark: as declared, else the most that a run covers."""
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.group, []).append(entry)
    return {group: _whole(members) for group, members in groups.items()}


def _whole(members: Sequence[Entry]) -> Whole:
    declared = [run["n_benchmark"] or 0 for entry in members for run in entry.condition.runs]
    seen = [entry.scores.seen for entry in members if entry.scores is not None]
    size = max([*declared, *map(len, seen)], default=0)
    sets = Counter(prompts.tobytes() for prompts in seen if len(prompts) == size)
    return Whole(size, sets.most_common(1)[0][0] if sets else b"")


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
    complete = [row for row in rows if not _is_partial(row)]
    eligible = rows if subset_ok or not complete else complete
    figures = [_comparable(row) for row in eligible]
    ranks = {row.run_ids: figures.index(_comparable(row)) + 1 for row in eligible}
    rest = [row for _, row in group if row.estimate is None]
    return [replace(row, rank=ranks.get(row.run_ids)) for row in rows + rest]


def _comparable(row: LeaderboardRow) -> str:
    """The figure at 12 significant digits: what differs only by rounding is a tie."""
    return f"{row.estimate:.12g}"


def _is_partial(row: LeaderboardRow) -> bool:
    return any(flag in PARTIAL for flag in row.flags)


def _notes(rows: Sequence[tuple[Entry, LeaderboardRow]], subset_ok: bool) -> list[str]:
    notes = []
    partial = sum(_is_partial(row) for _, row in rows)
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
