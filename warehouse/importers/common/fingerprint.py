"""Digests of settings, without what changes from call to call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from warehouse.records import canonical_json
from warehouse.records.hashing import sha256_of

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def fingerprint_of(**parts: Any) -> str | None:
    """The fingerprint of those parts that say something; none where none does."""
    stated = {name: part for name, part in parts.items() if part}
    return fingerprint(stated) if stated else None


def fingerprint(parts: Mapping[str, Any]) -> str:
    """sha256 of canonical JSON, blind to the memory addresses that Python writes into reprs."""
    return sha256_of(_ADDRESS.sub("", canonical_json(parts).decode()))
