"""What a suite's leaderboard rests on, read at once: its leaves with their scores, units and plans."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.benchmarks import Metric, runs_table
from warehouse.analysis.selection.common_seeds import common_seeds
from warehouse.analysis.selection.prompts import copies_in_words, same_contents
from warehouse.analysis.selection.read_twice import read_twice
from warehouse.analysis.selection.scored_conditions import BenchmarkCoverage, ScoredCondition, coverage_flags
from warehouse.analysis.selection.scores import PromptScores, SeedCells
from warehouse.analysis.selection.selection import RowRules, Selection
from warehouse.analysis.subsets.stored import BenchmarkPlans, possible_plans
from warehouse.analysis.suites.entries import (
    ConditionSet,
    LeafEntries,
    SuiteFigure,
    UnitMap,
    ids_of,
    read_leaves,
    read_suite_figures,
    unit_map,
)
from warehouse.analysis.suites.published_runs import Figure, read_published
from warehouse.analysis.suites.row import SuiteRow
from warehouse.analysis.suites.tree import Suite, leaf_shares
from warehouse.errors import MisuseError
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
from warehouse.store.connection import Store
from warehouse.tables.words import listed, some_of

#: Leaves that a message names.
_MOST_NAMED = 10


@dataclass(frozen=True)
class SuiteEntries:
    """A suite with everything that its leaderboard is made of."""

    suite: Suite
    weights: str  #: how leaves are weighted: ``equal``, ``prompts`` or ``given``.
    leaves: tuple[Leaf, ...]  #: those with runs that fulfil the conditions.
    units: UnitMap  #: what is independent across them.
    figures: tuple[SuiteFigure, ...]  #: published ones of the suite itself; none where metrics of leaves differ.
    notes: tuple[str, ...]  #: on leaves that are left out.
    untold: tuple[str, ...] = ()  #: names of the leaves of which it is not known whether they share prompts.
    rules: RowRules | None = None  #: what makes one row of a model; None: a row for each condition.
    #: by name of the leaf, where all of the suite is published; then leaves have the entry of the first figure alone.
    published: Mapping[str, Sequence[Figure]] | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """Labels of the metrics of its leaves, sorted."""
        return tuple(sorted({leaf.metric.label for leaf in self.leaves}))


def read_suite_entries(
    store: Store, suite: Suite, weights: str | Mapping[str, float], selection: Selection, *, force: bool = False
) -> SuiteEntries:
    """Read a suite; ``weights`` and ``force`` are those of `suite_leaderboard`.

    Args:
        selection: of metric, runs and clustering; its benchmark does not count.

    Raises:
        MisuseError: mixed scales, nothing to show.
    """
    runs = runs_table(store, ids_of(suite.leaves))
    published = read_published(store, suite.leaves, selection, runs)
    if published is None:
        read = read_leaves(store, suite.leaves, selection, runs)
    else:
        read = ([*published.leaves], [*published.refused])
    figures = None if published is None else published.figures
    leaves, notes = _leaves(store, *read, weights, selection, force)
    labels = {leaf.metric.label for leaf in leaves}
    units = _units(store, leaves, selection.cluster)
    notes += read_twice(store, _run_ids(leaves, figures))
    if isinstance(weights, str):
        leaves, again = _copies_once(leaves, units)
        notes += again
    return SuiteEntries(
        suite,
        weights if isinstance(weights, str) else "given",
        tuple(leaves),
        units,
        tuple(read_suite_figures(store, suite.ids, labels.pop())) if len(labels) == 1 else (),
        tuple(notes),
        _untold(leaves, units),
        selection.rows,
        figures,
    )


def _run_ids(leaves: Sequence[Leaf], published: Mapping[str, Sequence[Figure]] | None) -> Iterator[int]:
    """The runs behind all figures."""
    for leaf in leaves:
        if published is not None:
            yield from (figure.run_id for figure in published[leaf.name])
        else:
            yield from (run for entry in leaf.entries for run in entry.condition.run_ids)


def _copies_once(leaves: Sequence[Leaf], units: UnitMap) -> tuple[list[Leaf], list[str]]:
    """Leaves that are one benchmark under several names have the weight of one together."""
    questions = [units.shared.questions_of(_prompts_of(leaf, units)).tobytes() for leaf in leaves]
    contents = [
        _content(leaf, units) if questions.count(own) > 1 else ascii(leaf.name).encode()
        for leaf, own in zip(leaves, questions, strict=True)
    ]
    copies = same_contents(contents)
    number = Counter(copies)
    shared = [replace(leaf, weight=leaf.weight / number[of]) for leaf, of in zip(leaves, copies, strict=True)]
    again = copies_in_words([leaf.name for leaf in leaves], copies)
    return shared, [f"{again}: it has the weight of one"] if again else []


def _content(leaf: Leaf, units: UnitMap) -> bytes:
    """Equal for leaves on which all models have the same scores of the same questions; never equal without scores."""
    scored = []
    for entry in leaf.entries:
        if (scores := entry.usable) is not None:
            content = units.shared.content(units.under_links(scores.prompts), [scores.values])
            scored.append((entry.condition.model, hashlib.sha256(content).hexdigest()))
    return ascii(sorted(scored) or leaf.name).encode()


def _untold(leaves: Sequence[Leaf], units: UnitMap) -> tuple[str, ...]:
    """Leaves without texts, or with published figures alone, next to others: what they share is not known."""
    parts = [_prompts_of(leaf, units) for leaf in leaves]
    unknown = units.shared.untold(parts) if len(leaves) > 1 else []
    return tuple(leaf.name for leaf, is_so in zip(leaves, unknown, strict=False) if is_so)


def _prompts_of(leaf: Leaf, units: UnitMap) -> NDArray[np.int64]:
    own = [units.under_links(entry.usable.prompts) for entry in leaf.entries if entry.usable is not None]
    return np.unique(np.concatenate([np.empty(0, np.int64), *own]))


def _leaves(
    store: Store,
    leaf_entries: Sequence[LeafEntries],
    refused: Sequence[str],
    weights: str | Mapping[str, float],
    selection: Selection,
    force: bool,
) -> tuple[list[Leaf], list[str]]:
    """The benchmarks with runs that match the filters, and notes on the others.

    Args:
        leaf_entries: what there is on those with figures.
        refused: why others have none.
    """
    if not leaf_entries:
        raise MisuseError(f"{'; '.join(refused[:_MOST_NAMED])}; see: warehouse runs")
    if selection.metric is not None and refused and not force:
        raise MisuseError(f"{'; '.join(refused)} (--force leaves these benchmarks out)")
    names = [leaf.benchmark.name for leaf in leaf_entries]
    shares = leaf_shares(weights, names, [leaf.size for leaf in leaf_entries])
    leaves = [
        Leaf(shares[name], leaf, _plans(store, leaf))
        for name, leaf in zip(names, leaf_entries, strict=True)
        if name in shares
    ]
    if not force:
        _refuse_mixed(leaves)
    dropped = [name for name in names if name not in shares]
    notes = [f"left out: {reason}" for reason in refused]
    notes += [reason for leaf in leaf_entries for reason in leaf.apart]
    return leaves, notes + ([f"weight 0: {', '.join(dropped)}"] if dropped else [])


def _plans(store: Store, leaf: LeafEntries) -> BenchmarkPlans:
    """Plans that conditions on a leaf may be on."""
    scored = ((entry.condition, entry.metric.label, entry.usable) for entry in leaf.entries if entry.usable is not None)
    return possible_plans(store, leaf.benchmark, scored)


def _units(store: Store, leaves: Sequence[Leaf], cluster: str | None) -> UnitMap:
    benchmarks = [leaf.leaf_entries.benchmark for leaf in leaves]
    prompts = [entry.usable.prompts for leaf in leaves for entry in leaf.entries if entry.usable is not None]
    return unit_map(
        store,
        sorted({key for benchmark in benchmarks for key in benchmark.ids}),
        [key for benchmark in benchmarks for key in benchmark.clusterings],
        cluster,
        prompts,
    )


def _refuse_mixed(leaves: Sequence[Leaf]) -> None:
    """Refuse leaves of different scales, and leaves whose rows differ in judge or task version."""
    scales = {
        leaf.name: (leaf.metric.unit, leaf.metric.link, leaf.metric.bounds, leaf.metric.higher_is_better)
        for leaf in leaves
    }
    if len(set(scales.values())) > 1:
        lines = [f"  {leaf.name}: {leaf.metric.label}, {_scale_in_words(leaf.metric)}" for leaf in leaves]
        raise MisuseError(
            "the metrics of the suite are on different scales; choose one with --metric, leave"
            " benchmarks out with --weights NAME=0, or mix them with --force:\n" + "\n".join(lines)
        )
    for leaf in leaves:
        groups = sorted({entry.group[1:] for entry in leaf.entries})
        if len(groups) > 1:
            kinds = " against ".join(repr(" ".join(filter(None, group))) for group in groups)
            raise MisuseError(
                f"runs on {leaf.name} differ in task version, metric or judge: {kinds}; narrow them"
                " with --where field=value, or mix them with --force"
            )


def _scale_in_words(metric: Metric) -> str:
    low, high = metric.bounds or (None, None)
    ends = f"{'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"
    better = {True: "higher is better", False: "lower is better", None: "direction unknown"}
    unit = f" {metric.unit}" if metric.unit else ""
    link = "" if metric.link == "identity" else f" through {metric.link}"
    return f"{ends}{unit}{link}, {better[metric.higher_is_better]}"


@dataclass(frozen=True)
class Leaf:
    """A leaf of a suite."""

    weight: float  #: above 0; only its ratio to the others' counts.
    leaf_entries: LeafEntries  #: its conditions and scores.
    plans: BenchmarkPlans = BenchmarkPlans()  #: stored ones that conditions may be on.

    @cached_property
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

    @cached_property
    def bounds(self) -> tuple[float | None, float | None] | None:
        """Of its figure, which is a mean of values; None where they are not known."""
        return self.metric.bounds if self.metric.link == "identity" else None


@dataclass(frozen=True)
class Scored:
    """A set of conditions with its figure on each leaf, and its row, not ranked yet."""

    conditions: ConditionSet
    cells: dict[str, Cell]  #: by leaf; leaves without a figure are missing.
    row: SuiteRow
    n_shared: int  #: units in more than one leaf.
    seeds: RowSeeds = RowSeeds(1, 0.0, 0.0, fixed=True)  #: what a comparison asks of its seeds.


def _cell(entry: ScoredCondition, units: UnitMap, seeds: Sequence[str] = ()) -> Cell | LeafSeeds | None:
    """The figure of an entry on a leaf, over these seeds where it has several."""
    scores = entry.usable
    if scores is not None and not entry.is_cut:
        own_flags = _flags_alone(scores, entry.metric, units)
        if seeds and scores.seeds is not None:
            leaf = _over_seeds(scores, scores.seeds, entry.metric.link, units, seeds)
            return replace(leaf, cell=replace(leaf.cell, flags=own_flags))
        values = figure_values(scores.values, scores.uneven_weights, find_link(entry.metric.link))
        return leaf_cell(values, units.units(scores.prompts), scores.uneven_weights, flags=own_flags)
    if entry.published is None or not math.isfinite(entry.published.value):
        return None
    figure = entry.published
    return published_cell(figure.value, figure.standard_error or None, figure.n)


def _flags_alone(scores: PromptScores, metric: Metric, units: UnitMap) -> tuple[str, ...]:
    """What the benchmark's own interval is flagged with, were it the only one."""
    of_prompts = units.units(scores.prompts)
    has_clusters = bool((of_prompts >= 0).any())
    return flags_of_mean(
        scores.values,
        clusters=of_prompts if has_clusters else None,
        weights=scores.uneven_weights,
        link=metric.link,
        bounds=metric.bounds_of(scores.values.min(), scores.values.max()),
        n_draws=scores.n_draws,
    )


def _over_seeds(scores: PromptScores, own: SeedCells, link: str, units: UnitMap, seeds: Sequence[str]) -> LeafSeeds:
    rows = [own.labels.index(label) for label in seeds]
    cells = own.cells[rows]
    there = np.flatnonzero(np.isfinite(cells).any(axis=0))
    weights = None if scores.uneven_weights is None else scores.uneven_weights[there]
    return leaf_seeds(cells[:, there], seeds, units.units(scores.prompts[there]), weights=weights, link=link)


def _published_over_seeds(
    entries: Sequence[ScoredCondition],
    weights: Sequence[float],
    combined: SuiteEstimate,
    bounds: tuple[float | None, float | None] | None,
    level: float,
) -> tuple[SuiteEstimate, tuple[float, ...]]:
    """A suite of published figures of each seed: the mean over benchmarks within a seed, then over seeds."""
    if not any(entry.published is not None and entry.published.seeds for entry in entries):
        return combined, ()
    by_leaf = [_published_seeds(entry) for entry in entries]
    together = seeds_together([tuple(own) for own in by_leaf])
    common = together[0] if together else ()
    if not common or any(set(own) != set(common) for own in together):
        return combined, ()
    shares = np.asarray(weights) / sum(weights)
    table = np.array([[own[str(label)] for label in common] for own in by_leaf])
    figures = shares @ table
    limits = None if bounds is None or None in bounds else bounds
    row = figures_over_seeds(figures, bounds=limits, level=level)
    found = replace(
        combined,
        estimate=row.estimate,
        standard_error=row.standard_error,
        ci_low=row.ci_low,
        ci_high=row.ci_high,
        degrees_of_freedom=row.df_seeds,
        method="none" if row.ci_low is None else row.method,
        reason=row.reason,
        flags=(*combined.flags, *row.flags),
    )
    return found, tuple(figures.tolist())


def _published_seeds(entry: ScoredCondition) -> dict[str, float]:
    """Figures of the seeds by their labels; empty where there are none."""
    figure = entry.published
    if entry.usable is not None or figure is None or len(figure.seeds) != len(entry.condition.members):
        return {}
    labels = [str(member.setting("training_seed") or "") for member in entry.condition.members]
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
        {leaf: None if entry.is_cut else entry.usable for leaf, entry in members.entries.items()}
    )
    made = {leaf.name: _cell(members.entries[leaf.name], units, seeds_on.get(leaf.name, ())) for leaf in scored}
    found = {name: cell for name, cell in made.items() if cell is not None}
    cells = {name: cell.cell if isinstance(cell, LeafSeeds) else cell for name, cell in found.items()}
    with_cells = [leaf for leaf in scored if leaf.name in cells]
    bounds, outside = bounds_of(with_cells, cells)
    weights = [leaf.weight for leaf in with_cells]
    combined, seeds = combine_over_seeds(list(found.values()), weights, bounds=bounds, level=level)
    entries = [members.entries[leaf.name] for leaf in with_cells]
    seed_means = () if seeds is None else seeds.seed_means
    if seeds is None and entries:
        combined, seed_means = _published_over_seeds(entries, weights, combined, bounds, level)
    scores = [entry.usable for entry in entries if entry.usable is not None]
    n_prompts, n_draws = _counts(entries, list(cells.values()), units)
    n_samples, n_unscored = (sum(getattr(item, name) for item in scores) for name in ("n_samples", "n_unscored"))
    groups = {run["run_group_id"] for condition in members.conditions for run in condition.runs}
    figure = figure_of_groups(groups, figures)
    clustered = any(bool((units.units(item.prompts) >= 0).any()) for item in scores)
    missing = len(leaves) - len(cells)
    flags = [*(["missing_leaves"] if missing else []), *_coverage(with_cells, entries), *outside]
    flags += [flag for entry in entries for flag in entry.row_flags]
    trained = any(entry.is_trained for entry in entries)
    n_seeds = None
    if trained:
        n_seeds = len(seed_means) or (1 if seeds is None else seeds.n_seeds)
    own_flags = list(combined.flags)
    if ONE_SEED in own_flags and not trained:  # repeats that count like seeds
        own_flags.remove(ONE_SEED)
    if n_seeds == 1 and ONE_SEED not in own_flags:
        own_flags.append(ONE_SEED)
    labels: tuple[str, ...] = ()
    if seeds is not None:
        labels = tuple(str(label) for label in seeds.labels)
    row = SuiteRow(
        rank=None,
        statistical_rank=None,
        group="",
        model=members.model,
        condition=label,
        **part_fields(combined, "estimate", "standard_error", "ci_low", "ci_high", "method", "reason"),
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
        leaf_estimates=tuple(cells[leaf.name].estimate if leaf.name in cells else None for leaf in leaves),
        run_ids=tuple(run for entry in entries for run in entry.condition.run_ids),
        other_metrics=other_metrics,
        n_seeds=n_seeds,
        seeds=labels,
        seed_means=seed_means,
        n_checkpoints=max((entry.n_checkpoints for entry in entries), default=1),
        notes=_row_notes(members, with_cells, left_out, seeds, seeds_on),
        no_place="too few seeds" if TOO_FEW in own_flags else "",
    )
    of_row = RowSeeds(1, 0.0, 0.0, fixed=not trained) if seeds is None else seeds.row
    return Scored(members, cells, row, combined.n_shared, of_row)


def _row_notes(
    members: ConditionSet,
    leaves: Sequence[Leaf],
    left_out: Mapping[str, Sequence[str]],
    seeds: SuiteSeeds | None,
    seeds_on: Mapping[str, Sequence[str]],
) -> tuple[str, ...]:
    """What a row over seeds leaves out, and what is not known of some benchmarks."""
    notes: list[str] = []
    for leaf in leaves:
        notes += [f"{leaf.name}: {note}" for note in members.entries[leaf.name].row_notes]
    for label, names in left_out.items():
        notes.append(f"seed {label} left out: it has {listed(names)}, and not every benchmark that has several seeds")
    if seeds is None:
        return tuple(notes)
    single = [leaf.name for leaf in leaves if leaf.name not in seeds_on]
    if single and any(entry.is_trained for entry in members.entries.values()):
        where = some_of(single, _MOST_NAMED)
        notes.append(f"one run on {where}: how far another seed would land there is not known, and is not in the error")
    if seeds.n_groups > 1:
        notes.append("the seeds are others on each benchmark: they count as independent of one another")
    return tuple(notes)


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


def bounds_of(
    leaves: Sequence[Leaf], cells: Mapping[str, Cell]
) -> tuple[tuple[float | None, float | None] | None, list[str]]:
    """Bounds that all leaves have, unless a figure breaks them."""
    all_bounds = {leaf.bounds for leaf in leaves}
    (bounds,) = all_bounds if len(all_bounds) == 1 else (None,)
    if bounds is None:
        return None, []
    low = -np.inf if bounds[0] is None else bounds[0]
    high = np.inf if bounds[1] is None else bounds[1]
    broken = any(not low - 1e-9 <= cell.estimate <= high + 1e-9 for cell in cells.values())
    return (None, ["outside_bounds"]) if broken else (bounds, [])


#: What is compared with a published figure, which says nothing of its prompts.
_NOTHING = BenchmarkCoverage(0, b"")


def _coverage(leaves: Sequence[Leaf], entries: Sequence[ScoredCondition]) -> list[str]:
    """Flags that hold on some leaf, each once."""
    flags: dict[str, None] = {}
    for leaf, entry in zip(leaves, entries, strict=True):
        whole = _NOTHING if entry.scores is None else leaf.leaf_entries.coverages[entry.group]
        for flag in coverage_flags(entry, whole):
            flags[flag] = None
        if entry.usable is None or entry.is_cut:
            flags["published"] = None
    return list(flags)


def figure_of_groups(groups: Collection[int], figures: Sequence[SuiteFigure]) -> SuiteFigure | None:
    """The suite's figure of the invocations that made a set's runs, if they agree in one."""
    distinct = {(item.value, item.standard_error): item for item in figures if item.run_group_id in groups}
    return next(iter(distinct.values())) if len(distinct) == 1 else None
