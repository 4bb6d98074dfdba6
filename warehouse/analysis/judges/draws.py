"""Which prompts were drawn to be labelled, and by what chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.judges.plan import strata_by
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class RunDraw:
    """What was drawn of one run, as its newest wave says."""

    wave: int  #: its number, from 1.
    prompts: tuple[int, ...]  #: ids of those drawn so far, ascending.
    #: of each, by the lowest score of the judge in it (`score_cuts`); empty texts for a simple draw.
    strata: tuple[str, ...]
    probabilities: tuple[float, ...]  #: the chance of each to be among them.
    metric_id: int | None = field(default=None, compare=False)  #: of the judge that it was drawn beside.

    @property
    def n_prompts(self) -> int:
        """How many prompts there were to draw from."""
        return round(sum(1 / probability for probability in self.probabilities))

    @property
    def is_stratified(self) -> bool:
        """Whether it was by strata."""
        return any(self.strata)

    @property
    def cuts(self) -> FloatArray:
        """The lowest score of each stratum, ascending."""
        return np.array(sorted({float(cut) for cut in self.strata}))

    def chances(self, prompts: NDArray[np.int64]) -> FloatArray:
        """Of each prompt that was drawn its chance, NaN of the others."""
        found = np.full(len(prompts), np.nan)
        _, at, drawn = np.intersect1d(prompts, self.prompts, assume_unique=True, return_indices=True)
        found[at] = np.array(self.probabilities)[drawn]
        return found

    def codes(self, prompts: NDArray[np.int64], scores: FloatArray) -> NDArray[np.intp] | None:
        """Stratum of each prompt that was drawn from, by its score; None where that is no longer what was drawn by."""
        found, drawn = strata_by(self.cuts, scores), np.searchsorted(prompts, self.prompts)
        if not np.isin(self.prompts, prompts).all() or found.min() < 0:
            return None
        sizes = np.bincount(found, minlength=len(self.cuts))
        expected = np.bincount(found[drawn], 1 / np.array(self.probabilities), len(sizes))
        is_same = np.array_equal(self.cuts[found[drawn]], [float(cut) for cut in self.strata])
        return found if is_same and np.allclose(sizes, expected, atol=0.5) else None


def shared_scores(scores: Sequence[FloatArray]) -> FloatArray:
    """What strata go by: the mean over models, of which equal ones are equal to the last digit."""
    return np.array([float(f"{score:.12g}") for score in np.mean(scores, axis=0)])


def read_draws(store: Store, benchmark_ids: Sequence[int]) -> dict[int, RunDraw]:
    """The newest wave of each run of which anything was drawn."""
    newest: dict[int, list[dict[str, Any]]] = {}
    for row in store.rows(query_text("analysis", "label_draws"), {"benchmark_ids": [*benchmark_ids]}):
        own = newest.setdefault(row["run_id"], [])
        if own and own[0]["wave"] != row["wave"]:
            own.clear()  # waves come in their order
        own.append(row)
    return {
        run: RunDraw(
            rows[0]["wave"],
            tuple(row["prompt_id"] for row in rows),
            tuple(row["stratum"] for row in rows),
            tuple(row["probability"] for row in rows),
            rows[0]["metric_id"],
        )
        for run, rows in newest.items()
    }
