"""The conditions on a benchmark with their scores, each for itself or as one row of a
model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import (
    BenchmarkFacts,
    KnownBenchmark,
    Metric,
    choose_metrics,
    metrics_of,
    read_benchmark,
    run_metrics_of,
)
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map
from warehouse.analysis.selection.conditions import Condition, label_conditions
from warehouse.analysis.selection.hooks import possible_plans
from warehouse.analysis.selection.metric_names import names_notes
from warehouse.analysis.selection.only_prompts import (
    only_prompts,
    run_conditions,
    scores_of,
)
from warehouse.analysis.selection.policies import policy_in_force, policy_notes
from warehouse.analysis.selection.policy_evidence import ReadRun, require_readable
from warehouse.analysis.selection.read_twice import read_twice
from warehouse.analysis.selection.reference import BySplit, choose_conditions
from warehouse.analysis.selection.row_plans import (
    RowPlan,
    newest_rows,
    plan_rows,
    without_place,
)
from warehouse.analysis.selection.rows import row_entries
from warehouse.analysis.selection.run_versions import differing_versions, versions_note
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    read_entries,
)
from warehouse.analysis.selection.selection import RowRules, Selection
from warehouse.errors import MisuseError
from warehouse.questions.options import EACH_CHECKPOINT, EACH_SEED
from warehouse.records.policy import Policy
from warehouse.store.connection import Store
from warehouse.tables.words import some_of

#: Share of a row's samples without a score above which it is asked whether there is
#: another policy for them.
_MANY = 0.05
#: Seeds that a message names.
_SEEDS = 5


def select_entries(store: Store, selection: Selection) -> BenchmarkScores:
    """Every condition on a benchmark with its scores.

    Args:
        selection: names a benchmark.

    Raises:
        MisuseError: unknown benchmark, metric, clustering or field; a suite; nothing to
            show.
    """
    return select_among(
        store, read_benchmark(store, selection.benchmark or ""), selection
    )


def select_among(
    store: Store, benchmark_facts: KnownBenchmark, selection: Selection
) -> BenchmarkScores:
    """`select_entries` of a benchmark whose runs and metrics were read."""
    benchmark, facts = benchmark_facts
    # messages have the name that was given, which may be an alias
    name = selection.benchmark or ""
    rules = selection.rows
    where: Sequence[str] = selection.where
    only = None
    if selection.some_prompts:
        only = only_prompts(store, benchmark.ids, name, where)
        where = run_conditions(where)
    conditions = choose_conditions(
        facts.runs, name, where, selection.latest and rules is None
    )
    metrics = choose_metrics(facts.metrics, selection.metric, name)
    clusters = cluster_map(
        store, benchmark.ids, benchmark.clusterings, selection.cluster
    )
    shown: frozenset[str] = frozenset()
    if rules is None:
        entries = read_entries(store, conditions, metrics)
    else:
        plans = plan_rows(
            store,
            conditions,
            partial(scored_prompts, conditions, facts, metrics),
            rules,
        )
        if selection.latest:
            plans = newest_rows(plans)
        entries = entries_as_rows(store, plans, metrics, clusters, rules)
        shown = shown_keys(plans, entries)
    notes: list[str] = []
    if only is not None:
        entries = [of_some_prompts(entry, only.ids) for entry in entries]
        notes = [only.note]
    usable = (
        (entry.condition, entry.metric.label, entry.usable)
        for entry in entries
        if entry.usable is not None
    )
    entries = tell_scorers(entries)
    in_force = policy_in_force(
        store, ((one.benchmark_id, one.id) for one in metrics), benchmark.name
    )
    if in_force.policy is not None:
        require_readable(store, in_force.policy, _read_runs(entries))
    return BenchmarkScores(
        benchmark,
        tuple(metrics),
        tuple(entries),
        clusters,
        selection.subset_ok,
        None if only else possible_plans(store, benchmark, usable),
        tuple(conditions),
        facts,
        shown,
        (
            *names_notes((entry.condition.model, entry.metric) for entry in entries),
            *policy_notes(in_force, _filled(entries)),
            *notes,
            *_read_twice(store, entries),
        ),
        is_part=only is not None,
        policy=in_force,
        can_read_attempts=in_force.policy is None and _attempts(store, entries),
    )


def _attempts(store: Store, entries: Sequence[ScoredCondition]) -> bool:
    """True where many samples have no score and can be read under ``attempts``."""
    if not any(_lacks_many(entry) for entry in entries):
        return False
    try:
        require_readable(store, Policy.of("attempts"), _read_runs(entries))
    except MisuseError:
        return False
    return True


def _lacks_many(entry: ScoredCondition) -> bool:
    scores = entry.scores
    return scores is not None and scores.n_unscored > _MANY * scores.n_samples


def _read_runs(entries: Sequence[ScoredCondition]) -> Iterator[ReadRun]:
    """The runs with scores behind rows, each with its metric."""
    for entry in entries:
        if entry.scores is not None:
            yield from ((run, entry.metric.id) for run in entry.condition.runs)


def _read_twice(store: Store, entries: Sequence[ScoredCondition]) -> list[str]:
    """What is to be said of runs that several sources hold."""
    runs = chain.from_iterable(entry.condition.run_ids for entry in entries)
    return list(read_twice(store, runs))


def _filled(entries: Sequence[ScoredCondition]) -> Iterator[tuple[str, int, int]]:
    """Of each row its name, samples that count as wrong by a policy, and all."""
    for entry in entries:
        if entry.scores is not None:
            name = f"{entry.condition.model} {entry.label}".strip()
            yield name, entry.scores.n_filled, entry.scores.n_samples


def of_some_prompts(
    entry: ScoredCondition, prompts: NDArray[np.int64]
) -> ScoredCondition:
    """An entry with its scores of some prompts alone; figures that are published are of
    all."""
    scores = entry.scores
    if scores is not None:
        scores = scores_of(scores, prompts)
    return replace(entry, scores=scores, published=None)


def tell_scorers(entries: Sequence[ScoredCondition]) -> list[ScoredCondition]:
    """Entries whose labels say which judge or people gave the scores, where others of
    the benchmark are by somebody else; those of plain programs stay as they are."""
    told: list[ScoredCondition] = []
    several = len({entry.metric.told_by for entry in entries}) > 1
    for entry in entries:
        who = entry.metric.told_by
        words = f"by {who}"
        if several and who and words not in entry.label:
            label = ", ".join(filter(None, (entry.label, words)))
            entry = replace(entry, label=label)
        told.append(entry)
    return told


def entries_as_rows(
    store: Store,
    plans: Sequence[RowPlan],
    metrics: Sequence[Metric],
    clusters: ClusterMap,
    rules: RowRules,
) -> list[ScoredCondition]:
    """The rows of conditions that are planned, with their scores and labels.

    Args:
        metrics: by which they are read.
        clusters: for tests of repeats.
    """
    members = list(chain.from_iterable(plan.conditions for plan in plans))
    read = [
        replace(entry, label="")
        for entry in read_entries(store, members, metrics, with_repeats=True)
    ]
    if rules.each == EACH_CHECKPOINT:
        labelled = [plan.conditions[0] for plan in plans]
    else:
        keep_seed = rules.each == EACH_SEED
        labelled = [
            without_place(plan.conditions[0], keep_seed=keep_seed) for plan in plans
        ]
    by_plan = rows_of_plans(store, plans, read, clusters, rules)
    rows: list[ScoredCondition] = []
    for found, own_label in zip(
        by_plan, label_conditions(store, labelled), strict=True
    ):
        rows += [
            replace(row, label=", ".join(filter(None, (own_label, row.label))))
            for row in found
        ]
    return rows


def rows_of_plans(
    store: Store,
    plans: Sequence[RowPlan],
    read: Sequence[ScoredCondition],
    clusters: ClusterMap,
    rules: RowRules,
) -> list[list[ScoredCondition]]:
    """The rows of each plan.

    Args:
        read: entries of the conditions of all.
        clusters: for tests of repeats; plans of single runs need none.
    """
    by_key: dict[str, list[ScoredCondition]] = {}
    for entry in read:
        by_key.setdefault(entry.condition.key, []).append(entry)
    rows: list[list[ScoredCondition]] = []
    runs = {
        number: plan.pooled.run_ids
        for number, plan in enumerate(plans)
        if not plan.is_plain
    }
    versions = {}
    if runs:
        versions = differing_versions(store, runs)
    for number, plan in enumerate(plans):
        own = list(
            chain.from_iterable(
                by_key.get(condition.key, ()) for condition in plan.conditions
            )
        )
        if plan.is_plain:
            rows.append([plain_row(plan, entry) for entry in own])
        else:
            found = row_entries(store, [plan], own, clusters, rules)
            rows.append(
                [_with_versions(row, versions.get(number, "")) for row in found]
            )
    return rows


def _with_versions(row: ScoredCondition, words: str) -> ScoredCondition:
    """A row with a note on the versions of its runs, where they differ; a single run
    that stands apart has one."""
    if not words or len(row.condition.runs) < 2:
        return row
    return replace(
        row, versions=words, row_notes=(*row.row_notes, versions_note(words))
    )


def plain_row(plan: RowPlan, entry: ScoredCondition) -> ScoredCondition:
    """The row of a single run."""
    is_trained = any(plan.seeds) and not plan.are_draws
    if not (plan.flags or plan.notes or is_trained) and plan.n_checkpoints == 1:
        return entry  # there is nothing to add
    return replace(
        entry,
        row_flags=plan.flags,
        row_notes=plan.notes,
        n_checkpoints=plan.n_checkpoints,
        is_trained=is_trained,
    )


def scored_prompts(
    conditions: Sequence[Condition], facts: BenchmarkFacts, metrics: Sequence[Metric]
) -> dict[str, int]:
    """Prompts with a score by some metrics of each condition that has figures of them,
    by key: the most that a repeat of it has; 0 where its figures are published.

    Args:
        facts: of the benchmark.
    """
    counts = _of_each_run(facts, metrics)
    by_key: dict[str, int] = {}
    for condition in conditions:
        own = [counts[run] for run in condition.run_ids if run in counts]
        if own:
            by_key[condition.key] = max(own)
    return by_key


def _of_each_run(facts: BenchmarkFacts, metrics: Sequence[Metric]) -> dict[int, int]:
    ids = {metric.id for metric in metrics}
    found = {run["run_id"]: run["n_found"] or 0 for run in facts.runs}
    counts: dict[int, int] = {}
    for row in facts.run_metrics:
        run = row["run_id"]
        if row["metric_id"] in ids and run in found:
            n_scored = min(int(row["n_scored"]), found[run])
            counts[run] = max(counts.get(run, 0), n_scored)
    return counts


def shown_keys(
    plans: Sequence[RowPlan], entries: Sequence[ScoredCondition]
) -> frozenset[str]:
    """Keys of all conditions behind rows that are shown, those of other checkpoints
    among them."""
    there = {entry.condition.key for entry in entries}
    behind = []
    for plan in plans:
        if there & {condition.key for condition in plan.conditions}:
            behind.append(plan.keys)
    return frozenset().union(*behind)


def rows_by_split(
    store: Store, splits: BySplit, metric_name: str | None, rules: RowRules | None
) -> BySplit:
    """The rows of one model by benchmark and split, where several conditions there are
    seeds or checkpoints of one.

    Args:
        splits: conditions by benchmark and split.
        metric_name: by which prompts are counted; None: the headline metric.
        rules: of the rows; None: conditions stay as they are.
    """
    if rules is None:
        return splits
    return {
        split: _rows_on(store, conditions, metric_name, rules)
        for split, conditions in splits.items()
    }


def _rows_on(
    store: Store,
    conditions: Sequence[Condition],
    metric_name: str | None,
    rules: RowRules,
) -> Sequence[Condition]:
    if len(conditions) < 2:
        return conditions
    ids = sorted({condition.setting("benchmark_id") for condition in conditions})
    runs = tuple(chain.from_iterable(condition.runs for condition in conditions))
    facts = BenchmarkFacts(
        runs, metrics_of(store, ids), tuple(run_metrics_of(store, ids))
    )
    try:
        metrics: Sequence[Metric] = choose_metrics(
            facts.metrics, metric_name, conditions[0].benchmark_split[0]
        )
    except MisuseError:  # said where scores are read
        metrics = facts.metrics
    count = partial(scored_prompts, conditions, facts, metrics)
    return [plan.pooled for plan in plan_rows(store, conditions, count, rules)]


def without_other_seeds(
    store: Store, conditions: Sequence[Condition], metric_name: str | None, what: str
) -> Sequence[Condition]:
    """The conditions of one model at its last whole checkpoint, for a question that
    cannot be asked over seeds.

    Args:
        conditions: on one benchmark and split.
        metric_name: by which prompts are counted; None: the headline metric.
        what: why one seed is all that it can look at, as ``a sequential test goes …``.

    Raises:
        MisuseError: a row has several training seeds; says which option takes one.
    """
    rows = _rows_on(store, conditions, metric_name, RowRules())
    for row in rows:
        require_one_seed(row, what)
    return rows


def require_one_seed(row: Condition, what: str) -> None:
    """Refuse a row over several training seeds, for a question that cannot be asked
    over them.

    Raises:
        MisuseError: it has several; says which option takes one.
    """
    if len(row.members) < 2:
        return
    seeds = [str(member.setting("training_seed") or "") for member in row.members]
    raise MisuseError(
        f"{row.model} has {len(seeds)} training seeds on {row.benchmark_split[0]} "
        f"({some_of(seeds, _SEEDS)}): {what}; over the seeds: warehouse gate or "
        f"warehouse compare; one seed alone: --where training_seed={seeds[0]}, and the "
        "answer is of that seed"
    )
