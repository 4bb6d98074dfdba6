"""Abilities of one engine, and how it does things: the record that each engine fills
in."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.records.answer_text import without_surrogates
from warehouse.store.alchemy import sa

if TYPE_CHECKING:
    from warehouse.store.engines.spark_tasks import Executors


#: What a stored vector that contradicts its embedder is answered with.
OTHER_LENGTH = (
    "a stored vector has another length than its embedder says ({dimension}); embed "
    "the prompts again under another name: warehouse text embed --embedder NAME=MODEL"
)


@dataclass(frozen=True)
class MadeReader:
    """A role that can read the store and nothing else."""

    role: str  #: its name.
    is_new: bool  #: it was not there before.
    #: functions that it may call and that have the powers of another role, with that
    #: role.
    definer_functions: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Roles:
    """Roles of an engine that can read a store and nothing else."""

    usual: str  #: name of the one that is used where nobody names another.
    #: (connection, name, password) makes one or lets one that is there in; ``None``: no
    #: password is set.
    make: Callable[[sa.Connection, str, str | None], MadeReader]
    readers: Callable[[sa.Connection], list[str]]  #: names of all that were let in.
    #: (connection, names, tables) lets them read these, and views.
    grant: Callable[[sa.Connection, Iterable[str], Iterable[str]], None]
    url: Callable[[sa.URL, str], sa.URL]  #: the store's URL as such a role.
    #: (connection as the owner, role, password) into the password file of the driver;
    #: returns the file.
    keep_password: Callable[[sa.Connection, str, str], Path]


@dataclass(frozen=True)
class OwnObjects:
    """How the tables, views and functions of a store are looked through."""

    folder: str  #: of the statements, below ``queries``.
    #: of what prints the texts of views; ``None`` of a server, which has to be asked
    #: to.
    version: Callable[[], str] | None = None
    #: a database at a path (``:memory:``) that reaches nothing else, in the form that our
    #: stores have (True) or the engine's own: its connection, and SQLAlchemy's engine
    #: around it.
    closed_at: Callable[[str, bool], tuple[Any, sa.Engine]] | None = None


@dataclass(frozen=True)
class Dialect:
    """Abilities of one engine, and how it does things."""

    name: str
    foreign_keys: bool  #: a table that a foreign key points to can still be migrated.
    indexes: bool  #: one index per fact table pays for itself.
    embedded: bool  #: the store is a file that one process holds at a time.
    is_lake: bool  #: its stores are only read: they are made from others, and hold their schema when opened.
    load: Callable[[], None]  #: load what opening a store takes, without any store.
    exists: Callable[[sa.URL], bool]  #: whether there is something to open at a URL.
    #: (url, write, limits) to an engine of SQLAlchemy or what stands for one; with
    #: limits it can neither write nor reach out, and an engine in this process has no
    #: more memory.
    open_engine: Callable[[sa.URL, bool, Limits | None], sa.Engine]
    #: who holds the store, if an error says that somebody does, else ``None``.
    lock_holder: Callable[[BaseException], str | None]
    #: whether an error says that the store's file cannot be read any more.
    damaged: Callable[[BaseException], bool]
    #: an error after which the same transaction may succeed (deadlock, serialisation).
    retryable: Callable[[BaseException], bool]
    #: run one SELECT with ``:name`` parameters on an open connection, into Arrow;
    #: ``QueryLimitError`` where that has more than so many bytes (``None``: any
    #: number).
    select: Callable[[sa.Connection, str, Mapping[str, Any], int | None], pa.Table]
    #: the same answer in parts as the engine finds them, each of about so many rows, for
    #: one that need not fit into memory; until the last, the connection asks nothing
    #: else.
    batches: Callable[[sa.Connection, str, Mapping[str, Any], int], Iterator[pa.Table]]
    #: (connection, sql, id) rows of a SELECT of numbers, without parameters, by an id
    #: among them; no Python object per number; in the SELECT's order where it orders by
    #: the id first, else by the id. ``None`` where other columns stand among them, or
    #: where ``select`` makes none either.
    by_id: Callable[[sa.Connection, str, str], pa.Table | None]
    #: a column of texts to the expression of their sha256, as bytes of UTF-8.
    sha256_of: Callable[[str], str]
    #: end the statement that another thread runs on the connection.
    interrupt: Callable[[sa.Connection], object]
    #: append Arrow data, whole or as a stream of batches, to a table, by column name;
    #: returns the rows, and counts by column the characters U+0000 that the engine
    #: cannot store.
    append: Callable[
        [sa.Connection, str, pa.Table | pa.RecordBatchReader, Counter[str]], int
    ]
    #: rows of a SELECT of an id and a vector of so many 32-bit numbers, without
    #: parameters, as two arrays; no Python object per number.
    vectors: Callable[
        [sa.Connection, str, int], tuple[NDArray[np.int64], NDArray[np.float32]]
    ]
    #: make the open connection unable to write or to reach out, within limits; afresh
    #: for every query.
    guard: Callable[[sa.Connection, Limits], None]
    #: (connection, url, reader) to the URL, of a role that only reads, at which what
    #: people type is to be run; ``None``: the connection will do.
    plain_url: Callable[[sa.Connection, sa.URL, str], sa.URL | None]
    #: what stands in a store under names of ours; ``None`` for a lake.
    objects: OwnObjects | None
    #: refuse a connection whose role could do more than read (``MisuseError``).
    require_plain: Callable[[sa.Connection, sa.URL], None]
    #: a SELECT as it is to be run so that the types of all its columns have a form
    #: outside the engine: others come as text; with ``True``, times too, which engines
    #: know beyond the years that others do.
    printable: Callable[[sa.Connection, str, Mapping[str, Any], bool], str]
    #: making roles that only read; ``None`` where the engine has no roles.
    roles: Roles | None
    #: serialise short transactions between writers (a lock until commit).
    lock_catalogue: Callable[[sa.Connection], None]
    #: ``lock_catalogue``, in a transaction that only prepares: its commit does not wait
    #: for the disk, where what comes after cannot reach the disk without it.
    prepare: Callable[[sa.Connection], None]
    #: let a long transaction run beside others that have no key (a text) in common with
    #: it; comes before ``lock_catalogue`` in a transaction.
    lock_shared: Callable[[sa.Connection, Iterable[str]], None]
    #: wait for all of those, and then as ``lock_catalogue``.
    lock_all: Callable[[sa.Connection], None]
    #: whether no other process has a source reserved; if so, none can before the end of
    #: the transaction.
    no_source_reserved: Callable[[sa.Connection], bool]
    #: (connection, keys, patient) take each key for this process until ``release``;
    #: ``False`` where another one has it, unless patient: then wait for it.
    reserve: Callable[[sa.Connection, Sequence[str], bool], list[bool]]
    release: Callable[[sa.Connection, Sequence[str]], None]  #: give such keys back.
    #: refuse a text that is not one SELECT (``MisuseError``).
    require_select: Callable[[sa.Connection, str], None]
    #: after a load, count rows for the planner.
    analyze: Callable[[sa.Connection], None]
    #: what the engine says of a statement that a user wrote, ``None`` if an error has
    #: another cause.
    query_error: Callable[[BaseException], str | None]
    #: write one state of the whole store to a new embedded file, without keeping
    #: anybody from reading; ``None`` where readers never wait for writers anyway.
    snapshot: Callable[[sa.URL, Path], None] | None
    #: those of the server that is asked at a URL, for work of ours that it can spread
    #: over machines; ``None`` where there is no more than this process has itself.
    executors: Callable[[sa.URL], Executors | None]
    #: become the one process that refreshes the store at a URL: what lets go of it
    #: again, ``None`` while another process is that one. However the holder ends, the
    #: system or the server lets go for it; readers and writers are not kept out.
    refresh_lock: Callable[[sa.URL], Callable[[], None] | None]
    #: the database that a URL names and its server, which answers, does not have;
    #: ``None`` where that is not why a store cannot be opened.
    missing_database: Callable[[sa.URL], str | None] = lambda _url: None
    #: make that database; ``None`` where there is nothing to be made beforehand.
    make_database: Callable[[sa.URL], None] | None = None


def json_text(value: Any) -> str:
    """JSON of a value; NaN and infinities, which JSON lacks, are null."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # integers beyond 64 bits, lone surrogates
        return json.dumps(without_surrogates(value))


#: Share of the machine's memory that an engine in this process may use, and share of
#: that which an answer may have outside it: together less than half of the machine.
_OF_THE_MACHINE, _OF_THE_ENGINE = 0.36, 0.25
#: Where the kernel says how much memory a container has.
_CONTAINER = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)
#: Seconds between two interruptions: one that comes between two statements is lost.
_AGAIN = 0.1


#: Longest time limit that can be said: more than servers and threads take.
_MOST_SECONDS = 1_000_000
#: Bytes without which the embedded engine does not open a store.
_LEAST_MEMORY = 20_000_000


@dataclass(frozen=True)
class Limits:
    """Limits of what a query may take."""

    seconds: float = 300.0  #: until it is stopped; 0: it is not.
    #: bytes that an engine in this process may use; 0: ``$WAREHOUSE_MEMORY_LIMIT``,
    #: else 36 % of the machine's. The answer may have a quarter as much beside it.
    memory: int = 0

    def __post_init__(self) -> None:
        seconds: Any = self.seconds  # from notebooks comes what no type holds back
        memory: Any = self.memory
        if not isinstance(seconds, int | float) or not 0 <= seconds <= _MOST_SECONDS:
            raise MisuseError(
                "--timeout (in Python: timeout=) lies between 0 (no limit) and "
                f"{_MOST_SECONDS} seconds, found {seconds!r}"
            )
        if not isinstance(memory, int) or 0 != memory < _LEAST_MEMORY:
            raise MisuseError(
                f"--memory (in Python: memory=) is {_LEAST_MEMORY // 10**6} MB and "
                f"more, found {memory!r} bytes"
            )

    @property
    def bytes(self) -> int:
        """Bytes that an engine in this process may use, unless the environment says
        otherwise."""
        return self.memory or int(_OF_THE_MACHINE * machine_memory())

    @property
    def answer(self) -> int:
        """Bytes that an answer may have."""
        return int(_OF_THE_ENGINE * self.bytes)

    @property
    def setting(self) -> str:
        """The memory as the embedded engine is told it."""
        if self.memory:
            said = ""
        else:
            said = os.environ.get("WAREHOUSE_MEMORY_LIMIT", "")
        return said or f"{self.bytes / 1e6:.0f}MB"


def machine_memory() -> int:
    """Bytes of memory of the machine, or of the container that this runs in."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _CONTAINER:
        with suppress(OSError, ValueError):  # no container, or "max"
            sizes.append(int(Path(path).read_text()))
    return min(sizes)


class Clock:
    """How long a query has run.

    Attributes:
        seconds: that it may; 0: without end.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self._began = seconds, time.monotonic()

    @property
    def has_run_out(self) -> bool:
        """The query has been stopped, or is about to be."""
        return self.seconds > 0 and time.monotonic() - self._began > 0.98 * self.seconds


@contextmanager
def interrupted_after(
    seconds: float, interrupt: Callable[[], object]
) -> Iterator[Clock]:
    """Call ``interrupt`` from another thread after so many seconds, again and again
    until the block ends."""
    clock = Clock(seconds)
    if not seconds:
        yield clock
        return
    ended = threading.Event()

    def watch() -> None:
        wait = seconds
        while not ended.wait(wait):
            # the connection is closed, or the server gone: the block says so
            with suppress(Exception):
                interrupt()
            wait = _AGAIN

    thread = threading.Thread(target=watch, name="warehouse-time-limit", daemon=True)
    thread.start()
    try:
        yield clock
    finally:
        ended.set()
        thread.join()
