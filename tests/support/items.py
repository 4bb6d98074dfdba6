"""Simulated answers of models to items, with the truth behind them."""

from __future__ import annotations

import numpy as np
from scipy import special

from warehouse.stats.items.responses import as_responses


def simulate(
    seed: int,
    models: int,
    items: int,
    *,
    missing: float = 0.0,
    draws: int = 1,
    spread: float = 0.4,
):
    """Responses of a 2PL with their true abilities, a and d."""
    rng = np.random.default_rng(seed)
    theta, a = rng.normal(size=models), np.exp(rng.normal(0, spread, items))
    d = rng.normal(0, 1.2, items)
    y = rng.binomial(draws, special.expit(np.multiply.outer(theta, a) + d)).astype(
        float
    )
    y[rng.random(y.shape) < missing] = np.nan
    return as_responses(y, np.full(y.shape, draws)), theta, a, d


def two_blocks(seed: int, *, models: int, items: int, linking: int, gap: float = 1.5):
    """Two blocks of models that answered ``items`` each, ``linking`` of them in common."""
    rng = np.random.default_rng(seed)
    block = np.repeat([0, 1], models)
    theta = rng.normal(size=2 * models) * 0.7 + gap * (block - 0.5)
    total = 2 * items - linking
    d = rng.normal(0, 1, total)
    y = (
        rng.random((2 * models, total))
        < special.expit(np.multiply.outer(theta, np.ones(total)) + d)
    ).astype(float)
    y[:models, items:] = np.nan
    y[models:, : items - linking] = np.nan
    return as_responses(y), block, theta


def families(seed: int, shift: float, models: int = 80, items: int = 40):
    """Two families, ``odd`` one logit more able, the first three items easier for it by
    ``shift``."""
    _, theta, a, d = simulate(seed, models, items)
    family = np.arange(models) % 2
    rng = np.random.default_rng(seed + 1)
    chance = special.expit(
        np.multiply.outer(theta + family, a)
        + d
        + shift * np.outer(family, np.arange(items) < 3)
    )
    return as_responses((rng.random(chance.shape) < chance).astype(float)), [
        ("even", "odd")[f] for f in family
    ]
