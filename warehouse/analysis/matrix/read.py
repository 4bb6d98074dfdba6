"""The performance matrix of a benchmark: complete rows only, models as on the
leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import NO_CLUSTERS
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.other_metrics import advise_others
from warehouse.analysis.selection.prompts import keyed_prompts
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import fingerprint
from warehouse.store.connection import Store


@dataclass(frozen=True)
class MatrixData:
    """Scores of every model on the prompts that all of them have, or with gaps that two
    have."""

    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric, with its filter.
    higher_is_better: bool | None  #: None if unknown (then higher ranks first).
    models: tuple[str, ...]  #: name of each column, with what tells conditions apart.
    prompts: NDArray[np.int64]  #: ids of the rows, by natural key, shape (n,).
    keys: tuple[str, ...]  #: what to call each prompt: the tool's id, else its key.
    texts: tuple[str | None, ...]  #: text of each prompt, None where there is none.
    #: row of ``benchmark`` of each prompt, shape (n,).
    benchmark_ids: NDArray[np.int64]
    #: prompts × models, in the metric's per-prompt unit, shape (n, k); NaN only where
    #: it was read with gaps.
    values: NDArray[np.float64]
    n_incomplete: int  #: prompts left out because a model lacks a score.
    notes: tuple[str, ...]  #: what a reader should know.
    #: split, key and occurrence of each prompt, as one text.
    natural_keys: tuple[str, ...]
    conditions: tuple[Condition, ...]  #: of the columns.

    @cached_property
    def fingerprint(self) -> str:
        """sha256 of models, prompts and scores: changes when any of them does."""
        return fingerprint(
            self.metric,
            str(self.higher_is_better),
            "\0".join(self.models),
            "\0".join(self.natural_keys),
            "\0".join(text or "" for text in self.texts),
            self.values.tobytes(),
        )


@dataclass(frozen=True)
class _Column:
    name: str
    condition: Condition
    scores: PromptScores


def read_matrix(
    store: Store, selection: Selection, *, gaps: bool = False
) -> MatrixData:
    """Read the matrix of a benchmark.

    Args:
        selection: names a benchmark with prompts of its own.
        gaps: keep every prompt that two models have a score of; NaN where one has none.

    Raises:
        MisuseError: unknown names; fewer than two models, or than two prompts that all
            models have scores for.
    """
    return matrix_of(
        store, select_entries(store, replace(selection, cluster=NO_CLUSTERS)), gaps=gaps
    )


def matrix_of(
    store: Store, scores: BenchmarkScores, *, gaps: bool = False
) -> MatrixData:
    """`read_matrix` of scores that were read."""
    members, notes = scores.largest_group()
    columns = [
        _Column(_name(entry), entry.condition, entry.usable)
        for entry in members
        if entry.usable
    ]
    chosen = sorted(columns, key=lambda column: (column.name, column.condition.key))
    name = scores.benchmark.name
    label = scores.metric.label
    if len(chosen) < 2:
        raise MisuseError(
            f"{name} has {len(chosen)} model(s) with scores of prompts by {label}; a "
            f"performance matrix needs at least 2{advise_others(scores.others)}"
        )
    prompts, seen = _complete(chosen)
    n_complete = len(prompts)
    if gaps:
        prompts = _shared(chosen)
    if len(prompts) < 2:
        raise MisuseError(
            f"{len(prompts)} of {len(seen)} prompts of {name} have a score of all "
            f"{len(chosen)} models, at least 2 are needed; fewest scores: "
            f"{_fewest(chosen)}; leave models out with --where model!=NAME"
        )
    left_out = len(seen) - len(prompts)
    if gaps and len(prompts) > n_complete:
        notes.append(
            f"{n_complete} of {len(seen)} prompts have a score of every model (fewest "
            f"scores: {_fewest(chosen)}): figures of the others are over the models "
            "that answered them"
        )
    elif left_out:
        notes.append(
            f"{left_out} of {len(seen)} prompts left out: not every model has a score "
            f"(fewest scores: {_fewest(chosen)})"
        )
    return _assemble(store, name, scores.metric, chosen, prompts, left_out, notes)


def _name(entry: ScoredCondition) -> str:
    model = entry.condition.model
    if entry.label:
        return f"{model} ({entry.label})"
    return model


def _complete(
    columns: Sequence[_Column],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Prompts that every column has a score of, and those that any has seen; ids,
    ascending."""
    complete = columns[0].scores.prompts
    seen = columns[0].scores.seen
    for column in columns[1:]:
        complete = np.intersect1d(complete, column.scores.prompts, assume_unique=True)
        seen = np.union1d(seen, column.scores.seen)
    return complete, seen


def _shared(columns: Sequence[_Column]) -> NDArray[np.int64]:
    """Prompts that at least two columns have a score of; ids, ascending."""
    prompts, counts = np.unique(
        np.concatenate([column.scores.prompts for column in columns]),
        return_counts=True,
    )
    return prompts[counts > 1]


def _fewest(columns: Sequence[_Column]) -> str:
    worst = sorted(columns, key=lambda column: column.scores.n)[:3]
    return ", ".join(f"{column.name} {column.scores.n}" for column in worst)


def _assemble(
    store: Store,
    benchmark: str,
    metric: Metric,
    columns: Sequence[_Column],
    prompts: NDArray[np.int64],
    n_incomplete: int,
    notes: Sequence[str],
) -> MatrixData:
    rows = sorted(keyed_prompts(store, prompts).values(), key=itemgetter("order"))
    ordered = np.array([row["id"] for row in rows], dtype=np.int64)
    values = np.full((len(ordered), len(columns)), np.nan)
    for index, column in enumerate(columns):
        scored = np.isin(ordered, column.scores.prompts, assume_unique=True)
        values[scored, index] = column.scores.values[
            np.searchsorted(column.scores.prompts, ordered[scored])
        ]
    return MatrixData(
        benchmark=benchmark,
        metric=metric.label,
        higher_is_better=metric.higher_is_better,
        models=tuple(column.name for column in columns),
        prompts=ordered,
        keys=tuple(str(row["tool_id"] or row["key"]) for row in rows),
        texts=tuple(row["text"] for row in rows),
        benchmark_ids=np.array([row["benchmark_id"] for row in rows], dtype=np.int64),
        values=values,
        n_incomplete=n_incomplete,
        notes=(*notes, *_constant(values, columns)),
        natural_keys=tuple(
            f"{row['split']}/{row['key']}/{row['occurrence']}" for row in rows
        ),
        conditions=tuple(column.condition for column in columns),
    )


def _constant(values: NDArray[np.float64], columns: Sequence[_Column]) -> list[str]:
    same = [
        column.name
        for index, column in enumerate(columns)
        if (values[:, index] == values[0, index]).all()
    ]
    if not same or len(same) == len(columns):
        return []
    return [
        "one score for all prompts: "
        f"{', '.join(same[:5])}{' …' if len(same) > 5 else ''}"
    ]
