"""Sources that are for this process to load: claimed in the ledger, and parsed here or
by executors."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import DiskFullError, InputError, MisuseError, WarehouseError
from warehouse.importers.common import file_walk as stamps
from warehouse.importers.common import source_context as context
from warehouse.importers.common.file_walk import why_unreadable
from warehouse.ingest.discover import _DiscoveryPlan, _Job
from warehouse.ingest.parse_elsewhere import Apart, Arrived
from warehouse.ingest.progress import IngestProgress
from warehouse.ingest.reading import (
    SMALL_BYTES,
    Identity,
    Reading,
    ReadingTask,
    read,
    read_together,
    reading_of,
    unpacked_size,
)
from warehouse.records import Dump, ImportSettings, Rejection
from warehouse.records.credentials import masked
from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.load import source_ledger
from warehouse.store.load.bulk_insert import NeedsMemoryError
from warehouse.store.load.loader import Loader
from warehouse.store.load.state import LoadReport, Parsed, SourceClaim

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Together:
    """Sources that were parsed into one slot, and those that are to be read one by
    one."""

    parsed: Parsed
    taken: Sequence[Claimed]
    left: Sequence[Claimed]


def parse_claimed(
    work: ParsingContext, claimed: Sequence[Claimed], slot: int
) -> Together:
    """Parse sources into a slot: one, or what can be read of several. What is read must
    be what was hashed.

    Raises:
        InputError: a file changed while it was read, or what is wrong with one
            otherwise.
        NotTogetherError: they are too large to be loaded together.
    """
    there = _parse_on_executors(work, claimed, slot)
    if isinstance(there, Together):
        return there
    all_stamps = list(chain.from_iterable(item.identity.stamps for item in claimed))
    try:
        together = _parse_stamped(work, claimed, slot)
    except Exception:
        stamps.refuse_changed(all_stamps)  # then it is no wonder
        raise
    stamps.refuse_changed(all_stamps)
    if there and work.apart is not None:
        work.apart.read_here(len(together.taken), there)
    return together


def _parse_on_executors(
    work: ParsingContext, claimed: Sequence[Claimed], slot: int
) -> Together | str | None:
    """Sources as executors parsed them; ``None`` if they were not asked, a text if they
    could not."""
    numbers = tuple(item.task.number for item in claimed)
    if work.apart is None:
        return None
    arrived = work.apart.take(numbers)
    if not isinstance(arrived, Arrived):
        return arrived
    with arrived.archive:
        parsed = work.loader.receive(
            arrived.dumps, arrived.n_rows, arrived.rows(), slot
        )
    work.apart.release(numbers)
    for dump in arrived.dumps:
        work.retell(dump)
    taken = [claimed[index] for index in arrived.indices]
    if len(claimed) == 1:
        claimed[0].rejections[:] = arrived.dumps[0].rejections
    return Together(parsed, taken, [item for item in claimed if item not in taken])


def _parse_stamped(
    work: ParsingContext, claimed: Sequence[Claimed], slot: int
) -> Together:
    work.loader.expect_source(max(unpacked_size(item.task.job) for item in claimed))
    if len(claimed) == 1:
        return Together(_parse_one(work, claimed[0], slot), claimed, [])
    readings = [item.reading for item in claimed]
    indices, dumps = read_together(
        readings, work.plan.settings, work.plan.options.max_rejected
    )
    parsed = work.loader.parse_all(dumps, work.plan.options, slot)
    for dump in dumps:
        work.retell(dump)
    taken = [claimed[index] for index in indices]
    return Together(parsed, taken, [item for item in claimed if item not in taken])


def _parse_one(work: ParsingContext, item: Claimed, slot: int) -> Parsed:
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


def parsed_source(item: Claimed, parsed: Future[Together]) -> Together:
    """The result of parsing a source.

    Raises:
        InputError: also where the importer failed in a way that it should not: one
            source that an importer cannot cope with does not stop the others.
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


@dataclass(frozen=True)
class Claimed:
    """A source that this process has claimed, to be loaded."""

    task: ReadingTask
    identity: Identity
    claim: SourceClaim
    rejections: list[Rejection] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.task.job.shown

    @property
    def reading(self) -> Reading:
        return reading_of(self.task.job, self.identity)


@dataclass(frozen=True)
class Wanted:
    """A source that is not in the store, as far as this process knows."""

    task: ReadingTask
    identity: Identity
    entry: source_ledger.LedgerEntry


def claim_sources(
    work: ParsingContext,
    candidates: Sequence[Wanted],
    reports: dict[int, LoadReport],
    patient: bool,
) -> list[Claimed]:
    """Sources that are for this process to load, entered in the ledger."""
    if not work.dry_run:
        sources = [item.entry.source for item in candidates]
        free = source_ledger.reserve(work.store, sources, patient=patient)
        taken = list(zip(candidates, free, strict=True))
        work.late += [item.task for item, ours in taken if not ours]
        candidates = [item for item, ours in taken if ours]
    entries = [item.entry for item in candidates]
    claims = source_ledger.claim_all(work.store, entries, dry_run=work.dry_run)
    claimed: list[Claimed] = []
    there: list[source_ledger.LedgerEntry] = []
    for item, claim in zip(candidates, claims, strict=True):
        if claim is not None:
            claimed.append(Claimed(item.task, item.identity, claim))
            continue
        reports[item.task.number] = LoadReport(item.entry.path, "unchanged")
        there.append(item.entry)
    release(work, [entry.source for entry in there])
    return claimed


def release(work: ParsingContext, sources: Sequence[tuple[str, str]]) -> None:
    if sources and not work.dry_run:
        source_ledger.release(work.store, sources)


def why_refused(job: _Job, error: Exception) -> str:
    """The reason that is given for a source whose files cannot be read."""
    if isinstance(error, WarehouseError):
        return str(error)
    reasons = [
        f"{path}: {reason}"
        for path in job.files.files
        if (reason := why_unreadable(path))
    ]
    if reasons:
        return reasons[0]
    return f"{job.shown}: cannot be read: {error}"


class ParsingContext:
    """State that the steps of loading many sources share."""

    def __init__(
        self,
        store: Store,
        loader: Loader,
        pool: ThreadPoolExecutor,
        plan: _DiscoveryPlan,
        dry_run: bool,
        watcher: IngestProgress,
        apart: Apart | None,
    ) -> None:
        self.store = store
        self.loader = loader
        self.pool = pool
        self.plan = plan
        self.dry_run = dry_run
        self.watcher = watcher
        self.apart = apart
        self.loaded_ids = source_ledger.loaded(store)
        self.begun: set[tuple[str, str]] = set()  # what this ingest has claimed so far
        self.late: list[ReadingTask] = []
        self.reports: dict[int, LoadReport] = {}  # by number of the task
        self.small_bytes = (
            SMALL_BYTES  # of a source that is loaded together with others
        )

    def shown(self, text: str) -> str:
        """A text that may name files, as people are told it: places of copies as URLs,
        and no keys."""
        return masked(self.plan.shown(text) if self.plan.shown else text)

    def retell(self, dump: Dump) -> None:
        """Have what was said of a dump name its files as people know them."""
        if self.plan.shown:
            dump.rejections[:] = [
                replace(item, place=self.shown(item.place)) for item in dump.rejections
            ]
            dump.notes[:] = map(self.plan.shown, dump.notes)
            dump.assumed[:] = map(self.plan.shown, dump.assumed)

    def settings(self, identity: Identity) -> dict[str, Any]:
        """Settings with which a source is entered in the ledger."""
        if not identity.context:
            return dict(self.plan.recorded)
        return {**self.plan.recorded, "context": identity.context}

    def key(self, job: _Job, settings: Mapping[str, Any]) -> str:
        """The settings under which a job is entered in the ledger."""
        return source_ledger.settings_key(
            job.importer.name, job.importer.version, settings
        )

    def loaded(self, job: _Job, identity: Identity) -> int | None:
        """Id of the source in the store that a job is the same as."""
        source_id = self.loaded_ids.get(
            (identity.sha256, self.key(job, self.settings(identity)))
        )
        if source_id is None and identity.context:
            # entered before contexts were: the same if its path says so
            older = self.loaded_ids.get(
                (identity.sha256, self.key(job, self.plan.recorded))
            )
            if older is not None and context.says_same(
                job.importer,
                job.files,
                *source_ledger.paths_of(self.store, older),
                identity.context,
            ):
                return older
        return source_id

    def entry(self, job: _Job, identity: Identity) -> source_ledger.LedgerEntry:
        """The ledger's entry of a job."""
        return source_ledger.LedgerEntry(
            path=job.shown,
            size=job.size,
            sha256=identity.sha256,
            importer=job.importer.name,
            version=job.importer.version,
            settings=self.settings(identity),
            files=_hashes(job, identity),
        )


def _hashes(job: _Job, identity: Identity) -> dict[str, str]:
    """The hash of the bytes of each file of a source, by its path in it."""
    own = set(job.files.files)
    return {
        _within(path, job.files.root): stamp.sha256.hex()
        for path, stamp in identity.stamps
        if path in own
    }


def _within(path: Path, root: Path) -> str:
    if path.is_relative_to(root):
        return str(path.relative_to(root))
    return path.name


def checked(
    work: ParsingContext, incoming: Iterable[ReadingTask]
) -> Iterable[ReadingTask]:
    """The tasks as they come; all are looked at first where a value could rename
    models.

    Raises:
        MisuseError: the runs of several models would be filed as one.
    """
    plan = work.plan
    model_setting = plan.settings.values.get("model")
    if model_setting is None or plan.may_rename:
        return incoming
    tasks = list(incoming)
    named: dict[str, str] = {}
    for task in tasks:
        job, identity = task.job, task.identity
        if isinstance(identity, Identity) and work.loaded(job, identity) is None:
            for model in _models_named(job, plan.settings):
                named.setdefault(model, job.shown)
    named.pop(str(model_setting), None)
    if len(named) > 1:
        shown = ", ".join(
            f"{model} in {source}" for model, source in list(named.items())[:3]
        )
        raise MisuseError(
            f"--set model={model_setting} would file {len(named)} models that have "
            f"names as one: {shown}{', …' if len(named) > 3 else ''}; --default "
            f"model={model_setting} names only what lacks a name, --force files all of "
            "them so"
        )
    return tasks


def _models_named(job: _Job, settings: ImportSettings) -> set[str]:
    """The models that a source itself names; none where it cannot be read."""
    bare = replace(
        settings,
        values={
            name: value for name, value in settings.values.items() if name != "model"
        },
        defaults={
            name: value for name, value in settings.defaults.items() if name != "model"
        },
    )
    try:
        dump = job.importer.read(job.files, bare)
    except (
        Exception
    ):  # whatever it is: loading it will say so, and it may only lack the name
        return set()
    dump.close()
    return {header.model for header in dump.runs if header.model}
