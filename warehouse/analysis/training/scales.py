"""One scale of training: a figure for each recipe, and how much of it is noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.training.trajectories import RecipeScores, Trajectory
from warehouse.stats.training.noise_floor import MOST, jitter
from warehouse.stats.training.signal_to_noise import two_way

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Components:
    """Where the spread of single runs of one recipe comes from, pooled over recipes.

    Attributes:
        seed_variance: σ_S² between seeds; with one checkpoint all that differs between runs.
        jitter_variance: σ_J² from checkpoint to checkpoint; 0 with one checkpoint.
        most_averaged: checkpoints that every run has for averaging.
        n_seeds: most seeds of a recipe.
    """

    seed_variance: float
    jitter_variance: float
    most_averaged: int
    n_seeds: int


@dataclass(frozen=True)
class Scale:
    """The recipes of one benchmark and metric at one scale.

    Attributes:
        members: replicates by recipe (the model where a recipe has no name).
        averaged: m, last checkpoints that make a run's figure.
    """

    members: Mapping[str, tuple[RecipeScores, ...]]
    averaged: int

    @property
    def example(self) -> RecipeScores:
        """One of them; all share benchmark, metric and settings."""
        return next(iter(self.members.values()))[0]

    @cached_property
    def runs(self) -> dict[str, list[float]]:
        """The figures of all runs of each recipe; without those that have fewer than m checkpoints."""
        by_recipe = {
            name: [
                fmean(one.scores[-self.averaged :])
                for scores in each
                for one in scores.trajectories
                if len(one.scores) >= self.averaged
            ]
            for name, each in self.members.items()
        }
        return {name: runs for name, runs in by_recipe.items() if runs}

    @cached_property
    def figures(self) -> dict[str, float]:
        """The mean over runs of each recipe that has some."""
        return {name: fmean(runs) for name, runs in self.runs.items()}

    @property
    def trajectories(self) -> list[Trajectory]:
        """Of all runs of all recipes."""
        return [run for recipe in self.members.values() for scores in recipe for run in scores.trajectories]

    @property
    def is_mixed(self) -> bool:
        """Whether runs end at different places in training."""
        return len({one.positions[-1] for one in self.trajectories}) > 1

    @property
    def spread(self) -> float | None:
        """s² of the recipes' figures; None for one recipe, and where all are equal."""
        values = list(self.figures.values())
        return float(np.var(values, ddof=1)) or None if len(values) > 1 else None

    def noise(self) -> tuple[float | None, str]:
        """Variance of one recipe's figure (a mean over its runs) by chance, and where it is from:
        ``seeds``, ``jitter`` (too low), ``items`` (too high), or empty."""
        share = fmean(1 / len(runs) for runs in self.runs.values()) if self.runs else 1.0
        for source, variance in (
            ("seeds", self._of_seeds()),
            ("jitter", self._of_jitter()),
            ("items", self._of_items()),
        ):
            if variance is not None:
                return variance * share, source
        return None, ""

    def _replicates(self) -> list[RecipeScores]:
        recipes = [one for each in self.members.values() for one in each]
        return [one for one in recipes if len(one.trajectories) > 1 and len(one.common) >= self.averaged]

    def _of_seeds(self) -> float | None:
        squares, nu = 0.0, 0
        for one in self._replicates():
            finals = one.table(one.common[-self.averaged :]).mean(axis=1)
            squares += float(np.sum((finals - finals.mean()) ** 2))
            nu += len(finals) - 1
        return squares / nu if nu else None

    def _of_jitter(self) -> float | None:
        placed = [one for one in self.trajectories if len(one.positions) > 1]
        variances = [value for one in placed if (value := jitter(one.scores, one.positions).variance) is not None]
        return float(np.mean(variances)) / self.averaged if variances else None

    def _of_items(self) -> float | None:
        errors = np.array([one.errors[-1] for one in self.trajectories])
        return float(np.mean(errors**2)) if len(errors) and np.isfinite(errors).all() else None

    def components(self) -> Components | None:
        """Pooled over the recipes with seeds; None without any."""
        replicates = self._replicates()
        if not replicates:
            return None
        tables = [
            two_way(one.table(one.common[-k:])) for one in replicates if (k := min(len(one.common) // 2, MOST)) > 1
        ]
        seeds = max(len(one.trajectories) for one in replicates)
        if len(tables) < len(replicates):
            return Components(self._of_seeds() or 0.0, 0.0, 1, seeds)
        n1, n2 = sum(one.n1 for one in tables), sum(one.n2 for one in tables)
        error = sum(one.error * one.n2 for one in tables) / n2
        between = sum((one.between - one.error) / one.columns * one.n1 for one in tables) / n1
        return Components(max(0.0, between), error, min(one.columns for one in tables), seeds)

    def table(self) -> NDArray[np.float64] | None:
        """Recipes x their last common checkpoints (at most 20, at most half), each the mean over
        runs; None with fewer than two of either."""
        places = [set(one.positions) for one in self.trajectories]
        common = sorted(set.intersection(*places)) if places else []
        k = min(len(common) // 2, MOST)
        if k < 2 or len(self.members) < 2:
            return None
        rows = [
            np.mean([scores.table(common[-k:]).mean(axis=0) for scores in each], axis=0)
            for each in self.members.values()
        ]
        return np.array(rows)


def scales(recipes: Sequence[RecipeScores], averaged: int) -> dict[Key, Scale]:
    """Recipes that can be compared, by benchmark, metric and all settings but model and recipe."""
    groups: dict[Key, dict[str, list[RecipeScores]]] = {}
    for one in recipes:
        settings = (value for name, value in one.settings.items() if name != "recipe")
        key = (one.benchmark, one.metric, *settings)
        groups.setdefault(key, {}).setdefault(one.recipe or one.model, []).append(one)
    return {
        key: Scale({name: tuple(each) for name, each in members.items()}, averaged) for key, members in groups.items()
    }
