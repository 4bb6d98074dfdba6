"""Runs of one condition as repeats: tested, pooled, and told in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.conditions import Condition, Run
from warehouse.analysis.selection.row_settings import (
    names_that_differ,
)
from warehouse.analysis.selection.same_answers import (
    a_few_scored_differently,
    read_same_answers,
    scored_differently,
)
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import (
    PromptScores,
    over_seeds,
)
from warehouse.analysis.selection.selection import RowRules
from warehouse.questions.options import (
    REPEATS_AS_SEEDS,
    REPEATS_AUTO,
    REPEATS_POOL,
    REPEATS_SPLIT,
)
from warehouse.stats.rows.repeats import (
    POOLED,
    SPLIT,
    WIDENED,
    RepeatsTest,
    greedy_repeats,
    repeats_test,
)
from warehouse.store.connection import Store
from warehouse.tables.words import listed, some_of

#: Columns of a run that may tell why repeats differ.
_TOLD_OF_RUNS = (
    *(
        "started_at",
        "harness_version",
        "sampling_seed",
        "max_tokens",
        "n_requested",
        "n_found",
        "status",
        "run_key",
    ),
    *("note", "run_group_id"),
)
_IN_WORDS = {
    "started_at": "date",
    "run_key": "the tool's run id",
    "run_group_id": "invocation",
}
#: Flag of runs that score equal responses differently.
SCORED_DIFFERENTLY = "scored_differently"
#: Seeds, runs and settings that a note names.
NAMED = 5


def joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def tested_repeats(entry: ScoredCondition, clusters: ClusterMap) -> RepeatsTest | None:
    """A test of whether the runs of a condition look like repeats; None for a single
    one."""
    scores = entry.usable
    if scores is None or len(scores.repeats) < 2 or entry.metric.link == "none":
        return None
    table = _run_table(scores)
    low = float(np.nanmin(table))
    high = float(np.nanmax(table))
    bounds = entry.metric.bounds_of(low, high)
    return repeats_test(table, clusters=clusters.labels(scores.prompts), bounds=bounds)


def _run_table(scores: PromptScores) -> NDArray[np.float64]:
    """Scores of each run on the prompts of all, NaN where it has none, shape (R, n)."""
    table = np.full((len(scores.repeats), scores.n), np.nan)
    for row, own in zip(table, scores.repeats, strict=True):
        row[np.searchsorted(scores.prompts, own.prompts)] = own.values
    return table


def verdict_on(test: RepeatsTest | None, rules: RowRules) -> str:
    if test is None or rules.repeats == REPEATS_POOL:
        return POOLED
    if rules.repeats == REPEATS_AS_SEEDS:
        return WIDENED
    if rules.repeats == REPEATS_SPLIT:
        return SPLIT
    return test.verdict


def equal_responses(
    store: Store, entry: ScoredCondition, test: RepeatsTest
) -> tuple[str, str]:
    """Notes on two scorers of equal responses, or of a few that are scored otherwise;
    empty where nothing is."""
    if not test.n_differ:
        return "", ""
    answers = read_same_answers(store, runs_with_scores(entry), [entry.metric])
    name = entry.condition.model
    scorers = scored_differently(answers, name)
    differently = ""
    if not scorers:
        differently = a_few_scored_differently(answers, name)
    return scorers, differently


def with_repeats(
    store: Store, entry: ScoredCondition, clusters: ClusterMap, rules: RowRules
) -> Iterator[ScoredCondition]:
    """A row of one seed, its runs pooled, counted like seeds, or apart."""
    test = tested_repeats(entry, clusters)
    if test is None:
        yield entry
        return
    verdict = verdict_on(test, rules)
    flags = tuple(flag for flag in test.flags if flag != "too_few_to_tell")
    scorers, few = equal_responses(store, entry, test)
    if scorers and verdict != SPLIT:
        verdict = POOLED if rules.repeats == REPEATS_POOL else SPLIT
    temperature = entry.condition.setting("temperature")
    greedy = greedy_repeats(test, None if temperature is None else float(temperature))
    notes = [*entry.row_notes, *filter(None, [few])]
    name = entry.condition.model
    if greedy.flags:
        n_differ, n_prompts = greedy.n_differ, greedy.n_prompts
        fields = fields_that_differ(store, runs_with_scores(entry))
        told = f"; the runs differ in {listed(fields)}" if fields else ""
        notes.append(
            f"{name}: temperature 0, yet {n_differ} of {n_prompts} prompts scored "
            f"otherwise{told}"
        )
    if scorers:
        notes.append(
            f"{scorers}; {'pooled as asked for' if verdict == POOLED else 'not pooled'}"
        )
        flags = (*flags, SCORED_DIFFERENTLY)
    elif flags:
        notes.append(_differ_in_words(store, entry, test, verdict))
    elif rules.repeats != REPEATS_AUTO:
        notes.append(
            f"{name}: repeats taken as asked for ({rules.repeats.replace('_', ' ')}; p "
            f"{test.p_value:.2g})"
        )
    entry = replace(
        entry,
        row_flags=(*entry.row_flags, *flags, *greedy.flags),
        row_notes=tuple(notes),
    )
    scores = entry.usable
    if verdict == POOLED or scores is None:
        yield entry
    elif verdict == WIDENED:
        labels = tuple(f"run {run}" for run in entry.condition.run_ids)
        widened, _ = over_seeds(scores.repeats, labels, kind="repeats")
        yield entry if widened is None else replace(entry, scores=widened)
    else:
        for run, own in zip(runs_with_scores(entry), scores.repeats, strict=True):
            yield replace(
                entry,
                condition=Condition(entry.condition.key, (run,)),
                label=joined(entry.label, f"run {run['run_id']}"),
                scores=own,
                published=None,
                no_place="two scorers" if scorers else "repeats differ",
            )


def is_greedy_and_differs(entry: ScoredCondition, test: RepeatsTest) -> bool:
    """True if runs without sampling score some prompt otherwise."""
    temperature = entry.condition.setting("temperature")
    return bool(
        greedy_repeats(test, None if temperature is None else float(temperature)).flags
    )


def repeats_in_words(
    store: Store, entry: ScoredCondition, test: RepeatsTest, scorers: str
) -> str:
    """A remark on runs of a condition that are no mere repeats, before any row is
    made.

    Args:
        entry: of one condition and metric, with the scores of its runs.
        test: of these runs.
        scorers: what is said of two scorers; empty where there is one.
    """
    said: list[str] = []
    where = f"on {entry.condition.benchmark_split[0]}"
    if "repeats_differ" in test.flags:
        said.append(
            f"differ by more than chance (p {test.p_value:.1g}): something else changed"
        )
    if is_greedy_and_differs(entry, test):
        said.append(
            f"temperature 0, yet {test.n_differ} of {test.n_prompts} tasks scored "
            "otherwise"
        )
    if scorers:
        return f"{scorers} ({where})"
    runs = runs_with_scores(entry)
    fields = fields_that_differ(store, runs)
    told = ""
    if fields:
        told = f"; fields in which they differ: {listed(fields)}"
    named = f"{_runs_in_words(runs)} of {entry.condition.model} {where}"
    return f"{named} claim the same settings, but {'; '.join(said)}{told}"


def _runs_in_words(runs: Sequence[Run]) -> str:
    ids = [str(run["run_id"]) for run in runs]
    return f"runs {listed(ids) if len(ids) <= NAMED else some_of(ids, NAMED)}"


def runs_with_scores(entry: ScoredCondition) -> list[Run]:
    """The runs behind the repeats, which are those with a score, by id."""
    scores = entry.scores
    assert scores is not None
    by_id = {run["run_id"]: run for run in entry.condition.runs}
    return [by_id[run_id] for run_id in scores.repeat_runs]


def _differ_in_words(
    store: Store, entry: ScoredCondition, test: RepeatsTest, verdict: str
) -> str:
    """A remark on repeats that differ, and in what else they do."""
    runs = _runs_in_words(runs_with_scores(entry))
    more = {
        POOLED: "pooled as asked for",
        WIDENED: "counted like seeds",
        SPLIT: "not pooled",
    }[verdict]
    fields = fields_that_differ(store, runs_with_scores(entry))
    told = ""
    if fields:
        told = f". Fields in which they differ: {listed(fields)}"
    chance = f"differ by more than chance (p {test.p_value:.2g})"
    return (
        f"{entry.condition.model}: {runs} claim the same settings but {chance}: "
        f"{more}{told}"
    )


def fields_that_differ(store: Store, runs: Sequence[Run]) -> list[str]:
    """The stored and raw fields in which runs of one condition differ, in words."""
    named = []
    for name in _TOLD_OF_RUNS:
        if len({str(run.get(name)) for run in runs}) > 1:
            named.append(_IN_WORDS.get(name, name))
    differing = names_that_differ(store, [int(run["run_id"]) for run in runs])
    paths = [_IN_WORDS.get(path, path) for path in differing]
    return [*dict.fromkeys([*named, *paths])][: 2 * NAMED]
