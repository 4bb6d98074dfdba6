"""From paths to a loaded store: walk, claim, hash, read, load, reconcile."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from warehouse.errors import InputError, MisuseError, WarehouseError
from warehouse.importers import context, importers, stamps
from warehouse.importers import importer as importer_named
from warehouse.importers.base import Importer
from warehouse.importers.discovery import (
    Unread,
    left_over,
    look_at,
    refuse_pointers,
    walk,
    why_unreadable,
)
from warehouse.importers.stamps import Stamp
from warehouse.importers.values import with_values
from warehouse.records import Candidate, ImportSettings, Rejection, SourceFiles
from warehouse.store import clusters, ledger
from warehouse.store.engine import Store
from warehouse.store.loader import Loader, LoadOptions, LoadReport, NeedsMemoryError, Parsed

_log = logging.getLogger(__name__)

#: Sources whose hashes are computed ahead of the one being loaded.
LOOK_AHEAD = 4


class Progress(Protocol):
    """What ingest tells while it works."""

    def start(self, total_bytes: int) -> None:
        """All sources are known; ``total_bytes`` is their size."""

    def source(self, name: str, size: int) -> None:
        """A source of ``size`` bytes is begun."""

    def advance(self, rows: int) -> None:
        """``rows`` more sample rows have been parsed."""

    def done(self, report: LoadReport) -> None:
        """The source is finished."""


class Silent:
    """Progress that nobody watches."""

    def start(self, total_bytes: int) -> None: ...
    def source(self, name: str, size: int) -> None: ...
    def advance(self, rows: int) -> None: ...
    def done(self, report: LoadReport) -> None: ...


@dataclass(frozen=True)
class Reconciled:
    """A published figure held against the one that the samples give."""

    run: int
    model: str
    benchmark: str
    metric: str
    published: float | None
    recomputed: float | None
    verdict: str


@dataclass(frozen=True)
class IngestReport:
    """What became of every source; totals are sums over them."""

    sources: tuple[LoadReport, ...]
    unclaimed: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()  # the unclaimed files, each with the reason
    reconciliation: tuple[Reconciled, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def total(self, name: str) -> int:
        """Sum of one count (``n_runs``, ``n_scores`` …) over the sources."""
        return sum(getattr(report, name) for report in self.sources)

    @property
    def refused(self) -> tuple[LoadReport, ...]:
        """Sources of which nothing was stored."""
        return tuple(report for report in self.sources if report.state == "refused")

    def __str__(self) -> str:
        return (
            f"{len(self.sources)} sources, {self.total('n_runs')} runs new, "
            f"{self.total('n_seen_again')} seen again, {self.total('n_superseded')} superseded, "
            f"{self.total('n_samples')} samples, {self.total('n_scores')} scores"
        )


@dataclass(frozen=True)
class _Job:
    """One source with the importer that claimed it."""

    importer: Importer
    files: SourceFiles

    @property
    def size(self) -> int:
        """Bytes of the files that can be looked at."""
        total = 0
        for path in self.files.files:
            with suppress(OSError):  # it went, which whoever reads it will say
                total += path.stat().st_size
        return total


@dataclass(frozen=True)
class _Plan:
    """Everything that decides what sources become, besides their bytes."""

    settings: ImportSettings
    options: LoadOptions
    recorded: Mapping[str, Any] = field(default_factory=dict)


def ingest(
    store: Store,
    paths: Iterable[str | Path],
    *,
    format: str | None = None,
    values: Mapping[str, Any] | None = None,
    mapping: str | Path | None = None,
    options: LoadOptions | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    only: Callable[[Sequence[Path]], bool] | None = None,
) -> IngestReport:
    """Load every dump found under some paths.

    Args:
        store: a store open for writing.
        paths: files or folders; folders are walked.
        format: name of an importer; default: whatever recognises a file.
        values: header fields that the dumps lack or that should hold instead
            (``{"model": "org/name"}``).
        mapping: a mapping file for tabular dumps.
        options: what to do about conflicts, duplicates and bad rows.
        dry_run: read and check everything, store nothing.
        progress: told what is going on.
        only: asked about the files of each source, whether to load it; default: all.

    Returns:
        one report per source; a source that cannot be taken is ``refused`` with its error, and
        the rest goes on.

    Raises:
        MisuseError: a path that does not exist, or an unknown format.
        MappingError: a mapping that is wrong in itself.
    """
    started = time.monotonic()
    plan = _plan(values or {}, mapping, options or LoadOptions())
    jobs, unread = _jobs(paths, format, plan.settings)
    missed = [item for item in unread if item.is_missed]
    if only is not None:
        jobs = [job for job in jobs if only(job.files.files)]
        missed = [item for item in missed if only((item.path,))]
    watcher = progress or Silent()
    watcher.start(sum(job.size for job in jobs))
    reports = [LoadReport(str(item.path), "refused", error=str(item)) for item in missed]
    reports += _load_all(store, jobs, plan, dry_run, watcher)
    left = tuple(item for item in unread if not item.is_missed)
    fields = plan.options.cluster_by
    lacking = _cluster(store, reports, fields) if fields and not dry_run else []
    return IngestReport(
        sources=tuple(reports),
        unclaimed=tuple(str(item.path) for item in left),
        unread=left,
        reconciliation=() if dry_run else _reconcile(store, reports),
        notes=tuple(f"{name}: no prompt has the field {','.join(fields)}" for name in lacking),
        seconds=round(time.monotonic() - started, 3),
    )


def _plan(values: Mapping[str, Any], mapping: str | Path | None, options: LoadOptions) -> _Plan:
    from warehouse.importers.tabular import load_mapping

    parsed = load_mapping(Path(mapping)) if mapping else None
    settings = ImportSettings(dict(values), parsed, str(mapping or ""))
    recorded = {
        "values": {key: str(value) for key, value in values.items()},
        "mapping": parsed, "text": options.text, "on_duplicate": options.on_duplicate,
    }  # fmt: skip
    return _Plan(settings, options, recorded)


# --- which files form which sources ----------------------------------------------------------


def _jobs(
    paths: Iterable[str | Path], format: str | None, settings: ImportSettings
) -> tuple[list[_Job], list[Unread]]:
    jobs: list[_Job] = []
    unread: list[Unread] = []
    for path in map(Path, paths):
        seen = [look_at(file) for file in walk(path)]
        candidates = [item for item in seen if isinstance(item, Candidate)]
        left = [item for item in seen if isinstance(item, Unread)]
        for tool in _tools(format, settings):
            claimed = list(tool.claim(candidates))
            jobs += [_Job(tool, files) for files in claimed]
            taken = {file for files in claimed for file in files.files}
            candidates = [item for item in candidates if item.path not in taken]
        left += [_left_over(item, settings) for item in candidates]
        # what is named by itself was meant, whatever it is called
        unread += [
            replace(item, is_missed=bool(item.is_missed or item.path == path and item.reason))
            for item in left
        ]
    return jobs, unread


def _left_over(item: Candidate, settings: ImportSettings) -> Unread:
    """A file of a walk that is in no source."""
    found = left_over(item)
    if found.reason or settings.mapping is None:
        return found
    return replace(found, reason="not among the files that the mapping names (files, exclude)")


def _tools(format: str | None, settings: ImportSettings) -> list[Importer]:
    if settings.mapping is not None:
        from warehouse.importers.tabular import IMPORTER

        return [IMPORTER.for_mapping(settings.mapping, settings.mapping_path)]
    return [importer_named(format)] if format else list(importers().values())


def sources(
    paths: Iterable[str | Path],
    *,
    format: str | None = None,
    values: Mapping[str, Any] | None = None,
    mapping: str | Path | None = None,
) -> tuple[list[tuple[Path, ...]], list[Unread]]:
    """Files of each source that :func:`ingest` would find, and what it would not read."""
    settings = _plan(values or {}, mapping, LoadOptions()).settings
    jobs, left = _jobs(paths, format, settings)
    return [tuple(job.files.files) for job in jobs], left


# --- loading ---------------------------------------------------------------------------------


def _load_all(
    store: Store, jobs: Sequence[_Job], plan: _Plan, dry_run: bool, watcher: Progress
) -> list[LoadReport]:
    """Load the sources in order; while one is loaded, the next is parsed on another thread."""
    work = _Work(store, Loader(store, overlapping=len(jobs) > 1), plan, dry_run, watcher)
    reports: list[LoadReport] = []
    try:
        with ThreadPoolExecutor(1) as pool:
            waiting: _Begun | None = None
            busy: list[tuple[_Job, _Identity | Exception]] = []  # with another process
            slot = 0
            for job, identity in _identified(jobs):
                begun = _begin(work, pool, job, identity, slot)
                if begun is None:
                    busy.append((job, identity))
                    continue
                if waiting is not None:
                    reports.append(_finish(work, waiting))
                waiting, slot = begun, 1 - slot
            if waiting is not None:
                reports.append(_finish(work, waiting))
            if busy:
                work.known = ledger.loaded(store)
            for job, identity in busy:  # who waits for a source holds no other
                late = _begin(work, pool, job, identity, 0, patient=True)
                assert late is not None
                reports.append(_finish(work, late))
        if any(report.state == "loaded" for report in reports) and not dry_run:
            with store.begin() as connection:
                store.dialect.tidy(connection)
    finally:
        work.loader.close()
    return reports


class _Work:
    """What the steps of loading many sources share."""

    def __init__(
        self, store: Store, loader: Loader, plan: _Plan, dry_run: bool, watcher: Progress
    ) -> None:
        self.store, self.loader, self.plan = store, loader, plan
        self.dry_run, self.watcher = dry_run, watcher
        self.known = ledger.loaded(store)

    def settings(self, identity: _Identity) -> dict[str, Any]:
        """What a source is entered in the ledger with."""
        if not identity.context:
            return dict(self.plan.recorded)
        return {**self.plan.recorded, "context": identity.context}

    def key(self, job: _Job, settings: Mapping[str, Any]) -> str:
        """The settings under which a job is entered in the ledger."""
        return ledger.settings_key(job.importer.name, job.importer.version, settings)

    def loaded(self, job: _Job, identity: _Identity) -> int | None:
        """Id of the source in the store that a job is the same as."""
        found = self.known.get((identity.sha256, self.key(job, self.settings(identity))))
        if found is None and identity.context:
            # entered before contexts were: the same if its path says so
            older = self.known.get((identity.sha256, self.key(job, self.plan.recorded)))
            if older is not None and context.says_same(
                job.importer, job.files, *ledger.paths_of(self.store, older), identity.context
            ):
                return older
        return found


@dataclass(frozen=True)
class _Identity:
    """What makes a source this source, besides the settings.

    ``sha256`` is of the names and bytes of its files, ``context`` what else its importer takes
    something from, ``stamps`` all files of both as they were when that was found out.
    """

    sha256: str
    context: Mapping[str, Any]
    stamps: tuple[tuple[Path, Stamp], ...]


def _identified(jobs: Sequence[_Job]) -> Iterator[tuple[_Job, _Identity | Exception]]:
    """Each job with its identity, found out in the background a few jobs ahead."""
    with ThreadPoolExecutor(2) as pool:
        waiting: deque[tuple[_Job, Future[_Identity]]] = deque()
        for job in jobs:
            waiting.append((job, pool.submit(_identity, job)))
            if len(waiting) > LOOK_AHEAD:
                yield _result(*waiting.popleft())
        while waiting:
            yield _result(*waiting.popleft())


def _result(job: _Job, future: Future[_Identity]) -> tuple[_Job, _Identity | Exception]:
    error = future.exception()
    return job, error if isinstance(error, Exception) else future.result()


def _identity(job: _Job) -> _Identity:
    """One hash over the names and bytes of the files of a source, and what else it depends on.

    Raises:
        OSError: a file cannot be read.
        InputError: another file that is read with them is not there.
    """
    total = hashlib.sha256()
    found = [(path, stamps.stamp(path)) for path in job.files.files]
    for path, stamp in found:
        total.update(path.name.encode("utf-8", "surrogateescape") + b"\0" + stamp.sha256)
    others = context.companions_of(job.importer, job.files)
    found += [(path, stamps.stamp(path)) for path in others]
    return _Identity(total.hexdigest(), context.context_of(job.importer, job.files), tuple(found))


@dataclass(frozen=True)
class _Begun:
    """A source that is being parsed, or that needs no loading and has its report already."""

    job: _Job
    report: LoadReport | None = None
    claim: ledger.Claim | None = None
    rejections: list[Rejection] = field(default_factory=list)
    parsed: Future[Parsed] | None = None


def _begin(
    work: _Work, pool: ThreadPoolExecutor, job: _Job, identity: _Identity | Exception, slot: int, *,
    patient: bool = False,
) -> _Begun | None:  # fmt: skip
    """Claim a source and have it parsed, unless it is in the store already; ``None`` if another
    process is at it, for which the patient wait."""
    name, store, plan = job.files.name, work.store, work.plan
    if isinstance(identity, Exception):
        return _Begun(job, LoadReport(name, "refused", error=_unreadable(job, identity)))
    known = work.loaded(job, identity)
    if known is not None:
        return _Begun(job, LoadReport(name, "unchanged", source_id=known))
    sha256, settings = identity.sha256, work.settings(identity)
    key = work.key(job, settings)
    if not work.dry_run and not ledger.reserve(store, sha256, key, patient=patient):
        return None
    claim = ledger.claim(
        store, path=name, size=job.size, sha256=sha256, importer=job.importer.name,
        version=job.importer.version, settings=settings, dry_run=work.dry_run,
    )  # fmt: skip
    if claim is None:
        ledger.release(store, sha256, key)
        return _Begun(job, LoadReport(name, "unchanged"))
    rejections: list[Rejection] = []
    parsed = pool.submit(_parse_unchanged, work.loader, job, identity, plan, rejections, slot)
    return _Begun(job, claim=claim, rejections=rejections, parsed=parsed)


def _unreadable(job: _Job, error: Exception) -> str:
    """What is said of a source whose files cannot be read."""
    if isinstance(error, WarehouseError):
        return str(error)
    said = [f"{path}: {reason}" for path in job.files.files if (reason := why_unreadable(path))]
    return said[0] if said else f"{job.files.name}: cannot be read: {error}"


def _parse_unchanged(
    loader: Loader, job: _Job, identity: _Identity, plan: _Plan, rejections: list[Rejection],
    slot: int,
) -> Parsed:  # fmt: skip
    """Parse a source; what is read must be what was hashed.

    Raises:
        InputError: a file changed while it was read, or what is wrong with it otherwise.
    """
    try:
        refuse_pointers(job.files.files)
        parsed = _parse(loader, job, plan, rejections, slot)
    except Exception:
        stamps.refuse_changed(identity.stamps)  # then it is no wonder
        raise
    stamps.refuse_changed(identity.stamps)
    return parsed


def _parse(
    loader: Loader, job: _Job, plan: _Plan, rejections: list[Rejection], slot: int
) -> Parsed:
    while True:
        dump = job.importer.read(job.files, plan.settings)
        dump.runs = tuple(with_values(header, plan.settings.values) for header in dump.runs)
        try:
            return loader.parse(dump, plan.options, slot)
        except NeedsMemoryError:
            if not loader.more_memory():
                raise
        finally:
            rejections[:] = dump.rejections


def _finish(work: _Work, begun: _Begun) -> LoadReport:
    work.watcher.source(begun.job.files.name, begun.job.size)
    report = begun.report or _load_one(work, begun)
    work.watcher.done(report)
    return report


def _load_one(work: _Work, begun: _Begun) -> LoadReport:
    """Load a source that was begun; one that cannot be taken is refused, with the reason."""
    name, claim = begun.job.files.name, begun.claim
    assert claim is not None
    try:
        parsed = _parsed(begun)
        work.watcher.advance(parsed.n_rows)
        return work.loader.load(parsed, claim, work.plan.options, dry_run=work.dry_run)
    except (InputError, MisuseError) as error:
        message = str(error) if name in str(error) else f"{name}: {error}"
        if not work.dry_run:
            ledger.refuse(work.store, claim, message, begun.rejections)
        return LoadReport(name, "refused", n_rejected=len(begun.rejections), error=message)
    finally:
        if not work.dry_run:
            ledger.release(work.store, claim.sha256, claim.key)


def _parsed(begun: _Begun) -> Parsed:
    """What came of the parsing of a source.

    Raises:
        InputError: also where the importer failed in a way that it should not: one source that an
            importer cannot cope with does not stop the others.
    """
    assert begun.parsed is not None
    try:
        return begun.parsed.result()
    except WarehouseError:
        raise
    except Exception as error:
        # the latter are the words of the parser
        if isinstance(error, RecursionError) or "Recursion limit" in str(error):
            raise InputError(
                "lists or objects stand inside each other, too deep to read",
                expected="at most 250 levels",
                advice="repair that place, or leave it out",
            ) from error
        tool = begun.job.importer.name
        _log.debug("the importer %s failed", tool, exc_info=True)
        raise InputError(
            f"the importer '{tool}' failed on it: {type(error).__name__}: {error}",
            advice="this is a defect of the importer; -v shows where",
        ) from error


def _cluster(store: Store, reports: Sequence[LoadReport], fields: Sequence[str]) -> list[str]:
    """Cluster the benchmarks of some sources; returns those whose prompts lack the fields."""
    source_ids = [report.source_id for report in reports if report.source_id is not None]
    lacking = []
    for name in ledger.benchmarks_of(store, source_ids):
        try:
            clusters.cluster_by(store, name, fields, default=True)
        except MisuseError:
            lacking.append(name)
    return lacking


# --- published against recomputed ------------------------------------------------------------


def _published(store: Store, first: int) -> bool:
    """Whether a source publishes figures of runs from ``first`` on: the view reads all runs."""
    counted = store.arrow(
        "select count(*) as n from published_score where run_id >= :first", {"first": first}
    )
    return bool(counted["n"][0].as_py())


def _reconcile(store: Store, reports: Sequence[LoadReport]) -> tuple[Reconciled, ...]:
    """Every published figure of the new runs, beside the one that their samples give."""
    run_ids = {run for report in reports for run in report.run_ids}
    if not run_ids or not _published(store, min(run_ids)):
        return ()
    found = store.arrow(
        "select run_id, model, benchmark, metric, metric_filter, published, recomputed, verdict "
        "from published_against_recomputed where run_id >= :first order by run_id, metric",
        {"first": min(run_ids)},
    )
    return tuple(
        Reconciled(
            run=row["run_id"], model=row["model"], benchmark=row["benchmark"],
            metric=",".join(part for part in (row["metric"], row["metric_filter"]) if part),
            published=row["published"], recomputed=row["recomputed"], verdict=row["verdict"],
        )
        for row in found.to_pylist()
        if row["run_id"] in run_ids
    )  # fmt: skip
