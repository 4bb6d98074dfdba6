"""What one importer reads of a folder: its sources, their runs, and whether every leaf of
what they say of the runs is read (`warehouse.testing.setting_leaves`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from warehouse.importers.base import Importer
from warehouse.records import Candidate, Dump, ImportSettings, RunHeader, SourceFiles
from warehouse.records.dump import Scan
from warehouse.testing.setting_leaves import Leaves

_HEAD_BYTES = 64 << 10


def leaves_in(
    importer: Importer,
    harness: str,
    folder: Path,
    documents: Iterable[Path],
    not_settings: str = "",
    values: Mapping[str, Any] | None = None,
    of_a_kind: int = 2,
) -> Leaves:
    """The leaves of some files of a folder, a copy of a dump that may be written to."""
    return Leaves(
        lambda: dumps_of(importer, folder, values),
        harness,
        documents,
        not_settings,
        of_a_kind,
    )


def dumps_of(
    importer: Importer, folder: Path, values: Mapping[str, Any] | None = None
) -> Iterator[Dump]:
    """What one importer makes of a folder (InputError: a source is refused)."""
    for source in sources_of(importer, folder):
        yield importer.read(source, ImportSettings(values or {}))


def headers_of(
    importer: Importer, folder: Path, values: Mapping[str, Any] | None = None
) -> list[RunHeader]:
    """The runs of a folder that one importer finds (InputError: a source is refused)."""
    headers: list[RunHeader] = []
    for dump in dumps_of(importer, folder, values):
        headers += dump.runs
        dump.close()
    return headers


def scan_of(importer: Importer, folder: Path) -> Scan:
    """What scanners said, of a folder of one scan."""
    (source,) = sources_of(importer, folder)
    scan = importer.read(source, ImportSettings()).scan
    assert scan is not None
    return scan


def sources_of(importer: Importer, folder: Path) -> list[SourceFiles]:
    """The sources of a folder that one importer claims."""
    candidates = []
    for path in sorted(item for item in folder.rglob("*") if item.is_file()):
        with path.open("rb") as handle:
            candidates.append(
                Candidate(path, handle.read(_HEAD_BYTES), path.stat().st_size)
            )
    return list(importer.claim(candidates))
