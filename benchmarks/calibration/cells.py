"""The grid: which data are simulated, and the populations they are drawn from.

A population is a table of clusters (of single prompts where there are none): the total
score of each. A sample draws clusters from it with replacement, so that its true mean
is known exactly. Cluster rates are the quantiles of their distribution, not draws from
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

PROMPTS = (20, 50, 100, 300, 1000, 10_000)
CLUSTERS = (None, 5, 10, 20, 50, 500)
CORRELATIONS = (0.0, 0.2, 0.6)
RATES = (0.02, 0.1, 0.5, 0.9, 0.98)
DRAWS = (1, 5, 20)
CONTINUOUS = ("normal", "exponential", "beta")
PAIRED_RATES = (0.02, 0.1, 0.5)
PAIRED_DRAWS = (1, 5)

_VALUES = 1_000_000  # scores in a population, about
_CLUSTERS = (1000, 20_000)  # and the fewest and most clusters
_CONCENTRATION = 2.0  # of prompts' rates around that of their cluster: Beta(2θ, 2(1−θ))


class Cell(NamedTuple):
    """One kind of data.

    Attributes:
        kind: ``rate`` (mean of K 0/1 draws per prompt), ``paired`` (difference of two
            such runs, mean 0) or one of `CONTINUOUS`.
        draws: K; 0 for continuous scores.
        rate: p, the mean; 0 for continuous scores.
        prompts: n.
        clusters: G of n/G prompts each, None without.
        correlation: within clusters.
    """

    kind: str
    draws: int
    rate: float
    prompts: int
    clusters: int | None
    correlation: float

    @property
    def units(self) -> int:
        """What is drawn: clusters, or prompts."""
        return self.clusters or self.prompts

    @property
    def size(self) -> int:
        """Prompts per unit."""
        return self.prompts // self.units


def grid() -> list[Cell]:
    """Every cell, in the order of the table."""
    kinds = [("rate", k, p) for k in DRAWS for p in RATES]
    kinds += [(kind, 0, 0.0) for kind in CONTINUOUS]
    kinds += [("paired", k, p) for k in PAIRED_DRAWS for p in PAIRED_RATES]
    return [Cell(*kind, *shape) for kind in kinds for shape in _shapes()]


def _shapes() -> Iterator[tuple[int, int | None, float]]:
    for n in PROMPTS:
        for g in CLUSTERS:
            if g is None:
                yield n, None, 0.0
            elif g <= n // 2:
                yield from ((n, g, icc) for icc in CORRELATIONS)


def population(cell: Cell, rng: np.random.Generator) -> tuple[Array, float]:
    """Total of each unit of the population, and the true mean of a prompt."""
    count = int(np.clip(_VALUES // cell.size, *_CLUSTERS))
    if cell.clusters is None:
        count = _VALUES // 5
    if cell.kind == "rate":
        scores = _answers(cell, count, rng)
    elif cell.kind == "paired":
        scores = _answers(cell, count, rng) - _answers(cell, count, rng)
    else:
        scores = _continuous(cell, count, rng)
    totals = scores.sum(axis=1)
    return totals, float(totals.mean()) / cell.size


def _answers(cell: Cell, count: int, rng: np.random.Generator) -> Array:
    """Share of right draws of each prompt, shape (count, size)."""
    rates = rng.permutation(_cluster_rates(cell, count))[:, None]
    shape = (count, cell.size)
    if cell.draws == 1 and cell.size == 1 and cell.kind == "rate":
        return (np.arange(count) < round(cell.rate * count)).astype(np.float64)[:, None]
    if cell.draws == 1:
        return (rng.random(shape) < rates).astype(np.float64)
    wide = np.clip(np.broadcast_to(rates, shape), 1e-9, 1 - 1e-9)
    prompts = rng.beta(_CONCENTRATION * wide, _CONCENTRATION * (1 - wide))
    return rng.binomial(cell.draws, prompts) / cell.draws


def _cluster_rates(cell: Cell, count: int) -> Array:
    """Quantiles of Beta with mean p and the correlation of the cell."""
    if cell.correlation == 0:
        return np.full(count, cell.rate)
    scale = (1 - cell.correlation) / cell.correlation
    middle = (np.arange(count) + 0.5) / count
    rates: Array = special.betaincinv(
        cell.rate * scale, (1 - cell.rate) * scale, middle
    )
    return rates


def _continuous(cell: Cell, count: int, rng: np.random.Generator) -> Array:
    """Normal scores with the correlation of the cell, or their image on another scale."""
    shared = rng.normal(size=(count, 1)) * cell.correlation**0.5
    own = rng.normal(size=(count, cell.size)) * (1 - cell.correlation) ** 0.5
    z: Array = shared + own
    if cell.kind == "exponential":
        return -special.log_ndtr(-z)
    if cell.kind == "beta":
        return np.asarray(special.betaincinv(0.5, 2.0, special.ndtr(z)))
    return z
