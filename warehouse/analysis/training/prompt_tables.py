"""Prompt scores of every checkpoint of a recipe, as the statistics of curves take them; `read` reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.training.trajectories import RecipeScores
from warehouse.stats.training.curve_tests import binomial_p_above
from warehouse.stats.training.seed_means import (
    SeedMean,
    difference_of_figures,
    difference_of_seed_means,
    figure_mean,
    seed_mean,
)

Floats = NDArray[np.float64]

#: Pairs of recipes whose prompts are compared.
MOST_PAIRS = 100


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint of all seeds.

    Attributes:
        figures: of each seed, shape (S,).
        errors: reported standard errors, NaN where unknown, shape (S,).
        prompts: ids of those that all seeds have a score of; empty where prompts are not stored.
        scores: of each seed on them, shape (S, n).
        zero_one: one run whose scores are single draws of 0 or 1.
    """

    figures: Floats
    errors: Floats
    prompts: NDArray[np.int64]
    scores: Floats
    zero_one: bool

    @property
    def has_prompts(self) -> bool:
        """Whether its scores are stored by prompt."""
        return len(self.prompts) > 0

    def mean(self, clusters: ClusterMap) -> SeedMean:
        """Its mean, with the errors of seeds and prompts."""
        if not self.has_prompts:
            return figure_mean(self.figures, self.errors)
        return seed_mean(self.scores, clusters=clusters.labels(self.prompts))

    def p_above(self, chance: Floats | float, sign: float, clusters: ClusterMap) -> float:
        """One-sided p of a mean above chance, one number or one by prompt; NaN where there is no test."""
        if not self.has_prompts:
            return figure_mean(self.figures, self.errors).p_above(float(np.mean(chance)), sign)
        labels, level = clusters.labels(self.prompts), np.broadcast_to(chance, self.prompts.shape)
        if self.zero_one and labels is None and np.ptp(level) == 0 and sign > 0 and 0 <= level[0] <= 1:
            return binomial_p_above(round(self.scores.sum()), len(self.prompts), float(level[0]))
        return seed_mean(self.scores - level, clusters=labels).p_above(0.0, sign)


@dataclass(frozen=True)
class Change:
    """A difference of two checkpoints.

    Attributes:
        mean: the difference with its errors.
        p_rise: one-sided p of a difference above 0; NaN where there is no test.
        p_fall: of one below 0.
    """

    mean: SeedMean
    p_rise: float
    p_fall: float

    @property
    def p_value(self) -> float:
        """Two-sided."""
        return min(1.0, 2 * min(self.p_rise, self.p_fall)) if self.p_rise == self.p_rise else math.nan


def change(after: Checkpoint, before: Checkpoint, clusters: ClusterMap, *, same_seeds: bool) -> Change:
    """``after`` minus ``before``, over common prompts where both have them.

    Args:
        same_seeds: the seeds are the same in both, in the same order, and are paired.
    """
    common, of_a, of_b = np.intersect1d(after.prompts, before.prompts, assume_unique=True, return_indices=True)
    if not len(common):
        return _of_figures(after, before, same_seeds)
    a, b, labels = after.scores[:, of_a], before.scores[:, of_b], clusters.labels(common)
    mean = seed_mean(a - b, clusters=labels) if same_seeds else difference_of_seed_means(a, b, clusters=labels)
    if after.zero_one and before.zero_one and labels is None:  # exact: only what changed tells
        won, lost = int((a > b).sum()), int((a < b).sum())
        if won + lost:
            return Change(mean, *(binomial_p_above(k, won + lost, 0.5) for k in (won, lost)))
    return Change(mean, mean.p_above(), mean.p_above(sign=-1.0))


def _of_figures(after: Checkpoint, before: Checkpoint, same_seeds: bool) -> Change:
    if same_seeds and len(after.figures) > 1:
        mean = figure_mean(after.figures - before.figures)
    else:
        mean = difference_of_figures(after.figures, before.figures, after.errors, before.errors)
    return Change(mean, mean.p_above(), mean.p_above(sign=-1.0))


def prompt_variance(cells: Sequence[Checkpoint]) -> tuple[float | None, int | None]:
    """ω² of the difference of two recipes on one prompt, mean over pairs, and the prompts stored; None for none."""
    if not all(cell.has_prompts for cell in cells):
        return None, None
    variances = []
    for a, b in islice(combinations(cells, 2), MOST_PAIRS):
        common, of_a, of_b = np.intersect1d(a.prompts, b.prompts, assume_unique=True, return_indices=True)
        if len(common) > 1:
            part = difference_of_seed_means(a.scores[:, of_a], b.scores[:, of_b]).prompt_variance
            variances.append(part * len(common))
    return (float(np.mean(variances)), min(len(cell.prompts) for cell in cells)) if variances else (None, None)


@dataclass(frozen=True)
class Chance:
    """What guessing scores.

    Attributes:
        level: its mean over prompts; None with ``reason``.
        source: ``given``, ``metric`` (the dump or mapping says so) or ``options`` (1/their number);
            empty without.
        by_prompt: of each prompt by id, where it comes from the options.
    """

    level: float | None
    source: str
    by_prompt: Mapping[int, float]
    reason: str = ""

    def of(self, prompts: NDArray[np.int64]) -> Floats | float | None:
        """One number for all, or one by prompt; None where it is unknown."""
        if self.source != "options" or not len(prompts):
            return self.level
        return np.array([self.by_prompt[one] for one in prompts.tolist()])


UNKNOWN_CHANCE = Chance(None, "", {}, "what guessing scores is not known; --chance says it")


@dataclass(frozen=True)
class Curve:
    """One recipe with the scores of its checkpoints.

    Attributes:
        recipe: figures of its runs.
        checkpoints: those that all seeds have, by position.
        clusters: of the prompts.
        chance: what guessing scores.
        bounds: of the metric; None if unknown.
        setting: what tells it from other curves.
    """

    recipe: RecipeScores
    checkpoints: Mapping[float, Checkpoint]
    clusters: ClusterMap
    chance: Chance
    bounds: tuple[float | None, float | None] | None
    setting: str
