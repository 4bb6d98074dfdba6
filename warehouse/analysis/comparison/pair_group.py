"""Conditions that can be compared with one another, and what all their pairs say."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.stats import AllPairs, Ranks


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
