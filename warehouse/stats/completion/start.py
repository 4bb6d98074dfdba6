"""Where the sweeps begin: one factor, fitted to all figures jointly (statistics.md §24
A).

z = d_j + a_j θ_i + e. Jointly and not model by model: blocks of benchmarks that few
models link come on one scale only so.
"""

from __future__ import annotations

import numpy as np

from warehouse.stats.completion.table import Table
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.published_figures import IntArray
from warehouse.stats.items.scale_steps import (
    FIRST_DAMPING,
    Parameters,
    Slopes,
    damped_step,
    linearised,
)

#: Steps, and the least and the first s².
STEPS, LEAST_VARIANCE, FIRST_VARIANCE = 25, 1e-4, 0.16


def one_factor(table: Table, steps: int = STEPS) -> Parameters:
    """θ, ln a, d and s² where Σ(z − d − aθ)²/(2(s² + κ)) and the priors are least, s²
    the sum of squares over max(N − M − 2J, N/4).

    Args:
        table: of which each benchmark has a figure.
        steps: that are made, by definition and without a rule of stopping.
    """
    model, benchmark = np.nonzero(table.has)
    logits, known = table.logits[model, benchmark], table.known[model, benchmark]
    n, (count, width) = len(logits), table.shape
    free = max(n - count - 2 * width, n / 4)
    means = np.bincount(benchmark, logits, width) / table.has.sum(axis=0)
    now = Parameters(np.zeros(count), np.zeros(width), means, FIRST_VARIANCE)

    def loss(at: Parameters) -> float:
        squares = (logits - _expected(at, model, benchmark)) ** 2
        return float((squares / (at.variance + known)).sum()) + at.prior()

    damping = FIRST_DAMPING
    for _ in range(steps):
        residuals = logits - _expected(now, model, benchmark)
        slopes = _slopes(now, model, benchmark)
        weights = 1 / (now.variance + known)
        system, gradient = linearised(now, model, benchmark, slopes, weights, residuals)
        moved, damping = damped_step(now, system, gradient, loss, damping)
        left = logits - _expected(moved, model, benchmark)
        variance = max(float(left @ left) / free, LEAST_VARIANCE)
        now = Parameters(moved.theta, moved.log_a, moved.d, variance)
    return now


def _expected(at: Parameters, model: IntArray, benchmark: IntArray) -> FloatArray:
    expected: FloatArray = (
        at.d[benchmark] + np.exp(at.log_a[benchmark]) * at.theta[model]
    )
    return expected


def _slopes(at: Parameters, model: IntArray, benchmark: IntArray) -> Slopes:
    steep = np.exp(at.log_a[benchmark])
    return Slopes(steep, steep * at.theta[model], np.ones(len(model)))
