"""Benchmarks that share prompts with others: told once, when they come into the store."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.store.connection import Store
from warehouse.store.load.state import LoadReport
from warehouse.store.sql.query_files import query_text

#: Pairs of benchmarks that a note names.
_MOST_NAMED = 3


def notes_on_shared(store: Store, reports: Sequence[LoadReport]) -> list[str]:
    """Which benchmarks of the new runs hold prompts of others, by their texts; which are the same bytes."""
    new = [min(report.run_ids) for report in reports if report.run_ids and report.n_runs]
    if not new:
        return []
    runs = {"first_run": min(new)}
    shared = store.rows(query_text("store", "shared_benchmarks"), runs)
    told = {frozenset((row["benchmark"], row["other"])) for row in shared}
    twins = [
        row
        for row in store.rows(query_text("store", "twin_benchmarks"), runs)
        if frozenset((row["benchmark"], row["other"])) not in told
    ]
    texts = [f"{row['n_shared']} of {row['n_prompts']} of {row['benchmark']} in {row['other']}" for row in shared]
    names = [f"{row['benchmark']} and {row['other']}" for row in twins]
    return [
        *([f"prompts of the same text stand in several benchmarks: {_some(texts)}; {_COUNT_ONCE}"] if texts else []),
        *([f"the same file was read as several benchmarks: {_some(names)}; {_COUNT_ONCE}"] if names else []),
    ]


_COUNT_ONCE = "figures over these count each once"


def _some(parts: Sequence[str]) -> str:
    more = [f"{len(parts) - _MOST_NAMED} more"] if len(parts) > _MOST_NAMED else []
    return ", ".join([*parts[:_MOST_NAMED], *more])
