"""The day of each row of a benchmark: of its submission or run, else of the release of
its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.irt.published_figures import release_days
from warehouse.analysis.records.row import OF_RELEASE, OF_RUN
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.stats.core.sample import find_link, linked
from warehouse.store.connection import Store


@dataclass(frozen=True)
class Day:
    """A day, and where it is from."""

    day: str  #: as ``YYYY-MM-DD``.
    day_of: str  #: ``run`` or ``release``.
    n_days: int = 1  #: different days of the runs of the row.


@dataclass(frozen=True)
class Dated:
    """A row with its day."""

    entry: ScoredCondition  #: the row.
    day: Day  #: its day.
    name: str  #: its model, with what tells the row from others.
    figure: float  #: its figure, over its own questions.


def days_of(store: Store, entries: Sequence[ScoredCondition]) -> list[Day | None]:
    """The day of each row; None where nothing says one.

    A row of several runs has the day of the last, as it had this figure no earlier.
    """
    days = [_day_of_runs(entry) for entry in entries]
    runs: set[int] = set()
    for entry, day in zip(entries, days, strict=True):
        if day is None:
            runs.update(entry.condition.run_ids)
    if not runs:
        return days
    released = release_days(store, runs)
    found = []
    for entry, day in zip(entries, days, strict=True):
        said = [released[run] for run in entry.condition.run_ids if run in released]
        if day is None and said:
            day = Day(min(said).isoformat(), OF_RELEASE)
        found.append(day)
    return found


def _day_of_runs(entry: ScoredCondition) -> Day | None:
    """The day of the last run that says when it was started."""
    days = set()
    for run in entry.condition.runs:
        if run["started_at"]:
            days.add(f"{run['started_at']:%Y-%m-%d}")
    if not days:
        return None
    return Day(max(days), OF_RUN, len(days))


def dated_entries(
    entries: Sequence[ScoredCondition], days: Sequence[Day | None]
) -> tuple[list[Dated], tuple[str, ...]]:
    """Rows with their days, by name, and the names of those without."""
    dated = []
    undated = []
    for entry, day in zip(entries, days, strict=True):
        name = entry.condition.model
        if entry.label:
            name = f"{name} ({entry.label})"
        scores = entry.usable
        if day is None or scores is None:
            undated.append(name)
            continue
        mean = float(np.average(scores.values, weights=scores.weights))
        figure = linked(find_link(entry.metric.link), mean)
        dated.append(Dated(entry, day, name, figure))
    dated.sort(key=lambda item: item.name)
    return dated, tuple(sorted(undated))
