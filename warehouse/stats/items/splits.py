"""Models split into train and test, and whether discrimination found on one holds on the other.

Definitions: Madaan et al. (2024) §4.1 (statistics.md §5): random splits, and the split by
difficulty, which holds out the best models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats as scipy_stats

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.core.result_base import Figures
from warehouse.stats.items.discrimination import as_table, correlations

_FEWEST = 3


@dataclass(frozen=True, eq=False)
class ModelSplit(Figures):
    """Rows of the train and of the test models.

    Attributes:
        kind: ``random`` or ``difficulty``.
        train: rows, ascending.
        test: rows, ascending.
    """

    kind: str
    train: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True)
class SplitAgreement(Figures):
    """Discrimination of items on train models against test models.

    Attributes:
        kind: of the split.
        n_train, n_test: models.
        n_items: items whose discrimination is defined on both sides.
        pearson, spearman: correlation over those items; NaN below 3 items or without spread.
        constant_train, constant_test: items that are constant on that side.
        negative_train: items with r_c < 0 on the train side.
        negative_both: of them those that are below 0 on the test side as well.
    """

    kind: str
    n_train: int
    n_test: int
    n_items: int
    pearson: float
    spearman: float
    constant_train: int
    constant_test: int
    negative_train: int
    negative_both: int

    def __str__(self) -> str:
        return f"{self.kind} split: train-test correlation of discrimination {self.pearson:.3g} ({self.n_items} items)"


def random_split(n_models: int, *, seed: int, test_share: float = 0.2) -> ModelSplit:
    """A random share of the models as test, at least 3 on each side.

    Examples:
        >>> len(random_split(70, seed=1).test)
        14
    """
    if not 0 < test_share < 1:
        raise StatisticsError(f"`test_share` must lie between 0 and 1, found {test_share}")
    n_test = _n_test(n_models, round(test_share * n_models))
    order = np.random.default_rng(as_seed(seed)).permutation(n_models)
    return ModelSplit("random", np.sort(order[n_test:]), np.sort(order[:n_test]))


def difficulty_split(scores: ArrayLike, n_test: int | None = None) -> ModelSplit:
    """The best models by mean score as test.

    Args:
        scores: models x items, NaN where missing, shape (M, J).
        n_test: how many; None: a fifth of them (14 of 70, as Madaan et al. 2024). Ties: the first rows.

    Raises:
        StatisticsError: another shape, fewer than 3 models on a side, a model without scores.
    """
    y = as_table(scores)
    known = ~np.isnan(y)
    if not known.any(axis=1).all():
        raise StatisticsError("every model of a split needs a score")
    means = np.where(known, y, 0).sum(axis=1) / known.sum(axis=1)
    wanted = _n_test(len(y), round(len(y) / 5) if n_test is None else n_test)
    order = np.argsort(-means, kind="stable")
    return ModelSplit("difficulty", np.sort(order[wanted:]), np.sort(order[:wanted]))


def split_agreement(scores: ArrayLike, split: ModelSplit) -> SplitAgreement:
    """Corrected discrimination on train models against that on test models.

    Args:
        scores: models x items, NaN where missing, shape (M, J).
        split: rows of ``scores``.

    Raises:
        StatisticsError: another shape.
    """
    y = as_table(scores)
    _, train, constant_train = correlations(y[split.train])
    _, test, constant_test = correlations(y[split.test])
    both = ~np.isnan(train) & ~np.isnan(test)
    return SplitAgreement(
        kind=split.kind,
        n_train=len(split.train),
        n_test=len(split.test),
        n_items=int(both.sum()),
        pearson=_pearson(train[both], test[both]),
        spearman=_pearson(scipy_stats.rankdata(train[both]), scipy_stats.rankdata(test[both])),
        constant_train=int(constant_train.sum()),
        constant_test=int(constant_test.sum()),
        negative_train=int((train < 0).sum()),
        negative_both=int(((train < 0) & (test < 0)).sum()),
    )


def _n_test(n_models: int, n_test: int) -> int:
    wanted = max(_FEWEST, n_test) if n_models >= 2 * _FEWEST else n_test
    if wanted < _FEWEST or n_models - wanted < _FEWEST:
        raise StatisticsError(
            f"a split needs {_FEWEST} models on each side, found {n_models} models, {wanted} of them for the test"
        )
    return wanted


def _pearson(x: FloatArray, z: FloatArray) -> float:
    if len(x) < _FEWEST or np.ptp(x) == 0 or np.ptp(z) == 0:
        return math.nan
    return float(np.corrcoef(x, z)[0, 1])
