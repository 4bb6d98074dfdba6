"""Lines under the table of a comparison."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from warehouse.tables.words import (
    counted,
    listed,
)

if TYPE_CHECKING:
    pass
from warehouse.analysis.comparison.words import NOT_COMPARED

#: Conditions that a note names.
_MOST_NAMED = 5


def not_compared_notes(others: Iterable[tuple[str, int]]) -> list[str]:
    """Notes that conditions were not compared, and that letters say nothing there: they
    share none with one another.

    Args:
        others: name of each condition, and with how many others it has no prompt in
            common.
    """
    names = [f"{name} with {counted(n, 'other')}" for name, n in others if n]
    more = []
    if len(names) > _MOST_NAMED:
        more = [f"{len(names) - _MOST_NAMED} more"]
    if not names:
        return []
    return [
        f"no prompt in common, so {NOT_COMPARED}: "
        f"{listed([*names[:_MOST_NAMED], *more])}; that these share no letter does not "
        "say that they differ"
    ]
