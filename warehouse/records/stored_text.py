"""Texts as every store and every output takes them: valid Unicode.

A name of a file may hold bytes that are no UTF-8, which Python keeps as lone surrogates; they become escapes
(``\\udcff`` for the byte 0xff), by which the ledger, JSON and Parquet show such a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def readable(text: str) -> str:
    """Text that every store takes: bytes that are no UTF-8 become escapes, U+0000 U+FFFD."""
    fit: str = without_surrogates(text)
    return fit.replace("\0", "\ufffd")


def without_surrogates(value: Any) -> Any:
    """A value with the lone surrogates of all texts in it, keys too, as escapes."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {without_surrogates(name): without_surrogates(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_surrogates(one) for one in value]
    return value
