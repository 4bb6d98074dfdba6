"""Delivery another service: one POST with a time limit, tried again where that may
help."""

from __future__ import annotations

import base64
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from warehouse.errors import MisuseError, WarehouseError

if TYPE_CHECKING:
    from warehouse.refresh.alerts import Alerts

#: Answers after which another try may succeed.
AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})


def post(
    url: str,
    message: Mapping[str, Any],
    *,
    timeout: float = 10.0,
    tries: int = 3,
    pause: float = 1.0,
) -> None:
    """POST a message as JSON.

    Args:
        url: ``http://`` or ``https://``; ``user:password@`` before the host is sent as
            an ``Authorization`` header (RFC 7617).
        timeout: seconds for one try.
        tries: at most so many, from 1.
        pause: seconds before the second; doubled from try to try.

    Raises:
        MisuseError: a URL of another form.
        WarehouseError: no try succeeded; says what the last came to. The path of the
            URL is not told: it may hold a secret.
    """
    require_url(url)
    parts = urllib.parse.urlsplit(url)
    request = urllib.request.Request(
        _without_credentials(parts),
        data=json.dumps(message).encode(),
        method="POST",
        headers={
            "Content-Type": "application/json",
            "User-Agent": "eval-warehouse",
            **_authorization(parts),
        },
    )
    for attempt in range(1, tries + 1):
        problem, final = _try(request, timeout)
        if not problem:
            return
        if final or attempt == tries:
            attempts = "1 try" if attempt == 1 else f"{attempt} tries"
            raise WarehouseError(
                f"the webhook at {parts.hostname} did not take the message: {problem}"
                f" ({attempts})"
            )
        time.sleep(pause * 2 ** (attempt - 1))


def _without_credentials(parts: urllib.parse.SplitResult) -> str:
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()


def _authorization(parts: urllib.parse.SplitResult) -> dict[str, str]:
    """The header of what stands before the host, percent signs decoded."""
    given, at, _ = parts.netloc.rpartition("@")
    if not at:
        return {}
    user, _, password = given.partition(":")
    plain = f"{urllib.parse.unquote(user)}:{urllib.parse.unquote(password)}"
    return {"Authorization": f"Basic {base64.b64encode(plain.encode()).decode()}"}


def post_all(url: str, messages: Iterable[Alerts]) -> Iterator[int]:
    """POST the alerts of refreshes, one by one; yields the id of each that was taken.

    Raises:
        WarehouseError: one was not; those after it were not tried.
    """
    for message in messages:
        post(url, message.to_dict())
        yield message.refresh_id


def require_url(text: str) -> None:
    """Refuse what cannot be a webhook.

    Raises:
        MisuseError: no ``http://`` or ``https://`` URL of printable ASCII with a host;
            does not tell it, for it may hold a secret.
    """
    try:
        parts = urllib.parse.urlsplit(text)
        named = bool(parts.hostname) and parts.port != 0
        (parts.hostname or "").encode("idna")
        named &= urllib.parse.unquote(parts.netloc).isprintable()
    except (
        ValueError
    ):  # a port that is no number, brackets that are not closed, a name too long
        named = False
    plain = text.isascii() and text.isprintable() and " " not in text
    if not (named and plain and parts.scheme in ("http", "https")):
        raise MisuseError("a webhook is an http:// or https:// URL, in ASCII")


class _NotElsewhere(urllib.request.HTTPRedirectHandler):
    """No redirection: what is sent on is a GET without the message."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _try(request: urllib.request.Request, timeout: float) -> tuple[str, bool]:
    """What went wrong, empty if nothing; and whether another try is useless."""
    try:
        with urllib.request.build_opener(_NotElsewhere).open(request, timeout=timeout):
            return "", True
    except urllib.error.HTTPError as error:
        error.close()
        return f"HTTP {error.code}", error.code not in AGAIN
    except http.client.HTTPException as error:
        return f"no answer of HTTP ({type(error).__name__})", False
    except OSError as error:
        return str(getattr(error, "reason", error)), False
