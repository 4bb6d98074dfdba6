"""Coarse-to-fine ranking of a model on a suite: few prompts settle a low rank, more a
high one (Flash-HELM, Perlitz et al. 2024 §6, algorithm 1; statistics.md §6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_seed
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.suites.instances import shared_sizes
from warehouse.stats.suites.score_table import (
    TIES_HALF,
    SuiteScores,
    comparable,
    mean_of_present,
    mean_over_scenarios,
    ranks_of,
    win_rates,
)

#: Prompts of each scenario that are tried before all.
SIZES = (20, 50, 200, 1000)
#: TierRank of these and of all, for about 40 models, and as shares of any number of
#: them.
TIERS, TIER_SHARES = (20, 10, 5, 2, 1), (0.5, 0.25, 0.125, 0.05)
_ABOUT_40 = (36, 44)
LEVEL = 0.95
#: Share of a step's prompts that may be without a score.
MOST_MISSING = 0.05
_BLOCK = 20


@dataclass(frozen=True)
class FlashStep(NamedFigures):
    """A model after so many prompts."""

    size: int | None  #: prompts of each scenario; None: all.
    n_prompts: int  #: answered so far, over all scenarios.
    rank: int  #: of the model among the stored ones and itself on these prompts.
    resolution: int  #: Res(S): how far ranks of stored models then lie from the full ones (95 %); 0 at all.
    tier: int  #: TierRank(S): the best rank for which this size is enough.
    #: rank − resolution is at least the tier, or these are all prompts.
    is_enough: bool

    @property
    def best_rank(self) -> int:
        """rank − resolution, at least 1."""
        return max(1, self.rank - self.resolution)

    def __str__(self) -> str:
        return f"rank {self.rank} ± {self.resolution} after {self.n_prompts} prompts"


@dataclass(frozen=True, eq=False)
class FlashCheck(NamedFigures):
    """Each stored model ranked as if it were new."""

    sizes: tuple[int | None, ...]  #: prompts of a scenario at each step; None: all.
    n_prompts: tuple[int, ...]  #: of all scenarios at each step.
    resolutions: tuple[int, ...]  #: Res(S) over all stored models; 0 at all.
    tiers: tuple[int, ...]  #: TierRank of each step.
    mean_error: FloatArray  #: |rank where it stopped − full rank|, mean over orders of the prompts, shape (M,).
    largest_error: FloatArray  #: the largest, shape (M,).
    #: share of orders in which the full rank lies within rank ± Res(S), shape (M,);
    #: those that use all prompts cannot miss.
    within: FloatArray
    within_early: FloatArray  #: the same of the orders that stop before all prompts, NaN where none does, shape (M,).
    saving: FloatArray  #: all prompts over those used, mean over orders, shape (M,).
    stopped: FloatArray  #: share of orders that stopped at each step, shape (M, steps).
    n_orders: int  #: random orders of the prompts.

    def __str__(self) -> str:
        return (
            f"{len(self.mean_error)} models: mean rank error "
            f"{float(self.mean_error.mean()):.3g}, mean saving "
            f"{float(self.saving.mean()):.3g} x"
        )


def flash_sizes(suite: SuiteScores, sizes: Sequence[int] = SIZES) -> list[int]:
    """The sizes below all: those that leave some scenario's prompts out, ascending
    (StatisticsError: sizes below 1)."""
    if min(sizes, default=1) < 1:
        raise StatisticsError(f"sizes must be at least 1, found {min(sizes)}")
    return sorted({size for size in sizes if size < suite.sizes.max()})


def tier_ranks(
    n_models: int, sizes: Sequence[int], tiers: Sequence[int] | None = None
) -> list[int]:
    """TierRank of the sizes below all, and 1 for all.

    Args:
        n_models: M, the new one counted.
        sizes: of `flash_sizes`.
        tiers: given ones, for the sizes; None: 20, 10, 5, 2 for 20, 50, 200, 1000
            prompts and about 40 models, else ⌈M·(.5, .25, .125, .05)⌉. Other sizes have
            the tier of the largest of these that they hold, those below 20 that of 20.

    Raises:
        StatisticsError: another number of tiers than of sizes, tiers below 1 or rising.
    """
    if tiers is not None:
        if (
            len(tiers) != len(sizes)
            or min(tiers, default=1) < 1
            or list(tiers) != sorted(tiers, reverse=True)
        ):
            raise StatisticsError(
                f"`tiers` must fall, one for each of {len(sizes)} sizes, found "
                f"{list(tiers)}"
            )
        return [*tiers, 1]
    about = _ABOUT_40[0] <= n_models <= _ABOUT_40[1]
    fixed = (
        TIERS[:-1] if about else [math.ceil(n_models * share) for share in TIER_SHARES]
    )
    return [
        *(
            fixed[max(0, int(np.searchsorted(SIZES, size, side="right")) - 1)]
            for size in sizes
        ),
        1,
    ]


def resolution(scores: ArrayLike, full: ArrayLike, level: float = LEVEL) -> int:
    """Res(S): the quantile ('higher') of |rank_S − rank_full| over stored models and
    subsets.

    Args:
        scores: scenario scores on each subset, shape (B, C, M).
        full: on all prompts, shape (C, M).
        level: of the quantile.
    """
    at = _ranks(comparable(np.asarray(scores, dtype=np.float64)))
    whole = _ranks(comparable(np.asarray(full, dtype=np.float64)))
    return _quantile(np.abs(at - whole), level)


def flash_path(
    suite: SuiteScores,
    model: int,
    orders: Sequence[NDArray[np.intp]],
    *,
    sizes: Sequence[int] = SIZES,
    tiers: Sequence[int] | None = None,
    n_resamples: int = 200,
    seed: int = 0,
) -> list[FlashStep]:
    """The steps of one model, as far as its scores go.

    A step is there if the model has scores of 95 % or more of the prompts that it asks
    of each subscenario.

    Args:
        suite: stored models, and the new one with the scores that it has so far.
        model: its number.
        orders: rows of each subscenario in the order in which they are asked.
        sizes: prompts of a scenario at each step before all.
        tiers: see `tier_ranks`.
        n_resamples: subsets without replacement behind Res(S).
        seed: of them.

    Raises:
        StatisticsError: fewer than 2 stored models, numbers out of range.
    """
    stored = np.delete(np.arange(len(suite.models)), model)
    if len(stored) < 2:
        raise StatisticsError(
            f"a rank needs at least 2 stored models, found {len(stored)}"
        )
    steps = flash_sizes(suite, sizes)
    ranks = tier_ranks(len(suite.models), steps, tiers)
    resolutions = [0] * (len(steps) + 1)
    if steps:
        resolutions = [
            *resolutions_of(
                suite.part(stored), steps, n_resamples=n_resamples, seed=seed
            ),
            0,
        ]
    path = []
    for index, size in enumerate([*steps, None]):
        counts = shared_sizes(suite, size)
        cut_rows = [order[:count] for order, count in zip(orders, counts, strict=True)]
        cut = [
            sub.scores[rows]
            for sub, rows in zip(suite.subscenarios, cut_rows, strict=True)
        ]
        if any(np.isnan(part[:, model]).mean() > MOST_MISSING for part in cut):
            break
        means = np.array([mean_of_present(part) for part in cut])
        rank = _ranks(comparable(suite.scores(means)))[model]
        is_enough = size is None or rank - resolutions[index] >= ranks[index]
        path.append(
            FlashStep(
                size,
                sum(counts),
                int(rank),
                resolutions[index],
                ranks[index],
                bool(is_enough),
            )
        )
    return path


def resolutions_of(
    suite: SuiteScores, sizes: Sequence[int], *, n_resamples: int = 200, seed: int = 0
) -> list[int]:
    """Res(S) of each size, over random subsets without replacement.

    Args:
        suite: stored models.
        sizes: prompts of a scenario.
        n_resamples: subsets.
        seed: of them.
    """
    full = _ranks(comparable(suite.scores(suite.means)))
    away: list[list[FloatArray]] = [[] for _ in sizes]
    for block in _nested(suite, sizes, n_resamples, as_seed(seed)):
        for of_size, scores in zip(away, block, strict=True):
            of_size.append(np.abs(_ranks(scores) - full))
    return [_quantile(np.concatenate(of_size), LEVEL) for of_size in away]


def flash_check(
    suite: SuiteScores,
    *,
    sizes: Sequence[int] = SIZES,
    tiers: Sequence[int] | None = None,
    n_resamples: int = 200,
    seed: int = 0,
) -> FlashCheck:
    """Leave one model out, rank it as if it were new, and compare with its full rank.

    Res(S) is that of the other models, over the same random orders of the prompts; each
    order is a path of its own, whose steps hold the ones before.

    Args:
        suite: stored models, at least 3.
        sizes, tiers: see `flash_path`.
        n_resamples: random orders.
        seed: of them.

    Raises:
        StatisticsError: fewer than 3 models, numbers out of range.
    """
    m = len(suite.models)
    if m < 3:
        raise StatisticsError(f"leaving one model out needs at least 3, found {m}")
    if n_resamples < 1:
        raise StatisticsError(f"`n_resamples` must be at least 1, found {n_resamples}")
    steps = flash_sizes(suite, sizes)
    tier = tier_ranks(m, steps, tiers)
    own = comparable(suite.scores(suite.means))
    full, without = _ranks(own), _ranks_without_each(own[None])[0]
    at = np.empty((len(steps), n_resamples, m))
    away = np.empty((len(steps), n_resamples, m, m))
    done = 0
    for block in _nested(suite, steps, n_resamples, as_seed(seed)):
        last = done
        for i, scores in enumerate(block):
            last = done + len(scores)
            at[i, done:last] = _ranks(scores)
            away[i, done:last] = np.abs(_ranks_without_each(scores) - without)
        done = last
    pooled = [_quantile(np.abs(ranks - full), LEVEL) for ranks in at]
    prompts = [sum(shared_sizes(suite, size)) for size in [*steps, None]]
    stopped, error, inside = _stops(at, away, full, tier)
    saving = prompts[-1] / np.array(prompts, dtype=np.float64)[stopped]
    early = stopped < len(steps)
    n_early = early.sum(axis=0)
    within_early = (inside * early).sum(axis=0) / np.maximum(n_early, 1)
    shares = [(stopped == i).mean(axis=0) for i in range(len(prompts))]
    return FlashCheck(
        sizes=(*steps, None),
        n_prompts=tuple(prompts),
        resolutions=(*pooled, 0),
        tiers=tuple(tier),
        mean_error=error.mean(axis=0),
        largest_error=error.max(axis=0),
        within=inside.mean(axis=0),
        within_early=np.where(n_early > 0, within_early, np.nan),
        saving=saving.mean(axis=0),
        stopped=np.stack(shares, axis=1),
        n_orders=n_resamples,
    )


def _stops(
    at: FloatArray, away: FloatArray, full: FloatArray, tier: Sequence[int]
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """At which size each model stops in each order, how far its rank is then off, and
    whether that is within the resolution, shape (B, M) each.

    Args:
        at: rank of each model at each size, shape (steps, B, M).
        away: how far the ranks of the others lie off without a model, shape (steps, B,
            M, M).
        full: rank of each model on the whole suite, shape (M,).
        tier: the best rank at which a size is enough.
    """
    n_steps, n_orders, m = at.shape
    error, inside = np.zeros((n_orders, m)), np.ones((n_orders, m))
    stopped = np.full((n_orders, m), n_steps)
    for gone in range(m):
        for i in reversed(range(n_steps)):
            resolution = _quantile(away[i, :, gone, :], LEVEL)
            own = at[i, :, gone]
            stops = own - resolution >= tier[i]
            stopped[stops, gone] = i
            off = np.abs(own - full[gone])
            error[:, gone] = np.where(stops, off, error[:, gone])
            inside[:, gone] = np.where(stops, off <= resolution, inside[:, gone])
    return stopped, error, inside


def _nested(
    suite: SuiteScores, sizes: Sequence[int], n_resamples: int, seed: int
) -> Iterator[list[FloatArray]]:
    """Blocks of random orders: for each size the comparable scenario scores, shape (b,
    C, M)."""
    rngs = [
        np.random.default_rng([seed, 20, index])
        for index in range(len(suite.subscenarios))
    ]
    counts = [shared_sizes(suite, size) for size in sizes]
    filled = [
        (np.nan_to_num(sub.scores), (~np.isnan(sub.scores)).astype(np.float64))
        for sub in suite.subscenarios
    ]
    for start in range(0, n_resamples, _BLOCK):
        b = min(_BLOCK, n_resamples - start)
        means = np.empty((len(sizes), b, len(filled), len(suite.models)))
        for index, (values, present) in enumerate(filled):
            order = rngs[index].random((b, len(values))).argsort(axis=1).argsort(axis=1)
            for i, count in enumerate(counts):
                chosen = (order < count[index]).astype(np.float64)
                with np.errstate(invalid="ignore"):
                    means[i, :, index] = (chosen @ values) / (chosen @ present)
        yield [comparable(suite.scores(table)) for table in means]


def _ranks(scores: FloatArray) -> FloatArray:
    """Rank of each model by mean win rate, ties ½, shape (…, M)."""
    return ranks_of(mean_over_scenarios(win_rates(scores, TIES_HALF)))


def _ranks_without_each(scores: FloatArray) -> FloatArray:
    """Ranks of the others in the pool without each model, NaN for itself, shape (b, M,
    M)."""
    scored = ~np.isnan(scores)
    m, n = scores.shape[-1], scored.sum(axis=-1)
    wins = np.nan_to_num(win_rates(scores, TIES_HALF)) * np.maximum(n[..., None] - 1, 0)
    ranks = np.empty((len(scores), m, m))
    for gone in range(m):
        other = scores[..., gone : gone + 1]
        lost = wins - ((scores > other) + TIES_HALF * (scores == other))
        left = n - scored[..., gone] - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.where(
                scored & (left > 0)[..., None], lost / left[..., None], np.nan
            )
        rates[..., gone] = np.nan
        ranks[:, gone] = ranks_of(mean_over_scenarios(rates))
    return ranks


def _quantile(values: FloatArray, level: float) -> int:
    defined = values[~np.isnan(values)]
    if not defined.size:
        raise StatisticsError("no stored model has a rank on the subsets")
    return int(np.quantile(defined, level, method="higher"))
