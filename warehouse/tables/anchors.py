"""Names of benchmarks as names of files, addresses and anchors."""

from __future__ import annotations

import hashlib
import re

#: Characters of a benchmark's name in its slug.
MOST = 80

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9_-]+)*")
_OTHER = re.compile(r"[^a-z0-9_.-]+")


def slug(name: str, taken: tuple[str, ...] = ()) -> str:
    """A name for files and addresses: the name itself where every file system takes it
    and no other name leads to it, else what is left of it, with a hash.

    Args:
        name: of a benchmark or suite.
        taken: words that it may not be.
    """
    if _PLAIN.fullmatch(name) and len(name) <= MOST and name not in taken:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    words = _OTHER.sub("-", name.lower())[:MOST].strip("-.")
    return f"{words or 'benchmark'}~{digest}"


def anchor(part: str, name: str) -> str:
    """The anchor of a part of a benchmark or suite in a page, such as ``pairs-gsm8k``."""
    return f"{part}-{slug(name)}"
