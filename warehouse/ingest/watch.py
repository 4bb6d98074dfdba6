"""Watching folders: which sources are ready to be ingested, and which have been.

A file is settled when its size and time of change have stayed the same for a while; a
source is ready when all its files, and those of others that are read with them, are
settled and at least one has not been taken as it is now. So a file that is still being
written waits, and a bad one is reported once until it changes.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from warehouse.errors import MisuseError
from warehouse.importers.common.file_walk import Unread, walk
from warehouse.ingest.discover import sources

Stamp = tuple[int, int, int]


class Watcher:
    """The files below some paths, with what is known of them.

    Args:
        paths: folders or files.
        settle: seconds for which a file has to stay the same.
        clock: seconds, never going back.
        reading: ``format``, ``values`` and ``mapping`` as
            :mod:`warehouse.ingest.pipeline` takes them; they decide which files form a
            source.
    """

    def __init__(
        self,
        paths: Iterable[str | Path],
        *,
        settle: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
        **reading: Any,
    ) -> None:
        self.paths = [Path(path) for path in paths]
        self.settle = settle
        self.clock = clock
        self.reading = reading
        self._seen: dict[
            Path, tuple[Stamp, float]
        ] = {}  # stamp, and since when it is that
        self._taken: dict[Path, Stamp] = {}
        self._read_with: dict[
            tuple[Path, ...], tuple[Path, ...]
        ] = {}  # by the files of a source

    def look(self) -> bool:
        """Look at the folders; whether :meth:`ready` would find something new.

        A folder that is not there has no files.
        """
        now = self.clock()
        stamps = self._stamps()
        self._seen = {
            path: (stamp, self._since(path, stamp, now))
            for path, stamp in stamps.items()
        }
        return any(
            self._is_settled(path, now) and self._is_new(path) for path in self._seen
        )

    def ready(self) -> tuple[list[tuple[Path, ...]], list[Unread]]:
        """Files of each source that is ready, and settled new files that are not
        read."""
        now = self.clock()
        there = [path for path in self.paths if os.path.exists(path)]
        self._read_with, unknown = sources(there, **self.reading)
        for path in (
            set(chain.from_iterable(self._read_with.values())) - self._seen.keys()
        ):
            with suppress(OSError):  # outside the folders, so seen from now on only
                self._seen[path] = (_stamp(path), -math.inf)
        chosen = []
        for files, others in self._read_with.items():
            watched = [
                path
                for path in (*files, *others)
                if path in self._seen or path in files
            ]
            if all(self._is_settled(path, now) for path in watched) and any(
                map(self._is_new, watched)
            ):
                chosen.append(files)
        return chosen, [
            item
            for item in unknown
            if self._is_settled(item.path, now) and self._is_new(item.path)
        ]

    def take(self, files: Sequence[Path]) -> None:
        """These files, and those that are read with them, are dealt with, as they were
        at the last look."""
        taken = set(files)
        taken.update(
            chain.from_iterable(
                others
                for own, others in self._read_with.items()
                if taken.issuperset(own)
            )
        )
        self._taken.update(
            {path: self._seen[path][0] for path in taken if path in self._seen}
        )

    def _stamps(self) -> dict[Path, Stamp]:
        stamps: dict[Path, Stamp] = {}
        for root in self.paths:
            with suppress(MisuseError):  # it is not there now
                for path in walk(root):
                    with suppress(OSError):  # it went while we looked
                        stamps[path] = _stamp(path)
        for path in set(chain.from_iterable(self._read_with.values())) - stamps.keys():
            with suppress(OSError):
                stamps[path] = _stamp(path)
        return stamps

    def _since(self, path: Path, stamp: Stamp, now: float) -> float:
        before = self._seen.get(path)
        if before is not None and before[0] == stamp:
            return before[1]
        return now

    def _is_settled(self, path: Path, now: float) -> bool:
        return path in self._seen and now - self._seen[path][1] >= self.settle

    def _is_new(self, path: Path) -> bool:
        return self._taken.get(path) != self._seen[path][0]


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return (status.st_size, status.st_mtime_ns, status.st_ino)
