"""The hashes that keys, digests and fingerprints are made by; stored values depend on each."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from warehouse.records.canonical_json import TOO_DEEP, canonical_json, parse_json


def canonical_digest(value: Any) -> str:
    """sha256 (hex) of the canonical form of what JSON can hold.

    Raises:
        TypeError: a value that has no canonical form.
    """
    return hashlib.sha256(canonical_json(value)).hexdigest()


def short_digest(*parts: Any) -> str:
    """Head (32 hex digits) of the sha256 of what JSON can hold, NaN and lone surrogates included."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def fingerprint(*parts: bytes | str) -> str:
    """sha256 (hex) of texts and buffers, each with its length, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def content_key(identity: str | bytes) -> str:
    """sha256 (hex) of the canonical form of a JSON text: the key of a prompt's content.

    NaN and infinities, which strict JSON lacks, count as null.

    Raises:
        ValueError: the text is not JSON, or nested beyond what has a canonical form.
    """
    value = parse_json(identity)
    try:
        return canonical_digest(value)
    except TypeError:  # all else was refused on reading
        raise ValueError(TOO_DEEP) from None


def sha256_of(data: str | bytes) -> str:
    """sha256 (hex) of bytes, or of a text in UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()
