"""What became of every source."""

from __future__ import annotations

from collections import Counter
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
