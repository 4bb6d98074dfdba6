"""The runs of a store, with what sets each apart from the others on its benchmark."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.selection.conditions import labels_of_runs, read_runs
from warehouse.store.connection import Store
from warehouse.store.curate import catalogue
from warehouse.store.sql.query_files import query_text

#: Scores up to which figures of the listed runs are worked out.
MOST_SCORES = 3_000_000


@dataclass(frozen=True)
class ListedRun(catalogue.RunEntry):
    """One run, with what sets it apart from others on its benchmark, its figure, and
    the file that it came from."""

    #: what differs between its settings and those of other runs on its benchmark; empty
    #: where nothing does, and for a run that was superseded or invalidated.
    condition: str
    metric: str = ""  #: the headline metric of its benchmark; empty without a figure.
    #: the run's figure by it; None where it has none, was superseded or invalidated, or
    #: where all listed runs have more than three million scores; None as well where
    #: several scorers judged its answers, each of whom has a figure of its own.
    score: float | None = None
    standard_error: float | None = None  #: of the figure.
    is_share: bool = False  #: scores lie between 0 and 1.
    n_scorers: int = 0  #: judges or scorers that gave it a figure by that metric.
    #: questions that the figure rests on; None where nobody says, or there is none.
    n_scored: int | None = None
    file: str = ""  #: path of the first file that it was read from.


def list_runs(
    store: Store, *, where: Sequence[str] = (), everything: bool = False
) -> list[ListedRun]:
    """The runs of a store, oldest first, with what sets them apart.

    Args:
        where: as of :func:`warehouse.store.curate.catalogue.runs`.
        everything: superseded and invalidated runs too.

    Raises:
        MisuseError: a text of ``where`` of another form, or no such field.
    """
    runs = catalogue.runs(store, where=where, everything=everything)
    if not runs:
        return []
    labels = labels_of_runs(store, read_runs(store, "true", {}))
    ids = [run.run_id for run in runs]
    figures: dict[int, dict[str, Any]] = {}
    if sum(run.n_scores for run in runs) <= MOST_SCORES:
        query = query_text("analysis/selection", "figures_of_runs")
        figures = {row["run_id"]: row for row in store.rows(query, {"run_ids": ids})}
    query = query_text("analysis/selection", "files_of_runs")
    files = {row["run_id"]: row["path"] for row in store.rows(query, {"run_ids": ids})}
    listed: list[ListedRun] = []
    for run in runs:
        fields = {
            item.name: getattr(run, item.name) for item in dataclasses.fields(run)
        }
        figure = figures.get(run.run_id, {})
        listed.append(
            ListedRun(
                **fields,
                condition=labels.get(run.run_id, ""),
                metric=_metric(figure),
                score=figure.get("estimate"),
                standard_error=figure.get("standard_error"),
                is_share=bool(figure.get("is_share")),
                n_scorers=figure.get("n_scorers") or 0,
                n_scored=figure.get("n_prompts"),
                file=files.get(run.run_id) or "",
            )
        )
    return listed


def _metric(figure: Mapping[str, Any]) -> str:
    """The label of a metric: its name, with its filter."""
    parts = (figure.get("metric"), figure.get("metric_filter"))
    return ",".join(filter(None, parts))
