"""One row of a suite over the training seeds of a model: the mean over benchmarks
within a seed, then over seeds.

A seed moves all benchmarks of a suite together. So what a seed adds to the figure is
B_s = Σ_l w_l b_ls, with b_ls what it adds to benchmark l (`seed_fit`), and V_s =
s²(B)/S holds how seeds of one number go together on the benchmarks (statistics.md §20
A, composed). V_p is the squared error of the suite by the parts of the prompts a_il,
V_i that of the residuals y_sil − a_il, both over units that benchmarks share
(`weighted_mean`). With one benchmark this is `seed_row`.

Benchmarks whose seeds have other labels are other trainings: their seeds are
independent, so that V_s and V_i add up, and so do the squared distances to the ends of
the seeds' intervals (Zou and Donner 2008). A benchmark with one run adds nothing to the
seeds' part, as nothing is known of it there.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Bounds, FloatArray, as_level, finite_bounds
from warehouse.stats.core.results import Interval, NamedFigures
from warehouse.stats.core.sample import find_link
from warehouse.stats.intervals.closed_form import interval_t, interval_wilson_bounded
from warehouse.stats.paired.paired import figure_values
from warehouse.stats.rows.seed_difference import (
    RowSeeds,
    SeedReach,
    cut_to_range,
    seed_parts,
)
from warehouse.stats.rows.seed_fit import as_cells, fit_seeds
from warehouse.stats.rows.seed_row import interval_over_parts, seed_flags
from warehouse.stats.suites.cells import Cell, leaf_cell
from warehouse.stats.suites.combined_differences import CombinedDifference
from warehouse.stats.suites.unit_table import UnitTable
from warehouse.stats.suites.weighted_mean import (
    SuiteEstimate,
    combine_shares,
    leaf_weights,
)

#: Flag of a figure to which a benchmark with one run belongs, though others have
#: several seeds.
ONE_SEED = "one_seed"


@dataclass(frozen=True, eq=False)
class LeafSeeds:
    """The seeds of a row on one benchmark."""

    #: of the seeds; equal ones on two benchmarks are one seed, S.
    labels: tuple[Hashable, ...]
    cell: Cell  #: of the parts of the prompts a_i: the benchmark's figure, and what other prompts would change.
    parts: FloatArray  #: b_s, what each seed adds to the figure, shape (S,).
    residuals: tuple[Cell, ...]  #: y_s − a of each seed, over the prompts that it has.


def leaf_seeds(
    cells: ArrayLike,
    labels: Sequence[Hashable],
    units: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    link: str = "identity",
) -> LeafSeeds:
    """The seeds of a row on one benchmark of a suite.

    Args:
        cells: mean over draws of each seed on each prompt, NaN where it has none, shape
            (S, n), S at least 2.
        labels: of the seeds, S different ones.
        units: whole number of the unit of each prompt, as of `leaf_cell`, shape (n,).
        weights: of the prompts, at least 0, shape (n,), or None.
        link: from the mean to the figure, as of `estimate_mean`.

    Raises:
        StatisticsError: another shape, fewer than two seeds, labels that repeat.
    """
    table = as_cells(cells)
    if len(table) < 2 or len(labels) != len(table) or len(set(labels)) < len(labels):
        raise StatisticsError(
            f"`labels` must name two seeds at least, each once; found {len(labels)} of "
            f"{len(table)}"
        )
    curve, identity = find_link(link), find_link("identity")
    fit = fit_seeds(table, weights=weights)
    slope = curve.slope(fit.mean)
    numbers = np.asarray(units)
    shares = own = None
    if weights is not None:
        shares = np.asarray(weights, dtype=np.float64)
    residuals: list[Cell] = []
    for row in table:
        has = np.isfinite(row)
        if shares is not None:
            own = shares[has]
        moved = slope * (row - fit.prompt_parts)[has]
        figures = figure_values(moved, own, identity)
        residuals.append(leaf_cell(figures, numbers[has], own))
    whole = leaf_cell(figure_values(fit.prompt_parts, shares, curve), numbers, shares)
    return LeafSeeds(tuple(labels), whole, slope * fit.seed_parts, tuple(residuals))


def seeds_together(labels: Sequence[Sequence[Hashable]]) -> list[tuple[Hashable, ...]]:
    """Which seeds count on each benchmark: those that all of them have, where these are
    two or more; else each its own.

    Args:
        labels: of the seeds on each benchmark that has several.

    Examples:
        >>> seeds_together([("0", "1", "2"), ("1", "2")])
        [('1', '2'), ('1', '2')]
        >>> seeds_together([("0", "1"), ("2", "3")])
        [('0', '1'), ('2', '3')]
    """
    if not labels:
        return []
    everywhere = set(labels[0]).intersection(*labels)
    common = tuple(label for label in labels[0] if label in everywhere)
    if len(common) > 1:
        return [common] * len(labels)
    return [tuple(own) for own in labels]


@dataclass(frozen=True)
class SuiteSeeds(NamedFigures):
    """What the seeds of a row add to its figure on a suite."""

    n_seeds: int  #: S; of benchmarks whose seeds are others the fewest.
    labels: tuple[Hashable, ...]  #: of the seeds; empty where benchmarks have others.
    #: figure of each seed on the suite; empty where benchmarks have others.
    seed_means: tuple[float, ...]
    v_prompts: float | None  #: V_p.
    v_seeds: float  #: V_s.
    v_interaction: float | None  #: V_i; None where a benchmark has a single unit.
    n_groups: int  #: groups of benchmarks with the same seeds; 1: one draw of seeds moves them all.
    n_single: int  #: benchmarks with one run, of which nothing is known of other seeds.

    @property
    def row(self) -> RowSeeds:
        """What a comparison asks of it."""
        return RowSeeds(self.n_seeds, self.v_seeds, self.v_interaction or 0.0)


def combine_over_seeds(
    leaves: Sequence[Cell | LeafSeeds],
    weights: ArrayLike | None = None,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> tuple[SuiteEstimate, SuiteSeeds | None]:
    """A row's figure on a suite, and what its seeds add; the second is None where no
    benchmark has several.

    Args:
        leaves: one for each benchmark.
        weights: of the benchmarks, above 0, divided by their sum; None: equal.
        bounds: smallest and largest possible figure of every benchmark; None:
            unbounded.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: as of `combine_leaves`.
    """
    shares, level = leaf_weights(weights, len(leaves)), as_level(level)
    limits = finite_bounds(bounds)
    cells = [_cell_of(leaf) for leaf in leaves]
    of_prompts = combine_shares(cells, shares, bounds=bounds, level=level)
    groups = _groups(leaves)
    if not groups:
        return of_prompts, None
    parts = [_group(leaves, members, shares, limits, level) for members in groups]
    known = [part.v_interaction for part in parts if part.v_interaction is not None]
    v_interaction = None
    if len(known) == len(parts):
        v_interaction = math.fsum(known)
    labels: tuple[Hashable, ...] = ()
    seed_means: tuple[float, ...] = ()
    if len(parts) == 1:
        labels = parts[0].labels
        means = of_prompts.estimate + parts[0].effects
        seed_means = tuple(means.tolist())
    seeds = SuiteSeeds(
        n_seeds=min(part.effects.size for part in parts),
        labels=labels,
        seed_means=seed_means,
        v_prompts=_variance_of_prompts(of_prompts),
        v_seeds=math.fsum(part.v_seeds for part in parts),
        v_interaction=v_interaction,
        n_groups=len(parts),
        n_single=sum(not isinstance(leaf, LeafSeeds) for leaf in leaves),
    )
    return _with_seeds(of_prompts, seeds, parts, limits), seeds


def _groups(leaves: Sequence[Cell | LeafSeeds]) -> list[list[int]]:
    """Benchmarks by the labels of their seeds."""
    groups: dict[frozenset[Hashable], list[int]] = {}
    for number, leaf in enumerate(leaves):
        if isinstance(leaf, LeafSeeds):
            groups.setdefault(frozenset(leaf.labels), []).append(number)
    return list(groups.values())


@dataclass(frozen=True)
class _Group:
    """Benchmarks that the same seeds move."""

    labels: tuple[Hashable, ...]
    effects: FloatArray  #: B_s, shape (S,).
    v_seeds: float
    v_interaction: float | None
    below: float  #: from the estimate to the lower end of the seeds' interval.
    above: float


def _group(
    leaves: Sequence[Cell | LeafSeeds],
    members: Sequence[int],
    shares: FloatArray,
    limits: tuple[float, float] | None,
    level: float,
) -> _Group:
    own: list[LeafSeeds] = []
    for number in members:
        leaf = leaves[number]
        assert isinstance(leaf, LeafSeeds)
        own.append(leaf)
    weights = shares[list(members)]
    labels = own[0].labels
    places = [[leaf.labels.index(label) for label in labels] for leaf in own]
    effects = np.zeros(len(labels))
    for leaf, at, weight in zip(own, places, weights, strict=True):
        effects += weight * leaf.parts[at]
    n_seeds = len(labels)
    centred = effects - effects.mean()
    v_seeds = float(centred @ centred) / (n_seeds - 1) / n_seeds
    below, above = _reach(own, weights, v_seeds, n_seeds, limits, level)
    return _Group(
        labels, effects, v_seeds, _interaction(own, places, weights), below, above
    )


def _cell_of(leaf: Cell | LeafSeeds) -> Cell:
    if isinstance(leaf, LeafSeeds):
        return leaf.cell
    return leaf


def _variance_of_prompts(of_prompts: SuiteEstimate) -> float | None:
    """0 where all scores are equal, of which Wilson's interval knows."""
    if of_prompts.standard_error is not None:
        return of_prompts.standard_error**2
    if of_prompts.degrees_of_freedom is None and of_prompts.ci_low is not None:
        return 0.0
    return None


def _interaction(
    own: Sequence[LeafSeeds], places: Sequence[Sequence[int]], weights: FloatArray
) -> float | None:
    """V_i = Σ_s Var(Σ_l w_l mean(y_sl − a_l)) / (S(S − 1)), over units that benchmarks
    share."""
    n_seeds = len(own[0].labels)
    total = 0.0
    for seed in range(n_seeds):
        cells = [leaf.residuals[at[seed]] for leaf, at in zip(own, places, strict=True)]
        if any(cell.variance is None for cell in cells):
            return None
        total += UnitTable([cells]).variance(weights)
    return total / (n_seeds * (n_seeds - 1))


def _reach(
    own: Sequence[LeafSeeds],
    weights: FloatArray,
    v_seeds: float,
    n_seeds: int,
    limits: tuple[float, float] | None,
    level: float,
) -> tuple[float, float]:
    """How far the ends of the seeds' interval lie from the figure: Wilson's on the
    scale of the benchmarks, or t's."""
    if not v_seeds:
        return 0.0, 0.0
    share = float(weights.sum())
    mean = (
        math.fsum(w * leaf.cell.estimate for w, leaf in zip(weights, own, strict=True))
        / share
    )
    error = math.sqrt(v_seeds) / share
    interval: Interval | None
    if limits is None:
        interval = interval_t(mean, error, n_seeds - 1, level=level)
    else:
        interval = interval_wilson_bounded(
            mean, error, n_seeds - 1, bounds=limits, level=level
        )
    if interval is None:
        return 0.0, 0.0
    return share * (mean - interval.low), share * (interval.high - mean)


def _with_seeds(
    of_prompts: SuiteEstimate,
    seeds: SuiteSeeds,
    parts: Sequence[_Group],
    limits: tuple[float, float] | None,
) -> SuiteEstimate:
    """The figure with the error and the interval that the seeds give it."""
    flags = of_prompts.flags
    if seeds.n_single:
        flags += (ONE_SEED,)
    v_p, v_i = seeds.v_prompts, seeds.v_interaction
    low, high = of_prompts.ci_low, of_prompts.ci_high
    if v_p is None or v_i is None or low is None or high is None:
        of_seeds = seed_flags(seeds.n_seeds, None, None, limits)
        return replace(of_prompts, flags=flags + of_seeds)
    pooled = Interval(low, high, of_prompts.level, of_prompts.method)
    below = math.hypot(*(part.below for part in parts))
    above = math.hypot(*(part.above for part in parts))
    share = 0.0
    if v_p > 0:
        share = max(0.0, 1 - v_i / v_p)
    interval = interval_over_parts(
        of_prompts.estimate, pooled, share, (below, above), limits
    )
    variance = max(v_p + seeds.v_seeds - v_i, v_p, seeds.v_seeds)
    of_seeds = seed_flags(seeds.n_seeds, interval, pooled, limits)
    return replace(
        of_prompts,
        standard_error=math.sqrt(variance) or None,
        ci_low=interval.low,
        ci_high=interval.high,
        degrees_of_freedom=None,
        method=interval.method,
        reason=f"seeds and prompts are random; of the prompts: {of_prompts.reason}",
        flags=flags + of_seeds,
    )


def combined_over_seeds(
    combined: CombinedDifference,
    rows: tuple[RowSeeds, RowSeeds],
    *,
    bounds: Bounds | None = None,
) -> tuple[CombinedDifference, SeedReach | None]:
    """The mean difference on several benchmarks with the error that the seeds give it
    (statistics.md §20 B, composed).

    Args:
        combined: of the parts of the prompts: its error is the root of V_p.
        rows: what the seeds of both say of another draw of them, over all benchmarks.
        bounds: of the scores; the interval is cut to ± their range.

    Returns:
        The second tests a difference against a margin; None without an error.
    """
    v_prompts = (combined.standard_error or 0.0) ** 2
    df = combined.degrees_of_freedom or math.inf
    parts = seed_parts(np.array([v_prompts]), np.array([df]), [rows])
    error = float(parts.standard_error[0])
    if not error:
        return combined, None
    half = float(parts.half_width(1 - combined.level)[0])
    low, high = cut_to_range(
        combined.difference - half, combined.difference + half, bounds
    )
    found = replace(
        combined,
        standard_error=error,
        ci_low=low,
        ci_high=high,
        p_value=float(parts.p_values(np.array([combined.difference]))[0]),
    )
    return found, SeedReach(np.empty(0), df, parts)
