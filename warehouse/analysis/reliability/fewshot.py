"""Scores by few-shot seed: runs that differ in it alone, or draws of few-shot examples within a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.records.run_fields import LABEL_FIELDS, WHO_FIELDS
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Runs of one model under several few-shot seeds differ in this, and in their templates.
_SEED = "fewshot_seed"

Seeds = dict[str, dict[int, float]]


def one_of_seeds(by_leaf: Mapping[str, Sequence[ScoredCondition]]) -> dict[str, list[ScoredCondition]]:
    """Of conditions that differ in their few-shot seed alone the first; the others are found again by
    `seeds_of`."""
    return {
        leaf: [members[0] if len(members) == 1 else _without_seed(members[0]) for members in _by_seed(entries)]
        for leaf, entries in by_leaf.items()
    }


def _by_seed(entries: Sequence[ScoredCondition]) -> list[list[ScoredCondition]]:
    groups: dict[tuple[Any, ...], list[ScoredCondition]] = {}
    for entry in sorted(entries, key=lambda one: (one.condition.setting(_SEED) or -1, one.condition.key)):
        groups.setdefault(_settings(entry.condition), []).append(entry)
    by_seed = []
    for members in groups.values():
        seeds = {entry.condition.setting(_SEED) for entry in members}
        if len(members) > 1 and None not in seeds and len(seeds) == len(members):
            by_seed.append(members)
        else:
            by_seed += [[entry] for entry in members]
    return by_seed


def _settings(condition: Condition) -> tuple[Any, ...]:
    """What conditions agree in that differ by few-shot seed alone."""
    names = dict.fromkeys((*WHO_FIELDS, *LABEL_FIELDS))
    return tuple(str(condition.setting(name)) for name in names if name not in (_SEED, "template_hash"))


def _without_seed(entry: ScoredCondition) -> ScoredCondition:
    """The entry with runs that tell no few-shot seed: it stands for all of them."""
    runs = tuple(dict(run) | {_SEED: None} for run in entry.condition.runs)
    return replace(entry, condition=Condition(entry.condition.key, runs))


@dataclass(frozen=True, eq=False)
class SeedScores:
    """Scores of the models of a leaf by few-shot seed.

    Attributes:
        means: of each model over seeds that are runs of their own, with its prompts; None for a model
            with one run.
        seeds: values by seed and prompt, one for each model; empty for a model without.
    """

    means: tuple[tuple[NDArray[np.int64], NDArray[np.float64]] | None, ...]
    seeds: tuple[Seeds, ...]

    def table(self, prompts: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Seeds × prompts × models, NaN where missing; None unless every model has the same seeds, two
        or more."""
        sets = [frozenset(one) for one in self.seeds]
        if len(set(sets)) != 1 or len(sets[0]) < 2:
            return None
        names = sorted(sets[0])
        table = np.full((len(names), len(prompts), len(self.seeds)), np.nan)
        for m, one in enumerate(self.seeds):
            for k, name in enumerate(names):
                ids, values = np.fromiter(one[name], np.int64), np.fromiter(one[name].values(), np.float64)
                there = np.isin(ids, prompts)
                table[k, np.searchsorted(prompts, ids[there]), m] = values[there]
        return table

    def notes(self, name: str) -> list[str]:
        """Why seeds that there are cannot be used."""
        some = [one for one in self.seeds if len(one) > 1]
        if some and len({frozenset(one) for one in self.seeds}) > 1:
            return [f"{name}: models have different few-shot seeds: they are averaged, not compared"]
        return []


def seeds_of(store: Store, columns: Sequence[ScoredCondition | None], entries: Sequence[ScoredCondition]) -> SeedScores:
    """The scores by few-shot seed of a leaf's models.

    Args:
        columns: one entry for each model, None where it has none.
        entries: all of the leaf.
    """
    groups = {members[0].condition.key: members for members in _by_seed(entries)}
    means: list[tuple[NDArray[np.int64], NDArray[np.float64]] | None] = []
    seeds: list[Seeds] = []
    single: dict[int, int] = {}
    for place, entry in enumerate(columns):
        members = [] if entry is None else groups.get(entry.condition.key, [])
        if len(members) > 1:
            own = {f"{one.condition.setting(_SEED)}": _values(one) for one in members}
            seeds.append(own)
            means.append(_mean(list(own.values())))
        else:
            seeds.append({})
            means.append(None)
            if entry is not None:
                single |= dict.fromkeys(entry.condition.run_ids, place)
    _add_draws(store, single, entries, seeds)
    return SeedScores(tuple(means), tuple(seeds))


def _values(entry: ScoredCondition) -> dict[int, float]:
    scores = entry.usable
    return {} if scores is None else dict(zip(scores.prompts.tolist(), scores.values.tolist(), strict=True))


def _mean(seeds: Sequence[Mapping[int, float]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Prompts that every seed has, and their means."""
    common = sorted(set(seeds[0]).intersection(*seeds[1:]))
    return np.array(common, dtype=np.int64), np.array([np.mean([one[i] for one in seeds]) for i in common])


def _add_draws(store: Store, runs: Mapping[int, int], entries: Sequence[ScoredCondition], seeds: list[Seeds]) -> None:
    """Draws of few-shot examples within runs; of a condition with several runs, of its first."""
    if not runs or not entries:
        return
    wanted = {"run_ids": list(runs), "metric_ids": [entry.metric.id for entry in entries]}
    first: dict[int, int] = {}
    for row in store.rows(query_text("analysis", "fewshot_draws"), wanted):
        place = runs[row["run_id"]]
        if first.setdefault(place, row["run_id"]) == row["run_id"]:
            seeds[place].setdefault(row["fewshot_draw"], {})[row["prompt_id"]] = row["value"]
