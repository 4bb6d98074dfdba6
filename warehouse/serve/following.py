"""A store that many ask at once while others write to it, or put another in its place.

A store that is a file is asked by a copy of it, which is made anew whenever the file
has changed: a writer finds nobody in its way, and a reader no half of a load. A server,
and a lake, are asked themselves.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from warehouse.errors import QueryLimitError, StoreError, WarehouseError, cause_of
from warehouse.records.clock import utc_now
from warehouse.store import engines
from warehouse.store.connection import KeptReads, Store
from warehouse.store.engines.urls import LakeUrl
from warehouse.store.lake import versions
from warehouse.store.lake.versions import LakeLocation
from warehouse.store.open import DEFAULT_URL, open_store
from warehouse.store.sql.query_files import query_text

#: Seconds between two looks at whether the store has changed.
LOOK = 1.0
#: Bytes that an engine in this process may use. The view of published figures takes 150
#: MB of a store of 30 MB.
MEMORY = 256_000_000
#: Bytes that the answer to one query may have: scores of a benchmark with some millions
#: of them.
ANSWER = 256_000_000
#: Seconds that what is under way has once the store is to be closed.
LAST = 1.0
#: Pages that are made at a time.
READERS = 6
#: Connections at most; whoever comes later waits for one. Slow answers
#: (`answers.AT_A_TIME`, of small and large ones) and what is computed behind the pages
#: take seven, which leaves pages nearly as many as there are of them.
CONNECTIONS = 12

#: Of the files of a store: its own, and its log, which a writer that was killed leaves.
_ENDINGS = ("", ".wal")

_LOG = logging.getLogger(__name__)


def _own_folder() -> Path:
    """Where the copies of this process lie; those of processes that were killed go."""
    for left in Path(tempfile.gettempdir()).glob("warehouse-serve-*-*"):
        try:
            os.kill(int(left.name.split("-")[2]), 0)
        except ProcessLookupError:
            shutil.rmtree(left, ignore_errors=True)
        except (ValueError, OSError, OverflowError):
            continue
    return Path(tempfile.mkdtemp(prefix=f"warehouse-serve-{os.getpid()}-"))


class _Limits(engines.Limits):
    """What a page's queries may take: the engine keeps little in memory, and one answer
    may be large."""

    @property
    def answer(self) -> int:
        return ANSWER


@dataclass
class _State:
    """One state of the store, and who asks it."""

    version: str  #: differs between any two states.
    url: str  #: what is opened: of the copy, or of the store itself.
    as_of: datetime  #: when it was seen, UTC.
    #: file to be removed once nobody asks it any more; None where the store itself is
    #: asked.
    copy: Path | None = None
    readers: int = 0  #: connections that are lent.
    #: connections that wait for the next reader.
    idle: list[Store] = field(default_factory=list)
    is_old: bool = False  #: another state has taken its place.
    kept: KeptReads = field(default_factory=KeptReads)  #: what its readers have read.

    def drop(self) -> None:
        """Let go of what nobody asks any more."""
        for store in self.idle:
            store.close()
        self.idle.clear()
        if self.copy is not None and not self.readers:
            for path in self.copy.parent.glob(f"{self.copy.name}*"):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)


class FollowedStore:
    """A store as it was when it was last seen to change.

    Args:
        url: of the store; None for the default.
        seconds: that a question may take.
        wait: seconds to wait at the start for a store that another process holds.
        look: seconds between two looks.

    Attributes:
        trouble: why a newer state cannot be shown; empty where there is none.
    """

    def __init__(
        self,
        url: str | None,
        *,
        seconds: float = 30.0,
        wait: float = 10.0,
        look: float = LOOK,
    ) -> None:
        self._url = engines.parse_url(url or DEFAULT_URL)
        self._given, self._wait, self._look = url, wait, look
        self._limits = _Limits(seconds, MEMORY)
        self._dialect = engines.dialect_of(self._url)
        self._lock, self._slots = (
            threading.Lock(),
            threading.BoundedSemaphore(CONNECTIONS),
        )
        self._ended, self._in_use, self._n_lent = threading.Event(), set[Store](), 0
        self._folder: Path | None = None
        self._seen = ""
        self.trouble = ""
        try:
            self._state = self._new_state(wait)
        except BaseException:
            self._remove_folder()
            raise
        atexit.register(
            self.close
        )  # for whoever uses the application without its lifespan
        self._follower = threading.Thread(
            target=self._follow, name="warehouse-follow", daemon=True
        )
        self._follower.start()

    @property
    def name(self) -> str:
        """The URL, without secrets."""
        return engines.shown_url(self._url)

    @property
    def version(self) -> str:
        """Of the state that is shown."""
        return self._state.version

    @property
    def as_of(self) -> datetime:
        """When the state that is shown was seen, UTC."""
        return self._state.as_of

    @property
    def is_closed(self) -> bool:
        """No more questions are answered."""
        return self._ended.is_set()

    @contextmanager
    def lend(self) -> Iterator[Store]:
        """A connection that only reads, for one question; what runs on it is ended
        after its time.

        Raises:
            StoreError: the store cannot be opened, or is being closed.
        """
        if not self._slots.acquire(timeout=self._limits.seconds or None):
            raise StoreError("too many ask at once; try again in a moment")
        try:
            with self._of(self._taken()) as store:
                yield store
        finally:
            self._slots.release()

    def _taken(self) -> _State:
        with self._lock:
            if self._ended.is_set():
                raise StoreError("the server ends")
            self._state.readers += 1
            self._n_lent += 1
            return self._state

    @contextmanager
    def _of(self, state: _State) -> Iterator[Store]:
        store: Store | None = None
        is_well = False
        try:
            store = self._idle(state) or self._opened(state.url)
            store.kept = state.kept
            self._in_use.add(store)
            if self._ended.is_set():  # while it was opened
                raise StoreError("the server ends")
            with engines.interrupted_after(
                self._limits.seconds, self._ending(store)
            ) as clock:
                try:
                    yield store
                except Exception as error:
                    raise self._in_words(error, clock.has_run_out) from None
            is_well = True
        except WarehouseError:
            is_well = True
            raise
        finally:
            self._give_back(state, store, is_well)

    def _in_words(self, error: Exception, has_run_out: bool) -> Exception:
        """What an engine says that was interrupted or lacks memory; any other error as
        it is."""
        if engines.out_of_memory(error):
            return QueryLimitError(
                "a page took more memory than it may", "--memory SIZE", "memory="
            )
        if self._dialect.query_error(cause_of(error)) is None:
            return error
        if self._ended.is_set():
            return StoreError("the server ends")
        if has_run_out:
            return StoreError(
                f"this took longer than {self._limits.seconds:g} seconds; ask for less"
            )
        return error

    def _idle(self, state: _State) -> Store | None:
        with self._lock:
            if state.idle:
                return state.idle.pop()
            return None

    def _ending(self, store: Store) -> Callable[[], object]:
        return lambda: self._dialect.interrupt(store.connection)

    def _opened(self, url: str) -> Store:
        return open_store(
            url, wait=self._wait, guarded=True, typed=False, limits=self._limits
        )

    def _give_back(self, state: _State, store: Store | None, is_well: bool) -> None:
        with self._lock:
            state.readers -= 1
            if store is not None:
                self._in_use.discard(store)
                if is_well and not state.is_old and not self._ended.is_set():
                    state.idle.append(store)
                else:
                    store.close()
            if state.is_old:
                state.drop()
            self._n_lent -= 1

    def interrupt(self) -> None:
        """End what runs on any connection, and begin nothing more."""
        self._ended.set()
        for store in [*self._in_use]:
            with suppress(Exception):  # it ends by itself at this moment
                self._dialect.interrupt(store.connection)

    def close(self) -> None:
        """End all questions, and remove the copies."""
        atexit.unregister(self.close)
        end = time.monotonic() + LAST
        self.interrupt()
        while (
            self._n_lent and time.monotonic() < end
        ):  # an engine that is at work must not lose its interpreter
            time.sleep(0.01)
            self.interrupt()
        if self._follower.is_alive():
            self._follower.join(max(0.0, end - time.monotonic()))
        with self._lock:
            self._state.is_old = True
            self._state.drop()
        self._remove_folder()

    def _remove_folder(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    # --- how it follows --------------------------------------------------------------------

    def _follow(self) -> None:
        while not self._ended.wait(self._look):
            try:
                if self._signature() != self._seen:
                    self._take(self._new_state(0))
                self.trouble = ""
            except WarehouseError as error:  # a writer is at work, or the file is being replaced: the next look
                self.trouble = str(error)
            except (
                Exception
            ) as error:  # it must not end, whatever the engine or the system says
                _LOG.warning("the store cannot be followed: %s", error)
                self.trouble = "the store cannot be read"

    def _take(self, new: _State) -> None:
        with self._lock:
            old, self._state = self._state, new
            old.is_old = True
            old.drop()

    def _signature(self) -> str:
        """What changes whenever the store does: of files, or counted by the engine."""
        if not self._dialect.embedded:
            return self._version_on_server()
        path = Path(self._url.database or "")
        parts = []
        for ending in _ENDINGS:
            with suppress(OSError):
                found = path.with_name(f"{path.name}{ending}").stat()
                parts.append(f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}")
        return " ".join(parts)

    def _version_on_server(self) -> str:
        if self._dialect.is_lake:  # a connection keeps the version that it has opened
            lake = LakeUrl.of(self._url)
            return f"{versions.find(LakeLocation(lake.lake), lake.version).number}"
        state = getattr(self, "_state", None)
        with (
            open_store(self._given, wait=self._wait)
            if state is None
            else self._of(self._taken()) as store
        ):
            words: list[str] = []
            for row in store.rows(query_text("roles", "version_of_store")):
                words += map(str, row.values())
            return " ".join(words)

    def _new_state(self, wait: float) -> _State:
        seen = (
            self._signature()
        )  # before it is read: what changes meanwhile is seen at the next look
        if not self._dialect.embedded:
            state = _State(seen, self._given or DEFAULT_URL, utc_now())
            self._opened(state.url).close()
        else:
            self._folder = self._folder or _own_folder()
            copy = self._folder / f"{abs(hash(seen)):x}.copy"
            with open_store(
                self._given, wait=wait
            ):  # of this program's schema; and nobody writes meanwhile
                self._copy_to(copy)
            state = _State(seen, str(copy), utc_now(), copy)
            state.idle.append(
                self._opened(state.url)
            )  # the engine keeps a file in memory that is open
        self._seen = seen
        return state

    def _copy_to(self, copy: Path) -> None:
        """Byte by byte, which takes a hundredth of the time of copying tables. Another
        process copies: one that closes a file gives up its locks on it, and the store
        is open here.

        Raises:
            StoreError: there is no room, or the file cannot be read.
        """
        for ending in _ENDINGS:
            file = f"{self._url.database}{ending}"
            if ending and not Path(file).exists():
                continue
            done = subprocess.run(
                ["cp", "--", file, f"{copy}{ending}"],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise StoreError(
                    f"the store cannot be copied to {copy.parent} (TMPDIR names "
                    f"another place): {done.stderr}"
                )
