"""Figures of runs that sources publish."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.selection.scores import PromptScores, ScoredRows, pooled_scores
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure of a condition."""

    value: float  #: the figure; mean over the repeats that have one.
    #: as published, at least 0; of repeats that which their spread gives; None if there
    #: is none.
    standard_error: float | None
    n: int  #: prompts as published, 0 if unknown.
    #: figures of the training seeds, or of the repeats, that it is the mean of; empty
    #: for a single one.
    seeds: tuple[float, ...] = ()


class RunFigures:
    """All figures of some runs by some metrics, by group.

    Args:
        runs: run id -> number of the group that it belongs to; the runs of a group are
            pooled.
    """

    def __init__(
        self, store: Store, runs: Mapping[int, int], metric_ids: Collection[int]
    ) -> None:
        self._runs, self._rows = runs, ScoredRows(store, runs, metric_ids)
        self._published = store.rows(
            query_text("analysis", "published_means"),
            {"run_ids": list(runs)},
            per="run_id",
        )

    def scores(
        self, metric_id: int, *, with_repeats: bool = False
    ) -> dict[int, PromptScores]:
        """Prompt scores by one metric, of each group that has rows."""
        here = np.flatnonzero(self._rows.metrics == metric_id)
        return pooled_scores(
            self._rows.runs[here],
            self._rows.facts.take(here),
            self._runs,
            with_repeats=with_repeats,
        )

    def published(self, metric_id: int) -> dict[int, PublishedFigure]:
        """Published figures by one metric."""
        first: dict[int, PublishedFigure] = {}
        for row in self._published:
            if row["metric_id"] == metric_id:
                first.setdefault(
                    row["run_id"],
                    PublishedFigure(row["value"], row["standard_error"], row["n"] or 0),
                )
        groups: dict[int, list[PublishedFigure]] = {}
        for run, figure in first.items():
            groups.setdefault(self._runs[run], []).append(figure)
        return {group: _mean(own) for group, own in groups.items()}


def _mean(figures: Sequence[PublishedFigure]) -> PublishedFigure:
    if len(figures) == 1:
        return figures[0]
    values = np.array([figure.value for figure in figures])
    error = None
    if np.isfinite(values).all():
        error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return PublishedFigure(
        float(values.mean()),
        error or None,
        max(figure.n for figure in figures),
        tuple(values.tolist()),
    )
