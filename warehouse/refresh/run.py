"""One refresh: what is stale is computed and nothing else, safe to kill at any point."""

from __future__ import annotations

import os
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from itertools import groupby
from typing import Any
from uuid import uuid4

from warehouse.analysis.families import choose_families
from warehouse.analysis.families.benchmark_data import read_all, run_digests
from warehouse.analysis.families.family import GONE, Family, FamilySettings
from warehouse.analysis.selection.conditions import Run
from warehouse.records.clock import utc_now
from warehouse.refresh.plan import (
    PlannedQuestion,
    RefreshPlan,
    computed,
    family_of,
    gone_row,
    key_of_row,
    make_plan,
    notes_on_others,
    row_of,
)
from warehouse.refresh.results import Refreshed, RefreshedFamilyRow, StaleList, StaleRow
from warehouse.store.columns import in_parts
from warehouse.store.computed import metric_values
from warehouse.store.computed.metric_values import DUE, MARKS, TOLD
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.shared_reads import in_blocks
from warehouse.tracing import span

#: Prompt scores that are read at a time, before the store is let go.
ROWS_AT_ONCE = 2_000_000
#: Seconds of computing after which figures are written, so that little is lost when
#: killed.
WRITE_AFTER = 2.0
#: Counts that the span of a refresh tells.
TRACED = ("recomputed", "resumed", "fresh", "failed", "values", "gone")

Clock = Callable[[], datetime]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class RefreshRequest:
    """What a refresh is asked for."""

    #: names, or families of your own; all but those that take long, if empty.
    families: tuple[str | Family, ...] = ()
    benchmarks: tuple[str, ...] = ()  #: names; all, if empty.
    settings: FamilySettings = FamilySettings()  #: that hold for all figures.
    #: that alerts are told on, marked in the store until they have (`deliver_alerts`).
    channels: tuple[str, ...] = ()


def list_stale(
    opener: StoreOpener, work: RefreshRequest = RefreshRequest()
) -> StaleList:
    """What a refresh would recompute, and why (MisuseError: an unknown family or
    benchmark)."""
    plan, notes, _ = _read(opener, work, choose_families(work.families))
    rows = [
        StaleRow(
            planned.family.name,
            planned.data.benchmark.name,
            planned.question.subject,
            "resumed" if planned.name in plan.resumed else planned.why,
        )
        for planned in plan.questions
        if planned.why
    ]
    rows += [
        StaleRow(
            family_of(row["input_fingerprint"]), row["benchmark"], row["subject"], GONE
        )
        for row in plan.gone
    ]
    fresh = sum(not planned.why for planned in plan.questions)
    return StaleList(tuple(rows), fresh, (*notes, *plan.failures))


def refresh(
    opener: StoreOpener,
    work: RefreshRequest = RefreshRequest(),
    *,
    wait: float = 10.0,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
    lake: str | None = None,
    clock: Clock = utc_now,
) -> Refreshed:
    """Recompute what is stale, as `Warehouse.refresh` says.

    Args:
        wait: seconds to wait for another refresh of this store.
        say: told if there is something to wait for, and what became of the lake.
        clock: naive UTC.

    Raises:
        StoreError: the store cannot be opened or written; and those of
            `Warehouse.refresh`.
    """
    families = choose_families(work.families)
    if lake is not None:
        from warehouse.store.lake.sync import require_fit, sync

        with opener.reading() as store:
            require_fit(store, lake)  # before anything is computed for nothing
    with (
        metric_values.holding(opener.reading, wait, say),
        span("warehouse.refresh.figures") as about,
    ):
        refreshed = _Refresh(opener, work, families, clock).run(progress)
        about.set(
            refresh_id=refreshed.refresh_id,
            **{name: refreshed.total(name) for name in TRACED},
        )
    if lake is not None:
        with opener.reading() as store:
            synced = sync(store, lake)
        if say:
            say(str(synced))
    return refreshed


def _read(
    opener: StoreOpener, work: RefreshRequest, families: Sequence[Family]
) -> tuple[RefreshPlan, list[str], int | None]:
    """The plan, notes, and the id of an unfinished refresh."""
    with opener.reading() as store:
        current = metric_values.current_values(store)
        read = read_all(
            store,
            opener,
            work.settings.baselines,
            work.benchmarks,
            {value["benchmark"] for value in current},
        )
        dead = metric_values.unfinished(store)
        done = []
        if dead:
            done = metric_values.values_of(store, dead["id"])
    names = None
    if work.benchmarks:
        names = read.names
    plan = make_plan(families, read.benchmarks, work.settings, current, done, names)
    notes = [*read.notes]
    notes += notes_on_others(families, read.benchmarks, work.settings, current, names)
    return plan, notes, dead["id"] if dead else None


class _Refresh:
    """One refresh while it runs."""

    def __init__(
        self,
        opener: StoreOpener,
        work: RefreshRequest,
        families: Sequence[Family],
        clock: Clock,
    ) -> None:
        self.opener, self.work, self.clock = opener, work, clock
        self.started = time.monotonic()
        self.holder = (
            f"process {os.getpid()} on {socket.gethostname()} ({uuid4().hex[:8]})"
        )
        self.plan, self.notes, self.adopted = _read(opener, work, families)
        self.failures = list(self.plan.failures)
        self.counts: dict[str, Counter[str]] = {
            family.name: Counter() for family in families
        }
        self.seconds: dict[str, float] = defaultdict(float)
        self.waiting: list[tuple[PlannedQuestion, list[dict[str, Any]]]] = []
        self.overtaken = 0
        self.written = time.monotonic()
        self.id = 0

    def run(self, progress: Progress | None) -> Refreshed:
        for planned in self.plan.questions:
            name = "fresh"
            if planned.why:
                name = ""
            if planned.name in self.plan.resumed:
                name = "resumed"
            self.counts[planned.family.name][name] += 1
        stale = self.plan.stale
        if stale:
            with self.opener.writing() as store:
                self._begin(store)
        for index, question in enumerate(_fetched(stale, self.opener), start=1):
            self._answer(question)
            if time.monotonic() - self.written > WRITE_AFTER:
                self._write()
            if progress:
                progress(index, len(stale))
        return self._finish()

    def _begin(self, store: Store) -> None:
        parameters = {
            "holder": self.holder,
            "families": list(self.counts),
            "benchmarks": list(self.work.benchmarks),
            "settings": asdict(self.work.settings),
        }
        self.id = metric_values.begin(
            store,
            parameters,
            version("eval-warehouse"),
            self.clock(),
            self.adopted,
            self.plan.outdated,
        )

    def _answer(self, question: PlannedQuestion) -> None:
        family, begun = question.family, time.monotonic()
        attributes = {
            "family": family.name,
            "benchmark": question.data.benchmark.name,
            "subject": question.question.subject,
        }
        try:
            with span("warehouse.refresh.figure", **attributes):
                values = computed(question, self.work.settings)
        except Exception as error:  # a plug-in may raise anything; the others go on
            self.counts[family.name]["failed"] += 1
            where = (
                f"{family.name} of {question.question.subject} on "
                f"{question.data.benchmark.name}"
            )
            self.failures.append(f"{where}: {type(error).__name__}: {error}")
            return
        finally:
            self.seconds[family.name] += time.monotonic() - begun
        rows = [row_of(question, value) for value in values]
        kept = {key_of_row(row) for row in rows}
        rows += [
            gone_row(row, question.fingerprint)
            for row in self.plan.stored.get(question.name, ())
            if key_of_row(row) not in kept
        ]
        self.waiting.append((question, rows))

    def _write(self) -> None:
        if self.waiting:
            with self.opener.writing() as store:
                metric_values.add_values(
                    store, self.id, self.holder, self._holding(store)
                )
        self.waiting, self.written = [], time.monotonic()

    def _holding(self, store: Store) -> list[dict[str, Any]]:
        """Rows that wait, but for answers whose runs changed while they were computed:
        scores may have gone while they were read, and have come back as another run
        with equal content."""
        now = {}
        if self.waiting:
            now = run_digests(store)
        kept: list[dict[str, Any]] = []
        for question, rows in self.waiting:
            data = question.data
            runs: list[int] = []
            for key in question.question.conditions:
                runs += data.conditions[key].run_ids
            if any(now.get(run) != data.digests[run] for run in runs):
                self.overtaken += 1
                continue
            gone = sum(row["method"] == GONE for row in rows)
            counts = self.counts[question.family.name]
            counts.update(recomputed=1, values=len(rows) - gone, gone=gone)
            kept += rows
        return kept

    def _finish(self) -> Refreshed:
        with self.opener.writing() as store:
            if not self.plan.stale:
                self._begin(store)
            rows = self._holding(store)
            for value in self.plan.gone:
                family = family_of(value["input_fingerprint"])
                rows.append(gone_row(value, value["input_fingerprint"]))
                self.counts[family]["gone"] += 1
            refreshed = self._summary()
            metric_values.finish(
                store,
                self.id,
                self.holder,
                rows,
                summary=refreshed.summary() | self._marks(),
                state="failed" if self.failures else "complete",
                now=self.clock(),
            )
        return refreshed

    def _summary(self) -> Refreshed:
        if self.overtaken:
            self.notes.append(
                f"{self.overtaken} answers are left for the next refresh: their runs "
                "changed while they were computed"
            )
        return Refreshed(
            rows=tuple(self._family_row(name) for name in self.counts),
            refresh_id=self.id,
            seconds=time.monotonic() - self.started,
            failures=tuple(self.failures),
            notes=tuple(self.notes),
        )

    def _marks(self) -> dict[str, Any]:
        """Alerts are due with the figures, in one transaction; without any there are
        none."""
        if not self.work.channels:
            return {}
        due = TOLD
        for counts in self.counts.values():
            if counts["values"] or counts["gone"] or counts["resumed"]:
                due = DUE
        return {MARKS: dict.fromkeys(self.work.channels, due)}

    def _family_row(self, name: str) -> RefreshedFamilyRow:
        counts = self.counts[name]
        named = {name: counts[name] for name in TRACED}
        return RefreshedFamilyRow(
            family=name, **named, seconds=round(self.seconds[name], 3)
        )


def _fetched(
    stale: Sequence[PlannedQuestion], opener: StoreOpener
) -> Iterator[PlannedQuestion]:
    """The questions in their order, with the scores of several benchmarks read at a
    time."""
    for chunk in _chunks(stale):
        runs = {index: _runs(questions) for index, questions in enumerate(chunk)}
        with opener.reading() as store:
            for index, shared in in_blocks(store, runs):
                questions = chunk[index]
                questions[0].data.fetch(shared, _conditions(questions))
        for questions in chunk:
            yield from questions
            questions[0].data.drop()


def _chunks(stale: Sequence[PlannedQuestion]) -> Iterator[list[list[PlannedQuestion]]]:
    """Questions by benchmark, so many benchmarks as are read at once."""
    by_benchmark = (
        list(members)
        for _, members in groupby(
            stale, key=lambda planned: planned.data.benchmark.name
        )
    )
    return in_parts(
        by_benchmark,
        lambda questions: sum(run["n_found"] for run in _runs(questions)),
        ROWS_AT_ONCE,
    )


def _runs(questions: Sequence[PlannedQuestion]) -> list[Run]:
    """Runs of the conditions that questions on one benchmark ask for."""
    conditions = questions[0].data.conditions
    runs: list[Run] = []
    for key in set(_conditions(questions)):
        runs += conditions[key].runs
    return runs


def _conditions(questions: Sequence[PlannedQuestion]) -> list[str]:
    """Keys of the conditions that questions ask for, one question after the other."""
    keys: list[str] = []
    for planned in questions:
        keys += planned.question.conditions
    return keys
