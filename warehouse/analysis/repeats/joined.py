"""Notes where new runs join runs of their condition, and do not look like repeats of
them."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Conditions that are looked at of one ingest, the last first.
MOST_CONDITIONS = 200
#: Prompts on which runs must differ before anything is said: of two runs, and of more
#: (`stats.rows.repeats`).
FEWEST_OF_TWO, FEWEST_OF_MORE = 11, 2


def notes_on_joined(store: Store, run_ids: Sequence[int]) -> tuple[str, ...]:
    """Which conditions of some new runs have runs that differ by more than chance, or
    that have two scorers.

    Args:
        run_ids: of runs of which some joined runs of their condition.
    """
    if not run_ids:
        return ()
    parameters = {
        "run_ids": list(run_ids),
        "most": MOST_CONDITIONS,
        "fewest_of_two": FEWEST_OF_TWO,
        "fewest_of_more": FEWEST_OF_MORE,
    }
    rows = store.rows(query_text("store", "joined_conditions"), parameters)
    if not rows:
        return ()
    from warehouse.analysis.repeats.doubtful import (
        notes_on_conditions,
    )  # slow to import, and seldom needed

    return notes_on_conditions(store, [row["condition_key"] for row in rows])
