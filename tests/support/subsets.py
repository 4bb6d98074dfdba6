"""Tables of scores that plans are made from, and the prompts that these ask."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.stores import filled_once, store_at
from warehouse.analysis.subsets.plan import SubsetPlan
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store

MODELS, PROMPTS = 12, 120


def answers(seed: int, models: int = MODELS, prompts: int = PROMPTS) -> np.ndarray:
    """0/1 scores, models x prompts: able models and hard prompts."""
    dice = np.random.default_rng(seed)
    theta, difficulty = np.linspace(-1.5, 1.5, models), np.linspace(-2, 2, prompts)
    return (
        dice.random((models, prompts)) < 1 / (1 + np.exp(difficulty - theta[:, None]))
    ).astype(int)


def rows_of(
    model: str,
    scores: Iterable[float],
    *,
    benchmark: str = "quiz",
    only: Collection[int] | None = None,
    **fields: Any,
) -> list[dict[str, Any]]:
    return [
        {
            "model": model,
            "benchmark": benchmark,
            "harness": "mine",
            "prompt_id": p,
            "question": f"{benchmark} {p}?",
        }
        | {"score": score}
        | fields
        for p, score in enumerate(scores)
        if only is None or p in only
    ]


def load(folder: Path, rows: Iterable[dict[str, Any]], url: str = "") -> str:
    """A store with these rows, added to what it holds."""
    rows = list(rows)
    fields = list(dict.fromkeys(name for row in rows for name in row))
    path = folder / f"rows{len(list(folder.glob('*.csv')))}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(rows)

    def fill() -> None:
        with open_store(url, create=True) as store:
            assert not ingest(store, [path]).refused

    if url:
        fill()
        return url
    url = store_at(folder / "subsets.duckdb")
    return filled_once(url, (__file__, path.read_bytes()), fill)


def whole(seed: int = 1, benchmark: str = "quiz") -> list[dict[str, Any]]:
    return [
        row
        for m, own in enumerate(answers(seed))
        for row in rows_of(f"lab/m{m:02}", own, benchmark=benchmark)
    ]


def asked_in(plan: SubsetPlan) -> list[int]:
    return sorted(int(row.tool_id) for row in plan.asked)
