"""How well items follow a fitted model, which treat families of models unlike, and
which model predicts best (statistics.md §13)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_seed, rejects
from warehouse.stats.core.quantiles import t_p_values
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.em import Maximum, maximise
from warehouse.stats.items.irt import IrtFit, penalty_of
from warehouse.stats.items.links import as_blocks
from warehouse.stats.items.posterior import blocks_of, chances, model_groups
from warehouse.stats.items.responses import (
    Float32Array,
    Responses,
    ability_modes,
    cell_blocks,
)
from warehouse.stats.multiple.adjust import benjamini_hochberg

#: A family with fewer models is not compared, nor an item with fewer of its rarer
#: answer.
MODELS_PER_FAMILY, MINORITY = 5, 3


@dataclass(frozen=True, eq=False)
class ItemFit(NamedFigures):
    """Mean squares of residuals, 1 where an item follows the model; a ranking, no test."""

    items: tuple[str, ...]  #: names, shape (J,).
    infit: FloatArray  #: ΣE²/ΣV, E = Y − KP, V = KP(1−P): what happens near the item's difficulty, shape (J,).
    outfit: FloatArray  #: mean E²/V: led by single surprises far from it.
    #: z_infit, z_outfit: Wilson and Hilferty's transform; conservative, as P was fitted
    #: to the same answers. Above 0: noisier than the model, below 0: more regular.
    z_infit: FloatArray
    z_outfit: FloatArray

    def __str__(self) -> str:
        worst = int(np.argmax(self.z_infit))
        return (
            f"{len(self.items)} items, least regular: {self.items[worst]} (infit "
            f"{self.infit[worst]:.3g})"
        )


@dataclass(frozen=True, eq=False)
class FamilyDif(NamedFigures):
    """Items that are easier or harder for one family of models than their abilities
    predict."""

    family: str  #: its name.
    n_models: int  #: its models.
    n_others: int  #: models that it is compared with.
    #: Σ E(x − x̄)/v: logits by which the item is easier for the family; NaN where not
    #: tested, shape (J,).
    effect: FloatArray
    z: FloatArray  #: effect · √v, standard normal without DIF.
    p_value: FloatArray  #: two-sided.
    q_value: FloatArray  #: after Benjamini and Hochberg over all items and families of one call.
    is_flagged: NDArray[np.bool_]  #: q_value at most alpha.


@dataclass(frozen=True, eq=False)
class Dif(NamedFigures):
    """Differential functioning of items between families of models."""

    items: tuple[str, ...]  #: names, shape (J,).
    #: one comparison each; of exactly two families only the first.
    families: tuple[FamilyDif, ...]
    left_out: tuple[str, ...]  #: families with fewer than 5 models.
    n_tested: int  #: items with at least 3 of the rarer answer.
    alpha: float  #: false discovery rate.

    def __str__(self) -> str:
        flagged = np.any([family.is_flagged for family in self.families], axis=0)
        return f"{int(flagged.sum())} of {self.n_tested} items differ between families"


def item_fit(fit: IrtFit, responses: Responses) -> ItemFit:
    """Infit and outfit of every item at the MAP abilities (Wright and Masters 1982).

    Raises:
        StatisticsError: answers of another fit.
    """
    theta = _modes(fit, responses)
    squares, variances, standard, cells, q_in, q_out = np.zeros((6, len(fit.a)))
    for items, y, k in cell_blocks(responses):
        p = special.expit(np.multiply.outer(theta, fit.a[items]) + fit.d[items])
        unit = np.maximum(p * (1 - p), 1e-300)
        v = k * unit
        answered = np.broadcast_to(np.asarray(k) > 0, p.shape)
        e2 = (y - k * p) ** 2
        fourth = v * (1 + 3 * (k - 2) * unit)
        safe = np.where(answered, v, 1.0)
        squares[items] = e2.sum(axis=0)
        variances[items] = v.sum(axis=0)
        standard[items] = (e2 / safe).sum(axis=0)
        cells[items] = answered.sum(axis=0)
        q_in[items] = (fourth - v**2).sum(axis=0)
        q_out[items] = np.where(answered, fourth / safe**2 - 1, 0).sum(axis=0)
    infit, outfit = squares / variances, standard / cells
    return ItemFit(
        items=fit.items,
        infit=infit,
        outfit=outfit,
        z_infit=_wilson_hilferty(infit, np.sqrt(q_in) / variances),
        z_outfit=_wilson_hilferty(outfit, np.sqrt(q_out) / cells),
    )


def family_dif(
    fit: IrtFit,
    responses: Responses,
    families: Sequence[str | None],
    *,
    alpha: float = 0.05,
) -> Dif:
    """Items that work differently in some families of models than in the others.

    Each family of at least 5 models is held against all models of the other such
    families. With x = 1 in the family, W = KP(1−P): x̄_j = the W-weighted regression of
    x on (1, θ̂), z = ΣE(x − x̄)/√v, v = ΣW(x − x̄)². So too by 1PL, where with the mean
    ΣWx/ΣW alone an item of another discrimination looks easier for the abler family.
    Where items are flagged, abilities are estimated once more without them, and every
    item is tested again.

    Args:
        fit: of these answers.
        responses: the answers.
        families: family of each model, None where unknown (left out), shape (M,).
        alpha: false discovery rate over items and families.

    Raises:
        StatisticsError: answers of another fit, labels of another length, fewer than
            two families of 5 models.
    """
    theta = _modes(fit, responses)
    if len(families) != len(theta):
        raise StatisticsError(
            f"`families` has {len(families)} labels, expected {len(theta)}"
        )
    if not 0 < alpha < 1:
        raise StatisticsError(f"`alpha` must lie between 0 and 1, found {alpha}")
    labels = np.array(
        ["" if name is None else str(name) for name in families], dtype=object
    )
    names, sizes = np.unique(labels[labels != ""].astype(str), return_counts=True)
    tested = [str(name) for name in names[sizes >= MODELS_PER_FAMILY]]
    if len(tested) < 2:
        there = [f"{name} ({n})" for name, n in zip(names, sizes, strict=True)]
        raise StatisticsError(
            f"DIF needs two families of at least {MODELS_PER_FAMILY} models, found "
            f"{', '.join(there) or 'none'}"
        )
    compared = np.isin(labels, tested)
    part = responses.part(np.flatnonzero(compared))
    ours = tested
    if len(tested) == 2:  # the second against the first says the same
        ours = tested[:1]
    groups = np.stack([(labels[compared] == name).astype(np.float64) for name in ours])
    enough = part.minority() >= MINORITY
    tables = _test(fit, part, theta[compared], groups, enough, alpha)
    clean = np.flatnonzero(~tables.flagged.any(axis=0))
    if 0 < len(clean) < len(fit.items):
        # once more with abilities that the flagged items do not tell
        anew = responses.part(slice(None), clean)
        theta = ability_modes(
            anew, fit.a[clean], fit.d[clean], fit.prior_mean, fit.prior_sd
        )
        tables = _test(fit, part, theta[compared], groups, enough, alpha)
    rows: list[FamilyDif] = []
    for i, name in enumerate(ours):
        inside = int(groups[i].sum())
        outside = int(len(groups[i]) - groups[i].sum())
        rows.append(FamilyDif(name, inside, outside, *(table[i] for table in tables)))
    few = tuple(str(name) for name in names[sizes < MODELS_PER_FAMILY])
    return Dif(fit.items, tuple(rows), few, int(enough.sum()), alpha)


class _Tables(NamedTuple):
    """Families x items."""

    effect: FloatArray
    z: FloatArray
    p_value: FloatArray
    q_value: FloatArray
    flagged: NDArray[np.bool_]


def _test(
    fit: IrtFit,
    responses: Responses,
    theta: FloatArray,
    groups: FloatArray,
    enough: NDArray[np.bool_],
    alpha: float,
) -> _Tables:
    score, v = np.zeros((len(groups), len(fit.a))), np.zeros((len(groups), len(fit.a)))
    for items, y, k in cell_blocks(responses):
        p = special.expit(np.multiply.outer(theta, fit.a[items]) + fit.d[items])
        w = k * p * (1 - p)
        for i, x in enumerate(groups):
            rest = x[:, None] - _expected_group(x, theta, w)
            score[i, items] = ((y - k * p) * rest).sum(axis=0)
            v[i, items] = (w * rest**2).sum(axis=0)
    usable = enough & (v > 1e-9)
    v = np.where(usable, v, np.nan)
    z = score / np.sqrt(v)
    p_value = t_p_values(z, np.inf)
    q_value = benjamini_hochberg(p_value.ravel()).reshape(z.shape)
    return _Tables(score / v, z, p_value, q_value, rejects(q_value, alpha))


def _expected_group(x: FloatArray, theta: FloatArray, w: FloatArray) -> FloatArray:
    """x̄: the W-weighted regression of x on (1, θ), shape (M, B)."""
    total = np.maximum(w.sum(axis=0), 1e-300)
    mean = x @ w / total
    centred = theta[:, None] - theta @ w / total
    spread = (w * centred**2).sum(axis=0)
    rate = (w * centred * x[:, None]).sum(axis=0) / np.maximum(spread, 1e-300)
    return np.asarray(mean + rate * centred)


def _modes(fit: IrtFit, responses: Responses) -> FloatArray:
    fit.check_same(responses)
    return ability_modes(responses, fit.a, fit.d, fit.prior_mean, fit.prior_sd)


def _wilson_hilferty(mean_square: FloatArray, q: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (np.cbrt(mean_square) - 1) * 3 / q + q / 3
    return np.where(q > 0, z, np.nan)


BoolArray = NDArray[np.bool_]
_TOLERANCE = 1e-4  # a log loss needs no more
_ROUNDS = 500
_TINY = 1e-12


@dataclass(frozen=True)
class HeldOut(NamedFigures):
    """Log loss of draws in held-out cells, in nats per draw; smaller is better."""

    #: loss_1pl, loss_2pl: mean −ln of the posterior predictive chance of each held-out
    #: draw.
    loss_1pl: float
    loss_2pl: float
    #: of the items' smoothed shares of success alone (every model alike).
    loss_items: float
    difference: float  #: loss_2pl − loss_1pl; below 0: 2PL predicts better.
    se: float  #: of ``difference``: standard error over models (ratio of sums).
    share: float  #: of the cells that are not missing, held out.
    n_cells: int  #: held-out cells.
    n_draws: int  #: draws in them.
    better: str  #: ``2pl`` or ``1pl``: the smaller loss.

    def __str__(self) -> str:
        return (
            f"log loss 1PL {self.loss_1pl:.4g}, 2PL {self.loss_2pl:.4g} "
            f"({self.n_draws} held-out draws)"
        )


def held_out_loss(
    responses: Responses,
    *,
    seed: int,
    share: float = 0.1,
    blocks: ArrayLike | None = None,
) -> HeldOut:
    """Fit 1PL and 2PL without a random share of the cells, and predict those.

    Args:
        responses: the answers.
        seed: of the choice of cells.
        share: of the cells, above 0 and at most .5; every model and item keeps a cell.
        blocks: label of each model's block, as for `fit_irt`.

    Raises:
        StatisticsError: a share out of range, too few cells.
    """
    if not 0 < share <= 0.5:
        raise StatisticsError(
            f"`share` must lie above 0 and be at most .5, found {share}"
        )
    trials = responses.trials
    if trials is None:
        trials = np.ones(responses.successes.shape, np.float32)
    held_out = _held(trials > 0, share, as_seed(seed))
    if not held_out.any():
        raise StatisticsError("too few cells to hold some out")
    y, k = responses.successes, np.where(held_out, trials, 0).astype(np.float64)
    kept = Responses(
        np.where(held_out, 0, y),
        np.where(held_out, 0, trials),
        responses.models,
        responses.items,
    )
    groups = as_blocks(blocks, responses.n_models)
    of_1pl = draw_losses(y, k, _fitted_without(kept, "1pl", groups))
    of_2pl = draw_losses(y, k, _fitted_without(kept, "2pl", groups))
    right = kept.successes.sum(axis=0, dtype=np.float64)
    item_shares = (right + 0.5) / (kept.draws(0) + 1)
    of_items = draw_losses(y, k, np.broadcast_to(item_shares, y.shape))
    draws = float(k.sum())
    gap = of_2pl - of_1pl
    difference = float(gap.sum()) / draws
    better = "1pl"
    if difference < 0:
        better = "2pl"
    return HeldOut(
        loss_1pl=float(of_1pl.sum()) / draws,
        loss_2pl=float(of_2pl.sum()) / draws,
        loss_items=float(of_items.sum()) / draws,
        difference=difference,
        se=ratio_error(gap, k.sum(axis=1), difference),
        share=share,
        n_cells=int(held_out.sum()),
        n_draws=int(draws),
        better=better,
    )


def _fitted_without(kept: Responses, name: str, blocks: NDArray[np.intp]) -> FloatArray:
    """P of every cell by a model that was fitted to the cells that are kept."""
    maximum = maximise(
        kept,
        common_a=name == "1pl",
        penalty=penalty_of(name, True),
        blocks=blocks,
        tolerance=_TOLERANCE,
        max_rounds=_ROUNDS,
    )
    return _predictions(kept, maximum)


def _held(answered: BoolArray, share: float, seed: int) -> BoolArray:
    """A random share of the cells; one cell of every model and item stays."""
    order = np.random.default_rng(seed).random(answered.shape)
    order[~answered] = np.inf
    n_held = round(share * int(answered.sum()))
    held_out = np.zeros(answered.shape, bool)
    if n_held:
        last = np.partition(order[answered], n_held - 1)[n_held - 1]
        held_out = order <= last
    latest = np.where(answered, order, -np.inf)
    n_models, n_items = answered.shape
    held_out[np.arange(n_models), latest.argmax(axis=1)] = False
    held_out[latest.argmax(axis=0), np.arange(n_items)] = False
    return held_out


def _predictions(responses: Responses, maximum: Maximum) -> FloatArray:
    """Posterior mean of P in every cell, also the missing ones, shape (M, J)."""
    predictions = np.zeros(responses.successes.shape)
    a = maximum.slopes()
    groups = model_groups(responses)
    for group, nodes, weights in zip(
        groups, maximum.posterior.nodes, maximum.posterior.weights, strict=True
    ):
        for block in blocks_of(group):
            for i, p in enumerate(
                chances(group, block, a, maximum.d, nodes, everywhere=True)
            ):
                predictions[group.rows, block] += (weights[:, i] * p).T
    return predictions


def draw_losses(y: Float32Array, k: FloatArray, p: FloatArray) -> FloatArray:
    """−ln likelihood of the held-out draws of each model, shape (M,)."""
    p = np.clip(p, _TINY, 1 - _TINY)
    right = np.minimum(y, k)  # 0 outside
    return -np.asarray((right * np.log(p) + (k - right) * np.log1p(-p)).sum(axis=1))


def ratio_error(totals: FloatArray, draws: FloatArray, ratio: float) -> float:
    """Standard error of Σ totals/Σ draws over the units that they are of."""
    n = len(totals)
    residual = totals - ratio * draws
    return math.sqrt(n / (n - 1) * float(residual @ residual)) / float(draws.sum())
