"""Does the better of two recipes at a small scale stay the better one at a large scale?

An interval over recipes, not over pairs: the pairs of R recipes are not R(R−1)/2 independent ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_level, as_scores
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.result_base import Figures

#: Fewer recipes give no figure.
LEAST_RECIPES = 6


@dataclass(frozen=True)
class DecisionAccuracy(Figures):
    """Share of pairs of recipes that both scales order alike.

    Attributes:
        accuracy: over pairs that are not tied at the large scale; a tie at the small one counts
            ½. None below 6 recipes, and where all are tied.
        ci_low: lower end of the logit jackknife interval over recipes.
        ci_high: upper end.
        standard_error: of the jackknife over recipes, with its floor.
        n_recipes: R.
        n_pairs: pairs that are not tied at the large scale.
        level: of the interval.
        reason: why there is no figure.
    """

    accuracy: float | None
    ci_low: float | None
    ci_high: float | None
    standard_error: float | None
    n_recipes: int
    n_pairs: int
    level: float
    reason: str


def decision_accuracy(small: ArrayLike, large: ArrayLike, *, level: float = 0.95) -> DecisionAccuracy:
    """Decision accuracy from a small to a large scale, with an interval over recipes.

    Args:
        small: one figure per recipe at the small scale, shape (R,), oriented alike.
        large: of the same recipes at the large scale, shape (R,).
        level: of the interval, in (0, 1).

    Raises:
        StatisticsError: lengths that differ, or figures that are not finite.
    """
    s, g, level = as_scores(small, "small"), as_scores(large, "large"), as_level(level)
    if len(s) != len(g):
        raise StatisticsError(f"`small` has {len(s)} recipes, `large` {len(g)}: the same ones are needed")
    n = len(s)
    alike, counted = _pairs(s, g)
    n_pairs = int(counted.sum()) // 2
    if n < LEAST_RECIPES or n_pairs == 0:
        what = (
            f"{n} recipes: at least {LEAST_RECIPES} are needed"
            if n_pairs
            else "all recipes are tied at the large scale"
        )
        return DecisionAccuracy(None, None, None, None, n, n_pairs, level, what)
    hits, pairs = alike.sum(axis=1), counted.sum(axis=1)
    total_hits, total = hits.sum() / 2, pairs.sum() / 2
    accuracy = float(total_hits / total)
    if (total - pairs <= 0).any():
        return DecisionAccuracy(None, None, None, None, n, n_pairs, level, "without one recipe all others are tied")
    without = (total_hits - hits) / (total - pairs)
    pseudo = n * accuracy - (n - 1) * without
    d = min(max(accuracy, 0.5 / n), 1 - 0.5 / n)
    floor = math.sqrt(d * (1 - d) / (n * (n - 1) / 2))
    error = max(float(np.std(pseudo, ddof=1)) / math.sqrt(n), floor)
    middle, half = math.log(d / (1 - d)), t_quantile(level, n - 1) * error / (d * (1 - d))
    low, high = (1 / (1 + math.exp(-end)) for end in (middle - half, middle + half))
    return DecisionAccuracy(accuracy, low, high, error, n, n_pairs, level, "")


def _pairs(s: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Agreement of each pair (1, 0, ½) and whether it counts, both symmetric, shape (R, R)."""
    of_small, of_large = (np.sign(x[:, None] - x) for x in (s, g))
    counted = of_large != 0
    alike = np.where(of_small == 0, 0.5, of_small == of_large) * counted
    return alike, counted.astype(np.float64)


def reliability(noise_variance: float, recipe_variance: float) -> float:
    """Share of the spread of recipes' figures that is not noise: max(0, 1 − v/s²).

    Args:
        noise_variance: of a single figure, at least 0.
        recipe_variance: s² of the recipes' figures, above 0.

    Raises:
        StatisticsError: arguments out of range.
    """
    if not (noise_variance >= 0 and recipe_variance > 0):
        raise StatisticsError(f"variances must be at least 0 and above 0, found {noise_variance}, {recipe_variance}")
    return max(0.0, 1 - noise_variance / recipe_variance)


def decision_ceiling(reliability_small: float, reliability_large: float) -> float:
    """Highest decision accuracy that noise leaves possible: ½ + asin(√(Rel_s·Rel_l))/π.

    Supposes normally distributed quality without ties; a ceiling below .6 means that the benchmark
    cannot decide, a high one promises nothing.

    Args:
        reliability_small: at the small scale, in [0, 1].
        reliability_large: at the large scale, in [0, 1].

    Raises:
        StatisticsError: arguments out of range.
    """
    for value in (reliability_small, reliability_large):
        if not 0 <= value <= 1:
            raise StatisticsError(f"a reliability lies in [0, 1], found {value}")
    return 0.5 + math.asin(math.sqrt(reliability_small * reliability_large)) / math.pi
