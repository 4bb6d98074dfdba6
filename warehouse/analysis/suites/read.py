"""The data of a suite's leaderboard, read at once: its leaves with their scores, units
and plans."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric, runs_table
from warehouse.analysis.selection.hooks import StoredPlans, possible_plans
from warehouse.analysis.selection.metric_names import names_notes
from warehouse.analysis.selection.policies import (
    PolicyInForce,
    one_policy,
    policy_in_force,
    policy_notes,
)
from warehouse.analysis.selection.policy_evidence import ReadRun, require_readable
from warehouse.analysis.selection.prompts import copies_in_words, same_contents
from warehouse.analysis.selection.read_twice import read_twice
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.selection import RowRules, Selection
from warehouse.analysis.suites.entries import (
    LeafEntries,
    SuiteFigure,
    ids_of,
    read_leaves,
    read_suite_figures,
)
from warehouse.analysis.suites.published_runs import Figure, read_published
from warehouse.analysis.suites.tree import Suite, leaf_shares
from warehouse.analysis.suites.units import UnitMap, unit_map
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

#: Leaves that a message names.
_MOST_NAMED = 10


@dataclass(frozen=True)
class SuiteEntries:
    """A suite with everything that its leaderboard is made of."""

    suite: Suite
    weights: str  #: how leaves are weighted: ``equal``, ``prompts`` or ``given``.
    leaves: tuple[Leaf, ...]  #: those with runs that fulfil the conditions.
    units: UnitMap  #: what is independent across them.
    #: published ones of the suite itself; none where metrics of leaves differ.
    figures: tuple[SuiteFigure, ...]
    notes: tuple[str, ...]  #: on leaves that are left out.
    #: names of the leaves of which it is not known whether they share prompts.
    untold: tuple[str, ...] = ()
    #: what makes one row of a model; None: a row for each condition.
    rules: RowRules | None = None
    #: by name of the leaf, where all of the suite is published; then leaves have the
    #: entry of the first figure alone.
    published: Mapping[str, Sequence[Figure]] | None = None
    policy: PolicyInForce = PolicyInForce()  #: what unscored samples count as.

    @property
    def metrics(self) -> tuple[str, ...]:
        """Labels of the metrics of its leaves, sorted."""
        return tuple(sorted({leaf.metric.label for leaf in self.leaves}))


def read_suite_entries(
    store: Store,
    suite: Suite,
    weights: str | Mapping[str, float],
    selection: Selection,
    *,
    force: bool = False,
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
    figures = None
    if published is not None:
        figures = published.figures
    leaves, notes = _leaves(store, *read, weights, selection, force)
    labels = {leaf.metric.label for leaf in leaves}
    units = _units(store, leaves, selection.cluster)
    notes += names_notes(_metrics_of_rows(leaves))
    in_force = _policy(store, leaves)
    notes += policy_notes(in_force, _filled(leaves))
    notes += read_twice(store, _run_ids(leaves, figures))
    if isinstance(weights, str):
        leaves, again = _copies_once(leaves, units)
        notes += again
    label = "given"
    if isinstance(weights, str):
        label = weights
    return SuiteEntries(
        suite,
        label,
        tuple(leaves),
        units,
        tuple(read_suite_figures(store, suite.ids, labels.pop()))
        if len(labels) == 1
        else (),
        tuple(notes),
        _untold(leaves, units),
        selection.rows,
        figures,
        in_force,
    )


def _policy(store: Store, leaves: Sequence[Leaf]) -> PolicyInForce:
    """What unscored samples count as on all leaves.

    Raises:
        MisuseError: not the same on all, or a run cannot be read so.
    """
    found = []
    runs: list[ReadRun] = []
    for leaf in leaves:
        ids = {(entry.metric.benchmark_id, entry.metric.id) for entry in leaf.entries}
        found.append((leaf.name, policy_in_force(store, ids, leaf.name)))
        for entry in leaf.entries:
            if entry.scores is not None:
                of_entry = entry.condition.runs
                runs += [(run, entry.metric.id) for run in of_entry]
    in_force = one_policy(found)
    if in_force.policy is not None:
        require_readable(store, in_force.policy, runs)
    return in_force


def _metrics_of_rows(leaves: Sequence[Leaf]) -> Iterator[tuple[str, Metric]]:
    """Of each row its model and benchmark, and its metric."""
    for leaf in leaves:
        for entry in leaf.entries:
            yield f"{entry.condition.model} on {leaf.name}", entry.metric


def _filled(leaves: Sequence[Leaf]) -> Iterator[tuple[str, int, int]]:
    """Of each model its name, samples that count as wrong by a policy, and all."""
    filled: Counter[str] = Counter()
    samples: Counter[str] = Counter()
    for leaf in leaves:
        for entry in leaf.entries:
            if entry.scores is not None:
                filled[entry.condition.model] += entry.scores.n_filled
                samples[entry.condition.model] += entry.scores.n_samples
    yield from ((name, filled[name], samples[name]) for name in samples)


def _run_ids(
    leaves: Sequence[Leaf], published: Mapping[str, Sequence[Figure]] | None
) -> Iterator[int]:
    """The runs behind all figures."""
    for leaf in leaves:
        if published is not None:
            yield from (figure.run_id for figure in published[leaf.name])
        else:
            yield from chain.from_iterable(
                entry.condition.run_ids for entry in leaf.entries
            )


def _copies_once(
    leaves: Sequence[Leaf], units: UnitMap
) -> tuple[list[Leaf], list[str]]:
    """Leaves that are one benchmark under several names have the weight of one
    together."""
    questions = [
        units.shared.questions_of(_prompts_of(leaf, units)).tobytes() for leaf in leaves
    ]
    contents = [
        _content(leaf, units) if questions.count(own) > 1 else ascii(leaf.name).encode()
        for leaf, own in zip(leaves, questions, strict=True)
    ]
    copies = same_contents(contents)
    number = Counter(copies)
    shared = [
        replace(leaf, weight=leaf.weight / number[of])
        for leaf, of in zip(leaves, copies, strict=True)
    ]
    again = copies_in_words([leaf.name for leaf in leaves], copies)
    if again:
        notes = [f"{again}: it has the weight of one"]
    else:
        notes = []
    return shared, notes


def _content(leaf: Leaf, units: UnitMap) -> bytes:
    """Equal for leaves on which all models have the same scores of the same questions;
    never equal without scores."""
    scored = []
    for entry in leaf.entries:
        if (scores := entry.usable) is not None:
            content = units.shared.content(
                units.under_links(scores.prompts), [scores.values]
            )
            scored.append((entry.condition.model, hashlib.sha256(content).hexdigest()))
    return ascii(sorted(scored) or leaf.name).encode()


def _untold(leaves: Sequence[Leaf], units: UnitMap) -> tuple[str, ...]:
    """Leaves without texts, or with published figures alone, next to others: what they
    share is not known."""
    parts = [_prompts_of(leaf, units) for leaf in leaves]
    unknown = []
    if len(leaves) > 1:
        unknown = units.shared.untold(parts)
    return tuple(
        leaf.name for leaf, is_so in zip(leaves, unknown, strict=False) if is_so
    )


def _prompts_of(leaf: Leaf, units: UnitMap) -> NDArray[np.int64]:
    own = [
        units.under_links(entry.usable.prompts)
        for entry in leaf.entries
        if entry.usable is not None
    ]
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
        raise MisuseError(
            f"{'; '.join(refused[:_MOST_NAMED])}; see: warehouse list runs"
        )
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
    notes += list(chain.from_iterable(leaf.apart for leaf in leaf_entries))
    if dropped:
        dropped_notes = [f"weight 0: {', '.join(dropped)}"]
    else:
        dropped_notes = []
    return leaves, notes + dropped_notes


def _plans(store: Store, leaf: LeafEntries) -> StoredPlans | None:
    """Plans that conditions on a leaf may be on."""
    scored = (
        (entry.condition, entry.metric.label, entry.usable)
        for entry in leaf.entries
        if entry.usable is not None
    )
    return possible_plans(store, leaf.benchmark, scored)


def _units(store: Store, leaves: Sequence[Leaf], cluster: str | None) -> UnitMap:
    benchmarks = [leaf.leaf_entries.benchmark for leaf in leaves]
    prompts = []
    for leaf in leaves:
        for entry in leaf.entries:
            if entry.usable is not None:
                prompts.append(entry.usable.prompts)
    return unit_map(
        store,
        sorted(set(chain.from_iterable(benchmark.ids for benchmark in benchmarks))),
        list(chain.from_iterable(benchmark.clusterings for benchmark in benchmarks)),
        cluster,
        prompts,
    )


def scale_of(leaf: Leaf) -> tuple[Any, ...]:
    """What leaves have to have in common for a mean over them: unit, link, bounds and
    direction."""
    metric = leaf.metric
    return (metric.unit, metric.link, metric.bounds, metric.higher_is_better)


def _kinds_of(leaf: Leaf) -> list[tuple[str, ...]]:
    """Task versions, metrics and judges of its rows."""
    return sorted({entry.group[1:] for entry in leaf.entries})


def is_mixed_within(leaf: Leaf) -> bool:
    """True if the rows of a leaf differ in task version, metric or judge."""
    return len(_kinds_of(leaf)) > 1


def _refuse_mixed(leaves: Sequence[Leaf]) -> None:
    """Refuse leaves of different scales, and leaves whose rows differ in judge or task
    version."""
    if len({scale_of(leaf) for leaf in leaves}) > 1:
        lines = [
            f"  {leaf.name}: {leaf.metric.label}, {_scale_in_words(leaf.metric)}"
            for leaf in leaves
        ]
        raise MisuseError(
            "the metrics of the suite are on different scales; choose one with "
            "--metric, leave benchmarks out with --weights NAME=0, or mix them with "
            "--force:\n" + "\n".join(lines)
        )
    for leaf in leaves:
        if is_mixed_within(leaf):
            kinds = " against ".join(
                repr(" ".join(filter(None, group))) for group in _kinds_of(leaf)
            )
            raise MisuseError(
                f"runs on {leaf.name} differ in task version, metric or judge: "
                f"{kinds}; narrow them with --where field=value, or mix them with "
                "--force"
            )


def _scale_in_words(metric: Metric) -> str:
    low, high = metric.bounds or (None, None)
    ends = (
        f"{'-inf' if low is None else f'{low:g}'} to "
        f"{'inf' if high is None else f'{high:g}'}"
    )
    better = {
        True: "higher is better",
        False: "lower is better",
        None: "direction unknown",
    }
    unit = ""
    if metric.unit:
        unit = f" {metric.unit}"
    if metric.link != "identity":
        ends, unit = "a figure that is no mean of scores", ""
    return f"{ends}{unit}, {better[metric.higher_is_better]}"


@dataclass(frozen=True)
class Leaf:
    """A leaf of a suite."""

    weight: float  #: above 0; only its ratio to the others' counts.
    leaf_entries: LeafEntries  #: its conditions and scores.
    plans: StoredPlans | None = None  #: that conditions may be on; None for none.

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
        """The bounds of its figure, a mean of values; None where they are not known."""
        if self.metric.link == "identity":
            return self.metric.bounds
        return None
