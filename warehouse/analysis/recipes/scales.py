"""One scale of training: a figure for each recipe, and how much of it is noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.training.pools import (
    Noise,
    Pool,
    pooled_seed_variance,
    seed_squares,
)
from warehouse.analysis.training.trajectories import RecipeScores, Trajectory
from warehouse.stats.training.noise_floor import MOST, jitter
from warehouse.stats.training.signal_to_noise import two_way

Key = tuple[Any, ...]
#: What `Scale.held` counts, as of `RecipesRow`.
HELD = ("n_decides", "n_decides_right", "n_leans", "n_leans_right")


@dataclass(frozen=True)
class Components:
    """Where the spread of single runs of one recipe comes from, pooled over recipes."""

    #: σ_S² between seeds; with one checkpoint all that differs between runs.
    seed_variance: float
    #: σ_J² from checkpoint to checkpoint; 0 with one checkpoint.
    jitter_variance: float
    most_averaged: int  #: checkpoints that every run has for averaging.


@dataclass(frozen=True)
class Scale:
    """The recipes of one benchmark and metric at one scale."""

    #: replicates by recipe (the model where a recipe has no name).
    members: Mapping[str, tuple[RecipeScores, ...]]
    averaged: int  #: m, last checkpoints that make a run's figure.

    @property
    def example(self) -> RecipeScores:
        """One of them; all share benchmark, metric and settings."""
        return next(iter(self.members.values()))[0]

    @cached_property
    def runs(self) -> dict[str, list[float]]:
        """The figures of all runs of each recipe; without those that have fewer than m
        checkpoints."""
        by_recipe = {}
        for name, recipes in self.members.items():
            by_recipe[name] = [
                fmean(trajectory.scores[-self.averaged :])
                for recipe in recipes
                for trajectory in recipe.trajectories
                if len(trajectory.scores) >= self.averaged
            ]
        return {name: runs for name, runs in by_recipe.items() if runs}

    @cached_property
    def figures(self) -> dict[str, float]:
        """The mean over runs of each recipe that has some."""
        return {name: fmean(runs) for name, runs in self.runs.items()}

    @property
    def trajectories(self) -> list[Trajectory]:
        """The trajectories of all runs of all recipes."""
        runs = []
        for recipe in self.members.values():
            for scores in recipe:
                for run in scores.trajectories:
                    runs.append(run)
        return runs

    @property
    def is_mixed(self) -> bool:
        """True if runs end at different places in training."""
        return len({trajectory.positions[-1] for trajectory in self.trajectories}) > 1

    @property
    def spread(self) -> float | None:
        """s² of the recipes' figures; None for one recipe, and where all are equal."""
        values = list(self.figures.values())
        if len(values) > 1:
            return float(np.var(values, ddof=1)) or None
        return None

    def noise(self) -> tuple[float | None, str]:
        """Variance of one recipe's figure (a mean over its runs) by chance, and where
        it is from: ``seeds``, ``jitter`` (too low), ``items`` (too high), or empty."""
        share = 1.0
        if self.runs:
            share = fmean(1 / len(runs) for runs in self.runs.values())
        for source, variance in (
            ("seeds", self._of_seeds()),
            ("jitter", self._of_jitter()),
            ("items", self._of_items()),
        ):
            if variance is not None:
                return variance * share, source
        return None, ""

    def _replicates(self) -> list[RecipeScores]:
        recipes = chain.from_iterable(self.members.values())
        return [
            recipe
            for recipe in recipes
            if len(recipe.trajectories) > 1 and len(recipe.common) >= self.averaged
        ]

    def _of_seeds(self) -> float | None:
        squares, nu = seed_squares(self._replicates(), self.averaged)
        if nu:
            return squares / nu
        return None

    def _of_jitter(self) -> float | None:
        long = [path for path in self.trajectories if len(path.positions) > 1]
        variances = [
            value
            for path in long
            if (value := jitter(path.scores, path.positions).variance) is not None
        ]
        if variances:
            return float(np.mean(variances)) / self.averaged
        return None

    def _of_items(self) -> float | None:
        errors = np.array([trajectory.errors[-1] for trajectory in self.trajectories])
        if len(errors) and np.isfinite(errors).all():
            return float(np.mean(errors**2))
        return None

    def components(self) -> Components | None:
        """Pooled over the recipes with seeds; None without any."""
        replicates = self._replicates()
        if not replicates:
            return None
        tables = [
            two_way(recipe.table(recipe.common[-k:]))
            for recipe in replicates
            if (k := min(len(recipe.common) // 2, MOST)) > 1
        ]
        if len(tables) < len(replicates):
            return Components(self._of_seeds() or 0.0, 0.0, 1)
        n1 = sum(table.n1 for table in tables)
        n2 = sum(table.n2 for table in tables)
        error = sum(table.error * table.n2 for table in tables) / n2
        between = (
            sum(
                (table.between - table.error) / table.columns * table.n1
                for table in tables
            )
            / n1
        )
        return Components(
            max(0.0, between), error, min(table.columns for table in tables)
        )

    def held(self, large: Scale, pool: Pool | None, level: float) -> dict[str, int]:
        """The words of ``decide`` on each pair of recipes at both scales, and whether
        the large one agrees.

        The spread over seeds is of the two, else of the other recipes here, else the
        pool's (at least the jitter).

        Args:
            large: the large scale.
            pool: spreads on other benchmarks.
            level: of the verdicts.
        """
        names = [name for name in self.figures if name in large.figures]
        counts = dict.fromkeys(HELD, 0)
        everywhere, jitter_sd = (
            pooled_seed_variance(self._replicates(), self.averaged),
            (self._of_jitter() or 0) ** 0.5,
        )
        for a, b in combinations(names, 2):
            before, after = (
                self.figures[a] - self.figures[b],
                large.figures[a] - large.figures[b],
            )
            own = list(chain.from_iterable(self.members[name] for name in (a, b)))
            measured = pooled_seed_variance(own, self.averaged) or everywhere
            figures = np.array(self.runs[a]), np.array(self.runs[b])
            noise = Noise(
                figures,
                self.averaged,
                "",
                None,
                None,
                pool,
                is_matched=True,
                jitter=jitter_sd or None,
            )
            if measured is None:
                noise = noise.by_pool_or_jitter(math.inf)
            else:
                noise = replace(
                    noise,
                    standard_deviation=measured[0] ** 0.5,
                    degrees_of_freedom=measured[1],
                )
            weighed = noise.weigh(before, level)
            if after and weighed and weighed.word != "cannot tell":
                counts[f"n_{weighed.word}"] += 1
                counts[f"n_{weighed.word}_right"] += before * after > 0
        return counts

    def table(self) -> NDArray[np.float64] | None:
        """Recipes x their last common checkpoints (at most 20, at most half), each the
        mean over runs; None with fewer than two of either."""
        positions = [set(trajectory.positions) for trajectory in self.trajectories]
        common = []
        if positions:
            common = sorted(set.intersection(*positions))
        k = min(len(common) // 2, MOST)
        if k < 2 or len(self.members) < 2:
            return None
        rows = []
        for recipes in self.members.values():
            rows.append(
                np.mean(
                    [recipe.table(common[-k:]).mean(axis=0) for recipe in recipes],
                    axis=0,
                )
            )
        return np.array(rows)


def scales(recipes: Sequence[RecipeScores], averaged: int) -> dict[Key, Scale]:
    """Recipes that can be compared, by benchmark, metric and all settings but model and
    recipe."""
    groups: dict[Key, dict[str, list[RecipeScores]]] = {}
    for recipe in recipes:
        settings = (
            value for name, value in recipe.settings.items() if name != "recipe"
        )
        key = (recipe.benchmark, recipe.metric, *settings)
        groups.setdefault(key, {}).setdefault(recipe.recipe or recipe.model, []).append(
            recipe
        )
    scales = {}
    for key, members in groups.items():
        by_name = {name: tuple(scores) for name, scores in members.items()}
        scales[key] = Scale(by_name, averaged)
    return scales
