"""Answers drawn from the model of votes itself, so that the wrong keys are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit


def simulate(
    n: int,
    models: int,
    options: int,
    *,
    spread: float = 2.5,
    rate: float = 0.03,
    seed: int = 0,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Answers, keys, and which keys are wrong, from the model itself (A = 0.3)."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(2.5, 0.5, models)
    shares = rng.dirichlet([0.3] * (options - 1), n).cumsum(axis=1)
    right = rng.random((n, models)) < expit(ability + spread * rng.normal(size=(n, 1)))
    other = 1 + (rng.random((n, models, 1)) > shares[:, None, :-1]).sum(axis=2)
    wrong = rng.random(n) < rate
    return (
        np.where(right, 0, other),
        np.where(wrong, rng.integers(1, options, n), 0),
        wrong,
    )
