"""What dropping the least discriminating items does to scores, also on models that did
not choose them.

Definitions: Madaan et al. (2024) §4 (statistics.md §5, §13). Items are chosen on train
models and the effects seen on test models. It moves the mean: never for figures that
are reported.

Definitions: Madaan et al. (2024) §4.1 (statistics.md §5): random splits, and the split
by difficulty, which holds out the best models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats as scipy_stats

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.core.machine import one_blas_thread
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.discrimination import as_table, correlations

#: Shares of the items that are dropped.
SHARES = (0.0, 0.05, 0.1, 0.15, 0.2)
_RANDOM_DROPS = 100
_LEVEL = 0.95


@dataclass(frozen=True)
class Effect(NamedFigures):
    """A figure of test models after dropping items, and the same after random drops."""

    #: mean over test models (or trajectories); for τ the figure itself; None where not
    #: defined.
    value: float | None
    #: low, high: 95 % interval of Student over test models (trajectories); None for τ
    #: and below 2.
    low: float | None
    high: float | None
    random: float | None  #: mean over random drops.
    #: random_low, random_high: 2.5 % and 97.5 % points over random drops.
    random_low: float | None
    random_high: float | None


@dataclass(frozen=True)
class PruningStep(NamedFigures):
    """The effects of dropping one share of the items."""

    share: float  #: of the items, dropped.
    n_dropped: int  #: items.
    mean_change: Effect  #: mean score after less before.
    se_ratio: Effect  #: standard error of the mean over items, after over before.
    tau: Effect  #: Kendall's τ-b of the test models' ranking after with the one before.
    #: change of τ-b of score with checkpoint, over trajectories; None without.
    monotonicity_change: Effect | None
    #: signal-to-noise (mean over standard deviation of seeds), after over before, over
    #: sets of seeds; None without.
    snr_ratio: Effect | None = None


@dataclass(frozen=True)
class PruningCurve(NamedFigures):
    """Pruning by discrimination, step by step."""

    kind: str  #: of the split: ``random`` or ``difficulty``.
    #: n_train, n_test: models.
    n_train: int
    n_test: int
    n_items: int  #: items.
    n_random: int  #: random drops behind each random figure.
    steps: tuple[PruningStep, ...]  #: one for each share.

    def __str__(self) -> str:
        last = self.steps[-1]
        change = last.mean_change
        return (
            f"dropping {100 * last.share:g} % moves the mean by {_number(change.value)}"
            f" (random: {_number(change.random)}), {self.kind} split"
        )


def pruning_curve(
    scores: ArrayLike,
    split: ModelSplit,
    *,
    seed: int,
    shares: Sequence[float] = SHARES,
    n_random: int = _RANDOM_DROPS,
    trajectories: Sequence[ArrayLike] = (),
    seeds: Sequence[ArrayLike] = (),
) -> PruningCurve:
    """Drop the least discriminating items of the train models, and look at the test
    models.

    Items rank by corrected discrimination on the train models, 0 where it is not
    defined; ties: the first columns go first.

    Args:
        scores: models x items, NaN where missing, shape (M, J).
        split: rows of ``scores`` (`random_split`, `difficulty_split`).
        seed: of the random drops.
        shares: of the items to drop, each in [0, 1).
        n_random: random drops for each share, at least 1.
        trajectories: scores of the checkpoints of one training run each, in the order
            of training, shape (T, J), for monotonicity.
        seeds: scores of training seeds of one recipe each, shape (S, J), at least 2
            seeds, for signal-to-noise.

    Raises:
        StatisticsError: shapes that do not fit, shares out of range, a test model
            without scores.
    """
    y = as_table(scores)
    n_items = y.shape[1]
    if not shares or not all(0 <= share < 1 for share in shares):
        raise StatisticsError(f"`shares` must lie in [0, 1), found {tuple(shares)}")
    if n_random < 1:
        raise StatisticsError(f"`n_random` must be at least 1, found {n_random}")
    runs = [as_table(run, "trajectories") for run in trajectories]
    if any(run.shape[1] != n_items for run in runs):
        raise StatisticsError(
            f"`trajectories` must have the {n_items} items of `scores`"
        )
    recipes = [as_table(run, "seeds") for run in seeds]
    if any(run.shape[1] != n_items for run in recipes):
        raise StatisticsError(f"`seeds` must have the {n_items} items of `scores`")
    worth = np.nan_to_num(correlations(y[split.train])[1])
    order = np.argsort(worth, kind="stable")
    rng = np.random.default_rng(as_seed(seed))
    test = _ScoreTable(y[split.test])
    tables, replicates = (
        [_ScoreTable(run) for run in runs],
        [_ScoreTable(run) for run in recipes],
    )
    steps = []
    for share in shares:
        dropped = round(share * n_items)
        keep = np.ones((n_items, 1 + n_random))
        keep[order[:dropped], 0] = 0
        for column in range(1, 1 + n_random):
            keep[rng.permutation(n_items)[:dropped], column] = 0
        with one_blas_thread():
            steps.append(_step(share, dropped, keep, test, tables, replicates))
    return PruningCurve(
        split.kind, len(split.train), len(split.test), n_items, n_random, tuple(steps)
    )


class _ScoreTable:
    """Scores of models or checkpoints, with what sums over kept items need."""

    def __init__(self, y: FloatArray) -> None:
        scored = ~np.isnan(y)
        if not scored.any(axis=1).all():
            raise StatisticsError(
                "a test model or checkpoint has no score at all; leave it out"
            )
        self.scored = scored.astype(np.float64)
        self.scores = np.where(scored, y, 0.0)
        intercept = np.ones((y.shape[1], 1))
        self.mean, self.se = (figures[:, 0] for figures in self.after(intercept))

    def after(self, keep: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard error of each row over the kept items of each column,
        shapes (rows, columns)."""
        n, total = self.scored @ keep, self.scores @ keep
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = total / n
            squares = (self.scores**2) @ keep - n * mean**2
            return mean, np.sqrt(np.maximum(squares, 0) / (n - 1) / n)


def _step(
    share: float,
    dropped: int,
    keep: FloatArray,
    test: _ScoreTable,
    runs: list[_ScoreTable],
    recipes: list[_ScoreTable],
) -> PruningStep:
    mean, se = test.after(keep)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = se / test.se[:, None]
    taus = _taus(test.mean, mean)
    monotonic = None
    if runs:
        changes = [
            _monotonicity(run.after(keep)[0]) - _monotonicity(run.mean[:, None])
            for run in runs
        ]
        monotonic = _effect(np.array(changes))
    signal = None
    if recipes:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [
                _signal_to_noise(run.after(keep)[0])
                / _signal_to_noise(run.mean[:, None])
                for run in recipes
            ]
        signal = _effect(np.array(ratios))
    return PruningStep(
        share=share,
        n_dropped=dropped,
        mean_change=_effect(mean - test.mean[:, None]),
        se_ratio=_effect(ratio),
        tau=_effect(taus[None, :]),
        monotonicity_change=monotonic,
        snr_ratio=signal,
    )


def _effect(values: FloatArray) -> Effect:
    """Of values by model (rows), first column by discrimination, the others random;
    rows not defined drop out."""
    rows = values[np.isfinite(values).all(axis=1)]
    if not len(rows):
        return Effect(None, None, None, None, None, None)
    means = rows.mean(axis=0)
    low = high = None
    if len(rows) > 1:
        half = float(special.stdtrit(len(rows) - 1, 0.5 + _LEVEL / 2)) * float(
            rows[:, 0].std(ddof=1)
        )
        half /= math.sqrt(len(rows))
        low, high = float(means[0]) - half, float(means[0]) + half
    outer = np.quantile(means[1:], [0.5 - _LEVEL / 2, 0.5 + _LEVEL / 2])
    return Effect(
        float(means[0]),
        low,
        high,
        float(means[1:].mean()),
        float(outer[0]),
        float(outer[1]),
    )


def _signal_to_noise(means: FloatArray) -> FloatArray:
    """Mean over standard deviation of the rows, of each column."""
    return np.asarray(means.mean(axis=0) / means.std(axis=0, ddof=1))


def _monotonicity(means: FloatArray) -> FloatArray:
    """τ-b of each column with the order of the rows."""
    return _taus(np.arange(len(means), dtype=np.float64), means)


def _taus(x: FloatArray, columns: FloatArray) -> FloatArray:
    """Kendall's τ-b of ``x`` with each column; NaN where either has one value."""
    # equal up to rounding is a tie: sums over other items end in other digits
    order = _signs(np.round(x, 12))
    pairs = np.count_nonzero(order)
    taus = np.full(columns.shape[1], np.nan)
    for index, column in enumerate(np.round(columns, 12).T):
        signs = _signs(column)
        product = float(pairs) * float(np.count_nonzero(signs))
        if product:
            taus[index] = float(order @ signs) / math.sqrt(product)
    return taus


def _signs(values: NDArray[Any]) -> FloatArray:
    """Sign of the difference of each ordered pair, flat."""
    return np.asarray(
        np.sign(np.subtract.outer(values, values)).ravel(), dtype=np.float64
    )


def _number(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:+.3g}"


_FEWEST = 3


@dataclass(frozen=True, eq=False)
class ModelSplit(NamedFigures):
    """Rows of the train and of the test models."""

    kind: str  #: ``random`` or ``difficulty``.
    train: NDArray[np.intp]  #: rows, ascending.
    test: NDArray[np.intp]  #: rows, ascending.


@dataclass(frozen=True)
class SplitAgreement(NamedFigures):
    """Discrimination of items on train models against test models."""

    kind: str  #: of the split.
    #: n_train, n_test: models.
    n_train: int
    n_test: int
    n_items: int  #: items whose discrimination is defined on both sides.
    #: pearson, spearman: correlation over those items; NaN below 3 items or without
    #: spread.
    pearson: float
    spearman: float
    negative_train: int  #: items with r_c < 0 on the train side.
    negative_both: int  #: of them those that are below 0 on the test side as well.

    def __str__(self) -> str:
        return (
            f"{self.kind} split: train-test correlation of discrimination "
            f"{self.pearson:.3g} ({self.n_items} items)"
        )


def random_split(n_models: int, *, seed: int) -> ModelSplit:
    """A random fifth of the models as test, at least 3 on each side.

    Examples:
        >>> len(random_split(70, seed=1).test)
        14
    """
    n_test = _n_test(n_models)
    order = np.random.default_rng(as_seed(seed)).permutation(n_models)
    return ModelSplit("random", np.sort(order[n_test:]), np.sort(order[:n_test]))


def difficulty_split(scores: ArrayLike) -> ModelSplit:
    """The best fifth of the models by mean score as test (14 of 70, as Madaan et al.
    2024); ties: the first rows.

    Args:
        scores: models x items, NaN where missing, shape (M, J).

    Raises:
        StatisticsError: another shape, fewer than 3 models on a side, a model without
            scores.
    """
    y = as_table(scores)
    scored = ~np.isnan(y)
    if not scored.any(axis=1).all():
        raise StatisticsError("every model of a split needs a score")
    means = np.where(scored, y, 0).sum(axis=1) / scored.sum(axis=1)
    n_test = _n_test(len(y))
    order = np.argsort(-means, kind="stable")
    return ModelSplit("difficulty", np.sort(order[n_test:]), np.sort(order[:n_test]))


def split_agreement(scores: ArrayLike, split: ModelSplit) -> SplitAgreement:
    """Corrected discrimination on train models against that on test models
    (StatisticsError: another shape).

    Args:
        scores: models x items, NaN where missing, shape (M, J).
        split: rows of ``scores``.
    """
    y = as_table(scores)
    train, test = (correlations(y[rows])[1] for rows in (split.train, split.test))
    both = ~np.isnan(train) & ~np.isnan(test)
    return SplitAgreement(
        kind=split.kind,
        n_train=len(split.train),
        n_test=len(split.test),
        n_items=int(both.sum()),
        pearson=_pearson(train[both], test[both]),
        spearman=_pearson(
            scipy_stats.rankdata(train[both]), scipy_stats.rankdata(test[both])
        ),
        negative_train=int((train < 0).sum()),
        negative_both=int(((train < 0) & (test < 0)).sum()),
    )


def _n_test(n_models: int) -> int:
    n_test = round(n_models / 5)
    n_held_out = n_test
    if n_models >= 2 * _FEWEST:
        n_held_out = max(_FEWEST, n_test)
    if n_held_out < _FEWEST or n_models - n_held_out < _FEWEST:
        raise StatisticsError(
            f"a split needs {_FEWEST} models on each side, found {n_models} models, "
            f"{n_held_out} of them for the test"
        )
    return n_held_out


def _pearson(x: FloatArray, z: FloatArray) -> float:
    if len(x) < _FEWEST or np.ptp(x) == 0 or np.ptp(z) == 0:
        return math.nan
    return float(np.corrcoef(x, z)[0, 1])
