"""Places in daily answers that rare rooms fill, loaded only where stored data or an
option call for them.

The daily rooms (leaderboard, comparison, power, suites, selection) import none of the
others. Where something rare changes their answer (a planned subset, a run that was
stopped early, costs), the ``hooks.py`` of the room has a `Hook`: the type of what it
needs there. A file of the rare room fills it, and the table below says which.
"""

from __future__ import annotations

from importlib import import_module
from typing import Generic, TypeVar

T = TypeVar("T")

#: By name of the hook the file that fills it.
FILLED_BY = {
    "stopped runs": "warehouse.analysis.sequential.stopped",
    "stored plans": "warehouse.analysis.subsets.stored",
    "rows on plans": "warehouse.analysis.subsets.on_leaderboard",
    "suites on plans": "warehouse.analysis.subsets.on_suite",
    "pairs on plans": "warehouse.analysis.subsets.on_pair",
    "prompts with a field": "warehouse.analysis.slices.filters",
    "costs of pairs": "warehouse.analysis.frontier.costs",
    "few units": "warehouse.analysis.handful.few",
}


class Hook(Generic[T]):
    """A place that one file fills, which is loaded when the filling is asked for.

    Args:
        name: in `FILLED_BY`.
    """

    def __init__(self, name: str) -> None:
        self.module = FILLED_BY[name]
        self._filling: T | None = None

    def fill(self, filling: T) -> None:
        """Say what stands in this place; the module that the table names does so where
        it is loaded."""
        self._filling = filling

    def load(self) -> T:
        """The hook that stands in this place."""
        if self._filling is None:
            import_module(self.module)
        assert self._filling is not None, f"{self.module} fills nothing"
        return self._filling
