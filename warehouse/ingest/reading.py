"""Sources in their turn: what each is known by, and how it is opened as a dump."""

from __future__ import annotations

import hashlib
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from warehouse.importers.base import Importer
from warehouse.importers.common import file_walk as stamps
from warehouse.importers.common import source_context as context
from warehouse.importers.common.file_walk import Stamp, refuse_pointers
from warehouse.importers.common.header_values import (
    against_direction,
    metric_without_credentials,
    published_without_credentials,
    strip_credentials,
    with_direction,
    with_values,
)
from warehouse.ingest.declared_ranges import told_outside
from warehouse.ingest.discover import _Job, _size_of
from warehouse.ingest.masked_rows import (
    samples_without_credentials,
    votes_without_credentials,
)
from warehouse.ingest.unmeasured import drop_unmeasured, note_words_for_figures
from warehouse.records import Dump, ImportSettings, RunHeader, SourceFiles
from warehouse.records.dump import Batch
from warehouse.store.load.state import NotTogetherError

_log = logging.getLogger(__name__)
_AnyBatch = TypeVar("_AnyBatch", bound=Batch)

#: Rows of sources that are loaded together, at most, and bytes of those that are held
#: in memory until all are read.
GROUP_ROWS, GROUP_HELD = 200_000, 64_000_000


@dataclass(frozen=True)
class Reading:
    """A source to be read: by whom, its files, and all files that it depends on as they
    were."""

    importer: Importer
    files: SourceFiles
    stamps: tuple[tuple[Path, Stamp], ...]


def read(reading: Reading, settings: ImportSettings) -> Dump:
    """Open a source, with what the user said of it (InputError: the source is not what
    it claims to be)."""
    refuse_pointers(reading.files.files)
    dump = reading.importer.read(reading.files, settings)
    drop_unmeasured(dump, reading.files.name)
    note_words_for_figures(dump)
    higher_is_better = settings.higher_is_better
    dump.notes += against_direction(dump.runs, higher_is_better)
    given = [
        with_values(header, settings.values, settings.defaults) for header in dump.runs
    ]
    headers = list(map(strip_credentials, given))
    has_masked_metrics = not all(map(_same_metrics, given, headers))
    dump.runs = tuple(with_direction(header, higher_is_better) for header in headers)
    dump.published = tuple(map(published_without_credentials, dump.published))
    dump.batches = told_outside(
        _without_credentials(dump.batches, has_masked_metrics), dump.runs, dump.notes
    )
    if dump.votes is not None:
        dump.votes = map(votes_without_credentials, dump.votes)
    if dump.scan is not None:
        dump.scan.metrics = tuple(
            replace(metric, higher_is_better=higher_is_better)
            if metric.higher_is_better is None
            else metric
            for metric in map(metric_without_credentials, dump.scan.metrics)
        )
    return dump


def _same_metrics(given: RunHeader, kept: RunHeader) -> bool:
    """True if no metric of a run has a name that is masked."""
    return [(metric.name, metric.filter) for metric in given.metrics] == [
        (metric.name, metric.filter) for metric in kept.metrics
    ]


def _without_credentials(
    batches: Iterable[Batch], has_masked_metrics: bool
) -> Iterator[Batch]:
    """Batches with names and messages of errors masked.

    Args:
        has_masked_metrics: a query would give the names as they are, so its files are
            read row by row.
    """
    for batch in batches:
        if isinstance(batch, pa.RecordBatch):
            yield samples_without_credentials(batch)
        elif has_masked_metrics:
            yield from map(samples_without_credentials, batch.fallback())
        else:
            yield batch


def read_together(
    readings: Sequence[Reading], settings: ImportSettings, max_rejected: int
) -> tuple[list[int], list[Dump]]:
    """Small sources that read without error, with their batches in memory; the others
    are reported when each is read by itself.

    Returns:
        their indices among all, and their dumps.

    Raises:
        NotTogetherError: they have too many rows.
    """
    indices = []
    dumps = []
    rows = 0
    held = 0
    for index, reading in enumerate(readings):
        dump = _read_whole(reading, settings, max_rejected)
        if dump is None:
            continue
        indices.append(index)
        dumps.append(dump)
        found = dump.scan.batches if dump.scan is not None else ()
        batches = [
            item
            for item in (*dump.batches, *found, *(dump.votes or ()))
            if isinstance(item, pa.RecordBatch)
        ]
        rows += sum(batch.num_rows for batch in batches)
        held += sum(batch.nbytes for batch in batches)
        if rows > GROUP_ROWS or held > GROUP_HELD:
            raise NotTogetherError("too many rows")
    return indices, dumps


def _read_whole(
    reading: Reading, settings: ImportSettings, max_rejected: int
) -> Dump | None:
    try:
        dump = read(reading, settings)
        dump.batches = list(_bounded(dump.batches))
        if dump.scan is not None:
            dump.scan.batches = list(_bounded(dump.scan.batches))
        if dump.votes is not None:
            dump.votes = list(_bounded(dump.votes))
    except Exception:
        _log.debug("%s is read again by itself", reading.files.name, exc_info=True)
        return None
    if len(dump.rejections) <= max_rejected:
        return dump
    return None


def _bounded(batches: Iterable[_AnyBatch]) -> Iterator[_AnyBatch]:
    """Batches, as long as they are few enough to be held in memory: a packed file may
    hold more than it seems to."""
    held = 0
    for batch in batches:
        if isinstance(batch, pa.RecordBatch):
            held += batch.nbytes
        if held > GROUP_HELD:
            raise NotTogetherError("too many bytes")
        yield batch


#: Sources whose hashes are computed ahead of the one being loaded.
LOOK_AHEAD = 4
#: A source of at most so many bytes is loaded together with its neighbours …
SMALL_BYTES = 10_000_000
#: … of which there are at most so many, with so many bytes: what a single source of
#: that size takes is what they take.
GROUP_SOURCES, GROUP_BYTES = 200, 20_000_000
#: Rows that the engine reads by itself are never held as objects: of them a group may
#: have so many times the bytes.
BULK = 5
#: What reading again costs little: the bound where larger ones had to be read again.
TINY_BYTES = 1_000_000
#: Executors are sent so many bytes at a time, or more where that is fewer sources than
#: this, and while they work the next.
WAVE_BYTES, WAVE_SOURCES = 500_000_000, 8
#: What packed files hold of bytes for each of theirs; a guess for text.
PACKED = 10
_PACKED_SUFFIXES = {
    ".gz",
    ".bz2",
    ".xz",
    ".zst",
    ".zip",
    ".tar",
    ".tgz",
    ".eval",
    ".parquet",
    ".xlsx",
}


@dataclass(frozen=True)
class ReadingTask:
    """A job in its turn, with its identity or why that cannot be found out."""

    number: int
    job: _Job
    identity: Identity | Exception


def grouped(
    tasks: Iterable[ReadingTask], limit: Callable[[], int]
) -> Iterator[list[ReadingTask]]:
    """Neighbours of so many bytes at most, as many as may be loaded together; others by
    themselves."""
    group: list[ReadingTask] = []
    total = 0
    for task in tasks:
        size = unpacked_size(task.job)
        small = size <= limit()
        size //= BULK if getattr(task.job.importer, "in_bulk", False) else 1
        if group and (
            not small or len(group) == GROUP_SOURCES or total + size > GROUP_BYTES
        ):
            yield group
            group, total = [], 0
        if small:
            group.append(task)
            total += size
        else:
            yield [task]
    if group:
        yield group


def waves(groups: Iterable[list[ReadingTask]]) -> Iterator[list[list[ReadingTask]]]:
    """Groups in lists of what is sent to executors at a time."""
    wave: list[list[ReadingTask]] = []
    for group in groups:
        wave.append(group)
        total = sum(unpacked_size(task.job) for task in chain.from_iterable(wave))
        if total >= WAVE_BYTES and len(wave) >= WAVE_SOURCES:
            yield wave
            wave = []
    if wave:
        yield wave


def unpacked_size(job: _Job) -> int:
    """Bytes of a job's files, as a guess where they are packed."""
    return sum(
        _size_of(path) * (PACKED if path.suffix.lower() in _PACKED_SUFFIXES else 1)
        for path in job.files.files
    )


@dataclass(frozen=True)
class Identity:
    """The identity of a source, besides the settings.

    ``sha256`` is of the names and bytes of its files, ``context`` what else its
    importer takes something from, ``stamps`` all files of both as they were when that
    was found out.
    """

    sha256: str
    context: Mapping[str, Any]
    stamps: tuple[tuple[Path, Stamp], ...]


def identified(jobs: Sequence[_Job]) -> Iterator[ReadingTask]:
    """Each job with its identity, found out in the background a few jobs ahead."""
    with ThreadPoolExecutor(2) as pool:
        waiting: deque[tuple[int, _Job, Future[Identity]]] = deque()
        for number, job in enumerate(jobs):
            waiting.append((number, job, pool.submit(identify, job)))
            if len(waiting) > LOOK_AHEAD:
                yield _result(*waiting.popleft())
        while waiting:
            yield _result(*waiting.popleft())


def _result(number: int, job: _Job, future: Future[Identity]) -> ReadingTask:
    error = future.exception()
    return ReadingTask(
        number, job, error if isinstance(error, Exception) else future.result()
    )


def identify(job: _Job) -> Identity:
    """One hash over the names and bytes of the files of a source, and what else it
    depends on.

    Raises:
        OSError: a file cannot be read.
        InputError: another file that is read with them is not there.
    """
    total = hashlib.sha256()
    file_stamps = [(path, stamps.stamp(path)) for path in job.files.files]
    for path, stamp in file_stamps:
        total.update(
            path.name.encode("utf-8", "surrogateescape") + b"\0" + stamp.sha256
        )
    others = context.companions_of(job.importer, job.files)
    file_stamps += [(path, stamps.stamp(path)) for path in others]
    return Identity(
        total.hexdigest(),
        context.context_of(job.importer, job.files),
        tuple(file_stamps),
    )


def reading_of(job: _Job, identity: Identity) -> Reading:
    return Reading(job.importer, job.files, identity.stamps)
