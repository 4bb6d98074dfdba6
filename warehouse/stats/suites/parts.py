"""What a weighted mean of parts keeps of these: their own intervals, and the flags of
those it rests on.

Student's t of a sum goes by its error alone, alike on both sides. The ends here lie as
far off as the parts' own ends together (MOVER: Zou and Donner 2008), below = √(Σ_lm w_l
w_m ρ_lm h_l h_m), h_l how far the lower end of part l is off its figure, ρ_lm the
correlation of the two; likewise above. Two benchmarks of 30 lognormal scores, σ 1: t
covers .92 (statistics.md §1e c).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # loads its parts when they are used
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.quantiles import t_p_value, t_quantile
from warehouse.stats.core.results import Interval
from warehouse.stats.intervals.bootstrap_t import studentised_draws
from warehouse.stats.intervals.defaults import FEW_CLUSTERS
from warehouse.stats.suites.cells import Cell, overlap

#: Share of the variance from which on flagged parts flag the whole.
MUCH = 0.25
FEW_PROMPTS, FEW_INFORMATIVE_CLUSTERS = "few_prompts", "few_informative_clusters"
#: Units that hold the rarer answer, by weight, from which on a leaf of many clusters is
#: enough beside others.
FEW_INFORMATIVE_AMONG_SEVERAL = 8
#: Flags of a part that say how far its interval is to be relied on; of figures that
#: labels correct.
OF_LABELS = frozenset(
    (
        "few_disagreements",
        "few_differing",
        "few_clusters",
        "labels_only",
        "judge_against_people",
        "skewed",
    )
)
OF_INTERVALS = frozenset(
    {
        *(
            "few_informative_prompts",
            "few_skewed_prompts",
            "few_differing_prompts",
            "few_varying_prompts",
        ),
        *(
            "few_informative_clusters",
            "few_skewed_clusters",
            "few_differing_clusters",
            "few_clusters",
        ),
        *(
            "heavy_tailed_prompts",
            "heavy_tailed_clusters",
            "far_bound",
            "skewed",
            FEW_PROMPTS,
        ),
        *("weights_concentrated", "weights_dominated"),
    }
)


@dataclass(frozen=True)
class Halves:
    """How far the ends of intervals lie off their figures, shape (L,) each."""

    below: FloatArray
    above: FloatArray

    def together(
        self, shares: FloatArray, correlation: FloatArray | None
    ) -> tuple[float, float]:
        """The same of Σ w_l m_l.

        Args:
            shares: w_l, at least 0, shape (L,).
            correlation: of the parts, shape (L, L); None: independent.
        """
        found = []
        for half in (self.below, self.above):
            own = shares * half
            if correlation is None:
                square = float(own @ own)
            else:
                square = float(own @ correlation @ own)
            found.append(math.sqrt(max(0.0, square)))
        return found[0], found[1]


def hull_with(
    interval: Interval, estimate: float, halves: tuple[float, float]
) -> Interval:
    """An interval that reaches no less far than the halves to either side."""
    low, high = (
        min(interval.low, estimate - halves[0]),
        max(interval.high, estimate + halves[1]),
    )
    return Interval(low, high, interval.level, f"{interval.method}_hull")


def p_of_halves(
    difference: float, halves: tuple[float, float], df: float, level: float
) -> float:
    """Two-sided p of a difference whose error is that of the half that faces 0, as a t
    interval has it.

    Args:
        difference: estimate.
        halves: how far its lower and its upper end is off.
        df: degrees of freedom.
        level: of the halves.
    """
    if difference > 0:
        facing = halves[0]
    else:
        facing = halves[1]
    if not facing:
        return 1.0
    return t_p_value(difference / facing * t_quantile(level, df), df)


def halves_of_cells(cells: Sequence[Cell], level: float, seed: int = 0) -> Halves:
    """Of the default intervals of scores without bounds: the hull of t and bootstrap-t;
    t of published figures.

    Args:
        cells: each with an error, which may be 0.
        level: nominal coverage.
        seed: of the bootstrap.
    """
    ends = [_ends(cell, level, seed) for cell in cells]
    return Halves(
        np.array([own[0] for own in ends]), np.array([own[1] for own in ends])
    )


def _ends(cell: Cell, level: float, seed: int) -> tuple[float, float]:
    error = math.sqrt(cell.variance or 0.0)
    if cell.design is None or cell.pulls is None or not error:
        half = t_quantile(level, math.inf) * error
        return half, half
    df = 1 / overlap(cell.design, cell.design)
    totals = cell.pulls * np.sqrt(cell.design.reductions)
    shares = cell.design.shares
    sizes = None if np.ptp(shares) <= 1e-12 * shares.max() else shares
    draws = studentised_draws(totals, sizes, df, seed)
    t = t_quantile(level, df)
    if draws is None:
        low, high = (-t, t)
    else:
        low, high = draws.ends(level)
    if not math.isfinite(high - low):
        low, high = -t, t
    return high * error, -low * error


def correlation_of_cells(cells: Sequence[Cell]) -> FloatArray:
    """ρ of every two cells by the units that both have, shape (L, L)."""
    found = np.eye(len(cells))
    for i, first in enumerate(cells):
        for j in range(i):
            found[i, j] = found[j, i] = _correlation(first, cells[j])
    return found


def _correlation(first: Cell, second: Cell) -> float:
    if (
        first.design is None
        or second.design is None
        or first.pulls is None
        or second.pulls is None
    ):
        return 0.0
    _, a, b = np.intersect1d(
        first.design.units, second.design.units, assume_unique=True, return_indices=True
    )
    scale = float(np.linalg.norm(first.pulls) * np.linalg.norm(second.pulls))
    if scale:
        return float(first.pulls[a] @ second.pulls[b]) / scale
    return 0.0


def correlation_of_sums(
    values: Sequence[FloatArray], units: NDArray[np.intp]
) -> FloatArray:
    """ρ of parts from what each prompt adds, and its unit, all parts one after the
    other, shape (L, L)."""
    owners = np.repeat(np.arange(len(values)), [len(own) for own in values])
    shape = (len(values), int(units.max()) + 1)
    table = scipy.sparse.csr_matrix((np.concatenate(values), (owners, units)), shape)
    gram = (table @ table.T).toarray()
    norm = np.sqrt(np.diag(gram))
    scale = np.outer(norm, norm)
    found: FloatArray = np.divide(gram, scale, out=np.eye(len(values)), where=scale > 0)
    return found


def without_few_prompts(flags: tuple[str, ...]) -> tuple[str, ...]:
    """Flags of a part with scores of 0 and 1 that hold for a mean of several.

    Coverage goes up and down with the number of prompts in one benchmark, and no longer
    in several: means of 2 to 20 benchmarks of 20 to 90 prompts cover .92 to .98 of 95
    %. Two of 25 prompts from Beta(.05, 2) cover .91.
    """
    return tuple(flag for flag in flags if flag != FEW_PROMPTS)


def flags_among_several(cell: Cell) -> tuple[str, ...]:
    """Flags of a leaf that hold for a mean of several, of which few units with the
    rarer answer spoil less.

    Alone it is flagged with fewer than 11 of them. Beside another leaf, 20 and more
    clusters of 5 to 60 prompts miss 5.0 % with 7 to 8 of them (by weight), 5.1 % with 8
    to 11, and 5.9 % with 5 to 7 (16 to 36 hundred samples).
    """
    if not cell.binary:
        return cell.flags
    flags = without_few_prompts(cell.flags)
    if cell.design is None:
        n_units = 0
    else:
        n_units = len(cell.design.sizes)
    if n_units < FEW_CLUSTERS or cell.informative < FEW_INFORMATIVE_AMONG_SEVERAL:
        return flags
    return tuple(flag for flag in flags if flag != FEW_INFORMATIVE_CLUSTERS)


def flags_that_count(
    flags: Sequence[tuple[str, ...]],
    variances: FloatArray,
    counted: Collection[str] = OF_INTERVALS,
) -> tuple[str, ...]:
    """Flags of parts' intervals, where the parts that have any hold more than a quarter
    of the variance.

    Args:
        flags: of each part.
        variances: w_l² se_l² of each, at least 0, shape (L,).
        counted: flags that count.
    """
    found: dict[str, None] = {}
    held: list[float] = []
    for own, variance in zip(flags, variances, strict=True):
        of_intervals = [flag for flag in own if flag in counted]
        found |= dict.fromkeys(of_intervals)
        if of_intervals:
            held.append(variance)
    total = math.fsum(variances)
    if not total or not math.fsum(held) > MUCH * total:
        return ()
    return tuple(found)
