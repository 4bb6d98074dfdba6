"""What became of every source."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.importers.common.file_walk import Unread
from warehouse.ingest.reconcile import Reconciled
from warehouse.store.lake.sync import SyncReport
from warehouse.store.load.state import LoadReport


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
        return (
            f"{len(self.sources)} sources, {self.total('n_runs')} runs new, "
            f"{self.total('n_seen_again')} seen again, {self.total('n_superseded')} superseded, "
            f"{self.total('n_samples')} samples, {self.total('n_scores')} scores"
        )
