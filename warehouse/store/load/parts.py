"""Parts of a load: sources, each with its place in the ledger and its dump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warehouse.records import Dump
from warehouse.records.canonical_json import canonical_digest


@dataclass(frozen=True)
class SourceClaim:
    """One source about to be loaded. ``id`` is its row in the ledger, ``key`` its
    :func:`settings_key`, ``context`` what besides the bytes it takes its identity from.
    """

    id: int
    path: str
    sha256: str
    key: str = ""
    context: Mapping[str, Any] | None = None
    # hash of the bytes of each file, by its path in the source
    files: Mapping[str, str] = field(default_factory=dict)
    is_mapped: bool = False  # whether a mapping of the user's says what is what

    def bytes_key(self, place: str) -> str:
        """A key for the bytes that a run was read from: the hash of its own file,
        whatever that is called, where the header names it; else that of the whole
        source."""
        if len(self.files) == 1:
            return next(iter(self.files.values()))
        return self.files.get(place, self.sha256)

    @property
    def invocation(self) -> str:
        """A key for one call of a harness that has no id of its own: its bytes, and
        what they lie in where that says more, since several calls may write the
        same."""
        if not self.context:
            return self.sha256
        return canonical_digest([self.sha256, dict(self.context)])


@dataclass(frozen=True)
class SourcePart:
    """One source of a load; ``runs`` are the numbers of its runs among all of the load."""

    dump: Dump
    source: SourceClaim
    runs: range
