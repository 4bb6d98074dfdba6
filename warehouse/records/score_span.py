"""Between which values scores lie, and whether they look like shares of 1 or like per
cent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Scores above that are no shares, nor counts of what mostly happens once.
SURELY_PERCENT = 10.0
#: Of per cent at most this part of those above 0 is as small as a share; of counts and
#: costs more is.
MOST_SMALL = 0.1

Scale = Literal["share", "percent", ""]
#: What nothing compares where both occur.
MIXED: tuple[Scale, Scale] = ("share", "percent")


@dataclass(frozen=True)
class ScoreSpan:
    """Scores of one run by one metric, or a figure that is published of it."""

    low: float  #: the smallest.
    high: float  #: the largest.
    n_positive: int  #: above 0.
    n_small: int  #: of these not above 1.

    @classmethod
    def of(cls, *figures: float) -> ScoreSpan:
        """That of some figures."""
        positive = [figure for figure in figures if figure > 0]
        return cls(
            min(figures),
            max(figures),
            len(positive),
            sum(figure <= 1 for figure in positive),
        )

    @property
    def scale(self) -> Scale:
        """What they look like; empty where that cannot be told, as of zeros, which fit
        every scale."""
        if not self.low >= 0 or not self.high > 0:
            return ""
        if self.high <= 1:
            return "share"
        is_percent = (
            SURELY_PERCENT < self.high <= 100
            and self.n_small <= MOST_SMALL * self.n_positive
        )
        if is_percent:
            return "percent"
        return ""
