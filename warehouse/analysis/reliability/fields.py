"""Scenarios inside one benchmark: its prompts by a field of theirs, or by a stored
clustering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import Benchmark
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import canonical_json, parse_json
from warehouse.records.run_fields import LABEL_FIELDS, WHO_FIELDS
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import field_at
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class Labels:
    """Scenario and subscenario of prompts."""

    whole: tuple[str, str]  #: of all prompts, where nothing splits them.
    #: by prompt's id; prompts without are left out. None: nothing splits them.
    of: dict[int, tuple[str, str]] | None
    notes: tuple[str, ...] = ()  #: what a reader should know.

    def groups(
        self, prompts: NDArray[np.int64]
    ) -> list[tuple[tuple[str, str], list[int]]]:
        """Places among ``prompts`` of each scenario and subscenario, by name."""
        if self.of is None:
            return [(self.whole, list(range(len(prompts))))]
        groups: dict[tuple[str, str], list[int]] = {}
        for index, prompt in enumerate(prompts.tolist()):
            if prompt in self.of:
                groups.setdefault(self.of[prompt], []).append(index)
        return sorted(groups.items())


def prompt_labels(
    store: Store, benchmark: Benchmark, fields: str | None, scenario: str
) -> Labels:
    """The scenario of each prompt of a benchmark (MisuseError: no prompt has the field;
    names those that there are).

    Args:
        fields: a field of the prompts' documents or a clustering, or two with a comma
            between them; None: the benchmark is one subscenario of ``scenario``.
        scenario: that it belongs to.
    """
    if fields is None:
        return Labels((scenario, benchmark.name), None)
    names = [name.strip() for name in fields.split(",")]
    if not all(names) or len(names) > 2:
        raise MisuseError(
            f"scenarios {fields!r}; expected a field, or two (scenarios and their "
            "subscenarios)"
        )
    documents, ids = _documents(store, benchmark)
    columns = [_column(store, benchmark, name, documents, ids) for name in names]
    labels = {}
    for prompt in ids:
        if all(prompt in column for column in columns):
            labels[prompt] = (columns[0][prompt], columns[-1][prompt])
    left = len(ids) - len(labels)
    notes = (
        (f"{left} of {len(ids)} prompts without {fields} are left out",) if left else ()
    )
    return Labels((scenario, benchmark.name), labels, notes)


def _documents(store: Store, benchmark: Benchmark) -> tuple[list[Any], list[int]]:
    query = (
        "select id, metadata from prompt where benchmark_id in (:benchmark_ids) order "
        "by id"
    )
    rows = store.rows(query, {"benchmark_ids": benchmark.ids})
    return [parse_json(row["metadata"]) if row["metadata"] else None for row in rows], [
        row["id"] for row in rows
    ]


def _column(
    store: Store,
    benchmark: Benchmark,
    field: str,
    documents: Sequence[Any],
    ids: Sequence[int],
) -> dict[int, str]:
    """Label of each prompt by a field, else by a clustering of this name."""
    labels = {
        prompt: value if isinstance(value, str) else canonical_json(value).decode()
        for prompt, document in zip(ids, documents, strict=True)
        if (value := field_at(document, field)) is not None
    }
    if labels:
        return labels
    rows = store.rows(
        query_text("analysis/reliability", "cluster_labels"),
        {"benchmark_ids": benchmark.ids},
    )
    labels = {row["prompt_id"]: row["label"] for row in rows if row["name"] == field}
    if labels:
        return labels
    field_names = set(
        chain.from_iterable(
            document for document in documents if isinstance(document, dict)
        )
    )
    field_names |= {row["name"] for row in rows}
    raise MisuseError(
        f"no prompt of {benchmark.name} has the field {field!r}, and no clustering is "
        f"called so; there are: {', '.join(sorted(field_names)) or 'none'}"
    )


#: Runs of one model under several few-shot seeds differ in this, and in their
#: templates.
_SEED = "fewshot_seed"

Seeds = dict[str, dict[int, float]]


def one_of_seeds(
    by_leaf: Mapping[str, Sequence[ScoredCondition]],
) -> dict[str, list[ScoredCondition]]:
    """The first of conditions that differ in their few-shot seed alone; the others are
    found again by `seeds_of`."""
    without_seeds = {}
    for leaf, entries in by_leaf.items():
        without_seeds[leaf] = [
            members[0] if len(members) == 1 else _without_seed(members[0])
            for members in _by_seed(entries)
        ]
    return without_seeds


def _by_seed(entries: Sequence[ScoredCondition]) -> list[list[ScoredCondition]]:
    ordered = sorted(
        entries,
        key=lambda scored: (
            scored.condition.setting(_SEED) or -1,
            scored.condition.key,
        ),
    )
    by_seed = []
    for members in grouped(ordered, lambda entry: _settings(entry.condition)).values():
        seeds = {entry.condition.setting(_SEED) for entry in members}
        if len(members) > 1 and None not in seeds and len(seeds) == len(members):
            by_seed.append(members)
        else:
            by_seed += [[entry] for entry in members]
    return by_seed


def _settings(condition: Condition) -> tuple[Any, ...]:
    """Settings that conditions agree in that differ by few-shot seed alone."""
    names = dict.fromkeys((*WHO_FIELDS, *LABEL_FIELDS))
    return tuple(
        str(condition.setting(name))
        for name in names
        if name not in (_SEED, "template_hash")
    )


def _without_seed(entry: ScoredCondition) -> ScoredCondition:
    """The entry whose runs have no few-shot seed: it stands for all seeds."""
    runs = tuple(dict(run) | {_SEED: None} for run in entry.condition.runs)
    return replace(entry, condition=Condition(entry.condition.key, runs))


@dataclass(frozen=True, eq=False)
class SeedScores:
    """Scores of the models of a leaf by few-shot seed."""

    #: of each model over seeds that are runs of their own, with its prompts; None for a
    #: model with one run.
    means: tuple[tuple[NDArray[np.int64], NDArray[np.float64]] | None, ...]
    #: values by seed and prompt, one for each model; empty for a model without.
    seeds: tuple[Seeds, ...]

    def table(self, prompts: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Seeds × prompts × models, NaN where missing; None unless every model has the
        same seeds, two or more."""
        sets = [frozenset(scores) for scores in self.seeds]
        if len(set(sets)) != 1 or len(sets[0]) < 2:
            return None
        names = sorted(sets[0])
        table = np.full((len(names), len(prompts), len(self.seeds)), np.nan)
        for m, scores in enumerate(self.seeds):
            for k, name in enumerate(names):
                ids = np.fromiter(scores[name], np.int64)
                values = np.fromiter(scores[name].values(), np.float64)
                there = np.isin(ids, prompts)
                table[k, np.searchsorted(prompts, ids[there]), m] = values[there]
        return table

    def notes(self, name: str) -> list[str]:
        """Why seeds that there are cannot be used."""
        some = [scores for scores in self.seeds if len(scores) > 1]
        if some and len({frozenset(scores) for scores in self.seeds}) > 1:
            return [
                f"{name}: models have different few-shot seeds: they are averaged, not "
                "compared"
            ]
        return []


def seeds_of(
    store: Store,
    columns: Sequence[ScoredCondition | None],
    entries: Sequence[ScoredCondition],
) -> SeedScores:
    """The scores by few-shot seed of a leaf's models.

    Args:
        columns: one entry for each model, None where it has none.
        entries: all of the leaf.
    """
    groups = {members[0].condition.key: members for members in _by_seed(entries)}
    means: list[tuple[NDArray[np.int64], NDArray[np.float64]] | None] = []
    seeds: list[Seeds] = []
    single: dict[int, int] = {}
    for index, entry in enumerate(columns):
        if entry is None:
            members = []
        else:
            members = groups.get(entry.condition.key, [])
        if len(members) > 1:
            own = {
                f"{member.condition.setting(_SEED)}": _values(member)
                for member in members
            }
            seeds.append(own)
            means.append(_mean(list(own.values())))
        else:
            seeds.append({})
            means.append(None)
            if entry is not None:
                single |= dict.fromkeys(entry.condition.run_ids, index)
    _add_draws(store, single, entries, seeds)
    return SeedScores(tuple(means), tuple(seeds))


def _values(entry: ScoredCondition) -> dict[int, float]:
    scores = entry.usable
    if scores is None:
        return {}
    return dict(zip(scores.prompts.tolist(), scores.values.tolist(), strict=True))


def _mean(
    seeds: Sequence[Mapping[int, float]],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Prompts that every seed has, and their means."""
    common = sorted(set(seeds[0]).intersection(*seeds[1:]))
    means = []
    for i in common:
        means.append(np.mean([scores[i] for scores in seeds]))
    return np.array(common, dtype=np.int64), np.array(means)


def _add_draws(
    store: Store,
    runs: Mapping[int, int],
    entries: Sequence[ScoredCondition],
    seeds: list[Seeds],
) -> None:
    """Draws of few-shot examples within runs; of a condition with several runs, of its
    first."""
    if not runs or not entries:
        return
    params = {
        "run_ids": list(runs),
        "metric_ids": [entry.metric.id for entry in entries],
    }
    first: dict[int, int] = {}
    for row in store.rows(query_text("analysis/reliability", "fewshot_draws"), params):
        column = runs[row["run_id"]]
        if first.setdefault(column, row["run_id"]) == row["run_id"]:
            seeds[column].setdefault(row["fewshot_draw"], {})[row["prompt_id"]] = row[
                "value"
            ]
