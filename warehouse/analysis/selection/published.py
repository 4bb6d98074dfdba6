"""Figures that sources publish, for runs whose samples the store does not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warehouse.analysis.selection.arrow import rows_among
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class Published:
    """A published figure of a condition.

    Attributes:
        value: the figure; mean over the repeats that have one.
        standard_error: as published, at least 0; None if there is none, or are repeats.
        n: prompts as published, 0 if unknown.
    """

    value: float
    standard_error: float | None
    n: int


def read_published(store: Store, runs: Mapping[int, int], metric_ids: Sequence[int]) -> dict[int, Published]:
    """Published figures by group; ``runs`` maps run ids to groups."""
    first: dict[int, Published] = {}
    for row in rows_among(store, query_text("analysis", "published_means"), "run_id", list(runs)):
        if row["metric_id"] not in metric_ids:
            continue
        figure = Published(row["value"], row["standard_error"], row["n"] or 0)
        first.setdefault(row["run_id"], figure)
    groups: dict[int, list[Published]] = {}
    for run, figure in first.items():
        groups.setdefault(runs[run], []).append(figure)
    return {group: _mean(figures) for group, figures in groups.items()}


def _mean(figures: Sequence[Published]) -> Published:
    if len(figures) == 1:
        return figures[0]
    mean = sum(figure.value for figure in figures) / len(figures)
    return Published(mean, None, max(figure.n for figure in figures))
