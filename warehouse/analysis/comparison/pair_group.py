"""Conditions that can be compared with one another, and what all their pairs say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.stats import AllPairs, Ranks
from warehouse.stats.multiple.ranks import letters


@dataclass(frozen=True)
class PairGroup:
    """Conditions that can be compared with one another, best figure first.

    Attributes:
        split: part of the benchmark.
        task_version: of the benchmark's definition, empty if unknown.
        metric: name of the metric, with its filter.
        models: name of the model of each condition.
        conditions: settings that tell conditions apart.
        pairs: the statistics of all pairs.
        ranks: what they say about places.
    """

    split: str
    task_version: str
    metric: str
    models: tuple[str, ...]
    conditions: tuple[str, ...]
    pairs: AllPairs
    ranks: Ranks

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each condition, with its settings in brackets."""
        named = zip(self.models, self.conditions, strict=True)
        return tuple(f"{model} ({label})" if label else model for model, label in named)

    @property
    def groups(self) -> tuple[str, ...]:
        """Letters of the conditions (`letters_of`)."""
        return letters_of(self.pairs)

    @property
    def n_not_compared(self) -> int:
        """Conditions that have no prompt in common with the first."""
        return others_apart(self.pairs)[0]


def others_apart(pairs: AllPairs) -> list[int]:
    """Of each model with how many others it has no prompt in common."""
    apart: list[int] = (pairs.square("n_prompts") == 0).sum(axis=1).tolist()
    return apart


def letters_of(pairs: AllPairs) -> tuple[str, ...]:
    """Letters of models, which two share where a test was made and does not separate them: without a prompt in common
    two are not compared, and share none."""
    sign = 1.0 if pairs.higher_is_better else -1.0
    order = np.argsort(-sign * np.nan_to_num(pairs.means, nan=-sign * np.inf), kind="stable")
    return tuple(letters((pairs.square("differ") == 1) | (pairs.square("n_prompts") == 0), order.tolist()))
