"""Verdicts of judges that could not be read, for which a tool writes its lowest score.

Such a score says nothing of the answer. It counts as it stands, as in the tool's own
figures; how many there are, and between what the figure lies whatever the verdicts
were, is told.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class _Tally:
    values: int = 0
    total: float = 0.0
    low: float = 0.0
    high: float = 1.0
    unread: list[float] = field(default_factory=list)


class UnreadVerdicts:
    """The scores of a dump by metric, and those of them that stand for a verdict that
    could not be read."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self._tallies: dict[str, _Tally] = {}

    def add(self, metric: str, value: float | None, is_unread: bool) -> None:
        """Count one score; one without a number is missing anyway."""
        if value is None or not math.isfinite(value):
            return
        tally = self._tallies.setdefault(metric, _Tally())
        tally.values += 1
        tally.total += value
        tally.low, tally.high = min(tally.low, value), max(tally.high, value)
        if is_unread:
            tally.unread.append(value)

    def notes(self) -> Iterator[str]:
        """A note on each metric that has such scores; those above its lowest are
        verdicts of some kind."""
        for metric, tally in self._tallies.items():
            unread = [value for value in tally.unread if value == tally.low]
            if not unread:
                continue
            rest = tally.total - sum(unread)
            lowest = (rest + len(unread) * tally.low) / tally.values
            highest = (rest + len(unread) * tally.high) / tally.values
            yield (
                f"{metric}: of {len(unread)} of {tally.values} scores no verdict could "
                f"be read, and {self.tool} writes {tally.low:g} for them: they count "
                f"so; whatever the verdicts were, the mean lies between {lowest:.3g} "
                f"and {highest:.3g}"
            )
