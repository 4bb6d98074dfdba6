"""A run of a dump and a stored one, and when one may be the other or a part of it.

A fact that a try could not settle (an unscored sample, a failed generation) is no loss:
the other try may say anything in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from warehouse.records import RunHeader
from warehouse.records.settings import RunSettings
from warehouse.store.load.measures import Measured
from warehouse.store.load.overlaps import Overlap
from warehouse.store.load.parts import SourceClaim

#: What an execution is known by: ids, seeds, times, costs, by their names.
Marks = Mapping[str, str]
#: A condition, and the tool's id of a run of it.
Execution = tuple[str, str | None]
#: Numbers of prompts, generations and scores; then the start.
Extent = tuple[int, int, int, datetime]


@dataclass(frozen=True)
class StoredRun:
    """A stored run under one of its keys."""

    id: int
    condition_key: str
    recorded_key: str
    run_key: str | None
    content_digest: str
    superseded_by: int | None
    n_found: int
    n_generations: int
    n_scores: int
    started_at: datetime | None
    marks: Mapping[str, str]
    bytes_key: str | None
    status: str

    @property
    def is_invalidated(self) -> bool:
        """True if a person took it out of every view."""
        return self.status == "invalidated"


@dataclass(frozen=True)
class DumpRun:
    """A run of the dump."""

    index: int
    header: RunHeader
    settings: RunSettings
    condition: (
        str  # its condition, without settings that do not matter by a person's word
    )
    recorded: str  # its condition as the dump has it
    key: str | None
    content: str
    measured: Measured | None
    source: SourceClaim
    #: its condition if it came without samples, where it has some, and the other way
    #: round: figures alone name the subset of prompts that was asked among their
    #: settings. Empty: the same.
    recorded_otherwise: str = ""

    @property
    def bytes_key(self) -> str | None:
        """A key for the bytes that it was read from; none where a mapping says what
        tells runs apart."""
        if self.source.is_mapped:
            return None
        return self.source.bytes_key(self.header.place)

    @property
    def own_file(self) -> str | None:
        """Hash of the bytes of its own file, where the header names one of the
        source's."""
        if self.source.is_mapped:
            return None
        return self.source.files.get(self.header.place)

    @property
    def keys(self) -> tuple[str, str, str | None, str, Marks]:
        """The keys that a decision on it begins with: conditions, key, content and
        marks."""
        return (
            self.condition,
            self.recorded,
            self.key,
            self.content,
            self.settings.marks,
        )

    @property
    def execution(self) -> Execution:
        """The execution, which its tries have in common: a tool's id names one run of
        each condition, since the checkpoints of a training or the temperatures of an
        experiment may share it."""
        return self.recorded, self.key

    @property
    def is_greedy(self) -> bool:
        """True if the likeliest token was always taken, so that repeats are equal."""
        return self.settings.settings.get("temperature") == "0"


def are_apart(marks: Marks, others: Marks) -> bool:
    """True if two executions are told apart by something that both say: ids, seeds,
    times, costs."""
    return any(others.get(name, value) != value for name, value in marks.items())


def seed_and_start(marks: Marks) -> tuple[str | None, str | None]:
    """Seed and start, which tell two tries apart that no tool names, of which one may
    hold a part of the other."""
    seed = marks.get("sampling_seed")
    start = marks.get("started_at")
    return seed, start


def is_same_execution(run: DumpRun, stored: StoredRun) -> bool:
    """True if a run of equal scores is the stored one: by the tool's id, or as the same
    bytes in a folder or file of another name, else unless something tells them apart.
    """
    if run.key is not None and run.key == stored.run_key:
        return True
    if run.bytes_key is not None and run.bytes_key == stored.bytes_key:
        return True
    return not are_apart(run.settings.marks, stored.marks)


def extent(run: DumpRun) -> Extent:
    """How much a run of the dump holds."""
    measured = run.measured or Measured("", 0, 0, 0, 0)
    started = run.header.started_at or datetime.min
    return measured.n_prompts, measured.n_generations, measured.n_scores, started


def extent_of_stored(row: StoredRun) -> Extent:
    """How much a stored run holds."""
    started = row.started_at or datetime.min
    return row.n_found, row.n_generations, row.n_scores, started


def may_be_part(run: DumpRun, stored: StoredRun) -> bool:
    """True if one may hold a strict part of the other: both have samples, and one has
    more."""
    counts = extent(run)[:3]
    stored_counts = extent_of_stored(stored)[:3]
    shorter, longer = sorted([counts, stored_counts])
    if shorter[0] == 0 or shorter == longer:
        return False
    return all(low <= high for low, high in zip(shorter, longer, strict=True))


def may_be_one(run: DumpRun, row: StoredRun) -> bool:
    """True where a run and a stored one have equally many rows, and no marks that tell
    them apart."""
    counts = extent(run)[:3]
    stored_counts = extent_of_stored(row)[:3]
    if counts != stored_counts:
        return False
    return not are_apart(run.settings.marks, row.marks)


def gives_way(run: DumpRun, stored: StoredRun, overlap: Overlap) -> bool:
    """True if a stored run gives way. Where neither has a settled fact that the other
    lacks, the longer stays, then the later, whichever came into the store first."""
    if not overlap.has_all_stored:
        return False
    if not overlap.is_all_stored:
        return True
    return extent(run) >= extent_of_stored(stored)
