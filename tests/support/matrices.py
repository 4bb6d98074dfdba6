"""Matrices that the tests of the performance matrix share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

#: goldens.md G11
GOLDEN = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1]], dtype=float)
GOLDEN_VECTORS = np.array([[1, 0], [0.6, 0.8], [0, 1], [0.8, 0.6], [-0.6, 0.8]])


def binary(n: int, k: int, seed: int = 0) -> Matrix:
    """Models of different strength on prompts of different difficulty, zeros and ones."""
    rng = np.random.default_rng(seed)
    chance = np.clip(rng.random((n, 1)) + rng.normal(0, 0.3, (1, k)), 0.02, 0.98)
    return (rng.random((n, k)) < chance).astype(float)


def with_extremes(n: int, k: int, seed: int = 0) -> Matrix:
    """As `binary`, with rows of zeros only and of ones only, and repeated rows."""
    matrix = binary(n, k, seed)
    matrix[:3], matrix[3:5], matrix[5] = 0, 1, matrix[6]
    return matrix


def independent(n: int, k: int, seed: int = 0) -> Matrix:
    """Columns of independent zeros and ones: nothing for a permutation test to find."""
    rng = np.random.default_rng(seed)
    return (rng.random((n, k)) < rng.uniform(0.2, 0.9, k)).astype(float)


def continuous(n: int, k: int, seed: int = 0) -> Matrix:
    """Scores in [0, 1] that go together."""
    rng = np.random.default_rng(seed)
    return np.clip(rng.random((n, 1)) * 0.6 + rng.random((n, k)) * 0.4, 0, 1)


def tied(n: int, k: int, seed: int = 0) -> Matrix:
    """Quarters, with zero rows, and columns that do not vary."""
    matrix = np.round(continuous(n, k, seed) * 4) / 4
    matrix[0] = 0
    matrix[:, -1] = 0.5
    matrix[1] = 0
    return matrix


def cosines(matrix: Matrix) -> Matrix:
    """n × n, the slow way: zero rows are like each other (1) and unlike all others (0)."""
    lengths = np.linalg.norm(matrix, axis=1)
    empty = lengths == 0
    unit = matrix / np.where(empty, 1, lengths)[:, None]
    found = unit @ unit.T
    found[np.ix_(empty, empty)] = 1.0
    return np.clip(found, -1, 1)


def upper(square: Matrix) -> Matrix:
    """Entries i < j."""
    return square[np.triu_indices(len(square), 1)]
