"""Sources that are for this process to load: looked up in the ledger, and entered there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from warehouse.errors import WarehouseError
from warehouse.importers.common.file_walk import why_unreadable
from warehouse.ingest.discover import _Job
from warehouse.ingest.reading import Reading
from warehouse.ingest.tasks import Identity, Task, reading_of
from warehouse.ingest.work import Work
from warehouse.records import Rejection
from warehouse.store.load import source_ledger
from warehouse.store.load.state import Claim, LoadReport


@dataclass(frozen=True)
class Claimed:
    """A source that this process has claimed, to be loaded."""

    task: Task
    identity: Identity
    claim: Claim
    rejections: list[Rejection] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.task.job.files.name

    @property
    def reading(self) -> Reading:
        return reading_of(self.task.job, self.identity)


@dataclass(frozen=True)
class Wanted:
    """A source that is not in the store, as far as this process knows."""

    task: Task
    identity: Identity
    entry: source_ledger.Entry


def claim_sources(work: Work, wanted: Sequence[Wanted], reports: dict[int, LoadReport], patient: bool) -> list[Claimed]:
    """Those of some sources that are for this process to load, entered in the ledger."""
    if not work.dry_run:
        sources = [item.entry.source for item in wanted]
        free = source_ledger.reserve(work.store, sources, patient=patient)
        taken = list(zip(wanted, free, strict=True))
        work.late += [item.task for item, ours in taken if not ours]
        wanted = [item for item, ours in taken if ours]
    entries = [item.entry for item in wanted]
    claims = source_ledger.claim_all(work.store, entries, dry_run=work.dry_run)
    claimed: list[Claimed] = []
    there: list[source_ledger.Entry] = []
    for item, claim in zip(wanted, claims, strict=True):
        if claim is not None:
            claimed.append(Claimed(item.task, item.identity, claim))
            continue
        reports[item.task.number] = LoadReport(item.entry.path, "unchanged")
        there.append(item.entry)
    release(work, [entry.source for entry in there])
    return claimed


def release(work: Work, sources: Sequence[tuple[str, str]]) -> None:
    if sources and not work.dry_run:
        source_ledger.release(work.store, sources)


def why_refused(job: _Job, error: Exception) -> str:
    """What is said of a source whose files cannot be read."""
    if isinstance(error, WarehouseError):
        return str(error)
    reasons = [f"{path}: {reason}" for path in job.files.files if (reason := why_unreadable(path))]
    return reasons[0] if reasons else f"{job.files.name}: cannot be read: {error}"
