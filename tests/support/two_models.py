"""A store with two models that differ: one draw and several, shared prompts, clusters,
texts."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tests.support.builders import StoreRows
from tests.support.world import build_world

MODELS = ("lab/x", "lab/y")
#: Columns that a generation of theirs has besides.
GENERATION = (
    "extracted_answer",
    "error",
    "explanation",
    "latency",
    "input_tokens",
    "output_tokens",
    "cost",
)


def build_two_models() -> StoreRows:
    """The world, and two models on three benchmarks of one scale and one of another."""
    rows, dice = build_world(), random.Random(21)
    for name, n, draws in (
        ("one", 60, 1),
        ("many", 25, 4),
        ("same", 5, 1),
        ("shared", 20, 1),
    ):
        rows.describe(name, rows.metric())
        for model, skill in zip(MODELS, (0.75, 0.55), strict=True):
            run = rows.run(model, name)
            scores = {
                f"{name}{place}": [
                    1.0 if name == "same" else float(dice.random() < skill)
                    for _ in range(draws)
                ]
                for place in range(n)
            }
            rows.scores(run, scores)
            for key in scores:
                rows.generation(
                    run,
                    key,
                    0,
                    f"{model} says {key} " + "on and on " * 20,
                    **dict.fromkeys(GENERATION),
                )
    for place in range(20):  # the prompts of `shared` are those of `one`
        own, other = (
            rows.prompt("shared", f"shared{place}"),
            rows.prompt("one", f"one{place}"),
        )
        rows.add(
            "prompt_link",
            ("shared", place),
            prompt_id=own,
            canonical_prompt_id=other,
            method="same text",
        )
    rows.describe("marks", rows.metric("marks"), kind="bounded", high=10.0)
    rows.clusters(
        "marks",
        {f"c{label}": [f"m{3 * label + i}" for i in range(3)] for label in range(4)},
    )
    for model in MODELS:
        for temperature in (0.0, 1.0):
            scores = {f"m{place}": float(dice.randint(0, 10)) for place in range(12)}
            rows.scores(
                rows.run(model, "marks", temperature=temperature),
                scores,
                rows.metric("marks"),
            )
    _options(rows, dice)
    _documents(rows, dice)
    _overflow(rows)
    for prompt in rows.rows["prompt"]:
        colours = (
            ["red", "green", "blue"] if prompt["tool_id"].startswith("left") else None
        )
        prompt["choices"] = None if prompt["tool_id"] == "left9" else colours
    return rows


def _overflow(rows: StoreRows) -> None:
    """Two models on a plain benchmark, and on one whose figures are too large for a
    number."""
    metrics = {"plain": rows.metric(), "steep": rows.metric("steep", link="exp_neg")}
    for name, metric in metrics.items():
        rows.describe(name, metric)
        for number, model in enumerate(("lab/u", "lab/v")):
            value = 0.5 if name == "plain" else -800.0
            scores = {
                f"{name}{place}": value * (1 + number * place / 10)
                for place in range(6)
            }
            rows.scores(rows.run(model, name), scores, metric)


def _documents(rows: StoreRows, dice: random.Random) -> None:
    """Two benchmarks on the same four documents; one model does well on some of them."""
    effect = {f"d{place}": dice.uniform(-0.4, 0.4) for place in range(4)}
    for name in ("doc/1", "doc/2"):
        rows.describe(name, rows.metric())
        keys = {
            label: [f"{name}{label}{place}" for place in range(5)] for label in effect
        }
        rows.clusters(name, keys, name="document")
        for model, sign in (("lab/r", 1), ("lab/s", 0)):
            scores = {
                key: 0.5 + sign * effect[label] + dice.uniform(-0.05, 0.05)
                for label in keys
                for key in keys[label]
            }
            rows.scores(rows.run(model, name), scores)
        for key in sum(keys.values(), []) if name == "doc/2" else []:
            own, old = rows.prompt(name, key), rows.prompt("doc/old", key)
            rows.add(
                "prompt_link",
                ("doc", key),
                prompt_id=own,
                canonical_prompt_id=old,
                method="same text",
            )


def _options(rows: StoreRows, dice: random.Random) -> None:
    """Two models on two benchmarks without a common prompt, one of them with answer
    options."""
    for name, n in (("left", 10), ("right", 25)):
        rows.describe(name, rows.metric())
        for model in ("lab/p", "lab/q"):
            scores = {f"{name}{place}": dice.random() for place in range(n)}
            run = rows.run(model, name)
            rows.scores(run, scores)
            if name == "left":
                _choices(rows, run, scores)


def _choices(rows: StoreRows, run: int, keys: Iterable[str]) -> None:
    """Log-likelihoods of three options; run r finds option (prompt + r) mod 3 most
    likely."""
    for place, key in enumerate(keys):
        for option in range(3):
            rows.rows["choice"].append(
                {
                    "run_id": run,
                    "prompt_id": rows.prompt("left", key),
                    "variant_id": rows.variant(),
                    "draw": 0,
                    "choice_index": option,
                    "loglikelihood": -1.0
                    if option == (place + run) % 3
                    else -2.0 - option,
                }
            )


ROWS = build_two_models()


def draws(benchmark: str, model: str) -> dict[int, list[float]]:
    """Prompt (that it is linked to) -> draws, of the one run there."""
    link = {
        row["prompt_id"]: row["canonical_prompt_id"] for row in ROWS.rows["prompt_link"]
    }
    (run,) = [
        row["id"]
        for row in ROWS.rows["run"]
        if row["benchmark_id"] == ROWS.benchmark(benchmark)
        and row["checkpoint_id"] == ROWS._checkpoint(model, "", "", None, None)
    ]
    found: dict[int, list[float]] = {}
    for score in ROWS.rows["score"]:
        if score["run_id"] == run:
            found.setdefault(
                link.get(score["prompt_id"], score["prompt_id"]), []
            ).append(score["value"])
    return dict(sorted(found.items()))


def means(
    benchmark: str, models: tuple[str, str] = MODELS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = (
        np.array([np.mean(d) for d in draws(benchmark, m).values()]) for m in models
    )
    return a, b
