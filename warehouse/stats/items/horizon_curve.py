"""The curve of success against length of one agent, its resamples, and intervals of where
it passes a probability (statistics.md §18)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.quantiles import t_p_value, t_quantile

#: The penalty that stands for none.
NO_PENALTY = 1e-5
FLAT = -1e-9  # a slope that is 0 but for rounding
_STEPS, _CLOSE = 200, 1e-10
#: Samples × tasks that are fitted at once; families × tasks above which the bend is not
#: asked for.
_CELLS, _MOST = 1 << 20, 20_000_000


@dataclass(frozen=True)
class Agent:
    """What an agent did: tasks with runs; weights are of a run."""

    x: FloatArray
    family: NDArray[np.int64]
    solved: FloatArray
    runs: FloatArray
    weight: FloatArray

    def sums(self) -> tuple[FloatArray, FloatArray]:
        """Σw and Σwy of each task, shape (1, T)."""
        return (self.runs * self.weight)[None], (self.solved * self.weight)[None]

    def jackknife(self, penalty: float, *, bend: bool = False) -> FloatArray | None:
        """Curves without each family in turn, shape (G, 2 or 3); None where one is left
        with one outcome or length."""
        names = np.unique(self.family)
        total, right = self.sums()
        fewest_lengths = 2
        if bend:
            fewest_lengths = 3
        curves = []
        for block in _blocks(len(names), len(self.x)):
            kept = names[block, None] != self.family
            solved, runs = kept @ self.solved, kept @ self.runs
            of_one_outcome = (solved == 0) | (solved == runs)
            lengths = min(len(np.unique(self.x[group])) for group in kept)
            if of_one_outcome.any() or lengths < fewest_lengths:
                return None
            curves.append(
                newton(self.x, kept * total, kept * right, penalty, bend=bend)
            )
        return np.concatenate(curves)


def newton(
    x: FloatArray,
    total: FloatArray,
    right: FloatArray,
    penalty: float,
    *,
    bend: bool = False,
) -> FloatArray:
    """Coefficients of 1, x (and x²) that maximise Σ(right·η − total·ln(1 + e^η)) −
    penalty/2·β², shape (B, 2 or 3).

    Args:
        x: of each task, shape (T,).
        total: Σw of each sample and task, shape (B, T).
        right: Σwy; each sample has some of both outcomes.
    """
    columns = [np.ones_like(x), x]
    if bend:
        columns.append((x - x.mean()) ** 2)
    design = np.stack(columns, axis=1)
    ridge = np.array([0.0, penalty, 1e-12][: len(columns)])
    squares = (design[:, :, None] * design[:, None, :]).reshape(len(x), -1)
    theta = np.zeros((len(total), len(columns)))
    active = np.arange(len(total))
    for _ in range(_STEPS):
        own, weight = theta[active], total[active]
        logit = np.clip(own @ design.T, -700, 700)
        chance = 1 / (1 + np.exp(-logit))
        slope = (right[active] - weight * chance) @ design - ridge * own
        is_open = np.abs(slope).max(axis=1) > _CLOSE
        active, slope = active[is_open], slope[is_open]
        if not len(active):
            break
        curve = (weight * chance * (1 - chance))[is_open] @ squares
        curve = curve.reshape(-1, len(ridge), len(ridge)) + np.diag(ridge + 1e-15)
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        # shortened so that it always goes up (Sun and Tran-Dinh 2019, the damped step
        # of logistic losses)
        reach = np.abs(step @ design.T).max(axis=1, keepdims=True) + 1e-300
        theta[active] += step * (np.log1p(reach) / reach)
    return theta


def crossing(curves: FloatArray, q: float) -> FloatArray:
    """Where curves pass q, in log2 minutes; +∞ where they do not fall."""
    falling = (curves[:, 1] < FLAT) & np.isfinite(curves[:, 1])
    at = np.full(len(curves), math.inf)
    at[falling] = (_logit(q) - curves[falling, 0]) / curves[falling, 1]
    # of one outcome only, or of no task
    flat = np.isinf(curves[:, 0]) | np.isnan(curves[:, 0])
    return np.where(flat, curves[:, 0], at)


def resampled(
    agent: Agent, copies: NDArray[np.int64], penalty: float, rng: np.random.Generator
) -> FloatArray:
    """Curves of resamples, shape (B, 2). Copies of a task draw their runs anew:
    together a binomial.

    ∓∞ for both coefficients where all runs of a sample failed or succeeded, NaN where
    it has none.
    """
    n = copies * agent.runs.astype(np.int64)
    solved = rng.binomial(n, agent.solved / agent.runs)
    curves = np.full((len(n), 2), np.nan)
    curves[(solved == 0).all(axis=1)] = -math.inf
    curves[(solved == n).all(axis=1)] = math.inf
    curves[~n.any(axis=1)] = np.nan
    mixed = (solved > 0).any(axis=1) & (solved < n).any(axis=1)
    chosen = np.flatnonzero(mixed)
    for block in _blocks(len(chosen), len(agent.x)):
        rows = chosen[block]
        curves[rows] = newton(
            agent.x, n[rows] * agent.weight, solved[rows] * agent.weight, penalty
        )
    return curves


def _blocks(n: int, size: int) -> list[slice]:
    """Slices of n rows of a size, each of which takes little memory."""
    step = max(1, _CELLS // max(1, size))
    return [slice(at, at + step) for at in range(0, n, step)]


def percentiles(logs: FloatArray, level: float) -> tuple[float | None, float | None]:
    """Both ends; None where too many samples are beyond all numbers."""
    defined = logs[~np.isnan(logs)]
    if not len(defined):
        return None, None
    shares = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(defined, shares, method="nearest").tolist()
    return finite_or_none(low), finite_or_none(high)


def finite_or_none(value: float) -> float | None:
    """None in place of an infinite end."""
    if math.isfinite(value):
        return value
    return None


def _cv3(curves: FloatArray) -> FloatArray:
    """Covariance of coefficients by families left out in turn."""
    apart = curves - curves.mean(axis=0)
    variance: FloatArray = (len(curves) - 1) / len(curves) * apart.T @ apart
    return variance


def fieller(
    curve: FloatArray, left: FloatArray | None, q: float, level: float
) -> tuple[float | None, float | None]:
    """All h with (α + βh − logit q)² ≤ t²(V_αα + 2hV_αβ + h²V_ββ), of curves that fall;
    None for an open end."""
    if left is None:
        return None, None
    v = _cv3(left)
    t2 = t_quantile(level, len(left) - 1) ** 2
    above = curve[0] - _logit(q)
    # a h² + 2 b h + c ≤ 0
    a = curve[1] ** 2 - t2 * v[1, 1]
    b = above * curve[1] - t2 * v[0, 1]
    c = above**2 - t2 * v[0, 0]
    inside = b * b - a * c
    if inside <= 0 or a == 0:
        return None, None
    root = math.sqrt(inside)
    first, second = sorted(((-b - root) / a, (-b + root) / a))
    if a > 0:
        return float(first), float(second)
    # the slope may be 0: of the two parts of the set the other one is of curves that
    # rise
    if -above / curve[1] >= second:
        return (float(second), None)
    return (None, float(first))


def _logit(q: float) -> float:
    return math.log(q / (1 - q))


def curvature(agent: Agent) -> tuple[float | None, float | None]:
    """The coefficient of x² and its two-sided p-value.

    Without the penalty: that flattens the line, and x² would make up for it.
    """
    if len(np.unique(agent.family)) * len(agent.x) > _MOST:
        return None, None
    left = agent.jackknife(NO_PENALTY, bend=True)
    if left is None:
        return None, None
    variance = float(_cv3(left)[2, 2])
    if not variance > 0:
        return None, None
    bend = float(newton(agent.x, *agent.sums(), NO_PENALTY, bend=True)[0, 2])
    return bend, t_p_value(bend / math.sqrt(variance), len(left) - 1)
