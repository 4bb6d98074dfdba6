"""Which figures are held out, and what links an absent cell with the rest (statistics.md
§24 B)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.completion.table import BoolArray, Table
from warehouse.stats.items.published_figures import IntArray

#: Folds of single figures, and of half of what a model has.
RANDOM_FOLDS, FAR_FOLDS = 10, 5
#: (√5 − 1)/2, whose multiples spread evenly over [0, 1).
GOLDEN = (math.sqrt(5) - 1) / 2


def random_folds(n_figures: int) -> IntArray:
    """The fold of each figure, in order of model and benchmark: ⌊10·frac(kφ)⌋ of the
    k-th."""
    parts = (np.arange(n_figures) * GOLDEN) % 1
    folds: IntArray = np.floor(RANDOM_FOLDS * parts).astype(np.intp)
    return folds


def random_masks(table: Table) -> list[BoolArray]:
    """Of each random fold the figures that are hidden, each of shape (M, J)."""
    folds = np.full(table.shape, -1, dtype=np.intp)
    folds[table.has] = random_folds(table.n_figures)
    return [folds == fold for fold in range(RANDOM_FOLDS)]


def far_masks(table: Table) -> list[BoolArray]:
    """Of each far fold the figures that are hidden: of every fifth model one figure,
    and with it those that most models ran together with that one, half of its figures
    in all."""
    together = ran_together(table)
    masks = []
    for fold in range(FAR_FOLDS):
        hidden = np.zeros(table.shape, dtype=np.bool_)
        for i in range(fold, len(table.has), FAR_FOLDS):
            hidden[i, _far_benchmarks(table, together, i)] = True
        masks.append(hidden)
    return masks


def _far_benchmarks(table: Table, together: NDArray[np.int64], model: int) -> IntArray:
    own = np.flatnonzero(table.has[model])
    n = len(own)
    first = own[int(n * ((model * GOLDEN) % 1))]
    others = own[own != first]
    nearest = np.argsort(-together[first, others], kind="stable")
    more = max(math.ceil(n / 2) - 1, 0)
    return np.concatenate([[first], others[nearest[:more]]])


def ran_together(table: Table) -> NDArray[np.int64]:
    """Models that have both of two benchmarks, shape (J, J)."""
    has = table.has.astype(np.float64)
    return np.rint(has.T @ has).astype(np.int64)


def support(table: Table) -> NDArray[np.int64]:
    """c of every cell (i, j), shape (M, J): over the benchmarks k other than j that i
    has, the models that have both j and k."""
    together = ran_together(table)
    np.fill_diagonal(together, 0)
    linked = table.has.astype(np.float64) @ together
    return np.rint(linked).astype(np.int64)
