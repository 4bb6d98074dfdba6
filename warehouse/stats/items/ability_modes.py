"""The most likely ability of each model, items given (MAP), and the walk over blocks of cells that it needs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.responses import Responses

_BLOCK = 1 << 18  # cells of one temporary array
_STEPS = 100


def ability_modes(
    responses: Responses, a: FloatArray, d: FloatArray, prior_mean: ArrayLike = 0.0, prior_sd: float = 1.0
) -> FloatArray:
    """MAP ability of each model under a normal prior, items given, shape (M,): finite where all is right or wrong."""
    mean = np.broadcast_to(np.asarray(prior_mean, dtype=np.float64), (responses.n_models,))
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


def cell_blocks(responses: Responses) -> Iterator[tuple[slice, FloatArray, FloatArray | float]]:
    """Items in blocks: which, successes and draws of their cells."""
    width = max(1, _BLOCK // responses.n_models)
    for start in range(0, responses.n_items, width):
        items = slice(start, min(responses.n_items, start + width))
        k = 1.0 if responses.trials is None else responses.trials[:, items].astype(np.float64)
        yield items, responses.successes[:, items].astype(np.float64), k
