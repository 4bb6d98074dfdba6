"""The data map: how often correct, how consistent, and which targets may be wrong.

Zhang et al. (2025), §3 and appendix E: P(correct) against S(consistency) of every prompt with
several generations. A prompt that is answered wrongly and always alike has a suspicious target.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.items.answer_grouping import Grouper, Grouping, count_correct, count_generations, grouper_of
from warehouse.analysis.items.datamap_row import DataMapRow, DistributionRow, distribution
from warehouse.analysis.items.semantic_sets import SetsOfPrompts, sets_of_prompts
from warehouse.analysis.results import Result
from warehouse.analysis.selection.benchmarks import (
    BenchmarkFacts,
    Metric,
    advise_metric,
    choose_metrics,
    find_benchmark,
    metrics_of,
    run_metrics_of,
    scored_metrics,
)
from warehouse.analysis.selection.conditions import Condition, label_conditions
from warehouse.analysis.selection.prompts import prompts_by_id
from warehouse.analysis.selection.reference import find_conditions, parse_where
from warehouse.embeddings import Embedder, Entailment
from warehouse.errors import MisuseError
from warehouse.stats import proportion_intervals
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener

#: Thresholds of a suspected label error (Zhang et al. 2025, §4).
MAX_P, MIN_S = 0.1, -0.8
#: A suspect is wrong in more than half of what could be drawn: the upper end of P(correct) lies below.
MOST_UPPER = 0.5
#: Cosine similarity from which on two generations say the same.
ALIKE = 0.9


@dataclass(frozen=True)
class DataMap(Result):
    """P(correct) against S(consistency)."""

    grouped_by: str  #: how generations were put into semantic sets.
    max_p: float  #: suspected are prompts with at most this P(correct)
    min_s: float  #: and at least this S(consistency).
    level: float  #: nominal coverage of the intervals of P(correct).
    rows: tuple[DataMapRow, ...]  #: one per condition and prompt.
    distribution: tuple[DistributionRow, ...]  #: one row per condition.
    notes: tuple[str, ...]  #: what a reader should know.
    left_out: tuple[str, ...]  #: conditions that have no data map, each with the reason.

    @property
    def suspects(self) -> tuple[DataMapRow, ...]:
        """Suspected label errors: the most often wrong first, then the most consistent."""
        suspected = [row for row in self.rows if row.suspected]
        return tuple(sorted(suspected, key=lambda r: (r.p_correct or 0.0, -(r.consistency or 0.0))))

    @property
    def one_line(self) -> str:
        """The result in one line."""
        prompts = len({row.prompt_id for row in self.rows})
        return (
            f"{prompts} prompts under {len(self.distribution)} conditions, {len(self.suspects)} suspected label errors"
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; rows and distribution are lists of dictionaries."""
        return super().to_dict() | {"distribution": [row.to_dict() for row in self.distribution]}


@dataclass(frozen=True)
class DatamapSettings:
    """What holds for all conditions; ``grouping`` None: by answer where there are any."""

    level: float = 0.95
    metric: str | None = None
    grouping: Grouping | None = None
    model: Grouper | None = None
    correct_at: float | None = None
    max_p: float = MAX_P
    min_s: float = MIN_S
    interval: str = "wilson"
    fresh: bool = False
    store_result: bool = True


def datamap(
    opener: StoreOpener,
    reference: str,
    *,
    benchmark: str | None = None,
    metric: str | None = None,
    where: Sequence[str] = (),
    group: Grouping | None = None,
    embedder: str | Embedder | None = None,
    threshold: float = ALIKE,
    entailment: str | Entailment | None = None,
    device: str | None = None,
    correct_at: float | None = None,
    max_p: float = MAX_P,
    min_s: float = MIN_S,
    level: float = 0.95,
    interval: str = "wilson",
    fresh: bool = False,
    store_result: bool = True,
    progress: Callable[[float], None] | None = None,
) -> DataMap:
    """P(correct) and S(consistency) of every prompt with several generations.

    Generations are those in headline form, pooled over the repeats of a condition. What a model
    groups is stored, and read back while runs and model stay the same.

    Arguments and errors are those of :meth:`warehouse.api.Warehouse.datamap`.
    """
    model = grouper_of(group, embedder, threshold, entailment, device)
    if group != "embedding" and threshold != ALIKE:
        raise MisuseError("--threshold is for grouping by embedding: --group embedding")
    if model is None and (device is not None or fresh or not store_result):
        name = "--device" if device is not None else "--fresh" if fresh else "--no-store"
        raise MisuseError(f"{name} is for grouping by a model: --group embedding or entailment")
    settings = DatamapSettings(level, metric, group, model, correct_at, max_p, min_s, interval, fresh, store_result)
    with opener.reading() as store:
        ids = None if benchmark is None else find_benchmark(store, benchmark).ids
        conditions = find_conditions(store, reference, benchmark_ids=ids, where=parse_where(where))
        numbers = sorted({int(condition.setting("benchmark_id")) for condition in conditions})
        facts = BenchmarkFacts((), metrics_of(store, numbers), tuple(run_metrics_of(store, numbers)))
    return datamap_of(opener, reference, conditions, facts, settings, progress)


def datamap_of(
    opener: StoreOpener,
    reference: str,
    conditions: Sequence[Condition],
    facts: BenchmarkFacts,
    settings: DatamapSettings,
    progress: Callable[[float], None] | None = None,
    prompts: dict[int, dict[str, Any]] | None = None,
) -> DataMap:
    """`datamap` of conditions that were found (MisuseError: none of them has a data map).

    Args:
        reference: that they are meant by.
        facts: metrics of their benchmarks, and which of their runs have figures of which.
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
        own_metrics = [metric for metric in facts.metrics if metric.benchmark_id == number]
        described = choose_metrics(own_metrics, settings.metric, condition.benchmark_split[0])[0]
        own, sets = _condition_rows(opener, condition, label, described, settings, prompts)
        most = max((max(row.n_draws, row.n_generations) for row in own), default=0)
        row = distribution(own, described.label)
        if most < 2 or row is None:
            scored = scored_metrics(facts.run_metrics, own_metrics, [condition]).keys() - {described.label}
            why = _why_not(most, row, described.label, scored)
            left_out.append(f"{_in_words(condition, label)}: {why}")
        else:
            rows, spread = rows + own, [*spread, row]
            grouped |= {sets.grouped_by} if sets.grouped_by else set()
            notes.update(_notes(own, sets, settings))
        if progress:
            progress((index + 1) / len(named))
    if not spread:
        raise MisuseError(f"{reference!r} has no data map: {'; '.join(left_out)}")
    return DataMap(
        grouped_by=", ".join(sorted(grouped)),
        max_p=settings.max_p,
        min_s=settings.min_s,
        level=settings.level,
        rows=tuple(rows),
        distribution=tuple(spread),
        notes=tuple(sorted(notes)),
        left_out=tuple(left_out),
    )


def _labelled(store: Store, conditions: Sequence[Condition]) -> list[tuple[Condition, str]]:
    """Conditions by benchmark, split and temperature, each labelled by the settings that distinguish it."""
    by_name: dict[tuple[str, str], list[Condition]] = {}
    for condition in conditions:
        by_name.setdefault(condition.benchmark_split, []).append(condition)
    labelled = []
    for _, members in sorted(by_name.items()):
        named = zip(members, label_conditions(store, members), strict=True)
        labelled += sorted(named, key=lambda pair: (pair[0].model, _heat(pair[0]), pair[1]))
    return labelled


def _heat(condition: Condition) -> float:
    temperature = condition.setting("temperature")
    return math.inf if temperature is None else float(temperature)


def _in_words(condition: Condition, label: str) -> str:
    return ", ".join(filter(None, (condition.benchmark_split[0], condition.model, label)))


def _why_not(most: int, row: DistributionRow | None, metric: str, scored: Collection[str]) -> str:
    """Why a condition has no data map, with the other metrics that its generations were scored by."""
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
    settings: DatamapSettings,
    prompts: dict[int, dict[str, Any]],
) -> tuple[list[DataMapRow], SetsOfPrompts]:
    """A row for each prompt that has a score or a generation, and its sets."""
    with opener.reading() as store:
        counts = count_generations(store, condition.run_ids)
        correct = count_correct(store, condition.run_ids, metric, settings.correct_at)
    sets = sets_of_prompts(
        opener,
        condition,
        counts,
        settings.grouping,
        settings.model,
        fresh=settings.fresh,
        store_result=settings.store_result,
    )
    scored = correct.n_draws > 0
    low, high = proportion_intervals(
        correct.n_correct[scored], correct.n_draws[scored], level=settings.level, method=settings.interval
    )
    p, n = correct.n_correct[scored] / correct.n_draws[scored], correct.n_draws[scored].astype(int)
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
    shared = (condition.model, label, condition.setting("temperature"), *condition.benchmark_split)
    rows = []
    for prompt in ids:
        own = prompts[prompt]
        counted: _Counted = figures.get(prompt, (None, None, None, 0))
        consistency: _Consistency = said.get(prompt, (None, None, 0, None, None))
        suspected = _is_beyond(counted[0], consistency[0], consistency[4], settings) and _has_draws(
            counted[2], settings
        )
        names, asks = (own["tool_id"], own["key"]), (own["target"], own["text"])
        columns: tuple[Any, ...] = (*shared, prompt, *names, *counted, *consistency, suspected, *asks)
        rows.append(DataMapRow(*columns))
    return rows, sets


#: Columns of one prompt, from ``p_correct`` to ``n_draws``.
_Counted = tuple[float | None, float | None, float | None, int]
#: And from ``consistency`` to ``majority_answer``.
_Consistency = tuple[float | None, int | None, int, float | None, str | None]


def _consistency_by_prompt(sets: SetsOfPrompts) -> dict[int, _Consistency]:
    """One generation says nothing about consistency."""
    figures = (sets.consistency.tolist(), sets.n_sets.tolist(), sets.n.tolist(), sets.share.tolist(), sets.majority)
    return {
        prompt: (consistency, n_sets, n, share, answer) if n > 1 else (None, None, n, None, answer)
        for prompt, consistency, n_sets, n, share, answer in zip(sets.prompts.tolist(), *figures, strict=True)
    }


def _is_beyond(p: float | None, consistency: float | None, majority: str | None, settings: DatamapSettings) -> bool:
    """Whether P and S lie beyond the thresholds, and the majority gives an answer."""
    if p is None or consistency is None or majority is None:
        return False
    return p <= settings.max_p + 1e-12 and consistency >= settings.min_s - 1e-12


def _has_draws(upper: float | None, settings: DatamapSettings) -> bool:
    """Whether there are enough draws: P(correct) has an upper limit below the threshold."""
    return upper is not None and upper < max(MOST_UPPER, settings.max_p)


def _few_draws(rows: Sequence[DataMapRow], settings: DatamapSettings) -> int:
    """Prompts beyond the thresholds that too few draws keep from being suspects."""
    beyond = [row for row in rows if _is_beyond(row.p_correct, row.consistency, row.majority_answer, settings)]
    return sum(not row.suspected for row in beyond)


def _notes(rows: Sequence[DataMapRow], sets: SetsOfPrompts, settings: DatamapSettings) -> list[str]:
    notes = []
    most = max((row.n_generations for row in rows), default=0)
    if sets.grouped_by == "normalised text" and settings.grouping is None and most:
        notes.append("no answers were extracted: generations are grouped by normalised text")
    if not any(row.consistency is not None for row in rows):
        notes.append("no text of generations is stored: P(correct) only, and no suspects")
    elif -math.log(most) >= settings.min_s:
        notes.append(
            f"with {most} generations S is never below {-math.log(most):.2f}: a threshold of"
            f" {settings.min_s:g} leaves nothing out"
        )
    few = _few_draws(rows, settings)
    if few:
        notes.append(
            f"{few} {'prompt is' if few == 1 else 'prompts are'} answered wrongly and alike in too few draws to be"
            f" suspected: P(correct) may be {MOST_UPPER:g} and more"
        )
    if sets.n_too_long:
        notes.append(
            f"{sets.grouped_by}: {sets.n_too_long} texts are longer than the model reads; it read the beginning only"
        )
    if any(row.n_generations and row.majority_answer is None for row in rows):
        notes.append("where most generations give no answer, a prompt is not suspected")
    return notes
