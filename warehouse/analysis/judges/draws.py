"""Which prompts were drawn to be labelled, and by what chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class RunDraw:
    """What was drawn of one run, as its newest wave says."""

    wave: int  #: its number, from 1.
    prompts: tuple[int, ...]  #: ids of those drawn so far, ascending.
    probability: float  #: the chance of each to be among them.

    @property
    def n_prompts(self) -> int:
        """How many prompts there were to draw from."""
        return round(len(self.prompts) / self.probability)


def read_draws(store: Store, benchmark_ids: Sequence[int]) -> dict[int, RunDraw]:
    """The newest wave of each run of which anything was drawn."""
    newest: dict[int, list[dict[str, Any]]] = {}
    for row in store.rows(query_text("analysis", "label_draws"), {"benchmark_ids": [*benchmark_ids]}):
        own = newest.setdefault(row["run_id"], [])
        if own and own[0]["wave"] != row["wave"]:
            own.clear()  # waves come in their order
        own.append(row)
    return {
        run: RunDraw(rows[0]["wave"], tuple(row["prompt_id"] for row in rows), rows[0]["probability"])
        for run, rows in newest.items()
    }
