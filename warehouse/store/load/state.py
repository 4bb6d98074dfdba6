"""What the steps of a load share: options, the source's claim, counts, the report."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from warehouse.errors import InputError
from warehouse.records import Dump, MetricSpec, PublishedScore
from warehouse.records.hashing import canonical_digest
from warehouse.store.load.conflicts import OnConflict
from warehouse.store.load.run_keys import spec_of
from warehouse.store.load.staging import Measured, OnDuplicate, TextPolicy


@dataclass(frozen=True)
class Claim:
    """One source about to be loaded. ``id`` is its row in the ledger, ``key`` its
    :func:`settings_key`, ``context`` what besides the bytes it takes its identity from."""

    id: int
    path: str
    sha256: str
    key: str = ""
    context: Mapping[str, Any] | None = None

    @property
    def invocation(self) -> str:
        """What stands for one call of a harness that has no id of its own: its bytes, and what they
        lie in where that says more, since several calls may write the same."""
        return canonical_digest([self.sha256, dict(self.context)]) if self.context else self.sha256


@dataclass(frozen=True)
class LoadOptions:
    """What the user said about conflicts, duplicates, faults and texts."""

    on_conflict: OnConflict = "error"
    on_duplicate: OnDuplicate = "error"
    max_rejected: int = 0
    text: TextPolicy = "all"
    cluster_by: tuple[str, ...] = ()  # document fields to cluster the prompts by


@dataclass(frozen=True)
class LoadReport:
    """What became of one source."""

    source: str
    state: Literal["loaded", "unchanged", "refused"]
    n_runs: int = 0
    n_seen_again: int = 0
    n_superseded: int = 0
    n_repeats: int = 0
    n_samples: int = 0
    n_scores: int = 0
    n_rejected: int = 0
    run_ids: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    error: str = ""
    source_id: int | None = None


class NotTogetherError(InputError):
    """Sources that have to be loaded one by one, since one of them changes what becomes of another,
    or to tell which of them something is true of. Nothing of them has been stored."""


@dataclass(frozen=True)
class Part:
    """One source of a load; ``runs`` are the numbers of its runs among all of the load."""

    dump: Dump
    source: Claim
    runs: range


@dataclass
class _Load:
    """State of one load, handed from step to step. ``dump`` holds the runs of all parts."""

    dump: Dump
    parts: list[Part]
    options: LoadOptions
    references: list[dict[str, int]] = field(default_factory=list)
    measured: dict[int, Measured] = field(default_factory=dict)
    metric_ids: dict[MetricSpec, int] = field(default_factory=dict)
    benchmark_ids: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    new_prompts: int = 0
    n_rows: int = 0

    def part_of(self, run: int) -> Part:
        """The part that a run is of."""
        return self.parts[bisect_right(self.parts, run, key=lambda part: part.runs.start) - 1]

    def note(self, text: str) -> None:
        """Tell something that is found in all rows at once, of the one source that they are of.

        Raises:
            NotTogetherError: they are of several.
        """
        if len(self.parts) > 1:
            raise NotTogetherError(text)
        self.notes.append(text)


@dataclass(frozen=True)
class Parsed:
    """Rows of some dumps, staged in one of the scratch space's two slots."""

    dumps: tuple[Dump, ...]
    slot: int
    n_rows: int


def group_spec(dump: Dump, row: PublishedScore) -> MetricSpec:
    """Specification for a figure of a group: that of any run which has the metric."""
    for header in dump.runs:
        spec = spec_of(header, row.metric, row.filter)
        if spec in header.metrics:
            return spec
    return MetricSpec(name=row.metric, filter=row.filter)
