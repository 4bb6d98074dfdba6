"""A store of what real ones mix: partial runs that outscore whole ones, no direction,
one model, hostile names."""

from __future__ import annotations

import random
from datetime import datetime

from tests.support.builders import StoreRows
from tests.support.html import EVIL

#: Names as dumps have them: long, from right to left, wide, and one that wants to run.
STRANGE = (
    f"org/{'very-long-name-' * 8}v2",
    "עברית/דגם-1",
    "组织/模型名称很长很长很长很长很长很长-72B",
    f"d {EVIL}",
)
#: Right answers of the others, the best first, and of a run on a part, which looks
#: better than all.
PLAIN = {f"lab/m{place}": 0.85 - 0.05 * place for place in range(8)}
PARTIAL, PARTIAL_SHARE = "lab/partial", 0.97
N_PROMPTS = 120


def mixed() -> StoreRows:
    """`quiz`, `loss` (lower is better), `odd` (no direction), `alone` (one model),
    `small` (few models)."""
    rows, dice = StoreRows(), random.Random(11)
    models = PLAIN | dict(zip(STRANGE, (0.6, 0.5, 0.4, 0.3), strict=True))
    for name, higher in {
        "quiz": True,
        "loss": False,
        "odd": None,
        "alone": True,
        "small": True,
    }.items():
        metric = rows.metric(
            "nats" if name == "loss" else "odd_figure" if name == "odd" else "acc"
        )
        number = {"kind": "number", "high": None} if higher is not True else {}
        rows.describe(name, metric, higher=higher, **number)
        for place in range(N_PROMPTS):
            rows.prompt(name, f"q{place}")
        chosen = {"alone": 1, "small": 4}.get(name, len(models))
        for number_of, (model, skill) in enumerate(list(models.items())[:chosen]):
            scores = {
                f"q{n}": float((dice.random() < skill) != (higher is False))
                for n in range(N_PROMPTS)
            }
            run = rows.run(model, name, started_at=datetime(2026, 1 + number_of % 9, 3))
            rows.scores(run, scores, metric)
    part = rows.run(
        PARTIAL,
        "quiz",
        status="truncated",
        n_benchmark=N_PROMPTS,
        started_at=datetime(2026, 9, 5),
    )
    rows.scores(
        part,
        {f"q{n}": float(dice.random() < PARTIAL_SHARE) for n in range(40)},
        rows.metric("acc"),
    )
    return rows
