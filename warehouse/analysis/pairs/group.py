"""Conditions of a benchmark that can be compared with one another, and their pairs."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.comparison.pair_rows import PairColumns
from warehouse.analysis.selection.score_matrix import RankedPairs
from warehouse.stats import AllPairs as PairStatistics
from warehouse.stats import Ranks


def _label(model: str, condition: str) -> str:
    """A name for a condition, with its settings in brackets."""
    if condition:
        return f"{model} ({condition})"
    return model


@dataclass(frozen=True)
class PairGroup:
    """Conditions that can be compared with one another, best figure first."""

    split: str  #: part of the benchmark.
    task_version: str  #: of the benchmark's definition, empty if unknown.
    metric: str  #: name of the metric, with its filter.
    models: tuple[str, ...]  #: name of the model of each condition.
    conditions: tuple[str, ...]  #: settings that tell conditions apart.
    tested: RankedPairs  #: all pairs, and what they say about places.
    columns: PairColumns  #: their rows, or the first ones.

    @property
    def pairs(self) -> PairStatistics:
        """The statistics of all pairs."""
        return self.tested.pairs

    @property
    def ranks(self) -> Ranks:
        """Their ranks."""
        return self.tested.ranks

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each condition, with its settings in brackets."""
        return tuple(map(_label, self.models, self.conditions))

    @property
    def groups(self) -> tuple[str, ...]:
        """Letters of the conditions (`letters_of`)."""
        return self.tested.letters

    @property
    def n_not_compared(self) -> int:
        """Conditions that have no prompt in common with the first."""
        return self.tested.apart[0]
