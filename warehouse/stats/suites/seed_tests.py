"""Tests of two rows of a suite of which one is a mean over training seeds
(statistics.md §20 B, composed)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.rows.seed_difference import RowSeeds, seed_parts


def tests_over_seeds(
    standard_error: FloatArray,
    degrees_of_freedom: FloatArray,
    difference: FloatArray,
    rows: Sequence[RowSeeds],
) -> tuple[FloatArray, FloatArray]:
    """Standard error and p of every two rows of which one is over seeds, shape (M, M)
    each; NaN for the others.

    Args:
        standard_error: root of V_p of each difference, NaN where not defined, shape (M,
            M).
        degrees_of_freedom: its own, shape (M, M).
        difference: of the figures, shape (M, M).
        rows: what is known of the seeds of each, M; ``n_seeds`` is 1 for a row without.
    """
    p, errors = np.full(difference.shape, np.nan), np.full(difference.shape, np.nan)
    first, second = np.triu_indices(len(rows), 1)
    several = np.array([row.n_seeds > 1 for row in rows])
    chosen = several[first] | several[second]
    if not chosen.any():
        return errors, p
    first, second = first[chosen], second[chosen]
    squares = np.nan_to_num(standard_error[first, second]) ** 2
    df = degrees_of_freedom[first, second]
    df = np.where(np.isfinite(df) & (df > 0), df, np.inf)
    pairs = [
        (rows[a], rows[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    parts = seed_parts(squares, df, pairs)
    found = parts.p_values(difference[first, second])
    p[first, second] = p[second, first] = found
    errors[first, second] = errors[second, first] = parts.standard_error
    return errors, p
