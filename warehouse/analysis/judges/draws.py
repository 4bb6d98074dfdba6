"""Which prompts were drawn to be labelled, by what chance, and what that makes of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Rule of a wave without strata; others name what they are made of, with the cuts.
SIMPLE = "simple"


@dataclass(frozen=True)
class RunDraw:
    """What was drawn of one run, as its newest wave says."""

    wave: int  #: its number, from 1.
    metric_id: int  #: the judge's whose scores its strata are made of.
    rule: str  #: ``simple``, or ``score`` or ``uncertainty`` with the cuts between strata.
    stratum_of: Mapping[int, str]  #: of each prompt drawn, by id; empty text in a simple draw.
    probability_of: Mapping[int, float]  #: its chance to be among all drawn so far.

    def same_as(self, other: RunDraw | None) -> bool:
        """Whether another run's is of the same wave."""
        return other is not None and (self.wave, self.rule, self.probability_of) == (
            other.wave,
            other.rule,
            other.probability_of,
        )

    @property
    def kind(self) -> str:
        """What strata are made of, or ``simple``."""
        return self.rule.split()[0]

    @property
    def cuts(self) -> list[float]:
        """The values at which one stratum ends and the next begins."""
        return [float(text) for text in self.rule.split()[1:]]


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
            rows[0]["metric_id"],
            rows[0]["rule"],
            {row["prompt_id"]: row["stratum"] for row in rows},
            {row["prompt_id"]: row["probability"] for row in rows},
        )
        for run, rows in newest.items()
    }


def rule_of(kind: str, cuts: Sequence[float]) -> str:
    """How a draw is written down."""
    return " ".join([kind, *(repr(float(cut)) for cut in cuts)])


def strata_by(values: FloatArray, cuts: Sequence[float]) -> NDArray[np.intp]:
    """Number of the stratum of each value: how many cuts lie at or below it."""
    return np.searchsorted(np.asarray(cuts, dtype=np.float64), values, side="right").astype(np.intp)


def cut_points(values: FloatArray, count: int) -> list[float]:
    """Cuts that part values into at most so many strata of about one size, equal values together."""
    distinct = np.unique(values)
    if len(distinct) <= count:
        return [float(value) for value in distinct[1:]]
    ranks = np.sort(values)
    picked = np.unique(ranks[[len(ranks) * part // count for part in range(1, count)]])
    return [float(value) for value in picked if value > distinct[0]]


def stratum_values(kind: str, means: FloatArray, within: FloatArray) -> FloatArray | None:
    """What strata are made of, of each prompt: a mean over models; None where a judge does not say how sure it is.

    Args:
        kind: ``score``, or ``uncertainty``: the variance over draws, else g(1 − g) of a score between 0 and 1.
        means: the judge's scores, shape (M, N).
        within: their variance over draws, NaN where there is none, shape (M, N).
    """
    if kind == SIMPLE:
        return None
    values = means if kind == "score" else within if np.isfinite(within).all() else means * (1 - means)
    if kind != "score" and (values.min() < 0 or values.max() == 0):
        return None
    return np.asarray(values.mean(axis=0))


def draw_design(
    prompts: NDArray[np.int64], draw: RunDraw, values: FloatArray | None
) -> tuple[NDArray[np.intp] | None, FloatArray]:
    """What a draw makes of N units: the stratum of each, and the chance of each to have a label.

    Args:
        prompts: of the units, shape (N,).
        draw: of their run.
        values: what its strata are made of (`stratum_values`), shape (N,); None: not known.

    Returns:
        strata, None without and where they are no longer those of the draw; chances, the mean one where a unit was
        not drawn.
    """
    chances = np.array([draw.probability_of.get(prompt, np.nan) for prompt in prompts.tolist()])
    drawn = np.isfinite(chances)
    filled = np.where(drawn, chances, min(1.0, max(drawn.mean(), 1e-12)))
    if draw.kind == SIMPLE or values is None:
        return None, filled
    strata = strata_by(values, draw.cuts)
    written = [draw.stratum_of.get(prompt, "") for prompt in prompts.tolist()]
    same = all(text == str(stratum + 1) for text, stratum, one in zip(written, strata, drawn, strict=True) if one)
    return (strata if same else None), filled
