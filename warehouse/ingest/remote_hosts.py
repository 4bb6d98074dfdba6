"""URLs of dumps: recognising them, restricting redirects, and error messages without
secrets.

A URL is one that the user named, and may be anywhere; where its server redirects to,
nobody named. Addresses of this machine, of its links and of private networks are
refused there (server-side request forgery), whatever names or spellings they have: what
is looked at is each address that a connection is about to be made to.
"""

from __future__ import annotations

import errno
import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from warehouse.errors import InputError, MisuseError, WarehouseError, first_line
from warehouse.records.credentials import MASK

Kind = Literal["public", "private", "link-local", "loopback"]
#: Addresses of IPv4 in those of IPv6: RFC 6052; mapped and 6to4 ones are known to
#: Python.
_TRANSLATED = IPv6Network("64:ff9b::/96")


def kind_of(address: str) -> Kind:
    """The kind of an address: of this machine, of a link, of a private or otherwise
    special network, or public.

    >>> kind_of("127.0.0.1"), kind_of("::ffff:10.0.0.1"), kind_of("169.254.169.254"), kind_of("1.1.1.1")
    ('loopback', 'private', 'link-local', 'public')
    """
    ip = _plain(ip_address(address.partition("%")[0]))
    if ip.is_loopback or ip.is_unspecified:
        return "loopback"
    if ip.is_link_local:
        return "link-local"
    if ip.is_global and not ip.is_multicast:
        return "public"
    return "private"


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The address of IPv4 that one of IPv6 stands for, if it stands for one."""
    if isinstance(address, IPv4Address):
        return address
    inner = (
        address.ipv4_mapped
        or address.sixtofour
        or (address.teredo[1] if address.teredo else None)
    )
    if inner is None and (
        address in _TRANSLATED or int(address) < 2**32 and int(address) > 1
    ):
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    return inner or address


class Hosts:
    """The hosts that one URL leads to.

    Args:
        url: the URL as given.
        shown: as it may be told.
        allow_private: whether redirections may lead anywhere.
    """

    def __init__(self, url: str, shown: str, allow_private: bool) -> None:
        self.shown, self.allow_private = shown, allow_private
        parts = urlsplit(parts_of(url)[-1])
        self.first = ((parts.hostname or "").lower(), _port(parts.scheme, parts.port))
        self.kinds: frozenset[Kind] = frozenset()  # of the first host's addresses
        self.notes: list[str] = []

    def meet(self, url: Any) -> None:
        """A request is about to be made to a URL of aiohttp's (InputError: its host is
        an address that may not be)."""
        host = (url.host or "").lower()
        if (
            host != self.first[0]
            or _port(url.scheme, url.explicit_port) != self.first[1]
        ):
            note = (
                f"{self.shown}: redirected to "
                f"{url.scheme}://{url.authority.rpartition('@')[2]}"
            )
            if note not in self.notes:
                self.notes.append(note)
        try:
            ip_address(host.partition("%")[0])
        except ValueError:
            return  # a name, of which the addresses are looked at when they are known
        self.check(host, [host])

    def check(self, host: str, addresses: list[str]) -> None:
        """Refuse addresses of a host that the first one does not have the kind of
        (InputError: one may not be)."""
        kinds = {kind_of(address): address for address in addresses}
        if host.lower() == self.first[0] and not self.kinds:
            self.kinds = frozenset(kinds)
        for kind, address in kinds.items():
            if kind != "public" and kind not in self.kinds and not self.allow_private:
                if address == host:
                    where = host
                else:
                    where = f"{host} ({address})"
                raise InputError(
                    f"redirected to {where}, a {kind} address",
                    path=self.shown,
                    advice=(
                        "nothing was fetched there; give --allow-private if it is meant"
                    ),
                )

    async def client(self, **options: Any) -> Any:
        """A session of aiohttp that connects to nothing else."""
        import aiohttp
        from aiohttp.resolver import DefaultResolver

        hosts = self

        class Resolver(DefaultResolver):  # type: ignore[misc, valid-type]
            """Looks at the addresses of names, which are then connected to: none is
            asked for twice."""

            async def resolve(self, host: str, *args: Any, **more: Any) -> Any:
                found = await super().resolve(host, *args, **more)
                hosts.check(host, [entry["host"] for entry in found])
                return found

        class Connector(aiohttp.TCPConnector):
            """Looks at the URL of each request, also of those that a redirection leads
            to."""

            async def connect(self, req: Any, *args: Any, **more: Any) -> Any:
                hosts.meet(req.url)
                return await super().connect(req, *args, **more)

        return aiohttp.ClientSession(
            connector=Connector(resolver=Resolver()), **options
        )


def _port(scheme: str, port: int | None) -> int | None:
    """A port, None where it is the usual one."""
    if port == {"http": 80, "https": 443}.get(scheme.lower()):
        return None
    return port


_URL = re.compile(r"[A-Za-z][\w+.-]*://|[A-Za-z][\w+.-]*::.*://", re.DOTALL)

_HTTP = re.compile(r"https?://", re.IGNORECASE)
_CHAIN = re.compile(r"::(?=[A-Za-z][\w+.-]*(?:://|::))")


def is_url(path: str | Path) -> bool:
    """True if a path is a URL, and no file or folder of this machine."""
    return isinstance(path, str) and _URL.match(path) is not None


def shown_url(url: str) -> str:
    """A URL as it may be told and stored: without user, password, parameters and
    fragment, of which any may be a secret. Of chained ones
    (``zip://a.json::https://host/b.zip``) each part is."""
    return "::".join(map(_shown_part, parts_of(url)))


def parts_of(url: str) -> list[str]:
    """The URLs of a chain, the one that is fetched from last. One of HTTP stands alone,
    whatever is in it: the address ``[::1]`` too."""
    if _HTTP.match(url):
        return [url]
    return _CHAIN.split(url)


def without_secrets(text: str, url: str) -> str:
    """A message about a URL, without what :func:`shown_url` leaves out of it."""
    text = re.sub(
        r"[A-Za-z][\w+.-]*://[^\s'\"<>)]+", lambda found: shown_url(found[0]), text
    )
    for secret in sorted(_secrets(url), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
    return text


def _shown_part(part: str) -> str:
    scheme, separator, rest = part.partition("://")
    if not separator:
        return part
    host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    user, _, host = host.rpartition("@")
    port = host.rpartition("]")[2].partition(":")[2]
    # a password with a slash in it, which nobody escaped
    if not user and port and not port.isdigit():
        return f"{scheme}://{MASK}"
    return f"{scheme}://{host}{slash}{path}"


def _secrets(url: str) -> set[str]:
    """The parts of a URL that may be secret, as written and decoded."""
    secrets: set[str] = set()
    for part in parts_of(url):
        rest = part.partition("://")[2]
        base, _, behind = rest.partition("?")
        user = base.partition("/")[0].rpartition("@")[0]
        secrets |= {word for word in user.split(":") if word}
        secrets |= {value for _, value in parse_qsl(behind)} | set(
            re.findall(r"=([^&#]+)", behind)
        )
        if behind and "=" not in behind:
            secrets |= {behind}
    return {*secrets, *map(unquote, secrets)} - {""}


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = {
    401: "the server wants to know who asks",
    403: "the server does not allow it",
    404: "there is nothing",
    410: "it is gone",
}


def in_words(error: Exception, url: str) -> Exception:
    """The error to raise instead of one of a file system of others.

    Args:
        error: what it raised.
        url: what was asked for, with its secrets.
    """
    if isinstance(error, FileNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # the file system of HTTP says so whatever happened
    if isinstance(error, WarehouseError):
        return error
    shown = shown_url(url)
    if isinstance(error, OSError) and error.errno in _FULL:
        return error  # this machine's own
    # as aiohttp calls two: round in a circle, and to what is no web address
    if "Redirect" in type(error).__name__:
        circle = "redirected to no web address"
        if "TooMany" in type(error).__name__:
            circle = "redirected again and again"
        return InputError(
            f"cannot be fetched: {circle}",
            path=shown,
            advice="name the file where it is",
        )
    status = _status(error)
    if status in (404, 410) or isinstance(error, FileNotFoundError) and status is None:
        return MisuseError(f"no file or folder '{shown}'")
    if status is not None:
        return _unreachable(
            f"HTTP {status}: {_REFUSED.get(status, 'the server failed')}",
            shown,
            status in (401, 403),
        )
    message = without_secrets(" ".join(first_line(error).split())[:300], url)
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return _unreachable("no answer in time", shown)
    if "Credentials" in type(error).__name__ or isinstance(error, PermissionError):
        return _unreachable(
            f"not allowed ({message})" if message else "not allowed", shown, keys=True
        )
    return _unreachable(message or type(error).__name__, shown)


def _unreachable(reason: str, shown: str, keys: bool = False) -> WarehouseError:
    advice = "try again"
    if keys:
        advice = "give the keys as the package of the protocol reads them"
    return InputError(f"cannot be fetched: {reason}", path=shown, advice=advice)


def _status(error: Exception) -> int | None:
    """The status with which a web server answered, if it was that."""
    answer = getattr(error, "response", None)
    for status in (
        getattr(error, "status", None),
        getattr(answer, "status_code", None),
    ):
        if isinstance(status, int):
            return status
    return None
