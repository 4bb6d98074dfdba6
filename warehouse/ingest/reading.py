"""Sources that were found, opened as dumps: one, or several small ones with all their rows."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from warehouse.importers.base import Importer
from warehouse.importers.common.file_walk import Stamp, refuse_pointers
from warehouse.importers.common.header_values import against_direction, strip_credentials, with_direction, with_values
from warehouse.records import Dump, ImportSettings, SourceFiles
from warehouse.records.credentials import masked
from warehouse.records.dump import Batch
from warehouse.store.load.state import NotTogetherError

_log = logging.getLogger(__name__)

#: Rows of sources that are loaded together, at most.
GROUP_ROWS = 200_000


@dataclass(frozen=True)
class Reading:
    """A source to be read: by whom, its files, and all files that it depends on as they were."""

    importer: Importer
    files: SourceFiles
    stamps: tuple[tuple[Path, Stamp], ...]


def read(reading: Reading, settings: ImportSettings) -> Dump:
    """Open a source, with what the user said of it.

    Raises:
        InputError: the source is not what it claims to be.
    """
    refuse_pointers(reading.files.files)
    dump = reading.importer.read(reading.files, settings)
    stated = settings.higher_is_better
    dump.notes += against_direction(dump.runs, stated)
    headers = (strip_credentials(with_values(header, settings.values, settings.defaults)) for header in dump.runs)
    dump.runs = tuple(with_direction(header, stated) for header in headers)
    dump.batches = map(_without_credentials, dump.batches)
    return dump


def _without_credentials(batch: Batch) -> Batch:
    """A batch whose messages of errors are masked: services repeat there what they were sent."""
    if not isinstance(batch, pa.RecordBatch) or "error" not in batch.schema.names:
        return batch
    errors = batch.column("error")
    if errors.null_count == len(errors):
        return batch
    texts = pa.array([text and masked(text) for text in errors.to_pylist()], errors.type)
    return batch.set_column(batch.schema.get_field_index("error"), batch.schema.field("error"), texts)


def read_together(
    readings: Sequence[Reading], settings: ImportSettings, max_rejected: int
) -> tuple[list[int], list[Dump]]:
    """Small sources with their batches in memory, those with which nothing is wrong; what is wrong
    with another is told when it is read by itself.

    Returns:
        their places among all, and their dumps.

    Raises:
        NotTogetherError: they have too many rows.
    """
    places, dumps, rows = [], [], 0
    for place, reading in enumerate(readings):
        dump = _read_whole(reading, settings, max_rejected)
        if dump is None:
            continue
        places.append(place)
        dumps.append(dump)
        rows += sum(batch.num_rows for batch in dump.batches if isinstance(batch, pa.RecordBatch))
        if rows > GROUP_ROWS:
            raise NotTogetherError("too many rows")
    return places, dumps


def _read_whole(reading: Reading, settings: ImportSettings, max_rejected: int) -> Dump | None:
    try:
        dump = read(reading, settings)
        dump.batches = list(dump.batches)
    except Exception:
        _log.debug("%s is read again by itself", reading.files.name, exc_info=True)
        return None
    return dump if len(dump.rejections) <= max_rejected else None
