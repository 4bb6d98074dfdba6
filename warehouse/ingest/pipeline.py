"""From paths to a loaded store: walk, claim, hash, read, load, reconcile."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from warehouse.errors import DiskFullError, InputError, MisuseError, WarehouseError
from warehouse.importers.common import file_stamps as stamps
from warehouse.importers.common import source_context as context
from warehouse.importers.common.file_stamps import Stamp
from warehouse.importers.common.file_walk import Unread, why_unreadable
from warehouse.ingest.discover import Discovered, _Job, _Plan, _size_of, discover
from warehouse.ingest.executors import Apart
from warehouse.ingest.parse_elsewhere import Arrived
from warehouse.ingest.progress import Progress, Silent
from warehouse.ingest.reading import Reading, read, read_together
from warehouse.ingest.reconcile import Reconciled, _reconcile
from warehouse.ingest.remote import fetched
from warehouse.records import Dump, ImportSettings, Rejection
from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.curate import field_clusters
from warehouse.store.lake.sync import SyncReport, require_fit, sync
from warehouse.store.load import source_ledger
from warehouse.store.load.loader import Loader, NeedsMemoryError
from warehouse.store.load.state import Claim, LoadOptions, LoadReport, NotTogetherError, Parsed

_log = logging.getLogger(__name__)

#: Sources whose hashes are computed ahead of the one being loaded.
LOOK_AHEAD = 4
#: A source of at most so many bytes is small, and loaded together with its neighbours …
SMALL_BYTES = 1_000_000
#: … of which there are at most so many, with so many bytes.
GROUP_SOURCES, GROUP_BYTES = 100, 8_000_000
#: Executors are sent so many bytes at a time, or more where that is fewer sources than this, and while they
#: work the next.
WAVE_BYTES, WAVE_SOURCES = 500_000_000, 8
#: What packed files hold of bytes for each of theirs; a guess for text.
PACKED = 10
_PACKED_SUFFIXES = {".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz", ".eval", ".parquet", ".xlsx"}


@dataclass(frozen=True)
class IngestReport:
    """What became of every source; totals are sums over them."""

    sources: tuple[LoadReport, ...]
    unclaimed: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()  # the unclaimed files, each with the reason
    reconciliation: tuple[Reconciled, ...] = ()
    notes: tuple[str, ...] = ()
    lake: SyncReport | None = None  # of the lake that was brought up afterwards
    seconds: float = 0.0

    def total(self, name: str) -> int:
        """Sum of one count (``n_runs``, ``n_scores`` …) over the sources."""
        return sum(getattr(report, name) for report in self.sources)

    @property
    def refused(self) -> tuple[LoadReport, ...]:
        """Sources of which nothing was stored."""
        return tuple(report for report in self.sources if report.state == "refused")

    def __str__(self) -> str:
        states = Counter(item.state for item in self.sources)
        lines = [
            f"sources   {len(self.sources)}: {states['loaded']} loaded, "
            f"{states['unchanged']} unchanged, {states['refused']} refused",
            f"runs      {self.total('n_runs')} new, {self.total('n_seen_again')} seen again, "
            f"{self.total('n_superseded')} superseded, {self.total('n_repeats')} repeats",
            f"samples   {self.total('n_samples')}",
            f"scores    {self.total('n_scores')}",
            f"notes     {sum(len(item.notes) for item in self.sources) + len(self.notes)}",
            f"rejected  {self.total('n_rejected')} rows",
            f"seconds   {self.seconds:.1f}",
        ]
        if self.unclaimed:
            lines.insert(1, f"not dumps {len(self.unclaimed)} files")
        return "\n".join(lines)

    @property
    def one_line(self) -> str:
        """The totals in one line."""
        return (
            f"{len(self.sources)} sources, {self.total('n_runs')} runs new, "
            f"{self.total('n_seen_again')} seen again, {self.total('n_superseded')} superseded, "
            f"{self.total('n_samples')} samples, {self.total('n_scores')} scores"
        )


def ingest(
    store: Store,
    paths: Iterable[str | Path],
    *,
    format: str | None = None,
    values: Mapping[str, Any] | None = None,
    mapping: str | Path | None = None,
    higher_is_better: bool | None = None,
    options: LoadOptions | None = None,
    defaults: Mapping[str, Any] | None = None,
    force: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    only: Callable[[Sequence[Path]], bool] | None = None,
    on: str | None = None,
    lake: str | None = None,
) -> IngestReport:
    """Load every dump found under some paths.

    Args:
        store: a store open for writing.
        paths: files, folders, which are walked, or URLs, which are fetched
            (:mod:`warehouse.ingest.remote`).
        format: name of an importer; default: whatever recognises a file.
        values: header fields that hold whatever the dumps say (``{"temperature": 0.7}``).
        mapping: a mapping file for tabular dumps.
        higher_is_better: direction of the metrics of which a dump says none.
        options: what to do about conflicts, duplicates and bad rows.
        defaults: header fields for what the dumps leave empty (``{"model": "org/name"}``).
        force: file the runs of several named models under the one that ``values`` names.
        dry_run: read and check everything, store nothing.
        progress: told what is going on.
        only: asked about the files of each source, whether to load it; default: all.
        on: a server whose executors read the dumps, ``sc://HOST:PORT`` or ``sail:``; default: this process.
        lake: where a lake of the store lies, which is brought up afterwards in one version.

    Returns:
        one report per source; a source that cannot be taken is ``refused`` with its error, and
        the rest goes on.

    Raises:
        MisuseError: a path that does not exist, an unknown format, or a value of ``model`` that
            would rename several models.
        MappingError: a mapping that is wrong in itself.
        InputError: a URL that cannot be reached.
        StoreError: the server was lost, or the lake cannot be written; what was loaded until then stays.
    """
    with fetched(paths) as local:
        discovered = discover(
            local.paths,
            format=format,
            values=values,
            mapping=mapping,
            higher_is_better=higher_is_better,
            options=options,
            defaults=defaults,
            force=force,
        )
        named = local.named(discovered)
        return load(store, named, dry_run=dry_run, progress=progress, only=only, on=on, lake=lake)


def load(
    store: Store,
    discovered: Discovered,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    only: Callable[[Sequence[Path]], bool] | None = None,
    on: str | None = None,
    lake: str | None = None,
) -> IngestReport:
    """Load what :func:`~warehouse.ingest.discover.discover` has found; the rest as :func:`ingest`.

    Raises:
        MisuseError: a value of ``model`` that would rename several models.
    """
    started = time.monotonic()
    if lake is not None:
        require_fit(store, lake)  # before anything is read for nothing
    plan, jobs, missed = discovered.plan, discovered.jobs, discovered.missed
    if only is not None:
        jobs = tuple(job for job in jobs if only(job.files.files))
        missed = [item for item in missed if only((item.path,))]
    watcher = progress or Silent()
    watcher.start(sum(job.size for job in jobs))
    reports = [LoadReport(item.shown, "refused", error=str(item)) for item in missed]
    loaded, notes = _load_all(store, jobs, plan, dry_run, watcher, on)
    reports += loaded
    left = tuple(item for item in discovered.unread if not item.is_missed)
    fields = plan.options.cluster_by
    lacking = _cluster(store, reports, fields) if fields and not dry_run else []
    return IngestReport(
        sources=tuple(reports),
        unclaimed=tuple(item.shown for item in left),
        unread=left,
        reconciliation=() if dry_run else _reconcile(store, reports),
        notes=(*notes, *(f"{name}: no prompt has the field {','.join(fields)}" for name in lacking)),
        lake=None if lake is None or dry_run else sync(store, lake),
        seconds=round(time.monotonic() - started, 3),
    )


# --- which files form which sources ----------------------------------------------------------


# --- loading ---------------------------------------------------------------------------------


def _load_all(
    store: Store, jobs: Sequence[_Job], plan: _Plan, dry_run: bool, watcher: Progress, on: str | None = None
) -> tuple[list[LoadReport], list[str]]:
    """Load the sources in order, small ones together; while some are loaded, the next are parsed on
    another thread, or on executors. Gives the reports, and notes on all."""
    together = not dry_run and len(jobs) > 1
    apart = None if on is None else Apart(on, plan.settings, plan.options)
    with ThreadPoolExecutor(1) as pool:
        loader = Loader(store, overlapping=len(jobs) > 1)
        work = _Work(store, loader, pool, plan, dry_run, watcher, apart)
        try:
            waiting: _Begun | None = None
            slot = 0
            for group in _sent(work, _grouped(_checked(work, _identified(jobs)), together)):
                begun = _begin(work, group, slot)
                if waiting is not None:
                    _finish(work, waiting)
                waiting, slot = begun, 1 - slot
            if waiting is not None:
                _finish(work, waiting)
            _load_late(work)
            if any(report.state == "loaded" for report in work.reports.values()) and not dry_run:
                with store.begin() as connection:
                    store.dialect.analyze(connection)
        finally:
            if apart is not None:
                apart.close()
            loader.close()
    return [report for _, report in sorted(work.reports.items())], apart.notes() if apart else []


def _sent(work: _Work, groups: Iterable[list[_Task]]) -> Iterator[list[_Task]]:
    """The groups as they come; to executors they are sent in waves, the next while one is loaded."""
    if work.apart is None:
        yield from groups
        return
    before: list[list[_Task]] = []
    seen: set[tuple[str, str]] = set()
    for wave in _waves(groups):
        fresh = [_fresh(work, group, seen) for group in wave]
        work.apart.send([(tuple(numbers), readings) for numbers, readings in fresh if numbers])
        yield from before
        before = wave
    yield from before


def _waves(groups: Iterable[list[_Task]]) -> Iterator[list[list[_Task]]]:
    wave: list[list[_Task]] = []
    for group in groups:
        wave.append(group)
        total = sum(_unpacked_size(task.job) for tasks in wave for task in tasks)
        if total >= WAVE_BYTES and len(wave) >= WAVE_SOURCES:
            yield wave
            wave = []
    if wave:
        yield wave


def _fresh(work: _Work, group: Sequence[_Task], seen: set[tuple[str, str]]) -> tuple[list[int], list[Reading]]:
    """Those of a group that :func:`_begin` will want, unless another process is at one of them."""
    numbers, readings = [], []
    for task in group:
        if isinstance(task.identity, Exception) or work.loaded(task.job, task.identity) is not None:
            continue
        source = work.entry(task.job, task.identity).source
        if source not in seen:
            seen.add(source)
            numbers.append(task.number)
            readings.append(_reading(task.job, task.identity))
    return numbers, readings


def _load_late(work: _Work) -> None:
    """The sources that another process, or this one, was at when their turn came."""
    if work.late:
        work.known = source_ledger.loaded(work.store)
    for task in work.late:  # who waits for a source holds no other
        _finish(work, _begin(work, [task], 0, patient=True))


@dataclass(frozen=True)
class _Task:
    """A job in its turn, with its identity or why that cannot be found out."""

    number: int
    job: _Job
    identity: _Identity | Exception


def _grouped(tasks: Iterable[_Task], together: bool) -> Iterator[list[_Task]]:
    """Neighbours that are small, as many as may be loaded together; others by themselves."""
    group: list[_Task] = []
    total = 0
    for task in tasks:
        size = _unpacked_size(task.job)
        small = together and size <= SMALL_BYTES
        if group and (not small or len(group) == GROUP_SOURCES or total + size > GROUP_BYTES):
            yield group
            group, total = [], 0
        if small:
            group.append(task)
            total += size
        else:
            yield [task]
    if group:
        yield group


def _unpacked_size(job: _Job) -> int:
    """Bytes of a job's files, as a guess where they are packed."""
    return sum(_size_of(path) * (PACKED if path.suffix.lower() in _PACKED_SUFFIXES else 1) for path in job.files.files)


class _Work:
    """What the steps of loading many sources share."""

    def __init__(
        self,
        store: Store,
        loader: Loader,
        pool: ThreadPoolExecutor,
        plan: _Plan,
        dry_run: bool,
        watcher: Progress,
        apart: Apart | None,
    ) -> None:
        self.store, self.loader, self.pool, self.plan = store, loader, pool, plan
        self.dry_run, self.watcher, self.apart = dry_run, watcher, apart
        self.known = source_ledger.loaded(store)
        self.begun: set[tuple[str, str]] = set()  # what this ingest has claimed so far
        self.late: list[_Task] = []
        self.reports: dict[int, LoadReport] = {}  # by number of the task

    def shown(self, text: str) -> str:
        """A text that may name files, as people are told it."""
        return self.plan.shown(text) if self.plan.shown else text

    def retell(self, dump: Dump) -> None:
        """Have what was said of a dump name its files as people know them."""
        if self.plan.shown:
            dump.rejections[:] = [replace(item, place=self.shown(item.place)) for item in dump.rejections]
            dump.notes[:] = map(self.plan.shown, dump.notes)

    def settings(self, identity: _Identity) -> dict[str, Any]:
        """What a source is entered in the ledger with."""
        if not identity.context:
            return dict(self.plan.recorded)
        return {**self.plan.recorded, "context": identity.context}

    def key(self, job: _Job, settings: Mapping[str, Any]) -> str:
        """The settings under which a job is entered in the ledger."""
        return source_ledger.settings_key(job.importer.name, job.importer.version, settings)

    def loaded(self, job: _Job, identity: _Identity) -> int | None:
        """Id of the source in the store that a job is the same as."""
        found = self.known.get((identity.sha256, self.key(job, self.settings(identity))))
        if found is None and identity.context:
            # entered before contexts were: the same if its path says so
            older = self.known.get((identity.sha256, self.key(job, self.plan.recorded)))
            if older is not None and context.says_same(
                job.importer, job.files, *source_ledger.paths_of(self.store, older), identity.context
            ):
                return older
        return found

    def entry(self, job: _Job, identity: _Identity) -> source_ledger.Entry:
        """What a job is entered in the ledger with."""
        return source_ledger.Entry(
            path=job.files.name,
            size=job.size,
            sha256=identity.sha256,
            importer=job.importer.name,
            version=job.importer.version,
            settings=self.settings(identity),
        )


@dataclass(frozen=True)
class _Identity:
    """What makes a source this source, besides the settings.

    ``sha256`` is of the names and bytes of its files, ``context`` what else its importer takes
    something from, ``stamps`` all files of both as they were when that was found out.
    """

    sha256: str
    context: Mapping[str, Any]
    stamps: tuple[tuple[Path, Stamp], ...]


def _identified(jobs: Sequence[_Job]) -> Iterator[_Task]:
    """Each job with its identity, found out in the background a few jobs ahead."""
    with ThreadPoolExecutor(2) as pool:
        waiting: deque[tuple[int, _Job, Future[_Identity]]] = deque()
        for number, job in enumerate(jobs):
            waiting.append((number, job, pool.submit(_identity, job)))
            if len(waiting) > LOOK_AHEAD:
                yield _result(*waiting.popleft())
        while waiting:
            yield _result(*waiting.popleft())


def _result(number: int, job: _Job, future: Future[_Identity]) -> _Task:
    error = future.exception()
    return _Task(number, job, error if isinstance(error, Exception) else future.result())


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


def _checked(work: _Work, found: Iterable[_Task]) -> Iterable[_Task]:
    """The tasks as they come; all are looked at first where a value could rename models.

    Raises:
        MisuseError: the runs of several models would be filed as one.
    """
    plan = work.plan
    wanted = plan.settings.values.get("model")
    if wanted is None or plan.may_rename:
        return found
    tasks = list(found)
    named: dict[str, str] = {}
    for task in tasks:
        job, identity = task.job, task.identity
        if isinstance(identity, _Identity) and work.loaded(job, identity) is None:
            for model in _models_named(job, plan.settings):
                named.setdefault(model, job.files.name)
    named.pop(str(wanted), None)
    if len(named) > 1:
        shown = ", ".join(f"{model} in {source}" for model, source in list(named.items())[:3])
        raise MisuseError(
            f"--set model={wanted} would file {len(named)} models that have names as one: {shown}"
            f"{', …' if len(named) > 3 else ''}; --default model={wanted} names only what lacks a "
            "name, --force files all of them so"
        )
    return tasks


def _models_named(job: _Job, settings: ImportSettings) -> set[str]:
    """The models that a source itself names; none where it cannot be read."""
    bare = replace(
        settings,
        values={name: value for name, value in settings.values.items() if name != "model"},
        defaults={name: value for name, value in settings.defaults.items() if name != "model"},
    )
    try:
        dump = job.importer.read(job.files, bare)
    except Exception:  # whatever it is: loading it will say so, and it may only lack the name
        return set()
    dump.close()
    return {header.model for header in dump.runs if header.model}


@dataclass(frozen=True)
class _Claimed:
    """A source that this process has claimed, to be loaded."""

    task: _Task
    identity: _Identity
    claim: Claim
    rejections: list[Rejection] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.task.job.files.name

    @property
    def reading(self) -> Reading:
        return _reading(self.task.job, self.identity)


def _reading(job: _Job, identity: _Identity) -> Reading:
    return Reading(job.importer, job.files, identity.stamps)


@dataclass(frozen=True)
class _Together:
    """Sources that were parsed into one slot, and those that are to be read one by one."""

    parsed: Parsed
    taken: Sequence[_Claimed]
    left: Sequence[_Claimed]


@dataclass(frozen=True)
class _Begun:
    """Sources of which some need no loading and have their reports already, by number; the others
    are being parsed into a slot."""

    tasks: Sequence[_Task]
    slot: int
    reports: dict[int, LoadReport]
    claimed: Sequence[_Claimed] = ()
    parsed: Future[_Together] | None = None


def _begin(work: _Work, group: Sequence[_Task], slot: int, *, patient: bool = False) -> _Begun:
    """Claim sources and have them parsed, unless they are in the store already. Those that another
    process is at are put off; the patient wait for them."""
    reports: dict[int, LoadReport] = {}
    wanted: list[_Wanted] = []
    for task in group:
        job, name, identity = task.job, task.job.files.name, task.identity
        if isinstance(identity, Exception):
            error = work.shown(_unreadable(job, identity))
            reports[task.number] = LoadReport(name, "refused", error=error)
            continue
        if (known := work.loaded(job, identity)) is not None:
            reports[task.number] = LoadReport(name, "unchanged", source_id=known)
            continue
        entry = work.entry(job, identity)
        if entry.source in work.begun and not patient:
            work.late.append(task)
            continue
        work.begun.add(entry.source)
        wanted.append(_Wanted(task, identity, entry))
    claimed = _claim(work, wanted, reports, patient) if wanted else []
    ours = {*reports, *(item.task.number for item in claimed)}
    begun = [task for task in group if task.number in ours]
    if not claimed:
        return _Begun(begun, slot, reports)
    parsed = work.pool.submit(_parse, work, claimed, slot)
    return _Begun(begun, slot, reports, claimed, parsed)


@dataclass(frozen=True)
class _Wanted:
    """A source that is not in the store, as far as this process knows."""

    task: _Task
    identity: _Identity
    entry: source_ledger.Entry


def _claim(work: _Work, wanted: Sequence[_Wanted], reports: dict[int, LoadReport], patient: bool) -> list[_Claimed]:
    """Those of some sources that are for this process to load, entered in the ledger."""
    if not work.dry_run:
        sources = [item.entry.source for item in wanted]
        free = source_ledger.reserve(work.store, sources, patient=patient)
        taken = list(zip(wanted, free, strict=True))
        work.late += [item.task for item, ours in taken if not ours]
        wanted = [item for item, ours in taken if ours]
    entries = [item.entry for item in wanted]
    claims = source_ledger.claim_all(work.store, entries, dry_run=work.dry_run)
    claimed: list[_Claimed] = []
    there: list[source_ledger.Entry] = []
    for item, claim in zip(wanted, claims, strict=True):
        if claim is not None:
            claimed.append(_Claimed(item.task, item.identity, claim))
            continue
        reports[item.task.number] = LoadReport(item.entry.path, "unchanged")
        there.append(item.entry)
    _release(work, [entry.source for entry in there])
    return claimed


def _release(work: _Work, sources: Sequence[tuple[str, str]]) -> None:
    if sources and not work.dry_run:
        source_ledger.release(work.store, sources)


def _unreadable(job: _Job, error: Exception) -> str:
    """What is said of a source whose files cannot be read."""
    if isinstance(error, WarehouseError):
        return str(error)
    said = [f"{path}: {reason}" for path in job.files.files if (reason := why_unreadable(path))]
    return said[0] if said else f"{job.files.name}: cannot be read: {error}"


def _parse(work: _Work, claimed: Sequence[_Claimed], slot: int) -> _Together:
    """Parse sources into a slot: one, or what can be read of several. What is read must be what was
    hashed.

    Raises:
        InputError: a file changed while it was read, or what is wrong with one otherwise.
        NotTogetherError: they are too large to be loaded together.
    """
    there = _parse_elsewhere(work, claimed, slot)
    if isinstance(there, _Together):
        return there
    all_stamps = [stamp for item in claimed for stamp in item.identity.stamps]
    try:
        found = _parse_stamped(work, claimed, slot)
    except Exception:
        stamps.refuse_changed(all_stamps)  # then it is no wonder
        raise
    stamps.refuse_changed(all_stamps)
    if there and work.apart is not None:
        work.apart.read_here(len(found.taken), there)
    return found


def _parse_elsewhere(work: _Work, claimed: Sequence[_Claimed], slot: int) -> _Together | str | None:
    """What executors made of sources; ``None`` if they were not asked, a text if they could not."""
    numbers = tuple(item.task.number for item in claimed)
    if work.apart is None:
        return None
    found = work.apart.take(numbers)
    if not isinstance(found, Arrived):
        return found
    with found.archive:
        parsed = work.loader.receive(found.dumps, found.n_rows, found.rows(), slot)
    work.apart.release(numbers)
    for dump in found.dumps:
        work.retell(dump)
    taken = [claimed[place] for place in found.places]
    if len(claimed) == 1:
        claimed[0].rejections[:] = found.dumps[0].rejections
    return _Together(parsed, taken, [item for item in claimed if item not in taken])


def _parse_stamped(work: _Work, claimed: Sequence[_Claimed], slot: int) -> _Together:
    if len(claimed) == 1:
        return _Together(_parse_one(work, claimed[0], slot), claimed, [])
    readings = [item.reading for item in claimed]
    places, dumps = read_together(readings, work.plan.settings, work.plan.options.max_rejected)
    parsed = work.loader.parse_all(dumps, work.plan.options, slot)
    for dump in dumps:
        work.retell(dump)
    taken = [claimed[place] for place in places]
    return _Together(parsed, taken, [item for item in claimed if item not in taken])


def _parse_one(work: _Work, item: _Claimed, slot: int) -> Parsed:
    while True:
        dump = read(item.reading, work.plan.settings)
        try:
            return work.loader.parse(dump, work.plan.options, slot)
        except NeedsMemoryError:
            if not work.loader.more_memory():
                raise
        finally:
            work.retell(dump)
            item.rejections[:] = dump.rejections


def _finish(work: _Work, begun: _Begun) -> None:
    """Load what was begun, and tell what became of every source."""
    for task in begun.tasks:
        work.watcher.source(task.job.files.name, task.job.size)
    reports = dict(begun.reports)
    try:
        if begun.parsed is not None:
            reports |= _load(work, begun.claimed, begun.parsed, begun.slot)
    finally:
        _release(work, [(item.claim.sha256, item.claim.key) for item in begun.claimed])
    for task in begun.tasks:
        work.reports[task.number] = reports[task.number]
        work.watcher.done(reports[task.number])


def _load(work: _Work, claimed: Sequence[_Claimed], parsed: Future[_Together], slot: int) -> dict[int, LoadReport]:
    """Load sources in one transaction. Where one stands in the way of the others, halves of them
    are tried, down to that one by itself: what becomes of each is what would without the others."""
    if len(claimed) == 1:
        return {claimed[0].task.number: _load_one(work, claimed[0], parsed)}
    try:
        reports, left = _load_together(work, parsed)
    except (InputError, MisuseError) as error:
        _log.debug("%d sources are loaded in parts: %s", len(claimed), error)
        middle = len(claimed) // 2
        halves = [claimed[:middle], claimed[middle:]]
        reports = {}
    else:
        halves = [[item] for item in left]
    for half in halves:
        reports |= _load(work, half, work.pool.submit(_parse, work, half, slot), slot)
    return reports


def _load_together(work: _Work, parsed: Future[_Together]) -> tuple[dict[int, LoadReport], Sequence[_Claimed]]:
    """The reports of several sources by number, and the sources that are left to be loaded."""
    try:
        found = parsed.result()
    except WarehouseError:
        raise
    except Exception as error:
        raise NotTogetherError(str(error)) from error
    if not found.taken:
        return {}, found.left
    work.watcher.advance(found.parsed.n_rows)
    claims = [item.claim for item in found.taken]
    reports = work.loader.load_all(found.parsed, claims, work.plan.options)
    numbers = [item.task.number for item in found.taken]
    return dict(zip(numbers, reports, strict=True)), found.left


def _load_one(work: _Work, item: _Claimed, parsed: Future[_Together]) -> LoadReport:
    """Load a source that was begun; one that cannot be taken is refused, with the reason."""
    name = item.name
    try:
        found = _parsed(item, parsed).parsed
        work.watcher.advance(found.n_rows)
        return work.loader.load(found, item.claim, work.plan.options, dry_run=work.dry_run)
    except (InputError, MisuseError) as error:
        told = work.shown(str(error))
        message = told if name in told else f"{name}: {told}"
        if not work.dry_run:
            source_ledger.refuse(work.store, item.claim, message, item.rejections)
        return LoadReport(name, "refused", n_rejected=len(item.rejections), error=message)


def _parsed(item: _Claimed, parsed: Future[_Together]) -> _Together:
    """What came of the parsing of a source.

    Raises:
        InputError: also where the importer failed in a way that it should not: one source that an
            importer cannot cope with does not stop the others.
    """
    try:
        return parsed.result()
    except WarehouseError:
        raise
    except Exception as error:
        if reason := engines.disk_full(error):
            raise DiskFullError(reason) from error
        # the latter are the words of the parser
        if isinstance(error, RecursionError) or "Recursion limit" in str(error):
            raise InputError(
                "lists or objects stand inside each other, too deep to read",
                expected="at most 250 levels",
                advice="repair that place, or leave it out",
            ) from error
        tool = item.task.job.importer.name
        _log.debug("the importer %s failed", tool, exc_info=True)
        raise InputError(
            f"the importer '{tool}' failed on it: {type(error).__name__}: {error}",
            advice="this is a defect of the importer; -v shows where",
        ) from error


def _cluster(store: Store, reports: Sequence[LoadReport], fields: Sequence[str]) -> list[str]:
    """Cluster the benchmarks of some sources; returns those whose prompts lack the fields."""
    source_ids = [report.source_id for report in reports if report.source_id is not None]
    lacking = []
    for name in source_ledger.benchmarks_of(store, source_ids):
        try:
            field_clusters.cluster_by(store, name, fields, default=True)
        except MisuseError:
            lacking.append(name)
    return lacking


# --- published against recomputed ------------------------------------------------------------
