"""What tests of differences say, in words: those of ``compare`` and of the report."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.tables.words import fixed

#: Of two or more, where the test does not separate them.
CANNOT_TELL = "cannot be told apart"


@dataclass(frozen=True)
class Sentence:
    """Words with names of dumps among them.

    Attributes:
        template: our own words, ``{}`` for each name.
        names: in the order of the template.
    """

    template: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.template.format(*self.names)

    def __add__(self, other: Sentence) -> Sentence:
        return Sentence(self.template + other.template, self.names + other.names)


def interval_in_words(low: float | None, high: float | None, places: int) -> str:
    """``[low, high]`` after a blank; empty without both ends."""
    return "" if low is None or high is None else f" [{fixed(low, places)}, {fixed(high, places)}]"
