"""How dumps are to be read that are only asked, and what was said of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.dumps.advice import without_store
from warehouse.ingest.file_rules import NO_RULES, FileRules
from warehouse.records.canonical_json import canonical_digest
from warehouse.store.schema.head import HEAD

if TYPE_CHECKING:
    from warehouse.ingest.report import IngestReport

#: Rooms of this program on which it hangs what a store of dumps holds.
_ROOMS = ("importers", "ingest", "records", "store")
_HERE = Path(__file__).parents[1]
#: Folders of Python's that hold other packages.
_PACKAGES = ("site-packages", "dist-packages")
#: Files that a note names as not read.
_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class DumpReading:
    """How dumps are to be read; the fields are those of ``ingest``."""

    format: str | None = None  #: importer; None: the one that recognises a file.
    values: Mapping[str, Any] = field(default_factory=dict)
    mapping: str | None = None  #: file, or name of a shipped one.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    higher_is_better: bool | None = None
    rules: FileRules = NO_RULES

    def arguments(self) -> dict[str, Any]:
        """The keywords of :func:`warehouse.ingest.discover.discover`."""
        return {
            "format": self.format,
            "values": dict(self.values),
            "mapping": self.mapping,
            "defaults": dict(self.defaults),
            "higher_is_better": self.higher_is_better,
            "rules": self.rules,
        }

    def mapping_names(self) -> list[str]:
        """Every mapping that may be used."""
        names = (
            [self.mapping] if self.mapping else [name for _, name in self.rules.maps]
        )
        return list(dict.fromkeys(names))

    def digest(self, paths: Sequence[str]) -> str:
        """One digest of all but the files: where they lie, how they are read, by which
        program."""
        return canonical_digest(
            {
                "paths": [[path, os.path.abspath(path)] for path in paths],
                "format": self.format or "",
                "values": {key: str(value) for key, value in self.values.items()},
                "defaults": {key: str(value) for key, value in self.defaults.items()},
                "higher_is_better": str(self.higher_is_better),
                "maps": [list(pair) for pair in self.rules.maps],
                "ignored": list(self.rules.ignored),
                "mappings": [_content(name) for name in self.mapping_names()],
                "program": [version("eval-warehouse"), HEAD, *_code()],
            }
        )


def _content(mapping: str) -> str:
    """A mapping as it stands in its file (MisuseError: there is none)."""
    from warehouse.importers.tabular.mapping_files import mapping_file

    path = Path(mapping_file(mapping))
    return path.read_bytes().hex() if path.is_file() else ""


def _code() -> Iterator[str]:
    """The time of the newest file of this program that reads dumps, and those at which
    other packages were installed or removed."""
    newest = 0
    for room in _ROOMS:
        for folder, _, names in os.walk(_HERE / room):
            for name in names:
                if name.endswith((".py", ".sql")):
                    changed = os.stat(os.path.join(folder, name)).st_mtime_ns
                    newest = max(newest, changed)
    yield str(newest)
    for place in sys.path:
        if os.path.basename(place) in _PACKAGES and os.path.isdir(place):
            yield f"{place} {os.stat(place).st_mtime_ns}"


@dataclass(frozen=True)
class Said:
    """What was said when dumps were read."""

    #: of sources that were refused: name and error.
    refused: tuple[tuple[str, str], ...] = ()
    #: by what figures hang on how a file was read, or that stood before.
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  #: all others.
    not_read: tuple[
        tuple[str, str], ...
    ] = ()  #: files that nobody read, with the reason.
    n_sources: int = 0  #: that were read.
    n_runs: int = 0  #: that they hold.
    n_repeats: int = 0  #: of these that repeat another one's condition.

    @classmethod
    def of(cls, report: IngestReport) -> Said:
        """What a report on the reading says."""
        read = [item for item in report.sources if item.state != "refused"]
        others = (note for note in report.all_notes if note not in report.changed)
        return cls(
            tuple((item.source, item.error) for item in report.refused),
            tuple(map(without_store, report.changed)),
            tuple(map(without_store, others)),
            tuple((item.shown, item.reason) for item in report.unread),
            len(read),
            sum(item.n_runs for item in read),
            sum(item.n_repeats for item in read),
        )

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Said:
        """Read what ``asdict`` gives, after JSON."""
        return cls(
            tuple((source, error) for source, error in values["refused"]),
            tuple(values["changed"]),
            tuple(values["notes"]),
            tuple((name, reason) for name, reason in values["not_read"]),
            values["n_sources"],
            values["n_runs"],
            values["n_repeats"],
        )

    @property
    def on_files(self) -> tuple[str, ...]:
        """In a line: the files that nobody read."""
        if not self.not_read:
            return ()
        names = [name for name, _ in self.not_read[:_NAMED]]
        if len(self.not_read) == 1:
            reason = self.not_read[0][1] or "no importer knows this file"
            return (f"not read: {names[0]}: {reason}",)
        more = ", …" if len(self.not_read) > _NAMED else ""
        return (f"{len(self.not_read)} files were not read: {', '.join(names)}{more}",)
