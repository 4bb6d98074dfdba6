"""When runs were made, when their models were released, and what they cost, as far as
dumps say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from warehouse.analysis.irt.published_figures import release_days
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class RunFacts:
    """Facts on a run."""

    started: date | None = None  #: day of its start, UTC; None if unknown.
    released: date | None = None  #: day on which its model was; None if unknown.
    cost: float | None = None  #: of all of it, in US dollars; None if unknown.


def run_facts(store: Store, run_ids: Iterable[int]) -> Mapping[int, RunFacts]:
    """By id; runs of which nothing is known are left out."""
    distinct = set(run_ids)
    started = {
        row["run_id"]: row["started_at"].date()
        for row in store.rows(query_text("analysis/report_data", "report_dates"))
    }
    costs = {
        row["run_id"]: row["cost"]
        for row in store.rows(query_text("analysis/report_data", "report_costs"))
    }
    released = release_days(store, distinct)
    return {
        run: RunFacts(started.get(run), released.get(run), costs.get(run))
        for run in distinct & {*started, *costs, *released}
    }
