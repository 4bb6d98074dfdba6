"""Steps of Gauss and Newton to one ability of each model and a line of each benchmark
(statistics.md §13b, §24): models are profiled out, so that a step takes the time of the
figures and of a system of the benchmarks alone.

Whoever fits says what is expected of a figure and how that changes with ability, ln a
and d; the priors on them are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.published_figures import IntArray

#: Standard deviations of the priors on ln a and d, as for items (§13); θ has 1.
SD_LOG_A, SD_D = 0.5, 3.0
#: Where the damping of a step begins.
FIRST_DAMPING = 1e-3
_ROUNDING, _MOST_DAMPED = 1e-12, 1e6


@dataclass(frozen=True, eq=False)
class Parameters:
    """θ, ln a, d and s², before the abilities are put into the frame of the pool."""

    theta: FloatArray
    log_a: FloatArray
    d: FloatArray
    variance: float

    def prior(self) -> float:
        """Twice what the priors add to the loss."""
        return float(
            (self.theta**2).sum()
            + (self.log_a**2).sum() / SD_LOG_A**2
            + (self.d**2).sum() / SD_D**2
        )


Fitted = TypeVar("Fitted", bound=Parameters)


@dataclass(frozen=True, eq=False)
class System:
    """The information of a fit: of each model, of benchmarks (ln a, then d), and
    between the two."""

    models: FloatArray
    between: FloatArray
    benchmarks: FloatArray

    def profiled(self) -> FloatArray:
        """The benchmarks' information without that of the models."""
        profiled: FloatArray = self.benchmarks - self.between.T @ self.shares()
        return profiled

    def shares(self) -> FloatArray:
        """By how much a benchmark's parameters move an ability, shape (M, 2J)."""
        shares: FloatArray = self.between / self.models[:, None]
        return shares

    def damped(self, by: float) -> System:
        """The system of a shorter step."""
        more = np.diag(np.diag(self.benchmarks) * by)
        return System(self.models * (1 + by), self.between, self.benchmarks + more)


@dataclass(frozen=True, eq=False)
class Slopes:
    """Of each figure's expected value, by ability, ln a and d."""

    ability: FloatArray
    log_a: FloatArray
    d: FloatArray


def linearised(
    at: Parameters,
    model: IntArray,
    benchmark: IntArray,
    slopes: Slopes,
    weights: FloatArray,
    residuals: FloatArray,
) -> tuple[System, tuple[FloatArray, FloatArray]]:
    """The system of a step, and the gradient (of models, of benchmarks).

    Args:
        at: the parameters now.
        model: number of the model of each figure.
        benchmark: number of the benchmark of each.
        slopes: of what is expected of each.
        weights: 1/variance of each.
        residuals: each less what is expected.
    """
    count, width, j = len(at.theta), len(at.d), benchmark
    by_model, by_slope, by_difficulty = slopes.ability, slopes.log_a, slopes.d
    weighted = weights * residuals
    between = np.zeros((count, 2 * width))
    between[model, j] = weights * by_model * by_slope
    between[model, width + j] = weights * by_model * by_difficulty
    benchmarks = np.zeros((2 * width, 2 * width))
    a_rows, d_rows = np.arange(width), np.arange(width, 2 * width)
    benchmarks[a_rows, a_rows] = (
        np.bincount(j, weights * by_slope**2, width) + 1 / SD_LOG_A**2
    )
    benchmarks[d_rows, d_rows] = (
        np.bincount(j, weights * by_difficulty**2, width) + 1 / SD_D**2
    )
    benchmarks[a_rows, d_rows] = benchmarks[d_rows, a_rows] = np.bincount(
        j, weights * by_slope * by_difficulty, width
    )
    models = (np.bincount(model, weights * by_model**2, count) + 1).astype(np.float64)
    of_models = np.bincount(model, weighted * by_model, count) - at.theta
    of_slopes = np.bincount(j, weighted * by_slope, width) - at.log_a / SD_LOG_A**2
    of_difficulties = np.bincount(j, weighted * by_difficulty, width) - at.d / SD_D**2
    gradient = of_models, np.concatenate([of_slopes, of_difficulties])
    return System(models, between, benchmarks), gradient


def damped_step(
    at: Fitted,
    system: System,
    gradient: tuple[FloatArray, FloatArray],
    loss: Callable[[Fitted], float],
    damping: float,
) -> tuple[Fitted, float]:
    """The parameters after a step that does not raise the loss, and the damping of the
    next one."""
    before = loss(at)
    while True:
        moved = _step(at, system.damped(damping), gradient)
        if loss(moved) <= before * (1 + _ROUNDING) or damping > _MOST_DAMPED:
            return moved, max(damping / 10, _ROUNDING)
        damping *= 10


def _step(
    at: Fitted, system: System, gradient: tuple[FloatArray, FloatArray]
) -> Fitted:
    of_models, of_benchmarks = gradient
    right = of_benchmarks - system.between.T @ (of_models / system.models)
    benchmarks = np.linalg.solve(system.profiled(), right)
    models = (of_models - system.between @ benchmarks) / system.models
    width = len(at.d)
    return replace(
        at,
        theta=at.theta + models,
        log_a=at.log_a + benchmarks[:width],
        d=at.d + benchmarks[width:],
    )
