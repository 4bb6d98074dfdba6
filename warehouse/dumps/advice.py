"""Advice that fits files which are only asked: there is no store to forget a source in,
so a file is asked by itself, or left out, or read again in another way."""

from __future__ import annotations

import re

_FORGET = r"`?warehouse fix forget(?: \d+)?`?(?: && warehouse fix forget \d+)*"
_SOURCE = r"(?:the sources|their source|one of the sources|this source)"
#: What is advised of a store, and what does the same to files; the first that fits.
_INSTEAD = (
    (
        re.compile(
            _FORGET + r"[^;]*?ingest (?:it |them )?(?:again )?with --set \S+"
            r"(?:, which keeps them apart| of its own)?"
        ),
        "ask each by itself (--from FILE)",
    ),
    (
        re.compile(_FORGET + r", then name each by itself, or with a mapping"),
        "ask each by itself (--from FILE), or all with a mapping",
    ),
    (
        re.compile(
            _FORGET + rf"(?: {_SOURCE})?,?(?: and| then) ingest "
            r"(?:it |them )?(?:again )?with a mapping"
        ),
        "ask again with a mapping (--map FILE)",
    ),
    (re.compile(_FORGET), "leaving one of the files out of --from"),
)


def without_store(text: str) -> str:
    """A remark on files that are asked without a store (``--from``), in which every
    advice can be followed."""
    for advice, instead in _INSTEAD:
        text = advice.sub(instead, text)
    return text
