"""The figure of a set of conditions on a suite, from the cells of its leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.scored_conditions import ScoredCondition, coverage_flags
from warehouse.analysis.subsets.stored import BenchmarkPlans
from warehouse.analysis.suites.condition_sets import ConditionSet
from warehouse.analysis.suites.entries import LeafEntries, SuiteFigure
from warehouse.analysis.suites.row import SuiteRow
from warehouse.analysis.suites.units import UnitMap
from warehouse.stats import Cell, combine_leaves, leaf_cell, published_cell
from warehouse.stats.core.sample import find_link
from warehouse.stats.paired.paired import figure_values


@dataclass(frozen=True)
class Leaf:
    """A leaf of a suite.

    Attributes:
        weight: above 0; only its ratio to the others' counts.
        leaf_entries: its conditions and scores.
        plans: stored ones that conditions may be on.
    """

    weight: float
    leaf_entries: LeafEntries
    plans: BenchmarkPlans = BenchmarkPlans()

    @property
    def name(self) -> str:
        """Name of the benchmark."""
        return self.leaf_entries.benchmark.name

    @property
    def entries(self) -> tuple[ScoredCondition, ...]:
        """One for each condition."""
        return self.leaf_entries.entries

    @property
    def metric(self) -> Metric:
        """How its values are to be read."""
        return self.leaf_entries.metric


@dataclass(frozen=True)
class Scored:
    """A set of conditions with its figure on each leaf, and its row, not ranked yet.

    Attributes:
        cells: by leaf; leaves without a figure are missing.
        n_shared: units in more than one leaf.
    """

    conditions: ConditionSet
    cells: dict[str, Cell]
    row: SuiteRow
    n_shared: int


def _cell(entry: ScoredCondition, units: UnitMap) -> Cell | None:
    scores = entry.usable
    if scores is not None and not entry.is_cut:
        values = figure_values(scores.values, scores.uneven_weights, find_link(entry.metric.link))
        return leaf_cell(values, units.units(scores.prompts), scores.uneven_weights)
    if entry.published is None:
        return None
    figure = entry.published
    return published_cell(figure.value, figure.standard_error or None, figure.n)


def score_set(
    one: ConditionSet,
    label: str,
    leaves: Sequence[Leaf],
    units: UnitMap,
    figures: Sequence[SuiteFigure],
    level: float,
    suite: str,
) -> Scored:
    """The row of a set, not ranked yet."""
    kept = [leaf for leaf in leaves if leaf.name in one.entries]
    cells = {}
    for leaf in kept:
        cell = _cell(one.entries[leaf.name], units)
        if cell is not None:
            cells[leaf.name] = cell
    with_cells = [leaf for leaf in kept if leaf.name in cells]
    bounds, outside = _bounds(with_cells, cells)
    combined = combine_leaves(list(cells.values()), [leaf.weight for leaf in with_cells], bounds=bounds, level=level)
    entries = [one.entries[leaf.name] for leaf in with_cells]
    scores = [entry.usable for entry in entries if entry.usable is not None]
    n_prompts, n_draws = _counts(entries, list(cells.values()), units)
    n_samples, n_unscored = (sum(getattr(item, name) for item in scores) for name in ("n_samples", "n_unscored"))
    figure = _published(one, figures)
    clustered = any(bool((units.units(item.prompts) >= 0).any()) for item in scores)
    missing = len(leaves) - len(cells)
    flags = [*(["missing_leaves"] if missing else []), *_coverage(with_cells, entries), *outside]
    row = SuiteRow(
        rank=None,
        statistical_rank=None,
        group="",
        model=one.model,
        condition=label,
        estimate=combined.estimate,
        standard_error=combined.standard_error,
        ci_low=combined.ci_low,
        ci_high=combined.ci_high,
        level=level,
        n_leaves=len(cells),
        n_missing=missing,
        n_prompts=n_prompts,
        n_clusters=combined.n_units if clustered else None,
        n_draws=n_draws,
        n_unscored=n_unscored,
        share_unscored=n_unscored / n_samples if n_samples else 0.0,
        published=None if figure is None else figure.value,
        published_se=None if figure is None else figure.standard_error,
        method=combined.method,
        flags=(*flags, *combined.flags),
        reason=combined.reason,
        se_independent=combined.se_independent,
        degrees_of_freedom=combined.degrees_of_freedom,
        suite=suite,
        leaf_estimates=tuple(cells[leaf.name].estimate if leaf.name in cells else None for leaf in leaves),
        run_ids=tuple(run for entry in entries for run in entry.condition.run_ids),
    )
    return Scored(one, cells, row, combined.n_shared)


def _counts(entries: Sequence[ScoredCondition], cells: Sequence[Cell], units: UnitMap) -> tuple[int, int]:
    """Prompts of a row and the generations behind their scores, a prompt of several leaves once."""
    scored = [
        entry.usable
        for entry, cell in zip(entries, cells, strict=True)
        if cell.design is not None and entry.usable is not None
    ]
    published = sum(cell.n_prompts for cell in cells if cell.design is None)
    first = units.shared.counted([units.under_links(item.prompts) for item in scored])
    n_draws = sum(item.n_draws[own].sum() for item, own in zip(scored, first, strict=True))
    return published + sum(int(own.sum()) for own in first), int(n_draws)


def _bounds(
    leaves: Sequence[Leaf], cells: Mapping[str, Cell]
) -> tuple[tuple[float | None, float | None] | None, list[str]]:
    """Bounds that all leaves have, unless a figure breaks them."""
    every = {leaf.metric.bounds if leaf.metric.link == "identity" else None for leaf in leaves}
    (bounds,) = every if len(every) == 1 else (None,)
    if bounds is None:
        return None, []
    low = -np.inf if bounds[0] is None else bounds[0]
    high = np.inf if bounds[1] is None else bounds[1]
    broken = any(not low - 1e-9 <= cell.estimate <= high + 1e-9 for cell in cells.values())
    return (None, ["outside_bounds"]) if broken else (bounds, [])


def _coverage(leaves: Sequence[Leaf], entries: Sequence[ScoredCondition]) -> list[str]:
    """Flags that hold on some leaf, each once."""
    flags: dict[str, None] = {}
    for leaf, entry in zip(leaves, entries, strict=True):
        whole = leaf.leaf_entries.coverages[entry.group]
        flags |= dict.fromkeys(coverage_flags(entry, whole))
        flags |= {"published": None} if entry.usable is None or entry.is_cut else {}
    return list(flags)


def _published(one: ConditionSet, figures: Sequence[SuiteFigure]) -> SuiteFigure | None:
    """The suite's figure of the invocations that made a set's runs, if they agree in one."""
    groups = {run["run_group_id"] for condition in one.conditions for run in condition.runs}
    distinct = {(item.value, item.standard_error): item for item in figures if item.run_group_id in groups}
    return next(iter(distinct.values())) if len(distinct) == 1 else None
