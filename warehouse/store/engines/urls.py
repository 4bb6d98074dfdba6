"""Store URLs: reading them, and showing them without the secrets that they may hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast
from urllib.parse import quote, quote_plus, unquote

from warehouse.errors import MisuseError
from warehouse.store.alchemy import sa

#: Engines as SQLAlchemy names them, with our drivers.
FILE, SERVER = "duckdb", "postgresql+psycopg"
#: What stands for a secret.
MASK = "***"
#: Parameters of a URL whose values may be shown; that of any other may be a secret.
_HARMLESS = frozenset(
    {
        *(
            "host",
            "hostaddr",
            "port",
            "user",
            "dbname",
            "service",
            "passfile",
            "application_name",
            "connect_timeout",
        ),
        *(
            "sslmode",
            "sslrootcert",
            "sslcert",
            "gssencmode",
            "channel_binding",
            "target_session_attrs",
        ),
        *("client_encoding", "threads", "memory_limit", "lake", "version"),
    }
)
_ANYTHING = re.compile(r".*", re.DOTALL)
_NUMBER = re.compile(r"\d{1,7}")
_SWITCH = re.compile(r"[01]")
#: Parameters that the URL of a file may have, with the form of their values.
_OF_A_FILE = {
    "threads": re.compile(r"[1-9]\d{0,2}"),
    "memory_limit": re.compile(r"\d{1,6}(\.\d+)? ?([KMGT]i?B|%)", re.IGNORECASE),
}
#: Those of a server: of the driver, but for what runs statements or says where tables
#: are looked for. The one form of ``options`` is that by which hosted servers tell
#: their databases apart.
_OF_A_SERVER = {
    **dict.fromkeys(
        ("host", "hostaddr", "user", "password", "dbname", "passfile", "service"),
        _ANYTHING,
    ),
    **dict.fromkeys(
        ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslcrl"),
        _ANYTHING,
    ),
    **dict.fromkeys(
        ("gssencmode", "channel_binding", "require_auth", "sslnegotiation"), _ANYTHING
    ),
    **dict.fromkeys(
        ("application_name", "target_session_attrs", "load_balance_hosts"), _ANYTHING
    ),
    **dict.fromkeys(
        ("connect_timeout", "tcp_user_timeout"), re.compile(r"\d{1,7}|\d+ms")
    ),
    **dict.fromkeys(
        ("keepalives_idle", "keepalives_interval", "keepalives_count"), _NUMBER
    ),
    "port": re.compile(r"[\d,]*"),
    "keepalives": _SWITCH,
    "client_encoding": re.compile(r"utf-?8", re.IGNORECASE),
    "options": re.compile(r"(endpoint|project)=[\w-]+", re.ASCII),
}
_KEYWORDS = re.compile(
    r"\s*(host|hostaddr|port|dbname|user|password|passfile|service)\s*="
)
_NO_SLASHES = re.compile(
    r"(postgres(ql)?(\+\w+)?|duckdb|md|motherduck):", re.IGNORECASE
)
#: A file whose name reads the same in a URL and outside of one.
_PLAIN_FILE = re.compile(r"(?:duckdb:///)?([\w./-]*\w)", re.ASCII)
#: And a server's address of which that is true of each part.
_PLAIN_SERVER = re.compile(
    r"postgres(?:ql)?(?:\+psycopg)?://(?:([\w.-]+)(?::([\w.-]+))?@)?"
    r"([\w.-]+)(?::(\d{1,5}))?/([\w-]+)",
    re.ASCII,
)
_USER = re.compile(r"//[^/?#]*@")

#: Where the store is if nobody says.
DEFAULT_FILE = "warehouse.duckdb"
DEFAULT_URL = f"duckdb:///{DEFAULT_FILE}"

EXPECTED = "expected duckdb:///FILE, a file name, or postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True, repr=False)
class PlainUrl:
    """A URL of which no part needs escaping: what is asked of SQLAlchemy's, which takes
    longer to load than most answers."""

    database: str
    drivername: str
    username: str | None = None
    password: str | None = None
    host: str | None = None
    port: int | None = None
    query: Mapping[str, str] = field(default_factory=dict)

    def get_backend_name(self) -> str:
        return self.drivername.partition("+")[0]

    def set(self, query: Mapping[str, str]) -> PlainUrl:
        return replace(self, query=query)

    def render_as_string(self, hide_password: bool = True) -> str:
        password = ""
        if self.password is not None:
            password = f":{MASK if hide_password else self.password}"
        if self.username is None:
            user = ""
        else:
            user = f"{self.username}{password}@"
        if self.port is None:
            port = ""
        else:
            port = f":{self.port}"
        host = self.host or ""
        return f"{self.drivername}://{user}{host}{port}/{self.database}"

    def __str__(self) -> str:
        return self.render_as_string()

    __repr__ = __str__


def full_url(url: sa.URL | PlainUrl) -> sa.URL:
    """A URL as SQLAlchemy has it."""
    if isinstance(url, PlainUrl):
        return sa.make_url(url.render_as_string(hide_password=False))
    return url


def parse_url(text: str) -> sa.URL:
    """A store URL; a bare path means an embedded file, a server URL gets our driver.

    Raises:
        MisuseError: not a URL, that of an embedded file without the file, or of another
            engine's form; tells nothing of it that may be a secret.
    """
    if not text.isprintable():
        raise MisuseError(f"a store URL with a control character; {EXPECTED}")
    if plain := _PLAIN_FILE.fullmatch(text):
        return cast("sa.URL", PlainUrl(plain[1], FILE))
    if (plain := _PLAIN_SERVER.fullmatch(text)) and 0 < int(plain[4] or 1) < 65536:
        user, password, host, port, database = plain.groups()
        number = None
        if port:
            number = int(port)
        return cast("sa.URL", PlainUrl(database, SERVER, user, password, host, number))
    if is_lake(text):
        return parse_lake(text)
    if "://" in text:
        parsed = _split(text)
    else:
        parsed = _file(text)
    backend = parsed.get_backend_name()
    if backend in ("postgres", "postgresql"):
        server = _server(parsed)
        _require_parameters(server, _OF_A_SERVER)
        return server
    if backend == "duckdb":
        _require_file(parsed, text)
        _require_parameters(parsed, _OF_A_FILE)
    return parsed


def _require_parameters(url: sa.URL, allowed: Mapping[str, re.Pattern[str]]) -> None:
    """Refuse a parameter that is not one of ours: engines have some that load code, or
    open other files."""
    for name, values in url.query.items():
        if name not in allowed:
            names = ", ".join(sorted(allowed))
            raise MisuseError(
                f"a store URL with the parameter '{_hidden(name)}'; expected one of "
                f"{names}"
            )
        for value in [values] if isinstance(values, str) else values:
            if not allowed[name].fullmatch(value):
                raise MisuseError(
                    f"a store URL whose parameter {name} is out of range "
                    "(docs/reference/rules_writers.md)"
                )


def shown_url(url: sa.URL) -> str:
    """The URL as it may be printed: without the password, and without the values of
    parameters that nobody knows to be harmless."""
    if url.get_backend_name() in (LOCAL, REMOTE):
        return str(LakeUrl.of(url))
    masked = dict(url.query)
    for name in masked:
        if name.lower() not in _HARMLESS:
            masked[name] = MASK
    shown = url.set(query=masked).render_as_string(hide_password=True)
    return shown.replace(quote_plus(MASK), MASK)


def shown_text(text: str) -> str:
    """A store URL that somebody wrote, as it may be printed, whether or not it is one."""
    try:
        url = parse_url(text)
    except MisuseError:
        return "what cannot be read as a URL"
    is_supported = url.get_backend_name() in ("duckdb", "postgresql", LOCAL, REMOTE)
    if is_supported:
        return shown_url(url)
    return f"{url.drivername}://..."


def shown_reader(text: str) -> str:
    """The name of a role, or a URL, as it may be printed."""
    if set(":=@?") & set(text):
        return shown_text(text)
    return text


def without_secrets(message: str, url: sa.URL) -> str:
    """A message of an engine or a driver about a URL, without the secrets of that URL."""
    values = [url.password or ""]
    for name, value in url.query.items():
        if name.lower() not in _HARMLESS:
            if isinstance(value, str):
                values += [value]
            else:
                values += list(value)
    for value in sorted(
        {str(secret) for secret in values if secret}, key=len, reverse=True
    ):
        for form in {value, quote(value, safe=""), quote_plus(value)}:
            message = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", MASK, message)
    return message


def hint_on_slashes(url: sa.URL) -> str:
    """A hint on what to write where an absolute file was meant and a relative one was
    named, in a folder that is not there."""
    path = Path(url.database or "")
    meant = Path("/") / path
    if path == meant or path.parent.is_dir() or not meant.parent.is_dir():
        return ""
    return f"; an absolute path takes four slashes: duckdb:///{meant}"


def _split(text: str) -> sa.URL:
    try:
        parsed = sa.make_url(text)
    except sa.exc.ArgumentError:
        raise MisuseError(f"'{_hidden(text)}' is not a store URL; {EXPECTED}") from None
    except ValueError:
        raise MisuseError(
            f"'{_hidden(text)}' has a port that is no number; {EXPECTED}; several "
            "hosts: postgresql:///DATABASE?host=A:5432&host=B:5432"
        ) from None
    if not all(map(str.isprintable, (parsed.database or "", parsed.host or ""))):
        raise MisuseError(f"a store URL with a control character; {EXPECTED}")
    return parsed


def _file(text: str) -> sa.URL:
    if _KEYWORDS.match(text) or _NO_SLASHES.match(text):
        raise MisuseError(
            f"that is no store URL; {EXPECTED}, with two slashes after the colon"
        )
    parsed = sa.URL.create(FILE, database=text)
    _require_file(parsed, text)
    return parsed


def _server(parsed: sa.URL) -> sa.URL:
    if "@" in (parsed.host or ""):
        raise MisuseError(
            "a store URL with two @: one that belongs to the user's name or password "
            "is written %40"
        )
    if parsed.port is not None and not 0 < parsed.port < 65536:
        raise MisuseError(f"no port {parsed.port}; expected one from 1 to 65535")
    return parsed.set(drivername=SERVER)


def _require_file(parsed: sa.URL, text: str) -> None:
    name = parsed.database or ""
    if parsed.host or not name:
        raise MisuseError(
            f"'{_hidden(text)}' names no file; expected duckdb:///FILE with three "
            "slashes, or the file's name"
        )
    if name.startswith(":memory:") or "://" in name or _NO_SLASHES.match(name):
        raise MisuseError(f"'{_hidden(name)}' is no file of this machine; {EXPECTED}")


def _hidden(text: str) -> str:
    """A text that may be a URL, without user, password and parameters."""
    return _USER.sub(f"//{MASK}@", text).partition("?")[0]


#: The engine that is started in this process, and the protocol of those that run
#: elsewhere.
LOCAL, REMOTE = "sail", "sc"
EXPECTED_LAKE = (
    "expected sail:?lake=LOCATION or sc://HOST:PORT?lake=LOCATION, both also with "
    "&version=N"
)
DEFAULT_PORT = 15002
_REMOTE = re.compile(
    r"sc://(?P<host>\[[^\]]+\]|[^/:?;@\s]+)(?::(?P<port>\d+))?(?:/;?(?P<options>[^?]*))?"
)
#: Parts of our own URL; the others are the server's, and may be secret.
_OURS = ("lake", "version", "read")


@dataclass(frozen=True)
class LakeUrl:
    """A lake, and who is asked on it."""

    lake: str  #: where it lies; empty: none is meant, only the server.
    version: int | None  #: of the lake; ``None``: the newest.
    host: str  #: of the server; empty: an engine in this process.
    port: int  #: of the server.
    #: of the connection, as the protocol writes them: ``use_ssl=true``, ``token=…``.
    options: tuple[tuple[str, str], ...]
    #: give the server the files of a version, as one that cannot read Delta itself
    #: takes them.
    read_files: bool = False

    @classmethod
    def of(cls, url: sa.URL) -> LakeUrl:
        """From a URL that :func:`parse_lake` has made."""
        parameters = {name: str(value) for name, value in url.query.items()}
        version = None
        if "version" in parameters:
            version = int(parameters["version"])
        options = tuple(
            (name, value) for name, value in parameters.items() if name not in _OURS
        )
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
        """The server's address with its options, as the protocol writes it; may hold
        secrets."""
        parts = [f";{name}={value}" for name, value in self.options]
        options = "".join(parts)
        return f"sc://{self.host}:{self.port}/{options}"

    def __str__(self) -> str:
        if self.host:
            server = f"{REMOTE}://{self.host}:{self.port}"
        else:
            server = f"{LOCAL}:"
        if not self.lake:
            return server
        said = f"{server}?lake={self.lake}"
        if self.version is not None:
            said += f"&version={self.version}"
        if self.read_files:
            said += "&read=files"
        return said


def is_lake(text: str) -> bool:
    """True if a URL is meant as one of a lake."""
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
        fault = "no lake"
        if unknown:
            fault = f"an unknown part {unknown[0]}"
        raise MisuseError(f"a URL of a lake with {fault}; {EXPECTED_LAKE}")
    if "version" in parameters and not parameters["version"].isdecimal():
        raise MisuseError(
            f"version={parameters['version']} is no number of a version; see: "
            f"warehouse lake versions {parameters['lake']}"
        )
    if parameters.get("read", "files") != "files":
        raise MisuseError(
            "read= of a URL of a lake is files, for servers without a reader of Delta, "
            "or left out"
        )
    if head in (f"{LOCAL}:", f"{LOCAL}://"):
        return sa.URL.create(LOCAL, query=parameters)
    remote = _REMOTE.fullmatch(head)
    port = 0
    if remote:
        port = int(remote["port"] or DEFAULT_PORT)
    if remote is None or not 0 < port < 65536:
        raise MisuseError(
            f"a URL of a lake whose server cannot be read; {EXPECTED_LAKE}"
        )
    options = dict(_parts(remote["options"] or "", ";"))
    return sa.URL.create(
        REMOTE, host=remote["host"], port=port, query=options | parameters
    )


def parse_server(text: str) -> LakeUrl:
    """Where dumps are to be read: ``sail:``, in this process, or ``sc://HOST:PORT``;
    without a lake.

    Raises:
        MisuseError: another form; tells nothing of it that may be a secret.
    """
    try:
        url = parse_lake(f"{text}?lake=-")
    except MisuseError:
        url = None
    if url is None or "?" in text:
        raise MisuseError(
            "executors whose server cannot be read; expected sail: or sc://HOST:PORT"
        )
    return replace(LakeUrl.of(url), lake="")


def _parts(text: str, between: str) -> list[tuple[str, str]]:
    pairs = [part.partition("=") for part in text.split(between) if part]
    return [(unquote(name), unquote(value)) for name, _, value in pairs]
