"""Compiled loops over pairs and draws. Importing this file loads numba: import it where it is needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from warehouse.stats.core.compiled import compiled


@compiled
def _squares(n: Any, other_n: Any, h: Any, other_h: Any, spread: float, least: float, out: Any) -> None:
    """T*² of a pair in each draw."""
    for draw in range(len(out)):
        total = n[draw] - other_n[draw]
        left = spread + total * (h[draw] - other_h[draw])
        out[draw] = total * total / (left if left > least else 0.0)


@compiled
def _squares_by_slope(n: Any, other_n: Any, slope: float, spread: float, least: float, out: Any) -> None:
    """The same where H is a multiple of N."""
    for draw in range(len(out)):
        total = n[draw] - other_n[draw]
        total *= total
        left = spread + total * slope
        out[draw] = total / (left if left > least else 0.0)


@compiled
def _raise(values: Any, by: Any, space: Any) -> None:
    """The larger of two numbers in each draw; by way of a third array, or the loop is not vectorised."""
    for draw in range(len(by)):
        space[draw] = by[draw] if by[draw] > values[draw] else values[draw]
    for draw in range(len(by)):
        values[draw] = space[draw]


@compiled
def _reaching(values: Any, reach: float) -> int:
    count = 0
    for draw in range(len(values)):
        count += values[draw] >= reach
    return count


@compiled
def walk(
    n: Any,
    h: Any,
    slopes: Any,
    rows: Any,
    models: Any,
    spread: Any,
    share: float,
    reach: Any,
    best: Any,
    running: Any,
    counts: Any,
) -> None:
    """`warehouse.stats.multiple.running_max.walk_pairs`, pair by pair."""
    t, space = np.empty(len(running)), np.empty(len(running))
    for k in range(len(spread)):
        a, b, least = rows[0, k], rows[1, k], share * spread[k]
        if len(slopes):
            _squares_by_slope(n[a], n[b], slopes[k], spread[k], least, t)
        else:
            _squares(n[a], n[b], h[a], h[b], spread[k], least, t)
        _raise(best[models[0, k]], t, space)
        _raise(best[models[1, k]], t, space)
        if len(reach):
            _raise(running, t, space)
            counts[k] = _reaching(running, reach[k])
