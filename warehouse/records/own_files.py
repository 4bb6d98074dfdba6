"""Small files that a user writes (mappings, settings, prices, plans): read within a
bound, whatever they are."""

from __future__ import annotations

from pathlib import Path

from warehouse.errors import InputError

#: Bytes of such a file, at most: a thousand times what people write.
MOST_BYTES = 16_000_000


def own_bytes(path: str | Path, what: str, *, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file that a user wrote; pipes are read, too, and what never ends
    is not.

    Args:
        what: it is to be, as in ``a mapping file``.

    Raises:
        InputError: it cannot be read, or is larger than any such file.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", path=str(path), expected=what
        ) from None
    if len(data) > most:
        raise InputError(f"more than {most:,} bytes", path=str(path), expected=what)
    return data


def own_text(path: str | Path, what: str, *, most: int = MOST_BYTES) -> str:
    """The same as text, without a byte-order mark (InputError: it is not UTF-8, too)."""
    data = own_bytes(path, what, most=most)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8", path=str(path), expected=what
        ) from None
