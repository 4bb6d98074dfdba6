"""A benchmark as metric families see it: its conditions, digests of inputs, scores on
demand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from warehouse.analysis.families.rows import RULES, RefreshRow, refresh_rows
from warehouse.analysis.families.subjects import CONDITION, subject_of
from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import (
    Benchmark,
    BenchmarkFacts,
    Metric,
    choose_metrics,
    metrics_of,
    read_names,
    run_metrics_of,
)
from warehouse.analysis.selection.clusterings import (
    ClusterMap,
    cluster_map,
    clusters_under_links,
)
from warehouse.analysis.selection.conditions import Condition, group_runs, read_runs
from warehouse.analysis.selection.prompt_links import Links, read_links
from warehouse.analysis.selection.published_figures import PublishedFigure
from warehouse.analysis.selection.reference import find_conditions
from warehouse.analysis.selection.row_plans import RowPlan
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    read_entries,
)
from warehouse.analysis.selection.scores import PromptScores, read_scores
from warehouse.analysis.selection.select import (
    entries_as_rows,
    plain_row,
    rows_of_plans,
    scored_prompts,
)
from warehouse.analysis.suites.tree import list_suites
from warehouse.errors import MisuseError, did_you_mean
from warehouse.records.canonical_json import short_digest
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.sql.query_files import query_text

_DIGESTS = """
select id, content_digest from run where status <> 'invalidated' and superseded_by is null
"""


@dataclass
class BenchmarkData:
    """One benchmark."""

    benchmark: Benchmark  #: name and ids.
    conditions: Mapping[str, Condition]  #: by key, all that have current runs here.
    metrics: tuple[Metric, ...]  #: the headline metrics; empty with ``why_no_metric``.
    why_no_metric: str  #: why there is no one metric to report.
    context: str  #: digest of what error bars and figures depend on beside the runs.
    links: Links  #: prompts that are the same as others.
    #: keys of the conditions of each baseline, by its reference.
    baselines: Mapping[str, frozenset[str]]
    digests: Mapping[int, str]  #: of the content of each run, by id.
    opener: StoreOpener  #: opens the store, for as long as something is read.
    rows: tuple[RefreshRow, ...] = ()  #: what a leaderboard shows as one row each.
    _opened: Store | None = None
    _entries: dict[str, list[ScoredCondition]] = field(default_factory=dict)
    _linked: dict[tuple[str, int], PromptScores] = field(default_factory=dict)

    @cached_property
    def links_digest(self) -> str:
        """A digest of the prompt links."""
        return short_digest([column.tolist() for column in self.links])

    @cached_property
    def clusters(self) -> ClusterMap:
        """The benchmark's default clusters."""
        with self.opened() as store:
            return cluster_map(
                store, self.benchmark.ids, self.benchmark.clusterings, None
            )

    @cached_property
    def linked_clusters(self) -> ClusterMap:
        """The same for prompts that links lead to."""
        return clusters_under_links(self.clusters, self.links)

    @cached_property
    def restated(self) -> Mapping[tuple[int, int], PublishedFigure]:
        """The last statement before of figures that were stated anew, by current run
        and metric."""
        parameters = {"benchmark_ids": list(self.benchmark.ids)}
        with self.opened() as store:
            rows = store.rows(
                query_text("analysis/families", "restated_figures"), parameters
            )
        return {
            (row["run_id"], row["metric_id"]): PublishedFigure(
                row["value"], row["standard_error"], row["n"] or 0
            )
            for row in rows
        }

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """The store, for as long as something is read: nobody waits while figures are
        computed."""
        if self._opened is not None:
            yield self._opened
            return
        with self.opener.reading() as store:
            yield store

    def fetch(self, store: Store, keys: Iterable[str]) -> None:
        """Read at once, from an open store, what some conditions will need."""
        self._opened = store
        try:
            self.load(keys)
            _ = self.clusters
        finally:
            self._opened = None

    def inputs(self, keys: Iterable[str]) -> str:
        """Digest of everything about some conditions that a figure can depend on."""
        told = []
        for key in set(keys):
            for run in self.conditions[key].runs:
                told.append(
                    [
                        key,
                        self.digests[run["run_id"]],
                        run["status"],
                        run["n_benchmark"],
                        run["task_version"] or "",
                        run["split"],
                        run["model"],
                    ]
                )
        return short_digest(sorted(told), self.context)

    def load(self, keys: Iterable[str]) -> None:
        """Read the scores of some conditions in one go, so that `entries` need not."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._entries]
        if not missing:
            return
        self._entries |= {key: [] for key in missing}
        if not self.metrics:
            return
        conditions = [self.conditions[key] for key in missing]
        with self.opened() as store:
            for entry in read_entries(
                store, conditions, self.metrics, with_repeats=True
            ):
                self._entries[entry.condition.key].append(entry)

    def entries(self, keys: Sequence[str]) -> list[ScoredCondition]:
        """The scores of some conditions; one with several judges has several entries."""
        self.load(keys)
        return list(chain.from_iterable(self._entries[key] for key in keys))

    @cached_property
    def row_of(self) -> Mapping[str, RefreshRow]:
        """The row behind which a condition stands, by its key."""
        rows = {}
        for row in self.rows:
            for key in row.plan.keys:
                rows[key] = row
        return rows

    def row_called(self, subject: str) -> RefreshRow | None:
        """The row of a subject; None where it is of a seed or checkpoint behind one."""
        return next((row for row in self.rows if row.subject == subject), None)

    def subject(self, condition: Condition) -> tuple[str, str]:
        """Kind and subject of the row that a condition, or the first of its seeds,
        stands behind."""
        row = self.row_of.get(condition.key)
        if row is None:
            return (CONDITION, subject_of(condition))
        return (row.kind, row.subject)

    def row_entries(self, row: RefreshRow) -> list[ScoredCondition]:
        """The entries of a row, one a metric; several where its repeats are none."""
        return self._as_rows(row.plan, self.entries(row.keys))

    def condition_entries(self, key: str) -> list[ScoredCondition]:
        """The same of one seed or checkpoint behind a row."""
        condition = self.conditions[key]
        return self._as_rows(
            RowPlan((condition,), keys=frozenset({key})), self.entries((key,))
        )

    def _as_rows(
        self, plan: RowPlan, entries: Sequence[ScoredCondition]
    ) -> list[ScoredCondition]:
        read = [replace(entry, label="") for entry in entries]
        if plan.is_plain:
            return [plain_row(plan, entry) for entry in read]
        clusters = self.clusters
        with self.opened() as store:
            (rows,) = rows_of_plans(store, [plan], read, clusters, RULES)
        return rows

    def linked(self, entry: ScoredCondition) -> PromptScores:
        """Scores of an entry that has some, prompts under those that links join them
        to."""
        scores = entry.usable
        if scores is None:
            raise MisuseError(f"{entry.condition.model} has no scored prompt")
        if scores.seeds is not None or entry.condition.members:
            return scores.under(self.links)
        if not np.isin(scores.seen, self.links[0]).any():
            return scores
        key = entry.condition.key, entry.metric.id
        if key not in self._linked:
            with self.opened() as store:
                runs = dict.fromkeys(entry.condition.run_ids, 0)
                self._linked[key] = read_scores(
                    store, runs, [entry.metric.id], links=self.links
                )[0]
        return self._linked[key]

    def drop(self) -> None:
        """Forget scores that were read."""
        self._entries.clear()
        self._linked.clear()

    def metric_name(self, metric: Metric) -> str:
        """Name with filter, and the judge where several share the name."""
        alike = {other.id for other in self.metrics if other.label == metric.label}
        if len(alike) < 2:
            return metric.label
        judge = metric.judge_model or metric.scorer
        return f"{metric.label} by {judge} {short_digest(metric.scale)[:6]}"

    def all_scores(self) -> BenchmarkScores:
        """All of it, as a leaderboard takes it (MisuseError: there is no one metric)."""
        if not self.metrics:
            raise MisuseError(self.why_no_metric)
        entries = self.entries(list(self.conditions))
        return BenchmarkScores(
            self.benchmark, tuple(self.metrics), tuple(entries), self.clusters
        )

    def row_scores(self) -> BenchmarkScores:
        """The same with one row a model, over its seeds at its last whole checkpoint
        (MisuseError: as `all_scores`)."""
        every = self.all_scores()
        with self.opened() as store:
            plans = [row.plan for row in self.rows]
            rows = entries_as_rows(store, plans, self.metrics, self.clusters, RULES)
        return replace(every, entries=tuple(rows))


@dataclass
class SuiteBenchmarks(BenchmarkData):
    """A suite as a family of suite figures sees it: the conditions of all its
    benchmarks, by benchmark and key.

    Its scores are read by whoever answers a question, from :meth:`opened`.
    """

    def fetch(self, store: Store, keys: Iterable[str]) -> None:
        """Nothing: a suite is read as a whole."""


@dataclass(frozen=True)
class AllData:
    """The data that a refresh looks at."""

    #: those with current runs, by name, then suites, for families that take them.
    benchmarks: tuple[BenchmarkData, ...]
    #: canonical names of all that were meant, also of those whose runs are gone.
    names: tuple[str, ...]
    notes: tuple[str, ...]  #: of each baseline that cannot be used.


def run_digests(store: Store) -> dict[int, str]:
    """Digest of the content of every current run, by id."""
    table = store.arrow(_DIGESTS).to_pydict()
    return dict(zip(table["id"], table["content_digest"], strict=True))


def read_all(
    store: Store,
    opener: StoreOpener,
    baselines: Sequence[str] = (),
    only: Sequence[str] = (),
    stored: Collection[str] = (),
) -> AllData:
    """Every benchmark with current runs, without scores, in a handful of queries.

    Args:
        opener: opens the store again, later.
        baselines: references of models that others are compared with.
        only: names of benchmarks, also aliases; all, if empty.
        stored: names of benchmarks that there are figures of, also without runs.

    Raises:
        MisuseError: an unknown name in ``only``.
    """
    runs = grouped(read_runs(store, "1 = 1", {}), itemgetter("benchmark"))
    catalogue = read_names(store)
    by_name = {name: catalogue.benchmark(name) for name in sorted(catalogue.joined)}
    named = {catalogue.canonical.get(name, name) for name in only}
    all_runs = chain.from_iterable(runs.values())
    suites = list_suites(catalogue, {run["benchmark_id"] for run in all_runs})
    unknown = sorted(named - set(runs) - set(stored) - set(suites))
    if unknown:
        hint = did_you_mean(unknown[0], runs, "see: warehouse list runs")
        raise MisuseError(f"no benchmark with runs is called {unknown[0]!r}; {hint}")
    resolved, notes = _baselines(store, baselines)
    shared = _Shared(store, opener, list(by_name.values()), resolved)
    names = tuple(sorted(named or {*runs, *suites}))
    benchmarks = [
        shared.benchmark(by_name[name], runs[name]) for name in names if name in runs
    ]
    benchmarks += [
        shared.suite(by_name[name], suites[name].leaves, runs)
        for name in names
        if name in suites
    ]
    return AllData(tuple(benchmarks), names, tuple(notes))


class _Shared:
    """Data that is read once for all benchmarks."""

    def __init__(
        self,
        store: Store,
        opener: StoreOpener,
        benchmarks: Sequence[Benchmark],
        baselines: Mapping[str, frozenset[str]],
    ) -> None:
        self.store, self.baselines, self.opener, self.links = (
            store,
            baselines,
            opener,
            read_links(store),
        )
        self.digests = run_digests(store)
        ids = list(chain.from_iterable(benchmark.ids for benchmark in benchmarks))
        self.metrics = grouped(
            metrics_of(store, ids), lambda metric: metric.benchmark_id
        )
        self.clusterings: dict[int, list[str]] = {}
        for row in store.rows(query_text("analysis/families", "clustering_contents")):
            self.clusterings[row["id"]] = [str(value) for value in row.values()]

    def benchmark(self, benchmark: Benchmark, runs: Sequence[Any]) -> BenchmarkData:
        metrics, why = self._metrics(benchmark)
        clusterings = sorted(
            self.clusterings.get(name, []) for name in benchmark.clusterings
        )
        conditions = group_runs(runs)
        return BenchmarkData(
            benchmark=benchmark,
            conditions={condition.key: condition for condition in conditions},
            metrics=metrics,
            why_no_metric=why,
            context=short_digest(
                [_described(metric) for metric in metrics], why, clusterings
            ),
            links=self.links,
            baselines=self.baselines,
            digests=self.digests,
            opener=self.opener,
            rows=tuple(
                refresh_rows(
                    self.store, conditions, partial(self._counts, conditions, metrics)
                )
            ),
        )

    def _counts(
        self, conditions: Sequence[Condition], metrics: Sequence[Metric]
    ) -> dict[str, int]:
        """Prompts with a score of each condition, where checkpoints are chosen by them."""
        if all(condition.setting("position") is None for condition in conditions):
            return {}
        ids = sorted({condition.setting("benchmark_id") for condition in conditions})
        runs = tuple(chain.from_iterable(condition.runs for condition in conditions))
        facts = BenchmarkFacts(runs, (), tuple(run_metrics_of(self.store, ids)))
        return scored_prompts(conditions, facts, metrics)

    def suite(
        self,
        suite: Benchmark,
        leaves: Sequence[Benchmark],
        runs: Mapping[str, Sequence[Any]],
    ) -> SuiteBenchmarks:
        parts = {leaf.name: self.benchmark(leaf, runs[leaf.name]) for leaf in leaves}
        conditions = {}
        for leaf_name, part in parts.items():
            for key, condition in part.conditions.items():
                conditions[f"{leaf_name}/{key}"] = condition
        return SuiteBenchmarks(
            benchmark=suite,
            conditions=conditions,
            metrics=(),
            why_no_metric=f"{suite.name} is a suite",
            context=short_digest(
                [[leaf, part.context] for leaf, part in parts.items()]
            ),
            links=self.links,
            baselines=self.baselines,
            digests=self.digests,
            opener=self.opener,
        )

    def _metrics(self, benchmark: Benchmark) -> tuple[tuple[Metric, ...], str]:
        own = list(
            chain.from_iterable(
                self.metrics.get(number, []) for number in benchmark.ids
            )
        )
        own.sort(key=lambda metric: (metric.label, metric.id))
        try:
            return tuple(choose_metrics(own, None, benchmark.name)), ""
        except MisuseError as error:
            return (), str(error)


#: Of a metric what is of this store alone, or is said by the scorer already.
_OWN_OF_STORE = ("id", "benchmark_id", "n_runs", "scorer_kind")


def _described(metric: Metric) -> dict[str, Any]:
    """A metric without the ids of this store."""
    return {
        name: value
        for name, value in asdict(metric).items()
        if name not in _OWN_OF_STORE
    }


def _baselines(
    store: Store, references: Sequence[str]
) -> tuple[dict[str, frozenset[str]], list[str]]:
    baselines, notes = {}, []
    for text in references:
        try:
            conditions = find_conditions(store, text)
        except MisuseError as error:
            notes.append(f"baseline {text!r} left out: {error}")
            continue
        baselines[text] = frozenset(condition.key for condition in conditions)
    return baselines, notes
