"""How many dimensions an item response model needs, and what its estimates of scores
are worth: both on models that it was not fitted on (statistics.md §5b)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.anchor_errors import LEAST_MODELS, folds_of, shares_of
from warehouse.stats.items.anchors import gp_irt_weight
from warehouse.stats.items.dimensions import DimensionsFit, fit_dimensions, place_models
from warehouse.stats.items.fit_and_dif import draw_losses, ratio_error
from warehouse.stats.items.responses import Responses

#: What is tried: numbers of dimensions, and of items behind a score.
USUAL, SIZES = (1, 2, 3, 5, 10), (25, 50, 100)
#: A test model's answers are hidden a tenth at a time, so that each is predicted once;
#: random subsets of a size.
PARTS, SUBSETS = 10, 4

#: Losses that differ by less are one loss: how exact the fits are.
_SAME = 1e-6
BoolArray = NDArray[np.bool_]
#: For each size the items of each subset, (M, J); of models the same for figures, (M,).
Subsets = list[list[BoolArray]]


@dataclass(frozen=True)
class DimensionError(NamedFigures):
    """D dimensions and m random prompts, on models left out. Errors of scores are mean
    |estimate − score on all|."""

    n_dimensions: int  #: D.
    log_loss: float  #: mean −ln chance of hidden draws, nats a draw.
    standard_error: float  #: of it, over groups of models.
    behind: float  #: log_loss less the least of all D.
    behind_standard_error: float  #: of that difference, over groups of models.
    chosen: bool  #: the fewest dimensions that are not more than a standard error of the difference behind.
    converged: bool  #: all fits did within their steps.
    n_prompts: int  #: m.
    mean_error: float  #: of the plain mean of these prompts.
    p_irt_error: float  #: of p-IRT.
    p_irt_gain: float  #: mean_error − p_irt_error: above 0 where p-IRT is nearer.
    p_irt_gain_standard_error: float  #: of it, over groups of models.
    #: gp_irt_error, gp_irt_gain, gp_irt_gain_standard_error: the same of gp-IRT, p-IRT
    #: mixed with the plain mean.
    gp_irt_error: float
    gp_irt_gain: float
    gp_irt_gain_standard_error: float

    def __str__(self) -> str:
        return (
            f"{self.n_dimensions} dimensions: log loss {self.log_loss:.4g} "
            f"({self.standard_error:.2g})"
        )


def dimension_errors(
    responses: Responses,
    dimensions: Sequence[int] | None = None,
    sizes: Sequence[int] | None = None,
    *,
    groups: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    seed: int = 0,
) -> list[DimensionError]:
    """Fit without a fifth of the models at a time, and predict answers and scores of
    those.

    Args:
        responses: the answers.
        dimensions: numbers to try; None: 1, 2, 3, 5 and 10, as far as there are models.
        sizes: m; None: 25, 50 and 100 up to half of a model's answers, else a fifth.
            All D have the same prompts.
        groups: labels of models that belong together, such as settings of one, shape
            (M,): they share a fold, and errors are over them; None: each is alone.
        folds: label of each model's fold, shape (M,); None: 5 at random.
        seed: of folds, hidden answers and prompts.

    Returns:
        by D, then by m.

    Raises:
        StatisticsError: fewer than 8 models, numbers out of range, a model with too few
            answers.
    """
    n = responses.n_models
    if n < LEAST_MODELS:
        raise StatisticsError(
            f"errors on models left out need {LEAST_MODELS} models, found {n}"
        )
    of = np.arange(n)
    if groups is not None:
        of = np.unique(np.asarray(groups), return_inverse=True)[1]
    if folds is None:
        fold = folds_of(of, as_seed(seed))
    else:
        fold = np.asarray(folds)
    tries = _dimensions(dimensions, responses, fold)
    prompts = _sizes(sizes, responses)
    hidden, subsets = _choices(responses, prompts, seed)
    found = [_left_out(responses, size, fold, hidden, subsets) for size in tries]
    draws = responses.draws(1)
    least = min((losses for losses, _, _ in found), key=np.sum)
    behind = [_over_groups(losses - least, draws, of) for losses, _, _ in found]
    chosen = next(
        size
        for size, (gap, error) in zip(tries, behind, strict=True)
        if gap <= max(error, _SAME)
    )
    rows: list[DimensionError] = []
    for size, (losses, rest, converged), gap in zip(tries, found, behind, strict=True):
        loss = _over_groups(losses, draws, of)
        by_size = _score_errors(responses, prompts, subsets, rest, of, fold)
        for m, errors in zip(prompts, by_size, strict=True):
            row = DimensionError(
                size, *loss, *gap, size == chosen, converged, m, *errors
            )
            rows.append(row)
    return rows


def _choices(
    responses: Responses, sizes: Sequence[int], seed: int
) -> tuple[NDArray[np.intp], Subsets]:
    """Part in which each answer is hidden, shape (M, J), and random answers of each
    size."""
    answered = responses.answered()

    def order(*key: int) -> NDArray[np.intp]:
        draws = np.random.default_rng([seed, 35, *key]).random(answered.shape)
        return np.where(answered, draws, np.inf).argsort(axis=1).argsort(axis=1)

    return order(0) % PARTS, [
        [order(1, size, number) < size for number in range(SUBSETS)] for size in sizes
    ]


def _left_out(
    responses: Responses,
    size: int,
    fold: NDArray[np.generic],
    hidden: NDArray[np.intp],
    subsets: Subsets,
) -> tuple[FloatArray, list[list[FloatArray]], bool]:
    """Of models not fitted on: −ln chance of all answers, mean chance off each subset;
    whether fits converged."""
    losses, converged = np.zeros(len(fold)), True
    rest = [[np.zeros(len(fold)) for _ in several] for several in subsets]
    for number in np.unique(fold):
        tested = np.flatnonzero(fold == number)
        fit, answers = (
            fit_dimensions(responses.part(np.flatnonzero(fold != number)), size),
            responses.part(tested),
        )
        converged &= fit.converged
        for part in range(PARTS):
            shown = hidden[tested] != part
            losses[tested] += draw_losses(
                answers.successes,
                _trials(answers, ~shown),
                _chances(fit, answers, shown),
            )
        for several, means in zip(subsets, rest, strict=True):
            for subset, mean in zip(several, means, strict=True):
                seen = subset[tested]
                mean[tested] = _mean(
                    _chances(fit, answers, seen), answers.answered() & ~seen
                )
    return losses, rest, converged


def _dimensions(
    dimensions: Sequence[int] | None, responses: Responses, fold: NDArray[np.generic]
) -> list[int]:
    """Numbers of dimensions to try, ascending (StatisticsError: more than what is left
    of the models or items without a fold allows)."""
    fewest_models = min(int((fold != number).sum()) for number in np.unique(fold))
    most = min(fewest_models, responses.n_items) - 1
    if dimensions is None:
        tries = [count for count in USUAL if count <= most]
    else:
        tries = sorted(set(dimensions))
    if not tries or tries[0] < 1 or tries[-1] > most:
        raise StatisticsError(
            f"numbers of dimensions must lie between 1 and {most} here, found {tries}"
        )
    return tries


def _sizes(sizes: Sequence[int] | None, responses: Responses) -> list[int]:
    """Numbers of prompts to predict from, ascending (StatisticsError: as many as some
    model has)."""
    fewest = int(responses.cells(1).min())
    if sizes is None:
        usual = [size for size in SIZES if size <= fewest // 2]
        prompts = usual or [max(1, fewest // 5)]
    else:
        prompts = sorted(set(sizes))
    if not prompts or not 1 <= prompts[0] <= prompts[-1] < fewest:
        raise StatisticsError(
            f"numbers of prompts must lie between 1 and {fewest - 1} here, found "
            f"{prompts}"
        )
    return prompts


def _trials(answers: Responses, which: BoolArray) -> FloatArray:
    """Draws of some cells, 0 of the others."""
    if answers.trials is None:
        return which.astype(np.float64)
    return np.where(which, answers.trials, 0.0)


def _chances(fit: DimensionsFit, answers: Responses, shown: BoolArray) -> FloatArray:
    """P of every item, from some of a model's answers."""
    trials = _trials(answers, shown).astype(np.float32)
    successes = np.where(shown, answers.successes, np.float32(0))
    return fit.chances(
        place_models(fit, Responses(successes, trials, answers.models, answers.items))
    )


def _mean(values: FloatArray, which: BoolArray) -> FloatArray:
    return np.asarray(np.where(which, values, 0.0).sum(axis=1) / which.sum(axis=1))


def _over_groups(
    totals: FloatArray, draws: FloatArray, groups: NDArray[np.intp]
) -> tuple[float, float]:
    """Σ totals/Σ draws, and its standard error where groups of models are the sample."""
    sums = np.bincount(groups, weights=totals).astype(np.float64)
    sizes = np.bincount(groups, weights=draws).astype(np.float64)
    ratio = float(sums.sum() / sizes.sum())
    if len(sums) > 1:
        return ratio, ratio_error(sums, sizes, ratio)
    return ratio, math.nan


def _score_errors(
    responses: Responses,
    sizes: Sequence[int],
    subsets: Subsets,
    predicted: list[list[FloatArray]],
    groups: NDArray[np.intp],
    fold: NDArray[np.generic],
) -> Iterator[tuple[float, ...]]:
    """The last fields of `DimensionError` for each size; b̂ and σ̂² of gp-IRT are of
    the models of other folds."""
    answered = responses.answered()
    y, ones = np.where(answered, shares_of(responses), 0.0), np.ones(len(fold))
    truth = _mean(y, answered)
    spread = _mean((y - truth[:, None]) ** 2, answered)
    for m, several, guessed in zip(sizes, subsets, predicted, strict=True):
        share = m / answered.sum(axis=1)
        seen = np.array([_mean(y, subset) for subset in several])
        rest = [_mean(y, answered & ~subset) for subset in several]
        off = np.abs(np.array(guessed) - rest)
        weight = np.zeros(len(fold))
        for number in np.unique(fold):
            others = fold != number
            bias, variance = float(off[:, others].mean()), float(spread[others].mean())
            weight[~others] = gp_irt_weight(bias, variance, m, anchors=False)
        p_irt = share * seen + (1 - share) * np.array(guessed)
        estimates = (seen, p_irt, weight * seen + (1 - weight) * p_irt)
        plain, *wrong = (
            np.abs(estimate - truth).mean(axis=0) for estimate in estimates
        )
        figures = [float(plain.mean())]
        for loss in wrong:
            figures += [float(loss.mean()), *_over_groups(plain - loss, ones, groups)]
        yield tuple(figures)
