"""Reading and parsing of sources on executors, ahead of the loader, by the same
functions as in this process.

What goes there is pickled, as all that engines send to executors. What comes back is an
archive with the parsed tables in Arrow's stream format and the headers; these are
unpickled with nothing but records allowed, so that no executor can make the caller run
what it likes.
"""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pyarrow as pa

from warehouse.errors import StoreError
from warehouse.importers import importer as importer_named
from warehouse.importers.base import Importer
from warehouse.importers.common import file_walk as stamps
from warehouse.importers.common.file_walk import Stamp
from warehouse.ingest.reading import Reading, read, read_together
from warehouse.records import (
    Dump,
    ImportSettings,
    MetricSpec,
    PublishedScore,
    Rejection,
    RunHeader,
    SameContent,
    Scan,
    SourceFiles,
)
from warehouse.store import engines
from warehouse.store.load import staging
from warehouse.store.load.scratch import lone_parser
from warehouse.store.load.state import LoadOptions
from warehouse.store.temporary import TemporaryFolder

#: The headers in an archive, or why there are none; the tables have names of their own.
_DUMPS, _FAILURE = "dumps", "failure"
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")
_PIECE = 1 << 20


@dataclass(frozen=True)
class _Task:
    """Sources that are parsed together. An importer goes by its name: each machine has
    its own."""

    version: str
    folder: str  # that relative paths begin from
    settings: ImportSettings
    options: LoadOptions
    sources: tuple[tuple[str, SourceFiles, tuple[tuple[Path, Stamp], ...]], ...]


@dataclass(frozen=True)
class Arrived:
    """Sources as an executor parsed them."""

    indices: Sequence[int]  #: of those that it could read, among all.
    dumps: Sequence[Dump]  #: of these, without their batches.
    n_rows: int  #: rows of these.
    archive: zipfile.ZipFile  #: what they came in, with the rows.

    def rows(self) -> Iterator[tuple[str, pa.RecordBatchReader]]:
        """The parsed tables: those of a parser, and no others."""
        for name in staging.PARSED:
            if name in self.archive.namelist():
                with (
                    self.archive.open(name) as stream,
                    pa.ipc.open_stream(stream) as reader,
                ):
                    yield name, reader


def pack(
    readings: Sequence[Reading], settings: ImportSettings, options: LoadOptions
) -> bytes:
    """Sources to be parsed together, for :func:`parse`."""
    sources = tuple((item.importer.name, item.files, item.stamps) for item in readings)
    return pickle.dumps(_Task(_version(), os.getcwd(), settings, options, sources))


def parse(packed: bytes) -> Iterator[bytes]:
    """Read and parse some sources; runs on executors (StoreError: another version of
    this program sent them).

    Returns:
        the pieces of an archive, for :func:`arrived`; it says so if they could not be
        parsed.
    """
    task: _Task = pickle.loads(packed)
    if task.version != _version():
        raise StoreError(
            f"executors have version {_version()} of eval-warehouse, the caller "
            f"{task.version}"
        )
    with TemporaryFile() as file:
        try:
            _write(task, file)
        except (
            Exception
        ) as error:  # whoever sent it reads it again, and tells what is wrong
            file.seek(0)
            file.truncate()
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr(_FAILURE, f"{type(error).__name__}: {error}"[:1000])
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def arrived(path: Path) -> Arrived | str:
    """Sources as they came from an executor, in a file of the pieces; a text where they
    could not be parsed.

    Raises:
        StoreError: it holds what no executor of ours sends.
    """
    archive = zipfile.ZipFile(path)
    if _FAILURE in archive.namelist():
        return archive.read(_FAILURE).decode()
    indices, dumps, n_rows = _RecordsUnpickler(io.BytesIO(archive.read(_DUMPS))).load()
    return Arrived(indices, dumps, n_rows, archive)


def _write(task: _Task, file: Any) -> None:
    paths = chain.from_iterable(files.files for _, files, _ in task.sources)
    if os.getcwd() != task.folder and not all(path.is_absolute() for path in paths):
        # names of folders tell importers things: they are not to be other ones here
        os.chdir(task.folder)
    readings = [
        Reading(_importer(name, task.settings), files, file_stamps)
        for name, files, file_stamps in task.sources
    ]
    all_stamps: list[tuple[Path, Stamp]] = []
    for reading in readings:
        all_stamps += [_same(path, stamp) for path, stamp in reading.stamps]
    with lone_parser() as parser:
        if len(readings) == 1:
            indices = [0]
            dumps = [read(readings[0], task.settings)]
        else:
            indices, dumps = read_together(
                readings, task.settings, task.options.max_rejected
            )
        n_rows, _ = staging.parse(
            parser, dumps, task.options.on_duplicate, task.options.text
        )
        stamps.refuse_changed(all_stamps)
        with zipfile.ZipFile(file, "w") as archive:
            sent = [
                replace(
                    dump,
                    batches=(),
                    scan=_without_rows(dump.scan),
                    votes=_none_of(dump.votes),
                    close=_nothing,
                )
                for dump in dumps
            ]
            archive.writestr(_DUMPS, pickle.dumps((indices, sent, n_rows)))
            for name, rows in staging.parsed_rows(parser, dumps, n_rows):
                with (
                    archive.open(name, "w", force_zip64=True) as stream,
                    pa.ipc.new_stream(
                        stream, rows.schema, options=_COMPRESSED
                    ) as writer,
                ):
                    for batch in rows:
                        writer.write_batch(batch)


def _without_rows(scan: Scan | None) -> Scan | None:
    return scan and replace(scan, batches=())


def _none_of(votes: object | None) -> tuple[()] | None:
    if votes is None:
        return None
    return ()


def _importer(name: str, settings: ImportSettings) -> Importer:
    if settings.mapping is None:
        return importer_named(name)
    from warehouse.importers.tabular.importer import IMPORTER

    return IMPORTER.for_mapping(settings.mapping, settings.mapping_path)


def _same(path: Path, expected: Stamp) -> tuple[Path, Stamp]:
    """A file on this machine, checked against the hash that the caller computed."""
    stamp = stamps.stamp(path)
    if stamp.sha256 != expected.sha256:
        raise ValueError(f"{path} is another file on the executor")
    return path, stamp


def _nothing() -> None:
    """Stand-in for the function that closes a dump's files."""


def _version() -> str:
    from importlib.metadata import version

    return version("eval-warehouse")


class _RecordsUnpickler(pickle.Unpickler):
    """Unpickler that accepts records and times only."""

    def find_class(self, module: str, name: str) -> Any:
        """A class of those that a header is made of (StoreError: another one)."""
        if (module, name) in _ALLOWED:
            return super().find_class(module, name)
        raise StoreError(
            f"executors sent {module}.{name}, which is no part of a dump; expected one "
            "of this version"
        )


_RECORDS = (Dump, Rejection, RunHeader, MetricSpec, PublishedScore, SameContent, Scan)
#: By whole names: a module holds more than its records, and a name with dots reaches
#: further.
_ALLOWED = {
    ("datetime", "datetime"),
    (__name__, "_nothing"),
    *((kind.__module__, kind.__qualname__) for kind in _RECORDS),
}


@dataclass(frozen=True)
class Sent:
    """Sources that one executor parses together, by their numbers in this ingest."""

    numbers: tuple[int, ...]
    readings: Sequence[Reading]
    path: Path
    came: Future[Path] = field(default_factory=Future)


class Apart:
    """The parsing of sources on executors."""

    def __init__(
        self, address: str, settings: ImportSettings, options: LoadOptions
    ) -> None:
        """Nothing is sent yet; :meth:`close` ends what is.

        Args:
            address: as of :class:`warehouse.store.engines.Executors`, with its errors.
            settings: what was said of the sources.
            options: how they are loaded.
        """
        self._executors = engines.Executors(address)
        self._settings, self._options = settings, options
        self._folder = TemporaryFolder()
        self._pool = ThreadPoolExecutor(1)
        self._sent: dict[tuple[int, ...], Sent] = {}
        self._here: list[str] = []

    def send(self, groups: Sequence[tuple[tuple[int, ...], Sequence[Reading]]]) -> None:
        """Have some groups of sources parsed, after those that were sent before.

        Raises:
            MisuseError: the extra is not installed.
            StoreError: the server does not answer, or not in this protocol.
        """
        if not groups:
            return
        self._executors.open()
        sent = [
            Sent(numbers, readings, self._folder.path / str(numbers[0]))
            for numbers, readings in groups
        ]
        self._sent |= {item.numbers: item for item in sent}
        self._pool.submit(self._fetch, sent)

    def take(self, numbers: tuple[int, ...]) -> Arrived | str | None:
        """The result of a group; waits for it (StoreError: the server was lost).

        Returns:
            ``None`` for what was not sent like this; a text where the executor could
            not parse it.
        """
        sent = self._sent.pop(numbers, None)
        if sent is None:
            return None
        return arrived(sent.came.result())

    def release(self, numbers: tuple[int, ...]) -> None:
        """A group that :meth:`take` gave has been read: its file goes."""
        (self._folder.path / str(numbers[0])).unlink(missing_ok=True)

    def read_here(self, count: int, reason: str) -> None:
        """Count sources that this process read because no executor could."""
        self._here += [reason] * count

    def notes(self) -> list[str]:
        """Messages for the end of the ingest."""
        if not self._here:
            return []
        count = len(self._here)
        were_read = "source was read"
        if count > 1:
            were_read = "sources were read"
        return [
            f"{count} {were_read} by this process, since executors could not: "
            f"{self._here[0]}"
        ]

    def close(self) -> None:
        """End what still runs."""
        self._executors.close()
        self._pool.shutdown(cancel_futures=True)
        self._folder.close()

    def _fetch(self, sent: Sequence[Sent]) -> None:
        """On a thread: run one wave, a task for each group."""
        try:
            tasks = [
                pack(item.readings, self._settings, self._options) for item in sent
            ]
            for task, piece in self._executors.each(parse, tasks):
                if piece is None:
                    sent[task].came.set_result(sent[task].path)
                else:
                    with sent[task].path.open("ab") as file:
                        file.write(piece)
            missing = StoreError(
                f"the executors of {self._executors} gave no answer for some sources; "
                "run this again"
            )
            self._fail(sent, missing)
        except BaseException as error:
            self._fail(sent, error)

    def _fail(self, sent: Sequence[Sent], error: BaseException) -> None:
        for item in sent:
            if not item.came.done():
                item.came.set_exception(error)
