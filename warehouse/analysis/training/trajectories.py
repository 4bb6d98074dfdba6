"""Scores of trained replicates by seed and checkpoint, as the statistics of training take them; `read` reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS

#: What replicates of a recipe share: all but their seed and what names a checkpoint.
SHARED = tuple(name for name in LABEL_FIELDS if name not in ("training_seed", *CHECKPOINT_FIELDS))

#: Settings that have columns of their own.
_SAID_ELSEWHERE = ("recipe", "split", "benchmark_recorded")


@dataclass(frozen=True)
class Trajectory:
    """One replicate along its training; the other fields by position, in its order; ``runs`` holds
    the ids of the repeats of each checkpoint."""

    seed: str
    positions: tuple[float, ...]
    scores: tuple[float, ...]
    errors: tuple[float, ...]
    runs: tuple[tuple[int, ...], ...]

    def until(self, place: int) -> Trajectory:
        """Its beginning, up to one of its checkpoints."""
        end = slice(place + 1)
        return Trajectory(self.seed, self.positions[end], self.scores[end], self.errors[end], self.runs[end])

    def at(self, position: float) -> Trajectory:
        """One of its checkpoints alone."""
        place = self.positions.index(position)
        only = slice(place, place + 1)
        return Trajectory(self.seed, self.positions[only], self.scores[only], self.errors[only], self.runs[only])


@dataclass(frozen=True)
class RecipeScores:
    """Replicates of one recipe on one benchmark, by one metric.

    Attributes:
        settings: every setting that all replicates share, by name.
        metric_ids: of the metric; several where judges or scales differ.
        benchmark_ids: of the rows of the benchmark that the runs are on.
        unit: of the positions; empty where there are none.
        trajectories: one per training seed, by its label.
    """

    benchmark: str
    metric: str
    higher_is_better: bool | None
    model: str
    recipe: str
    unit: str
    settings: Mapping[str, Any]
    trajectories: tuple[Trajectory, ...]
    metric_ids: tuple[int, ...] = ()
    benchmark_ids: tuple[int, ...] = ()

    @property
    def sign(self) -> float:
        """−1 where lower is better, else 1."""
        return -1.0 if self.higher_is_better is False else 1.0

    @property
    def is_telling(self) -> bool:
        """Whether it has two seeds or two common checkpoints."""
        return len(self.trajectories) > 1 or len(self.common) > 1

    @property
    def common(self) -> tuple[float, ...]:
        """Positions that every replicate has, in order."""
        shared = set(self.trajectories[0].positions)
        for one in self.trajectories[1:]:
            shared &= set(one.positions)
        return tuple(sorted(shared))

    def only(self, runs: Set[int]) -> RecipeScores | None:
        """Cut to checkpoints of some runs and those before them; None if none is of this recipe."""
        kept = []
        for one in self.trajectories:
            meant = [place for place, ids in enumerate(one.runs) if not runs.isdisjoint(ids)]
            if meant:
                kept.append(one.until(meant[-1]))
        return replace(self, trajectories=tuple(kept)) if kept else None

    def last(self) -> RecipeScores:
        """Cut to the last checkpoint that every replicate has; there must be one."""
        place = self.common[-1]
        return replace(self, trajectories=tuple(one.at(place) for one in self.trajectories))

    def table(self, positions: Sequence[float]) -> NDArray[np.float64]:
        """Scores at some common positions, shape (seeds, positions)."""
        return np.array([_at(one.positions, one.scores, positions) for one in self.trajectories])

    def errors(self, positions: Sequence[float]) -> NDArray[np.float64]:
        """Standard errors of the single runs there, NaN where unknown, shape (seeds, positions)."""
        return np.array([_at(one.positions, one.errors, positions) for one in self.trajectories])


def _at(places: Sequence[float], values: Sequence[float], wanted: Sequence[float]) -> list[float]:
    by_place = dict(zip(places, values, strict=True))
    return [by_place[place] for place in wanted]


def describe_others(others: Mapping[str, Sequence[str]]) -> str:
    """One line that names such benchmarks, at most three; empty if there are none."""
    named = [f"{name} (--metric {' or '.join(metrics[:3])})" for name, metrics in list(others.items())[:3]]
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return f"by another metric than the headline: {', '.join(named)}{more}" if named else ""


def settings_apart(recipes: Sequence[RecipeScores]) -> list[str]:
    """For each recipe the settings in which it differs from the others, such as ``fewshot=2``; empty
    where nothing differs but what a table of recipes says by itself."""
    differing = [
        name for name in SHARED if name not in _SAID_ELSEWHERE and len({str(one.settings[name]) for one in recipes}) > 1
    ]
    return [
        ", ".join(f"{name}={value}" for name in differing if (value := one.settings[name]) is not None)
        for one in recipes
    ]


def settings_in_groups(recipes: Sequence[RecipeScores], group: Callable[[RecipeScores], object]) -> list[str]:
    """As `settings_apart`, among those of its group only."""
    members: dict[object, list[int]] = {}
    for place, one in enumerate(recipes):
        members.setdefault(group(one), []).append(place)
    labels = [""] * len(recipes)
    for places in members.values():
        for place, words in zip(places, settings_apart([recipes[place] for place in places]), strict=True):
            labels[place] = words
    return labels
