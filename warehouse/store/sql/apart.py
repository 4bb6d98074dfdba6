"""Statements that people type, each in a process of its own, so that the system holds
their limits.

An engine looks at its clock between pieces of work, and counts the memory that it
manages itself: one expression over a long list is neither. So the statement runs in a
child, whose memory and processor time the system bounds, and which is killed when its
time is over. The rows come back as Arrow.

A program of one thread forks the child itself. Others ask a small process that was
started beside them, has loaded what a query needs, holds no store, and forks a child
for each.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from warehouse import errors
from warehouse.errors import QueryLimitError, StoreError, WarehouseError
from warehouse.store.engines import (
    DEFAULT_URL,
    Limits,
    dialect_of,
    is_loaded,
    load,
    parse_url,
    store_failure,
)
from warehouse.store.open import open_store
from warehouse.store.sql.run_query import run_sql

#: Seconds that a statement has to end by itself, once the engine was told to stop it.
GRACE = 1.0
#: Bytes that a child may have beside what the engine and the answer may take: pieces
#: that an allocator keeps.
SLACK = 192 * 2**20
#: Seconds of the processor that opening a store may take.
_OPENING = 10
_PID = struct.Struct("<q")
_SIZE = struct.Struct("<Q")
_TABLE, _ERROR = b"T", b"E"


@dataclass(frozen=True)
class TypedQuery:
    """One SELECT that somebody typed, and where it is to run."""

    #: of the store; default as in :func:`warehouse.store.open.open_store`.
    url: str | None
    sql: str
    parameters: Mapping[str, Any]  #: their values, by name.
    limits: Limits
    reader: str = ""  #: role, or URL, that it runs as on a server.
    wait: float = 10.0  #: seconds to wait for a store that another process holds.
    folder: str = field(default_factory=os.getcwd)  #: that paths are relative to.
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def query_apart(
    query: TypedQuery,
    *,
    say: Callable[[str], None] | None = None,
    started: Callable[[int], object] = lambda _pid: None,
) -> pa.Table:
    """The rows of a SELECT.

    Args:
        say: told if there is something to wait for, where the child is forked from
            here.
        started: told the number of the process that runs it; who kills it ends the
            query.

    Raises:
        MisuseError: not one SELECT, an error in it, or a wrong parameter.
        QueryLimitError: it takes longer, or needs more memory, than it may.
        StoreError: the store cannot be opened.
    """
    if (
        not hasattr(os, "fork")
        or dialect_of(parse_url(query.url or DEFAULT_URL)).is_lake
    ):
        return _run(query, say)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as answer:
        try:
            if _may_fork():
                _fork(query, writing, say, ours=reading)
            else:
                _Launcher.of_this_process().launch(query, writing)
        finally:
            os.close(writing)
        return _received(answer, query.limits, started)


def _may_fork() -> bool:
    """True if this program has one thread, and no store that a child would find half
    open."""
    return threading.active_count() == 1 and not is_loaded()


def _run(query: TypedQuery, say: Callable[[str], None] | None) -> pa.Table:
    with open_store(
        query.url,
        guarded=True,
        limits=query.limits,
        reader=query.reader,
        wait=query.wait,
        say=say,
    ) as store:
        return run_sql(store, query.sql, query.parameters)


# --- the child -------------------------------------------------------------------------------


def _fork(
    query: TypedQuery,
    writing: int,
    say: Callable[[str], None] | None,
    ours: int | None = None,
) -> None:
    """Answer a query in a child.

    Args:
        writing: the end of the pipe that the answer goes into.
        ours: the other end, where the child would hold it too, and so never hear that
            nobody listens any more.
    """
    pid = os.fork()
    if pid:
        return
    try:
        if ours is not None:
            os.close(ours)
        with os.fdopen(writing, "wb") as answer:
            _answer(query, answer, say)
    except (
        BaseException
    ):  # nobody listens any more, or there is no memory to say anything with
        os._exit(1)
    os._exit(0)


def _answer(
    query: TypedQuery, answer: BinaryIO, say: Callable[[str], None] | None
) -> None:
    answer.write(_PID.pack(os.getpid()))
    answer.flush()
    os.environ.clear()
    os.environ.update(query.environment)
    os.chdir(query.folder)
    try:
        with _bounded(query.limits):
            table = _run(query, say)
    except Exception as error:
        failure = error if isinstance(error, WarehouseError) else store_failure(error)
        if failure is None:
            raise
        told = {"kind": type(failure).__name__, "text": str(failure)}
        answer.write(_ERROR + json.dumps(told).encode())
        return
    answer.write(_TABLE)
    with pa.ipc.new_stream(answer, table.schema) as stream:
        stream.write_table(table)


@contextmanager
def _bounded(limits: Limits) -> Iterator[None]:
    """Bound this process by what the system lets it have."""
    import resource

    size = _data_size()
    if size:
        most = size + limits.bytes + limits.answer + SLACK
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    if limits.seconds:
        seconds = ceil(limits.seconds * (os.cpu_count() or 1)) + _OPENING
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    try:
        yield
    except MemoryError:
        raise _needs_memory(limits) from None


def _data_size() -> int:
    """Bytes of memory that this process has for itself; 0 where the system does not
    say."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return 1024 * int(line.split()[1])
    return 0


# --- the answer ------------------------------------------------------------------------------


def _received(
    answer: BinaryIO, limits: Limits, started: Callable[[int], object]
) -> pa.Table:
    head = answer.read(_PID.size)
    if len(head) < _PID.size:
        raise StoreError("the process of a query could not be started; try again")
    (pid,) = _PID.unpack(head)
    started(pid)
    with _killed_after(
        pid, limits.seconds + GRACE if limits.seconds else 0.0
    ) as was_killed:
        told = _read(answer)
        if told is None and was_killed.is_set():
            found = f"the query was stopped after {limits.seconds:g} s"
            raise QueryLimitError(
                found, "--timeout SECONDS, 0 for no limit", "timeout="
            )
        if told is None:
            raise _needs_memory(limits)
    if isinstance(told, WarehouseError):
        raise told
    return told


def _read(answer: BinaryIO) -> pa.Table | WarehouseError | None:
    """The rows, or the error of the child; ``None`` where it ended in the middle."""
    kind = answer.read(1)
    try:
        if kind == _TABLE:
            return pa.ipc.open_stream(answer).read_all()
        if kind == _ERROR:
            return _error(json.loads(answer.read()))
    except (pa.ArrowInvalid, OSError, ValueError):
        pass
    return None


def _needs_memory(limits: Limits) -> QueryLimitError:
    return QueryLimitError(
        f"the query needs more than the {limits.setting} of memory that it may use, "
        "and was stopped",
        "--memory SIZE",
        "memory=",
    )


def _error(told: Mapping[str, str]) -> WarehouseError:
    """The error of a child, with its words."""
    kind = getattr(errors, told["kind"], WarehouseError)
    error: WarehouseError = kind.__new__(kind)
    error.args = (told["text"],)
    return error


@contextmanager
def _killed_after(pid: int, seconds: float) -> Iterator[threading.Event]:
    """Kill a process when so many seconds are over, or when this block is left by an
    error; whether it was for the time. One that has answered ends by itself, and its
    number may be another's by then."""
    is_over = threading.Event()

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def stop() -> None:
        is_over.set()
        kill()

    timer = None
    if seconds:
        timer = threading.Timer(seconds, stop)
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield is_over
    except BaseException:
        kill()
        raise
    finally:
        if timer is not None:
            timer.cancel()
        with suppress(ChildProcessError):  # the launcher's child is not ours
            os.waitpid(pid, 0)


# --- the process that forks for programs of several threads ----------------------------------


class _Launcher:
    """The process that forks a child for each query of this program."""

    _mine: _Launcher | None = None
    _pid = 0
    _starting = threading.Lock()

    def __init__(self) -> None:
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(other.fileno())],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                env=environment,
            )
        self._sending = threading.Lock()
        atexit.register(self.close)

    @classmethod
    def of_this_process(cls) -> _Launcher:
        """The one that runs; started where there is none, or it has ended."""
        with cls._starting:
            mine = cls._mine
            if (
                mine is None
                or cls._pid != os.getpid()
                or mine._process.poll() is not None
            ):
                mine = cls()
                cls._mine, cls._pid = mine, os.getpid()
            return mine

    def launch(self, query: TypedQuery, writing: int) -> None:
        """Let it run a query that answers into an open file."""
        message = pickle.dumps(query)
        with self._sending:
            try:
                socket.send_fds(self._socket, [_SIZE.pack(len(message))], [writing])
                self._socket.sendall(message)
            except OSError:
                raise StoreError(
                    "the process that runs queries has ended; try again"
                ) from None

    def close(self) -> None:
        """It ends when nobody asks any more."""
        self._socket.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)


def _serve(number: int) -> None:
    """Fork a child for each query that comes, until the program that asks has gone."""
    # the terminal's is meant for the program that asks
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    load()  # so that children need not
    with socket.socket(fileno=number) as requests:
        while True:
            head, files, _flags, _address = socket.recv_fds(requests, _SIZE.size, 1)
            if not head or not files:
                return
            while len(head) < _SIZE.size:
                head += requests.recv(_SIZE.size - len(head))
            (size,) = _SIZE.unpack(head)
            message = bytearray()
            while len(message) < size:
                message += requests.recv(size - len(message))
            query: TypedQuery = pickle.loads(message)
            _load_engine(query)
            _fork(query, files[0], None)
            os.close(files[0])


def _load_engine(query: TypedQuery) -> None:
    """Load what the engine of a query takes, so that no child need; what is wrong with
    its URL the child says."""
    with suppress(WarehouseError):
        dialect_of(parse_url(query.url or DEFAULT_URL)).load()


if __name__ == "__main__":
    from warehouse.store.sql import apart  # under its own name, as what comes is named

    apart._serve(int(sys.argv[1]))
