"""Decision Impact on Reliability: what another draw of scenarios, subscenarios, prompts
or few-shot seeds would change (Perlitz et al. 2024 §2, §4; statistics.md §6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_level, as_seed
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.intervals.closed_form import interval_wilson
from warehouse.stats.suites.instances import (
    GRANULARITIES,
    Instances,
    draw_instances,
    shared_sizes,
)
from warehouse.stats.suites.rank_agreement import kendall_tau_b, weighted_tau
from warehouse.stats.suites.score_table import (
    TIES_HALF,
    TIES_PUBLISHED,
    ModelPool,
    SuiteScores,
    best_first,
    comparable,
    mean_over_scenarios,
    pools,
    ranks_of,
    win_rates,
)

#: Below so many scenarios nothing is said of their choice.
LEAST_SCENARIOS = 5
#: Adjacent models of which the first and the last are compared.
WINDOWS = (2, 3, 5, 10, 20)
#: A variance of shares below this is none.
_ROUNDING = 1e-20
#: Windows whose mean Perlitz et al. 2024 show: those that begin with so many first
#: models.
_FIRST = 5
#: Instances without a ranking above this share leave no figure.
MOST_UNDEFINED = 0.05
#: Prompts of a scenario that are tried.
PROMPT_SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True)
class Dior(NamedFigures):
    """A lower bound over instances, with what the number of instances leaves open."""

    #: the 2.5 % quantile of the meta-metric over instances (of the best model: 1 − the
    #: upper end of Wilson's interval of the error rate); None with the reason of
    #: `Reliability`.
    value: float | None
    #: low, high: Monte Carlo interval: order statistics (Wilson's other end), at the
    #: same level.
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.value is None:
            return "no figure"
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


_NONE = Dior(None, None, None)


@dataclass(frozen=True)
class Switch(NamedFigures):
    """How often the last of a few adjacent models beats the first; all NaN where there
    are fewer models."""

    window: int  #: models, both counted.
    probability: float  #: share of instances, ties ½, mean over windows.
    #: low, high: Monte Carlo interval of it: Wilson's at the number of instances that
    #: would give its variance, whose unit is the instance, as windows share them; never
    #: fewer than there are.
    low: float
    high: float
    first: float  #: mean over the windows that begin with the first five models (Perlitz et al. 2024 fig. 3).
    most: float  #: the largest of any window.


@dataclass(frozen=True, eq=False)
class Reliability(NamedFigures):
    """What one decision leaves reliable at one size."""

    granularity: str  #: what is drawn anew: ``scenarios``, ``subscenarios``, ``prompts`` or ``seeds``.
    size: int | None  #: drawn (see `draw_instances`); None: as many as there are.
    n_prompts: float  #: prompts that a model then answers, on average.
    n_resamples: int  #: instances.
    ties: float  #: what a tie counts in instances and suite alike.
    ranking: Dior = _NONE  #: DIoR of the full ranking, Kendall's τ-b.
    weighted: Dior = _NONE  #: the same weighted towards the top models.
    quality: Dior = _NONE  #: DIoR of the models' quality: mean over models of 1 − |difference of mean win rates|.
    #: of each model, shape (M,); NaN where not defined.
    quality_by_model: FloatArray | None = None
    best: Dior = _NONE  #: DIoR of the best model: 1 − the upper Wilson end of the mean error rate.
    best_error: float | None = None  #: mean of e_j.
    #: e_j, share of instances in which the second of the pool without the best j beats
    #: its first, ties ½; j = 0 … min(4, M − 2).
    best_errors: tuple[float, ...] = ()
    #: share of instances in which every pair of models stands as in the suite.
    same_order: float | None = None
    #: 95 % quantile of |rank − rank in the suite| over models and instances.
    rank_resolution: int | None = None
    #: the same of each model, shape (M,).
    rank_resolution_by_model: FloatArray | None = None
    #: mean rank of each model over instances, and the two ends of the middle share
    #: ``level`` of its ranks (quantiles, 'lower' and 'higher'); NaN where not defined,
    #: shape (3, M).
    rank_by_model: FloatArray | None = None
    #: for windows of 2, 3, 5, 10 and 20 adjacent models, how often the last beats the
    #: first.
    switches: tuple[Switch, ...] = ()
    #: instances with a constant ranking or fewer than 2 models in common.
    n_undefined: int = 0
    reason: str = ""  #: why there are no figures, or not all of them.

    def __str__(self) -> str:
        if self.size is None:
            size = "all"
        else:
            size = str(self.size)
        if self.reason and self.ranking.value is None:
            return f"{self.granularity}, {size}: {self.reason}"
        return (
            f"{self.granularity}, {size}: ranking {self.ranking}, quality "
            f"{self.quality}, best {self.best}"
        )


def reliability(
    suite: SuiteScores,
    granularity: str,
    size: int | None = None,
    *,
    ties: float | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Reliability:
    """DIoR of the three decisions at one granularity and size.

    Args:
        suite: the scores.
        granularity: ``scenarios``, ``subscenarios``, ``prompts`` or ``seeds``.
        size: see `draw_instances`; None: all.
        ties: what a tie counts; None: 0 as published at all, ½ at a smaller size.
        n_resamples: instances, at least 1.
        seed: of them.
        level: of the bounds and of the Monte Carlo intervals.

    Returns:
        without figures, with the reason: below 5 scenarios for ``scenarios``, where no
        scenario has two subscenarios for ``subscenarios``, no data set two prompts for
        ``prompts``, without few-shot seeds for ``seeds``.

    Raises:
        StatisticsError: another granularity, a number out of range.
    """
    _check(granularity, size, n_resamples, ties)
    tie = TIES_HALF
    if ties is not None:
        tie = ties
    elif size is None:
        tie = TIES_PUBLISHED
    n_prompts = prompts_of(suite, granularity, size)
    empty = Reliability(granularity, size, n_prompts, n_resamples, tie)
    reason = _why_none(suite, granularity)
    if reason:
        return replace(empty, reason=reason)
    own = comparable(suite.scores(suite.means))
    chosen = pools(own, suite.models, tie)
    blocks = draw_instances(suite, granularity, size, n_resamples, as_seed(seed))
    measured = [_measure(block, tie, chosen) for block in blocks]
    rates = np.concatenate([figures for figures, _ in measured])
    errors = np.concatenate([wrong for _, wrong in measured])
    return summarise(empty, suite, own, rates, errors, as_level(level))


def prompts_of(suite: SuiteScores, granularity: str, size: int | None) -> float:
    """Prompts that a model answers at a size, on average."""
    if size is None:
        return float(suite.n_prompts)
    if granularity == "scenarios":
        return float(suite.sizes.mean() * size)
    if granularity == "prompts":
        return float(sum(shared_sizes(suite, size)))
    of = suite.scenario_of
    sizes = np.array([sub.n for sub in suite.subscenarios], dtype=np.float64)
    if granularity == "seeds":
        shares = []
        for sub in suite.subscenarios:
            n_seeds = 1
            if sub.seeds is not None:
                n_seeds = len(sub.seeds)
            shares.append(min(size, n_seeds) / n_seeds)
        return float(sizes @ np.array(shares))
    total = 0.0
    for scenario in range(len(suite.scenarios)):
        own = sizes[of == scenario]
        total += own.mean() * min(size, len(own))
    return float(total)


def sizes_of(suite: SuiteScores, granularity: str) -> list[int]:
    """Sizes below all that are worth a look."""
    if granularity == "scenarios":
        if len(suite.scenarios) >= LEAST_SCENARIOS:
            return list(range(1, len(suite.scenarios)))
        return []
    if granularity == "subscenarios":
        return list(range(1, int(np.bincount(suite.scenario_of).max())))
    if granularity == "seeds":
        return list(
            range(
                1,
                max(
                    (
                        len(sub.seeds)
                        for sub in suite.subscenarios
                        if sub.seeds is not None
                    ),
                    default=1,
                ),
            )
        )
    return [size for size in PROMPT_SIZES if size < suite.sizes.max()]


def summarise(
    empty: Reliability,
    suite: SuiteScores,
    own: FloatArray,
    rates: FloatArray,
    errors: FloatArray,
    level: float,
) -> Reliability:
    """The figures of instances.

    Args:
        empty: which decision.
        suite: the scores.
        own: comparable scenario scores of the suite, shape (C, M).
        rates: mean win rates of the instances, shape (B, M).
        errors: whether the second of each pool beats its first (½ for a tie), shape (B,
            J).
        level: of the bounds.
    """
    reference = mean_over_scenarios(win_rates(own, empty.ties))
    tau = kendall_tau_b(reference, rates)
    undefined = int(np.isnan(tau).sum())
    gaps = np.abs(rates - reference)
    both = ~np.isnan(gaps)
    with np.errstate(invalid="ignore"):
        quality = 1 - np.where(both, gaps, 0.0).sum(axis=1) / both.sum(axis=1)
    ranks, full = ranks_of(rates), ranks_of(reference)
    away = np.abs(ranks - full)
    e = _error_rates(errors)
    best, best_error = _NONE, None
    if e.size and not np.isnan(e.mean()):
        best_error = float(e.mean())
        best = _wilson(best_error, len(errors), level)
    notes = []
    if undefined > MOST_UNDEFINED * len(tau):
        notes.append(
            f"{undefined} of {len(tau)} instances have no ranking: win rates are all "
            "equal, or of fewer than 2 models"
        )
    if best_error is None:
        notes.append("the first two models of a pool do not both have what was drawn")
    return replace(
        empty,
        ranking=quantile_bound(tau, level),
        weighted=quantile_bound(weighted_tau(reference, rates), level),
        quality=quantile_bound(quality, level),
        quality_by_model=np.array(
            [_or_nan(quantile_bound(1 - column, level).value) for column in gaps.T]
        ),
        best=best,
        best_error=best_error,
        best_errors=tuple(e.tolist()),
        same_order=float(np.mean(_same_order(reference, rates))),
        rank_resolution=_highest(away, level),
        rank_resolution_by_model=np.array(
            [_or_nan(_highest(column, level)) for column in away.T]
        ),
        rank_by_model=_ranks_by_model(ranks, level),
        switches=_switches(suite, own, reference, rates, level),
        n_undefined=undefined,
        reason="; ".join(notes),
    )


def quantile_bound(values: FloatArray, level: float = 0.95) -> Dior:
    """The lower quantile (linear) at (1 − level)/2 of the values that are defined; None
    if more than 5 % are not. Its Monte Carlo interval are the order statistics that
    hold it with the level."""
    ordered = np.sort(values[~np.isnan(values)])
    if not len(ordered) or len(values) - len(ordered) > MOST_UNDEFINED * len(values):
        return _NONE
    alpha = (1 - level) / 2
    low, high = _bounding(len(ordered), alpha)
    return Dior(
        float(np.quantile(ordered, alpha)),
        float(ordered[max(low - 1, 0)]),
        float(ordered[min(high, len(ordered) - 1)]),
    )


@cache
def _bounding(n: int, alpha: float) -> tuple[int, int]:
    """Which order statistics hold the quantile; of each column of a thousand the same."""
    low, high = stats.binom.ppf([alpha, 1 - alpha], n, alpha)
    return int(low), int(high)


def _measure(
    block: Instances, ties: float, chosen: Sequence[ModelPool]
) -> tuple[FloatArray, FloatArray]:
    """Mean win rates of a block's instances (b, M), and the errors of each pool (b, J)."""
    rates = mean_over_scenarios(win_rates(block.scores, ties), block.weights)
    errors = [np.empty((len(rates), 0))]
    for pool in chosen:
        sides = np.array([pool.first, pool.second], dtype=np.intp)
        among = np.searchsorted(pool.models, sides)
        scores = block.scores[..., pool.models]
        two = _two_rates(scores, among, ties)
        pair = comparable(mean_over_scenarios(two, block.weights))
        gap = pair[:, 1] - pair[:, 0]
        errors.append(
            np.where(np.isnan(gap), np.nan, (gap > 0) + 0.5 * (gap == 0))[:, None]
        )
    return rates, np.concatenate(errors, axis=1)


def _two_rates(scores: FloatArray, two: NDArray[np.intp], ties: float) -> FloatArray:
    """Win rates of two models against their pool, shape (…, C, 2)."""
    scored = ~np.isnan(scores)
    others = scored.sum(axis=-1) - 1.0
    rates = []
    for m in two.tolist():
        own = scores[..., m : m + 1]
        n_ties = (own == scores).sum(axis=-1) - 1.0
        wins = (own > scores).sum(axis=-1) + ties * n_ties
        has_rate = scored[..., m] & (others > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            rates.append(np.where(has_rate, wins / others, np.nan))
    return np.stack(rates, axis=-1)


def _error_rates(errors: FloatArray) -> FloatArray:
    """e_j over the instances in which both models have what was drawn; NaN if more than
    5 % are not."""
    defined = ~np.isnan(errors)
    enough = defined.sum(axis=0) >= max(1.0, (1 - MOST_UNDEFINED) * len(errors))
    sums = np.where(defined, errors, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(enough, sums / defined.sum(axis=0), np.nan)


def _wilson(error: float, n: int, level: float) -> Dior:
    interval = interval_wilson(error * n, n, level=level)
    return Dior(1 - interval.high, 1 - interval.high, 1 - interval.low)


def _highest(values: FloatArray, level: float) -> int | None:
    defined = values[~np.isnan(values)]
    if defined.size:
        return int(np.quantile(defined, level, method="higher"))
    return None


def _same_order(reference: FloatArray, rates: FloatArray) -> FloatArray:
    """Whether every pair that the suite does not tie stands the same way round, shape
    (B,)."""
    there = ~np.isnan(reference)
    x, y = comparable(reference)[there], comparable(rates)[:, there]
    order = np.argsort(-x, kind="stable")
    x, y = x[order], y[:, order]
    # groups of tied models: the lowest of each must lie above the highest of all that
    # follow
    best_after = np.maximum.accumulate(y[:, ::-1], axis=1)[:, ::-1]
    worst_before = np.minimum.accumulate(y, axis=1)
    steps = np.flatnonzero(x[:-1] > x[1:])
    return np.asarray((worst_before[:, steps] > best_after[:, steps + 1]).all(axis=1))


def _ranks_by_model(ranks: FloatArray, level: float) -> FloatArray:
    """Mean rank and the ends of the middle share of ranks, NaN for a model that no
    instance ranks, shape (3, M)."""
    alpha = (1 - level) / 2
    found = np.full((3, ranks.shape[1]), np.nan)
    for model, column in enumerate(ranks.T):
        own = column[~np.isnan(column)]
        if own.size:
            found[0, model] = own.mean()
            found[1, model] = np.quantile(own, alpha, method="lower")
            found[2, model] = np.quantile(own, 1 - alpha, method="higher")
    return found


def _switches(
    suite: SuiteScores,
    own: FloatArray,
    reference: FloatArray,
    rates: FloatArray,
    level: float,
) -> tuple[Switch, ...]:
    order = best_first(reference, mean_over_scenarios(own), suite.models)
    order = order[~np.isnan(reference[order])]
    y = comparable(rates)[:, order]
    switches = []
    for window in WINDOWS:
        if len(order) < window:
            switches.append(Switch(window, *[math.nan] * 5))
            continue
        first, last = y[:, : len(order) - window + 1], y[:, window - 1 :]
        scored = ~np.isnan(first - last)
        wrong = np.where(scored, (last > first) + 0.5 * (last == first), np.nan)
        wrong = wrong[scored.any(axis=1)][:, scored.any(axis=0)]
        switches.append(_switch(window, wrong, level))
    return tuple(switches)


def _switch(window: int, wrong: FloatArray, level: float) -> Switch:
    """Figures of a window from whether its last beats its first, instances × windows,
    NaN where unknown."""
    if not wrong.size:
        return Switch(window, *[math.nan] * 5)
    share, by_window = float(np.nanmean(wrong)), np.nanmean(wrong, axis=0)
    spread = float(np.nanmean(wrong, axis=1).var())
    windows_worth = 1.0
    if spread > _ROUNDING:
        windows_worth = max(1.0, share * (1 - share) / spread)
    n = len(wrong) * windows_worth
    interval = interval_wilson(share * n, n, level=level)
    return Switch(
        window,
        share,
        interval.low,
        interval.high,
        float(by_window[:_FIRST].mean()),
        float(by_window.max()),
    )


def _why_none(suite: SuiteScores, granularity: str) -> str:
    n = len(suite.scenarios)
    if granularity == "scenarios" and n < LEAST_SCENARIOS:
        if n == 1:
            scenarios = "1 scenario"
        else:
            scenarios = f"{n} scenarios"
        return f"{scenarios}: their choice is judged from {LEAST_SCENARIOS} on"
    if granularity == "subscenarios" and len(suite.subscenarios) == n:
        return "no scenario has two subscenarios"
    if granularity == "prompts" and suite.sizes.max() < 2:
        return "no data set has two prompts"
    if granularity == "seeds" and all(sub.seeds is None for sub in suite.subscenarios):
        return "no runs with several few-shot seeds"
    return ""


def _check(
    granularity: str, size: int | None, n_resamples: int, ties: float | None
) -> None:
    if granularity not in GRANULARITIES:
        raise StatisticsError(
            f"`granularity` must be one of {', '.join(GRANULARITIES)}, found "
            f"{granularity!r}"
        )
    if size is not None and size < 1:
        raise StatisticsError(f"`size` must be at least 1, found {size}")
    if n_resamples < 1:
        raise StatisticsError(f"`n_resamples` must be at least 1, found {n_resamples}")
    if ties is not None and not 0 <= ties <= 1:
        raise StatisticsError(f"`ties` must lie between 0 and 1, found {ties}")


def _or_nan(value: float | None) -> float:
    if value is None:
        return math.nan
    return value
