"""From paths to a loaded store: walk, claim, hash, read, load, reconcile."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warehouse.errors import InputError, MisuseError, WarehouseError, without_prefix
from warehouse.ingest.discover import Discovered, _DiscoveryPlan, _Job, discover
from warehouse.ingest.file_rules import FileRules
from warehouse.ingest.name_notes import (
    last_ids,
    notes_on_ids,
    notes_on_named,
    notes_on_names,
)
from warehouse.ingest.parse_elsewhere import Apart
from warehouse.ingest.parsing import (
    Claimed,
    ParsingContext,
    Together,
    Wanted,
    checked,
    claim_sources,
    parse_claimed,
    parsed_source,
    release,
    why_refused,
)
from warehouse.ingest.progress import IngestProgress, Silent
from warehouse.ingest.published_figures import HeldAgainst, held_against
from warehouse.ingest.reading import (
    TINY_BYTES,
    Reading,
    ReadingTask,
    grouped,
    identified,
    reading_of,
    unpacked_size,
    waves,
)
from warehouse.ingest.remote import fetched
from warehouse.ingest.report import (
    IngestReport,
    RepeatNotes,
    doubtful_notes,
    merged,
    names_read,
)
from warehouse.ingest.run_notes import (
    may_share,
    notes_on_corrected,
    notes_on_repeats,
    notes_on_scales,
    notes_on_settings,
    notes_on_shared,
)
from warehouse.records import SourceFiles
from warehouse.records.credentials import masked
from warehouse.store.connection import Store
from warehouse.store.curate import field_clusters
from warehouse.store.lake.sync import require_fit, sync
from warehouse.store.load import source_ledger
from warehouse.store.load.duplicates import RowsTwiceError
from warehouse.store.load.loader import Loader
from warehouse.store.load.state import LoadOptions, LoadReport, NotTogetherError

_log = logging.getLogger(__name__)


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
    progress: IngestProgress | None = None,
    only: Callable[[Sequence[Path]], bool] | None = None,
    on: str | None = None,
    lake: str | None = None,
    rules: FileRules | None = None,
) -> IngestReport:
    """Load every dump found under some paths: files, folders or URLs.

    Arguments and errors are those of :meth:`warehouse.api.Warehouse.ingest`.
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
            rules=rules,
        )
        named = local.named(discovered)
        return load(
            store,
            named,
            dry_run=dry_run,
            progress=progress,
            only=only,
            on=on,
            lake=lake,
        )


def load(
    store: Store,
    discovered: Discovered,
    *,
    dry_run: bool = False,
    progress: IngestProgress | None = None,
    only: Callable[[Sequence[Path]], bool] | None = None,
    on: str | None = None,
    lake: str | None = None,
) -> IngestReport:
    """Load what :func:`~warehouse.ingest.discover.discover` has found; the rest as
    :func:`ingest`.

    Raises:
        MisuseError: a value of ``model`` that would rename several models; a lake for a
            dry run.
    """
    started = time.monotonic()
    if lake is not None and dry_run:
        raise MisuseError(
            "a dry run stores nothing that a lake could be brought up to: give one of "
            "the two"
        )
    if lake is not None:
        require_fit(store, lake)  # before anything is read for nothing
    if discovered.more:
        first, *others = replace(discovered, more=()), *discovered.more
        parts = [
            load(store, part, dry_run=dry_run, progress=progress, only=only, on=on)
            for part in (first, *others)
        ]
        synced = None if lake is None else sync(store, lake)
        return replace(merged(parts), lake=synced)
    plan, jobs, missed = discovered.plan, discovered.jobs, discovered.missed
    if only is not None:
        jobs = tuple(job for job in jobs if only(job.files.files))
        missed = [item for item in missed if only((item.path,))]
    before = {} if dry_run else last_ids(store)
    watcher = progress or Silent()
    watcher.start(sum(job.size for job in jobs))
    reports = [LoadReport(item.shown, "refused", error=str(item)) for item in missed]
    with _collecting_only_what_is_new():
        loaded, notes = _load_all(store, jobs, plan, dry_run, watcher, on)
    reports += loaded
    left = [
        item for item in discovered.unread_by_all if not _is_the_store(store, item.path)
    ]
    fields = plan.options.cluster_by
    shared: list[str] = []
    changed: list[str] = []
    against = HeldAgainst()
    if not dry_run:
        corrected, named = (
            notes_on_corrected(store, reports),
            notes_on_named(store, reports, plan.settings.model),
        )
        repeats = RepeatNotes() if named else notes_on_repeats(store, reports)
        may = may_share(store, reports)
        changed += [
            *corrected.doubtful,
            *notes_on_scales(store, reports, may),
            *notes_on_settings(store, reports),
        ]
        changed += [*named, *repeats.doubtful]
        shared += [*corrected.told, *repeats.told]
        after = last_ids(store)
        shared += notes_on_shared(store, reports, may)
        shared += notes_on_ids(store, reports, before["prompt"], after["prompt"])
        against = held_against(store, reports)
        shared += [*notes_on_names(store, before, after), *against.notes]
    lacking = _cluster(store, reports, fields) if fields and not dry_run else []
    return IngestReport(
        sources=tuple(reports),
        unclaimed=tuple(item.shown for item in left),
        unread=tuple(left),
        reconciliation=against.reconciled,
        notes=(
            *discovered.notes,
            *notes,
            *changed,
            *shared,
            *(
                f"{name}: no prompt has the field {','.join(fields)}"
                for name in lacking
            ),
        ),
        changed=(*doubtful_notes(reports), *changed),
        lake=None if lake is None or dry_run else sync(store, lake),
        seconds=round(time.monotonic() - started, 3),
        names=() if dry_run else names_read(store, reports),
    )


def _is_the_store(store: Store, path: Path) -> bool:
    """True if a file below the paths is that into which they are read, or its log."""
    if not store.dialect.embedded:
        return False
    file = Path(store.url.database or "").resolve()
    return path.resolve() in (file, file.with_name(f"{file.name}.wal"))


@contextmanager
def _collecting_only_what_is_new() -> Iterator[None]:
    """Python looks for circles among what was there before again and again: a twentieth
    of a load of many objects."""
    if gc.get_freeze_count():  # somebody else has said what stays
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _load_all(
    store: Store,
    jobs: Sequence[_Job],
    plan: _DiscoveryPlan,
    dry_run: bool,
    watcher: IngestProgress,
    on: str | None = None,
) -> tuple[list[LoadReport], list[str]]:
    """Load the sources in order, small ones together; while some are loaded, the next
    are parsed on another thread, or on executors. Gives the reports, and notes on all.
    """
    apart = None if on is None else Apart(on, plan.settings, plan.options)
    with ThreadPoolExecutor(1) as pool:
        loader = Loader(store, overlapping=len(jobs) > 1, once=len(jobs) == 1)
        work = ParsingContext(store, loader, pool, plan, dry_run, watcher, apart)
        try:
            waiting: _Begun | None = None
            slot = 0
            if dry_run or len(jobs) == 1:
                work.small_bytes = -1
            for group in _sent(
                work, grouped(checked(work, identified(jobs)), lambda: work.small_bytes)
            ):
                begun = _begin(work, group, slot)
                if waiting is not None:
                    _finish(work, waiting)
                waiting, slot = begun, 1 - slot
            if waiting is not None:
                _finish(work, waiting)
            _load_late(work)
            if (
                any(report.state == "loaded" for report in work.reports.values())
                and not dry_run
            ):
                with store.begin() as connection:
                    store.dialect.analyze(connection)
        finally:
            if apart is not None:
                apart.close()
            loader.close()
    return [
        report for _, report in sorted(work.reports.items())
    ], apart.notes() if apart else []


def _sent(
    work: ParsingContext, groups: Iterable[list[ReadingTask]]
) -> Iterator[list[ReadingTask]]:
    """The groups as they come; to executors they are sent in waves, the next while one
    is loaded."""
    if work.apart is None:
        yield from groups
        return
    before: list[list[ReadingTask]] = []
    seen: set[tuple[str, str]] = set()
    for wave in waves(groups):
        fresh = [_fresh(work, group, seen) for group in wave]
        work.apart.send(
            [(tuple(numbers), readings) for numbers, readings in fresh if numbers]
        )
        yield from before
        before = wave
    yield from before


def _fresh(
    work: ParsingContext, group: Sequence[ReadingTask], seen: set[tuple[str, str]]
) -> tuple[list[int], list[Reading]]:
    """The parts of a group that :func:`_begin` will want, unless another process is at
    one of them."""
    numbers, readings = [], []
    for task in group:
        if (
            isinstance(task.identity, Exception)
            or work.loaded(task.job, task.identity) is not None
        ):
            continue
        source = work.entry(task.job, task.identity).source
        if source not in seen:
            seen.add(source)
            numbers.append(task.number)
            readings.append(reading_of(task.job, task.identity))
    return numbers, readings


def _load_late(work: ParsingContext) -> None:
    """The sources that another process, or this one, was at when their turn came."""
    if work.late:
        work.loaded_ids = source_ledger.loaded(work.store)
    for task in work.late:  # who waits for a source holds no other
        _finish(work, _begin(work, [task], 0, patient=True))


@dataclass(frozen=True)
class _Begun:
    """Sources of which some need no loading and have their reports already, by number;
    the others are being parsed into a slot."""

    tasks: Sequence[ReadingTask]
    slot: int
    reports: dict[int, LoadReport]
    claimed: Sequence[Claimed] = ()
    parsed: Future[Together] | None = None


def _begin(
    work: ParsingContext,
    group: Sequence[ReadingTask],
    slot: int,
    *,
    patient: bool = False,
) -> _Begun:
    """Claim sources and have them parsed, unless they are in the store already. Those
    that another process is at are put off; the patient wait for them."""
    reports: dict[int, LoadReport] = {}
    to_parse: list[Wanted] = []
    for task in group:
        job = task.job
        name = task.job.shown
        identity = task.identity
        if isinstance(identity, Exception):
            error = work.shown(why_refused(job, identity))
            reports[task.number] = LoadReport(name, "refused", error=error)
            continue
        if (loaded_id := work.loaded(job, identity)) is not None:
            reports[task.number] = LoadReport(name, "unchanged", source_id=loaded_id)
            continue
        entry = work.entry(job, identity)
        if entry.source in work.begun and not patient:
            work.late.append(task)
            continue
        work.begun.add(entry.source)
        to_parse.append(Wanted(task, identity, entry))
    claimed = []
    if to_parse:
        claimed = claim_sources(work, to_parse, reports, patient)
    ours = {*reports, *(item.task.number for item in claimed)}
    begun = [task for task in group if task.number in ours]
    if not claimed:
        return _Begun(begun, slot, reports)
    parsed = work.pool.submit(parse_claimed, work, claimed, slot)
    return _Begun(begun, slot, reports, claimed, parsed)


def _finish(work: ParsingContext, begun: _Begun) -> None:
    """Load the sources that were begun; returns a report of each."""
    for task in begun.tasks:
        work.watcher.source(task.job.shown, task.job.size)
    reports = dict(begun.reports)
    try:
        if begun.parsed is not None:
            reports |= _load(work, begun.claimed, begun.parsed, begun.slot)
    finally:
        release(work, [(item.claim.sha256, item.claim.key) for item in begun.claimed])
    for task in begun.tasks:
        work.reports[task.number] = replace(
            reports[task.number], n_files=len(task.job.files.files)
        )
        work.watcher.done(reports[task.number], task.job.size)


def _load(
    work: ParsingContext,
    claimed: Sequence[Claimed],
    parsed: Future[Together],
    slot: int,
) -> dict[int, LoadReport]:
    """Load sources in one transaction. Where one stands in the way of the others,
    halves of them are tried, down to that one by itself: what becomes of each is what
    would without the others. Larger ones are tried together no more, since all of the
    same dump may stand in each other's way."""
    if len(claimed) == 1:
        return {claimed[0].task.number: _load_one(work, claimed[0], parsed)}
    try:
        reports, left = _load_together(work, parsed)
    except (InputError, MisuseError) as error:
        _log.debug("%d sources are loaded in parts: %s", len(claimed), error)
        middle = len(claimed) // 2
        halves = [claimed[:middle], claimed[middle:]]
        reports = {}
        if any(unpacked_size(item.task.job) > TINY_BYTES for item in claimed):
            work.small_bytes = TINY_BYTES
            halves = [[item] for item in claimed]
    else:
        halves = [[item] for item in left]
    for half in halves:
        reports |= _load(
            work, half, work.pool.submit(parse_claimed, work, half, slot), slot
        )
    return reports


def _load_together(
    work: ParsingContext, parsed: Future[Together]
) -> tuple[dict[int, LoadReport], Sequence[Claimed]]:
    """The reports of several sources by number, and the sources that are left to be
    loaded."""
    try:
        together = parsed.result()
    except WarehouseError:
        raise
    except Exception as error:
        raise NotTogetherError(str(error)) from error
    if not together.taken:
        return {}, together.left
    work.watcher.advance(together.parsed.n_rows)
    claims = [item.claim for item in together.taken]
    reports = work.loader.load_all(together.parsed, claims, work.plan.options)
    numbers = [item.task.number for item in together.taken]
    return dict(zip(numbers, reports, strict=True)), together.left


def _load_one(
    work: ParsingContext, item: Claimed, parsed: Future[Together]
) -> LoadReport:
    """Load a source that was begun; one that cannot be taken is refused, with the
    reason."""
    name = item.name
    try:
        staged = parsed_source(item, parsed).parsed
        work.watcher.advance(staged.n_rows)
        return work.loader.load(
            staged, item.claim, work.plan.options, dry_run=work.dry_run
        )
    except (InputError, MisuseError) as error:
        told = _with_what_tells_apart(work, item.task.job, error)
        reason = masked(
            work.shown(f"{told}{_which_is_later(work.store, item.task.job, error)}")
        )
        if name in reason:
            message = reason
        else:
            message = f"{name}: {without_prefix(reason, name)}"
        if not work.dry_run:
            source_ledger.refuse(work.store, item.claim, message, item.rejections)
        return LoadReport(
            name, "refused", n_rejected=len(item.rejections), error=message
        )


def _with_what_tells_apart(
    work: ParsingContext, job: _Job, error: WarehouseError
) -> str:
    """The words of an error; before what keeps one of the rows that it is about, what
    tells these apart, where the importer knows."""
    tells_apart = getattr(job.importer, "tells_apart", None)
    if tells_apart is None or not isinstance(error, RowsTwiceError):
        return str(error)
    words = tells_apart(job.files, work.plan.settings)
    if not words:
        return str(error)
    return error.told_apart(words)


def _which_is_later(store: Store, job: _Job, error: WarehouseError) -> str:
    """Which of two sources that contradict each other is the later, where both are at
    hand and their importer knows."""
    in_time = getattr(job.importer, "in_time", None)
    run = getattr(error, "run_id", None)
    if in_time is None or run is None:
        return ""
    sources = (
        "select path from source join run_source on id = source_id where run_id = :run"
    )
    for row in store.rows(sources, {"run": run}):
        path = Path(row["path"])
        new = job.files
        stored = SourceFiles(row["path"], path.parent, (path,))
        # else it was changed where it lay
        is_there = path.is_file() and not path.samefile(new.files[0])
        if is_there:
            orders = ([stored, new], [new, stored])
            last = {in_time(pair)[-1].name for pair in orders}
        else:
            last = set()
        if len(last) == 1:
            is_new = last == {new.name}
            return "; by the times in both, " + (
                "this file is the later" if is_new else f"{row['path']} is the later"
            )
    return ""


def _cluster(
    store: Store, reports: Sequence[LoadReport], fields: Sequence[str]
) -> list[str]:
    """Cluster the benchmarks of some sources; returns those whose prompts lack the
    fields."""
    source_ids = [
        report.source_id for report in reports if report.source_id is not None
    ]
    lacking = []
    for name in source_ledger.benchmarks_of(store, source_ids):
        try:
            field_clusters.cluster_by(store, name, fields, default=True)
        except MisuseError:
            lacking.append(name)
    return lacking
