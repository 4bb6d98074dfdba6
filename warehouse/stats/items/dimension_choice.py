"""How many dimensions an item response model needs, and what its estimates of scores are worth: both on models
that it was not fitted on (statistics.md §5b)."""

from __future__ import annotations

import math
from collections.abc import Sequence
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

#: Numbers of dimensions that are tried.
USUAL = (1, 2, 3, 5, 10)
#: A test model's answers are hidden a tenth at a time, so that each is predicted once.
PARTS = 10
#: Random subsets of each model and size.
SUBSETS = 4

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class SubsetErrors(NamedFigures):
    """Mean |estimate − score on all items| of models left out, from m random items each.

    Attributes:
        n_items: m.
        p_irt, gp_irt: of the estimates by the model; gp-IRT mixes p-IRT with the plain mean.
        mean: of the plain mean of the m scores.
        gain: mean − p_irt: above 0 where p-IRT is nearer.
        se_gain: its standard error, over groups of models.
        gp_gain, se_gp_gain: the same of gp-IRT.
    """

    n_items: int
    p_irt: float
    gp_irt: float
    mean: float
    gain: float
    se_gain: float
    gp_gain: float
    se_gp_gain: float


@dataclass(frozen=True)
class DimensionError(NamedFigures):
    """D dimensions, on models left out.

    Attributes:
        n_dimensions: D.
        loss: mean −ln chance of hidden draws, nats per draw.
        se_loss: its standard error, over groups of models.
        behind: loss less the least of all D.
        se_behind: its standard error, over groups of models; 0 for the least itself.
        is_chosen: the fewest dimensions that are not more than ``se_behind`` behind.
        subsets: by number of items.
        converged: all fits did within their steps.
    """

    n_dimensions: int
    loss: float
    se_loss: float
    behind: float
    se_behind: float
    is_chosen: bool
    subsets: tuple[SubsetErrors, ...]
    converged: bool

    def __str__(self) -> str:
        return f"{self.n_dimensions} dimensions: log loss {self.loss:.4g} ({self.se_loss:.2g})"


def dimension_errors(
    responses: Responses,
    dimensions: Sequence[int] | None = None,
    sizes: Sequence[int] = (),
    *,
    groups: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    seed: int = 0,
) -> list[DimensionError]:
    """Fit without a fifth of the models at a time, and predict answers and scores of those.

    Args:
        responses: the answers.
        dimensions: numbers to try; None: 1, 2, 3, 5 and 10, as far as there are models.
        sizes: m, items of the random subsets that scores are estimated from; the same subsets for all D.
        groups: labels of models that belong together, such as settings of one, shape (M,): they share a fold, and
            errors are over them; None: each is alone.
        folds: label of each model's fold, shape (M,); None: 5 at random.
        seed: of folds, hidden answers and subsets.

    Raises:
        StatisticsError: fewer than 8 models, numbers out of range, a model with too few answers.
    """
    m = responses.n_models
    if m < LEAST_MODELS:
        raise StatisticsError(f"errors on models left out need {LEAST_MODELS} models, found {m}")
    names = np.arange(m) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    fold = folds_of(names, as_seed(seed)) if folds is None else np.asarray(folds)
    most = min(*(int((fold != one).sum()) for one in np.unique(fold)), responses.n_items) - 1
    tries = [one for one in USUAL if one <= most] if dimensions is None else sorted(set(dimensions))
    if not tries or tries[0] < 1 or tries[-1] > most:
        raise StatisticsError(f"numbers of dimensions must lie between 1 and {most} here, found {tries}")
    fewest = int(responses.cells(1).min())
    if sizes and not 1 <= min(sizes) <= max(sizes) < fewest:
        raise StatisticsError(
            f"numbers of prompts must lie between 1 and {fewest - 1}, as a model has {fewest} answers; found"
            f" {list(sizes)}"
        )
    hidden, chosen = _choices(responses, sizes, seed)
    left_out = [_LeftOut.of(responses, size, fold, hidden, chosen) for size in tries]
    return _compared(responses, tries, sizes, left_out, names, fold, chosen)


def _choices(responses: Responses, sizes: Sequence[int], seed: int) -> tuple[NDArray[np.intp], list[list[BoolArray]]]:
    """Part in which each answer is hidden, shape (M, J), and for each size the items of each subset."""
    answered = responses.answered()

    def order(*key: int) -> NDArray[np.intp]:
        draws = np.random.default_rng([seed, 35, *key]).random(answered.shape)
        return np.where(answered, draws, np.inf).argsort(axis=1).argsort(axis=1)

    subsets = [[order(1, size, number) < size for number in range(SUBSETS)] for size in sizes]
    return order(0) % PARTS, subsets


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """What a model of D dimensions says of models that it has not seen.

    Attributes:
        losses: summed −ln chance of each model's answers, shape (M,).
        rest: for each size and subset the mean chance on the answered items that are not in it, shape (M,).
        converged: all fits did.
    """

    losses: FloatArray
    rest: list[list[FloatArray]]
    converged: bool

    @classmethod
    def of(
        cls,
        responses: Responses,
        size: int,
        fold: NDArray[np.generic],
        hidden: NDArray[np.intp],
        chosen: list[list[BoolArray]],
    ) -> _LeftOut:
        losses, converged = np.zeros(len(fold)), True
        rest = [[np.zeros(len(fold)) for _ in subsets] for subsets in chosen]
        for one in np.unique(fold):
            train, tested = np.flatnonzero(fold != one), np.flatnonzero(fold == one)
            fit, answers = fit_dimensions(responses.part(train), size), responses.part(tested)
            converged &= fit.converged
            for part in range(PARTS):
                shown = hidden[tested] != part
                unseen = _trials(answers, ~shown)
                losses[tested] += draw_losses(answers.successes, unseen, _chances(fit, answers, shown))
            for subsets, means in zip(chosen, rest, strict=True):
                for subset, mean in zip(subsets, means, strict=True):
                    others = answers.answered() & ~subset[tested]
                    mean[tested] = _mean(_chances(fit, answers, subset[tested]), others)
        return cls(losses, rest, converged)


def _trials(answers: Responses, which: BoolArray) -> NDArray[np.float32]:
    """Draws of some cells, 0 of the others."""
    return np.where(which, np.float32(1) if answers.trials is None else answers.trials, np.float32(0))


def _chances(fit: DimensionsFit, answers: Responses, shown: BoolArray) -> FloatArray:
    """P of every item, from some of a model's answers."""
    successes = np.where(shown, answers.successes, np.float32(0))
    return fit.chances(place_models(fit, Responses(successes, _trials(answers, shown), answers.models, answers.items)))


def _mean(values: FloatArray, which: BoolArray) -> FloatArray:
    return np.asarray(np.where(which, values, 0.0).sum(axis=1) / which.sum(axis=1))


def _compared(
    responses: Responses,
    tries: Sequence[int],
    sizes: Sequence[int],
    left_out: Sequence[_LeftOut],
    groups: NDArray[np.intp],
    fold: NDArray[np.generic],
    chosen: list[list[BoolArray]],
) -> list[DimensionError]:
    draws = responses.draws(1)
    losses = [float(one.losses.sum() / draws.sum()) for one in left_out]
    least = int(np.argmin(losses))
    behind = [_over_groups(one.losses - left_out[least].losses, draws, groups) for one in left_out]
    fewest = next(i for i, (gap, error) in enumerate(behind) if gap <= error or i == least)
    scores = _Scores.of(responses, chosen)
    return [
        DimensionError(
            n_dimensions=size,
            loss=loss,
            se_loss=_over_groups(one.losses, draws, groups)[1],
            behind=gap,
            se_behind=error,
            is_chosen=place == fewest,
            subsets=tuple(scores.errors(i, m, one.rest[i], groups, fold) for i, m in enumerate(sizes)),
            converged=one.converged,
        )
        for place, (size, loss, one, (gap, error)) in enumerate(zip(tries, losses, left_out, behind, strict=True))
    ]


def _over_groups(totals: FloatArray, draws: FloatArray, groups: NDArray[np.intp]) -> tuple[float, float]:
    """Σ totals/Σ draws, and its standard error where groups of models are the sample."""
    sums, sizes = np.bincount(groups, weights=totals), np.bincount(groups, weights=draws)
    ratio = float(sums.sum() / sizes.sum())
    return ratio, ratio_error(sums, sizes, ratio) if len(sums) > 1 else math.nan


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores of the models on all items, on those of each subset and on the rest, each of shape (M,)."""

    answered: FloatArray
    truth: FloatArray
    spread: FloatArray
    seen: list[list[FloatArray]]
    rest: list[list[FloatArray]]

    @classmethod
    def of(cls, responses: Responses, chosen: list[list[BoolArray]]) -> _Scores:
        answered = responses.answered()
        y = np.where(answered, shares_of(responses), 0.0)
        truth = _mean(y, answered)
        return cls(
            answered.sum(axis=1).astype(np.float64),
            truth,
            _mean((y - truth[:, None]) ** 2, answered),
            [[_mean(y, subset) for subset in subsets] for subsets in chosen],
            [[_mean(y, answered & ~subset) for subset in subsets] for subsets in chosen],
        )

    def errors(
        self, place: int, m: int, predicted: list[FloatArray], groups: NDArray[np.intp], fold: NDArray[np.generic]
    ) -> SubsetErrors:
        """The errors at one size; b̂ and σ̂² of gp-IRT come from the models of the other folds."""
        seen, rest, share = np.array(self.seen[place]), np.array(self.rest[place]), m / self.answered
        p_irt, off = share * seen + (1 - share) * np.array(predicted), np.abs(np.array(predicted) - rest)
        weight = np.zeros(len(fold))
        for one in np.unique(fold):
            others = fold != one
            bias, variance = float(off[:, others].mean()), float(self.spread[others].mean())
            weight[~others] = gp_irt_weight(bias, variance, m, anchors=False)
        estimates = {"p_irt": p_irt, "gp_irt": weight * seen + (1 - weight) * p_irt, "mean": seen}
        wrong = {name: np.abs(values - self.truth).mean(axis=0) for name, values in estimates.items()}
        ones = np.ones(len(fold))
        gains = [_over_groups(wrong["mean"] - wrong[name], ones, groups) for name in ("p_irt", "gp_irt")]
        return SubsetErrors(m, *(float(one.mean()) for one in wrong.values()), *gains[0], *gains[1])
