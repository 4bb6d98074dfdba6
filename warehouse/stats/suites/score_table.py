"""Scores of all models on the prompts of a suite, checked once, and mean win rates
(Perlitz et al. 2024; statistics.md §6).

A benchmark is a tree, suite → scenario → subscenario → prompt (Perlitz et al. 2024 §3).

Figures are compared at 12 significant digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_clusters, as_floats


@dataclass(frozen=True, eq=False)
class Subscenario:
    """One data set of a suite."""

    scenario: str  #: name of the scenario that it belongs to.
    name: str  #: its own.
    #: higher is better, NaN where a model has no score, shape (n, M); a model without
    #: any lacks the subscenario. Means over the few-shot seeds where there are several.
    scores: FloatArray
    #: number of each prompt's cluster, 0 to G−1, shape (n,); None: every prompt by
    #: itself.
    clusters: NDArray[np.intp] | None = None
    #: scores by few-shot seed, shape (K, n, M), none missing; None: one seed.
    seeds: FloatArray | None = None

    @property
    def n(self) -> int:
        """Prompts."""
        return len(self.scores)

    @cached_property
    def means(self) -> FloatArray:
        """Mean of each model over the prompts that it has scores of; NaN without any,
        shape (M,)."""
        return mean_of_present(self.scores)


@dataclass(frozen=True, eq=False)
class SuiteScores:
    """Models on a suite."""

    models: tuple[str, ...]  #: their names, shape (M,).
    #: at least one; those of one scenario stand together.
    subscenarios: tuple[Subscenario, ...]

    @cached_property
    def scenarios(self) -> tuple[str, ...]:
        """Names, in the order of their first subscenario."""
        return tuple(dict.fromkeys(part.scenario for part in self.subscenarios))

    @cached_property
    def scenario_of(self) -> NDArray[np.intp]:
        """Number of each subscenario's scenario, shape (L,)."""
        index_of = {name: number for number, name in enumerate(self.scenarios)}
        return np.array(
            [index_of[part.scenario] for part in self.subscenarios], dtype=np.intp
        )

    @cached_property
    def means(self) -> FloatArray:
        """Score of each model on each subscenario, NaN where it lacks it, shape (L, M)."""
        return np.array([part.means for part in self.subscenarios])

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Prompts of each scenario, shape (C,)."""
        return np.bincount(
            self.scenario_of, weights=[part.n for part in self.subscenarios]
        ).astype(np.intp)

    @property
    def n_prompts(self) -> int:
        """Of all scenarios."""
        return int(self.sizes.sum())

    @cached_property
    def has_score(self) -> NDArray[np.bool_]:
        """Which scenarios each model has: all of their subscenarios, shape (C, M)."""
        has = ~np.isnan(self.means)
        return np.array(
            [has[self.scenario_of == c].all(axis=0) for c in range(len(self.scenarios))]
        )

    @property
    def known(self) -> NDArray[np.bool_]:
        """The former name of :attr:`has_score`."""
        warnings.warn(
            "known of scores of a suite is now has_score",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.has_score

    def scores(self, means: FloatArray, *, partial: bool = False) -> FloatArray:
        """Scenario scores from those of subscenarios: their mean, NaN unless the model
        has all.

        Args:
            means: of the subscenarios, shape (…, L, M).
            partial: the mean over those that the model has instead.

        Returns:
            shape (…, C, M).
        """
        groups = [
            means[..., self.scenario_of == c, :] for c in range(len(self.scenarios))
        ]
        if not partial:
            return np.stack([group.mean(axis=-2) for group in groups], axis=-2)
        return np.stack([mean_of_present(group) for group in groups], axis=-2)

    def standalone(self) -> SuiteScores:
        """Each subscenario a scenario of its own."""
        single = [
            Subscenario(
                f"{part.scenario}/{part.name}",
                part.name,
                part.scores,
                part.clusters,
                part.seeds,
            )
            for part in self.subscenarios
        ]
        return SuiteScores(self.models, tuple(single))

    def part(self, models: Sequence[int] | NDArray[np.intp]) -> SuiteScores:
        """Some models."""
        rows = np.asarray(models, dtype=np.intp)
        cut = [
            Subscenario(
                part.scenario,
                part.name,
                part.scores[:, rows],
                part.clusters,
                None if part.seeds is None else part.seeds[:, :, rows],
            )
            for part in self.subscenarios
        ]
        return SuiteScores(tuple(self.models[i] for i in rows), tuple(cut))


def subscenario(
    scenario: str,
    name: str,
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    seeds: ArrayLike | None = None,
) -> Subscenario:
    """Check the scores of one data set.

    Args:
        scenario: name of the scenario that it belongs to.
        name: its own.
        scores: prompts × models, higher is better, NaN where missing, shape (n, M).
        clusters: of the prompts, labels, shape (n,); None: every prompt by itself.
        seeds: the same by few-shot seed, shape (K, n, M), K at least 2, none missing;
            ``scores`` are then their means.

    Raises:
        StatisticsError: another shape, infinite scores, no prompt.
    """
    values = as_floats(scores, "scores")
    if values.ndim != 2 or not values.size:
        raise StatisticsError(
            f"`scores` of {name} must be prompts x models, found shape {values.shape}"
        )
    _refuse_infinite(values, name)
    codes = None
    if clusters is not None:
        labels = as_clusters(clusters, len(values))
        codes = labels.codes if labels.n < len(values) else None
    by_seed = None
    if seeds is not None:
        by_seed = as_floats(seeds, "seeds")
        if by_seed.ndim != 3 or by_seed.shape[1:] != values.shape or len(by_seed) < 2:
            raise StatisticsError(
                f"`seeds` of {name} must be seeds x prompts x models, found shape "
                f"{by_seed.shape}"
            )
        if not np.isfinite(by_seed).all():
            raise StatisticsError(
                f"`seeds` of {name} hold missing or infinite scores; leave such "
                "prompts out"
            )
    return Subscenario(scenario, name, values, codes, by_seed)


def suite_scores(
    models: Sequence[str], subscenarios: Iterable[Subscenario]
) -> SuiteScores:
    """Check a suite.

    Args:
        models: names, shape (M,), at least 2.
        subscenarios: of `subscenario`.

    Raises:
        StatisticsError: fewer than 2 models, a name twice, scores of another number of
            models, a model without any score, no subscenario.
    """
    names = tuple(models)
    ordered = list(subscenarios)
    scenarios = dict.fromkeys(part.scenario for part in ordered)
    index_of = {name: number for number, name in enumerate(scenarios)}
    ordered.sort(key=lambda part: index_of[part.scenario])
    if len(names) < 2:
        raise StatisticsError(f"win rates need at least 2 models, found {len(names)}")
    if len(set(names)) < len(names):
        raise StatisticsError(
            f"model {next(n for n in names if names.count(n) > 1)!r} stands there twice"
        )
    if not ordered:
        raise StatisticsError("a suite needs at least one scenario, found none")
    twice = [(part.scenario, part.name) for part in ordered]
    if len(set(twice)) < len(twice):
        raise StatisticsError(
            f"subscenario {next(n for n in twice if twice.count(n) > 1)[1]!r} stands "
            "there twice"
        )
    for part in ordered:
        if part.scores.shape[1] != len(names):
            raise StatisticsError(
                f"{part.name} has scores of {part.scores.shape[1]} models, expected "
                f"{len(names)}"
            )
    suite = SuiteScores(names, tuple(ordered))
    empty = np.isnan(suite.means).all(axis=0)
    if empty.any():
        raise StatisticsError(
            f"{names[int(np.argmax(empty))]} has no score at all; leave it out"
        )
    return suite


def _refuse_infinite(values: FloatArray, name: str) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise StatisticsError(
            f"`scores` of {name} hold {int(infinite.sum())} infinite value(s) (first: "
            f"prompt {row}, model {column}); a prompt that was not scored is NaN"
        )


def mean_of_present(values: FloatArray) -> FloatArray:
    """Mean over the rows that have a value, shape (…, M); NaN without any."""
    present = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(
            np.where(present, values, 0.0).sum(axis=-2) / present.sum(axis=-2)
        )


DIGITS = 12
#: What a tie counts: nothing, as published, or half a win.
TIES_PUBLISHED, TIES_HALF = 0.0, 0.5
#: Pools from which e_j is taken: without the best 0 to 4 models.
_POOLS = 5


def comparable(values: FloatArray) -> FloatArray:
    """Values rounded to 12 significant digits, NaN kept: what rounding alone tells
    apart is equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(np.abs(values)))
        shift = np.where(np.isfinite(exponent), DIGITS - 1 - exponent, 0.0)
        scale = 10.0 ** np.clip(shift, -290, 290)
        return np.asarray(np.round(values * scale) / scale + 0.0)


def win_rates(scores: FloatArray, ties: float) -> FloatArray:
    """Share of the other models of a scenario that each model beats.

    Args:
        scores: comparable scenario scores, NaN where a model lacks it, shape (…, C, M).
        ties: what a tie counts, 0 to 1.

    Returns:
        NaN where the model lacks the scenario, or nobody else has it, shape (…, C, M).
    """
    wins, others = np.zeros(scores.shape), np.zeros(scores.shape[:-1])
    for m in range(scores.shape[-1]):
        other = scores[..., m : m + 1]
        beaten = scores > other
        wins += beaten
        if ties:
            tied = scores == other
            tied[..., m] = False
            wins += ties * tied
        others += ~np.isnan(other[..., 0])
    there = ~np.isnan(scores)
    rivals = others[..., None] - there
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(there & (rivals > 0), wins / rivals, np.nan)


def mean_over_scenarios(
    rates: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Mean over the scenarios that a model has, shape (…, M); NaN for a model without
    any.

    Args:
        rates: shape (…, C, M), NaN where lacking.
        weights: how often each scenario counts, shape (B, C); None: once.
    """
    if weights is None:
        return mean_of_present(rates)
    scored = ~np.isnan(rates)
    filled, counted = np.where(scored, rates, 0.0), scored.astype(np.float64)
    if rates.ndim == 2:
        total, count = weights @ filled, weights @ counted
    else:
        total, count = (
            np.einsum("bc,bcm->bm", weights, values) for values in (filled, counted)
        )
    with np.errstate(invalid="ignore"):
        return np.asarray(total / count)


def mean_win_rate(scores: ArrayLike, *, ties: float = TIES_PUBLISHED) -> FloatArray:
    """Mean win rate of each model, shape (M,), in [0, 1].

    Args:
        scores: scenario scores, higher is better, NaN where a model lacks the scenario,
            shape (C, M).
        ties: what a tie counts: 0 as published, 0.5 for half a win.

    Raises:
        StatisticsError: another shape, infinite scores, ties outside [0, 1].

    Examples:
        >>> mean_win_rate([[3, 2, 1], [2, 3, 1], [9, 9, 9]]).tolist()
        [0.5, 0.5, 0.0]
    """
    values = as_floats(scores, "scores")
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < 2:
        raise StatisticsError(
            "`scores` must be scenarios x models with 2 models or more, found shape "
            f"{values.shape}"
        )
    if np.isinf(values).any():
        raise StatisticsError(
            "`scores` hold infinite values; a scenario that a model lacks is NaN"
        )
    if not 0 <= ties <= 1:
        raise StatisticsError(f"`ties` must lie between 0 and 1, found {ties}")
    return mean_over_scenarios(win_rates(comparable(values), ties))


def ranks_of(figures: FloatArray) -> FloatArray:
    """1 + number of strictly greater figures at 12 digits, shape (…, M); NaN for NaN."""
    rounded = comparable(figures)
    greater = np.zeros(rounded.shape)
    for m in range(rounded.shape[-1]):
        greater += rounded[..., m : m + 1] > rounded
    return np.where(np.isnan(rounded), np.nan, greater + 1)


@dataclass(frozen=True, eq=False)
class ModelPool:
    """The models without the best j."""

    first: int  #: number of its best model.
    second: int  #: of the next.
    models: NDArray[np.intp]  #: numbers of all, ascending.


def best_first(
    figures: FloatArray, mean_scores: FloatArray, names: tuple[str, ...]
) -> NDArray[np.intp]:
    """Models by figure (12 digits), then mean score, then name; those without a figure
    last."""
    keys = [
        comparable(np.where(np.isnan(x), -np.inf, x)) for x in (figures, mean_scores)
    ]
    order = sorted(
        range(len(names)), key=lambda i: (-keys[0][i], -keys[1][i], names[i])
    )
    return np.array(order, dtype=np.intp)


def pools(scores: FloatArray, names: tuple[str, ...], ties: float) -> list[ModelPool]:
    """Pools j = 0…min(4, M−2): again and again the best model goes, and win rates are
    taken anew.

    Args:
        scores: comparable scenario scores, shape (C, M).
        names: of the models.
        ties: what a tie counts.
    """
    means = mean_over_scenarios(scores)
    alive = np.arange(len(names), dtype=np.intp)
    nested = []
    for _ in range(min(_POOLS, len(names) - 1)):
        rates = mean_over_scenarios(win_rates(scores[:, alive], ties))
        order = best_first(rates, means[alive], tuple(names[i] for i in alive))
        if np.isnan(rates[order[1]]):
            break
        nested.append(ModelPool(int(alive[order[0]]), int(alive[order[1]]), alive))
        alive = np.delete(alive, order[0])
    return nested
