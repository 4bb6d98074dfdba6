"""Sessions of Spark Connect: with a server that runs elsewhere, or with Sail in this process."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import threading
import warnings
from collections.abc import Mapping
from typing import Any

from warehouse.errors import StoreError
from warehouse.extras import load
from warehouse.store.engines.lake_urls import LakeUrl

#: Seconds that a server has to take a connection.
PATIENCE = 10.0
#: How often the client asks again where a server does not answer any more: for half a minute in all, where it
#: would for ten minutes.
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
        address = url.remote if url.host else f"sc://127.0.0.1:{_local_port()}"
        try:
            session = sql.SparkSession.builder.remote(address).create()
            retries = load("pyspark.sql.connect.client.retries", "lake", "an engine on a lake")
            session.client.set_retry_policies([retries.DefaultPolicy(max_retries=RETRIES)])
            for name, value in settings.items():
                session.conf.set(name, value)
        except Exception as error:
            raise _other_protocol(url, _said(error)) from None
    return session


def _load_client() -> None:
    """Load the client of the protocol: it takes a program without a file (``python -c``, or one from
    standard input) for its own tests, which its package does not have, and ends the process."""
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
    """Ask whether there is a server of this kind: the client itself tries for minutes.

    Raises:
        StoreError: there is not.
    """
    try:
        socket.create_connection((url.host.strip("[]"), url.port), PATIENCE).close()
    except OSError as error:
        raise StoreError(
            f"no server at {url.host}:{url.port}: {error.strerror or error}; start it, or "
            + (f"ask in this process: --db 'sail:?lake={url.lake}'" if url.lake else "read in this process: --on sail:")
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
    where = f"{url.host}:{url.port}" if url.host else "this process"
    return StoreError(
        f"the server at {where} does not speak Spark Connect as this program does: {reason}; expected a server of Spark"
        " 4 or Sail"
    )


def _local_port() -> int:
    """Where the engine in this process listens; it is started when it is first asked for."""
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
    text = " ".join((str(details() if callable(details) else "") or str(error)).split())
    return text[:300] or type(error).__name__
