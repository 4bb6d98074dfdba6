"""Who may ask, and what a browser may do with a page."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse

from warehouse.errors import MisuseError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
App = Callable[
    [Scope, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]

COOKIE = "warehouse_token"
#: Bytes that a path with its query may have.
LONGEST = 8_192
#: No page loads or sends anything but to this server, and nothing within it is run that
#: it did not ship as a file.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_LOCAL = ("127.0.0.1", "localhost", "::1")
#: What stands in a link and in a cookie as it is.
_TOKEN = re.compile(r"[A-Za-z0-9._~-]{16,}")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^:\[\]]*)(?::\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Access:
    """Who may ask."""

    host: str = "127.0.0.1"  #: that the server listens on.
    token: str = ""  #: that everybody has to show; empty: nobody has to.
    header: str = ""  #: that a proxy sets to the name of who asks, having let them in; empty: there is none.
    proxy: str = ""  #: address of that proxy.

    def __post_init__(self) -> None:
        if bool(self.header) != bool(self.proxy):
            raise MisuseError(
                "--trust-header NAME and --from ADDRESS stand together: whose header "
                "is trusted, and which"
            )
        if self.proxy and not _is_address(self.proxy):
            raise MisuseError(
                "--from is the address of the proxy, such as 127.0.0.1; found "
                f"{self.proxy!r}"
            )
        if self.token and not _TOKEN.fullmatch(self.token):
            raise MisuseError(
                "a token has at least 16 letters, digits, - . _ or ~; make one: "
                "openssl rand -hex 24"
            )
        if not self.is_local and not self.token and not self.header:
            raise MisuseError(
                f"--host {self.host} lets others ask, who would have to show nothing; "
                "give a token (--token-file FILE, or WAREHOUSE_TOKEN), or name the "
                "proxy that lets people in (--trust-header NAME --from ADDRESS)"
            )

    @property
    def is_local(self) -> bool:
        """Only this machine can ask."""
        return self.host in _LOCAL

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server; that of a page whose domain was
        rebound to this address does not."""
        match = _HOST.fullmatch(header)
        name = ""
        if match:
            name = match["name"].strip("[]").lower()
        if self.is_local:
            return name in _LOCAL
        return bool(
            name
        )  # a token or the proxy says who asks; which names lead here, nobody knows

    def lets_in(self, headers: Mapping[str, str], client: str) -> bool:
        """Whether a request shows the token, or the proxy vouches for it."""
        if self.header and client == self.proxy and headers.get(self.header.lower()):
            return True
        if not self.token:
            return not self.header
        kind, _, shown = headers.get("authorization", "").partition(" ")
        return (
            kind.lower() == "bearer" and self.is_token(shown.strip())
        ) or self.is_token(cookie_parser(headers.get("cookie", "")).get(COOKIE, ""))

    def is_token(self, text: str) -> bool:
        """Whether a text is the token; the time this takes says nothing of where they
        differ."""
        return bool(self.token) and hmac.compare_digest(
            text.encode(), self.token.encode()
        )


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


class Guarded:
    """Asks of every request who sends it before the pages see it, and gives every
    answer its headers."""

    def __init__(
        self, app: App, access: Access, refused: Callable[[int, str], App]
    ) -> None:
        self._app, self._access, self._refused = app, access, refused

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # no other protocol is spoken

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                more = [
                    (n.encode(), v.encode())
                    for n, v in HEADERS.items()
                    if n.encode() not in own
                ]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self._chosen(scope)(scope, receive, guarded)

    def _chosen(self, scope: Scope) -> App:
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        client = (scope.get("client") or ("", 0))[0]
        if scope["method"] not in ("GET", "HEAD"):
            return self._refused(405, "Pages are only read here: GET and HEAD.")
        if len(_raw_path(scope)) + len(scope["query_string"]) > LONGEST:
            return self._refused(
                414, f"The address is longer than {LONGEST} characters."
            )
        if not self._access.knows_host(headers.get("host", "")):
            return self._refused(
                421,
                "This server is not known by that name; open it by the address that it "
                "printed.",
            )
        query = parse_qsl(
            scope["query_string"].decode("latin-1"), keep_blank_values=True
        )
        shown = dict(query).get("token", "")
        if self._access.is_token(shown):
            return _entered(
                scope, [pair for pair in query if pair[0] != "token"], shown
            )
        if not self._access.lets_in(headers, client):
            return self._refused(
                401,
                "Show the token: open the link that the server printed, or send "
                "Authorization: Bearer.",
            )
        return self._app


def _raw_path(scope: Scope) -> bytes:
    return bytes(scope.get("raw_path") or scope["path"].encode())


def _entered(scope: Scope, query: list[tuple[str, str]], token: str) -> App:
    """The token goes from the link, which others may see, into a cookie."""
    path = "/" + _raw_path(scope).decode("latin-1").lstrip("/\\")
    target = path
    if query:
        target += f"?{urlencode(query)}"
    answer = RedirectResponse(target, 303, {"cache-control": "no-store"})
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
    return answer
