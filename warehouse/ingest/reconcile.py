"""Published figures held against those that the samples give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.store.connection import Store
from warehouse.store.load.state import LoadReport


@dataclass(frozen=True)
class Reconciled:
    """A published figure held against the one that the samples give."""

    run: int
    model: str
    benchmark: str
    metric: str
    published: float | None
    recomputed: float | None
    verdict: str


def _published(store: Store, first: int) -> bool:
    """Whether a source publishes figures of runs from ``first`` on: the view reads all runs."""
    counted = store.arrow("select count(*) as n from published_score where run_id >= :first", {"first": first})
    return bool(counted["n"][0].as_py())


def _reconcile(store: Store, reports: Sequence[LoadReport]) -> tuple[Reconciled, ...]:
    """Every published figure of the new runs, beside the one that their samples give."""
    run_ids = {run for report in reports for run in report.run_ids}
    if not run_ids or not _published(store, min(run_ids)):
        return ()
    figures = store.arrow(
        "select run_id, model, benchmark, metric, metric_filter, published, recomputed, verdict "
        "from published_against_recomputed where run_id >= :first order by run_id, metric",
        {"first": min(run_ids)},
    )
    return tuple(
        Reconciled(
            run=row["run_id"],
            model=row["model"],
            benchmark=row["benchmark"],
            metric=",".join(part for part in (row["metric"], row["metric_filter"]) if part),
            published=row["published"],
            recomputed=row["recomputed"],
            verdict=row["verdict"],
        )
        for row in figures.to_pylist()
        if row["run_id"] in run_ids
    )
