"""Models on a suite: weighted means over its leaves, ranked, with the error propagated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warehouse.errors import MisuseError
from warehouse.metrics.benchmarks import Metric
from warehouse.metrics.entries import PARTIAL, Entry, Selection, Whole, coverage, select_entries
from warehouse.metrics.results import Result
from warehouse.metrics.suite_published import SuiteFigure, read_suite_figures
from warehouse.metrics.suite_rows import SuiteLeaf, SuiteRow
from warehouse.metrics.suite_sets import (
    ConditionSet,
    describe_sets,
    match_conditions,
    mixed_settings,
)
from warehouse.metrics.suite_tree import EQUAL, Suite, find_suite, leaf_shares
from warehouse.metrics.suite_units import UnitMap, unit_map
from warehouse.stats import Cell, combine_leaves, compare_suites, leaf_cell, published_cell
from warehouse.stats.inputs import as_level
from warehouse.stats.paired import figure_values
from warehouse.stats.ranks import letters
from warehouse.stats.ratio import find_link
from warehouse.store.engine import Store


@dataclass(frozen=True)
class SuiteBoard(Result):
    """Models on a suite, best first; those that lack leaves come after.

    Attributes:
        suite: name of the suite.
        metric: names of the metrics of its leaves.
        higher_is_better: direction of the ranks; None if unknown (then higher is first).
        weights: how leaves are weighted: ``equal``, ``prompts`` or ``given``.
        leaves: the leaves with their weights.
        notes: what a reader should know before comparing rows.
    """

    suite: str
    metric: str
    higher_is_better: bool | None
    weights: str
    leaves: tuple[SuiteLeaf, ...]
    rows: tuple[SuiteRow, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        best = next((row for row in self.rows if row.rank == 1), None)
        first = "" if best is None else f", first {best.model} at {best.estimate:.4g}"
        return f"{self.suite} over {len(self.leaves)} leaves: {len(self.rows)} rows{first}"


@dataclass(frozen=True)
class _Leaf:
    """A leaf with the entries that count."""

    name: str
    weight: float
    selection: Selection
    entries: tuple[Entry, ...]
    whole: Whole

    @property
    def metric(self) -> Metric:
        return self.entries[0].metric


@dataclass(frozen=True)
class _Scored:
    """A set of conditions with its cells."""

    conditions: ConditionSet
    cells: dict[str, Cell]
    row: SuiteRow


def suite_leaderboard(
    store: Store,
    group: str,
    *,
    weights: str | Mapping[str, float] = EQUAL,
    metric: str | None = None,
    where: Sequence[str] = (),
    level: float = 0.95,
    cluster: str | None = None,
    latest: bool = False,
    partial_ok: bool = False,
    subset_ok: bool = False,
    force: bool = False,
) -> SuiteBoard:
    """Every model on a suite.

    A row is one set of conditions of a model, one on each leaf. Its figure is the weighted mean
    of the leaf figures; errors of leaves add up as independent, with their covariances where
    leaves share prompts or clusters.

    Args:
        group: name of a suite, or names of benchmarks with commas between them.
        weights: ``"equal"`` for each leaf, ``"prompts"`` for each prompt, or by leaf.
        metric: ``name`` or ``name,filter``; None for the headline metric of each leaf.
        where: conditions ``field=value`` on the runs.
        level: nominal coverage of the intervals; 1 − level is the size of the tests.
        cluster: clustering for the errors, as on a leaderboard.
        latest: of each model the newest and most complete set of conditions.
        partial_ok: rank rows that lack leaves, by the leaves they have.
        subset_ok: rank rows that cover a part of a leaf.
        force: mix metrics of different scales, and rows of different judges or task versions.

    Raises:
        MisuseError: unknown names, ambiguous conditions, mixed scales, nothing to show.
        StatisticsError: ``level`` out of range.
    """
    as_level(level)
    suite = find_suite(store, group)
    leaves, notes = _leaves(store, suite, weights, metric, where, cluster, force)
    sets = match_conditions({leaf.name: leaf.entries for leaf in leaves}, latest=latest)
    units = _units(store, leaves, cluster)
    metrics = sorted({leaf.metric.label for leaf in leaves})
    figures = read_suite_figures(store, suite.ids, metrics[0]) if len(metrics) == 1 else []
    labels = describe_sets(sets)
    scored = [
        _score(one, label, leaves, units, figures, level, suite.name)
        for one, label in zip(sets, labels, strict=True)
    ]
    direction = _direction(leaves)
    rows = _ranked(scored, leaves, direction, level, partial_ok, subset_ok)
    total = sum(leaf.weight for leaf in leaves)
    return SuiteBoard(
        suite=suite.name,
        metric=", ".join(metrics),
        higher_is_better=direction,
        weights=weights if isinstance(weights, str) else "given",
        leaves=tuple(
            SuiteLeaf(leaf.name, leaf.weight / total, leaf.metric.label, leaf.whole.size,
                      sum(leaf.name in item.cells for item in scored))
            for leaf in leaves
        ),
        rows=tuple(rows),
        notes=(*notes, *_notes(suite, scored, rows, direction)),
    )  # fmt: skip


def _leaves(
    store: Store, suite: Suite, weights: str | Mapping[str, float], metric: str | None,
    where: Sequence[str], cluster: str | None, force: bool,
) -> tuple[list[_Leaf], list[str]]:  # fmt: skip
    """The leaves with runs that fulfil the conditions, and what has to be said of the others."""
    found, refused = {}, []
    for name in suite.leaves:
        try:
            selection = select_entries(store, name, metric, where, None, False)
        except MisuseError as reason:
            refused.append(str(reason))
            continue
        entries = _one_each(selection.entries)
        if entries:
            found[name] = (selection, entries)
        else:
            refused.append(f"{name} has no figures by {selection.metric.label}")
    if not found:
        raise MisuseError("; ".join(refused))
    if metric is not None and refused and not force:
        raise MisuseError(f"{'; '.join(refused)} (--force leaves these benchmarks out)")
    wholes = {name: _whole(selection, entries) for name, (selection, entries) in found.items()}
    shares = leaf_shares(weights, list(found), [whole.size for whole in wholes.values()])
    leaves = [
        _Leaf(name, shares[name], *found[name], wholes[name]) for name in found if name in shares
    ]
    if not force:
        _refuse_mixed(leaves)
    dropped = sorted(set(found) - set(shares))
    notes = [f"left out: {reason}" for reason in refused]
    return leaves, notes + ([f"weight 0: {', '.join(dropped)}"] if dropped else [])


def _one_each(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """For each condition the entry that has scores, else the one with a published figure."""
    best: dict[str, Entry] = {}
    for entry in entries:
        known = best.get(entry.condition.key)
        if entry.usable is None and entry.published is None:
            continue
        if known is None or (known.usable is None and entry.usable is not None):
            best[entry.condition.key] = entry
    return tuple(best.values())


def _whole(selection: Selection, entries: Sequence[Entry]) -> Whole:
    """What most complete runs of the leaf's largest group cover."""
    return max((selection.wholes[entry.group] for entry in entries), key=lambda item: item.size)


def _refuse_mixed(leaves: Sequence[_Leaf]) -> None:
    """Refuse leaves of different scales, and leaves whose rows differ in judge or task version."""
    scales = {leaf.name: (leaf.metric.unit, leaf.metric.link, leaf.metric.bounds,
                          leaf.metric.higher_is_better) for leaf in leaves}  # fmt: skip
    if len(set(scales.values())) > 1:
        lines = [
            f"  {leaf.name}: {leaf.metric.label}, {_scale_in_words(leaf.metric)}" for leaf in leaves
        ]
        raise MisuseError(
            "the metrics of the suite are on different scales; choose one with --metric, leave"
            " benchmarks out with --weights NAME=0, or mix them with --force:\n" + "\n".join(lines)
        )
    for leaf in leaves:
        groups = sorted({entry.group[1:] for entry in leaf.entries})
        if len(groups) > 1:
            kinds = " against ".join(repr(" ".join(filter(None, one))) for one in groups)
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


def _direction(leaves: Sequence[_Leaf]) -> bool | None:
    found = {leaf.metric.higher_is_better for leaf in leaves}
    return found.pop() if len(found) == 1 else None


def _units(store: Store, leaves: Sequence[_Leaf], cluster: str | None) -> UnitMap:
    benchmarks = [leaf.selection.benchmark for leaf in leaves]
    prompts = [
        entry.usable.prompts
        for leaf in leaves
        for entry in leaf.entries
        if entry.usable is not None
    ]
    return unit_map(
        store, sorted({key for one in benchmarks for key in one.ids}),
        [key for one in benchmarks for key in one.clusterings], cluster, prompts,
    )  # fmt: skip


def _cell(entry: Entry, units: UnitMap) -> Cell | None:
    scores = entry.usable
    if scores is not None:
        values = figure_values(scores.values, scores.uneven_weights, find_link(entry.metric.link))
        return leaf_cell(values, units.units(scores.prompts))
    if entry.published is None:
        return None
    figure = entry.published
    return published_cell(figure.value, figure.standard_error, figure.n)


def _score(
    one: ConditionSet, label: str, leaves: Sequence[_Leaf], units: UnitMap,
    figures: Sequence[SuiteFigure], level: float, suite: str,
) -> _Scored:  # fmt: skip
    """The row of a set, not ranked yet."""
    kept = [leaf for leaf in leaves if leaf.name in one.entries]
    cells = {}
    for leaf in kept:
        cell = _cell(one.entries[leaf.name], units)
        if cell is not None:
            cells[leaf.name] = cell
    with_cells = [leaf for leaf in kept if leaf.name in cells]
    bounds, outside = _bounds(with_cells, cells)
    found = combine_leaves(
        list(cells.values()), [leaf.weight for leaf in with_cells], bounds=bounds, level=level
    )
    entries = [one.entries[leaf.name] for leaf in with_cells]
    scores = [entry.usable for entry in entries if entry.usable is not None]
    n_samples, n_unscored = (
        sum(getattr(item, name) for item in scores) for name in ("n_samples", "n_unscored")
    )
    figure = _published(one, figures)
    clustered = any(bool((units.units(item.prompts) >= 0).any()) for item in scores)
    missing = len(leaves) - len(cells)
    flags = [*(["missing_leaves"] if missing else []), *_coverage(with_cells, entries), *outside]
    row = SuiteRow(
        rank=None, statistical_rank=None, group="", model=one.model, condition=label,
        estimate=found.estimate, standard_error=found.standard_error, ci_low=found.ci_low,
        ci_high=found.ci_high, level=level, n_leaves=len(cells), n_missing=missing,
        n_prompts=found.n_prompts, n_clusters=found.n_units if clustered else None,
        n_draws=int(sum(item.n_draws.sum() for item in scores)), n_unscored=n_unscored,
        share_unscored=n_unscored / n_samples if n_samples else 0.0,
        published=None if figure is None else figure.value,
        published_se=None if figure is None else figure.standard_error, method=found.method,
        flags=(*flags, *found.flags), reason=found.reason, se_independent=found.se_independent,
        degrees_of_freedom=found.degrees_of_freedom, suite=suite,
        leaf_estimates=tuple(
            cells[leaf.name].estimate if leaf.name in cells else None for leaf in leaves
        ),
        run_ids=tuple(run for entry in entries for run in entry.condition.run_ids),
    )  # fmt: skip
    return _Scored(one, cells, row)


def _bounds(
    leaves: Sequence[_Leaf], cells: Mapping[str, Cell]
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


def _coverage(leaves: Sequence[_Leaf], entries: Sequence[Entry]) -> list[str]:
    """Flags that hold on some leaf, each once."""
    found: dict[str, None] = {}
    for leaf, entry in zip(leaves, entries, strict=True):
        whole = leaf.selection.wholes[entry.group]
        found |= dict.fromkeys(coverage(entry, whole))
        found |= {"published": None} if entry.usable is None else {}
    return list(found)


def _published(one: ConditionSet, figures: Sequence[SuiteFigure]) -> SuiteFigure | None:
    """The suite's figure of the invocations that made a set's runs, if they agree in one."""
    groups = {run["run_group_id"] for condition in one.conditions for run in condition.runs}
    found = {(item.value, item.standard_error): item for item in figures
             if item.run_group_id in groups}  # fmt: skip
    return next(iter(found.values())) if len(found) == 1 else None


def _ranked(
    scored: Sequence[_Scored], leaves: Sequence[_Leaf], higher_is_better: bool | None,
    level: float, partial_ok: bool, subset_ok: bool,
) -> list[SuiteRow]:  # fmt: skip
    """All rows, those with a rank first; statistical ranks among those that have all leaves."""
    sign = 1 if higher_is_better is False else -1
    order = sorted(scored, key=lambda item: sign * (item.row.estimate or 0.0))
    whole = [item for item in order if subset_ok or not set(item.row.flags) & set(PARTIAL)]
    complete = [item for item in whole if not item.row.n_missing]
    eligible = whole if partial_ok else complete
    figures = [f"{item.row.estimate:.12g}" for item in eligible]
    ranks = {id(item): figures.index(figure) + 1
             for item, figure in zip(eligible, figures, strict=True)}  # fmt: skip
    tests = _tests(complete, leaves, higher_is_better, level)
    rows = []
    for item in sorted(order, key=lambda item: id(item) not in ranks):
        statistical, group = tests.get(id(item), (None, ""))
        rows.append(replace(item.row, rank=ranks.get(id(item)), statistical_rank=statistical,
                            group=group))  # fmt: skip
    return rows


def _tests(
    complete: Sequence[_Scored], leaves: Sequence[_Leaf], higher_is_better: bool | None,
    level: float,
) -> dict[int, tuple[int | None, str]]:  # fmt: skip
    """Statistical rank and letters of rows, best first, by their identity."""
    if len(complete) < 2:
        return {}
    cells = [[item.cells[leaf.name] for leaf in leaves] for item in complete]
    found = compare_suites(
        cells, [leaf.weight for leaf in leaves], level=level,
        higher_is_better=higher_is_better is not False,
    )  # fmt: skip
    with np.errstate(invalid="ignore"):
        separated = np.less_equal(found.p_holm, 1 - level)
    names = letters(separated)
    return {
        id(item): (rank, "" if rank is None else name)
        for item, rank, name in zip(complete, found.statistical_rank, names, strict=True)
    }


def _notes(
    suite: Suite, scored: Sequence[_Scored], rows: Sequence[SuiteRow], direction: bool | None
) -> list[str]:
    notes = []
    if suite.empty:
        notes.append(f"no runs on {', '.join(suite.empty)}: not part of the figures")
    missing = sum(row.n_missing > 0 for row in rows)
    if missing:
        ranked = any(row.rank for row in rows if row.n_missing)
        how = "ranked by the leaves they have" if ranked else "not ranked (partial_ok ranks them)"
        notes.append(f"{missing} rows lack leaves: {how}, and not tested against others")
    partial = [row for row in rows if set(row.flags) & set(PARTIAL) and row.rank is None]
    if partial:
        notes.append(
            f"{len(partial)} rows on a part of a leaf are not ranked (subset_ok ranks them)"
        )
    if any("shared_units" in row.flags for row in rows):
        notes.append("leaves share prompts or clusters: their covariances are in the errors")
    mixed: dict[str, list[str]] = {}
    for item in scored:
        for name, values in mixed_settings(item.conditions).items():
            mixed.setdefault(name, values)
    notes += [f"{name} differs between leaves: {', '.join(v)}" for name, v in mixed.items()]
    if direction is None:
        notes.append("it is not known whether higher is better; higher is ranked first")
    return notes
