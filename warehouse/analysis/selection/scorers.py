"""Who scored: people, judges, programs, in words."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Who is taken where several scored the same: a program before a judge, a judge before people.
_KINDS_OF_SCORERS = ("match", "execution", "model", "human")


def scorers_of(store: Store, runs: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Of each run the place of the kind of its scorers, and their names."""
    names: dict[int, list[tuple[int, str]]] = {}
    for row in store.rows(query_text("analysis", "scorers_of_runs"), {"runs": list(runs)}):
        name = row["judge_model"] or row["name"] or "a comparison"
        names.setdefault(row["run_id"], []).append((_KINDS_OF_SCORERS.index(row["kind"]), name))
    return {
        run: (min(place for place, _ in found), ", ".join(sorted({name for _, name in found})))
        for run, found in names.items()
    }
