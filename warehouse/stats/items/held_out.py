"""Which item response model predicts answers it has not seen: log loss on held-out cells (statistics.md §13)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.core.result_base import Figures
from warehouse.stats.items.em import Maximum, maximise
from warehouse.stats.items.irt import penalty_of
from warehouse.stats.items.links import as_blocks
from warehouse.stats.items.posterior import blocks_of, chances, model_groups
from warehouse.stats.items.responses import Float32Array, Responses

BoolArray = NDArray[np.bool_]
_TOLERANCE = 1e-4  # a log loss needs no more
_ROUNDS = 500
_TINY = 1e-12


@dataclass(frozen=True)
class HeldOut(Figures):
    """Log loss of draws in held-out cells, in nats per draw; smaller is better.

    Attributes:
        loss_1pl, loss_2pl: mean −ln of the posterior predictive chance of each held-out draw.
        loss_items: of the items' smoothed shares of success alone (every model alike).
        difference: loss_2pl − loss_1pl; below 0: 2PL predicts better.
        se: of ``difference``: standard error over models (ratio of sums).
        share: of the cells that are not missing, held out.
        n_cells: held-out cells.
        n_draws: draws in them.
        better: ``2pl`` or ``1pl``: the smaller loss.
    """

    loss_1pl: float
    loss_2pl: float
    loss_items: float
    difference: float
    se: float
    share: float
    n_cells: int
    n_draws: int
    better: str

    def __str__(self) -> str:
        return f"log loss 1PL {self.loss_1pl:.4g}, 2PL {self.loss_2pl:.4g} ({self.n_draws} held-out draws)"


def held_out_loss(responses: Responses, *, seed: int, share: float = 0.1, blocks: ArrayLike | None = None) -> HeldOut:
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
        raise StatisticsError(f"`share` must lie above 0 and be at most .5, found {share}")
    trials = np.ones(responses.successes.shape, np.float32) if responses.trials is None else responses.trials
    held_out = _held(trials > 0, share, as_seed(seed))
    if not held_out.any():
        raise StatisticsError("too few cells to hold some out")
    y, k = responses.successes, np.where(held_out, trials, 0).astype(np.float64)
    kept = Responses(np.where(held_out, 0, y), np.where(held_out, 0, trials), responses.models, responses.items)
    groups = as_blocks(blocks, responses.n_models)
    losses = {}
    for name in ("1pl", "2pl"):
        maximum = maximise(
            kept,
            common_a=name == "1pl",
            penalty=penalty_of(name, True),
            blocks=groups,
            tolerance=_TOLERANCE,
            max_rounds=_ROUNDS,
        )
        losses[name] = _loss(y, k, _predictions(kept, maximum))
    items = (kept.successes.sum(axis=0, dtype=np.float64) + 0.5) / (kept.draws(0) + 1)
    draws = float(k.sum())
    gap = losses["2pl"] - losses["1pl"]
    difference = float(gap.sum()) / draws
    return HeldOut(
        loss_1pl=float(losses["1pl"].sum()) / draws,
        loss_2pl=float(losses["2pl"].sum()) / draws,
        loss_items=float(_loss(y, k, np.broadcast_to(items, y.shape)).sum()) / draws,
        difference=difference,
        se=_ratio_error(gap, k.sum(axis=1), difference),
        share=share,
        n_cells=int(held_out.sum()),
        n_draws=int(draws),
        better="2pl" if difference < 0 else "1pl",
    )


def _held(answered: BoolArray, share: float, seed: int) -> BoolArray:
    """A random share of the cells; one cell of every model and item stays."""
    order = np.random.default_rng(seed).random(answered.shape)
    order[~answered] = np.inf
    wanted = round(share * int(answered.sum()))
    held_out = np.zeros(answered.shape, bool)
    if wanted:
        held_out = order <= np.partition(order[answered], wanted - 1)[wanted - 1]
    latest = np.where(answered, order, -np.inf)
    held_out[np.arange(len(held_out)), latest.argmax(axis=1)] = False
    held_out[latest.argmax(axis=0), np.arange(len(held_out.T))] = False
    return held_out


def _predictions(responses: Responses, maximum: Maximum) -> FloatArray:
    """Posterior mean of P in every cell, also the missing ones, shape (M, J)."""
    predictions = np.zeros(responses.successes.shape)
    a = maximum.slopes()
    groups = model_groups(responses)
    for group, nodes, weights in zip(groups, maximum.posterior.nodes, maximum.posterior.weights, strict=True):
        for block in blocks_of(group):
            for i, p in enumerate(chances(group, block, a, maximum.d, nodes, everywhere=True)):
                predictions[group.rows, block] += (weights[:, i] * p).T
    return predictions


def _loss(y: Float32Array, k: FloatArray, p: FloatArray) -> FloatArray:
    """−ln likelihood of the held-out draws of each model, shape (M,)."""
    p = np.clip(p, _TINY, 1 - _TINY)
    right = np.minimum(y, k)  # 0 outside
    return -np.asarray((right * np.log(p) + (k - right) * np.log1p(-p)).sum(axis=1))


def _ratio_error(totals: FloatArray, draws: FloatArray, ratio: float) -> float:
    n = len(totals)
    residual = totals - ratio * draws
    return math.sqrt(n / (n - 1) * float(residual @ residual)) / float(draws.sum())
