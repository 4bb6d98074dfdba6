"""The data map: how often correct, how consistent, and which targets may be wrong.

Zhang et al. (2025), §3 and appendix E: P(correct) against S(consistency) of every
prompt with several generations. A prompt that is answered wrongly and always alike has
a suspicious target.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from warehouse.analysis.datamap.answer_grouping import (
    Grouper,
    SetsOfPrompts,
    count_correct,
    count_generations,
    grouper_of,
    sets_of_prompts,
)
from warehouse.analysis.datamap.question import MapPrompts
from warehouse.analysis.datamap.view import DataMap, DataMapRow, DistributionRow
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.benchmarks import (
    BenchmarkFacts,
    Metric,
    choose_metrics,
    find_benchmark,
    metrics_of,
    run_metrics_of,
)
from warehouse.analysis.selection.conditions import Condition, label_conditions
from warehouse.analysis.selection.other_metrics import advise_metric, scored_metrics
from warehouse.analysis.selection.prompts import prompts_by_id
from warehouse.analysis.selection.reference import by_split, find_conditions
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import proportion_intervals
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener

#: P(correct) is counted in so many equal bins; the last one holds 1.
BINS = 10


def distribution(rows: Sequence[DataMapRow], metric: str) -> DistributionRow | None:
    """The distribution over the prompts of one condition; None where none has a
    P(correct)."""
    scored = [row for row in rows if row.p_correct is not None]
    if not scored:
        return None
    p = np.array([row.p_correct for row in scored], np.float64)
    draws = np.array([row.n_draws for row in scored])
    grouped = [row for row in rows if row.consistency is not None]
    quantiles = np.quantile(p, [0.1, 0.25, 0.5, 0.75, 0.9]).tolist()
    bins = np.minimum((p * BINS + 1e-9).astype(int), BINS - 1)
    sd = None
    if len(p) > 1:
        sd = float(p.std(ddof=1))
    return DistributionRow(
        **part_fields(
            rows[0], "model", "condition", "temperature", "benchmark", "split"
        ),
        metric=metric,
        n_prompts=len(p),
        n_draws=int(draws.sum()),
        least_draws=int(draws.min()),
        most_draws=int(draws.max()),
        mean=float(p.mean()),
        sd=sd,
        share_never=float((p == 0).mean()),
        share_always=float((p == 1).mean()),
        **dict(zip(("p10", "p25", "p50", "p75", "p90"), quantiles, strict=True)),
        histogram=tuple(np.bincount(bins, minlength=BINS).tolist()),
        mean_consistency=_mean([row.consistency for row in grouped]),
        mean_sets=_mean([row.n_sets for row in grouped]),
        n_suspected=sum(row.suspected for row in rows),
    )


def _mean(values: Sequence[float | int | None]) -> float | None:
    if values:
        return float(np.mean(np.array(values, np.float64)))
    return None


#: A suspect is wrong in more than half of what could be drawn: the upper end of
#: P(correct) lies below.
MOST_UPPER = 0.5


@answers(MapPrompts)
def datamap(opener: StoreOpener, question: MapPrompts) -> DataMap:
    """P(correct) and S(consistency) of every prompt with several generations."""
    group = question.group
    model = grouper_of(
        group,
        question.embedder,
        question.threshold,
        question.entailment,
        question.device,
    )
    if group != "embedding" and question.threshold != MapPrompts.threshold:
        raise MisuseError("--threshold is for grouping by embedding: --group embedding")
    if model is None and (
        question.device is not None or question.fresh or not question.store_result
    ):
        if question.device is not None:
            name = "--device"
        elif question.fresh:
            name = "--fresh"
        else:
            name = "--no-store"
        raise MisuseError(
            f"{name} is for grouping by a model: --group embedding or entailment"
        )
    with opener.reading() as store:
        ids = None
        if question.benchmark is not None:
            ids = find_benchmark(store, question.benchmark).ids
        where = parse_where(question.where)
        conditions = find_conditions(
            store, question.reference, benchmark_ids=ids, where=where
        )
        numbers = sorted(
            {int(condition.setting("benchmark_id")) for condition in conditions}
        )
        facts = BenchmarkFacts(
            (), metrics_of(store, numbers), tuple(run_metrics_of(store, numbers))
        )
    return datamap_of(opener, question, conditions, facts, model)


def datamap_of(
    opener: StoreOpener,
    question: MapPrompts,
    conditions: Sequence[Condition],
    facts: BenchmarkFacts,
    model: Grouper | None = None,
    prompts: dict[int, dict[str, Any]] | None = None,
) -> DataMap:
    """`datamap` of conditions that were found (MisuseError: none of them has a data
    map).

    Args:
        facts: metrics of their benchmarks, and which of their runs have figures of
            which.
        model: that generations are grouped by, where there is one.
        prompts: those that were read already, by id; others are added.
    """
    with opener.reading() as store:
        named = _labelled(store, conditions)
    rows: list[DataMapRow] = []
    spread: list[DistributionRow] = []
    left_out, notes, grouped = [], set(), set()
    prompts = {} if prompts is None else prompts
    for index, (condition, label) in enumerate(named):
        number = int(condition.setting("benchmark_id"))
        own_metrics = [
            metric for metric in facts.metrics if metric.benchmark_id == number
        ]
        described = choose_metrics(
            own_metrics, question.metric, condition.benchmark_split[0]
        )[0]
        own, sets = _condition_rows(
            opener, condition, label, described, question, model, prompts
        )
        most = max((max(row.n_draws, row.n_generations) for row in own), default=0)
        row = distribution(own, described.label)
        if most < 2 or row is None:
            scored = scored_metrics(
                facts.run_metrics, own_metrics, [condition]
            ).keys() - {described.label}
            why = _why_not(most, row, described.label, scored)
            left_out.append(f"{_in_words(condition, label)}: {why}")
        else:
            rows, spread = rows + own, [*spread, row]
            grouped |= {sets.grouped_by} if sets.grouped_by else set()
            notes.update(_notes(own, sets, question))
        if question.progress:
            question.progress((index + 1) / len(named))
    if not spread:
        raise MisuseError(
            f"{question.reference!r} has no data map: {'; '.join(left_out)}"
        )
    return DataMap(
        grouped_by=", ".join(sorted(grouped)),
        max_p=question.max_p,
        min_s=question.min_s,
        level=question.level,
        rows=tuple(rows),
        distribution=tuple(spread),
        notes=tuple(sorted(notes)),
        left_out=tuple(left_out),
    )


def _labelled(
    store: Store, conditions: Sequence[Condition]
) -> list[tuple[Condition, str]]:
    """Conditions by benchmark, split and temperature, each labelled by the settings
    that distinguish it."""
    labelled = []
    for members in by_split(conditions).values():
        named = zip(members, label_conditions(store, members), strict=True)
        labelled += sorted(
            named, key=lambda pair: (pair[0].model, _heat(pair[0]), pair[1])
        )
    return labelled


def _heat(condition: Condition) -> float:
    temperature = condition.setting("temperature")
    if temperature is None:
        return math.inf
    return float(temperature)


def _in_words(condition: Condition, label: str) -> str:
    return ", ".join(
        filter(None, (condition.benchmark_split[0], condition.model, label))
    )


def _why_not(
    most: int, row: DistributionRow | None, metric: str, scored: Collection[str]
) -> str:
    """Why a condition has no data map, with the other metrics that its generations were
    scored by."""
    if row is None:
        advice = advise_metric("there are scores by", scored)
        if most >= 2 or advice:
            return f"no generation was scored by {metric}{advice}"
    return "each prompt has one generation; a data map needs several"


def _condition_rows(
    opener: StoreOpener,
    condition: Condition,
    label: str,
    metric: Metric,
    question: MapPrompts,
    model: Grouper | None,
    prompts: dict[int, dict[str, Any]],
) -> tuple[list[DataMapRow], SetsOfPrompts]:
    """A row for each prompt that has a score or a generation, and its sets."""
    with opener.reading() as store:
        counts = count_generations(store, condition.run_ids)
        correct = count_correct(store, condition.run_ids, metric, question.correct_at)
    sets = sets_of_prompts(
        opener,
        condition,
        counts,
        question.group,
        model,
        fresh=question.fresh,
        store_result=question.store_result,
    )
    scored = correct.n_draws > 0
    low, high = proportion_intervals(
        correct.n_correct[scored],
        correct.n_draws[scored],
        level=question.level,
        method=question.interval,
    )
    p, n = (
        correct.n_correct[scored] / correct.n_draws[scored],
        correct.n_draws[scored].astype(int),
    )
    figures: dict[int, _Counted] = dict(
        zip(
            correct.prompts[scored].tolist(),
            zip(p.tolist(), low.tolist(), high.tolist(), n.tolist(), strict=True),
            strict=True,
        )
    )
    said = _consistency_by_prompt(sets)
    ids = sorted({*figures, *said})
    if unread := [prompt for prompt in ids if prompt not in prompts]:
        with opener.reading() as store:
            prompts |= prompts_by_id(store, unread)
    shared = (
        condition.model,
        label,
        condition.setting("temperature"),
        *condition.benchmark_split,
    )
    rows = []
    for prompt in ids:
        own = prompts[prompt]
        counted: _Counted = figures.get(prompt, (None, None, None, 0))
        consistency: _Consistency = said.get(prompt, (None, None, 0, None, None))
        suspected = _is_beyond(
            counted[0], consistency[0], consistency[4], question
        ) and _has_draws(counted[2], question)
        names = (own["tool_id"], own["key"])
        asks = (own["target"], own["text"])
        columns: tuple[Any, ...] = (
            *shared,
            prompt,
            *names,
            *counted,
            *consistency,
            suspected,
            *asks,
        )
        rows.append(DataMapRow(*columns))
    return rows, sets


#: Columns of one prompt, from ``p_correct`` to ``n_draws``.
_Counted = tuple[float | None, float | None, float | None, int]
#: And from ``consistency`` to ``majority_answer``.
_Consistency = tuple[float | None, int | None, int, float | None, str | None]


def _consistency_by_prompt(sets: SetsOfPrompts) -> dict[int, _Consistency]:
    """One generation says nothing about consistency."""
    figures = (
        sets.consistency.tolist(),
        sets.n_sets.tolist(),
        sets.n.tolist(),
        sets.share.tolist(),
        sets.majority,
    )
    return {
        prompt: (consistency, n_sets, n, share, answer)
        if n > 1
        else (None, None, n, None, answer)
        for prompt, consistency, n_sets, n, share, answer in zip(
            sets.prompts.tolist(), *figures, strict=True
        )
    }


def _is_beyond(
    p: float | None,
    consistency: float | None,
    majority: str | None,
    question: MapPrompts,
) -> bool:
    """True if P and S lie beyond the thresholds, and the majority gives an answer."""
    if p is None or consistency is None or majority is None:
        return False
    return p <= question.max_p + 1e-12 and consistency >= question.min_s - 1e-12


def _has_draws(upper: float | None, question: MapPrompts) -> bool:
    """True if there are enough draws: P(correct) has an upper limit below the
    threshold."""
    return upper is not None and upper < max(MOST_UPPER, question.max_p)


def _notes(
    rows: Sequence[DataMapRow], sets: SetsOfPrompts, question: MapPrompts
) -> list[str]:
    notes = []
    most = max((row.n_generations for row in rows), default=0)
    if sets.grouped_by == "normalised text" and question.group is None and most:
        notes.append(
            "no answers were extracted: generations are grouped by normalised text"
        )
    if not any(row.consistency is not None for row in rows):
        notes.append(
            "no text of generations is stored: P(correct) only, and no suspects"
        )
    elif -math.log(most) >= question.min_s:
        notes.append(
            f"with {most} generations S is never below {-math.log(most):.2f}: a "
            f"threshold of {question.min_s:g} leaves nothing out"
        )
    # prompts beyond the thresholds that too few draws keep from being suspects
    beyond = [
        row
        for row in rows
        if _is_beyond(row.p_correct, row.consistency, row.majority_answer, question)
    ]
    few = sum(not row.suspected for row in beyond)
    if few:
        notes.append(
            f"{few} {'prompt is' if few == 1 else 'prompts are'} answered wrongly and "
            f"alike in too few draws to be suspected: P(correct) may be {MOST_UPPER:g} "
            "and more"
        )
    if sets.n_too_long:
        notes.append(
            f"{sets.grouped_by}: {sets.n_too_long} texts are longer than the model "
            "reads; it read the beginning only"
        )
    if any(row.n_generations and row.majority_answer is None for row in rows):
        notes.append("where most generations give no answer, a prompt is not suspected")
    return notes
