"""Rows of a suite's board before they are ranked: the figures of a set of conditions on
its leaves, put together."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.common_seeds import common_seeds
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkCoverage,
    ScoredCondition,
    coverage_flags,
)
from warehouse.analysis.selection.scores import PromptScores, SeedCells
from warehouse.analysis.suites.entries import ConditionSet, SuiteFigure
from warehouse.analysis.suites.read import Leaf
from warehouse.analysis.suites.row import SuiteRow
from warehouse.analysis.suites.units import UnitMap
from warehouse.stats import Cell, SuiteEstimate, leaf_cell, published_cell
from warehouse.stats.core.sample import find_link
from warehouse.stats.intervals.estimate_mean import flags_of_mean
from warehouse.stats.paired.paired import figure_values
from warehouse.stats.rows.seed_difference import RowSeeds
from warehouse.stats.rows.seed_row import TOO_FEW, figures_over_seeds
from warehouse.stats.suites.seed_suite import (
    ONE_SEED,
    LeafSeeds,
    SuiteSeeds,
    combine_over_seeds,
    leaf_seeds,
    seeds_together,
)
from warehouse.tables.words import listed, some_of

#: Benchmarks that a note names.
_MOST_NAMED = 10


@dataclass(frozen=True)
class Scored:
    """A set of conditions with its figure on each leaf, and its row, not ranked yet."""

    conditions: ConditionSet
    cells: dict[str, Cell]  #: by leaf; leaves without a figure are missing.
    row: SuiteRow
    n_shared: int  #: units in more than one leaf.
    #: what a comparison asks of its seeds.
    seeds: RowSeeds = RowSeeds(1, 0.0, 0.0, fixed=True)


def _cell(
    entry: ScoredCondition, units: UnitMap, seeds: Sequence[str] = ()
) -> Cell | LeafSeeds | None:
    """The figure of an entry on a leaf, over these seeds where it has several."""
    scores = entry.usable
    if scores is not None and not entry.is_cut:
        own_flags = _flags_alone(scores, entry.metric, units)
        if seeds and scores.seeds is not None:
            leaf = _over_seeds(scores, scores.seeds, entry.metric.link, units, seeds)
            return replace(leaf, cell=replace(leaf.cell, flags=own_flags))
        values = figure_values(
            scores.values, scores.uneven_weights, find_link(entry.metric.link)
        )
        return leaf_cell(
            values, units.units(scores.prompts), scores.uneven_weights, flags=own_flags
        )
    if entry.published is None or not math.isfinite(entry.published.value):
        return None
    figure = entry.published
    return published_cell(figure.value, figure.standard_error or None, figure.n)


def _flags_alone(
    scores: PromptScores, metric: Metric, units: UnitMap
) -> tuple[str, ...]:
    """Flags of the benchmark's own interval, were it the only one."""
    of_prompts = units.units(scores.prompts)
    has_clusters = bool((of_prompts >= 0).any())
    clusters = None
    if has_clusters:
        clusters = of_prompts
    return flags_of_mean(
        scores.values,
        clusters=clusters,
        weights=scores.uneven_weights,
        link=metric.link,
        bounds=metric.bounds_of(scores.values.min(), scores.values.max()),
        n_draws=scores.n_draws,
    )


def _over_seeds(
    scores: PromptScores,
    own: SeedCells,
    link: str,
    units: UnitMap,
    seeds: Sequence[str],
) -> LeafSeeds:
    rows = [own.labels.index(label) for label in seeds]
    cells = own.cells[rows]
    there = np.flatnonzero(np.isfinite(cells).any(axis=0))
    if scores.uneven_weights is None:
        weights = None
    else:
        weights = scores.uneven_weights[there]
    return leaf_seeds(
        cells[:, there],
        seeds,
        units.units(scores.prompts[there]),
        weights=weights,
        link=link,
    )


def _published_over_seeds(
    entries: Sequence[ScoredCondition],
    weights: Sequence[float],
    combined: SuiteEstimate,
    bounds: tuple[float | None, float | None] | None,
    level: float,
) -> tuple[SuiteEstimate, tuple[float, ...]]:
    """A suite of published figures of each seed: the mean over benchmarks within a
    seed, then over seeds."""
    if not any(
        entry.published is not None and entry.published.seeds for entry in entries
    ):
        return combined, ()
    by_leaf = [_published_seeds(entry) for entry in entries]
    together = seeds_together([tuple(own) for own in by_leaf])
    if together:
        common = together[0]
    else:
        common = ()
    if not common or any(set(own) != set(common) for own in together):
        return combined, ()
    shares = np.asarray(weights) / sum(weights)
    table = np.array([[own[str(label)] for label in common] for own in by_leaf])
    figures = shares @ table
    limits = bounds
    if bounds is None or None in bounds:
        limits = None
    row = figures_over_seeds(figures, bounds=limits, level=level)
    method = "none"
    if row.ci_low is not None:
        method = row.method
    found = replace(
        combined,
        estimate=row.estimate,
        standard_error=row.standard_error,
        ci_low=row.ci_low,
        ci_high=row.ci_high,
        degrees_of_freedom=row.df_seeds,
        method=method,
        reason=row.reason,
        flags=(*combined.flags, *row.flags),
    )
    return found, tuple(figures.tolist())


def _published_seeds(entry: ScoredCondition) -> dict[str, float]:
    """Figures of the seeds by their labels; empty where there are none."""
    figure = entry.published
    if (
        entry.usable is not None
        or figure is None
        or len(figure.seeds) != len(entry.condition.members)
    ):
        return {}
    labels = [
        str(member.setting("training_seed") or "") for member in entry.condition.members
    ]
    return dict(zip(labels, figure.seeds, strict=True))


def score_set(
    members: ConditionSet,
    label: str,
    leaves: Sequence[Leaf],
    units: UnitMap,
    figures: Sequence[SuiteFigure],
    level: float,
    suite: str,
    other_metrics: tuple[str, ...] = (),
) -> Scored:
    """The row of a set, not ranked yet."""
    scored = [leaf for leaf in leaves if leaf.name in members.entries]
    seeds_on, left_out = common_seeds(
        {
            leaf: None if entry.is_cut else entry.usable
            for leaf, entry in members.entries.items()
        }
    )
    made = {
        leaf.name: _cell(members.entries[leaf.name], units, seeds_on.get(leaf.name, ()))
        for leaf in scored
    }
    found = {name: cell for name, cell in made.items() if cell is not None}
    cells = {
        name: cell.cell if isinstance(cell, LeafSeeds) else cell
        for name, cell in found.items()
    }
    with_cells = [leaf for leaf in scored if leaf.name in cells]
    bounds, outside = bounds_of(with_cells, cells)
    weights = [leaf.weight for leaf in with_cells]
    combined, seeds = combine_over_seeds(
        list(found.values()), weights, bounds=bounds, level=level
    )
    entries = [members.entries[leaf.name] for leaf in with_cells]
    seed_means = () if seeds is None else seeds.seed_means
    if seeds is None and entries:
        combined, seed_means = _published_over_seeds(
            entries, weights, combined, bounds, level
        )
    scores = [entry.usable for entry in entries if entry.usable is not None]
    n_prompts, n_draws = _counts(entries, list(cells.values()), units)
    n_samples = sum(item.n_samples for item in scores)
    n_unscored = sum(item.n_unscored for item in scores)
    figure = figure_of_groups(_run_groups(members), figures)
    clustered = any(bool((units.units(item.prompts) >= 0).any()) for item in scores)
    missing = len(leaves) - len(cells)
    flags = ["missing_leaves"] if missing else []
    flags += [*_coverage(with_cells, entries), *outside]
    for entry in entries:
        flags += entry.row_flags
    trained = any(entry.is_trained for entry in entries)
    n_seeds = None
    if trained:
        n_seeds = len(seed_means) or (1 if seeds is None else seeds.n_seeds)
    own_flags = _own_flags(combined, trained, n_seeds)
    labels: tuple[str, ...] = ()
    if seeds is not None:
        labels = tuple(str(label) for label in seeds.labels)
    row = SuiteRow(
        rank=None,
        statistical_rank=None,
        group="",
        model=members.model,
        condition=label,
        **part_fields(
            combined,
            "estimate",
            "standard_error",
            "ci_low",
            "ci_high",
            "method",
            "reason",
        ),
        **part_fields(combined, "se_independent", "degrees_of_freedom"),
        level=level,
        n_leaves=len(cells),
        n_missing=missing,
        n_prompts=n_prompts,
        n_clusters=combined.n_units if clustered else None,
        n_draws=n_draws,
        n_unscored=n_unscored,
        share_unscored=n_unscored / n_samples if n_samples else 0.0,
        **part_fields(figure, published="value", published_se="standard_error"),
        flags=tuple(dict.fromkeys([*flags, *own_flags])),
        suite=suite,
        leaf_estimates=tuple(
            cells[leaf.name].estimate if leaf.name in cells else None for leaf in leaves
        ),
        run_ids=tuple(
            chain.from_iterable(entry.condition.run_ids for entry in entries)
        ),
        other_metrics=other_metrics,
        n_seeds=n_seeds,
        seeds=labels,
        seed_means=seed_means,
        n_checkpoints=max((entry.n_checkpoints for entry in entries), default=1),
        notes=_row_notes(members, with_cells, left_out, seeds, seeds_on),
        no_place="too few seeds" if TOO_FEW in own_flags else "",
        leaf_errors=errors_on(leaves, cells),
    )
    of_row = RowSeeds(1, 0.0, 0.0, fixed=not trained) if seeds is None else seeds.row
    return Scored(members, cells, row, combined.n_shared, of_row)


def errors_on(
    leaves: Sequence[Leaf], cells: Mapping[str, Cell]
) -> tuple[float | None, ...]:
    """The standard error of the figure on each leaf; None where it is not known."""
    errors: list[float | None] = []
    for leaf in leaves:
        cell = cells.get(leaf.name)
        if cell is None or not cell.variance:
            errors.append(None)
        else:
            errors.append(math.sqrt(cell.variance))
    return tuple(errors)


def _run_groups(members: ConditionSet) -> set[int]:
    """The groups that the runs of a set came in."""
    groups = set()
    for condition in members.conditions:
        for run in condition.runs:
            groups.add(run["run_group_id"])
    return groups


def _own_flags(
    combined: SuiteEstimate, trained: bool, n_seeds: int | None
) -> list[str]:
    """Flags of the figure itself; of seeds only where they are those of a training."""
    flags = list(combined.flags)
    if ONE_SEED in flags and not trained:  # repeats that count like seeds
        flags.remove(ONE_SEED)
    if n_seeds == 1 and ONE_SEED not in flags:
        flags.append(ONE_SEED)
    return flags


def _row_notes(
    members: ConditionSet,
    leaves: Sequence[Leaf],
    left_out: Mapping[str, Sequence[str]],
    seeds: SuiteSeeds | None,
    seeds_on: Mapping[str, Sequence[str]],
) -> tuple[str, ...]:
    """Notes on what a row over seeds leaves out, and what is not known of some
    benchmarks."""
    notes: list[str] = []
    for leaf in leaves:
        notes += [
            f"{leaf.name}: {note}" for note in members.entries[leaf.name].row_notes
        ]
    for label, names in left_out.items():
        notes.append(
            f"seed {label} left out: it has {listed(names)}, and not every benchmark "
            "that has several seeds"
        )
    if seeds is None:
        return tuple(notes)
    single = [leaf.name for leaf in leaves if leaf.name not in seeds_on]
    if single and any(entry.is_trained for entry in members.entries.values()):
        where = some_of(single, _MOST_NAMED)
        notes.append(
            f"one run on {where}: how far another seed would land there is not known, "
            "and is not in the error"
        )
    if seeds.n_groups > 1:
        notes.append(
            "the seeds are others on each benchmark: they count as independent of one "
            "another"
        )
    return tuple(notes)


def _counts(
    entries: Sequence[ScoredCondition], cells: Sequence[Cell], units: UnitMap
) -> tuple[int, int]:
    """Prompts of a row and the generations behind their scores, a prompt of several
    leaves once."""
    scored = [
        entry.usable
        for entry, cell in zip(entries, cells, strict=True)
        if cell.design is not None and entry.usable is not None
    ]
    published = sum(cell.n_prompts for cell in cells if cell.design is None)
    first = units.shared.counted([units.under_links(item.prompts) for item in scored])
    n_draws = sum(
        item.n_draws[own].sum() for item, own in zip(scored, first, strict=True)
    )
    return published + sum(int(own.sum()) for own in first), int(n_draws)


def bounds_of(
    leaves: Sequence[Leaf], cells: Mapping[str, Cell]
) -> tuple[tuple[float | None, float | None] | None, list[str]]:
    """Bounds that all leaves have, unless a figure breaks them."""
    all_bounds = {leaf.bounds for leaf in leaves}
    (bounds,) = (None,)
    if len(all_bounds) == 1:
        (bounds,) = all_bounds
    if bounds is None:
        return None, []
    if bounds[0] is None:
        low = -np.inf
    else:
        low = bounds[0]
    if bounds[1] is None:
        high = np.inf
    else:
        high = bounds[1]
    broken = any(
        not low - 1e-9 <= cell.estimate <= high + 1e-9 for cell in cells.values()
    )
    if broken:
        return (None, ["outside_bounds"])
    return (bounds, [])


#: What a leaf has of a group that none of its coverages is of.
_NOTHING = BenchmarkCoverage(0, b"")


def _coverage(leaves: Sequence[Leaf], entries: Sequence[ScoredCondition]) -> list[str]:
    """Flags that hold on some leaf, each once."""
    flags: dict[str, None] = {}
    for leaf, entry in zip(leaves, entries, strict=True):
        whole = leaf.leaf_entries.coverages.get(entry.group, _NOTHING)
        for flag in coverage_flags(entry, whole):
            flags[flag] = None
        if entry.usable is None or entry.is_cut:
            flags["published"] = None
    return list(flags)


def figure_of_groups(
    groups: Collection[int], figures: Sequence[SuiteFigure]
) -> SuiteFigure | None:
    """The suite's figure of the invocations that made a set's runs, if they agree in
    one."""
    distinct = {
        (item.value, item.standard_error): item
        for item in figures
        if item.run_group_id in groups
    }
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    return None
