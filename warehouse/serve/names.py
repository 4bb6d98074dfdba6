"""Names in an address held against those of the store."""

from __future__ import annotations

from collections.abc import Iterable

from warehouse.errors import did_you_mean
from warehouse.serve.page import Missing


def checked_name(kind: str, name: str, names: Iterable[str]) -> str:
    """A name of an address, if the store has it.

    Args:
        kind: of what it is, such as ``benchmark``.
        names: that there are.

    Raises:
        Missing: names what was perhaps meant.
    """
    there = [*names]
    if name not in there:
        shown = name.replace("\x00", "\N{REPLACEMENT CHARACTER}")[:100]
        raise Missing(f"no {kind} {shown!r}; {did_you_mean(name[:100], there, 'the first page lists all')}")
    return name
