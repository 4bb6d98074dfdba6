"""URLs of lakes with the engine that asks them: ``sail:?lake=PLACE`` and ``sc://HOST:PORT?lake=PLACE``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import unquote

from warehouse.errors import MisuseError
from warehouse.store.alchemy import sa

#: The engine that is started in this process, and the protocol of those that run elsewhere.
LOCAL, REMOTE = "sail", "sc"
EXPECTED = "expected sail:?lake=LOCATION or sc://HOST:PORT?lake=LOCATION, both also with &version=N"
DEFAULT_PORT = 15002
_REMOTE = re.compile(r"sc://(?P<host>\[[^\]]+\]|[^/:?;@\s]+)(?::(?P<port>\d+))?(?:/;?(?P<options>[^?]*))?")
#: Parts of our own URL; the others are the server's, and may be secret.
_OURS = ("lake", "version", "read")


@dataclass(frozen=True)
class LakeUrl:
    """A lake, and who is asked on it.

    Attributes:
        lake: where it lies; empty: none is meant, only the server.
        version: of the lake; ``None``: the newest.
        read_files: give the server the files of a version, as one that cannot read Delta itself takes them.
        host: of the server; empty: an engine in this process.
        port: of the server.
        options: of the connection, as the protocol writes them: ``use_ssl=true``, ``token=…``.
    """

    lake: str
    version: int | None
    host: str
    port: int
    options: tuple[tuple[str, str], ...]
    read_files: bool = False

    @classmethod
    def of(cls, url: sa.URL) -> LakeUrl:
        """From a URL that :func:`parse_lake` has made."""
        parameters = {name: str(value) for name, value in url.query.items()}
        version = int(parameters["version"]) if "version" in parameters else None
        options = tuple((name, value) for name, value in parameters.items() if name not in _OURS)
        return cls(
            parameters["lake"],
            version,
            url.host or "",
            url.port or DEFAULT_PORT,
            options,
            parameters.get("read") == "files",
        )

    @property
    def remote(self) -> str:
        """The server's address with its options, as the protocol writes it; may hold secrets."""
        options = "".join(f";{name}={value}" for name, value in self.options)
        return f"sc://{self.host}:{self.port}/{options}"

    def __str__(self) -> str:
        server = f"{REMOTE}://{self.host}:{self.port}" if self.host else f"{LOCAL}:"
        if not self.lake:
            return server
        return (
            f"{server}?lake={self.lake}"
            + ("" if self.version is None else f"&version={self.version}")
            + ("&read=files" if self.read_files else "")
        )


def is_lake(text: str) -> bool:
    """Whether a URL is meant as one of a lake."""
    return text.startswith((f"{LOCAL}:", f"{REMOTE}://"))


def parse_lake(text: str) -> sa.URL:
    """A URL of a lake, in the form that all stores have.

    Raises:
        MisuseError: another form; tells nothing of it that may be a secret.
    """
    head, _, tail = text.partition("?")
    parameters = dict(_parts(tail, "&"))
    unknown = sorted(parameters.keys() - set(_OURS))
    if unknown or not parameters.get("lake"):
        fault = f"an unknown part {unknown[0]}" if unknown else "no lake"
        raise MisuseError(f"a URL of a lake with {fault}; {EXPECTED}")
    if "version" in parameters and not parameters["version"].isdecimal():
        raise MisuseError(
            f"version={parameters['version']} is no number of a version; see: warehouse lake versions"
            f" {parameters['lake']}"
        )
    if parameters.get("read", "files") != "files":
        raise MisuseError("read= of a URL of a lake is files, for servers without a reader of Delta, or left out")
    if head in (f"{LOCAL}:", f"{LOCAL}://"):
        return sa.URL.create(LOCAL, query=parameters)
    remote = _REMOTE.fullmatch(head)
    port = int(remote["port"] or DEFAULT_PORT) if remote else 0
    if remote is None or not 0 < port < 65536:
        raise MisuseError(f"a URL of a lake whose server cannot be read; {EXPECTED}")
    options = dict(_parts(remote["options"] or "", ";"))
    return sa.URL.create(REMOTE, host=remote["host"], port=port, query=options | parameters)


def parse_server(text: str) -> LakeUrl:
    """Where dumps are to be read: ``sail:``, in this process, or ``sc://HOST:PORT``; without a lake.

    Raises:
        MisuseError: another form; tells nothing of it that may be a secret.
    """
    try:
        url = parse_lake(f"{text}?lake=-")
    except MisuseError:
        url = None
    if url is None or "?" in text:
        raise MisuseError("executors whose server cannot be read; expected sail: or sc://HOST:PORT")
    return replace(LakeUrl.of(url), lake="")


def _parts(text: str, between: str) -> list[tuple[str, str]]:
    pairs = [part.partition("=") for part in text.split(between) if part]
    return [(unquote(name), unquote(value)) for name, _, value in pairs]
