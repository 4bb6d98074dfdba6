"""The data of a report of the whole store: every benchmark, and how the data came in.

A report keeps no memory of the one before. Refreshes do, and a schedule writes a report
after each: so the figures of the refresh before the newest are those that the last
report showed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from warehouse.analysis.board.published_notes import lines_of
from warehouse.analysis.families.family import GONE, key_of, model_of
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.report_data.benchmark import benchmark_part, suite_sections
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting
from warehouse.analysis.report_data.read import benchmarks_with_votes, read_benchmarks
from warehouse.analysis.report_data.run_facts import RunFacts, run_facts
from warehouse.analysis.report_data.section_table import section_kinds
from warehouse.analysis.report_data.suite_part import SuitePart, suite_part
from warehouse.analysis.selection.benchmarks import (
    BenchmarkNames,
    find_among,
    read_names,
)
from warehouse.analysis.selection.prompts import prompts_by_id
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.suites.across import mean_of_ranked, ranked_models
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.analysis.suites.tree import Suite, list_suites
from warehouse.errors import MisuseError, StatisticsError, did_you_mean
from warehouse.questions.options import REPEATS_AUTO, SEEDS_TRAINING
from warehouse.stats.core.inputs import as_level, as_seed
from warehouse.stats.multiple.sign_sums import load_compiler
from warehouse.store.columns import give_back_memory, in_parts
from warehouse.store.computed import result_cache
from warehouse.store.connection import Store
from warehouse.store.open import open_store
from warehouse.store.shared_reads import blocks_of, runs_by_benchmark
from warehouse.store.sql.query_files import query_text

if TYPE_CHECKING:
    from warehouse.analysis.irt.ability_view import AbilityReport

#: Draws behind rank sets and simultaneous intervals.
RESAMPLES = 1999


Row = dict[str, Any]


@dataclass(frozen=True)
class ReportData:
    """Everything that the report shows."""

    suites: tuple[SuitePart, ...]  #: by name; those whose benchmarks are all shown.
    benchmarks: tuple[BenchmarkPart, ...]  #: by name.
    published: tuple[Row, ...]  #: rows of the view ``published_against_recomputed``.
    published_errors: tuple[Row, ...]  #: rows of the view ``published_errors``.
    #: what is wrong with published figures, or to be asked about, a sentence each.
    published_said: tuple[str, ...]
    #: rows of the view ``ingest_log``, with fewer columns: those that brought what is
    #: shown.
    sources: tuple[Row, ...]
    n_other_sources: int  #: how many others the store knows.
    #: number of samples without a score, by run, metric and status.
    unscored: tuple[Row, ...]
    #: of figures between the last two refreshes; None where fewer than two have ended.
    changes: Changes | None
    #: stored scales of item response models over what is shown.
    abilities: tuple[AbilityReport, ...]
    level: float  #: nominal coverage of all intervals.
    n_resamples: int  #: draws behind rank sets and simultaneous intervals.
    seed: int  #: of the draws.
    #: what stands apart: ``seed`` or ``checkpoint``; None: one row a model.
    each: str | None = None
    repeats: str = REPEATS_AUTO  #: what becomes of repeats of one condition.
    seeds_are: str = SEEDS_TRAINING  #: what the seed of a run is of.
    #: the mean over benchmarks of the models that have all of them; None without one.
    mean: SuiteBoard | None = None

    def __str__(self) -> str:
        return (
            f"report on {len(self.benchmarks)} benchmarks from {len(self.sources)} "
            "sources"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the benchmarks."""
        return tuple(part.name for part in self.benchmarks)

    @property
    def rest(self) -> ReportData:
        """The part that is not of one benchmark."""
        return replace(self, benchmarks=())

    def parts(self) -> Iterator[BenchmarkPart]:
        """The benchmarks, one after the other."""
        return iter(self.benchmarks)

    def mean_of(self, _ranked: Mapping[str, Collection[str]]) -> SuiteBoard | None:
        """The mean over benchmarks, which was read with them."""
        return self.mean


#: Pairs of models that are in memory at once, beside what the store's reads take.
MOST_PAIRS = 250_000


class ReportReading:
    """A report that is read one benchmark after the other, so that memory holds few of
    them.

    Args:
        benchmarks: names, of suites too; none for all with current runs.
        level: nominal coverage of all intervals, in (0, 1).
        n_resamples: draws behind rank sets and simultaneous intervals; 0 leaves them
            out.
        seed: of the draws.
        each, repeats, seeds_are: what makes a row, as of `AsRows`.
        progress: gets name, number done and number of all before each benchmark.

    Attributes:
        names: of the benchmarks.
        ranks: what makes a row, level of all intervals, and draws behind rank sets.
    Raises:
        MisuseError: a benchmark without current runs.
        StatisticsError: ``level``, ``n_resamples`` or ``seed`` out of range.
    """

    def __init__(
        self,
        store: Store,
        benchmarks: Sequence[str] = (),
        *,
        level: float = 0.95,
        n_resamples: int = RESAMPLES,
        seed: int = 0,
        each: str | None = None,
        repeats: str = REPEATS_AUTO,
        seeds_are: str = SEEDS_TRAINING,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> None:
        as_level(level)
        as_seed(seed)
        if n_resamples < 0:
            raise StatisticsError(
                f"the number of draws is 0 or more, found {n_resamples}"
            )
        self._store, self._progress = store, progress
        self.ranks = Ranking(
            level=level,
            n_resamples=n_resamples,
            seed=seed,
            each=each,
            repeats=repeats,
            seeds_are=seeds_are,
        )
        self._benchmark_names = read_names(store)
        self._setting = ReportSetting(store, self._benchmark_names, self.ranks)
        voted = benchmarks_with_votes(store, self._benchmark_names)
        runs = dict(
            sorted((dict.fromkeys(voted, []) | runs_by_benchmark(store)).items())
        )
        all_runs = chain.from_iterable(runs.values())
        self._suites = list_suites(
            self._benchmark_names, {row["benchmark_id"] for row in all_runs}
        )
        self.names = tuple(_chosen(runs, benchmarks, self._suites))
        self._runs = {name: runs[name] for name in self.names}
        self._chosen = set(self.names) if benchmarks else None

    @cached_property
    def _facts(self) -> Mapping[int, RunFacts]:
        """Read of all runs at once: what they cost is summed up over the whole store."""
        all_runs = chain.from_iterable(self._runs.values())
        return run_facts(self._store, (row["run_id"] for row in all_runs))

    @property
    def other_process_reader(self) -> OtherProcessReader | None:
        """How another process reads the same; None where none can: of a lake, or beside
        a writer."""
        store = self._store
        names = tuple(self.names)
        url = store.url.render_as_string(hide_password=False)
        if store.write or store.dialect.is_lake:
            return None
        return OtherProcessReader(url, names, self.ranks)

    def blocks(self) -> list[list[str]]:
        """Names of the benchmarks that are read together."""
        return list(blocks_of(self._runs))

    def begin(self, name: str, done: int) -> None:
        """Say that a benchmark is begun."""
        if self._progress is not None:
            self._progress(name, done, len(self.names))

    def parts(self, names: Collection[str] | None = None) -> Iterator[BenchmarkPart]:
        """The benchmarks, or some of them; one that has no leaderboard or no pairs has
        the reason."""
        runs = {
            name: own
            for name, own in self._runs.items()
            if names is None or name in names
        }
        load_compiler(map(len, runs.values()), self.ranks.n_resamples)
        readers = section_kinds().values()
        reads = read_benchmarks(
            self._store,
            self._benchmark_names,
            runs,
            self.ranks,
            readers,
            self._progress,
        )
        facts = self._facts
        parts = (
            replace(
                benchmark_part(own, self._setting),
                facts={
                    run: facts[run]
                    for row in runs[own.name]
                    if (run := row["run_id"]) in facts
                },
            )
            for own in reads
        )
        # the single prompts that parts name are read as often as scores; memory that
        # benchmarks leave (7 MB each of 100 models) is given back then
        blocks = (islice(parts, len(block)) for block in blocks_of(runs))
        for some in chain.from_iterable(
            in_parts(block, lambda part: part.weight, MOST_PAIRS) for block in blocks
        ):
            ids = _prompts_named_by(some)
            prompts = prompts_by_id(self._store, ids) if ids else {}
            while some:  # whoever takes one has it alone
                yield replace(some.pop(0), prompts=prompts)
            give_back_memory()

    @cached_property
    def rest(self) -> ReportData:
        """The part that is not of one benchmark."""
        store, chosen, names = self._store, self._chosen, {*self.names}
        source_ids = {
            row["source_id"]
            for row in _stored(store, "report_run_sources")
            if row["benchmark"] in names
        }
        log = _stored(store, "report_sources")
        sources = tuple(row for row in log if row["source_id"] in source_ids)
        shown = []
        for suite in self._suites.values():
            if {leaf.name for leaf in suite.leaves} <= names:
                shown.append(suite)
        # The queries go through all scores before they find that nobody published a
        # figure, or that none is missing.
        publishes = bool(store.rows("select 1 as one from published_score limit 1"))
        lacks = bool(
            store.rows("select 1 as one from prompt_score where n_unscored > 0 limit 1")
        )
        return ReportData(
            suites=tuple(
                replace(
                    suite_part(store, suite, self.ranks),
                    sections=suite_sections(suite.name, self._setting),
                )
                for suite in shown
            ),
            benchmarks=(),
            published=_of(chosen, _stored(store, "report_published"))
            if publishes
            else (),
            published_errors=_of(chosen, _stored(store, "report_published_errors"))
            if publishes
            else (),
            published_said=lines_of(
                store, benchmarks=names | {suite.name for suite in shown}
            )
            if publishes
            else (),
            sources=sources,
            n_other_sources=len(log) - len(sources),
            unscored=_of(chosen, _stored(store, "report_unscored")) if lacks else (),
            changes=read_changes(store, chosen),
            abilities=stored_abilities(store, self._benchmark_names, self.names),
            level=self.ranks.level,
            n_resamples=self.ranks.n_resamples,
            seed=self.ranks.seed,
            each=self.ranks.each,
            repeats=self.ranks.repeats,
            seeds_are=self.ranks.seeds_are,
        )

    def mean_of(self, ranked: Mapping[str, Collection[str]]) -> SuiteBoard | None:
        """The mean over benchmarks of the models that have all of them; None where
        there is none.

        Args:
            ranked: the models that each leaderboard ranks.
        """
        own = self.ranks
        question = AnyLeaderboard(
            level=own.level,
            seed=own.seed,
            n_resamples=0,
            each=own.each,
            repeats=own.repeats,
            seeds_are=own.seeds_are,
        )
        return mean_of_ranked(self._store, ranked, question)


@dataclass(frozen=True)
class OtherProcessReader:
    """A recipe by which another process reads the same report."""

    url: str  #: of the store.
    names: tuple[str, ...]  #: of the benchmarks.
    ranks: Ranking  #: as of the `ReportReading`.

    def open(self) -> ReportReading:
        """The report, of a store that is opened for as long as the process lives."""
        store = open_store(self.url, check=False)
        ranks = self.ranks
        return ReportReading(
            store,
            self.names,
            level=ranks.level,
            n_resamples=ranks.n_resamples,
            seed=ranks.seed,
            each=ranks.each,
            repeats=ranks.repeats,
            seeds_are=ranks.seeds_are,
        )


def read_report(
    store: Store, benchmarks: Sequence[str] = (), **options: Any
) -> ReportData:
    """All that a report shows, at once; arguments as for :class:`ReportReading`."""
    reading = ReportReading(store, benchmarks, **options)
    parts = tuple(reading.parts())
    ranked = {part.name: ranked_models(part.board) for part in parts if part.board}
    return replace(reading.rest, benchmarks=parts, mean=reading.mean_of(ranked))


def _chosen(
    benchmarks: Collection[str], names: Sequence[str], suites: Mapping[str, Suite]
) -> list[str]:
    """The requested benchmarks that have current runs, by name; a suite expands to its
    benchmarks."""
    unknown = [name for name in names if name not in benchmarks and name not in suites]
    if unknown:
        hint = did_you_mean(
            unknown[0], [*benchmarks, *suites], "see: warehouse list benchmarks"
        )
        raise MisuseError(f"no current run on benchmark {unknown[0]!r}; {hint}")
    leaves = {}
    for name, suite in suites.items():
        leaves[name] = {leaf.name for leaf in suite.leaves}
    chosen = set(chain.from_iterable(leaves.get(name, {name}) for name in names))
    if names:
        return [name for name in benchmarks if name in chosen]
    return list(benchmarks)


def _prompts_named_by(parts: Sequence[BenchmarkPart]) -> list[int]:
    # in a function of its own: nothing here may hold a part that somebody took
    ids: list[int] = []
    for part in parts:
        for section in part.sections.values():
            ids.extend(section.prompts)
    return ids


def _stored(store: Store, name: str) -> list[Row]:
    """Rows of a query in ``queries/analysis``, the same ones whenever the store holds
    the same: engines add up in an order of their own, which changes the last digits of
    a mean."""
    settled = []
    for row in store.rows(query_text("analysis", name)):
        settled.append({field: _settled(value) for field, value in row.items()})
    return settled


def _settled(value: Any) -> Any:
    """A number rounded to twelve digits; 0 if it is negligible next to scores."""
    if not isinstance(value, float):
        return value
    if abs(value) < 1e-12:
        return 0.0
    return float(f"{value:.12g}")


def _of(chosen: set[str] | None, rows: list[Row]) -> tuple[Row, ...]:
    return tuple(row for row in rows if chosen is None or row["benchmark"] in chosen)


#: Scales that are shown.
MOST = 5


def stored_abilities(
    store: Store, names: BenchmarkNames, benchmarks: Collection[str]
) -> tuple[AbilityReport, ...]:
    """Stored scales over benchmarks that are all shown, of the answers as they are now,
    the newest first.

    Args:
        names: of all benchmarks.
        benchmarks: names of those that are shown.
    """
    subjects = [
        subject
        for subject in sorted(result_cache.analysed_subjects(store))
        if {*subject.split(", ")} <= {*benchmarks}
    ]
    if not subjects:
        return ()
    from warehouse.analysis.irt.ability_view import AbilityReport
    from warehouse.analysis.irt.answer import METHOD_VERSION

    reports: list[AbilityReport] = []
    for subject in subjects:
        for kept in result_cache.kept(store, subject, METHOD_VERSION):
            if kept.kind != "irt_ability" or len(reports) >= MOST:
                continue
            report = AbilityReport.from_dict(result_cache.result_of(store, kept))
            if report.input_fingerprint == _fingerprint(
                store, names, report, kept.parameters
            ):
                reports.append(report)
                break
    return tuple(reports)


def _fingerprint(
    store: Store, names: BenchmarkNames, report: AbilityReport, options: dict[str, Any]
) -> str:
    """The fingerprint of the answers as they are now; empty where they make no pool."""
    from warehouse.analysis.irt.pool import read_pool

    selection = Selection(
        None,
        options["metric"],
        tuple(options["where"]),
        options["cluster"],
        options["latest"],
    )
    try:
        leaves = [find_among(store, names, name) for name in sorted(report.benchmarks)]
        return read_pool(store, leaves, selection).fingerprint
    except MisuseError:
        return ""


@dataclass(frozen=True)
class ScoreChange:
    """A score that is new, has moved or is gone."""

    benchmark: str  #: name of the benchmark.
    model: str  #: name of the model, with the head of its condition's key where it has several.
    metric: str  #: name of the metric.
    before: float | None  #: figure of the refresh before; None for a new one.
    now: float | None  #: figure of the newest refresh; None for one that is gone.
    standard_error: float | None  #: of ``now``.
    low: float | None  #: lower end of the interval of ``now``.
    high: float | None  #: upper end of it.
    rank_before: int | None = None  #: rank of the refresh before; None if unknown.
    #: rank of the newest one; None if it did not change, or is unknown.
    rank_now: int | None = None

    @property
    def leads_now(self) -> bool:
        """It is first, and was not."""
        return self.rank_now == 1 and self.rank_before != 1


@dataclass(frozen=True)
class Changes:
    """Changes by the newest refresh."""

    refreshed_at: datetime  #: its end, UTC.
    previous_at: datetime  #: end of the refresh before, UTC.
    rows: tuple[ScoreChange, ...]  #: by benchmark, the largest change first.

    @property
    def moved(self) -> tuple[ScoreChange, ...]:
        """Figures that were there before and are another now."""
        return tuple(
            row for row in self.rows if row.before is not None and row.now is not None
        )

    @property
    def new(self) -> tuple[ScoreChange, ...]:
        """Figures that were not there before."""
        return tuple(row for row in self.rows if row.before is None)

    @property
    def gone(self) -> tuple[ScoreChange, ...]:
        """Figures that are no longer there."""
        return tuple(row for row in self.rows if row.now is None)


def read_changes(store: Store, benchmarks: Collection[str] | None) -> Changes | None:
    """Changes between the last two refreshes; None where fewer than two have ended.

    Args:
        benchmarks: names of those that are shown; None for all.
    """
    stored = store.rows(query_text("analysis/report_data", "report_changes"))
    if not stored:
        return None
    shown = [
        row
        for row in stored
        if row["subject"] and (benchmarks is None or row["benchmark"] in benchmarks)
    ]
    ranks = {
        (row["benchmark"], row["subject"]): row
        for row in shown
        if row["statistic"] == "rank"
    }
    scores = [row for row in shown if row["statistic"] == "score"]
    changes = [
        _change(row, ranks.get((row["benchmark"], row["subject"])), scores)
        for row in scores
    ]
    kept = [change for change in changes if change.before != change.now]
    kept.sort(
        key=lambda change: (
            change.benchmark,
            -abs((change.now or 0.0) - (change.before or 0.0)),
            change.model,
        )
    )
    return Changes(stored[0]["refreshed_at"], stored[0]["previous_at"], tuple(kept))


def _change(
    row: dict[str, Any], rank: dict[str, Any] | None, scores: Sequence[dict[str, Any]]
) -> ScoreChange:
    model = model_of(row["subject"])
    alike = [
        score
        for score in scores
        if score["benchmark"] == row["benchmark"]
        and model_of(score["subject"]) == model
    ]
    gone = row["method"] == GONE
    if gone:
        now = standard_error = low = high = rank_now = None
    else:
        now = row["estimate"]
        standard_error = row["standard_error"]
        low = row["low"]
        high = row["high"]
        rank_now = _whole(rank, "estimate")
    return ScoreChange(
        benchmark=row["benchmark"],
        model=f"{model} #{key_of(row['subject'])[:6]}" if len(alike) > 1 else model,
        metric=row["metric"],
        before=row["previous_estimate"],
        now=now,
        standard_error=standard_error,
        low=low,
        high=high,
        rank_before=_whole(rank, "previous_estimate"),
        rank_now=rank_now,
    )


def _whole(row: dict[str, Any] | None, name: str) -> int | None:
    if row is None or row[name] is None:
        return None
    return int(row[name])
