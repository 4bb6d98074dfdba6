"""Which records of a benchmark over time stand (statistics.md §28.2).

Whoever tries often enough is ahead at last, by luck alone. A record is a figure above
those of all earlier days; it stands where its lead over the last record that stands is
more than the luckiest of all entries since then would have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    FloatArray,
    as_level,
    as_scores,
    check_length,
    rejects,
)
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.multiple.adjust import holm


@dataclass(frozen=True)
class Lead:
    """One entry held against an earlier one, on the questions that both have."""

    #: mean of the first minus the second, higher being better; NaN where they have no
    #: question in common.
    gain: float
    p_value: float | None  #: two-sided; None where it is not defined.


#: Gives the lead of an entry over an earlier one, both by their numbers.
LeadOf = Callable[[int, int], Lead]


@dataclass(frozen=True)
class Record(NamedFigures):
    """An entry whose figure is above those of all earlier days."""

    entry: int  #: number of the entry.
    standing: int  #: number of s, the last record that stood before it.
    gain: float  #: its lead over s, on common questions.
    p_value: float | None  #: of this lead alone; None where it is not defined.
    #: j, entries after the day of s up to and including the day of the record.
    n_entries: int
    p_times_entries: float | None  #: p·j, at most 1.
    needed: float  #: α/(e(e + 1)), which p·j may not exceed.
    stands: bool  #: whether it is ahead of s, with p·j at most ``needed``.
    replaced: int  #: number of the record before it, whether that stands or not.
    step_gain: float  #: its lead over the record before it.
    step_p: float | None  #: two-sided p of that lead.
    step_p_holm: float | None  #: the same, by Holm over all steps.
    step_stands: bool  #: whether it is ahead there, with Holm's p at most α.


@dataclass(frozen=True)
class RecordsOverTime(NamedFigures):
    """All records of a benchmark."""

    first: int  #: number of the first record, the best entry of the first day.
    records: tuple[Record, ...]  #: those after it, in the order of their days.
    n_entries: int  #: entries with a date.
    n_days: int  #: different days.
    level: float  #: 1 − α.

    @property
    def standing(self) -> tuple[int, ...]:
        """Numbers of the records that stand, without the first."""
        return tuple(record.entry for record in self.records if record.stands)


def records_over_time(
    figures: ArrayLike,
    days: Sequence[str],
    lead_of: LeadOf,
    *,
    level: float = 0.95,
) -> RecordsOverTime:
    """The records among entries with a date, and which of them stand.

    The best entry of a day stands for it, of equal ones the one that comes first here;
    that of the first day is the first record. Each later record is compared with the
    last one that stands, s, at first with the first record, and stands where p·j ≤
    α/(e(e + 1)): j entries came since the day of s, and e − 1 records stood before. A
    verdict hangs on earlier entries and those of its own day alone.

    Args:
        figures: of the entries, higher is better, shape (M,).
        days: day of each as ``YYYY-MM-DD``, shape (M,).
        lead_of: tests an entry against an earlier one.
        level: 1 − α.

    Raises:
        StatisticsError: shapes that do not fit, figures that are not finite, or fewer
            than two different days.

    Examples:
        >>> days = ["2024-01-01", "2024-02-01", "2024-03-01"]
        >>> found = records_over_time([0.5, 0.6, 0.7], days, lambda a, b: Lead(0.1, 0.02))
        >>> [(record.entry, record.stands) for record in found.records]
        [(1, True), (2, False)]
    """
    values = as_scores(figures, "figures")
    check_length(len(days), len(values), "days")
    alpha = 1 - as_level(level)
    n_days = len(set(days))
    if n_days < 2:
        raise StatisticsError(
            f"records over time need entries of two days at least, found {n_days}"
        )
    best = _risers(values, days)
    records = _judged(best, days, lead_of, alpha)
    return RecordsOverTime(best[0], records, len(values), n_days, level)


def _judged(
    best: Sequence[int], days: Sequence[str], lead_of: LeadOf, alpha: float
) -> tuple[Record, ...]:
    """The records after the first, each with its verdict.

    Args:
        best: numbers of the first record and all later ones.
        days: of all entries.
        lead_of: tests an entry against an earlier one.
        alpha: 1 − level.
    """
    steps = [lead_of(new, old) for old, new in zip(best, best[1:], strict=False)]
    adjusted = _by_holm(steps)
    records: list[Record] = []
    standing, n_stood = best[0], 0
    for place, step in enumerate(steps):
        entry, replaced = best[place + 1], best[place]
        lead = step
        if standing != replaced:
            lead = lead_of(entry, standing)
        n_since = _entries_between(days, days[standing], days[entry])
        times = _times(lead.p_value, n_since)
        needed = alpha / ((n_stood + 1) * (n_stood + 2))
        record = Record(
            entry=entry,
            standing=standing,
            gain=lead.gain,
            p_value=lead.p_value,
            n_entries=n_since,
            p_times_entries=times,
            needed=needed,
            stands=_is_shown(lead, times, needed),
            replaced=replaced,
            step_gain=step.gain,
            step_p=step.p_value,
            step_p_holm=adjusted[place],
            step_stands=_is_shown(step, adjusted[place], alpha),
        )
        records.append(record)
        if record.stands:
            standing, n_stood = entry, n_stood + 1
    return tuple(records)


def _risers(values: FloatArray, days: Sequence[str]) -> list[int]:
    """Numbers of the first record and all later ones, in the order of their days."""
    order = sorted(range(len(days)), key=lambda entry: days[entry])
    found: list[int] = []
    for _, batch in groupby(order, key=lambda entry: days[entry]):
        best = max(batch, key=lambda entry: values[entry])
        if not found or values[best] > values[found[-1]]:
            found.append(best)
    return found


def _entries_between(days: Sequence[str], after: str, until: str) -> int:
    """Entries after one day, up to and including another."""
    return sum(after < day <= until for day in days)


def _times(p: float | None, n_entries: int) -> float | None:
    """p·j, at most 1; None without a p."""
    if p is None:
        return None
    return min(1.0, p * n_entries)


def _by_holm(steps: Sequence[Lead]) -> list[float | None]:
    """Holm's p of each step; None where it has none."""
    if not steps:
        return []
    plain = [math.nan if step.p_value is None else step.p_value for step in steps]
    return [None if math.isnan(p) else float(p) for p in holm(plain)]


def _is_shown(lead: Lead, p: float | None, needed: float) -> bool:
    """Whether an entry is ahead by more than luck."""
    return lead.gain > 0 and rejects(p, needed)
