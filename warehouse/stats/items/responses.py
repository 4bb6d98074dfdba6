"""What models answered, checked once for all functions of items; the most likely
ability of each model.

Definitions: statistics.md §13. A cell holds Y successes of K draws; K = 0 is a missing
cell, which drops out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_floats

Float32Array = NDArray[np.float32]
_MOST_DRAWS = 1 << 24  # whole numbers up to here are exact in 32 bits


@dataclass(frozen=True, eq=False)
class Responses:
    """Successes and draws of M models on J items."""

    successes: Float32Array  #: Y, whole numbers 0 to K, 0 where missing, shape (M, J).
    trials: Float32Array | None  #: K, shape (M, J); None: one draw in every cell.
    models: tuple[str, ...]  #: names of the models, shape (M,).
    items: tuple[str, ...]  #: names of the items, shape (J,).

    @property
    def n_models(self) -> int:
        """M."""
        return int(self.successes.shape[0])

    @property
    def n_items(self) -> int:
        """J."""
        return int(self.successes.shape[1])

    @property
    def are_counts(self) -> bool:
        """Some cell has more than one draw."""
        return self.trials is not None and bool(self.trials.max() > 1)

    def answered(self) -> NDArray[np.bool_]:
        """Which cells are not missing, shape (M, J)."""
        if self.trials is None:
            return np.ones(self.successes.shape, bool)
        return self.trials > 0

    def counts(self) -> FloatArray:
        """Draws of each cell, shape (M, J)."""
        if self.trials is None:
            return np.ones(self.successes.shape)
        return self.trials.astype(np.float64)

    def draws(self, axis: int) -> FloatArray:
        """Draws of each item (axis 0) or model (axis 1)."""
        if self.trials is None:
            return np.full(
                self.successes.shape[1 - axis], float(self.successes.shape[axis])
            )
        return np.asarray(self.trials.sum(axis=axis, dtype=np.float64))

    def cells(self, axis: int) -> FloatArray:
        """Cells that are not missing of each item (axis 0) or model (axis 1)."""
        if self.trials is None:
            return self.draws(axis)
        return np.asarray(np.count_nonzero(self.trials, axis=axis), dtype=np.float64)

    def minority(self) -> FloatArray:
        """The rarer of right and wrong draws of each item, shape (J,)."""
        right = self.successes.sum(axis=0, dtype=np.float64)
        return np.asarray(np.minimum(right, self.draws(0) - right))

    def part(
        self,
        models: NDArray[np.intp] | slice,
        items: NDArray[np.intp] | slice = slice(None),
    ) -> Responses:
        """The rows and columns of some models and items."""
        if self.trials is None:
            trials = None
        else:
            trials = self.trials[models][:, items]
        names = (
            np.asarray(self.models, dtype=object)[models],
            np.asarray(self.items, dtype=object)[items],
        )
        return Responses(
            self.successes[models][:, items], trials, tuple(names[0]), tuple(names[1])
        )


def as_responses(
    successes: ArrayLike,
    trials: ArrayLike | None = None,
    *,
    models: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
) -> Responses:
    """Check the answers of models to items.

    Args:
        successes: successes Y of the draws, one row per model, one column per item,
            shape (M, J); NaN: missing.
        trials: draws K of each cell, 0 where missing, shape (M, J); None: one draw
            each.
        models: names of the models; None: ``model 0``, ``model 1`` and so on.
        items: names of the items, likewise.

    Raises:
        StatisticsError: another shape, fewer than 2 models or items, a score that is no
            count, a model or an item without any answer, a name that stands twice.

    Examples:
        >>> as_responses([[1, 0], [1, float("nan")]]).cells(0)
        array([2., 1.])
    """
    y = as_floats(successes, "successes")
    if y.ndim != 2 or min(y.shape) < 2:
        raise StatisticsError(
            f"`successes` must be models x items, at least 2 x 2, found shape {y.shape}"
        )
    row_names, column_names = (
        _names(models, y.shape[0], "model"),
        _names(items, y.shape[1], "item"),
    )
    k = _trials(y, trials)
    y = np.where(k > 0, y, 0.0)
    _check_counts(y, k, row_names, column_names)
    for axis, names, word in ((1, row_names, "model"), (0, column_names, "item")):
        empty = np.flatnonzero(k.sum(axis=axis) == 0)
        if len(empty):
            raise StatisticsError(
                f"{_listed(names, empty, word)} has no answer at all; leave it out"
            )
    all_one = bool((k == 1).all())
    return Responses(
        y.astype(np.float32),
        None if all_one else k.astype(np.float32),
        row_names,
        column_names,
    )


def binarise(scores: ArrayLike) -> tuple[FloatArray, float]:
    """Scores between 0 and 1 as right or wrong, by the threshold that keeps the models'
    means best.

    Args:
        scores: models x items in [0, 1], NaN where missing, shape (M, J).

    Returns:
        The 0/1 table (NaN where missing) of y > c, and c: of the distinct scores the
        one with the smallest mean over models of |mean 1[y > c] − mean y|, the smallest
        on a tie (statistics.md §5, after Polo et al. 2024).

    Raises:
        StatisticsError: a score outside [0, 1], a model without scores.

    Examples:
        >>> print(binarise([[0.2, 0.9, 1.0], [0.1, 0.3, 0.8]])[1])
        0.3
    """
    y = as_floats(scores, "scores")
    scored = ~np.isnan(y)
    if y.ndim != 2 or not scored.any(axis=1).all():
        raise StatisticsError(
            "`scores` must be models x items, each model with a score"
        )
    if not ((y[scored] >= 0) & (y[scored] <= 1)).all():
        raise StatisticsError(
            "`scores` must lie in [0, 1] to be turned into right and wrong"
        )
    means, cells = np.nansum(y, axis=1) / scored.sum(axis=1), scored.sum(axis=1)
    candidates = np.unique(y[scored])
    if len(candidates) > 1000:  # a grid of quantiles is as good as every score
        candidates = np.unique(
            np.quantile(candidates, np.linspace(0, 1, 1000), method="lower")
        )
    above = np.stack(
        [
            len(row) - np.searchsorted(row, candidates, side="right")
            for row in _sorted_rows(y, scored)
        ]
    )
    gaps = np.abs(above / cells[:, None] - means[:, None]).mean(axis=0)
    threshold = float(candidates[int(np.argmin(gaps > gaps.min() + 1e-12))])
    return np.where(scored, (y > threshold).astype(np.float64), np.nan), threshold


def _sorted_rows(y: FloatArray, scored: NDArray[np.bool_]) -> list[FloatArray]:
    return [np.sort(row[mask]) for row, mask in zip(y, scored, strict=True)]


def _names(names: Sequence[str] | None, n: int, word: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{word} {i}" for i in range(n))
    if len(names) != n:
        raise StatisticsError(f"`{word}s` has {len(names)} names, expected {n}")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise StatisticsError(
            f"{word} {twice[0]!r} stands there {Counter(names)[twice[0]]} times; keep "
            "one of them"
        )
    return tuple(names)


def _trials(y: FloatArray, trials: ArrayLike | None) -> FloatArray:
    missing = np.isnan(y)
    if trials is None:
        return (~missing).astype(np.float64)
    k = as_floats(trials, "trials")
    if k.shape != y.shape:
        raise StatisticsError(f"`trials` has the shape {k.shape}, expected {y.shape}")
    if (
        not np.isfinite(k).all()
        or (k < 0).any()
        or (k != np.floor(k)).any()
        or k.max() > _MOST_DRAWS
    ):
        raise StatisticsError("`trials` must be whole numbers of at least 0")
    return np.where(missing, 0.0, k)


def _check_counts(
    y: FloatArray, k: FloatArray, models: tuple[str, ...], items: tuple[str, ...]
) -> None:
    wrong = ~((y >= 0) & (y <= k) & (y == np.floor(y)))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise StatisticsError(
            f"{int(wrong.sum())} score(s) are no count of successes (first: "
            f"{y[row, column]:g} of {k[row, column]:g} draws, {models[row]}, "
            f"{items[column]}); give successes and `trials`, or turn scores between 0 "
            "and 1 into right and wrong with `binarise`"
        )


def _listed(names: tuple[str, ...], which: NDArray[np.intp], word: str) -> str:
    first = ", ".join(names[i] for i in which[:3])
    return f"{word} {first}" + (f" and {len(which) - 3} more" if len(which) > 3 else "")


_BLOCK = 1 << 18  # cells of one temporary array
_STEPS = 100


def ability_modes(
    responses: Responses,
    a: FloatArray,
    d: FloatArray,
    prior_mean: ArrayLike = 0.0,
    prior_sd: float = 1.0,
) -> FloatArray:
    """MAP ability of each model under a normal prior, items given, shape (M,): finite
    where all is right or wrong."""
    mean = np.broadcast_to(
        np.asarray(prior_mean, dtype=np.float64), (responses.n_models,)
    )
    theta = mean.copy()
    step = np.ones_like(theta)
    for _ in range(_STEPS):
        slope, curve = (mean - theta) / prior_sd**2, np.full_like(theta, prior_sd**-2)
        for items, y, k in cell_blocks(responses):
            p = special.expit(np.multiply.outer(theta, a[items]) + d[items])
            slope += (y - k * p) @ a[items]
            curve += (k * p * (1 - p)) @ a[items] ** 2
        step = np.clip(slope / curve, -1, 1)
        theta += step
        if np.abs(step).max() < 1e-10:
            break
    return theta


def cell_blocks(
    responses: Responses,
) -> Iterator[tuple[slice, FloatArray, FloatArray | float]]:
    """Items in blocks: which, successes and draws of their cells."""
    width = max(1, _BLOCK // responses.n_models)
    for start in range(0, responses.n_items, width):
        items = slice(start, min(responses.n_items, start + width))
        k = (
            1.0
            if responses.trials is None
            else responses.trials[:, items].astype(np.float64)
        )
        yield items, responses.successes[:, items].astype(np.float64), k
