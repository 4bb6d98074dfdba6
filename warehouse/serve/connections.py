"""Connections that nobody may hold for nothing: a request comes within seconds, and one
address has a few at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds in which a request is to have come whole, from its first byte or from the
#: beginning of its connection.
REQUEST_SECONDS = 10.0
#: Connections that one address has at a time; a browser opens six. Those of the proxy
#: are of many people.
MOST_OF_A_CLIENT, MOST_OF_THE_PROXY = 60, 400
_SECONDS_TO_READ = 0.2  # that whoever is refused has to read why.
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: 34\r\nconnection: close\r\n\r\n"
    b"too many connections of an address"
)


class BoundedConnection(H11Protocol):
    """HTTP of one connection, within those bounds."""

    proxy = ""  #: address of the proxy whose connections are of many people.
    open_by_client: Counter[str]  #: connections that each address has now.
    _address = ""
    _is_refused = False
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count it; one too many is told so and ended."""
        super().connection_made(transport)
        if self.client:
            self._address = self.client[0]
        else:
            self._address = ""
        self.open_by_client[self._address] += 1
        most = MOST_OF_A_CLIENT
        if self._address == self.proxy:
            most = MOST_OF_THE_PROXY
        if self.open_by_client[self._address] > most:
            transport.write(_TOO_MANY)
            self._is_refused = True
            self.loop.call_later(
                _SECONDS_TO_READ, transport.abort
            )  # at once, what is told would be lost
            return
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of it."""
        self._stop_waiting()
        self.open_by_client[self._address] -= 1
        if self.open_by_client[self._address] <= 0:
            del self.open_by_client[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come; a request that has begun is to be whole in time."""
        if self._is_refused or self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait_for_request()
        else:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request, where some of it has come already."""
        super().on_response_complete()
        if self.conn.trailing_data[0] and not self.transport.is_closing():
            self._wait_for_request()

    def _wait_for_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self._end)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        """The request has not come in time: nobody is told, who may be none that
        listens."""
        self._deadline = None
        self.transport.abort()


def bounded(proxy: str) -> type[Any]:
    """The protocol of one server (``proxy``: see :class:`BoundedConnection`), which
    counts its own connections."""
    return type(
        "Connection",
        (BoundedConnection,),
        {"proxy": proxy, "open_by_client": Counter()},
    )
