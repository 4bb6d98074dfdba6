"""Stores of answers that judges scored and people labelled in part, with the truth known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from tests.support.builders import StoreRows

Truth = Mapping[str, NDArray[np.float64]]


def truth(rates: Mapping[str, float], n: int = 400, seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """What people would say of each model's answers, 0/1; prompts are easy or hard for all of them."""
    rng = np.random.default_rng(seed)
    ease = rng.random(n)
    return {
        model: ((0.6 * ease + 0.4 * rng.random(n)) > 1 - rate).astype(np.float64) for model, rate in rates.items()
    }


def biased(labels: NDArray[np.float64], seed: int, agreement: float = 0.7, up: float = 0.25) -> NDArray[np.float64]:
    """A judge that sees what people see in part, and likes a share of what they do not."""
    rng = np.random.default_rng(seed)
    own = np.where(rng.random(len(labels)) < agreement, labels, rng.random(len(labels)) < labels.mean())
    return np.where(rng.random(len(labels)) < up, 1.0, own)


def judged_rows(
    people: Truth,
    judges: Mapping[str, Mapping[str, NDArray[np.float64]]],
    labelled: Iterable[int] = (),
    *,
    benchmark: str = "essays",
) -> StoreRows:
    """A run of each model, scored by each judge on all prompts and by people on some."""
    rows = StoreRows()
    chosen = list(labelled)
    human = rows.add("scorer", ("people",), name="people", kind="human", judge_model="", parameters_key="")
    human_metric = rows.add(
        "metric", ("people",), name="good", filter="", scorer_id=human, unit="", link="identity"
    )
    rows.describe(benchmark, human_metric, default=False)
    metrics = {judge: rows.metric("good", judge=judge) for judge in judges}
    for metric in metrics.values():
        rows.describe(benchmark, metric)
    for model, labels in people.items():
        run = rows.run(model, benchmark)
        for judge, metric in metrics.items():
            rows.scores(run, {f"p{i}": float(v) for i, v in enumerate(judges[judge][model])}, metric)
        if chosen:
            rows.scores(run, {f"p{i}": float(labels[i]) for i in chosen}, human_metric)
    return rows
