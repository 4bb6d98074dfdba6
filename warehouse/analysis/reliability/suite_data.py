"""The scores of all models on a suite, as what its reliability is worked out of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.reliability.fields import (
    Labels,
    one_of_seeds,
    prompt_labels,
    seeds_of,
)
from warehouse.analysis.selection.benchmarks import (
    direction_unknown,
    find_benchmark,
    read_names,
)
from warehouse.analysis.selection.clusterings import cluster_map
from warehouse.analysis.selection.prompts import (
    copies_in_words,
    keyed_prompts,
    notes_on_shared,
    read_shared_prompts,
    same_contents,
)
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    coverage_flags,
    coverage_of,
    group_entries,
    is_partial,
)
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.suites.entries import (
    LeafEntries,
    describe_sets,
    match_conditions,
    read_leaves,
)
from warehouse.analysis.suites.tree import find_suite, is_suite, scenario_names
from warehouse.errors import MisuseError
from warehouse.stats.suites.score_table import (
    Subscenario,
    SuiteScores,
    subscenario,
    suite_scores,
)
from warehouse.store.connection import Store

_NAMED = 5
#: Models that there have to be.
LEAST_MODELS = 2
#: Clusters of a subscenario from which on they are drawn whole.
_FEWEST_CLUSTERS = 5


@dataclass(frozen=True, eq=False)
class SuiteData:
    """A suite."""

    name: str  #: of it.
    metric: str  #: names of the metrics of its benchmarks.
    scores: SuiteScores  #: models by name; subscenarios with their prompts in the order of their natural keys.
    #: name of each model without what tells its conditions apart, shape (M,).
    models: tuple[str, ...]
    #: rows of each subscenario's prompts: ``id``, ``key``, ``tool_id``, ``text`` …
    prompts: tuple[tuple[Mapping[str, Any], ...], ...]
    #: field of prompts that makes the scenarios; empty for the benchmark tree.
    scenarios_by: str
    notes: tuple[str, ...]  #: what a reader should know.


#: A subscenario with the rows of its prompts.
Part = tuple[Subscenario, tuple[Mapping[str, Any], ...]]


def read_suite(
    store: Store,
    name: str,
    selection: Selection,
    *,
    scenarios: str | None = None,
    standalone: bool = False,
    unfinished: Collection[str] = (),
) -> SuiteData:
    """The scores of all models on a suite, higher is better.

    Runs that differ in their few-shot seed alone are one model, and their mean its
    score. A model with a run on a part of a benchmark lacks that benchmark, unless the
    selection says otherwise.

    Args:
        name: of a suite, names with commas between them, or one benchmark.
        selection: of metric, runs and clustering; its benchmark does not count.
        scenarios: field of the prompts' documents, or name of a clustering, that splits
            one benchmark into scenarios; two with a comma: scenarios and their
            subscenarios.
        standalone: every subscenario is a scenario of its own.
        unfinished: names of models of which runs on a part count.

    Raises:
        MisuseError: unknown names, ambiguous conditions, too few models with scores of
            prompts.
    """
    tree, notes = _leaf_names(store, name, scenarios)
    leaves, refused = read_leaves(store, tree.benchmarks, selection)
    notes += [f"left out: {reason}" for reason in refused]
    by_leaf: dict[str, list[ScoredCondition]] = {}
    for leaf in leaves:
        by_leaf[leaf.benchmark.name], remarks = _comparable(
            leaf, selection.subset_ok, set(unfinished)
        )
        notes += remarks
    sets = match_conditions(one_of_seeds(by_leaf), latest=selection.latest)
    labels = describe_sets(sets)
    bare = [entry.model for entry in sets]
    full = [
        f"{m} ({label})" if bare.count(m) > 1 and label else m
        for m, label in zip(bare, labels, strict=True)
    ]
    order = sorted(range(len(sets)), key=lambda i: (full[i], i))
    if len(order) < LEAST_MODELS:
        reasons = "".join(f"; {note}" for note in notes[:3])
        raise MisuseError(
            f"{name}: {len(order)} model(s) with scores of prompts; {LEAST_MODELS} are "
            f"needed{reasons}"
        )
    parts: list[Part] = []
    metrics: set[str] = set()
    for leaf in leaves:
        own = leaf.benchmark.name
        columns = [sets[i].entries.get(own) for i in order]
        if not any(columns):
            continue
        metrics.add(leaf.metric.label)
        labelled = prompt_labels(
            store, leaf.benchmark, scenarios, tree.scenario.get(own, own)
        )
        made, remarks = _subscenarios(
            store, leaf, columns, by_leaf[own], labelled, selection.cluster
        )
        parts += made
        notes += remarks
    kept, notes = _without_copies(store, *_without_single(parts, notes))
    names = [full[i] for i in order]
    there = np.zeros(len(names), bool)
    for part, _ in kept:
        there |= ~np.isnan(part.scores).all(axis=0)
    if there.sum() < LEAST_MODELS or not kept:
        raise MisuseError(
            f"{name}: {int(there.sum())} model(s) with scores of prompts; "
            f"{LEAST_MODELS} are needed"
        )
    if not there.all():
        gone = [
            model for model, is_there in zip(names, there, strict=True) if not is_there
        ]
        notes.append(f"without a score here, left out: {', '.join(gone[:_NAMED])}")
    rows = np.flatnonzero(there)
    cut = [
        replace(part, scores=part.scores[:, rows], seeds=_columns(part.seeds, rows))
        for part, _ in kept
    ]
    scores = suite_scores([names[i] for i in rows], cut)
    notes += [*_missing(scores), *notes_on_shared(store, _prompts_of(by_leaf))]
    return SuiteData(
        name=tree.name,
        metric=", ".join(sorted(metrics)),
        scores=_standalone(scores, name) if standalone else scores,
        models=tuple(bare[order[i]] for i in rows),
        prompts=_in_order(kept, scores),
        scenarios_by=scenarios or "",
        notes=tuple(dict.fromkeys(notes)),
    )


def _standalone(scores: SuiteScores, name: str) -> SuiteScores:
    if len(scores.scenarios) == len(scores.subscenarios):
        raise MisuseError(
            f"{name} has no subscenarios that could stand alone; leave out --standalone"
        )
    return scores.standalone()


def _prompts_of(
    by_leaf: Mapping[str, Sequence[ScoredCondition]],
) -> dict[str, NDArray[np.int64]]:
    """Prompts of each leaf that any model has scores of."""
    seen = {}
    for name, entries in by_leaf.items():
        seen[name] = [
            item.usable.prompts for item in entries if item.usable is not None
        ]
    return {
        name: np.unique(np.concatenate(prompts))
        for name, prompts in seen.items()
        if prompts
    }


@dataclass(frozen=True)
class _Tree:
    """Benchmarks of a suite, and the scenario of each by name."""

    name: str
    benchmarks: tuple[Any, ...]
    scenario: Mapping[str, str]


def _leaf_names(
    store: Store, name: str, scenarios: str | None
) -> tuple[_Tree, list[str]]:
    listed = name not in read_names(store).canonical and any(
        mark in name for mark in ",*?["
    )
    if listed or is_suite(store, name):
        if scenarios is not None:
            raise MisuseError(
                f"{name} is a suite, whose scenarios are what lies below it: leave "
                "--scenarios out"
            )
        suite = find_suite(store, name)
        notes = []
        if suite.empty:
            notes = [
                f"no runs on {', '.join(suite.empty[:_NAMED])}: not part of the suite"
            ]
        return _Tree(suite.name, suite.leaves, scenario_names(store, name)), notes
    benchmark = find_benchmark(store, name)
    if scenarios:
        notes = []
    else:
        notes = [
            f"{benchmark.name} is one scenario; --scenarios FIELD splits it by a field "
            "of its prompts"
        ]
    return _Tree(benchmark.name, (benchmark,), {}), notes


def _comparable(
    leaf: LeafEntries, subset_ok: bool, unfinished: set[str]
) -> tuple[list[ScoredCondition], list[str]]:
    """Entries with scores that can stand side by side and cover the benchmark, and what
    was left out."""
    usable = [entry for entry in leaf.entries if entry.usable is not None]
    groups = sorted(group_entries(usable).values(), key=len, reverse=True) or [[]]
    notes, name = [], leaf.benchmark.name
    others = len(leaf.entries) - len(usable)
    if others:
        notes.append(
            f"{name}: {others} condition(s) without scores of prompts are left out"
        )
    if len(groups) > 1:
        left = sum(map(len, groups[1:]))
        notes.append(
            f"{name}: {left} of another split, task version, metric or judge left out "
            "(--where chooses)"
        )
    whole = coverage_of(groups[0])
    kept: list[ScoredCondition] = []
    cut: list[ScoredCondition] = []
    for entry in groups[0]:
        flags = coverage_flags(entry, whole)
        is_whole = (
            subset_ok or entry.condition.model in unfinished or not is_partial(flags)
        )
        (kept if is_whole else cut).append(entry)
    if cut:
        shown = ", ".join(sorted({entry.condition.model for entry in cut})[:_NAMED])
        notes.append(
            f"{name}: {len(cut)} on a part of it count as lacking it ({shown}); "
            "--subset takes them"
        )
    if leaf.metric.higher_is_better is None:
        notes.append(
            "higher is taken to be better; "
            f"{direction_unknown(leaf.metric.label, name)}"
        )
    if leaf.metric.link != "identity" or any(
        e.usable is not None and e.usable.uneven_weights is not None for e in kept
    ):
        notes.append(
            f"{name}: scores are plain means over prompts, before the metric's weights "
            "and scale"
        )
    return kept, notes


def _subscenarios(
    store: Store,
    leaf: LeafEntries,
    columns: Sequence[ScoredCondition | None],
    entries: Sequence[ScoredCondition],
    labelled: Labels,
    cluster: str | None,
) -> tuple[list[Part], list[str]]:
    """A leaf as one subscenario, or split by the labels of its prompts."""
    name, notes = leaf.benchmark.name, list(labelled.notes)
    sign = -1.0 if leaf.metric.higher_is_better is False else 1.0
    by_seed = seeds_of(store, columns, entries)
    seen = [entry.usable.prompts for entry in entries if entry.usable is not None]
    prompts = np.unique(np.concatenate(seen))
    values = np.full((len(prompts), len(columns)), np.nan)
    for index, (entry, seeds) in enumerate(zip(columns, by_seed.means, strict=True)):
        if entry is not None and entry.usable is not None:
            ids, figures = (
                (entry.usable.prompts, entry.usable.values) if seeds is None else seeds
            )
            values[np.searchsorted(prompts, ids), index] = sign * figures
    shared = (~np.isnan(values)).sum(axis=1) > 1
    if shared.any() and not shared.all():
        notes.append(
            f"{name}: {int((~shared).sum())} prompts that one model alone has scores "
            "of are left out"
        )
        prompts, values = prompts[shared], values[shared]
    infinite = np.isinf(values)
    if infinite.any():
        raise MisuseError(
            f"{name}: {int(infinite.sum())} infinite score(s); win rates need finite "
            "ones"
        )
    clusters = cluster_map(
        store, leaf.benchmark.ids, leaf.benchmark.clusterings, cluster
    ).labels(prompts)
    keys_of_prompts = keyed_prompts(store, prompts)
    rows = [keys_of_prompts[prompt] for prompt in prompts.tolist()]
    cube = by_seed.table(prompts)
    notes += by_seed.notes(name)
    subscenarios, singly = [], 0
    for scenario, part in labelled.groups(prompts):
        chosen = np.array(
            sorted(part, key=lambda row: rows[row]["order"]), dtype=np.intp
        )
        own = None if clusters is None else clusters[chosen]
        if own is not None and len(np.unique(own)) < _FEWEST_CLUSTERS:
            singly += len(np.unique(own)) < len(own)
            own = None
        scores, table = values[chosen], None
        if cube is not None and not np.isnan(cube[:, chosen]).any():
            table = sign * cube[:, chosen]
        subscenarios.append(
            (
                subscenario(
                    scenario[0], scenario[1], scores, clusters=own, seeds=table
                ),
                tuple(rows[row] | {"benchmark": name} for row in chosen),
            )
        )
    if clusters is not None and any(
        sub.clusters is not None for sub, _ in subscenarios
    ):
        notes.append(
            f"{name}: prompts of a cluster are drawn together (--cluster none draws "
            "each by itself)"
        )
    if singly:
        notes.append(
            f"{name}: prompts of fewer than {_FEWEST_CLUSTERS} clusters are drawn "
            f"singly ({singly} of {len(subscenarios)} subscenarios): as if none hung "
            "together, which makes verdicts look surer"
        )
    return subscenarios, notes


def _without_single(
    parts: Sequence[Part], notes: list[str]
) -> tuple[list[Part], list[str]]:
    """Subscenarios that two models have; what one model alone has compares nobody."""
    kept = []
    for part in parts:
        is_scored = ~np.isnan(part[0].scores).all(axis=0)
        if is_scored.sum() > 1:
            kept.append(part)
    alone = [
        part.name for part, _ in parts if (~np.isnan(part.scores).all(axis=0)).sum() < 2
    ]
    more = []
    if alone:
        more = [f"one model alone has {', '.join(alone[:_NAMED])}: left out"]
    return kept, notes + more


def _without_copies(
    store: Store, parts: list[Part], notes: list[str]
) -> tuple[list[Part], list[str]]:
    """Subscenarios, each of which counts once: not again where another name has the
    same prompts and scores."""
    if len(parts) < 2:
        return parts, notes
    prompt_ids = []
    for _, prompts in parts:
        prompt_ids.append(np.array([prompt["id"] for prompt in prompts], np.int64))
    shared = read_shared_prompts(store, prompt_ids)
    contents = [
        shared.content(ids, [*data.scores.T])
        for ids, (data, _) in zip(prompt_ids, parts, strict=True)
    ]
    first_with = same_contents(contents)
    copies = copies_in_words([data.name for data, _ in parts], first_with)
    kept = [part for index, part in enumerate(parts) if first_with[index] == index]
    if copies:
        copy_notes = [f"{copies}: left out, so that it counts once"]
    else:
        copy_notes = []
    return kept, notes + copy_notes


def _columns(
    seeds: NDArray[np.float64] | None, rows: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    if seeds is None:
        return None
    return seeds[:, :, rows]


def _missing(scores: SuiteScores) -> list[str]:
    lacking = np.asarray((~scores.has_score).any(axis=0))
    if not lacking.any():
        return []
    named = [
        name
        for name, is_lacking in zip(scores.models, lacking, strict=True)
        if is_lacking
    ]
    return [
        f"{len(named)} model(s) lack scenarios ({', '.join(named[:_NAMED])}): their "
        "win rates are over the scenarios they have, which can flatter them"
    ]


def _in_order(
    kept: Sequence[Part], scores: SuiteScores
) -> tuple[tuple[Mapping[str, Any], ...], ...]:
    """Prompts in the order of the suite's subscenarios."""
    of = {(part.scenario, part.name): rows for part, rows in kept}
    return tuple(of[part.scenario, part.name] for part in scores.subscenarios)


def benchmark_scores(scores: BenchmarkScores) -> SuiteScores:
    """One benchmark, as a leaderboard takes it, as a suite of one scenario.

    Raises:
        MisuseError: fewer than two conditions with scores of all its prompts.
    """
    leaf = LeafEntries(
        scores.benchmark, scores.entries, scores.coverages, scores.others
    )
    kept, _ = _comparable(leaf, scores.subset_ok, set())
    if len(kept) < 2:
        raise MisuseError(
            f"{scores.benchmark.name}: {len(kept)} condition(s) with scores of its "
            "prompts; 2 are needed"
        )
    usable = [entry.usable for entry in kept]
    prompts = np.unique(
        np.concatenate([column.prompts for column in usable if column is not None])
    )
    values = np.full((len(prompts), len(kept)), np.nan)
    sign = 1.0
    if scores.metric.higher_is_better is False:
        sign = -1.0
    for index, column in enumerate(usable):
        if column is not None:
            values[np.searchsorted(prompts, column.prompts), index] = (
                sign * column.values
            )
    labels = scores.clusters.labels(prompts)
    if labels is not None and len(np.unique(labels)) < _FEWEST_CLUSTERS:
        labels = None
    names = [f"{entry.condition.model}#{entry.condition.key}" for entry in kept]
    order = np.array(sorted(range(len(names)), key=names.__getitem__))
    name = scores.benchmark.name
    part = subscenario(name, name, values[:, order], clusters=labels)
    return suite_scores([names[i] for i in order], [part])
