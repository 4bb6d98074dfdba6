"""The report on every source: published figures against recomputed ones, prompts
shared with others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from textwrap import wrap
from typing import Any

from warehouse.errors import without_prefix
from warehouse.importers.common.file_walk import Unread
from warehouse.store.connection import Store
from warehouse.store.lake.sync import SyncReport
from warehouse.store.load.state import LoadReport
from warehouse.store.sql.query_files import query_text

#: Columns of what is said.
_WIDTH = 80
#: Models, and benchmarks, that are named; more are counted.
_NAMES = 2
#: What new runs hold.
_FOUND = {"n_samples": "answer", "n_scores": "score", "n_votes": "vote"}
#: What became of runs and rows, of one and of several.
_TOLD = {
    "n_repeats": (
        "of the runs repeats another: its answers are pooled with those",
        "of the runs repeat others: their answers are pooled with those",
    ),
    "n_seen_again": (
        "run was there before with the same content (seen again)",
        "runs were there before with the same content (seen again)",
    ),
    "n_superseded": (
        "run takes the place of an earlier one (superseded)",
        "runs take the place of earlier ones (superseded)",
    ),
    "n_rejected": ("row was rejected", "rows were rejected"),
}


#: What the one line counts.
_IN_A_LINE = {
    "n_runs": "runs new",
    "n_seen_again": "seen again",
    "n_superseded": "superseded",
    "n_repeats": "repeats",
    "n_samples": "samples",
    "n_scores": "scores",
    "n_votes": "votes",
}


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _called(names: Sequence[str], noun: str) -> str:
    if len(names) <= _NAMES:
        return " and ".join(names)
    return counted(len(names), noun)


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
    names: tuple[tuple[str, str], ...] = ()  # model and benchmark of each new run, once

    def said_by(self, say: Callable[[str], str]) -> IngestReport:
        """The report with its errors, reasons and notes in other words."""
        sources = []
        for report in self.sources:
            sources.append(
                replace(
                    report,
                    error=say(report.error),
                    notes=tuple(map(say, report.notes)),
                    doubtful=tuple(map(say, report.doubtful)),
                    assumed=tuple(map(say, report.assumed)),
                )
            )
        unread = [replace(file, reason=say(file.reason)) for file in self.unread]
        return replace(
            self,
            sources=tuple(sources),
            unread=tuple(unread),
            notes=tuple(map(say, self.notes)),
            changed=tuple(map(say, self.changed)),
        )

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
    def other_notes(self) -> list[str]:
        """Of all notes those on what is neither doubtful nor assumed."""
        noted: list[tuple[str, str]] = []
        for report in self.sources:
            checked = {*report.doubtful, *report.assumed}
            noted += [
                (report.source, note) for note in report.notes if note not in checked
            ]
        return [
            *_of_sources(noted),
            *(note for note in self.notes if note not in self.changed),
        ]

    @property
    def assumed(self) -> list[str]:
        """Notes on what was taken for something that nobody has said."""
        noted: list[tuple[str, str]] = []
        for report in self.sources:
            noted += [(report.source, note) for note in report.assumed]
        return _of_sources(noted)

    @property
    def n_files(self) -> int:
        """Files of all sources, and those that nobody knows."""
        return sum(item.n_files for item in self.sources) + len(self.unclaimed)

    @property
    def n_read(self) -> int:
        """Files of the sources that were read, now or before."""
        return sum(item.n_files for item in self.sources if item.state != "refused")

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

    def with_notes(self, notes: Iterable[str]) -> IngestReport:
        """The same with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def new_runs(self) -> tuple[int, ...]:
        """Ids of the runs of sources that were loaded."""
        return tuple(
            chain.from_iterable(
                report.run_ids for report in self.sources if report.n_runs
            )
        )

    @property
    def refused(self) -> tuple[LoadReport, ...]:
        """Sources of which nothing was stored."""
        return tuple(report for report in self.sources if report.state == "refused")

    def __str__(self) -> str:
        files = counted(self.n_files, "file")
        if self.n_read < self.n_files:
            files = f"{self.n_read:,} of {files}"
        head = f"read {files} in {self.seconds:.1f} s: {self._new}"
        lines = wrap(head, _WIDTH, subsequent_indent="  ")
        return "\n".join([*lines, *(f"  {line}" for line in self._counts)])

    @property
    def _new(self) -> str:
        """The new runs, and what they are of; votes where there are no runs."""
        if not self.total("n_runs"):
            if votes := self.total("n_votes"):
                return counted(votes, "vote")
            return "no new runs"
        runs = counted(self.total("n_runs"), "run")
        if not self.names:
            return runs
        models, benchmarks = (
            list(dict.fromkeys(part)) for part in zip(*self.names, strict=True)
        )
        return (
            f"{runs} of {_called(models, 'model')} on "
            f"{_called(sorted(benchmarks), 'benchmark')}"
        )

    @property
    def _counts(self) -> list[str]:
        """What else was counted, a line each; nothing of what is not there."""
        lines = []
        taken = [item for item in self.sources if item.state != "refused"]
        found = [
            counted(self.total(name), noun)
            for name, noun in _FOUND.items()
            if self.total(name) and (name != "n_votes" or self.total("n_runs"))
        ]
        if found:
            lines.append(", ".join(found))
        for name, (one, several) in _TOLD.items():
            if number := sum(getattr(item, name) for item in taken):
                lines.append(f"{number:,} {one if number == 1 else several}")
        unchanged = sum(item.state == "unchanged" for item in self.sources)
        if unchanged:
            lines.append(
                f"{counted(unchanged, 'source')} unchanged since the last time"
            )
        return lines

    @property
    def one_line(self) -> str:
        """The totals in one line."""
        counts = [
            f"{self.total(name):,} {words}"
            for name, words in _IN_A_LINE.items()
            if self.total(name)
        ]
        return ", ".join([counted(len(self.sources), "source"), *counts])


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
        names=all_of("names"),
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
    #: policy on samples without a score, or a row, under which it comes out; of several
    #: each, with a blank between; empty where none is known to.
    policy: str = ""


def names_read(
    store: Store, reports: Sequence[LoadReport]
) -> tuple[tuple[str, str], ...]:
    """Model and benchmark of the new runs, each pair once."""
    new = [report.run_ids for report in reports if report.n_runs and report.run_ids]
    if not new:
        return ()
    rows = store.rows(
        query_text("store", "read_names"),
        {"first": min(map(min, new)), "last": max(map(max, new))},
    )
    return tuple((row["model"], row["benchmark"]) for row in rows)


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
