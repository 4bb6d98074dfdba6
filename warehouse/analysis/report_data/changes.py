"""What changed since the last report: figures that the newest refresh changed.

A report keeps no memory of the one before. Refreshes do, and a schedule writes a report after each: so
the figures of the refresh before the newest are those that the last report showed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warehouse.analysis.families.family import GONE, key_of, model_of
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class Change:
    """A score that is new, has moved or is gone.

    Attributes:
        benchmark: name of the benchmark.
        model: name of the model, with the head of its condition's key where it has several.
        metric: name of the metric.
        before: figure of the refresh before; None for a new one.
        now: figure of the newest refresh; None for one that is gone.
        standard_error: of ``now``.
        low: lower end of the interval of ``now``.
        high: upper end of it.
        rank_before: rank of the refresh before; None if unknown.
        rank_now: rank of the newest one; None if it did not change, or is unknown.
    """

    benchmark: str
    model: str
    metric: str
    before: float | None
    now: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    rank_before: int | None = None
    rank_now: int | None = None

    @property
    def leads_now(self) -> bool:
        """It is first, and was not."""
        return self.rank_now == 1 and self.rank_before != 1


@dataclass(frozen=True)
class Changes:
    """What the newest refresh changed.

    Attributes:
        refreshed_at: its end, UTC.
        previous_at: end of the refresh before, UTC.
        rows: by benchmark, the largest change first.
    """

    refreshed_at: datetime
    previous_at: datetime
    rows: tuple[Change, ...]

    @property
    def moved(self) -> tuple[Change, ...]:
        """Figures that were there before and are another now."""
        return tuple(row for row in self.rows if row.before is not None and row.now is not None)

    @property
    def new(self) -> tuple[Change, ...]:
        """Figures that were not there before."""
        return tuple(row for row in self.rows if row.before is None)

    @property
    def gone(self) -> tuple[Change, ...]:
        """Figures that are no longer there."""
        return tuple(row for row in self.rows if row.now is None)


def read_changes(store: Store, benchmarks: Collection[str] | None) -> Changes | None:
    """What changed between the last two refreshes; None where fewer than two have ended.

    Args:
        benchmarks: names of those that are shown; None for all.
    """
    stored = store.rows(query_text("analysis", "report_changes"))
    if not stored:
        return None
    shown = [row for row in stored if row["subject"] and (benchmarks is None or row["benchmark"] in benchmarks)]
    ranks = {(row["benchmark"], row["subject"]): row for row in shown if row["statistic"] == "rank"}
    scores = [row for row in shown if row["statistic"] == "score"]
    changes = [_change(row, ranks.get((row["benchmark"], row["subject"])), scores) for row in scores]
    kept = [one for one in changes if one.before != one.now]
    kept.sort(key=lambda one: (one.benchmark, -abs((one.now or 0.0) - (one.before or 0.0)), one.model))
    return Changes(stored[0]["refreshed_at"], stored[0]["previous_at"], tuple(kept))


def _change(row: dict[str, Any], rank: dict[str, Any] | None, scores: Sequence[dict[str, Any]]) -> Change:
    model = model_of(row["subject"])
    alike = [one for one in scores if one["benchmark"] == row["benchmark"] and model_of(one["subject"]) == model]
    gone = row["method"] == GONE
    return Change(
        benchmark=row["benchmark"],
        model=f"{model} #{key_of(row['subject'])[:6]}" if len(alike) > 1 else model,
        metric=row["metric"],
        before=row["previous_estimate"],
        now=None if gone else row["estimate"],
        standard_error=None if gone else row["standard_error"],
        low=None if gone else row["low"],
        high=None if gone else row["high"],
        rank_before=_whole(rank, "previous_estimate"),
        rank_now=None if gone else _whole(rank, "estimate"),
    )


def _whole(row: dict[str, Any] | None, name: str) -> int | None:
    return None if row is None or row[name] is None else int(row[name])
