"""What file systems of others raise, in one line that tells no secret."""

from __future__ import annotations

import errno

from warehouse.errors import InputError, MisuseError, WarehouseError, first_line
from warehouse.ingest.remote_urls import shown_url, without_secrets

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
    if "Redirect" in type(error).__name__:  # as aiohttp calls two: round in a circle, and to what is no web address
        circle = "redirected again and again" if "TooMany" in type(error).__name__ else "redirected to no web address"
        return InputError(f"cannot be fetched: {circle}", path=shown, advice="name the file where it is")
    status = _status(error)
    if status in (404, 410) or isinstance(error, FileNotFoundError) and status is None:
        return MisuseError(f"no file or folder '{shown}'")
    if status is not None:
        return _unreachable(f"HTTP {status}: {_REFUSED.get(status, 'the server failed')}", shown, status in (401, 403))
    message = without_secrets(" ".join(first_line(error).split())[:300], url)
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return _unreachable("no answer in time", shown)
    if "Credentials" in type(error).__name__ or isinstance(error, PermissionError):
        return _unreachable(f"not allowed ({message})" if message else "not allowed", shown, keys=True)
    return _unreachable(message or type(error).__name__, shown)


def _unreachable(reason: str, shown: str, keys: bool = False) -> WarehouseError:
    advice = "give the keys as the package of the protocol reads them" if keys else "try again"
    return InputError(f"cannot be fetched: {reason}", path=shown, advice=advice)


def _status(error: Exception) -> int | None:
    """The status with which a web server answered, if it was that."""
    answer = getattr(error, "response", None)
    for status in (getattr(error, "status", None), getattr(answer, "status_code", None)):
        if isinstance(status, int):
            return status
    return None
