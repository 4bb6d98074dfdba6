"""The job: ingest of watched folders, refresh, alerts, published copy, lake, report.

Each step is tried whatever became of the others; what goes wrong is an event, not an
exception.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.ingest.file_rules import ADVICE, NO_RULES, FileRules, is_data
from warehouse.ingest.progress import Silent
from warehouse.ingest.remote_hosts import shown_url
from warehouse.records.clock import utc_now
from warehouse.refresh.alerts import Alert, Alerts, Rules
from warehouse.refresh.deliver_alerts import Channel
from warehouse.refresh.run import RefreshRequest
from warehouse.schedule.log import JobLog, Level
from warehouse.schedule.worker import FINISHED
from warehouse.store.connection import Store
from warehouse.store.engines import store_failure
from warehouse.store.open import StoreOpener, open_store
from warehouse.store.snapshot import PublishedCopy
from warehouse.tracing import span

#: Events of one kind that one step tells; the rest is counted.
MOST_LOGGED = 40
#: How a job can go, from good to bad, and the level at which that is told.
RESULTS: dict[str, Level] = {
    "ok": "info",
    "alerts": "warning",
    "incomplete": "warning",
    "failed": "error",
    "stopped": "warning",
}


@dataclass(frozen=True)
class Job:
    """What is to be done."""

    watch: tuple[str, ...] = ()  #: folders, files or URLs to ingest.
    settle: float = 2.0  #: seconds for which a file has to be unchanged, else it waits for the next run.
    #: which mapping reads which files, and which hold no results.
    rules_on_files: FileRules = NO_RULES
    work: RefreshRequest = RefreshRequest()  #: what to refresh.
    rules: Rules = Rules()  #: of the alerts.
    webhook: str = ""  #: told the alerts; empty: nobody.
    prune: timedelta | None = None  #: age of figures that are forgotten; None: none.
    publish: str = ""  #: path of the published copy; empty: none.
    lake: str = ""  #: where a lake is that is brought up; empty: none.
    report: str = ""  #: path of the page; empty: none.
    board: tuple[str, ...] = ()  #: published tables to look at: files and folders.


class _JobStopped(Exception):
    """Somebody asked the job to stop, and it has come to a point where it can."""


@dataclass
class Outcome:
    """How the job went."""

    #: ``ok``; ``alerts``; ``incomplete`` (a source was refused, a file read by nobody, a
    #: figure failed); ``failed`` (a step failed); ``stopped``; the worst of them.
    result: str = "ok"
    #: 0, or the highest of its mistakes: 1 alerts and figures, 3 refused sources and
    #: files that nobody read.
    exit_code: int = 0
    counts: dict[str, int] = field(default_factory=dict)  #: of what was done.

    def note(self, result: str, exit_code: int = 1) -> None:
        """Record an outcome; the worst one is kept."""
        self.result = max(self.result, result, key=list(RESULTS).index)
        self.exit_code = max(self.exit_code, exit_code)

    def add(self, **counts: int) -> None:
        """Count what was done."""
        for name, number in counts.items():
            self.counts[name] = self.counts.get(name, 0) + number


def run_job(
    job: Job,
    opener: StoreOpener,
    log: JobLog,
    stopped: Callable[[], bool],
    *,
    create: Callable[[], AbstractContextManager[Store]],
    publish: Callable[[str], PublishedCopy],
    wait: float = 10.0,
) -> Outcome:
    """Do the job once.

    Args:
        opener: how to open the store; it is open only for as long as a step needs it.
        log: told each step, and at the end how it went.
        stopped: asked between sources, questions and benchmarks whether to end.
        create: opens the store for writing, made if there is none.
        publish: writes a copy of it to a path.
        wait: seconds to wait for another refresh.
    """
    run = _JobRun(job, opener, log, stopped, create, publish, wait)
    begun = time.monotonic()
    outcome = run.outcome
    with span("warehouse.job") as about:
        try:
            run.all()
        except _JobStopped:
            outcome.note("stopped")
        about.set(result=outcome.result, exit_code=outcome.exit_code, **outcome.counts)
        if outcome.result == "failed":
            about.failed("a step failed")
    log.write(
        FINISHED,
        RESULTS[outcome.result],
        result=outcome.result,
        exit_code=outcome.exit_code,
        seconds=round(time.monotonic() - begun, 3),
        **outcome.counts,
    )
    return outcome


class _JobRun:
    """One run of a job."""

    def __init__(
        self,
        job: Job,
        opener: StoreOpener,
        log: JobLog,
        stopped: Callable[[], bool],
        create: Callable[[], AbstractContextManager[Store]],
        publish: Callable[[str], PublishedCopy],
        wait: float,
    ) -> None:
        self.job, self.opener, self.log, self.stopped = job, opener, log, stopped
        self.create, self.publish, self.wait = create, publish, wait
        self.outcome = Outcome()
        self.refresh_id: int | None = None
        self.copy = ""

    def all(self) -> None:
        """Every step that is asked for, in order."""
        for folder in self.job.watch:
            self._step(
                "ingest", partial(self._ingest, folder), folder=shown_url(folder)
            )
        self._step("refresh", self._refresh)
        if self.refresh_id is not None:
            self._step("alerts", partial(self._alert, self.refresh_id))
        for path in self.job.board:
            self._step("board", partial(self._board, path), path=path)
        if self.job.prune is not None:
            self._step("prune", partial(self._prune, self.job.prune))
        if self.job.publish:
            self._step("publish", self._publish)
        if self.job.lake:
            self._step("lake", self._lake)
        if self.job.report:
            self._step("report", self._report)

    def _step(self, name: str, do: Callable[[], dict[str, Any]], **about: Any) -> None:
        self._check()
        self.log.write("step_started", step=name, **about)
        begun = time.monotonic()
        with span(f"warehouse.{name}", **about) as seen:
            try:
                details = do()
            except _JobStopped:
                raise
            except (
                Exception
            ) as raised:  # whatever it is, the next step and the next run come
                error = store_failure(raised) or raised
                seen.failed(in_words(error))
                self.log.write(
                    "step_failed", "error", step=name, **about, error=in_words(error)
                )
                self.outcome.note("failed", getattr(error, "exit_code", 1))
            else:
                seconds = round(time.monotonic() - begun, 3)
                seen.set(**details)
                self.log.write(
                    "step_finished", step=name, **about, seconds=seconds, **details
                )

    def _check(self) -> None:
        if self.stopped():
            raise _JobStopped

    # --- the steps -------------------------------------------------------------------------

    def _ingest(self, folder: str) -> dict[str, Any]:
        from warehouse.analysis.board.published_notes import notes_on_published
        from warehouse.analysis.repeats.joined import notes_on_joined
        from warehouse.ingest.pipeline import ingest
        from warehouse.records.answer_text import readable
        from warehouse.store.load.source_ledger import refused

        waiting: list[Sequence[Path]] = []

        def settled(files: Sequence[Path]) -> bool:
            if _is_settled(files, self.job.settle):
                return True
            waiting.append(files)
            return False

        with self.create() as store:
            before = refused(store)
            report = ingest(
                store,
                [folder],
                only=settled,
                progress=Silent(self._check),
                rules=self.job.rules_on_files,
            )
            report = report.with_changed(notes_on_joined(store, report.joined_runs))
            report = report.with_notes(notes_on_published(store, report.new_runs))
            earlier_refusals = _earlier_refusals(before, refused(store))
        new = [
            source.error
            for source in report.refused
            if readable(source.error) not in earlier_refusals
        ]
        self._tell("source_refused", [{"error": error} for error in new])
        left = [
            item
            for item in report.unread
            if is_data(item) and _is_settled([item.path], self.job.settle)
        ]
        self._tell("file_not_read", [{"error": f"{item}; {ADVICE}"} for item in left])
        if new or left:
            self.outcome.note("incomplete", 3)
        self._tell("note", [{"text": note} for note in report.changed], "warning")
        self._tell(
            "note",
            [{"text": note} for note in report.all_notes if note not in report.changed],
            "info",
        )
        loaded = sum(source.state == "loaded" for source in report.sources)
        counts = {
            "sources_loaded": loaded,
            "sources_refused": len(new),
            "sources_refused_before": len(report.refused) - len(new),
            "files_not_read": len(left),
        }
        self.outcome.add(**counts)
        return {
            "sources": len(report.sources),
            **counts,
            "sources_waiting": len(waiting),
            "files_of_no_format": len(report.unclaimed),
            "runs_new": report.total("n_runs"),
            "repeats": report.total("n_repeats"),
            "samples_new": report.total("n_samples"),
        }

    def _refresh(self) -> dict[str, Any]:
        from warehouse.refresh.run import refresh

        refreshed = refresh(
            self.opener,
            self.job.work,
            wait=self.wait,
            say=self._note,
            progress=lambda _done, _of: self._check(),
        )
        for note in refreshed.notes:
            self._note(note)
        self._tell(
            "figure_failed", [{"error": failure} for failure in refreshed.failures]
        )
        if refreshed.failures:
            self.outcome.note("incomplete")
        names = ("recomputed", "resumed", "gone", "failed")
        counts = {f"figures_{name}": refreshed.total(name) for name in names}
        self.outcome.add(**counts)
        self.refresh_id = refreshed.refresh_id
        return {
            "refresh_id": refreshed.refresh_id,
            **counts,
            "figures_fresh": refreshed.total("fresh"),
        }

    def _alert(self, refresh_id: int) -> dict[str, Any]:
        from warehouse.refresh.deliver_alerts import deliver_alerts

        ways: dict[str, Channel] = {
            "log": self._log_alerts,
            "webhook": self._post_alerts,
        }
        channels = {name: ways[name] for name in self.job.work.channels}
        delivery = deliver_alerts(
            self.opener, self.job.rules, refresh_id, utc_now(), channels
        )
        number = sum(len(batch.rows) for batch in delivery.taken.get("log", ()))
        self.outcome.add(alerts=number)
        if number:
            self.outcome.note("alerts")
        for note in (*delivery.present.notes, *delivery.notes):
            self._note(note)
        if delivery.problem is not None:
            raise delivery.problem
        return {"alerts": number}

    def _board(self, path: str) -> dict[str, Any]:
        from warehouse.schedule.boards import watched_board

        with self.opener.reading() as store:
            watched = watched_board(store, path)
        alerts = watched.alerts
        self._tell("alert", [_told(row) for row in alerts], "warning")
        self.outcome.add(alerts=len(alerts))
        if alerts:
            self.outcome.note("alerts")
        if alerts and self.job.webhook:
            list(self._post_alerts([Alerts(alerts, self.refresh_id or 0, 0)]))
        watched.kept()
        return watched.counts

    def _log_alerts(self, alerts: Sequence[Alerts]) -> Iterator[int]:
        for batch in alerts:
            about: dict[str, Any] = {}
            if batch.refresh_id != self.refresh_id:
                about["refresh_id"] = batch.refresh_id
            rows = [_told(row) | about for row in batch.rows]
            self._tell("alert", rows, "warning")
            yield batch.refresh_id

    def _post_alerts(self, alerts: Sequence[Alerts]) -> Iterator[int]:
        from warehouse.refresh.webhook import post_all

        return post_all(self.job.webhook, alerts)

    def _prune(self, age: timedelta) -> dict[str, Any]:
        from warehouse.store.computed.metric_values import prune

        with self.opener.writing() as store:
            values, refreshes = prune(store, utc_now() - age)
        return {"figures": values, "refreshes": refreshes}

    def _publish(self) -> dict[str, Any]:
        done = self.publish(self.job.publish)
        self.copy = done.path
        return {"path": done.path, "bytes": done.bytes}

    def _lake(self) -> dict[str, Any]:
        from warehouse.store.lake.sync import sync

        with self._at_leisure() as store:
            synced = sync(store, self.job.lake, say=self._note)
        return {
            "location": shown_url(synced.location),
            "version": synced.version,
            "is_new": synced.is_new,
            "runs_written": synced.n_runs,
            "runs_removed": synced.n_gone,
        }

    def _report(self) -> dict[str, Any]:
        from warehouse.analysis.report_data.report import ReportReading
        from warehouse.files import UNATTENDED
        from warehouse.report.writing import write_report
        from warehouse.store.known_sources import known_in

        with self._at_leisure() as store:
            reading = ReportReading(
                store, progress=lambda _name, _done, _of: self._check()
            )
            written = write_report(
                reading,
                self.job.report,
                keep_unchanged=True,
                known_as=known_in(store),
                advice=UNATTENDED,
            )
        return {
            "path": written.path,
            "bytes": written.bytes,
            "unchanged": written.unchanged,
        }

    def _at_leisure(self) -> AbstractContextManager[Store]:
        """The copy, if there is one: a page or a lake may take minutes, and nobody
        waits for a copy."""
        if self.copy:
            return open_store(self.copy)
        return self.opener.reading()

    # --- what they tell --------------------------------------------------------------------

    def _tell(
        self, event: str, rows: Sequence[dict[str, Any]], level: Level = "error"
    ) -> None:
        for row in rows[:MOST_LOGGED]:
            self.log.write(event, level, **row)
        if len(rows) > MOST_LOGGED:
            self.log.write(event, level, more=len(rows) - MOST_LOGGED)

    def _note(self, text: str) -> None:
        self.log.write("note", text=text)


def _told(alert: Alert) -> dict[str, Any]:
    """An alert as the log has it."""
    names = ("rule", "benchmark", "subject", "message")
    return {name: getattr(alert, name) for name in names}


def _earlier_refusals(
    before: Mapping[tuple[str, str], str], after: Mapping[tuple[str, str], str]
) -> set[str]:
    """Reasons of sources that were refused in an earlier run, byte by byte the same,
    for the same reason; a reason that a changed or new source has too is reported
    again."""
    news = {reason for source, reason in after.items() if before.get(source) != reason}
    return set(before.values()) - news


def _is_settled(files: Sequence[Path], settle: float) -> bool:
    """Whether none of the files was modified for so long; a modification time in the
    future counts as settled."""
    now = time.time()
    try:
        return not any(0 <= now - path.stat().st_mtime < settle for path in files)
    except OSError:
        return False


def in_words(error: Exception) -> str:
    """What went wrong, for a log."""
    if isinstance(error, WarehouseError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        if error.filename:
            return f"{error.filename}: {error.strerror}"
        return error.strerror
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"
