"""A pilot for planning: the variance parts that stored runs show on one benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.power.question import PowerPilot
from warehouse.analysis.selection.benchmarks import (
    Metric,
    choose_metrics,
    find_benchmark,
    metrics_of,
)
from warehouse.analysis.selection.clusterings import (
    ClusterMap,
    cluster_map,
    clusters_under_links,
)
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.prompt_links import read_links
from warehouse.analysis.selection.reference import (
    by_benchmark_split,
    by_one_scorer,
    pick_one,
    with_scores,
)
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.rows import row_of_condition
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import PromptScores, read_scores
from warehouse.analysis.selection.select import rows_by_split
from warehouse.analysis.selection.selection import RowRules, Selection, selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import Pilot, plan_from_one, plan_from_pilot
from warehouse.stats.core.inputs import Clusters, as_clusters, is_constant
from warehouse.stats.core.moments import mean_of
from warehouse.stats.core.sample import find_link, linearise, linearise_figure
from warehouse.stats.intervals.standard_errors import spread_as_plain
from warehouse.stats.rows.seed_fit import fit_seeds
from warehouse.store.connection import Store


@dataclass(frozen=True)
class StoredPilot:
    """Variance parts with where they come from."""

    pilot: Pilot  #: the estimates.
    models: tuple[str, ...]  #: the models, one or two.
    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric, with its filter.
    width: float | None  #: of the metric's range, None where it has none.
    #: prompts count singly, each with one answer that is right or wrong: models whose
    #: figures differ by δ differ on that share of the prompts at least, so that the
    #: variance of a difference is δ − δ² or more.
    is_right_or_wrong: bool = False
    #: of the squared error of the difference what training seeds make, or runs that are
    #: counted like seeds, which more prompts do not change; None where neither has a
    #: second one.
    seeds_part: float | None = None
    #: all of these are runs of one condition each, and no training seeds.
    is_over_runs: bool = False
    #: on repeats, and on seeds and checkpoints that are left out.
    notes: tuple[str, ...] = ()


@answers(PowerPilot)
def read_pilot(store: Store, question: PowerPilot) -> StoredPilot:
    """The parts on the prompts that both have."""
    references, correlation = question.references, question.correlation
    if len(references) not in (1, 2):
        raise MisuseError(f"a pilot is one run or two, found {len(references)}")
    if correlation is not None and len(references) == 2:
        raise MisuseError(
            "the correlation of two stored runs is in their scores; leave it out"
        )
    selection = selection_of(question)
    conditions = choose_runs(store, references, selection)
    clusters = _clusters(store, conditions, selection)
    chosen, rows = _rows(store, conditions, selection, clusters)
    scores = [row.usable for row in rows if row.usable is not None]
    prompts = _common(conditions, scores)
    labels = clusters.labels(prompts)
    return StoredPilot(
        pilot=pilot_of(scores, prompts, chosen, labels, correlation),
        models=tuple(condition.model for condition in conditions),
        benchmark=conditions[0].benchmark_split[0],
        metric=chosen.label,
        width=_width(chosen),
        seeds_part=_seeds_part(scores),
        is_over_runs=all(
            own.seeds is None or own.seeds.kind == "repeats" for own in scores
        ),
        notes=tuple(dict.fromkeys(chain.from_iterable(row.row_notes for row in rows))),
        is_right_or_wrong=labels is None
        and chosen.link == "identity"
        and all(map(_right_or_wrong, scores)),
    )


def _seeds_part(scores: Sequence[PromptScores]) -> float | None:
    """V_s of both; None where neither has a second seed."""
    cells = [own.seeds.cells for own in scores if own.seeds is not None]
    if cells:
        return sum(fit_seeds(own).v_seeds or 0.0 for own in cells)
    return None


def _right_or_wrong(scores: PromptScores) -> bool:
    return bool(
        np.all(scores.zero_one) and np.all(scores.n_draws == 1)
    ) and is_constant(scores.weights)


def pilot_of(
    scores: Sequence[PromptScores],
    prompts: NDArray[np.int64],
    metric: Metric,
    labels: NDArray[np.int64] | None,
    correlation: float | None = None,
) -> Pilot:
    """The parts of one or two models on some prompts.

    Args:
        scores: of each model, among them those of the prompts.
        prompts: ids, ascending.
        metric: that the scores are by.
        labels: cluster of each prompt; None without.
        correlation: of one model with another like it.

    Raises:
        StatisticsError: a single prompt or cluster, or ``correlation`` out of range.
    """
    if labels is None:
        groups = None
    else:
        groups = as_clusters(labels, len(prompts))
    sides = [_side(own, prompts, metric, groups) for own in scores]
    bounds = None
    if metric.link == "identity":
        bounds = metric.bounds
    if len(sides) == 1:
        return plan_from_one(
            *sides[0], clusters=labels, correlation=correlation or 0.0, bounds=bounds
        )
    (a, within_a, k_a), (b, within_b, k_b) = sides
    return plan_from_pilot(a, b, within_a, within_b, k_a, k_b, labels, bounds=bounds)


def clusters_of(
    store: Store,
    conditions: Sequence[Condition],
    selection: Selection,
    prompts: NDArray[np.int64],
) -> NDArray[np.int64] | None:
    """Cluster of each prompt, links followed; None without."""
    return _clusters(store, conditions, selection).labels(prompts)


def _clusters(
    store: Store, conditions: Sequence[Condition], selection: Selection
) -> ClusterMap:
    clusters = cluster_map(
        store,
        sorted({condition.setting("benchmark_id") for condition in conditions}),
        find_benchmark(store, conditions[0].setting("benchmark")).clusterings,
        selection.cluster,
    )
    return clusters_under_links(clusters, read_links(store))


def choose_runs(
    store: Store, references: Sequence[str], selection: Selection
) -> list[Condition]:
    """One condition for each reference, all on one benchmark and split."""
    ids = None
    if selection.benchmark is not None:
        ids = find_benchmark(store, selection.benchmark).ids
    filters = parse_where(selection.where)
    by_reference = []
    for text in references:
        conditions = with_scores(by_benchmark_split(store, text, ids, filters))
        by_reference.append(
            rows_by_split(
                store, conditions, selection.metric, selection.rows or RowRules()
            )
        )
    splits = sorted(set.intersection(*(set(splits) for splits in by_reference)))
    if len(splits) != 1:
        there = ", ".join(
            f"{name} ({split})" if split else name for name, split in splits
        )
        raise MisuseError(
            f"{' and '.join(references)} are on several benchmarks or splits in "
            f"common; choose one with --benchmark or --where split=...: {there}"
            if splits
            else f"{' and '.join(references)} have no benchmark in common"
        )
    sides = by_one_scorer(
        store, splits, list(zip(references, by_reference, strict=True))
    )
    chosen = [
        pick_one(store, of_one[splits[0]], text, latest=selection.latest)
        for text, of_one in sides
    ]
    runs = [set(entry.run_ids) for entry in chosen]
    if len(runs) == 2 and runs[0] & runs[1]:
        raise MisuseError("both references mean the same run; give one of them alone")
    return chosen


def _rows(
    store: Store,
    conditions: Sequence[Condition],
    selection: Selection,
    clusters: ClusterMap,
) -> tuple[Metric, list[ScoredCondition]]:
    """The first metric that all conditions have scores of, with the row of each, over
    its seeds and repeats."""
    ids = sorted({condition.setting("benchmark_id") for condition in conditions})
    chosen = choose_metrics(
        metrics_of(store, ids), selection.metric, conditions[0].benchmark_split[0]
    )
    sides = [condition.members or (condition,) for condition in conditions]
    members = list(chain.from_iterable(sides))
    runs = {}
    for number, own in enumerate(members):
        for run in own.run_ids:
            runs[run] = number
    rules = selection.rows or RowRules()
    for metric in chosen:
        if metric.link == "none":
            continue
        found = read_scores(
            store, runs, [metric.id], links=read_links(store), with_repeats=True
        )
        if infinite := [
            members[number].model for number, own in found.items() if own.has_infinite
        ]:
            raise MisuseError(
                f"{infinite[0]} has infinite scores: a difference of means cannot be "
                "planned"
            )
        scored = {members[number].key: own for number, own in found.items() if own.n}
        entries = [_entries(side, metric, scored) for side in sides]
        if all(entries):
            both = zip(conditions, entries, strict=True)
            return metric, [
                row_of_condition(store, condition, own, clusters, rules)
                for condition, own in both
            ]
    models = " and ".join(condition.model for condition in conditions)
    raise MisuseError(
        f"{models}: no scored prompts by {chosen[0].label} (planning needs scores of "
        "prompts; published figures do not show their variances)"
    )


def _entries(
    members: Sequence[Condition], metric: Metric, scored: Mapping[str, PromptScores]
) -> list[ScoredCondition]:
    """Entries of one model, of several seeds one each, that have a scored prompt."""
    return [
        ScoredCondition(own, "", metric, scored[own.key], None)
        for own in members
        if own.key in scored
    ]


def _common(
    conditions: Sequence[Condition], scores: Sequence[PromptScores]
) -> NDArray[np.int64]:
    prompts = scores[0].prompts
    for other in scores[1:]:
        prompts = np.intersect1d(prompts, other.prompts, assume_unique=True)
    if not len(prompts):
        models = " and ".join(condition.model for condition in conditions)
        raise MisuseError(f"{models} have no scored prompt in common")
    return prompts


def _side(
    scores: PromptScores,
    prompts: NDArray[np.int64],
    metric: Metric,
    clusters: Clusters | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Prompt means, variances of draws (both on the scale of the figure) and numbers of
    draws."""
    kept = np.searchsorted(scores.prompts, prompts)
    values = scores.values[kept]
    weights = scores.weights[kept]
    link = find_link(metric.link)
    figures = linearise_figure(values, weights, link)
    if (
        not is_constant(weights)
        and (len(values) if clusters is None else clusters.n) > 1
    ):
        figures = spread_as_plain(figures, weights, clusters)
    slope = link.slope(mean_of(linearise(values, weights)))
    scale = slope * weights / weights.mean()
    return figures, scores.within[kept] * scale**2, scores.n_draws[kept]


def _width(metric: Metric) -> float | None:
    if metric.bounds is None or metric.link != "identity":
        return None
    low, high = metric.bounds
    if low is None or high is None:
        return None
    return high - low
