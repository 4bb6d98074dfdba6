"""The posterior of each model's ability on nodes of its own, and sums over it (the E
step).

Definitions: statistics.md §13. Success has the chance P = σ(aθ + d). The nodes of a
model lie at centre + kδ·spread, with centre and spread the posterior mean and standard
deviation under the parameters of the step before: a trapezoid sum that stays exact
however narrow the posterior is, where a fixed grid falls between its nodes.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.responses import Float32Array, Responses

_BLOCK = 1 << 16  # cells of one temporary array: it stays in the cache of a core
_LARGEST_EXPONENT = 690.0
_RECENTRED = 8  # at most so often in one step
_NARROWER = 0.25  # of the spread of the nodes, at most in one go


@dataclass(frozen=True, eq=False)
class ModelGroup:
    """Models whose posteriors need the same number of nodes."""

    rows: NDArray[np.intp]  #: their rows, shape (m,).
    y: Float32Array  #: successes, shape (m, J).
    k: Float32Array | None  #: draws, shape (m, J); None: one each.
    counted: bool  #: some cell has more than one draw.
    offsets: FloatArray  #: node places in units of the spread, ascending and equally spaced, shape (n,).

    def draws_of(self, block: slice) -> FloatArray | None:
        """Draws of a block of items, shape (B, m); None: what is not missing is one
        draw."""
        if self.counted and self.k is not None:
            return np.ascontiguousarray(self.k[:, block].T, np.float64)
        return None


@dataclass(frozen=True, eq=False)
class Prior:
    """Normal prior of abilities: a mean for each model, one standard deviation."""

    mean: FloatArray
    sd: float


@dataclass(eq=False)
class AbilityPosterior:
    """Abilities after the answers; ``mean`` and ``sd`` also place the nodes of the next
    step."""

    mean: FloatArray  #: posterior mean (EAP) of each model, shape (M,).
    sd: FloatArray  #: posterior standard deviation, shape (M,).
    #: ln ∫ ΠP^Y(1−P)^(K−Y) φ(θ) dθ of each model, shape (M,).
    log_marginal: FloatArray = field(default_factory=lambda: np.empty(0))
    #: for each group the abilities at the nodes, shapes (m, n).
    nodes: list[FloatArray] = field(default_factory=list)
    #: for each group the posterior weights of the nodes, sums 1, shapes (m, n).
    weights: list[FloatArray] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class ItemSums:
    """Posterior expectations summed over models, W = KP(1−P), each of shape (J,)."""

    residual: FloatArray  #: Σ E[Y − KP].
    residual_theta: FloatArray  #: Σ E[θ(Y − KP)].
    #: w, w_theta, w_theta2: Σ E[W], Σ E[Wθ], Σ E[Wθ²].
    w: FloatArray
    w_theta: FloatArray
    w_theta2: FloatArray


def model_groups(responses: Responses) -> list[ModelGroup]:
    """Models by the number of their cells: few cells make a wide, skewed posterior,
    which needs more nodes."""
    cells = responses.cells(1)
    rules = [
        (cells < 200, 0.5, 12),
        ((cells >= 200) & (cells < 2000), 1.0, 5),
        (cells >= 2000, 1.0, 4),
    ]
    groups = []
    for chosen, delta, most in rules:
        if not chosen.any():
            continue
        rows = np.flatnonzero(chosen)
        if chosen.all():
            part = responses
        else:
            part = responses.part(rows)
        offsets = delta * np.arange(-most, most + 1, dtype=np.float64)
        groups.append(
            ModelGroup(rows, part.successes, part.trials, responses.are_counts, offsets)
        )
    return groups


def update_posterior(
    groups: list[ModelGroup],
    a: FloatArray,
    d: FloatArray,
    prior: Prior,
    start: AbilityPosterior,
) -> AbilityPosterior:
    """The posterior under items (a, d), with nodes placed by ``start``; again where
    they lie badly."""
    now = start
    for _ in range(_RECENTRED):
        before, now = now, _posterior_once(groups, a, d, prior, now)
        moved = np.abs(now.mean - before.mean) / before.sd
        ratio = now.sd / before.sd
        if moved.max() < 1 and ratio.max() < 1.33 and ratio.min() > 0.75:
            break
    return now


def _posterior_once(
    groups: list[ModelGroup],
    a: FloatArray,
    d: FloatArray,
    prior: Prior,
    start: AbilityPosterior,
) -> AbilityPosterior:
    size = len(start.mean)
    posterior = AbilityPosterior(np.empty(size), np.empty(size), np.empty(size))
    for group in groups:
        rows = group.rows
        spread = start.sd[rows, None]
        nodes = start.mean[rows, None] + spread * group.offsets
        y_sums = times(group.y, np.stack([a, d], axis=1))
        log_weight = (
            nodes * y_sums[:, :1] + y_sums[:, 1:] - _softplus_sums(group, a, d, nodes)
        )
        mean = prior.mean[rows, None]
        log_weight -= 0.5 * ((nodes - mean) / prior.sd) ** 2 + math.log(
            prior.sd * math.sqrt(2 * math.pi)
        )
        top = log_weight.max(axis=1, keepdims=True)
        weight = np.exp(log_weight - top)
        total = weight.sum(axis=1, keepdims=True)
        weight /= total
        delta = group.offsets[1] - group.offsets[0]
        posterior.log_marginal[rows] = (top + np.log(total * delta * spread))[:, 0]
        posterior.mean[rows] = (weight * nodes).sum(axis=1)
        sd = np.sqrt((weight * (nodes - posterior.mean[rows, None]) ** 2).sum(axis=1))
        # all on one node: far narrower than the nodes lie, but how much is not seen
        # from there
        posterior.sd[rows] = np.maximum(sd, _NARROWER * spread[:, 0])
        posterior.nodes.append(nodes)
        posterior.weights.append(weight)
    return posterior


def item_sums(
    groups: list[ModelGroup],
    a: FloatArray,
    d: FloatArray,
    posterior: AbilityPosterior,
    *,
    exact: bool = False,
) -> ItemSums:
    """What one Newton step of every item needs.

    Unless ``exact``, W of models with narrow posteriors is taken at their middle node
    alone: it decides how fast EM gets to its end, not where that is.
    """
    sums = np.zeros((5, len(a)))
    for group, nodes, weights in zip(
        groups, posterior.nodes, posterior.weights, strict=True
    ):
        _add_group(sums, group, (a, d), (nodes, weights), posterior, exact)
        means = np.stack([np.ones(len(group.rows)), posterior.mean[group.rows]])
        sums[:2] += times(group.y.T, means.T).T
    return ItemSums(*sums)


def _add_group(
    sums: FloatArray,
    group: ModelGroup,
    items: tuple[FloatArray, FloatArray],
    at_nodes: tuple[FloatArray, FloatArray],
    posterior: AbilityPosterior,
    exact: bool,
) -> None:
    nodes, weights = at_nodes
    powers = np.stack([weights, weights * nodes, weights * nodes**2])  # (3, m, n)
    if exact or group.offsets[1] - group.offsets[0] < 1:
        at = {i: powers[:, :, i] for i in range(nodes.shape[1])}
    else:
        middle, mean = nodes.shape[1] // 2, posterior.mean[group.rows]
        at = {
            middle: np.stack(
                [np.ones_like(mean), mean, mean**2 + posterior.sd[group.rows] ** 2]
            )
        }

    def add(blocks: list[slice]) -> None:
        for block in blocks:
            k = group.draws_of(block)
            for i, p in enumerate(chances(group, block, *items, nodes)):
                if i in at:
                    variance = p - p * p
                    sums[2:, block] += (times_draws(variance, k) @ at[i].T).T
                sums[:2, block] -= (times_draws(p, k) @ powers[:2, :, i].T).T

    in_parts(list(blocks_of(group)), group.y.size * nodes.shape[1], add)


def chances(
    group: ModelGroup,
    block: slice,
    a: FloatArray,
    d: FloatArray,
    nodes: FloatArray,
    *,
    everywhere: bool = False,
) -> Iterator[FloatArray]:
    """P of a block of items at each node in turn, shape (B, m); overwritten by the
    next.

    In missing cells 0, unless ``everywhere``.
    """
    out = np.empty((block.stop - block.start, len(nodes)))
    for odds in _odds(None if everywhere else group.k, block, a, d, nodes):
        np.add(odds, 1.0, out=out)
        np.divide(odds, out, out=out)
        yield out


def _odds(
    k: Float32Array | None,
    block: slice,
    a: FloatArray,
    d: FloatArray,
    nodes: FloatArray,
) -> Iterator[FloatArray]:
    """exp(aθ + d) at each node in turn, 0 where K is.

    Nodes are equally spaced, so each is the one before times exp(a·step).
    """
    odds = np.exp(np.multiply.outer(a[block], nodes[:, 0]) + d[block, None])
    if k is not None:
        odds *= k[:, block].T > 0
    yield odds
    ratio = np.exp(np.multiply.outer(a[block], nodes[:, 1] - nodes[:, 0]))
    for _ in range(nodes.shape[1] - 1):
        odds *= ratio
        yield odds


def _softplus_sums(
    group: ModelGroup, a: FloatArray, d: FloatArray, nodes: FloatArray
) -> FloatArray:
    """Σ_j K ln(1 + exp(aθ + d)) at each node, shape (m, n)."""
    highest = float(np.abs(nodes).max() * a.max() + np.abs(d).max()) + 1
    if group.counted:
        halvings = 0
    else:
        halvings = max(0, min(3, int(math.log2(_LARGEST_EXPONENT / highest)) - 1))

    def part(blocks: list[slice]) -> FloatArray:
        sums = np.zeros(nodes.shape)
        for block in blocks:
            k = group.draws_of(block)
            values = np.empty((block.stop - block.start, len(nodes)))
            for i, odds in enumerate(_odds(group.k, block, a, d, nodes)):
                np.add(odds, 1.0, out=values)
                if k is None:
                    sums[:, i] += _log_of_product(values, halvings)
                else:
                    sums[:, i] += np.einsum("jm,jm->m", k, np.log(values))
        return sums

    return np.asarray(
        sum(in_parts(list(blocks_of(group)), group.y.size * nodes.shape[1], part))
    )


def _log_of_product(values: FloatArray, halvings: int) -> FloatArray:
    """ln of the product of each column; a few factors are multiplied first, as
    logarithms cost more."""
    for _ in range(halvings):
        half, odd = divmod(len(values), 2)
        if not half:
            break
        last = values[-1]
        values = values[:half] * values[half : 2 * half]
        if odd:
            values[0] *= last
    return np.asarray(np.log(values).sum(axis=0))


def times_draws(values: FloatArray, k: FloatArray | None) -> FloatArray:
    """Values of cells times their draws; as they are where each cell has one."""
    if k is None:
        return values
    return k * values


def blocks_of(group: ModelGroup) -> Iterator[slice]:
    models, items = group.y.shape
    width = max(16, _BLOCK // models)
    for start in range(0, items, width):
        yield slice(start, min(items, start + width))


_MANY = 20_000_000  # chances in one pass from which threads are worth their start
_PARTS = 16
_CELLS = 1 << 20
Result = TypeVar("Result")


def in_parts(
    blocks: list[slice], size: int, work: Callable[[list[slice]], Result]
) -> list[Result]:
    """``work`` done on all blocks, in threads where ``size`` (chances to compute) is
    large.

    The number of parts is fixed, so that sums do not depend on the number of threads.
    """
    if size < _MANY:
        return [work(blocks)]
    cuts = [len(blocks) * i // _PARTS for i in range(_PARTS + 1)]
    parts = [blocks[low:high] for low, high in itertools.pairwise(cuts) if low < high]
    with ThreadPoolExecutor(min(_PARTS, os.cpu_count() or 1)) as pool:
        return list(pool.map(work, parts))


def times(matrix: Float32Array, columns: FloatArray) -> FloatArray:
    """A product of 32-bit counts with 64-bit numbers, in parts: no 64-bit copy of the
    whole matrix."""
    rows = max(1, _CELLS // matrix.shape[1])
    product = np.empty((matrix.shape[0], columns.shape[1]))
    for start in range(0, matrix.shape[0], rows):
        product[start : start + rows] = (
            matrix[start : start + rows].astype(np.float64) @ columns
        )
    return product
