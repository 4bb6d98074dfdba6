"""What tests of differences say, in words: those of ``compare`` and of the report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.selection.benchmarks import direction_unknown
from warehouse.stats.core.rejects import rejects
from warehouse.tables.words import fixed, listed

#: The benchmark of a row that is the mean over several.
OVERALL = "overall"
#: Of two or more, where the test does not separate them.
CANNOT_TELL = "cannot be told apart"
#: What stands in place of the better one where two differ by a metric of no known direction.
NOT_KNOWN = "not known"
#: The same where two have no prompt in common.
NOT_COMPARED = "not compared"
#: Conditions that a note names.
_MOST_NAMED = 5


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


def better_in_words(row: Any) -> str:
    """``a`` or ``b``, ``neither`` where the test says nothing, :data:`NOT_KNOWN`, and :data:`NOT_COMPARED`.

    Args:
        row: with ``better``, ``level``, ``n_prompts``, and ``p_holm`` or else ``p_value``, by which it was decided.
    """
    if getattr(row, "n_prompts", None) == 0:
        return NOT_COMPARED
    p = row.p_value if row.p_holm is None else row.p_holm
    return row.better or (NOT_KNOWN if rejects(p, 1 - row.level) else "neither")


def direction_remarks(rows: Iterable[Any]) -> list[str]:
    """Where to say which way a metric is good, for each by which rows differ; for the overall row all do."""
    every = list(rows)
    unknown = [row for row in every if better_in_words(row) == NOT_KNOWN]
    chosen = every if any(row.benchmark == OVERALL for row in unknown) else unknown
    benchmarks: dict[str, list[str]] = {}
    for row in chosen:
        if row.benchmark != OVERALL:
            benchmarks.setdefault(row.metric, []).append(row.benchmark)
    return [direction_unknown(metric, *dict.fromkeys(names)) for metric, names in benchmarks.items()]


def not_compared_notes(others: Iterable[tuple[str, int]]) -> list[str]:
    """That conditions were not compared, and that letters say nothing there: they share none with one another.

    Args:
        others: name of each condition, and with how many others it has no prompt in common.
    """
    names = [f"{name} with {n}" for name, n in others if n]
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    if not names:
        return []
    return [
        f"no prompt in common, so {NOT_COMPARED}: {listed([*names[:_MOST_NAMED], *more])}; that these share no"
        " letter does not say that they differ"
    ]


def interval_in_words(low: float | None, high: float | None, places: int) -> str:
    """``[low, high]`` after a blank; empty without both ends."""
    return "" if low is None or high is None else f" [{fixed(low, places)}, {fixed(high, places)}]"
