"""Scores while a benchmark grows: the most informative prompt next, or any (Siska 2024 §5.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.core.result_base import Figures
from warehouse.stats.matrix.inputs import as_matrix, generator, unit_rows

#: Sums of cosines that differ by less than this for each prompt chosen differ by rounding only.
_TIE = 1e-12

Order = Literal["informative", "random"]


@dataclass(frozen=True)
class Growth(Figures):
    """Scores of all models as prompts are added one by one.

    Attributes:
        order: ``informative`` or ``random``.
        seed: of the first prompt, and of the random order.
        prompts: rows in the order in which they were added, shape (n,).
        sizes: sizes that are reported, ascending; the last one is n, shape (m,).
        scores: mean score of each model over the first so many prompts, shape (m, k).
    """

    order: str
    seed: int
    prompts: NDArray[np.intp]
    sizes: NDArray[np.intp]
    scores: FloatArray

    def __str__(self) -> str:
        return f"{self.order}: {len(self.prompts)} prompts, {self.scores.shape[1]} models"


def grow(matrix: ArrayLike, order: Order = "informative", *, seed: int = 0, sizes: ArrayLike | None = None) -> Growth:
    """Add prompts one by one and watch every model's mean score.

    ``informative`` starts at a random prompt and adds the one with the largest mean cosine
    distance to those chosen, the lowest row on ties; its sums are exact to rounding, kept up to
    date in O(nk) a step.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        order: ``informative`` or ``random``.
        seed: of the first prompt; of the whole order where that is random.
        sizes: which to report, from 1 to n; default: all.

    Raises:
        StatisticsError: an unknown order or a size out of range.
    """
    values = as_matrix(matrix)
    n = len(values)
    rng = generator(as_seed(seed), 3)
    if order == "informative":
        prompts = _informative(unit_rows(values), int(rng.integers(n)))
    elif order == "random":
        prompts = rng.permutation(n).astype(np.intp)
    else:
        raise StatisticsError(f"no order {order!r}; there are: informative, random")
    wanted = _as_sizes(sizes, n)
    means = np.cumsum(values[prompts], axis=0) / np.arange(1, n + 1)[:, None]
    return Growth(order, seed, prompts, wanted, means[wanted - 1])


def _as_sizes(sizes: ArrayLike | None, n: int) -> NDArray[np.intp]:
    if sizes is None:
        return np.arange(1, n + 1)
    wanted = np.unique(np.append(np.asarray(sizes, dtype=np.intp), n))
    if wanted[0] < 1 or wanted[-1] > n:
        raise StatisticsError(f"`sizes` must lie between 1 and the number of prompts ({n})")
    return wanted


def _informative(unit: FloatArray, start: int) -> NDArray[np.intp]:
    """Rows in order of choice; those chosen are dropped from the matrix from time to time."""
    n = len(unit)
    order = np.empty(n, np.intp)
    rows, left = np.arange(n), unit
    taken = np.zeros(n, np.bool_)
    total, chosen = np.zeros(unit.shape[1]), start
    for step in range(n):
        order[step] = rows[chosen]
        taken[chosen] = True
        total += left[chosen]
        if 4 * (n - step - 1) < 3 * len(rows):
            rows, left = rows[~taken], np.ascontiguousarray(left[~taken])
            taken = np.zeros(len(rows), np.bool_)
        if len(rows):
            closeness = left @ total
            closeness[taken] = np.inf
            chosen = int(np.argmax(closeness <= closeness.min() + _TIE * (step + 1)))
    return order
