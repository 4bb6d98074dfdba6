"""Sources that are parsed on executors, ahead of the loader: sent in waves, fetched into files."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from warehouse.errors import StoreError
from warehouse.ingest import parse_elsewhere
from warehouse.ingest.parse_elsewhere import Arrived
from warehouse.ingest.reading import Reading
from warehouse.records import ImportSettings
from warehouse.store import engines
from warehouse.store.load.state import LoadOptions
from warehouse.store.temporary import TemporaryFolder


@dataclass(frozen=True)
class Sent:
    """Sources that one executor parses together, by their numbers in this ingest."""

    numbers: tuple[int, ...]
    readings: Sequence[Reading]
    path: Path
    came: Future[Path] = field(default_factory=Future)


class Apart:
    """The parsing of sources on executors."""

    def __init__(self, address: str, settings: ImportSettings, options: LoadOptions) -> None:
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
        sent = [Sent(numbers, readings, self._folder.path / str(numbers[0])) for numbers, readings in groups]
        self._sent |= {item.numbers: item for item in sent}
        self._pool.submit(self._fetch, sent)

    def take(self, numbers: tuple[int, ...]) -> Arrived | str | None:
        """What came of a group; waits for it.

        Returns:
            ``None`` for what was not sent like this; a text where the executor could not parse it.

        Raises:
            StoreError: the server was lost.
        """
        sent = self._sent.pop(numbers, None)
        return None if sent is None else parse_elsewhere.arrived(sent.came.result())

    def release(self, numbers: tuple[int, ...]) -> None:
        """A group that :meth:`take` gave has been read: its file goes."""
        (self._folder.path / str(numbers[0])).unlink(missing_ok=True)

    def read_here(self, count: int, reason: str) -> None:
        """So many sources were read by this process: no executor could."""
        self._here += [reason] * count

    def notes(self) -> list[str]:
        """What to tell at the end."""
        if not self._here:
            return []
        count = len(self._here)
        return [
            f"{count} source{'s' if count > 1 else ''} {'were' if count > 1 else 'was'} read by this process, since"
            f" executors could not: {self._here[0]}"
        ]

    def close(self) -> None:
        """End what still runs."""
        self._executors.close()
        self._pool.shutdown(cancel_futures=True)
        self._folder.close()

    def _fetch(self, sent: Sequence[Sent]) -> None:
        """On a thread: run one wave, a task for each group."""
        try:
            tasks = [parse_elsewhere.pack(item.readings, self._settings, self._options) for item in sent]
            for task, piece in self._executors.each(parse_elsewhere.parse, tasks):
                if piece is None:
                    sent[task].came.set_result(sent[task].path)
                else:
                    with sent[task].path.open("ab") as file:
                        file.write(piece)
            missing = StoreError(f"the executors of {self._executors} gave no answer for some sources; run this again")
            self._fail(sent, missing)
        except BaseException as error:
            self._fail(sent, error)

    def _fail(self, sent: Sequence[Sent], error: BaseException) -> None:
        for item in sent:
            if not item.came.done():
                item.came.set_exception(error)
