"""The answers of a benchmark's runs, read at once, with its targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.answers.labels import Labels, labels_of
from warehouse.analysis.answers.question import AnswerMetrics
from warehouse.analysis.audit.keys import (
    ChoiceRows,
    LikeliestOptions,
    likeliest_options,
)
from warehouse.analysis.audit.read import answer_counts, read_choices, read_texts
from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import (
    Benchmark,
    Metric,
    choose_metrics,
    read_benchmark,
)
from warehouse.analysis.selection.clusterings import (
    ClusterMap,
    cluster_map,
    clusters_under_links,
)
from warehouse.analysis.selection.conditions import Condition, label_conditions
from warehouse.analysis.selection.prompt_links import (
    Links,
    follow_links,
    read_links,
)
from warehouse.analysis.selection.reference import (
    choose_conditions,
    find_conditions,
    pick_one,
)
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.scored_conditions import read_entries
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import some_of

Ints = NDArray[np.int64]

#: Where answers stand, the first that a run has: chosen options, answers that the tool
#: extracted, beginnings of responses.
OPTIONS, EXTRACTED, RESPONSES = "options", "extracted", "responses"
#: A metric that no score has.
_NO_METRIC = -1


@dataclass(frozen=True)
class Answered:
    """A condition with its answers."""

    condition: Condition
    label: str  #: settings that tell it from others.
    source: str  #: `OPTIONS`, `EXTRACTED` or `RESPONSES`.
    prompts: Ints  #: prompt of each draw, links followed, shape (m,).
    options: Ints | None  #: option that is likeliest, shape (m,); None of texts.
    texts: tuple[str | None, ...]  #: what was answered; empty where options are.
    values: NDArray[np.float64]  #: score of each draw, NaN without; empty for options.

    @property
    def name(self) -> str:
        """Model, with what tells it apart."""
        if not self.label:
            return self.condition.model
        return f"{self.condition.model} ({self.label})"


@dataclass(frozen=True)
class BenchmarkAnswers:
    """All answers to a benchmark."""

    benchmark: Benchmark
    labels: Labels  #: how targets and answers are read.
    answered: tuple[Answered, ...]  #: conditions, those that were named in this order.
    clusters: ClusterMap  #: of the prompts, links followed.
    notes: tuple[str, ...]  #: what a reader should know.


def read_answer_metrics(store: Store, question: AnswerMetrics) -> BenchmarkAnswers:
    """What is stored of the answers that are asked for.

    Raises:
        MisuseError: an unknown name; no answers or targets.
    """
    benchmark, facts = read_benchmark(store, question.benchmark)
    conditions, notes = conditions_of(store, benchmark, facts.runs, question)
    links = read_links(store)
    metric = headline_of(facts.metrics, question.benchmark)
    runs = list(chain.from_iterable(condition.runs for condition in conditions))
    choices = read_choices(
        store, [run["run_id"] for run in runs if run["n_choices"]], links
    )
    texts = _texts(store, conditions, choices, metric, links)
    asked_prompts = [part.prompts for part in texts.values()]
    ids = np.unique(np.concatenate([choices.prompts, *asked_prompts]))
    if not len(ids):
        raise MisuseError(_no_answers(question.benchmark, conditions))
    prompts = store.rows(
        query_text("analysis/audit", "audit_prompts"), {"prompt_ids": ids}
    )
    labels = labels_of(question.benchmark, prompts, choices, question.kind)
    likeliest = _likeliest(store, conditions, metric, choices, labels)
    answered = _answered(store, conditions, likeliest, texts)
    named = {one.condition.key for one in answered}
    missing = [one.model for one in conditions if one.key not in named]
    if missing:
        notes.append(f"{len(missing)} without stored answers: {some_of(missing)}")
    clusters = cluster_map(
        store, benchmark.ids, benchmark.clusterings, question.cluster
    )
    return BenchmarkAnswers(
        benchmark=benchmark,
        labels=labels,
        answered=tuple(answered),
        clusters=clusters_under_links(clusters, links),
        notes=(*notes, *filter(None, [clusters.note])),
    )


def conditions_of(
    store: Store,
    benchmark: Benchmark,
    runs: Sequence[Mapping[str, Any]],
    question: AnswerMetrics,
) -> tuple[list[Condition], list[str]]:
    """The conditions that are asked about, of one split and task version, and notes on
    others."""
    if not question.models:
        everyone = choose_conditions(
            runs, question.benchmark, question.where, question.latest
        )
        return _one_version(everyone)
    filters = parse_where(question.where)
    chosen = []
    for name in question.models:
        fitting = find_conditions(
            store, name, benchmark_ids=benchmark.ids, where=filters
        )
        models = sorted({condition.model for condition in fitting})
        if len(models) > 1:
            raise MisuseError(
                f"{name!r} means {len(models)} models, choose one: {', '.join(models)}"
            )
        fitting, _ = _one_version(fitting)
        chosen.append(pick_one(store, fitting, name, latest=question.latest))
    if len(chosen) == 2 and chosen[0].key == chosen[1].key:
        raise MisuseError(
            f"{question.models[0]!r} and {question.models[1]!r} are the same runs: name "
            "two models, or run:ID"
        )
    return chosen, []


def _one_version(
    conditions: Sequence[Condition],
) -> tuple[list[Condition], list[str]]:
    """The most of one split and task version, and a note on the others."""
    groups = grouped(
        conditions,
        lambda condition: (
            condition.setting("split"),
            condition.setting("task_version") or "",
        ),
    )
    largest = max(groups.values(), key=len)
    n_others = len(conditions) - len(largest)
    if not n_others:
        return list(largest), []
    return list(largest), [
        f"{n_others} conditions of another split or task version are left out (--where "
        "chooses)"
    ]


def headline_of(metrics: Sequence[Metric], benchmark: str) -> Metric | None:
    """The metric by which answers are right; None where there is none, or several."""
    try:
        return choose_metrics(metrics, None, benchmark)[0]
    except MisuseError:
        return None


@dataclass(frozen=True)
class _Texts:
    """Answers in words of a condition."""

    source: str
    prompts: Ints
    texts: tuple[str | None, ...]
    values: NDArray[np.float64]


def _texts(
    store: Store,
    conditions: Sequence[Condition],
    choices: ChoiceRows,
    metric: Metric | None,
    links: Links,
) -> dict[str, _Texts]:
    """Answers in words of the conditions whose options have no likelihoods, by their
    keys: extracted ones where there are any."""
    with_options = set(np.unique(choices.runs).tolist())
    others = [one for one in conditions if not with_options & set(one.run_ids)]
    counts = answer_counts(
        store, list(chain.from_iterable(one.run_ids for one in others))
    )
    by_source: dict[str, list[Condition]] = {EXTRACTED: [], RESPONSES: []}
    for one in others:
        own = [counts.get(run, (0, 0)) for run in one.run_ids]
        if any(n_extracted for n_extracted, _ in own):
            by_source[EXTRACTED].append(one)
        elif any(n_responses for _, n_responses in own):
            by_source[RESPONSES].append(one)
    found: dict[str, _Texts] = {}
    metric_id = _NO_METRIC
    if metric is not None:
        metric_id = metric.id
    for source, members in by_source.items():
        found |= _of_source(store, source, members, metric_id, links)
    return found


def _of_source(
    store: Store,
    source: str,
    conditions: Sequence[Condition],
    metric_id: int,
    links: Links,
) -> dict[str, _Texts]:
    if not conditions:
        return {}
    runs = list(chain.from_iterable(one.run_ids for one in conditions))
    read = read_texts(
        store, runs, [metric_id], links, "", responses=source == RESPONSES
    )
    silent = store.columns(
        query_text("analysis/answers", "unanswered"),
        {"run_ids": runs, "metric_id": metric_id},
    )
    silent_runs = silent.whole_numbers("run_id")
    silent_prompts = follow_links(silent.whole_numbers("prompt_id"), links)
    found: dict[str, _Texts] = {}
    for one in conditions:
        rows = np.flatnonzero(np.isin(read.runs, one.run_ids))
        without = silent_prompts[np.isin(silent_runs, one.run_ids)]
        texts: list[str | None] = [read.texts[row] for row in rows.tolist()]
        found[one.key] = _Texts(
            source,
            np.concatenate([read.prompts[rows], without]),
            (*texts, *[None] * len(without)),
            np.concatenate([read.values[rows], np.full(len(without), np.nan)]),
        )
    return found


def _likeliest(
    store: Store,
    conditions: Sequence[Condition],
    metric: Metric | None,
    choices: ChoiceRows,
    labels: Labels,
) -> LikeliestOptions:
    """The options that runs find likeliest, by the measure that their scores agree with
    best."""
    if not len(choices.runs):
        return LikeliestOptions(choices.prompts, choices.runs, choices.option)
    right: dict[tuple[int, int], bool] = {}
    metrics = list(filter(None, [metric]))
    for entry in read_entries(store, conditions, metrics):
        scores = entry.usable
        if scores is None:
            continue
        prompts = scores.prompts[scores.zero_one].tolist()
        values = scores.values[scores.zero_one].tolist()
        for run in entry.condition.run_ids:
            for prompt, value in zip(prompts, values, strict=True):
                right[run, prompt] = value == 1
    key = {}
    for prompt, target in labels.targets.items():
        own = labels.option_labels.get(prompt, ())
        if target in own:
            key[prompt] = own.index(target)
    return likeliest_options(choices, key, right)


def _answered(
    store: Store,
    conditions: Sequence[Condition],
    likeliest: LikeliestOptions,
    texts: Mapping[str, _Texts],
) -> list[Answered]:
    """The conditions that have answers, with their labels."""
    found: list[Answered] = []
    labels = label_conditions(store, conditions)
    for condition, label in zip(conditions, labels, strict=True):
        own = texts.get(condition.key)
        if own is not None:
            found.append(
                Answered(
                    condition,
                    label,
                    own.source,
                    own.prompts,
                    None,
                    own.texts,
                    own.values,
                )
            )
            continue
        rows = np.flatnonzero(np.isin(likeliest.runs, condition.run_ids))
        if len(rows):
            found.append(
                Answered(
                    condition,
                    label,
                    OPTIONS,
                    likeliest.prompts[rows],
                    likeliest.option[rows],
                    (),
                    np.empty(0),
                )
            )
    return found


def _no_answers(benchmark: str, conditions: Sequence[Condition]) -> str:
    models = some_of([condition.model for condition in conditions])
    return (
        f"no answers are stored for {benchmark} ({models}): metrics of classes need "
        "stored answers and targets, scores alone do not tell; ingest the samples (not "
        "only the results) of the runs, or a mapping with `extracted_answer`"
    )
