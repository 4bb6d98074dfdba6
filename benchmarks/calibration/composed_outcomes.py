"""What a simulated sample of a composed figure says, and how often a cell of them
fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Generator = np.random.Generator
ALPHA = 0.05


class Outcome(NamedTuple):
    """What one sample says."""

    failed: float  #: 1: the interval misses, the test rejects; NaN: there is none.
    is_flagged: bool = False
    width: float = math.nan  #: of the interval.


class ComposedCell(NamedTuple):
    """One kind of data and what is made of it."""

    rule: str  #: letter of the part of the page.
    figure: str  #: what is counted.
    name: str  #: the data.
    simulations: int
    ask: Callable[[Generator], Outcome]
    is_power: bool = False  #: the more often the better.


class ComposedRow(NamedTuple):
    """How often it failed."""

    rule: str
    figure: str
    name: str
    simulations: int
    failed: float  #: share of samples with an interval (or p) in which it failed.
    none: float  #: share of samples without one.
    flagged: float  #: share with a flag.
    width: float  #: median.


def simulate_composed(cell: ComposedCell, seed: int, share: float = 1.0) -> ComposedRow:
    """Samples of a cell; the result depends on the cell, the seed and the number only.

    Args:
        share: of the cell's samples.
    """
    words = [seed, *f"{cell.rule} {cell.figure} {cell.name}".encode()]
    n = max(2, round(share * cell.simulations))
    streams = np.random.SeedSequence(words).spawn(n)
    outcomes = [cell.ask(np.random.default_rng(stream)) for stream in streams]
    failed = np.array([outcome.failed for outcome in outcomes], dtype=np.float64)
    widths = np.array([outcome.width for outcome in outcomes])
    there, wide = np.isfinite(failed), widths[np.isfinite(widths)]
    return ComposedRow(
        rule=cell.rule,
        figure=cell.figure,
        name=cell.name,
        simulations=n,
        failed=float(failed[there].mean()) if there.any() else math.nan,
        none=float((~there).mean()),
        flagged=float(np.mean([outcome.is_flagged for outcome in outcomes])),
        width=float(np.median(wide)) if len(wide) else math.nan,
    )


def missed(
    low: float | None, high: float | None, truth: float, flags: Sequence[str] = ()
) -> Outcome:
    """Whether an interval misses what is true."""
    if low is None or high is None:
        return Outcome(math.nan, bool(flags))
    return Outcome(float(not low <= truth <= high), bool(flags), high - low)


def lognormal(rng: Generator, sigma: float, size: Any) -> Array:
    """Lognormal scores of mean 1."""
    return np.asarray(np.exp(sigma * rng.standard_normal(size) - sigma**2 / 2))


def sizes_of(rng: Generator, clusters: int) -> NDArray[np.intp]:
    """Cluster of each prompt; lognormal sizes about 10."""
    sizes = np.maximum(1, np.round(10 * lognormal(rng, 1.2, clusters))).astype(int)
    return np.repeat(np.arange(clusters), sizes)
