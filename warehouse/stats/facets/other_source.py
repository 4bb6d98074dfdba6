"""The figure that another lab would publish of the same model, from pairs of published
figures (statistics.md §27, E5).

No variance and no t: the tails are too heavy. Checked on public pairs only.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import as_level
from warehouse.stats.core.results import NamedFigures

#: Figures that differ by no more are copies of one another.
COPY = 0.0005


@dataclass(frozen=True)
class PublishedPair:
    """Two figures of one model on one benchmark, of different sources."""

    cell: Hashable  #: model and benchmark: each counts once, whatever its pairs.
    first: float  #: one figure, a share.
    second: float  #: the other.


@dataclass(frozen=True)
class OtherSource(NamedFigures):
    """Where another lab's figure would lie."""

    figure: float  #: the one figure in hand, a share.
    low: float  #: lower end.
    high: float  #: upper end.
    level: float  #: share of cells whose other figure lies within.
    reach: float  #: q: distance of the logits.
    n_pairs: int  #: pairs that are no copies.
    n_cells: int  #: models × benchmarks that they are of.
    n_copies: int  #: pairs that were left out as copies.


def other_source(
    figure: float, pairs: Sequence[PublishedPair], *, level: float = 0.95
) -> OtherSource:
    """Where the figure of another source would lie.

    Args:
        figure: the published figure in hand, a share in (0, 1).
        pairs: published figures of the same model, benchmark and protocol.
        level: share of cells, in (0, 1).

    Raises:
        StatisticsError: a figure out of range, or fewer cells than the level needs (19
            at 95 %).

    Examples:
        >>> pairs = [PublishedPair(cell, 0.6, 0.6 + cell / 1000) for cell in range(1, 41)]
        >>> found = other_source(0.7, pairs)
        >>> found.n_cells, found.low < 0.7 < found.high
        (40, True)
    """
    level = as_level(level)
    if not 0 < figure < 1:
        raise StatisticsError(
            f"`figure` must be a share within 0 and 1, found {figure}"
        )
    inside = [pair for pair in pairs if 0 < pair.first < 1 and 0 < pair.second < 1]
    kept = [pair for pair in inside if abs(pair.first - pair.second) > COPY]
    of_cell: dict[Hashable, int] = {}
    for pair in kept:
        of_cell[pair.cell] = of_cell.get(pair.cell, 0) + 1
    n_cells = len(of_cell)
    needed = math.ceil(level / (1 - level) - 1e-9)
    if n_cells < needed:
        raise StatisticsError(
            f"{n_cells} models and benchmarks with figures of two sources; {needed} are "
            f"needed for {100 * level:g} %"
        )
    distances = np.array([abs(_logit(p.first) - _logit(p.second)) for p in kept])
    weights = np.array([1 / of_cell[pair.cell] for pair in kept])
    order = np.argsort(distances, kind="stable")
    reached = np.cumsum(weights[order]) / (n_cells + 1)
    first = int(np.argmax(reached >= level - 1e-12))
    reach = float(distances[order][first])
    at = _logit(figure)
    return OtherSource(
        figure=figure,
        low=_share(at - reach),
        high=_share(at + reach),
        level=level,
        reach=reach,
        n_pairs=len(kept),
        n_cells=n_cells,
        n_copies=len(inside) - len(kept),
    )


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
