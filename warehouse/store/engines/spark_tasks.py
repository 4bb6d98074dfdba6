"""Tasks on executors: calls a function for each task, by the protocol of Spark Connect."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from warehouse.errors import StoreError
from warehouse.extras import load
from warehouse.store.engines import urls
from warehouse.store.engines.urls import LakeUrl

#: Bytes of what a function gives that go into one row: a message of the protocol holds
#: 128 MB.
_CHUNK = 1 << 20
_SCHEMA = pa.schema(
    [("task", pa.int64()), ("is_last", pa.bool_()), ("data", pa.binary())]
)
_COLUMNS = "task bigint, is_last boolean, data binary"
#: What executors say that cannot run our function, and what to do about it.
_REASONS = {
    "No module named": (
        "install eval-warehouse in the Python of the executors (spark.pyspark.python)"
    ),
    "PYTHON_VERSION_MISMATCH": (
        "give the executors the same Python as here (spark.pyspark.python)"
    ),
    "maxResultSize": "allow more: spark.driver.maxResultSize of the server",
}


class Executors:
    """A session with a server, whose executors run what is ours.

    They have this package installed, and see files under the same names as this process
    does.
    """

    def __init__(self, address: str | LakeUrl) -> None:
        """Nothing is opened yet (MisuseError: another form).

        Args:
            address: ``sc://HOST:PORT``, or ``sail:`` for threads of this process; or
                what either was read into.
        """
        if isinstance(address, str):
            self._url = urls.parse_server(address)
        else:
            self._url = replace(address, lake="")
        self._session: Any = None

    def __str__(self) -> str:
        return str(self._url)

    def open(self) -> None:
        """Begin the session, if it has not begun.

        Raises:
            MisuseError: the extra is not installed.
            StoreError: the server does not answer, or not in this protocol.
        """
        if self._session is None:
            self._session = session_at(self._url, {})

    def each(
        self, function: Callable[[bytes], Iterable[bytes]], tasks: Sequence[bytes]
    ) -> Iterator[tuple[int, bytes | None]]:
        """Run a function on each of some tasks (StoreError: the server was lost, or
        executors cannot run the function).

        Args:
            function: of a module that the executors have too; gives bytes, a piece at a
                time.
            tasks: what it is given, each once; again where an executor was lost.

        Returns:
            number of a task with a piece of what came of it, pieces of one task in
            their order; ``None`` after its last piece.
        """
        run = _on_tasks(function, list(tasks))
        try:
            with warnings.catch_warnings():
                # of the client, on versions of other packages
                warnings.simplefilter("ignore")
                frame = self._session.range(0, len(tasks), 1, len(tasks)).mapInArrow(
                    run, _COLUMNS
                )
                for row in frame.toLocalIterator():
                    yield int(row.task), None if row.is_last else bytes(row.data)
        except Exception as error:
            raise self._lost(error) from error

    def map(
        self, function: Callable[[bytes], bytes], tasks: Sequence[bytes]
    ) -> Iterator[tuple[int, bytes]]:
        """The result of a function for each of some tasks, as each is done.

        Args:
            function: of a module that the executors have too, in the same version.
            tasks: as of :meth:`each`.

        Raises:
            StoreError: as of :meth:`each`; also where executors have other versions,
                since random numbers may then be other ones.
        """
        pieces: dict[int, list[bytes]] = {}
        for number, data in self.each(partial(_one, function, _versions()), tasks):
            if data is not None:
                pieces.setdefault(number, []).append(data)
            else:
                yield number, b"".join(pieces.pop(number, []))

    def _lost(self, error: Exception) -> StoreError:
        text = str(error).strip()
        advice = next(
            (advice for words, advice in _REASONS.items() if words in text), ""
        )
        lines = [line.strip() for line in text.splitlines() if line.strip()] or [
            type(error).__name__
        ]
        # of a traceback the last line says what was wrong
        reason = next(
            (
                line
                for line in reversed(lines)
                if "Error: " in line or "StoreError" in line
            ),
            lines[0],
        )
        return StoreError(
            f"the executors of {self} ended early: {reason[:300]}; "
            + (
                advice
                or "see that the server runs, then run this again: what was loaded is known"
            )
        )

    def close(self) -> None:
        """End what still runs, and the session."""
        if self._session is None:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._session.interruptAll()
                self._session.stop()
            except Exception:  # the server is gone: so is the session
                return


def _one(
    function: Callable[[bytes], bytes], versions: dict[str, str], task: bytes
) -> Iterator[bytes]:
    """On an executor: the answer to one task, as one piece."""
    if (installed := _versions()) != versions:
        raise StoreError(
            f"executors have {_in_words(installed)}, the caller {_in_words(versions)}"
        )
    yield function(task)


def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("eval-warehouse", "numpy")}


def _in_words(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in versions.items())


def _on_tasks(
    function: Callable[[bytes], Iterable[bytes]], tasks: list[bytes]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that runs on an executor: the numbers of tasks come in, pieces of
    what came of them go out."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for data in function(tasks[number]):
                    for start in range(0, len(data), _CHUNK):
                        yield _row(number, False, data[start : start + _CHUNK])
                yield _row(number, True, b"")

    return run


def _row(number: int, is_last: bool, data: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {"task": [number], "is_last": [is_last], "data": [data]}, _SCHEMA
    )


#: Seconds that a server has to take a connection.
PATIENCE = 10.0
#: How often the client asks again where a server does not answer any more: for half a
#: minute in all, where it would for ten minutes.
RETRIES = 5
_lock = threading.Lock()
_server: list[Any] = []


def session_at(url: LakeUrl, settings: Mapping[str, str]) -> Any:
    """A new session, set up.

    Raises:
        MisuseError: the extra is not installed.
        StoreError: the server does not answer, or not in this protocol.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client, on versions of other packages
        sql = load("pyspark.sql", "lake", "an engine on a lake")
        _load_client()
        if url.host:
            _require_answer(url)
        if url.host:
            address = url.remote
        else:
            address = f"sc://127.0.0.1:{_local_port()}"
        try:
            session = sql.SparkSession.builder.remote(address).create()
            retries = load(
                "pyspark.sql.connect.client.retries", "lake", "an engine on a lake"
            )
            session.client.set_retry_policies(
                [retries.DefaultPolicy(max_retries=RETRIES)]
            )
            for name, value in settings.items():
                session.conf.set(name, value)
        except Exception as error:
            raise _other_protocol(url, _said(error)) from None
    return session


def _load_client() -> None:
    """Load the client of the protocol: it takes a program without a file (``python
    -c``, or one from standard input) for its own tests, which its package does not
    have, and ends the process."""
    main = sys.modules["__main__"]
    nameless = not hasattr(main, "__file__")
    if nameless:
        main.__file__ = "<string>"
    try:
        load("pyspark.sql.connect.session", "lake", "an engine on a lake")
    finally:
        if nameless:
            del main.__file__


def _require_answer(url: LakeUrl) -> None:
    """Ask whether there is a server of this kind: the client itself tries for minutes
    (StoreError: there is not)."""
    try:
        socket.create_connection((url.host.strip("[]"), url.port), PATIENCE).close()
    except OSError as error:
        other_way = "read in this process: --on sail:"
        if url.lake:
            other_way = f"ask in this process: --db 'sail:?lake={url.lake}'"
        raise StoreError(
            f"no server at {url.host}:{url.port}: {error.strerror or error}; start it, "
            f"or {other_way}"
        ) from None
    if dict(url.options).get("use_ssl") or dict(url.options).get("token"):
        return  # behind a certificate, which the client knows how to ask for
    grpc = load("grpc", "lake", "an engine on a lake")
    with grpc.insecure_channel(f"{url.host}:{url.port}") as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=PATIENCE)
        except grpc.FutureTimeoutError:
            raise _other_protocol(url, f"no answer in {PATIENCE:g} s") from None


def _other_protocol(url: LakeUrl, reason: str) -> StoreError:
    where = "this process"
    if url.host:
        where = f"{url.host}:{url.port}"
    return StoreError(
        f"the server at {where} does not speak Spark Connect as this program does: "
        f"{reason}; expected a server of Spark 4 or Sail"
    )


def _local_port() -> int:
    """Where the engine in this process listens; it is started when it is first asked
    for."""
    with _lock:
        if not _server:
            os.environ.setdefault("RUST_LOG", "off")
            package = load("pysail.spark", "lake", "an engine on a lake")
            server = package.SparkConnectServer(ip="127.0.0.1", port=0)
            server.start(background=True)
            _server.append(server)
            atexit.register(server.stop)
        return int(_server[0].listening_address[1])


def _said(error: BaseException) -> str:
    details = getattr(error, "details", None)
    told = ""
    if callable(details):
        told = str(details())
    text = " ".join((told or str(error)).split())
    return text[:300] or type(error).__name__
