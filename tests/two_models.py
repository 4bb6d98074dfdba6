"""A store with two models that differ: one draw and several, shared prompts, clusters, texts."""

from __future__ import annotations

import random

from tests.builders import StoreRows
from tests.world import build_world

MODELS = ("lab/x", "lab/y")


def build_two_models() -> StoreRows:
    """The world, and two models on three benchmarks of one scale and one of another."""
    rows, dice = build_world(), random.Random(21)
    names = ("extracted_answer", "error", "explanation", "latency", "input_tokens",
             "output_tokens", "cost")  # fmt: skip
    for name, n, draws in (("one", 60, 1), ("many", 25, 4), ("same", 5, 1), ("shared", 20, 1)):
        rows.describe(name, rows.metric())
        for model, skill in zip(MODELS, (0.75, 0.55), strict=True):
            run = rows.run(model, name)
            scores = {
                f"{name}{place}": [
                    1.0 if name == "same" else float(dice.random() < skill) for _ in range(draws)
                ]
                for place in range(n)
            }
            rows.scores(run, scores)
            for key in scores:
                rows.generation(run, key, 0, f"{model} says {key} " + "on and on " * 20,
                                **dict.fromkeys(names))  # fmt: skip
    for place in range(20):  # the prompts of `shared` are those of `one`
        own, other = rows.prompt("shared", f"shared{place}"), rows.prompt("one", f"one{place}")
        rows.add("prompt_link", ("shared", place), prompt_id=own, canonical_prompt_id=other,
                 method="same text")  # fmt: skip
    rows.describe("marks", rows.metric("marks"), kind="bounded", high=10.0)
    rows.clusters(
        "marks", {f"c{label}": [f"m{3 * label + i}" for i in range(3)] for label in range(4)}
    )
    for model in MODELS:
        for temperature in (0.0, 1.0):
            scores = {f"m{place}": float(dice.randint(0, 10)) for place in range(12)}
            rows.scores(rows.run(model, "marks", temperature=temperature), scores,
                        rows.metric("marks"))  # fmt: skip
    for name, n in (("left", 10), ("right", 25)):
        rows.describe(name, rows.metric())
        for model in ("lab/p", "lab/q"):
            scores = {f"{name}{place}": dice.random() for place in range(n)}
            rows.scores(rows.run(model, name), scores)
    return rows
