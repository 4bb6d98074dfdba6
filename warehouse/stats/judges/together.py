"""Intervals of all differences of several corrected means, which hold together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warehouse.stats.core.inputs import FloatArray, as_level, as_scores, check_length


def level_of_pairs(n: int, level: float = 0.95) -> float:
    """Level of a single interval with which those of all differences of n means hold together (Bonferroni).

    Examples:
        >>> level_of_pairs(5)
        0.995
    """
    return 1 - (1 - as_level(level)) / max(1, n * (n - 1) // 2)


def differences_of_means(
    estimates: Sequence[float], low: Sequence[float], high: Sequence[float], influences: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Differences of means by the intervals of each (MOVER: Zou and Donner 2008), on whose scale they so are.

    Symmetric intervals give Student's. Near a bound, where Student's of a difference is too short, they do not.

    Args:
        estimates: of M means.
        low: end of the interval of each, at the level that a difference is to have; ``high`` the other.
        influences: ψ of each mean, over the same units (or clusters) for all.

    Returns:
        lower and upper ends, shape (M, M), row minus column.
    """
    theta, lower, upper = (
        as_scores(values, name) for values, name in ((estimates, "estimates"), (low, "low"), (high, "high"))
    )
    for values, name in ((lower, "low"), (upper, "high"), (influences, "influences")):
        check_length(len(values), len(theta), name)
    under, over = np.maximum(theta - lower, 0.0), np.maximum(upper - theta, 0.0)
    psi = np.stack([as_scores(values, "influences") for values in influences])
    norms = np.sqrt((psi**2).sum(axis=1))
    norms = np.where(norms > 0, norms, 1.0)
    correlation = np.clip((psi / norms[:, None]) @ (psi / norms[:, None]).T, -1, 1)
    both = 2 * correlation * np.outer(under, over)
    square = np.maximum(under[:, None] ** 2 + over**2 - both, 0.0)
    np.fill_diagonal(square, 0.0)
    gap = theta[:, None] - theta
    return gap - np.sqrt(square), gap + np.sqrt(square.T)


def ranks_left(low: FloatArray, high: FloatArray, *, higher_is_better: bool = True) -> list[tuple[int, int]]:
    """The best and the worst rank that intervals of all differences leave each mean."""
    above, below = (low > 0).sum(axis=1), (high < 0).sum(axis=1)
    better, worse = (below, above) if higher_is_better else (above, below)
    return [(1 + int(ahead), len(better) - int(behind)) for ahead, behind in zip(better, worse, strict=True)]
