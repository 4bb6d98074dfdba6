"""What a report of the whole store shows: every benchmark, and how the data came in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.analysis.irt.results import AbilityReport
from warehouse.analysis.report_data.abilities import stored_abilities
from warehouse.analysis.report_data.benchmark import BenchmarkPart, benchmark_part
from warehouse.analysis.report_data.changes import Changes, read_changes
from warehouse.analysis.report_data.partial_runs import stored_reliability
from warehouse.analysis.report_data.read import read_benchmarks
from warehouse.analysis.report_data.suite import SuitePart, suite_part
from warehouse.analysis.selection.benchmarks import read_names
from warehouse.analysis.selection.prompts import prompts_by_id
from warehouse.analysis.suites.tree import Suite, list_suites
from warehouse.errors import MisuseError, StatisticsError, did_you_mean
from warehouse.questions.leaderboard import Ranking
from warehouse.stats.core.inputs import as_level, as_seed
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Draws behind rank sets and simultaneous intervals.
RESAMPLES = 1999

_RUNS = "select benchmark, benchmark_id, run_id, n_scores from run_current order by benchmark nulls last"

Row = dict[str, Any]


@dataclass(frozen=True)
class ReportData:
    """Everything that the report shows.

    Attributes:
        suites: by name; those whose benchmarks are all shown.
        benchmarks: by name.
        published: rows of the view ``published_against_recomputed``.
        published_errors: rows of the view ``published_errors``.
        sources: rows of the view ``ingest_log``, with fewer columns: those that brought what is shown.
        n_other_sources: how many others the store knows.
        unscored: number of samples without a score, by run, metric and status.
        changes: of figures between the last two refreshes; None where fewer than two have ended.
        abilities: stored scales of item response models over what is shown.
        prompts: by id, what the single prompts that are named ask.
        level: nominal coverage of all intervals.
        n_resamples: draws behind rank sets and simultaneous intervals.
        seed: of the draws.
    """

    suites: tuple[SuitePart, ...]
    benchmarks: tuple[BenchmarkPart, ...]
    published: tuple[Row, ...]
    published_errors: tuple[Row, ...]
    sources: tuple[Row, ...]
    n_other_sources: int
    unscored: tuple[Row, ...]
    changes: Changes | None
    abilities: tuple[AbilityReport, ...]
    prompts: Mapping[int, Row]
    level: float
    n_resamples: int
    seed: int

    def __str__(self) -> str:
        return f"report on {len(self.benchmarks)} benchmarks from {len(self.sources)} sources"


def read_report(
    store: Store,
    benchmarks: Sequence[str] = (),
    *,
    level: float = 0.95,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> ReportData:
    """Compute what a report shows.

    A benchmark that has no leaderboard or no pairs is shown with the reason.

    Args:
        benchmarks: names, of suites too; none for all with current runs.
        level: nominal coverage of all intervals, in (0, 1).
        n_resamples: draws behind rank sets and simultaneous intervals; 0 leaves them out.
        seed: of the draws.
        progress: gets name, number done and number of all before each benchmark.

    Raises:
        MisuseError: a benchmark without current runs.
        StatisticsError: ``level``, ``n_resamples`` or ``seed`` out of range.
    """
    as_level(level)
    as_seed(seed)
    if n_resamples < 0:
        raise StatisticsError(f"the number of draws is 0 or more, found {n_resamples}")
    ranks = Ranking(level=level, n_resamples=n_resamples, seed=seed)
    runs: dict[str, list[Row]] = {}
    for row in store.rows(_RUNS):
        runs.setdefault(row["benchmark"], []).append(row)
    known, reliable = read_names(store), stored_reliability(store)
    suites = list_suites(known, {row["benchmark_id"] for own in runs.values() for row in own})
    names = _chosen(runs, benchmarks, suites)
    wanted = {name: runs[name] for name in names}
    parts = [
        replace(benchmark_part(reads, ranks), reliability=reliable.get(reads.name))
        for reads in read_benchmarks(store, known, wanted, ranks, progress)
    ]
    chosen = set(names) if benchmarks else None
    source_ids = {row["source_id"] for row in _stored(store, "report_run_sources") if row["benchmark"] in set(names)}
    log = _stored(store, "report_sources")
    sources = tuple(row for row in log if row["source_id"] in source_ids)
    shown = [suite for suite in suites.values() if {leaf.name for leaf in suite.leaves} <= set(names)]
    return ReportData(
        suites=tuple(replace(suite_part(store, suite, level), reliability=reliable.get(suite.name)) for suite in shown),
        benchmarks=tuple(parts),
        published=_of(chosen, _stored(store, "report_published")),
        published_errors=_of(chosen, _stored(store, "report_published_errors")),
        sources=sources,
        n_other_sources=len(log) - len(sources),
        unscored=_of(chosen, _stored(store, "report_unscored")),
        changes=read_changes(store, chosen),
        abilities=stored_abilities(store, known, names),
        prompts=_named_prompts(store, parts),
        level=level,
        n_resamples=n_resamples,
        seed=seed,
    )


def _named_prompts(store: Store, parts: Sequence[BenchmarkPart]) -> dict[int, Row]:
    """The single prompts that parts name, read at once."""
    ids = [prompt for part in parts if part.hard for prompt in part.hard.prompts]
    return prompts_by_id(store, ids) if ids else {}


def _chosen(known: Collection[str], wanted: Sequence[str], suites: Mapping[str, Suite]) -> list[str]:
    """Benchmarks with current runs that were asked for, by name; a suite stands for its leaves."""
    unknown = [name for name in wanted if name not in known and name not in suites]
    if unknown:
        hint = did_you_mean(unknown[0], [*known, *suites], "names are listed by: warehouse benchmarks")
        raise MisuseError(f"no current run on benchmark {unknown[0]!r}; {hint}")
    leaves = {name: {leaf.name for leaf in suite.leaves} for name, suite in suites.items()}
    chosen = {leaf for name in wanted for leaf in leaves.get(name, {name})}
    return [name for name in known if name in chosen] if wanted else list(known)


def _stored(store: Store, name: str) -> list[Row]:
    """Rows of a query in ``queries/analysis``, the same ones whenever the store holds the same: engines
    add up in an order of their own, which changes the last digits of a mean."""
    return [
        {field: _settled(value) for field, value in row.items()} for row in store.rows(query_text("analysis", name))
    ]


def _settled(value: Any) -> Any:
    """A number to twelve digits; one that is nothing beside scores is 0."""
    if not isinstance(value, float):
        return value
    return 0.0 if abs(value) < 1e-12 else float(f"{value:.12g}")


def _of(chosen: set[str] | None, rows: list[Row]) -> tuple[Row, ...]:
    return tuple(row for row in rows if chosen is None or row["benchmark"] in chosen)
