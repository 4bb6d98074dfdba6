"""Finding a benchmark by name, with its runs, its metrics, and the one that it is
judged by."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import pyarrow as pa

from warehouse.analysis.selection.conditions import Run
from warehouse.analysis.selection.metric import Metric as Metric
from warehouse.analysis.selection.metric_names import as_one
from warehouse.analysis.selection.scorers import name_scorers, place_of
from warehouse.errors import MisuseError, did_you_mean
from warehouse.store.columns import rows_of
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_RUNS = (
    "select * from run_current where benchmark_id in (:benchmark_ids) order by run_id"
)
#: Metrics that no sample has a score of.
_OF_WHOLE_SETS = (
    *("f1", "macro_f1", "weighted_f1", "precision", "recall", "balanced_accuracy"),
    *("kappa", "mcc", "auroc", "ece"),
)
#: In what order runs and metrics stand.
_RUN_ID = itemgetter("run_id")


@dataclass(frozen=True)
class Benchmark:
    """A benchmark under its canonical name, with all rows that an alias joins to it."""

    name: str  #: canonical name.
    ids: tuple[int, ...]  #: of the rows of ``benchmark`` that have prompts and runs.
    #: id of the default clustering of each of ``ids`` that has one.
    clusterings: tuple[int, ...]


def direction_unknown(metric: str, benchmark: str, *others: str) -> str:
    """A note that nobody has said which way a metric of some benchmarks is good, and
    where to say it."""
    label = shlex.quote(metric.partition(" by ")[0])
    first = ""
    if others:
        first = f" of the first of {1 + len(others)} benchmarks"
    return (
        f"it is not known whether a higher {metric} is better; this says so{first} "
        "(--lower-is-better the opposite): warehouse fix metric "
        f"{shlex.quote(benchmark)} --metric {label} --higher-is-better"
    )


def find_benchmark(store: Store, name: str) -> Benchmark:
    """The benchmark called ``name``, also by a name that is an alias.

    Raises:
        MisuseError: there is none, or it is a suite; names what there is.
    """
    return find_among(store, read_names(store), name)


def find_among(store: Store, names: BenchmarkNames, name: str) -> Benchmark:
    """`find_benchmark` where all names were read.

    Raises:
        MisuseError: there is none, or it is a suite; names what there is.
    """
    if name not in names.canonical:
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and {*parts} <= {*names.canonical}:
            raise MisuseError(
                f"no benchmark is called {name!r}: it is the names of several, which "
                f"are asked together by: warehouse leaderboard --group {shlex.quote(name)}"
            )
        hint = did_you_mean(name, names.canonical, "see: warehouse list benchmarks")
        raise MisuseError(f"no benchmark is called {name!r}; {hint}")
    benchmark = names.benchmark(name)
    leaves: list[str] = []
    for row in names.descendants(benchmark.ids):
        if row["id"] not in names.children:
            leaves.append(str(row["name"]))
    if leaves and not _has_runs(store, benchmark.ids):
        listed = ", ".join(sorted(leaves))
        raise MisuseError(
            f"{name!r} is a suite; choose one of its benchmarks: {listed} "
            f"(or rank the whole suite: warehouse leaderboard --group {name})"
        )
    return benchmark


#: A benchmark or suite by one of its names.
_NameRow = dict[str, Any]


class BenchmarkNames:
    """All benchmarks and suites: canonical name by name, rows that share one, rows
    below one."""

    def __init__(self, rows: Sequence[_NameRow]) -> None:
        self.canonical: dict[str, str] = {}
        self.joined: dict[str, list[_NameRow]] = {}
        self.children: dict[int | None, list[_NameRow]] = {}
        self._by_id: dict[int | None, str] = {}
        for row in rows:
            canonical = row["canonical"]
            self._by_id[row["id"]] = canonical
            self.canonical[row["name"]] = canonical
            self.joined.setdefault(canonical, []).append(row)
            self.children.setdefault(row["parent_id"], []).append(row)

    def benchmark(self, name: str) -> Benchmark:
        """The benchmark or suite of a name."""
        canonical = self.canonical[name]
        rows = self.joined[canonical]
        ids = [row["id"] for row in rows]
        clusterings = [row["default_clustering_id"] for row in rows]
        stated = [clustering for clustering in clusterings if clustering is not None]
        return Benchmark(canonical, tuple(ids), tuple(stated))

    def above(self, name: str) -> str | None:
        """The canonical name of the suite right above a benchmark or suite; None at the
        top."""
        for row in self.joined[self.canonical[name]]:
            above = self._by_id.get(row["parent_id"])
            if above is not None:
                return above
        return None

    def descendants(self, ids: Iterable[int]) -> list[_NameRow]:
        """Everything below some rows; a ring in the tree is walked once."""
        by_id: dict[int, _NameRow] = {}
        waiting = list(ids)
        while waiting:
            for row in self.children.get(waiting.pop(), []):
                if row["id"] not in by_id:
                    by_id[row["id"]] = row
                    waiting.append(row["id"])
        return list(by_id.values())


def read_names(store: Store) -> BenchmarkNames:
    """The names of all benchmarks and suites."""
    query = query_text("analysis/selection", "benchmark_names")
    return BenchmarkNames(store.rows(query))


def all_benchmarks(store: Store) -> list[Benchmark]:
    """Every benchmark and suite under its canonical name, by name."""
    names = read_names(store)
    return [names.benchmark(name) for name in sorted(names.joined)]


def single_benchmarks(store: Store) -> list[str]:
    """Canonical names of the benchmarks that are no suite of others, by name."""
    names = read_names(store)
    single = []
    for name in sorted(names.joined):
        rows = names.joined[name]
        if not any(row["id"] in names.children for row in rows):
            single.append(name)
    return single


@dataclass(frozen=True)
class BenchmarkFacts:
    """Facts on a benchmark before any score is read."""

    runs: tuple[Run, ...] = ()  #: current ones, by id.
    metrics: tuple[Metric, ...] = ()  #: by label.
    #: which of the runs have figures of which metrics, as ids, and how many scores.
    run_metrics: tuple[Mapping[str, Any], ...] = ()


def read_facts(
    store: Store, benchmark_ids: Sequence[int], runs: pa.Table | None = None
) -> BenchmarkFacts:
    """The runs and metrics of some benchmarks.

    Args:
        runs: what `runs_table` gives; None: it is read.
    """
    if runs is None:
        runs = runs_table(store, benchmark_ids)
    return BenchmarkFacts(
        runs=_by_id(store, runs),
        metrics=metrics_of(store, benchmark_ids),
        run_metrics=tuple(run_metrics_of(store, benchmark_ids)),
    )


#: A benchmark, with what the store says of it.
KnownBenchmark = tuple[Benchmark, BenchmarkFacts]


def read_benchmark(store: Store, name: str, of_votes: str = "") -> KnownBenchmark:
    """The benchmark called ``name``, with its runs and metrics.

    Args:
        of_votes: what to say, beside where they are, of one that has votes alone.

    Raises:
        MisuseError: there is none, or it is a suite, or it has votes alone; names what
            there is.
    """
    benchmark = find_benchmark(store, name)
    facts = read_facts(store, benchmark.ids)
    if not facts.runs and has_votes(store, benchmark.ids):
        advice = f"see: warehouse prefer {shlex.quote(name)}{of_votes}"
        raise MisuseError(f"{name} has votes between models, and no scores; {advice}")
    return benchmark, facts


def runs_on(store: Store, benchmark_ids: Sequence[int]) -> tuple[Run, ...]:
    """Current runs on some benchmarks, by id."""
    return _by_id(store, runs_table(store, benchmark_ids))


def runs_table(store: Store, benchmark_ids: Sequence[int]) -> pa.Table:
    """The same as columns, in any order."""
    return store.arrow(_RUNS, {"benchmark_ids": benchmark_ids}, per="benchmark_id")


def _by_id(store: Store, runs: pa.Table) -> tuple[Run, ...]:
    in_order = sorted(rows_of(runs), key=_RUN_ID)
    return tuple(name_scorers(store, in_order))


def metrics_of(store: Store, benchmark_ids: Sequence[int]) -> tuple[Metric, ...]:
    """All metrics of some benchmarks, by label."""
    query = query_text("analysis/selection", "benchmark_metrics")
    rows = store.rows(query, {"benchmark_ids": benchmark_ids}, per="benchmark_id")
    metrics = sorted(map(_metric, rows), key=headline_scorer_first)
    if "metric alias" in store.kinds_declared():
        aliases = store.rows(
            query_text("analysis/selection", "metric_aliases"),
            {"benchmark_ids": benchmark_ids},
            per="benchmark_id",
        )
        counts_as = {
            (row["benchmark_id"], row["metric_id"]): str(row["counts_as"])
            for row in aliases
        }
        metrics = sorted(as_one(metrics, counts_as), key=headline_scorer_first)
    return tuple(metrics)


def headline_scorer_first(metric: Metric) -> tuple[str, bool, int, str, int]:
    """By label; of one label its own name before others, then the headline scorer
    first, whichever was loaded first."""
    place = place_of(metric.scorer_kind)
    return (
        metric.label,
        bool(metric.recorded),
        place,
        metric.scored_by,
        metric.id,
    )


def run_metrics_of(store: Store, benchmark_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Which current runs on some benchmarks have figures of which metrics, as ids, and
    how many scores."""
    return store.rows(
        query_text("analysis", "current_run_metrics"),
        {"benchmark_ids": benchmark_ids},
        per="benchmark_id",
    )


def _metric(row: Mapping[str, Any]) -> Metric:
    fields = dict(row)
    fields["is_default"] = bool(row["is_default"])
    return Metric(**fields)


def choose_metrics(
    metrics: Sequence[Metric], metric_name: str | None, benchmark: str
) -> list[Metric]:
    """The metrics called ``metric_name`` (``name`` or ``name,filter``), else the
    headline metrics.

    Several come back only if they have one label and differ in judge or scale.

    Raises:
        MisuseError: none has this name, or several do; names what there is.
    """
    labels = sorted({metric.label for metric in metrics})
    named = _called(metrics, metric_name)
    headline = {metric.label for metric in named if metric.is_default}
    chosen = [metric for metric in named if metric.label in headline] or named
    if not labels:
        raise MisuseError(
            f"{benchmark} has no metric: what is stored of it has neither scores nor "
            f"published figures; see: warehouse list runs --where benchmark={benchmark}"
        )
    if not chosen:
        elsewhere = ""
        if str(metric_name).lower() in _OF_WHOLE_SETS:
            elsewhere = (
                "; computed from answers and targets: warehouse answers "
                f"{shlex.quote(benchmark)} --metric {metric_name}"
            )
        raise MisuseError(
            f"{benchmark} has no metric {metric_name!r}; it has: {', '.join(labels)}"
            f"{elsewhere}"
        )
    benchmarks = {metric.benchmark_id for metric in chosen}
    per_benchmark = {(metric.benchmark_id, metric.label) for metric in chosen}
    if len(per_benchmark) > len(benchmarks):
        chosen_labels = {metric.label for metric in chosen}
        several = ", ".join(sorted(chosen_labels))
        raise MisuseError(
            f"{benchmark} has several metrics, choose one with --metric: {several}"
        )
    return chosen


def _called(metrics: Sequence[Metric], name: str | None) -> list[Metric]:
    """The metrics of a name, with its filter or without, or of one that it is another
    name of; all where none is given."""
    if name is None:
        return list(metrics)
    by_label = [metric for metric in metrics if metric.label == name]
    by_name = [metric for metric in metrics if metric.name == name]
    meant = {metric.label for metric in metrics if metric.recorded == name}
    by_alias = [metric for metric in metrics if metric.label in meant]
    return by_label or by_name or by_alias


def _has_runs(store: Store, ids: Sequence[int]) -> bool:
    query = "select run_id from run_current where benchmark_id in (:ids) limit 1"
    return bool(store.rows(query, {"ids": ids}))


def has_votes(store: Store, ids: Sequence[int]) -> bool:
    """True where there are votes between models on some benchmarks."""
    query = "select 1 as found from preference where benchmark_id in (:ids) limit 1"
    return bool(store.rows(query, {"ids": ids}))
