"""Simulate what `warehouse horizon` covers, and write the tables of
docs/reference/methods_horizon.md.

Tasks of several families, each with an effect of its own (standard deviations 1 and 1
unless said); runs are right by a logistic curve on log2 minutes with slope -0.6. An
interval covers where it holds what the same penalised fit tends to with many such
tasks. Beside it the trend of ten models that double every 200 days, and how often a
curve that does not bend is said to.
"""

from __future__ import annotations

from typing import NamedTuple

import calibration.script as script
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from warehouse.stats import horizon_trend, time_horizons

SLOPE, DOUBLING, DAYS = -0.6, 200.0, np.linspace(0, 1000, 10)
INTERVALS = ("ftr", "fieller")


class Cell(NamedTuple):
    """A design: families, tasks of each, runs of a task, penalty, log2 of the true
    horizon, and the standard deviation of families and of tasks."""

    families: int
    tasks: int
    runs: int
    penalty: float
    log2: float
    spread: float

    @property
    def name(self) -> str:
        return (
            f"{self.families} x {self.tasks} | {self.runs} | {self.penalty:g} | "
            f"{self.log2:g} | {self.spread:g}"
        )


CELLS = [
    Cell(36, 2, 10, 0.1, 5, 1),
    Cell(36, 2, 10, 1e-5, 5, 1),
    Cell(36, 2, 10, 1.0, 5, 1),
    Cell(20, 2, 10, 0.1, 5, 1),
    Cell(12, 3, 10, 0.1, 5, 1),
    Cell(8, 3, 10, 0.1, 5, 1),
    Cell(36, 1, 1, 0.1, 5, 1),
    Cell(36, 2, 10, 0.1, 5, 0),
    Cell(36, 2, 10, 0.1, 9, 1),
    Cell(36, 2, 10, 0.1, 0, 1),
]


def design(
    rng: np.random.Generator, cell: Cell, models: int
) -> tuple[NDArray[np.float64], ...]:
    """Log2 minutes, families, and the effect of each task on the log-odds of all
    models."""
    family = np.repeat(np.arange(cell.families), cell.tasks)
    x = np.clip(
        rng.normal(4.5, 2, cell.families)[family] + rng.normal(0, 1.5, len(family)),
        0,
        10,
    )
    shared = rng.normal(0, cell.spread, cell.families)[family] + rng.normal(
        0, cell.spread, len(family)
    )
    own = (
        np.zeros((models, len(family)))
        if models == 1
        else rng.normal(0, cell.spread / 2, (models, len(family)))
    )
    return x, family.astype(float), shared + own


def drawn(
    rng: np.random.Generator, cell: Cell, horizons: NDArray[np.float64]
) -> tuple[NDArray[np.float64], ...]:
    """Minutes, families, right and all runs of models with these horizons."""
    x, family, effects = design(rng, cell, len(horizons))
    chances = expit(SLOPE * (x - horizons[:, None]) + effects)
    return (
        2**x,
        family,
        rng.binomial(cell.runs, chances).astype(float),
        np.full(chances.shape, float(cell.runs)),
    )


def limits(cell: Cell, horizons: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log2 of the horizons that the fit tends to."""
    many = cell._replace(families=20_000)
    fits = time_horizons(
        *drawn(np.random.default_rng(99), many, horizons),
        penalty=cell.penalty,
        interval="ftr",
        n_resamples=1,
    )
    return np.array([np.log2(fit.horizons[0].estimate or np.nan) for fit in fits])


def covers(low: float | None, high: float | None, truth: float) -> bool:
    return (low is None or low <= truth) and (high is None or truth <= high)


def simulate(cell: Cell, runs: int, seed: int) -> str:
    """Coverage of both intervals, how often each is open, and rejections of a straight
    curve."""
    truth = 2 ** limits(cell, np.array([cell.log2]))[0]
    held, is_open = (dict.fromkeys(INTERVALS, 0) for _ in range(2))
    fits_made = bent = 0
    for run in range(runs):
        data = drawn(np.random.default_rng([seed, run]), cell, np.array([cell.log2]))
        for name in INTERVALS:
            (fit,) = time_horizons(
                *data,
                q=(0.5,),
                penalty=cell.penalty,
                interval=name,
                n_resamples=299,
                seed=run,
            )
            held[name] += bool(
                not fit.reason
                and covers(fit.horizons[0].low, fit.horizons[0].high, truth)
            )
            is_open[name] += bool(
                fit.reason or "unbounded" in " ".join(fit.horizons[0].flags)
            )
        fits_made += not fit.reason
        bent += (fit.curvature_p or 1) < 0.05
    shares = (
        [held[name] / max(1, fits_made) for name in INTERVALS],
        [is_open[name] / runs for name in INTERVALS],
    )
    return script.row([cell.name], [*shares[0], *shares[1], bent / max(1, fits_made)])


def simulate_trend(cell: Cell, runs: int, seed: int) -> str:
    """Coverage of the doubling time that fits of many tasks give, and how often its
    interval is open."""
    horizons = 1 + DAYS / DOUBLING
    truth = 1 / np.polyfit(DAYS, limits(cell, horizons), 1)[0]
    held = is_open = 0
    for run in range(runs):
        data = drawn(np.random.default_rng([seed, run]), cell, horizons)
        fits = time_horizons(
            *data, q=(0.5,), penalty=cell.penalty, n_resamples=299, seed=run
        )
        trend = horizon_trend(DAYS, [fit.horizons[0] for fit in fits])
        held += bool(trend.doubling_days and covers(trend.low, trend.high, truth))
        is_open += trend.low is None or trend.high is None
    return script.row(
        [f"{cell.families} x {cell.tasks}", f"{cell.runs}", f"{truth:.0f}"],
        [held / runs, is_open / runs],
    )


def main() -> None:
    counts = {
        "runs": (200, "of each cell"),
        "cells": (len(CELLS), "only the first so many"),
    }
    options = script.parser_of(__doc__, "methods_horizon.md", counts).parse_args()
    lines = [
        f"{options.runs} samples a cell; coverage of 95 %, `ftr` with 299 resamples.",
        "",
        "| families x tasks | runs | penalty | log2 h | effects | ftr | fieller | ftr "
        "open | fieller open | curved |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            simulate(cell, options.runs, options.seed)
            for cell in CELLS[: options.cells]
        ),
        "",
        "| trend: families x tasks | runs | days | coverage | open |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            simulate_trend(CELLS[at], options.runs, options.seed)
            for at in (0, 4)
            if at < options.cells
        ),
    ]
    script.write_between(options.output, script.MARKS, lines)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
