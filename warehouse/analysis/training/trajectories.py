"""Scores of trained replicates and of their prompts, as the statistics of training take
them; `read` reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS
from warehouse.stats.training.curve_tests import binomial_p_above
from warehouse.stats.training.seed_means import (
    SeedMean,
    difference_of_figures,
    difference_of_seed_means,
    figure_mean,
    seed_mean,
)
from warehouse.tables.words import UNEQUAL_PROMPTS

#: What replicates of a recipe share: all but their seed and what names a checkpoint.
SHARED = tuple(
    name for name in LABEL_FIELDS if name not in ("training_seed", *CHECKPOINT_FIELDS)
)

#: Settings that have columns of their own.
_SAID_ELSEWHERE = ("recipe", "split", "benchmark_recorded")


@dataclass(frozen=True)
class Trajectory:
    """One replicate along its training; the other fields by position, in its order;
    ``runs`` holds the ids of the repeats of each checkpoint, ``counts`` the prompts
    behind its figure, 0 where unknown, and ``sets`` a number for which of the
    benchmark's these are, 0 where they are all or unknown."""

    seed: str
    positions: tuple[float, ...]
    scores: tuple[float, ...]
    errors: tuple[float, ...]
    runs: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...] = ()
    sets: tuple[int, ...] = ()

    def until(self, index: int) -> Trajectory:
        """Its beginning, up to one of its checkpoints."""
        return self._cut(slice(index + 1))

    def at(self, position: float) -> Trajectory:
        """One of its checkpoints alone."""
        index = self.positions.index(position)
        return self._cut(slice(index, index + 1))

    def _cut(self, to: slice) -> Trajectory:
        figures = self.positions[to], self.scores[to], self.errors[to]
        return Trajectory(
            self.seed, *figures, self.runs[to], self.counts[to], self.sets[to]
        )


def unequal_prompts(runs: Iterable[Trajectory], last: int = 0) -> tuple[str, ...]:
    """``unequal_prompts`` where figures (of the last checkpoints; 0: of all) rest on
    other prompts than others: what they differ by is also how hard the prompts are that
    some lack."""
    listed = [*runs]
    for of in (attrgetter("counts"), attrgetter("sets")):
        told = set(chain.from_iterable(of(run)[-last:] for run in listed))
        if len(told - {0}) > 1:
            return (UNEQUAL_PROMPTS,)
    return ()


@dataclass(frozen=True)
class RecipeScores:
    """Replicates of one recipe on one benchmark, by one metric."""

    benchmark: str
    metric: str
    higher_is_better: bool | None
    model: str
    recipe: str
    unit: str  #: of the positions; empty where there are none.
    settings: Mapping[str, Any]  #: every setting that all replicates share, by name.
    trajectories: tuple[Trajectory, ...]  #: one per training seed, by its label.
    #: of the metric; several where judges or scales differ.
    metric_ids: tuple[int, ...] = ()
    #: of the rows of the benchmark that the runs are on.
    benchmark_ids: tuple[int, ...] = ()
    parameters: float | None = None  #: of the model; None where unknown or several.
    is_rate: bool = False  #: whether the metric is at most 1, and more is better.
    width: float | None = None  #: range of the metric; None where it is not known.

    @property
    def n_prompts(self) -> int | None:
        """Fewest behind a figure; None where unknown."""
        counts = chain.from_iterable(run.counts for run in self.trajectories)
        return min(filter(None, counts), default=None)

    @property
    def sign(self) -> float:
        """−1 where lower is better, else 1."""
        if self.higher_is_better is False:
            return -1.0
        return 1.0

    @property
    def is_telling(self) -> bool:
        """True if it has two seeds or two common checkpoints."""
        return len(self.trajectories) > 1 or len(self.common) > 1

    @property
    def common(self) -> tuple[float, ...]:
        """Positions that every replicate has, in order."""
        shared = set(self.trajectories[0].positions)
        for run in self.trajectories[1:]:
            shared &= set(run.positions)
        return tuple(sorted(shared))

    def only(self, runs: Set[int]) -> RecipeScores | None:
        """Cut to checkpoints of some runs and those before them; None if none is of
        this recipe."""
        kept = []
        for path in self.trajectories:
            meant = [
                index for index, ids in enumerate(path.runs) if not runs.isdisjoint(ids)
            ]
            if meant:
                kept.append(path.until(meant[-1]))
        if kept:
            return replace(self, trajectories=tuple(kept))
        return None

    def last(self) -> RecipeScores:
        """Cut to the last checkpoint that every replicate has; there must be one."""
        index = self.common[-1]
        return replace(
            self, trajectories=tuple(run.at(index) for run in self.trajectories)
        )

    def table(self, positions: Sequence[float]) -> NDArray[np.float64]:
        """Scores at some common positions, shape (seeds, positions)."""
        return np.array(
            [_at(run.positions, run.scores, positions) for run in self.trajectories]
        )

    def errors(self, positions: Sequence[float]) -> NDArray[np.float64]:
        """Standard errors of the single runs there, NaN where unknown, shape (seeds,
        positions)."""
        return np.array(
            [_at(run.positions, run.errors, positions) for run in self.trajectories]
        )


def _at(
    own_positions: Sequence[float], values: Sequence[float], positions: Sequence[float]
) -> list[float]:
    value_at = dict(zip(own_positions, values, strict=True))
    return [value_at[index] for index in positions]


def describe_others(others: Mapping[str, Sequence[str]]) -> str:
    """One line that names such benchmarks, at most three; empty if there are none."""
    named = [
        f"{name} (--metric {' or '.join(metrics[:3])})"
        for name, metrics in list(others.items())[:3]
    ]
    more = ""
    if len(others) > 3:
        more = f" and {len(others) - 3} more"
    if named:
        return f"by another metric than the headline: {', '.join(named)}{more}"
    return ""


def settings_apart(recipes: Sequence[RecipeScores]) -> list[str]:
    """For each recipe the settings in which it differs from the others, such as
    ``fewshot=2``; empty where nothing differs but what a table of recipes says by
    itself."""
    differing = []
    for name in SHARED:
        if (
            name not in _SAID_ELSEWHERE
            and len({str(r.settings[name]) for r in recipes}) > 1
        ):
            differing.append(name)
    told = []
    for recipe in recipes:
        settings = ((name, recipe.settings[name]) for name in differing)
        told.append(
            ", ".join(
                f"{name}={value}" for name, value in settings if value is not None
            )
        )
    return told


def settings_in_groups(
    recipes: Sequence[RecipeScores], group: Callable[[RecipeScores], Hashable]
) -> list[str]:
    """As `settings_apart`, among those of its group only."""
    members = grouped(range(len(recipes)), lambda index: group(recipes[index]))
    labels = [""] * len(recipes)
    for indices in members.values():
        for index, words in zip(
            indices, settings_apart([recipes[index] for index in indices]), strict=True
        ):
            labels[index] = words
    return labels


Floats = NDArray[np.float64]

#: Pairs of recipes whose prompts are compared.
MOST_PAIRS = 100


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint of all seeds."""

    figures: Floats  #: of each seed, shape (S,).
    errors: Floats  #: reported standard errors, NaN where unknown, shape (S,).
    #: ids of those that all seeds have a score of; empty where prompts are not stored.
    prompts: NDArray[np.int64]
    scores: Floats  #: of each seed on them, shape (S, n).
    zero_one: bool  #: one run whose scores are single draws of 0 or 1.

    @property
    def has_prompts(self) -> bool:
        """True if its scores are stored by prompt."""
        return len(self.prompts) > 0

    def mean(self, clusters: ClusterMap) -> SeedMean:
        """Its mean, with the errors of seeds and prompts."""
        if not self.has_prompts:
            return figure_mean(self.figures, self.errors)
        return seed_mean(self.scores, clusters=clusters.labels(self.prompts))

    def p_above(
        self, chance: Floats | float, sign: float, clusters: ClusterMap
    ) -> float:
        """One-sided p of a mean above chance, one number or one by prompt; NaN where
        there is no test."""
        if not self.has_prompts:
            return figure_mean(self.figures, self.errors).p_above(
                float(np.mean(chance)), sign
            )
        labels = clusters.labels(self.prompts)
        level = np.broadcast_to(chance, self.prompts.shape)
        if (
            self.zero_one
            and labels is None
            and np.ptp(level) == 0
            and sign > 0
            and 0 <= level[0] <= 1
        ):
            return binomial_p_above(
                round(self.scores.sum()), len(self.prompts), float(level[0])
            )
        return seed_mean(self.scores - level, clusters=labels).p_above(0.0, sign)


@dataclass(frozen=True)
class CheckpointDifference:
    """A difference of two checkpoints."""

    mean: SeedMean  #: the difference with its errors.
    p_rise: float  #: one-sided p of a difference above 0; NaN where there is no test.
    p_fall: float  #: of one below 0.

    @property
    def p_value(self) -> float:
        """Two-sided."""
        if self.p_rise == self.p_rise:
            return min(1.0, 2 * min(self.p_rise, self.p_fall))
        return math.nan


def change(
    after: Checkpoint, before: Checkpoint, clusters: ClusterMap, *, same_seeds: bool
) -> CheckpointDifference:
    """``after`` minus ``before``, over common prompts where both have them.

    Args:
        same_seeds: the seeds are the same in both, in the same order, and are paired.
    """
    common, of_a, of_b = np.intersect1d(
        after.prompts, before.prompts, assume_unique=True, return_indices=True
    )
    if not len(common):
        return _of_figures(after, before, same_seeds)
    a = after.scores[:, of_a]
    b = before.scores[:, of_b]
    labels = clusters.labels(common)
    if same_seeds:
        mean = seed_mean(a - b, clusters=labels)
    else:
        mean = difference_of_seed_means(a, b, clusters=labels)
    # exact: only what changed tells
    if after.zero_one and before.zero_one and labels is None:
        won = int((a > b).sum())
        lost = int((a < b).sum())
        if won + lost:
            return CheckpointDifference(
                mean, *(binomial_p_above(k, won + lost, 0.5) for k in (won, lost))
            )
    return CheckpointDifference(mean, mean.p_above(), mean.p_above(sign=-1.0))


def _of_figures(
    after: Checkpoint, before: Checkpoint, same_seeds: bool
) -> CheckpointDifference:
    if same_seeds and len(after.figures) > 1:
        mean = figure_mean(after.figures - before.figures)
    else:
        mean = difference_of_figures(
            after.figures, before.figures, after.errors, before.errors
        )
    return CheckpointDifference(mean, mean.p_above(), mean.p_above(sign=-1.0))


def prompt_variance(
    cells: Sequence[Checkpoint], clusters: ClusterMap
) -> tuple[float | None, int | None]:
    """ω² of the difference of two recipes on one prompt (in clusters n times the
    squared error), mean over pairs, and the prompts stored; None for none."""
    if not all(cell.has_prompts for cell in cells):
        return None, None
    variances = []
    for a, b in islice(combinations(cells, 2), MOST_PAIRS):
        common, of_a, of_b = np.intersect1d(
            a.prompts, b.prompts, assume_unique=True, return_indices=True
        )
        if len(common) > 1:
            labels = clusters.labels(common)
            part = difference_of_seed_means(
                a.scores[:, of_a], b.scores[:, of_b], clusters=labels
            )
            if part.prompt_df is not None:  # more than one cluster
                variances.append(part.prompt_variance * len(common))
    if variances:
        return (float(np.mean(variances)), min(len(cell.prompts) for cell in cells))
    return (None, None)


@dataclass(frozen=True)
class Chance:
    """The score of guessing."""

    level: float | None  #: its mean over prompts; None with ``reason``.
    source: str  #: ``given``, ``metric`` (the dump or mapping says so) or ``options`` (1/their number); empty without.
    #: of each prompt by id, where it comes from the options.
    by_prompt: Mapping[int, float]
    reason: str = ""

    def of(self, prompts: NDArray[np.int64]) -> Floats | float | None:
        """One number for all, or one by prompt; None where it is unknown."""
        if self.source != "options" or not len(prompts):
            return self.level
        return np.array([self.by_prompt[prompt] for prompt in prompts.tolist()])


UNKNOWN_CHANCE = Chance(
    None, "", {}, "what guessing scores is not known; --chance says it"
)


@dataclass(frozen=True)
class Curve:
    """One recipe with the scores of its checkpoints."""

    recipe: RecipeScores  #: figures of its runs.
    checkpoints: Mapping[float, Checkpoint]  #: those that all seeds have, by position.
    clusters: ClusterMap  #: of the prompts.
    chance: Chance  #: what guessing scores.
    bounds: tuple[float | None, float | None] | None  #: of the metric; None if unknown.
    setting: str  #: what tells it from other curves.
