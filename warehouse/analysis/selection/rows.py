"""One row of a model: its training seeds at its last whole checkpoint, repeats pooled
where they look like repeats.

From conditions to a row, in this order: settings make rows of their own; of checkpoints
the last whole one stands for the model; runs of one condition are draws of the same
prompts unless they differ by more than draws do; training seeds are one row, whose
figure is their mean. Which conditions make a row is decided before scores are read
(`plan_rows`); what becomes of their scores, afterwards (`row_entries`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.metric_names import of_one
from warehouse.analysis.selection.published_figures import PublishedFigure
from warehouse.analysis.selection.row_plans import RowPlan, seed_name
from warehouse.analysis.selection.row_repeats import (
    NAMED,
    equal_responses,
    joined,
    tested_repeats,
    verdict_on,
    with_repeats,
)
from warehouse.analysis.selection.run_versions import differing_versions, versions_note
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import PromptScores, over_seeds
from warehouse.analysis.selection.selection import RowRules
from warehouse.errors import MisuseError
from warehouse.stats.rows.repeats import (
    SPLIT,
    RepeatsTest,
)
from warehouse.store.connection import Store

#: Entries of conditions, by key and id of the metric.
Entries = Mapping[tuple[str, int], ScoredCondition]


def row_entries(
    store: Store,
    plans: Sequence[RowPlan],
    read: Sequence[ScoredCondition],
    clusters: ClusterMap,
    rules: RowRules,
) -> list[ScoredCondition]:
    """The rows of conditions whose scores were read, one a metric that the conditions
    have figures of.

    Args:
        plans: of the rows.
        read: entries of their conditions.
        clusters: for tests of repeats.
    """
    found: Entries = {(entry.condition.key, entry.metric.id): entry for entry in read}
    metrics = {entry.metric.id: entry.metric for entry in read}
    rows: list[ScoredCondition] = []
    for plan in plans:
        for alike in of_one(metrics.values()):
            members = [
                _entry_of(condition, alike, found) for condition in plan.conditions
            ]
            there = [entry for entry in members if entry is not None]
            if there:
                rows += _rows_of(store, plan, alike[0], there, clusters, rules)
    return rows


def _entry_of(
    condition: Condition, alike: Sequence[Metric], found: Entries
) -> ScoredCondition | None:
    """What a condition has by a metric, under the first of its names that it has."""
    keys = ((condition.key, metric.id) for metric in alike)
    return next((found[key] for key in keys if key in found), None)


def _rows_of(
    store: Store,
    plan: RowPlan,
    metric: Metric,
    members: Sequence[ScoredCondition],
    clusters: ClusterMap,
    rules: RowRules,
) -> Iterator[ScoredCondition]:
    base = replace(
        members[0],
        row_flags=plan.flags,
        row_notes=plan.notes,
        n_checkpoints=plan.n_checkpoints,
        is_trained=any(plan.seeds) and not plan.are_draws,
    )
    if any(entry.infinite is not None for entry in members):
        yield replace(
            base,
            scores=_infinite_over_seeds(members),
            published=None,
            condition=plan.pooled,
        )
        return
    usable = [entry for entry in members if entry.usable is not None]
    if any(entry.stopped is not None for entry in members) or not usable:
        yield from _without_samples(base, members)
        return
    if plan.are_draws and len(usable) > 1:
        usable = [_as_repeats(usable)]
    if len(usable) == 1:
        only = replace(
            usable[0],
            row_flags=plan.flags,
            row_notes=plan.notes,
            n_checkpoints=plan.n_checkpoints,
            is_trained=base.is_trained,
        )
        yield from with_repeats(store, only, clusters, rules)
        return
    tests = [(entry, tested_repeats(entry, clusters)) for entry in usable]
    for entry, test in tests:
        if verdict_on(test, rules) == SPLIT or (
            test is not None and equal_responses(store, entry, test)[0]
        ):
            for other in usable:
                yield from with_repeats(
                    store,
                    replace(other, label=joined(entry.label, "")),
                    clusters,
                    rules,
                )
            return
    yield from _over_seeds(base, usable, tests)


def _infinite_over_seeds(members: Sequence[ScoredCondition]) -> PromptScores:
    """Scores of several seeds of which some are infinite: a prompt is that is so with
    one of them."""
    scores = [entry.scores for entry in members if entry.scores is not None]
    if len(scores) == 1:
        return scores[0]
    infinite: dict[int, float] = {}
    for own in scores:
        for prompt, value in zip(
            own.infinite_prompts.tolist(), own.infinite_values.tolist(), strict=True
        ):
            before = infinite.get(prompt, value)
            if before == value:
                infinite[prompt] = value
            else:
                infinite[prompt] = float("nan")
    ids = np.array(sorted(infinite), dtype=np.int64)
    finite = [own for own in scores if own.n]
    combined = scores[0]
    if finite:
        found, _ = over_seeds(finite, [""] * len(finite), all_whole=True)
        assert found is not None
        kept = np.flatnonzero(~np.isin(found.prompts, ids))
        columns = ("prompts", "values", "weights", "n_draws", "within", "zero_one")
        combined = replace(
            found, seeds=None, **{name: getattr(found, name)[kept] for name in columns}
        )
    seen = np.unique(np.concatenate([own.seen for own in scores]))
    return replace(
        combined,
        seen=seen,
        unscored=np.zeros(len(seen)),
        n_unscored=sum(own.n_unscored for own in scores),
        n_samples=sum(own.n_samples for own in scores),
        infinite_prompts=ids,
        infinite_values=np.array([infinite[prompt] for prompt in ids.tolist()]),
    )


def _over_seeds(
    base: ScoredCondition,
    usable: Sequence[ScoredCondition],
    tests: Sequence[tuple[ScoredCondition, RepeatsTest | None]],
) -> Iterator[ScoredCondition]:
    """One row of several seeds; of parts where no seed is whole."""
    labels = [str(entry.condition.setting("training_seed") or "") for entry in usable]
    scores = [entry.usable for entry in usable if entry.usable is not None]
    combined, left_out = over_seeds(scores, labels)
    if combined is None:
        for entry, label in zip(usable, labels, strict=True):
            yield replace(
                entry,
                label=joined(entry.label, seed_name(label)),
                row_flags=(*base.row_flags, "subset"),
                row_notes=(
                    *base.row_notes,
                    "no seed has a score on .95 of the prompts that some seed has one "
                    "on",
                ),
            )
        return
    kept = [
        entry
        for entry, label in zip(usable, labels, strict=True)
        if label not in left_out
    ]
    notes = tuple(
        f"{seed_name(label)} left out: {counted} questions"
        for label, counted in left_out.items()
    )
    flags = []
    for _, test in tests:
        if test is not None:
            for flag in test.flags:
                if flag != "too_few_to_tell":
                    flags.append(flag)
    runs = sorted(
        chain.from_iterable(entry.condition.runs for entry in kept),
        key=lambda run: int(run["run_id"]),
    )
    yield replace(
        base,
        condition=Condition(
            kept[0].condition.key,
            tuple(runs),
            members=tuple(entry.condition for entry in kept),
        ),
        scores=combined,
        published=None,
        row_flags=(*base.row_flags, *dict.fromkeys(flags)),
        row_notes=(*base.row_notes, *notes),
    )


def _without_samples(
    base: ScoredCondition, members: Sequence[ScoredCondition]
) -> Iterator[ScoredCondition]:
    """A row of published figures: their mean over seeds, where there are several;
    stopped runs stay apart."""
    figures = [entry.published for entry in members if entry.published is not None]
    if any(entry.stopped is not None for entry in members) or len(figures) < 2:
        for entry in members:
            yield replace(
                entry,
                row_flags=base.row_flags,
                row_notes=base.row_notes,
                n_checkpoints=base.n_checkpoints,
                is_trained=base.is_trained,
            )
        return
    published = [entry for entry in members if entry.published is not None]
    runs = sorted(
        chain.from_iterable(entry.condition.runs for entry in published),
        key=lambda run: int(run["run_id"]),
    )
    values = tuple(figure.value for figure in figures)
    mean = sum(values) / len(values)
    yield replace(
        base,
        condition=Condition(
            published[0].condition.key,
            tuple(runs),
            members=tuple(entry.condition for entry in published),
        ),
        scores=None,
        published=PublishedFigure(
            mean, None, max(figure.n for figure in figures), values
        ),
    )


def _as_repeats(usable: Sequence[ScoredCondition]) -> ScoredCondition:
    """Conditions that differ in the seed of sampling alone as one, their runs as
    repeats."""
    scores = [entry.usable for entry in usable if entry.usable is not None]
    runs = tuple(
        sorted(
            chain.from_iterable(own.condition.runs for own in usable),
            key=lambda run: int(run["run_id"]),
        )
    )
    by_run: list[PromptScores] = []
    for own in scores:
        by_run += own.repeats or (own,)
    combined, _ = over_seeds(scores, [""] * len(scores), all_whole=True)
    assert combined is not None
    means = _pooled_means(scores, combined.prompts)
    within = _pooled_within(scores, combined.prompts, means)
    pooled = replace(
        combined, values=means, within=within, seeds=None, repeats=tuple(by_run)
    )
    return replace(
        usable[0], condition=Condition(usable[0].condition.key, runs), scores=pooled
    )


def _pooled_means(
    scores: Sequence[PromptScores], prompts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Mean over all draws of each prompt."""
    totals = np.zeros(len(prompts))
    draws = np.zeros(len(prompts))
    for own in scores:
        at = np.searchsorted(prompts, own.prompts)
        totals[at] += own.n_draws * own.values
        draws[at] += own.n_draws
    means: NDArray[np.float64] = totals / draws
    return means


def _pooled_within(
    scores: Sequence[PromptScores],
    prompts: NDArray[np.int64],
    means: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Variance of all draws of each prompt about their mean; NaN for a single one, or
    where that of some is unknown."""
    squares = np.zeros(len(prompts))
    draws = np.zeros(len(prompts))
    for own in scores:
        at = np.searchsorted(prompts, own.prompts)
        own_squares = np.where(own.n_draws > 1, (own.n_draws - 1) * own.within, 0.0)
        squares[at] += own_squares + own.n_draws * (own.values - means[at]) ** 2
        draws[at] += own.n_draws
    return np.where(draws > 1, squares / np.maximum(draws - 1, 1), np.nan)


def row_of_condition(
    store: Store,
    condition: Condition,
    read: Sequence[ScoredCondition],
    clusters: ClusterMap,
    rules: RowRules,
) -> ScoredCondition:
    """The one row of a condition that was chosen, or of the seeds behind it.

    Args:
        read: entries of the condition, or of each of its seeds, by one metric, at least
            one.

    Raises:
        MisuseError: its repeats are none, or no seed is whole, so that there is no one
            figure.
    """
    rows = row_entries(store, [RowPlan.of(condition, rules)], read, clusters, rules)
    if len(rows) == 1:
        words = differing_versions(store, {0: rows[0].condition.run_ids}).get(0, "")
        if not words:
            return rows[0]
        return replace(
            rows[0],
            versions=words,
            row_notes=(*rows[0].row_notes, versions_note(words)),
        )
    why = "; ".join(dict.fromkeys(chain.from_iterable(row.row_notes for row in rows)))
    choices = ", ".join(f"run:{run}" for run in condition.run_ids[:NAMED])
    raise MisuseError(
        f"{condition.model} has no one figure on {condition.benchmark_split[0]}: "
        f"{why}; choose one as run:ID ({choices}), or pool the runs with --repeats pool"
    )
