"""How many unscored prompts of the better of two would have to be wrong, for the
difference not to be shown any more."""

from __future__ import annotations

import numpy as np

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.quantiles import t_quantile


def tips_at(
    differences: FloatArray,
    others: FloatArray,
    *,
    mean: float,
    worst: float,
    level: float = 0.95,
) -> int | None:
    """The smallest number of unscored prompts of the better that, at the worst score,
    leave the paired t test without a verdict; its other unscored ones stand at its mean
    (statistics.md §22).

    Which of them are wrong is chosen so that fewest do: those first on which the other
    scores highest. The sum of the differences is the same for any choice of as many,
    and their spread is largest for this one, so that no other choice of as many tips
    the test where this does not.

    Args:
        differences: of prompts that both have, the better minus the other, shape (n,);
            higher is better.
        others: scores of the other on prompts that the better has none of, shape (k,).
        mean: score at which the better's unscored prompts stand.
        worst: score of one that is wrong, at most ``mean``.
        level: of the test; it shows a difference where p is at most 1 - ``level``.

    Returns:
        In 0 to k; None where even all k wrong do not tip it, or nothing is unscored.
    """
    k, n = len(others), len(differences) + len(others)
    if not k or n < 2:
        return None
    at_mean = mean - np.sort(others)[::-1]
    at_worst = worst - np.sort(others)[::-1]
    start_sum = float(differences.sum() + at_mean.sum())
    start_squares = float(differences @ differences + at_mean @ at_mean)
    steps = np.concatenate([[0.0], np.cumsum(at_worst - at_mean)])
    square_steps = np.concatenate([[0.0], np.cumsum(at_worst**2 - at_mean**2)])
    means = (start_sum + steps) / n
    spread = np.maximum((start_squares + square_steps) / n - means**2, 0.0)
    errors = np.sqrt(spread / (n - 1))
    is_open = np.abs(means) < t_quantile(level, n - 1) * errors
    found = np.flatnonzero(is_open)
    if len(found):
        return int(found[0])
    return None
