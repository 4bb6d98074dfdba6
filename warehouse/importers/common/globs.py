"""Globs on paths that are no files of this machine: of archives and of dumps."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from pathlib import PurePath

from warehouse.importers.common.patterns import Pattern, PatternError


def glob_matches(glob: str, path: PurePath | str) -> bool:
    """Whether a glob matches a tail of the path. ``*`` stays in one folder, ``**`` does not.

    >>> glob_matches("zero-shot/*/*.json", "data/zero-shot/a/b.json")
    True
    >>> glob_matches("zero-shot/*.json", "data/zero-shot/a/b.json")
    False
    """
    compiled = _glob(glob)
    return any(compiled.fullmatch(tail) for tail in tails_of(path))


def tails_of(path: PurePath | str) -> list[str]:
    """The path's ends, the shortest first, each from a folder boundary on."""
    parts = [part for part in PurePath(path).parts if part != PurePath(path).anchor]
    return ["/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]


@lru_cache(maxsize=256)
def _glob(glob: str) -> Pattern:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", glob)
    return Pattern("(?s)" + "".join(map(_glob_piece, pieces)))


def _glob_piece(piece: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if piece.startswith("[") and len(piece) > 2:
        inner = piece[1:-1].replace("\\", "\\\\")
        brackets = "[" + ("^" + inner[1:] if inner.startswith("!") else inner) + "]"
        with suppress(PatternError):
            return Pattern(brackets).pattern
    return known.get(piece, re.escape(piece))
