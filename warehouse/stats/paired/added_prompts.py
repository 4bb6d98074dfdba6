"""The interval of a mean difference of bounded scores of which many are alike: two
prompts are added.

Where few prompts differ, those of a sample may not differ at all, and Student's t takes
its error from these: of 1 000 prompts, 2 of which are expected to differ, 95 % covered
.79 to .86. A prompt that is won and one that is lost are added (Bonett and Price 2012,
for 0/1 scores), which covered .948 or more (statistics.md §21 b).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from warehouse.stats.core.inputs import TIE, Bounds, FloatArray, finite_bounds
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.core.results import Interval

ADDED_PROMPTS = "added_prompts"
#: Share of equal differences from which on t is not enough.
TIED = 1 / 3


def width_of(bounds: Bounds | None) -> float:
    """Of the range of scores: that of their bounds, 1 without any, as of 0/1 scores."""
    limits = finite_bounds(bounds)
    if limits is None:
        return 1.0
    return limits[1] - limits[0]


def are_tied(differences: FloatArray) -> bool:
    """Whether a third or more of the differences are one number, as at least one of −1,
    0 and 1 always is.

    Args:
        differences: of each prompt, shape (n,), n at least 1.
    """
    scale = float(np.abs(differences).max()) or 1.0
    _, counts = np.unique(np.round(differences / scale / TIE) * TIE, return_counts=True)
    return bool(counts.max() >= TIED * len(differences))


def added_prompts(differences: FloatArray, width: float, level: float) -> Interval:
    """m̃ ± z·√((Σd² + 2r²)/ñ − m̃²)/√ñ within ±r, m̃ = Σd/ñ, ñ = n + 2.

    Args:
        differences: of each prompt, within ±``width``, shape (n,).
        width: r, of the range of the scores.
        level: nominal coverage, in (0, 1).
    """
    n = len(differences) + 2
    d = differences / width
    mean = float(d.sum()) / n
    error = math.sqrt(max(0.0, (float(d @ d) + 2) / n - mean**2) / n)
    half = z_quantile(level) * error
    low, high = max(-1.0, mean - half), min(1.0, mean + half)
    return Interval(width * low, width * high, level, ADDED_PROMPTS)


def within_range(interval: Interval | None, width: float | None) -> Interval | None:
    """An interval of a difference within ± the range of the scores; as it is without
    one."""
    if interval is None or width is None:
        return interval
    return replace(
        interval, low=max(-width, interval.low), high=min(width, interval.high)
    )
