"""The report on every source: published figures against recomputed ones, prompts
shared with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from warehouse.errors import without_prefix
from warehouse.importers.common.file_walk import Unread
from warehouse.store.lake.sync import SyncReport
from warehouse.store.load.state import LoadReport


@dataclass(frozen=True)
class IngestReport:
    """The outcome of every source; totals are sums over them."""

    sources: tuple[LoadReport, ...]
    unclaimed: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()  # the unclaimed files, each with the reason
    reconciliation: tuple[Reconciled, ...] = ()
    notes: tuple[str, ...] = ()
    # of all notes those on what may be read in two ways, or by which figures that stood
    # before mean something else
    changed: tuple[str, ...] = ()
    lake: SyncReport | None = None  # of the lake that was brought up afterwards
    seconds: float = 0.0

    def total(self, name: str) -> int:
        """Sum of one count (``n_runs``, ``n_scores`` …) over the sources."""
        return sum(getattr(report, name) for report in self.sources)

    @property
    def all_notes(self) -> list[str]:
        """Notes on sources, each once, then those on all."""
        noted: list[tuple[str, str]] = []
        for report in self.sources:
            noted += [(report.source, note) for note in report.notes]
        return [*_of_sources(noted), *self.notes]

    @property
    def joined_runs(self) -> tuple[int, ...]:
        """Ids of the new runs of sources of which some run joined runs of its
        condition."""
        return tuple(
            chain.from_iterable(
                report.run_ids for report in self.sources if report.n_repeats
            )
        )

    def with_changed(self, notes: Iterable[str]) -> IngestReport:
        """The same with more notes on what stood before."""
        added = tuple(notes)
        if added:
            return replace(
                self, notes=(*added, *self.notes), changed=(*added, *self.changed)
            )
        return self

    @property
    def refused(self) -> tuple[LoadReport, ...]:
        """Sources of which nothing was stored."""
        return tuple(report for report in self.sources if report.state == "refused")

    def __str__(self) -> str:
        states = Counter(item.state for item in self.sources)
        lines = [
            f"sources   {len(self.sources)}: {states['loaded']} loaded, "
            f"{states['unchanged']} unchanged, {states['refused']} refused",
            f"runs      {self.total('n_runs')} new, {self.total('n_seen_again')} seen "
            f"again, {self.total('n_superseded')} superseded, "
            f"{self.total('n_repeats')} repeats",
            f"samples   {self.total('n_samples')}",
            f"scores    {self.total('n_scores')}",
            *([f"votes     {self.total('n_votes')}"] if self.total("n_votes") else []),
            "notes     "
            f"{sum(len(item.notes) for item in self.sources) + len(self.notes)}",
            f"rejected  {self.total('n_rejected')} rows",
            f"seconds   {self.seconds:.1f}",
        ]
        if self.unclaimed:
            lines.insert(1, f"not dumps {len(self.unclaimed)} files")
        return "\n".join(lines)

    @property
    def one_line(self) -> str:
        """The totals in one line."""
        counts = (
            f"{len(self.sources)} sources, {self.total('n_runs')} runs new, "
            f"{self.total('n_seen_again')} seen again, {self.total('n_superseded')} "
            f"superseded, {self.total('n_repeats')} repeats, {self.total('n_samples')} "
            f"samples, {self.total('n_scores')} scores"
        )
        if self.total("n_votes"):
            counts += f", {self.total('n_votes')} votes"
        return counts


def merged(reports: Sequence[IngestReport]) -> IngestReport:
    """One report of several loads, one after the other."""

    def all_of(name: str) -> tuple[Any, ...]:
        parts = chain.from_iterable(getattr(report, name) for report in reports)
        return tuple(dict.fromkeys(parts))

    return IngestReport(
        sources=tuple(chain.from_iterable(report.sources for report in reports)),
        unclaimed=all_of("unclaimed"),
        unread=all_of("unread"),
        reconciliation=all_of("reconciliation"),
        notes=all_of("notes"),
        changed=all_of("changed"),
        seconds=round(sum(report.seconds for report in reports), 3),
    )


def _of_sources(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Each note once, with its source, or the first and the number of those of which
    the same is said."""
    sources: dict[str, list[str]] = {}
    for source, note in notes:
        sources.setdefault(without_prefix(note, source), []).append(source)
    notes_with_source = []
    for note, (first, *others) in sources.items():
        whose = first
        if others:
            whose = f"{len(others) + 1} sources, the first {first}"
        notes_with_source.append(f"{whose}: {note}")
    return notes_with_source


def doubtful_notes(reports: Iterable[LoadReport]) -> list[str]:
    """Notes on single sources that say what may be read in two ways."""
    noted: list[tuple[str, str]] = []
    for report in reports:
        noted += [(report.source, note) for note in report.doubtful]
    return _of_sources(noted)


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


#: Pairs of benchmarks that a note names.
MOST_NAMED = 3


@dataclass(frozen=True)
class RepeatNotes:
    """Notes on new runs that joined others of their condition."""

    #: of runs that ids, seeds, times or the like tell apart, as repeats are.
    told: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()  #: of what may be read in two ways, or contradicts.


def some(parts: Sequence[str]) -> str:
    more = []
    if len(parts) > MOST_NAMED:
        more = [f"{len(parts) - MOST_NAMED} more"]
    return ", ".join([*parts[:MOST_NAMED], *more])
