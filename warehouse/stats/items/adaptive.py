"""Which items to ask a new model next, and how far its ability can be off
(statistics.md §13).

The next item is the one with the most Fisher information a²P(1−P) at the MAP ability so
far. The target is the ability that all items would give; the error is cross-conformal,
from replays on stored models. For ability and rank only: which items were asked depends
on the answers, so their mean says nothing about accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_floats, as_level, as_seed
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.irt import IrtFit, fit_irt
from warehouse.stats.items.responses import Responses, ability_modes

_FOLDS = 5
_STEPS = 50


@dataclass(frozen=True, eq=False)
class NextItems(NamedFigures):
    """What to ask next."""

    items: NDArray[np.intp]  #: rows of the fit's items, the most informative first.
    names: tuple[str, ...]  #: their names.
    information: FloatArray  #: a²P(1−P) of each at ``ability``.
    ability: float  #: MAP on the scale of the fit.
    sd: float  #: 1/sqrt(1/ρ² + Σ Wa²) over the answered items.
    n_asked: int  #: items answered so far.

    def __str__(self) -> str:
        return (
            f"ability {self.ability:.3g} (sd {self.sd:.3g}) after {self.n_asked} "
            f"items; next {', '.join(self.names)}"
        )


@dataclass(frozen=True, eq=False)
class Replay(NamedFigures):
    """Adaptive choice replayed on stored models that the items were not fitted on."""

    n_items: int  #: items asked of each.
    n_models: int  #: models replayed.
    scores: FloatArray  #: |θ̂_n − θ̂_all|/sd_n of each model, shape (M,).
    #: q: the ceil(level·(M+1))-th smallest score; None with ``reason``.
    factor: float | None
    level: float  #: of the interval θ̂_n ± q·sd_n.
    mean_error: float  #: mean |θ̂_n − θ̂_all|, in standard deviations of abilities.
    mean_error_random: float  #: the same with as many items drawn at random.
    reason: str  #: why there is no factor; empty if there is.

    def __str__(self) -> str:
        if self.factor is None:
            factor = "no interval"
        else:
            factor = f"interval ±{self.factor:.3g} sd"
        return (
            f"{self.n_items} items: mean error {self.mean_error:.3g} (random "
            f"{self.mean_error_random:.3g}), {factor}"
        )


def next_items(
    fit: IrtFit, successes: ArrayLike, trials: ArrayLike | None = None, *, n: int = 1
) -> NextItems:
    """The most informative items for a model at what it has answered so far.

    Args:
        fit: items of the pool, in one block.
        successes: successes of the new model on each item, NaN where not asked, shape
            (J,).
        trials: draws of each, shape (J,); None: one.
        n: how many to name, at least 1.

    Raises:
        StatisticsError: a fit with several blocks, another length, scores that are no
            counts, every item asked, n out of range.
    """
    if len(fit.block_means) > 1:
        raise StatisticsError(
            "items are chosen for one block of models; this fit has several prior means"
        )
    y = as_floats(successes, "successes")
    k = np.ones(y.shape)
    if trials is not None:
        k = as_floats(trials, "trials")
    k = np.where(np.isnan(y), 0.0, k)
    y = np.where(np.isnan(y), 0.0, y)
    if y.shape != fit.a.shape or k.shape != fit.a.shape:
        raise StatisticsError(
            f"`successes` must have one entry per item ({len(fit.a)}), found shape "
            f"{y.shape}"
        )
    are_whole = (y == np.floor(y)) & (k == np.floor(k))
    if not ((y >= 0) & (y <= k) & are_whole).all():
        raise StatisticsError(
            "`successes` must be whole numbers between 0 and `trials`"
        )
    if n < 1 or not (k == 0).any():
        raise StatisticsError(
            f"nothing to choose: n is {n}, and {int((k == 0).sum())} items are not "
            "asked yet"
        )
    answered = k > 0
    ability, sd = _mode(fit, answered[None], y[None], k[None], np.zeros(1))
    p = special.expit(fit.a * ability[0] + fit.d)
    information = np.where(answered, -np.inf, fit.a**2 * p * (1 - p))
    n_left = int((~answered).sum())
    order = np.argsort(-information, kind="stable")[: min(n, n_left)]
    names = tuple(fit.items[i] for i in order)
    return NextItems(
        order,
        names,
        information[order],
        float(ability[0]),
        float(sd[0]),
        int(answered.sum()),
    )


def replay(
    responses: Responses,
    n_items: int,
    *,
    seed: int,
    model: str | None = None,
    level: float = 0.95,
) -> Replay:
    """Replay the adaptive choice on stored models in 5 folds, items fitted on the other
    folds.

    Args:
        responses: answers of the stored models; a model can only be asked what it has
            answered.
        n_items: items to ask, at least 1 and at most those of the model with the fewest
            answers.
        seed: of the folds, and of the random items beside.
        model: ``1pl`` or ``2pl``; None: as `fit_irt` chooses for all models.
        level: of the interval.

    Raises:
        StatisticsError: n_items or level out of range, fewer than 10 models.
    """
    level = as_level(level)
    m = responses.n_models
    most = int(responses.cells(1).min())
    if not 1 <= n_items <= most:
        raise StatisticsError(
            f"`n_items` must lie between 1 and {most}, found {n_items}"
        )
    if m < 2 * _FOLDS:
        raise StatisticsError(f"a replay needs {2 * _FOLDS} models, found {m}")
    rng = np.random.default_rng(as_seed(seed))
    fold = rng.permutation(m) % _FOLDS
    ranking = rng.random(responses.successes.shape)
    scores, errors, random_errors = np.empty(m), np.empty(m), np.empty(m)
    name = model or ("2pl" if m >= 20 else "1pl")
    for number in range(_FOLDS):
        rows = np.flatnonzero(fold == number)
        fit = _fit_without(responses, np.flatnonzero(fold != number), name)
        held_out = responses.part(rows)
        full = ability_modes(held_out, fit.a, fit.d)
        adaptive, sd = _adapt(fit, held_out, n_items)
        at_random, _ = _at_random(fit, held_out, ranking[rows], n_items)
        errors[rows], random_errors[rows] = (
            np.abs(adaptive - full),
            np.abs(at_random - full),
        )
        scores[rows] = errors[rows] / sd
    index = math.ceil(level * (m + 1))
    return Replay(
        n_items=n_items,
        n_models=m,
        scores=scores,
        factor=float(np.sort(scores)[index - 1]) if index <= m else None,
        level=level,
        mean_error=float(errors.mean()),
        mean_error_random=float(random_errors.mean()),
        reason=""
        if index <= m
        else f"{m} models are too few for an interval of {100 * level:g} %",
    )


def _fit_without(responses: Responses, rows: NDArray[np.intp], name: str) -> IrtFit:
    """Items by the models of the other folds; the prior stands for an item that none of
    them answered."""
    part = responses.part(rows)
    seen = np.flatnonzero(part.cells(0) > 0)
    if len(seen) == responses.n_items:
        return fit_irt(part, name)
    raise StatisticsError(
        f"{responses.n_items - len(seen)} item(s) were answered by models of one fold "
        f"alone (first: {_first_missing(part)}); leave items with few answers out"
    )


def _first_missing(part: Responses) -> str:
    return part.items[int(np.argmax(part.cells(0) == 0))]


def _adapt(
    fit: IrtFit, held_out: Responses, n_items: int
) -> tuple[FloatArray, FloatArray]:
    y, k = held_out.successes.astype(np.float64), held_out.counts()
    rows = np.arange(len(y))
    is_chosen = np.zeros(y.shape, bool)
    ability, sd = np.zeros(len(y)), np.full(len(y), fit.prior_sd)
    for _ in range(n_items):
        p = special.expit(np.multiply.outer(ability, fit.a) + fit.d)
        information = np.where(is_chosen | (k == 0), -np.inf, fit.a**2 * p * (1 - p))
        is_chosen[rows, information.argmax(axis=1)] = True
        ability, sd = _mode(fit, is_chosen, y, k, ability)
    return ability, sd


def _at_random(
    fit: IrtFit, held_out: Responses, ranking: FloatArray, n_items: int
) -> tuple[FloatArray, FloatArray]:
    y, k = held_out.successes.astype(np.float64), held_out.counts()
    ranked = np.where(k > 0, ranking, np.inf)
    chosen = np.argsort(ranked, axis=1, kind="stable")[:, :n_items]
    is_chosen = np.zeros(y.shape, bool)
    np.put_along_axis(is_chosen, chosen, True, axis=1)
    return _mode(fit, is_chosen, y, k, np.zeros(len(y)))


def _mode(
    fit: IrtFit,
    is_chosen: NDArray[np.bool_],
    y: FloatArray,
    k: FloatArray,
    start: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """MAP ability and its curvature on the asked items; each model has been asked
    equally many, or is alone."""
    columns = np.argsort(~is_chosen, axis=1, kind="stable")[
        :, : int(is_chosen.sum(axis=1).max())
    ]
    a, d = fit.a[columns], fit.d[columns]
    y, k = (
        np.take_along_axis(y, columns, axis=1),
        np.take_along_axis(k, columns, axis=1),
    )
    ability, precision = start.copy(), fit.prior_sd**-2
    curve = np.full(len(start), precision)
    for _ in range(_STEPS):
        p = special.expit(ability[:, None] * a + d)
        curve = precision + (k * a**2 * p * (1 - p)).sum(axis=1)
        step = np.clip(
            (((y - k * p) * a).sum(axis=1) - precision * ability) / curve, -1, 1
        )
        ability += step
        if np.abs(step).max(initial=0) < 1e-8:
            break
    return ability, 1 / np.sqrt(curve)
