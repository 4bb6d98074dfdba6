"""Simulate how many dimensions `irt dimensions` finds, and write the table of
docs/reference/methods_items.md.

Answers of a 2PL whose true number of dimensions is known; in each cell three rules
choose among 1 to 4: the least held-out loss, the fewest within a standard error of it
(of the least loss itself, and of the difference).
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import calibration.script as script
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from warehouse.stats.items.dimension_choice import DimensionError, dimension_errors
from warehouse.stats.items.responses import as_responses

TRIED = (1, 2, 3, 4)


class Cell(NamedTuple):
    """Simulated data: models, settings of each (which share abilities), prompts, true
    dimensions, and the standard deviation of slopes on the second and later ones (the
    first has 1, lognormal)."""

    models: int
    settings: int
    prompts: int
    dimensions: int
    strength: float


SIZES = ((17, 1, 300), (40, 2, 200), (60, 1, 200), (140, 1, 300))
CELLS = [
    Cell(*size, *truth)
    for size in SIZES
    for truth in ((1, 0.0), (2, 0.5), (2, 1.0), (3, 1.0))
]
CELLS.append(Cell(17, 1, 2000, 1, 0.0))


def answers(rng: np.random.Generator, cell: Cell) -> NDArray[np.float64]:
    """Right and wrong, models x prompts."""
    theta = np.repeat(
        rng.normal(size=(cell.models, cell.dimensions)), cell.settings, axis=0
    )
    alpha = rng.normal(0, cell.strength, (cell.prompts, cell.dimensions))
    alpha[:, 0] = np.exp(rng.normal(0, 0.4, cell.prompts))
    chances = expit(theta @ alpha.T + rng.normal(0, 1.2, cell.prompts))
    return (rng.random(chances.shape) < chances).astype(float)


def chosen(tries: list[DimensionError]) -> dict[str, int]:
    """What each rule takes."""
    least = min(tries, key=lambda one: one.log_loss)
    return {
        "least loss": least.n_dimensions,
        "its own error": next(
            one.n_dimensions
            for one in tries
            if one.log_loss <= least.log_loss + least.standard_error
        ),
        "error of the difference": next(
            one.n_dimensions for one in tries if one.chosen
        ),
    }


def simulate(cell: Cell, runs: int, seed: int) -> dict[str, Counter[int]]:
    """How often each rule takes each number."""
    found: dict[str, Counter[int]] = {}
    groups = np.repeat(np.arange(cell.models), cell.settings)
    for run in range(runs):
        rng = np.random.default_rng([seed, run, *(round(10 * part) for part in cell)])
        tries = dimension_errors(
            as_responses(answers(rng, cell)), TRIED, (10,), groups=groups, seed=run
        )
        for rule, number in chosen(tries).items():
            found.setdefault(rule, Counter())[number] += 1
    return found


def main() -> None:
    counts = {
        "runs": (20, "of each cell"),
        "cells": (len(CELLS), "only the first so many"),
    }
    options = script.parser_of(__doc__, "methods_items.md", counts).parse_args()
    lines = [
        "| models x prompts | true D | slopes | least loss | its own error | error of "
        "the difference |",
        "| --- | ---: | ---: | --- | --- | --- |",
    ]
    for cell in CELLS[: options.cells]:
        by_rule = simulate(cell, options.runs, options.seed)
        taken = [" ".join(str(by_rule[rule][one]) for one in TRIED) for rule in by_rule]
        size = (
            f"{cell.models}{f' of {cell.settings} settings' * (cell.settings > 1)} x "
            f"{cell.prompts}"
        )
        strength = f"{cell.strength:g}" if cell.dimensions > 1 else ""
        lines.append(
            script.told(script.row([size, f"{cell.dimensions}", strength, *taken]))
        )
    script.write_between(options.output, script.MARKS, lines)


if __name__ == "__main__":
    main()
