"""URLs of dumps: which texts are such, and how they are shown."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from warehouse.records.credentials import MASK

_URL = re.compile(r"[A-Za-z][\w+.-]*://|[A-Za-z][\w+.-]*::.*://", re.DOTALL)

_HTTP = re.compile(r"https?://", re.IGNORECASE)
_CHAIN = re.compile(r"::(?=[A-Za-z][\w+.-]*(?:://|::))")


def is_url(path: str | Path) -> bool:
    """Whether a path is a URL, and no file or folder of this machine."""
    return isinstance(path, str) and _URL.match(path) is not None


def shown_url(url: str) -> str:
    """A URL as it may be told and stored: without user, password, parameters and fragment, of which
    any may be a secret. Of chained ones (``zip://a.json::https://host/b.zip``) each part is."""
    return "::".join(map(_shown_part, parts_of(url)))


def parts_of(url: str) -> list[str]:
    """The URLs of a chain, the one that is fetched from last. One of HTTP stands alone, whatever is in it: the
    address ``[::1]`` too."""
    return [url] if _HTTP.match(url) else _CHAIN.split(url)


def without_secrets(text: str, url: str) -> str:
    """A message about a URL, without what :func:`shown_url` leaves out of it."""
    text = re.sub(r"[A-Za-z][\w+.-]*://[^\s'\"<>)]+", lambda found: shown_url(found[0]), text)
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
    if not user and port and not port.isdigit():  # a password with a slash in it, which nobody escaped
        return f"{scheme}://{MASK}"
    return f"{scheme}://{host}{slash}{path}"


def _secrets(url: str) -> set[str]:
    """What a URL holds beside its place, as it stands there and decoded."""
    secrets: set[str] = set()
    for part in parts_of(url):
        rest = part.partition("://")[2]
        place, _, behind = rest.partition("?")
        user = place.partition("/")[0].rpartition("@")[0]
        secrets |= {word for word in user.split(":") if word}
        secrets |= {value for _, value in parse_qsl(behind)} | set(re.findall(r"=([^&#]+)", behind))
        secrets |= {behind} if behind and "=" not in behind else set()
    return {form for word in secrets for form in (word, unquote(word)) if form}
