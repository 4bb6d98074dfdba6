"""What a suite is made of: scores of all models on the prompts of its subscenarios, checked once.

A benchmark is a tree, suite → scenario → subscenario → prompt (Perlitz et al. 2024 §3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_clusters, as_floats


@dataclass(frozen=True, eq=False)
class Subscenario:
    """One data set of a suite.

    Attributes:
        scenario: name of the scenario that it belongs to.
        name: its own.
        scores: higher is better, NaN where a model has no score, shape (n, M); a model without any
            lacks the subscenario. Means over the few-shot seeds where there are several.
        clusters: number of each prompt's cluster, 0 to G−1, shape (n,); None: every prompt by itself.
        seeds: scores by few-shot seed, shape (K, n, M), none missing; None: one seed.
    """

    scenario: str
    name: str
    scores: FloatArray
    clusters: NDArray[np.intp] | None = None
    seeds: FloatArray | None = None

    @property
    def n(self) -> int:
        """Prompts."""
        return len(self.scores)

    @cached_property
    def means(self) -> FloatArray:
        """Mean of each model over the prompts that it has scores of; NaN without any, shape (M,)."""
        known = ~np.isnan(self.scores)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(known, self.scores, 0.0).sum(axis=0) / known.sum(axis=0))


@dataclass(frozen=True, eq=False)
class SuiteScores:
    """Models on a suite.

    Attributes:
        models: their names, shape (M,).
        subscenarios: at least one; those of one scenario stand together.
    """

    models: tuple[str, ...]
    subscenarios: tuple[Subscenario, ...]

    @cached_property
    def scenarios(self) -> tuple[str, ...]:
        """Names, in the order of their first subscenario."""
        return tuple(dict.fromkeys(one.scenario for one in self.subscenarios))

    @cached_property
    def scenario_of(self) -> NDArray[np.intp]:
        """Number of each subscenario's scenario, shape (L,)."""
        place = {name: number for number, name in enumerate(self.scenarios)}
        return np.array([place[one.scenario] for one in self.subscenarios], dtype=np.intp)

    @cached_property
    def means(self) -> FloatArray:
        """Score of each model on each subscenario, NaN where it lacks it, shape (L, M)."""
        return np.array([one.means for one in self.subscenarios])

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Prompts of each scenario, shape (C,)."""
        return np.bincount(self.scenario_of, weights=[one.n for one in self.subscenarios]).astype(np.intp)

    @property
    def n_prompts(self) -> int:
        """Of all scenarios."""
        return int(self.sizes.sum())

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which scenarios each model has: all of their subscenarios, shape (C, M)."""
        has = ~np.isnan(self.means)
        return np.array([has[self.scenario_of == c].all(axis=0) for c in range(len(self.scenarios))])

    def scores(self, means: FloatArray, *, partial: bool = False) -> FloatArray:
        """Scenario scores from those of subscenarios: their mean, NaN unless the model has all.

        Args:
            means: of the subscenarios, shape (…, L, M).
            partial: the mean over those that the model has instead.

        Returns:
            shape (…, C, M).
        """
        groups = [means[..., self.scenario_of == c, :] for c in range(len(self.scenarios))]
        if not partial:
            return np.stack([group.mean(axis=-2) for group in groups], axis=-2)
        return np.stack([_mean_of_known(group) for group in groups], axis=-2)

    def standalone(self) -> SuiteScores:
        """Each subscenario a scenario of its own."""
        single = [
            Subscenario(f"{one.scenario}/{one.name}", one.name, one.scores, one.clusters, one.seeds)
            for one in self.subscenarios
        ]
        return SuiteScores(self.models, tuple(single))

    def part(self, models: Sequence[int] | NDArray[np.intp]) -> SuiteScores:
        """Some models."""
        rows = np.asarray(models, dtype=np.intp)
        cut = [
            Subscenario(
                one.scenario,
                one.name,
                one.scores[:, rows],
                one.clusters,
                None if one.seeds is None else one.seeds[:, :, rows],
            )
            for one in self.subscenarios
        ]
        return SuiteScores(tuple(self.models[i] for i in rows), tuple(cut))


def subscenario(
    scenario: str, name: str, scores: ArrayLike, *, clusters: ArrayLike | None = None, seeds: ArrayLike | None = None
) -> Subscenario:
    """Check the scores of one data set.

    Args:
        scenario: name of the scenario that it belongs to.
        name: its own.
        scores: prompts × models, higher is better, NaN where missing, shape (n, M).
        clusters: of the prompts, labels, shape (n,); None: every prompt by itself.
        seeds: the same by few-shot seed, shape (K, n, M), K at least 2, none missing; ``scores`` are
            then their means.

    Raises:
        StatisticsError: another shape, infinite scores, no prompt.
    """
    values = as_floats(scores, "scores")
    if values.ndim != 2 or not values.size:
        raise StatisticsError(f"`scores` of {name} must be prompts x models, found shape {values.shape}")
    _refuse_infinite(values, name)
    codes = None
    if clusters is not None:
        labels = as_clusters(clusters, len(values))
        codes = labels.codes if labels.n < len(values) else None
    by_seed = None
    if seeds is not None:
        by_seed = as_floats(seeds, "seeds")
        if by_seed.ndim != 3 or by_seed.shape[1:] != values.shape or len(by_seed) < 2:
            raise StatisticsError(f"`seeds` of {name} must be seeds x prompts x models, found shape {by_seed.shape}")
        if not np.isfinite(by_seed).all():
            raise StatisticsError(f"`seeds` of {name} hold missing or infinite scores; leave such prompts out")
    return Subscenario(scenario, name, values, codes, by_seed)


def suite_scores(models: Sequence[str], subscenarios: Iterable[Subscenario]) -> SuiteScores:
    """Check a suite.

    Args:
        models: names, shape (M,), at least 2.
        subscenarios: of `subscenario`.

    Raises:
        StatisticsError: fewer than 2 models, a name twice, scores of another number of models, a
            model without any score, no subscenario.
    """
    names = tuple(models)
    ordered = list(subscenarios)
    place = {name: number for number, name in enumerate(dict.fromkeys(one.scenario for one in ordered))}
    ordered.sort(key=lambda one: place[one.scenario])
    if len(names) < 2:
        raise StatisticsError(f"win rates need at least 2 models, found {len(names)}")
    if len(set(names)) < len(names):
        raise StatisticsError(f"model {next(n for n in names if names.count(n) > 1)!r} stands there twice")
    if not ordered:
        raise StatisticsError("a suite needs at least one scenario, found none")
    twice = [(one.scenario, one.name) for one in ordered]
    if len(set(twice)) < len(twice):
        raise StatisticsError(f"subscenario {next(n for n in twice if twice.count(n) > 1)[1]!r} stands there twice")
    for one in ordered:
        if one.scores.shape[1] != len(names):
            raise StatisticsError(f"{one.name} has scores of {one.scores.shape[1]} models, expected {len(names)}")
    suite = SuiteScores(names, tuple(ordered))
    empty = np.isnan(suite.means).all(axis=0)
    if empty.any():
        raise StatisticsError(f"{names[int(np.argmax(empty))]} has no score at all; leave it out")
    return suite


def _refuse_infinite(values: FloatArray, name: str) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise StatisticsError(
            f"`scores` of {name} hold {int(infinite.sum())} infinite value(s) (first: prompt {row}, model {column});"
            " a prompt that was not scored is NaN"
        )


def _mean_of_known(means: FloatArray) -> FloatArray:
    known = ~np.isnan(means)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, means, 0.0).sum(axis=-2) / known.sum(axis=-2))
