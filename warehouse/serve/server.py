"""The server: uvicorn, told when to end."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from warehouse.errors import MisuseError
from warehouse.serve.app import Served
from warehouse.serve.connections import bounded

#: Seconds that answers under way have once the server is to end.
LAST = 1


class _Server(uvicorn.Server):
    """Ends in order on SIGTERM and SIGINT, also while a query runs: copies of the store
    are removed."""

    def __init__(
        self,
        config: uvicorn.Config,
        ending: Callable[[], object],
        ready: Callable[[], object],
    ) -> None:
        super().__init__(config)
        self._ending, self._ready = ending, ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        def end(number: int, frame: Any) -> None:
            self.handle_exit(number, frame)
            self._ending()

        before = {
            number: signal.signal(number, end)
            for number in (signal.SIGTERM, signal.SIGINT)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def listen(host: str, port: int) -> socket.socket:
    """A socket that others can connect to.

    Raises:
        MisuseError: the address cannot be had.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise MisuseError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose "
            "another --port"
        ) from None


def serve(app: Served, own: socket.socket, ready: Callable[[], object]) -> None:
    """Answer until SIGTERM or SIGINT.

    Args:
        ready: called once people can ask.
    """
    config = uvicorn.Config(
        app,
        log_level="error",  # what strangers send is nothing to warn of
        access_log=False,
        server_header=False,
        proxy_headers=False,  # whose headers are trusted says `Access`
        timeout_graceful_shutdown=LAST,
        h11_max_incomplete_event_size=16_384,
        limit_concurrency=500,
        http=bounded(app.proxy),
        ws="none",
    )
    try:
        _Server(config, app.store.interrupt, ready).run(sockets=[own])
    finally:
        app.store.close()
        own.close()
