"""Does discrimination found on some models hold on others, and what does dropping weak
prompts do?

Definitions: Madaan et al. (2024) §4 (statistics.md §5, §13).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.groups import grouped
from warehouse.analysis.items.pruning_view import (
    PruningReport,
    PruningRow,
    SplitPoint,
    SplitReport,
    SplitRow,
)
from warehouse.analysis.items.question import ItemPruning, ItemSplits
from warehouse.analysis.matrix.read import MatrixData, read_matrix
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS
from warehouse.stats.items.discrimination import correlations
from warehouse.stats.items.pruning import (
    Effect,
    ModelSplit,
    SplitAgreement,
    difficulty_split,
    pruning_curve,
    random_split,
    split_agreement,
)
from warehouse.store.connection import Store

#: Models that a split needs: three on each side.
MODELS_FOR_SPLIT = 6
#: Checkpoints from which on a training run has an order.
_CHECKPOINTS = 3
_SHARED = tuple(name for name in LABEL_FIELDS if name not in CHECKPOINT_FIELDS)


@answers(ItemSplits)
def item_splits(store: Store, question: ItemSplits) -> SplitReport:
    """One split by difficulty, and the mean of random ones."""
    table = _ModelTable.of(read_matrix(store, selection_of(question)))
    splits = [
        random_split(len(table.scores), seed=question.seed + number)
        for number in range(question.n_splits)
    ]
    by_difficulty = difficulty_split(table.scores)
    rows = (
        _split_row([split_agreement(table.scores, by_difficulty)]),
        _split_row([split_agreement(table.scores, split) for split in splits]),
    )
    points = list(
        chain.from_iterable(
            _split_points(table.scores, split) for split in (by_difficulty, splits[0])
        )
    )
    return SplitReport(**table.head, rows=rows, points=tuple(points))


def _split_points(
    scores: NDArray[np.float64], split: ModelSplit
) -> Iterator[SplitPoint]:
    sides = (
        correlations(scores[side])[1].tolist() for side in (split.train, split.test)
    )
    for train, test in zip(*sides, strict=True):
        yield SplitPoint(
            split.kind, *(None if np.isnan(share) else share for share in (train, test))
        )


@answers(ItemPruning)
def item_pruning(store: Store, question: ItemPruning) -> PruningReport:
    """Drop the least discriminating prompts of some models, and look at others."""
    table = _ModelTable.of(read_matrix(store, selection_of(question)))
    splits = (
        difficulty_split(table.scores),
        random_split(len(table.scores), seed=question.seed),
    )
    rows = list(
        chain.from_iterable(_pruned(table, split, question) for split in splits)
    )
    return PruningReport(
        **table.head,
        rows=tuple(rows),
        n_train=len(splits[0].train),
        n_test=len(splits[0].test),
        n_random=question.n_random,
        n_trainings=len(table.trainings),
        n_recipes=len(table.recipes),
    )


@dataclass(frozen=True, eq=False)
class _ModelTable:
    """Models × prompts, higher better, with what trainings and seeds there are."""

    head: dict[str, Any]
    scores: NDArray[np.float64]  #: of the models that splits take, shape (M, J).
    #: scores of the checkpoints of one training each, in order.
    trainings: list[NDArray[np.float64]]
    #: scores of the last checkpoints of the seeds of one recipe each.
    recipes: list[NDArray[np.float64]]

    @staticmethod
    def of(data: MatrixData) -> _ModelTable:
        if data.higher_is_better is False:
            signed = -data.values
        else:
            signed = data.values
        oriented = signed.T
        by_training = _by_training(data)
        trainings = [
            columns for columns in by_training.values() if len(columns) >= _CHECKPOINTS
        ]
        by_recipe = grouped(by_training, lambda key: key[1:])
        recipes = []
        for keys in by_recipe.values():
            if len(keys) > 1:
                recipes.append([by_training[key][-1] for key in keys])
        within = set(chain.from_iterable((*trainings, *recipes)))
        others = [column for column in range(len(data.models)) if column not in within]
        if len(others) < MODELS_FOR_SPLIT:
            finals = {columns[-1] for columns in trainings} | set(
                chain.from_iterable(recipes)
            )
            others = sorted({*others, *finals})
        if len(others) < MODELS_FOR_SPLIT:
            raise MisuseError(
                f"{data.benchmark} has {len(others)} models with scores of all prompts "
                f"by {data.metric}; a split into train and test needs "
                f"{MODELS_FOR_SPLIT}"
            )
        head = {
            "benchmark": data.benchmark,
            "metric": data.metric,
            "n_items": len(data.prompts),
            "n_models": len(others),
            "notes": data.notes,
        }
        return _ModelTable(
            head,
            oriented[others],
            [oriented[c] for c in trainings],
            [oriented[c] for c in recipes],
        )


def _by_training(data: MatrixData) -> dict[tuple[Any, ...], list[int]]:
    """Columns by seed and recipe, in the order of their checkpoints; those without a
    place by themselves."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for column, condition in enumerate(data.conditions):
        shared = tuple(
            str(condition.setting(name)) for name in _SHARED if name != "training_seed"
        )
        seed = condition.setting("training_seed")
        alone = None
        if condition.setting("position") is None and seed is None:
            alone = column
        groups.setdefault((str(seed), condition.model, *shared, alone), []).append(
            column
        )
    position = [
        float(condition.setting("position") or 0) for condition in data.conditions
    ]
    return {
        key: sorted(columns, key=position.__getitem__)
        for key, columns in groups.items()
    }


def _split_row(splits: Sequence[SplitAgreement]) -> SplitRow:
    pearson = np.array([split.pearson for split in splits], dtype=np.float64)
    spearman = np.array([split.spearman for split in splits], dtype=np.float64)
    defined = not np.isnan(pearson).any()
    mean_pearson = None
    mean_spearman = None
    if defined:
        mean_pearson = float(pearson.mean())
        mean_spearman = float(spearman.mean())
    pearson_low = None
    pearson_high = None
    if defined and len(splits) > 1:
        pearson_low = float(pearson.min())
        pearson_high = float(pearson.max())
    return SplitRow(
        kind=splits[0].kind,
        n_splits=len(splits),
        n_train=splits[0].n_train,
        n_test=splits[0].n_test,
        n_items=float(np.mean([split.n_items for split in splits])),
        pearson=mean_pearson,
        pearson_low=pearson_low,
        pearson_high=pearson_high,
        spearman=mean_spearman,
        negative_train=float(np.mean([split.negative_train for split in splits])),
        negative_both=float(np.mean([split.negative_both for split in splits])),
    )


def _pruned(
    table: _ModelTable, split: ModelSplit, question: ItemPruning
) -> list[PruningRow]:
    curve = pruning_curve(
        table.scores,
        split,
        seed=question.seed,
        shares=question.shares,
        n_random=question.n_random,
        trajectories=table.trainings,
        seeds=table.recipes,
    )
    rows = []
    for step in curve.steps:
        figures: dict[str, Effect | None] = {
            "mean": step.mean_change,
            "error": step.se_ratio,
            "tau": step.tau,
            "monotonicity": step.monotonicity_change,
            "snr": step.snr_ratio,
        }
        rows += [
            PruningRow(split.kind, step.share, step.n_dropped, name, **vars(effect))
            for name, effect in figures.items()
            if effect is not None
        ]
    return rows
