"""Instances of a decision: the suite with other scenarios, subscenarios, prompts or
few-shot seeds, drawn with replacement (Perlitz et al. 2024 §4; statistics.md §6).

Everything is a product of counts with scores, in blocks of a fixed number of instances,
each subscenario with random numbers of its own: the same seed gives the same instances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.suites.score_table import Subscenario, SuiteScores, comparable

GRANULARITIES = ("scenarios", "subscenarios", "prompts", "seeds")
#: Instances of a block: fixed, so that it cannot change the answer.
BLOCK = 100


@dataclass(frozen=True, eq=False)
class Instances:
    """A block of instances."""

    scores: FloatArray  #: comparable scenario scores, shape (b, C, M); (C, M) where they are those of the suite.
    #: how often each scenario was drawn, shape (b, C); None: once.
    weights: FloatArray | None


def draw_instances(
    suite: SuiteScores, granularity: str, size: int | None, n_resamples: int, seed: int
) -> Iterator[Instances]:
    """Instances in blocks.

    Args:
        suite: the scores.
        granularity: what is drawn anew: ``scenarios``; ``subscenarios`` within each
            scenario; ``prompts`` within each subscenario; few-shot ``seeds`` of each
            subscenario.
        size: scenarios; subscenarios of each scenario; prompts of each scenario, shared
            equally by its subscenarios; seeds: all where there are fewer. None: as many
            as there are.
        n_resamples: instances in all.
        seed: of the random numbers.
    """
    which = GRANULARITIES.index(granularity)
    rngs = [
        np.random.default_rng([seed, which, 0 if size is None else size, index])
        for index in range(len(suite.subscenarios))
    ]
    blocks = [min(BLOCK, n_resamples - start) for start in range(0, n_resamples, BLOCK)]
    if granularity == "scenarios":
        own = comparable(suite.scores(suite.means))
        n = len(suite.scenarios)
        for b in blocks:
            yield Instances(
                own, draw_counts(rngs[0], b, n, n if size is None else size)
            )
    elif granularity == "subscenarios":
        for b in blocks:
            yield Instances(comparable(_scenario_means(suite, rngs, b, size)), None)
    elif granularity == "prompts":
        parts = [_Units.of(sub) for sub in suite.subscenarios]
        shares = shared_sizes(suite, size)
        for b in blocks:
            means = [
                part.resampled(rng, b, s)
                for part, rng, s in zip(parts, rngs, shares, strict=True)
            ]
            yield Instances(comparable(suite.scores(np.stack(means, axis=1))), None)
    else:
        for b in blocks:
            means = [
                _seed_means(sub, rng, b, size)
                for sub, rng in zip(suite.subscenarios, rngs, strict=True)
            ]
            yield Instances(comparable(suite.scores(np.stack(means, axis=1))), None)


def draw_counts(rng: np.random.Generator, b: int, n: int, size: int) -> FloatArray:
    """How often each of ``n`` things is drawn in ``size`` draws with replacement, shape
    (b, n)."""
    drawn = rng.integers(0, n, (b, size)) + n * np.arange(b)[:, None]
    return np.bincount(drawn.ravel(), minlength=b * n).reshape(b, n).astype(np.float64)


def draw_subsets(rng: np.random.Generator, b: int, n: int, size: int) -> FloatArray:
    """The same without replacement: 1 for each of ``size`` different ones."""
    drawn = np.zeros((b, n))
    np.put_along_axis(drawn, rng.random((b, n)).argsort(axis=1)[:, :size], 1.0, axis=1)
    return drawn


def shared_sizes(suite: SuiteScores, size: int | None) -> list[int]:
    """Prompts of each subscenario where a scenario has ``size``: equal shares, the
    first ones one more; all, where there are fewer, the others then taking what is
    left."""
    if size is None:
        return [sub.n for sub in suite.subscenarios]
    sizes = [0] * len(suite.subscenarios)
    for c in range(len(suite.scenarios)):
        members = np.flatnonzero(suite.scenario_of == c).tolist()
        left = min(size, int(suite.sizes[c]))
        # the smallest first: what they lack goes to the others
        for index, member in enumerate(
            sorted(members, key=lambda i: (suite.subscenarios[i].n, i))
        ):
            share = -(-left // (len(members) - index))
            sizes[member] = max(1, min(share, suite.subscenarios[member].n))
            left = max(0, left - sizes[member])
    return sizes


@dataclass(frozen=True, eq=False)
class _Units:
    """Sums of scores over what is drawn as a whole: a prompt, or a cluster of them."""

    sums: FloatArray  #: shape (U, M).
    counts: FloatArray  #: scores behind each, shape (U, M) or, where all models have all, (U, 1).
    n: int  #: prompts.
    lacking: NDArray[np.bool_]  #: models without the subscenario, shape (M,).

    @classmethod
    def of(cls, subscenario: Subscenario) -> _Units:
        scored = ~np.isnan(subscenario.scores)
        filled, counts = (
            np.where(scored, subscenario.scores, 0.0),
            scored.astype(np.float64),
        )
        lacking = np.asarray(~scored.any(axis=0))
        if scored[:, ~lacking].all():
            counts = np.ones((subscenario.n, 1))
        if subscenario.clusters is not None:
            filled, counts = (
                _summed(x, subscenario.clusters) for x in (filled, counts)
            )
        return cls(filled, counts, subscenario.n, lacking)

    def resampled(self, rng: np.random.Generator, b: int, size: int) -> FloatArray:
        """Means of instances, NaN where a model has no score of what was drawn, shape
        (b, M)."""
        units = len(self.sums)
        if size == self.n:
            drawn = units
        else:
            drawn = max(1, round(size * units / self.n))
        weights = draw_counts(rng, b, units, drawn)
        with np.errstate(invalid="ignore"):
            means = np.asarray((weights @ self.sums) / (weights @ self.counts))
        means[:, self.lacking] = np.nan
        return means


def _summed(values: FloatArray, codes: NDArray[np.intp]) -> FloatArray:
    sums = np.zeros((int(codes.max()) + 1, values.shape[1]))
    np.add.at(sums, codes, values)
    return sums


def _scenario_means(
    suite: SuiteScores, rngs: list[np.random.Generator], b: int, size: int | None
) -> FloatArray:
    """Scenario scores with subscenarios drawn anew within each, shape (b, C, M)."""
    by_scenario = []
    for c in range(len(suite.scenarios)):
        members = np.flatnonzero(suite.scenario_of == c)
        own, n = suite.means[members], len(members)
        if size is None:
            drawn = n
        else:
            drawn = min(size, n)
        weights = draw_counts(rngs[members[0]], b, n, drawn) / drawn
        means = weights @ np.where(np.isnan(own), 0.0, own)
        means[:, np.isnan(own).any(axis=0)] = np.nan
        by_scenario.append(means)
    return np.stack(by_scenario, axis=1)


def _seed_means(
    subscenario: Subscenario, rng: np.random.Generator, b: int, size: int | None
) -> FloatArray:
    """Subscenario scores with few-shot seeds drawn anew, shape (b, M)."""
    if subscenario.seeds is None:
        return np.broadcast_to(subscenario.means, (b, len(subscenario.means)))
    k = len(subscenario.seeds)
    if size is None:
        drawn = k
    else:
        drawn = min(size, k)
    weights = draw_counts(rng, b, k, drawn) / drawn
    return np.asarray(weights @ subscenario.seeds.mean(axis=1))
