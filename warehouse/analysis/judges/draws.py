"""Which prompts were drawn to be labelled, and by what chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class RunDraw:
    """What was drawn of one run, as its newest wave says."""

    wave: int  #: its number, from 1.
    probability_of: Mapping[int, float]  #: chance of each prompt drawn, by id, to be among all drawn so far.

    @property
    def n_prompts(self) -> int:
        """How many prompts there were to draw from."""
        return round(sum(1 / chance for chance in self.probability_of.values()))

    def chances(self, prompts: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The chance of each of some prompts, the mean one where it was not drawn, and whether it was, shape (N,)."""
        found = np.array([self.probability_of.get(prompt, np.nan) for prompt in prompts.tolist()])
        drawn = np.isfinite(found)
        return np.where(drawn, found, min(1.0, max(drawn.mean(), 1e-12))), drawn


def read_draws(store: Store, benchmark_ids: Sequence[int]) -> dict[int, RunDraw]:
    """The newest wave of each run of which anything was drawn."""
    newest: dict[int, list[dict[str, Any]]] = {}
    for row in store.rows(query_text("analysis", "label_draws"), {"benchmark_ids": [*benchmark_ids]}):
        own = newest.setdefault(row["run_id"], [])
        if own and own[0]["wave"] != row["wave"]:
            own.clear()  # waves come in their order
        own.append(row)
    return {
        run: RunDraw(rows[0]["wave"], {row["prompt_id"]: row["probability"] for row in rows})
        for run, rows in newest.items()
    }
