"""Trajectories as they enter the statistics of training."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_floats, as_scores


def as_trajectory(scores: ArrayLike, positions: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Scores of one run and the positions of its checkpoints, strictly increasing.

    Raises:
        StatisticsError: scores that are not finite, other lengths, positions that do not increase.
    """
    x, u = as_scores(scores), as_scores(positions, "positions")
    if len(x) != len(u):
        raise StatisticsError(f"`positions` has {len(u)} entries, expected one per checkpoint: {len(x)}")
    if (np.diff(u) <= 0).any():
        first = int(np.argmax(np.diff(u) <= 0))
        raise StatisticsError(f"`positions` must increase strictly, found {u[first]} and then {u[first + 1]}")
    return x, u


def as_table(scores: ArrayLike, *, rows: str, least_rows: int = 2, least_columns: int = 2) -> FloatArray:
    """A complete table, runs x checkpoints (StatisticsError: another shape, too small, or values that are not finite).

    Args:
        scores: finite, shape (runs, checkpoints).
        rows: what a row is, for messages.
    """
    table = as_floats(scores, "scores")
    if table.ndim != 2 or table.shape[0] < least_rows or table.shape[1] < least_columns:
        raise StatisticsError(
            f"`scores` must be {rows} x checkpoints with at least {least_rows} {rows} and {least_columns}"
            f" checkpoints, found shape {table.shape}"
        )
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise StatisticsError(
            f"`scores` holds values that are not finite (first: row {row}, checkpoint {column}); take the"
            f" checkpoints that all {rows} have"
        )
    return table
