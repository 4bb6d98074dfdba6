"""Where web servers may send us on to.

A URL is one that the user named, and may be anywhere; where its server redirects to, nobody named. Addresses of this
machine, of its links and of private networks are refused there (server-side request forgery), whatever names or
spellings they have: what is looked at is each address that a connection is about to be made to.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

from warehouse.errors import InputError
from warehouse.ingest.remote_urls import parts_of

Kind = Literal["public", "private", "link-local", "loopback"]
#: Addresses of IPv4 in those of IPv6: RFC 6052; mapped and 6to4 ones are known to Python.
_TRANSLATED = IPv6Network("64:ff9b::/96")


def kind_of(address: str) -> Kind:
    """What an address is: of this machine, of a link, of a private or otherwise special network, or public.

    >>> kind_of("127.0.0.1"), kind_of("::ffff:10.0.0.1"), kind_of("169.254.169.254"), kind_of("1.1.1.1")
    ('loopback', 'private', 'link-local', 'public')
    """
    known = _plain(ip_address(address.partition("%")[0]))
    if known.is_loopback or known.is_unspecified:
        return "loopback"
    if known.is_link_local:
        return "link-local"
    return "public" if known.is_global and not known.is_multicast else "private"


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The address of IPv4 that one of IPv6 stands for, if it stands for one."""
    if isinstance(address, IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if inner is None and (address in _TRANSLATED or int(address) < 2**32 and int(address) > 1):
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
        """A request is about to be made to a URL of aiohttp's.

        Raises:
            InputError: its host is an address that may not be.
        """
        host = (url.host or "").lower()
        if host != self.first[0] or _port(url.scheme, url.explicit_port) != self.first[1]:
            note = f"{self.shown}: redirected to {url.scheme}://{url.authority.rpartition('@')[2]}"
            self.notes += [note] if note not in self.notes else []
        try:
            ip_address(host.partition("%")[0])
        except ValueError:
            return  # a name, of which the addresses are looked at when they are known
        self.check(host, [host])

    def check(self, host: str, addresses: list[str]) -> None:
        """Refuse addresses of a host that the first one does not have the kind of.

        Raises:
            InputError: one may not be.
        """
        kinds = {kind_of(address): address for address in addresses}
        if host.lower() == self.first[0] and not self.kinds:
            self.kinds = frozenset(kinds)
        for kind, address in kinds.items():
            if kind != "public" and kind not in self.kinds and not self.allow_private:
                raise InputError(
                    f"redirected to {host}{f' ({address})' if address != host else ''}, a {kind} address",
                    path=self.shown,
                    advice="nothing was fetched there; give --allow-private if it is meant",
                )

    async def client(self, **options: Any) -> Any:
        """A session of aiohttp that connects to nothing else."""
        import aiohttp
        from aiohttp.resolver import DefaultResolver

        hosts = self

        class Resolver(DefaultResolver):  # type: ignore[misc, valid-type]
            """Looks at the addresses of names, which are then connected to: none is asked for twice."""

            async def resolve(self, host: str, *args: Any, **more: Any) -> Any:
                found = await super().resolve(host, *args, **more)
                hosts.check(host, [entry["host"] for entry in found])
                return found

        class Connector(aiohttp.TCPConnector):
            """Looks at the URL of each request, also of those that a redirection leads to."""

            async def connect(self, req: Any, *args: Any, **more: Any) -> Any:
                hosts.meet(req.url)
                return await super().connect(req, *args, **more)

        return aiohttp.ClientSession(connector=Connector(resolver=Resolver()), **options)


def _port(scheme: str, port: int | None) -> int | None:
    """A port, None where it is the usual one."""
    return None if port == {"http": 80, "https": 443}.get(scheme.lower()) else port
