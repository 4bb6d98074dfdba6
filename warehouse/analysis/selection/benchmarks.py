"""Finding a benchmark by name, with its runs, its metrics, and the one that it is
judged by."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import itemgetter
from typing import Any, TypeVar

import pyarrow as pa

from warehouse.analysis.results import Row
from warehouse.analysis.selection.conditions import Condition, Run
from warehouse.analysis.selection.scorers import name_scorers, place_of, scorer_in_words
from warehouse.errors import MisuseError, did_you_mean
from warehouse.store.columns import rows_of
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

Key = TypeVar("Key", bound=Hashable)
_RUNS = (
    "select * from run_current where benchmark_id in (:benchmark_ids) order by run_id"
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
    """That nobody has said which way a metric of some benchmarks is good, and where to
    say it."""
    label = shlex.quote(metric.partition(" by ")[0])
    first = ""
    if others:
        first = f" of the first of {1 + len(others)} benchmarks"
    return (
        f"it is not known whether a higher {metric} is better; this says so{first} "
        "(--lower-is-better the opposite): warehouse benchmarks metrics "
        f"{shlex.quote(benchmark)} --metric {label} --higher-is-better"
    )


@dataclass(frozen=True)
class Metric:
    """One metric of one benchmark: how its values are to be read."""

    benchmark_id: int
    id: int
    name: str
    filter: str
    unit: str
    link: str  #: from the (weighted) mean to the figure; ``"none"``: no mean gives the figure.
    scorer: str
    judge_model: str
    parameters_key: str
    is_default: bool  #: the benchmark's headline metric (view ``headline_metric``).
    n_runs: int  #: current runs of the benchmark that have figures of a metric of this label.
    kind: str | None
    low: float | None  #: smallest possible value of a prompt, None if unknown.
    high: float | None  #: largest possible value of a prompt.
    higher_is_better: bool | None  #: None if unknown.
    scorer_kind: str = "match"  #: of whoever scored: a program (``match``, ``execution``), ``model`` or ``human``.

    @property
    def scored_by(self) -> str:
        """Who scored; empty for a plain comparison."""
        return self.judge_model or self.scorer

    @property
    def label(self) -> str:
        """``name``, or ``name,filter`` as harnesses write it."""
        if self.filter:
            return f"{self.name},{self.filter}"
        return self.name

    @property
    def bounds(self) -> tuple[float | None, float | None] | None:
        """Bounds of the values; (0, 1) for a binary metric that states none."""
        if self.low is None and self.high is None:
            if self.kind == "binary":
                return (0.0, 1.0)
            return None
        return (self.low, self.high)

    def bounds_of(
        self, smallest: float, largest: float
    ) -> tuple[float | None, float | None] | None:
        """`bounds`, None where values of the metric from ``smallest`` to ``largest``
        break them."""
        if self.bounds is None:
            return None
        low, high = (
            end if bound is None else bound
            for bound, end in zip(self.bounds, (-inf, inf), strict=True)
        )
        if low - 1e-9 <= smallest and largest <= high + 1e-9:
            return self.bounds
        return None

    @property
    def scale(self) -> tuple[str, ...]:
        """What must agree for two figures to be on one scale and by one scorer."""
        return (
            self.unit,
            self.link,
            self.scorer or self.unnamed,
            self.judge_model,
            self.parameters_key,
        )

    @property
    def unnamed(self) -> str:
        """A judge, or people, without a name by what they are; empty for all others."""
        if self.scored_by or self.scorer_kind not in ("model", "human"):
            return ""
        return scorer_in_words("", self.scorer_kind)

    @property
    def told_by(self) -> str:
        """Who scored, as labels say it; empty for a program without a name."""
        return self.scored_by or self.unnamed


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
        hint = did_you_mean(name, names.canonical, "see: warehouse benchmarks")
        raise MisuseError(f"no benchmark is called {name!r}; {hint}")
    benchmark = names.benchmark(name)
    leaves = sorted(
        str(row["name"])
        for row in names.descendants(benchmark.ids)
        if row["id"] not in names.children
    )
    if leaves and not _has_runs(store, benchmark.ids):
        raise MisuseError(
            f"{name!r} is a suite; choose one of its benchmarks: {', '.join(leaves)} "
            f"(or rank the whole suite: warehouse leaderboard --group {name})"
        )
    return benchmark


class BenchmarkNames:
    """All benchmarks and suites: canonical name by name, rows that share one, rows
    below one."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.canonical: dict[str, str] = {row["name"]: row["canonical"] for row in rows}
        self.joined: dict[str, list[dict[str, Any]]] = {}
        self.children: dict[int | None, list[dict[str, Any]]] = {}
        for row in rows:
            self.joined.setdefault(row["canonical"], []).append(row)
            self.children.setdefault(row["parent_id"], []).append(row)

    def benchmark(self, name: str) -> Benchmark:
        """The benchmark or suite of a name."""
        rows = self.joined[self.canonical[name]]
        clusterings = (row["default_clustering_id"] for row in rows)
        return Benchmark(
            self.canonical[name],
            tuple(row["id"] for row in rows),
            tuple(c for c in clusterings if c is not None),
        )

    def descendants(self, ids: Iterable[int]) -> list[dict[str, Any]]:
        """Everything below some rows; a ring in the tree is walked once."""
        by_id: dict[int, dict[str, Any]] = {}
        waiting = list(ids)
        while waiting:
            new = {
                row["id"]: row
                for row in self.children.get(waiting.pop(), [])
                if row["id"] not in by_id
            }
            by_id |= new
            waiting += new
        return list(by_id.values())


def read_names(store: Store) -> BenchmarkNames:
    """The names of all benchmarks and suites."""
    return BenchmarkNames(
        store.rows(query_text("analysis/selection", "benchmark_names"))
    )


def all_benchmarks(store: Store) -> list[Benchmark]:
    """Every benchmark and suite under its canonical name, by name."""
    names = read_names(store)
    return [names.benchmark(name) for name in sorted(names.joined)]


@dataclass(frozen=True)
class BenchmarkFacts:
    """What the store says of a benchmark before any score is read."""

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
    ids = benchmark_ids
    table = runs_table(store, ids) if runs is None else runs
    return BenchmarkFacts(
        _by_id(store, table), metrics_of(store, ids), tuple(run_metrics_of(store, ids))
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
    return tuple(name_scorers(store, sorted(rows_of(runs), key=_RUN_ID)))


def metrics_of(store: Store, benchmark_ids: Sequence[int]) -> tuple[Metric, ...]:
    """All metrics of some benchmarks, by label."""
    query = query_text("analysis/selection", "benchmark_metrics")
    metrics = store.rows(query, {"benchmark_ids": benchmark_ids}, per="benchmark_id")
    return tuple(sorted(map(_metric, metrics), key=headline_scorer_first))


def headline_scorer_first(metric: Metric) -> tuple[str, int, str, int]:
    """By label; of one label the headline scorer first, whichever was loaded first."""
    return metric.label, place_of(metric.scorer_kind), metric.scored_by, metric.id


def run_metrics_of(store: Store, benchmark_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Which current runs on some benchmarks have figures of which metrics, as ids, and
    how many scores."""
    return store.rows(
        query_text("analysis", "current_run_metrics"),
        {"benchmark_ids": benchmark_ids},
        per="benchmark_id",
    )


def _metric(row: Mapping[str, Any]) -> Metric:
    return Metric(**{**row, "is_default": bool(row["is_default"])})


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
    if metric_name is None:
        named = list(metrics)
    else:
        named = [metric for metric in metrics if metric.label == metric_name]
        named = named or [metric for metric in metrics if metric.name == metric_name]
    headline = {metric.label for metric in named if metric.is_default}
    chosen = [metric for metric in named if metric.label in headline] or named
    per_benchmark = {(metric.benchmark_id, metric.label) for metric in chosen}
    if not labels:
        raise MisuseError(
            f"{benchmark} has no metric: what is stored of it has neither scores nor "
            f"published figures; see: warehouse runs --where benchmark={benchmark}"
        )
    if not chosen:
        raise MisuseError(
            f"{benchmark} has no metric {metric_name!r}; it has: {', '.join(labels)}"
        )
    if len(per_benchmark) > len({benchmark_id for benchmark_id, _ in per_benchmark}):
        several = ", ".join(sorted({metric.label for metric in chosen}))
        raise MisuseError(
            f"{benchmark} has several metrics, choose one with --metric: {several}"
        )
    return chosen


def _has_runs(store: Store, ids: Sequence[int]) -> bool:
    return bool(
        store.rows(
            "select run_id from run_current where benchmark_id in (:ids) limit 1",
            {"ids": ids},
        )
    )


def has_votes(store: Store, ids: Sequence[int]) -> bool:
    """Whether there are votes between models on some benchmarks."""
    return bool(
        store.rows(
            "select 1 as found from preference where benchmark_id in (:ids) limit 1",
            {"ids": ids},
        )
    )


@dataclass(frozen=True)
class OtherMetric(Row):
    """A metric that a leaderboard does not show."""

    metric: str  #: name, with its filter.
    higher_is_better: bool | None  #: direction; None if unknown.
    n_conditions: int  #: conditions that have figures of it.
    n_elsewhere: int  #: those of them that have no row on the leaderboard.
    #: benchmarks of a suite on which they have them; None for a single benchmark.
    n_benchmarks: int | None = None

    def __str__(self) -> str:
        count = f"{self.n_conditions} condition{'' if self.n_conditions == 1 else 's'}"
        if self.n_benchmarks is not None:
            count += (
                f" on {self.n_benchmarks} "
                f"benchmark{'' if self.n_benchmarks == 1 else 's'}"
            )
        if not self.n_elsewhere:
            return f"{self.metric} ({count})"
        missing = "none"
        if self.n_elsewhere != self.n_conditions:
            missing = f"{self.n_elsewhere} not"
        return f"{self.metric} ({count}, {missing} of them above)"


def others_among(
    run_metrics: Iterable[Mapping[str, Any]],
    metrics: Sequence[Metric],
    conditions: Iterable[Condition],
    shown: Collection[str],
    label: str,
) -> tuple[OtherMetric, ...]:
    """The metrics other than ``label`` that some conditions have figures of: most
    conditions first, then by name.

    Args:
        run_metrics: which runs have figures of which metrics, as ids.
        metrics: of the benchmark.
        conditions: those that a leaderboard is about.
        shown: keys of those that have a row on it.
        label: the metric that it shows.
    """
    keys = {}
    for condition in conditions:
        for run in condition.run_ids:
            keys[run] = condition.key
    return others_of_runs(run_metrics, metrics, keys, shown, label)


def others_of_runs(
    run_metrics: Iterable[Mapping[str, Any]],
    metrics: Sequence[Metric],
    keys: Mapping[int, Key],
    shown: Collection[Key],
    label: str,
) -> tuple[OtherMetric, ...]:
    """`others_among` of runs by the condition that each is of.

    Args:
        keys: what names the condition of each run.
    """
    named = {metric.id: metric for metric in metrics}
    holders: dict[str, set[Key]] = {}
    for row in run_metrics:
        run, metric_id = row["run_id"], row["metric_id"]
        if run in keys and metric_id in named and named[metric_id].label != label:
            holders.setdefault(named[metric_id].label, set()).add(keys[run])
    directions = {metric.label: metric.higher_is_better for metric in metrics}
    others = [
        OtherMetric(name, directions[name], len(own), len(own.difference(shown)))
        for name, own in holders.items()
    ]
    return tuple(sorted(others, key=lambda other: (-other.n_conditions, other.metric)))


def add_up(leaves: Iterable[Sequence[OtherMetric]]) -> tuple[OtherMetric, ...]:
    """The other metrics of the benchmarks of a suite: conditions are summed over them."""
    by_metric: dict[str, OtherMetric] = {}
    for leaf in leaves:
        for other in leaf:
            sum_ = by_metric.get(
                other.metric, OtherMetric(other.metric, other.higher_is_better, 0, 0, 0)
            )
            by_metric[other.metric] = replace(
                sum_,
                n_conditions=sum_.n_conditions + other.n_conditions,
                n_elsewhere=sum_.n_elsewhere + other.n_elsewhere,
                n_benchmarks=(sum_.n_benchmarks or 0) + 1,
            )
    return tuple(
        sorted(
            by_metric.values(), key=lambda other: (-other.n_conditions, other.metric)
        )
    )


def scored_metrics(
    run_metrics: Iterable[Mapping[str, Any]],
    metrics: Sequence[Metric],
    conditions: Sequence[Condition],
) -> Counter[str]:
    """Of how many conditions each metric, by label, has scored prompts.

    Args:
        run_metrics: which runs have figures of which metrics, as ids, and how many
            scores.
        metrics: of the benchmark.
        conditions: those that are asked for.
    """
    named = {metric.id: metric.label for metric in metrics if metric.link != "none"}
    scored: dict[int, set[str]] = {}
    for row in run_metrics:
        if row["n_scored"] > 0 and row["metric_id"] in named:
            scored.setdefault(row["run_id"], set()).add(named[row["metric_id"]])
    counts: Counter[str] = Counter()
    for condition in conditions:
        counts.update(set().union(*(scored.get(run, ()) for run in condition.run_ids)))
    return counts


def advise_metric(who: str, labels: Iterable[str]) -> str:
    """Advice behind a refusal: ``; both have --metric f1``; empty if there is
    none."""
    named = " or ".join(sorted(labels))
    if named:
        return f"; {who} --metric {named}"
    return ""


def advise_others(others: Iterable[OtherMetric]) -> str:
    """Advice behind a refusal for want of two conditions: the metrics that two
    have."""
    advice = describe_others([other for other in others if other.n_conditions > 1])
    if advice:
        return f"; {advice}"
    return ""


def describe_others(others: Sequence[OtherMetric]) -> str:
    """One line that names them; empty if there is none."""
    if others:
        return f"other metrics (--metric NAME): {', '.join(map(str, others))}"
    return ""
