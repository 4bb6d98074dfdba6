"""Connections that are opened and hold on: they end by themselves, and others are
answered meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from warehouse.serve import connections
from warehouse.serve.server import listen

REQUEST = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n"
SECONDS = 0.4


async def app(scope: dict[str, str], receive: object, send: object) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-length", b"2")],
        }
    )  # type: ignore[operator]
    await send({"type": "http.response.body", "body": b"ok"})  # type: ignore[operator]


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server with the same protocol and shorter bounds."""
    monkeypatch.setattr(connections, "REQUEST_SECONDS", SECONDS)
    monkeypatch.setattr(connections, "MOST_OF_A_CLIENT", 10)
    own = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app, log_level="error", http=connections.bounded(""), lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[own])))
    thread.start()
    yield own.getsockname()[1]
    server.should_exit = True
    thread.join()
    own.close()


def connected(port: int, begin: bytes = b"") -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", port), timeout=10)
    opened.sendall(begin)
    return opened


def answer(port: int) -> bytes:
    parts: list[bytes] = []
    with (
        connected(port, REQUEST + b"connection: close\r\n\r\n") as own,
        contextlib.suppress(ConnectionResetError),
    ):
        parts.extend(iter(lambda: own.recv(4096), b""))
    return b"".join(parts)


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"GET",
        REQUEST,
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nab",
    ],
)
def test_a_request_that_does_not_come_is_not_waited_for(
    port: int, begin: bytes
) -> None:
    with connected(port, begin) as own:
        started = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            while own.recv(4096):
                pass
        assert time.monotonic() - started < 5
    assert answer(port).endswith(b"ok")


def test_a_second_request_that_is_begun_is_not_waited_for_either(port: int) -> None:
    with connected(port, REQUEST + b"\r\n") as own:
        assert own.recv(4096)
        own.sendall(b"GET / HT")
        with contextlib.suppress(ConnectionResetError):
            while own.recv(4096):
                pass


def test_an_address_has_so_many_connections_and_no_more(port: int) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(10):
            held.enter_context(connected(port))
        told = answer(port)
        assert told.startswith(b"HTTP/1.1 503") and b"too many connections" in told
    deadline = time.monotonic() + 5
    while not answer(port).endswith(b"ok"):
        assert time.monotonic() < deadline


def test_requests_one_after_the_other_are_answered_on_one_connection(port: int) -> None:
    with connected(port) as own:
        for _ in range(3):
            own.sendall(REQUEST + b"\r\n")
            said = b""
            while not said.endswith(b"ok"):
                more = own.recv(4096)
                assert more
                said += more
            time.sleep(SECONDS * 0.7)
