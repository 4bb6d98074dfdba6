"""How many seeds find a difference of two recipes, and whether the better one stays so
at a larger scale.

An interval over recipes, not over pairs: the pairs of R recipes are not R(R−1)/2
independent ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_level, as_scores
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures

#: Seeds up to which a plan is looked for.
MOST_SEEDS = 10_000
_NODES = 20_000


@dataclass(frozen=True)
class SeedPlan(NamedFigures):
    """What it takes to find a difference δ of two recipes."""

    delta: float  #: the difference, in units of the score.
    n_seeds: int | None  #: seeds of each recipe; None where no number is enough.
    averaged: int  #: m, last checkpoints averaged in each run.
    power: float | None  #: of that number of seeds.
    standard_error: float | None  #: of the difference with it.
    target: float  #: power that was asked for.
    reason: str  #: why no number of seeds is enough.


def seed_power(
    delta: float,
    n_seeds: int,
    *,
    seed_variance: float,
    jitter_variance: float = 0.0,
    averaged: int = 1,
    prompt_variance: float = 0.0,
    level: float = 0.95,
) -> float:
    """Power of a two-sided t test of two recipes of S seeds each, by the noncentral t
    with 2S − 2 degrees of freedom, both tails. With ``prompt_variance`` above 0 the t
    is approximate.

    Args:
        delta: true difference, in units of the score.
        n_seeds: S of each recipe, at least 2.
        seed_variance: σ_S², at least 0.
        jitter_variance: σ_J² of one checkpoint, at least 0.
        averaged: m, at least 1.
        prompt_variance: ω²/n where prompts are taken as sampled, at least 0.
        level: 1 − α, in (0, 1).

    Raises:
        StatisticsError: arguments out of range, or no variance at all.
    """
    error = _error(n_seeds, seed_variance, jitter_variance, averaged, prompt_variance)
    nu = 2 * n_seeds - 2
    t, shift = t_quantile(as_level(level), nu), abs(delta) / error
    power = float(1 - special.nctdtr(nu, shift, t) + special.nctdtr(nu, shift, -t))
    if math.isfinite(power):
        return power
    return _power_by_quadrature(nu, shift, t)


def _power_by_quadrature(nu: float, shift: float, t: float) -> float:
    """The same where the series of the noncentral t gives up (large shifts, few degrees
    of freedom): the mean of P(Z > t·s − shift) over s = sqrt(χ²_ν/ν)."""
    tails = (np.arange(_NODES) + 0.5) / _NODES
    s = np.sqrt(special.chdtri(nu, tails) / nu)
    return float(np.mean(special.ndtr(shift - t * s) + special.ndtr(-shift - t * s)))


def seeds_needed(
    delta: float,
    *,
    seed_variance: float,
    jitter_variance: float = 0.0,
    averaged: int = 1,
    prompt_variance: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
) -> SeedPlan:
    """Smallest number of seeds of each recipe that reaches a power.

    Args: as of :func:`seed_power`; ``power`` in (0, 1).

    Raises:
        StatisticsError: arguments out of range, or no variance at all.
    """
    if not (delta != 0 and math.isfinite(delta)) or not 0 < power < 1:
        raise StatisticsError(
            f"`delta` must differ from 0 and `power` lie in (0, 1), found {delta}, "
            f"{power}"
        )
    noise = {
        "seed_variance": seed_variance,
        "jitter_variance": jitter_variance,
        "averaged": averaged,
        "prompt_variance": prompt_variance,
    }
    _error(2, **noise)
    none = SeedPlan(delta, None, averaged, None, None, power, reason="")
    if prompt_variance and _power_at(delta, MOST_SEEDS, noise, level) < power:
        reason = (
            "the prompts are too few: no number of seeds finds it, more prompts would"
        )
        return replace(none, reason=reason)
    low, high = 1, 2
    while _power_at(delta, high, noise, level) < power:
        low, high = high, high * 2
        if high > MOST_SEEDS:
            return replace(none, reason=f"more than {MOST_SEEDS} seeds")
    while high - low > 1:
        middle = (low + high) // 2
        if _power_at(delta, middle, noise, level) >= power:
            high = middle
        else:
            low = middle
    return replace(
        none,
        n_seeds=high,
        power=_power_at(delta, high, noise, level),
        standard_error=_error(high, **noise),
    )


def _power_at(
    delta: float, n_seeds: int, noise: dict[str, float], level: float
) -> float:
    return seed_power(delta, n_seeds, level=level, **noise)  # type: ignore[arg-type]


def _error(
    n_seeds: int,
    seed_variance: float,
    jitter_variance: float,
    averaged: float,
    prompt_variance: float,
) -> float:
    """Standard error of the difference: V = 2(σ_S² + σ_J²/m)/S + ω²/n."""
    for value in (seed_variance, jitter_variance, prompt_variance):
        if not (math.isfinite(value) and value >= 0):
            raise StatisticsError(
                f"variances must be finite and at least 0, found {value}"
            )
    if n_seeds < 2 or averaged < 1:
        raise StatisticsError(
            f"at least 2 seeds and 1 checkpoint are needed, found {n_seeds}, {averaged}"
        )
    of_run = seed_variance + jitter_variance / averaged
    variance = 2 * of_run / n_seeds + prompt_variance
    if variance == 0:
        raise StatisticsError(
            "all variances are 0: any difference is found; give what one recipe varies "
            "by"
        )
    return math.sqrt(variance)


@dataclass(frozen=True)
class CheapestPlan(NamedFigures):
    """The cheapest seeds and averaged checkpoints that find a difference δ of two
    recipes."""

    #: of each recipe; None where nothing is enough, with ``reason``.
    n_seeds: int | None
    averaged: int | None  #: m, last checkpoints averaged in each run.
    cost: float | None  #: of both recipes, 2·S·(run + m·checkpoint).
    power: float | None  #: of the plan.
    #: the most power that the budget buys; None without a budget, 0 where it does not
    #: buy two seeds.
    power_in_budget: float | None
    reason: str  #: why there is no plan, or that it is beyond the budget.


def cheapest_plan(
    delta: float,
    *,
    seed_variance: float,
    jitter_variance: float = 0.0,
    most_averaged: int = 1,
    prompt_variance: float = 0.0,
    run_cost: float = 1.0,
    checkpoint_cost: float = 0.0,
    budget: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> CheapestPlan:
    """The cheapest design that reaches a power; of equal ones that with fewest seeds,
    then checkpoints.

    Args:
        most_averaged: checkpoints that each run has to average, at least 1.
        run_cost: of training one run, at least 0.
        checkpoint_cost: of evaluating one checkpoint, at least 0.
        budget: for both recipes; None: no limit.
        Others: as of :func:`seed_power`.

    Raises:
        StatisticsError: arguments out of range, or no variance at all.
    """
    if most_averaged < 1 or not (
        run_cost >= 0 and checkpoint_cost >= 0 and run_cost + checkpoint_cost > 0
    ):
        raise StatisticsError(
            "at least one checkpoint and costs of at least 0, not both 0, are needed, "
            f"found {most_averaged}, {run_cost}, {checkpoint_cost}"
        )
    noise = {
        "seed_variance": seed_variance,
        "jitter_variance": jitter_variance,
        "prompt_variance": prompt_variance,
    }
    plans = [
        seeds_needed(delta, averaged=m, power=power, level=level, **noise)
        for m in range(1, most_averaged + 1)
    ]

    def cost_of(n_seeds: int, m: int) -> float:
        return 2 * n_seeds * (run_cost + m * checkpoint_cost)

    bought = None
    if budget is not None:
        bought = 0.0
        for m in range(1, most_averaged + 1):
            n = min(int(budget // cost_of(1, m)), MOST_SEEDS)
            if n > 1:
                reached = seed_power(delta, n, averaged=m, level=level, **noise)
                bought = max(bought, reached)
    feasible = [
        (cost_of(p.n_seeds, p.averaged), p.n_seeds, p.averaged)
        for p in plans
        if p.n_seeds
    ]
    if not feasible:
        return CheapestPlan(None, None, None, None, bought, plans[-1].reason)
    cost, n_seeds, m = min(feasible)
    reason = ""
    if budget is not None and cost > budget:
        reason = f"beyond the budget of {budget:g}"
    return CheapestPlan(n_seeds, m, cost, plans[m - 1].power, bought, reason)


def least_prompts(
    delta: float, prompt_variance: float, *, power: float = 0.8, level: float = 0.95
) -> int:
    """Prompts below which no number of seeds finds a difference, where prompts are a
    sample: ω²·(z + z_power)²/δ².

    Args:
        delta: the difference, not 0.
        prompt_variance: ω² of the difference of two recipes on one prompt, at least 0.

    Raises:
        StatisticsError: arguments out of range.
    """
    if (
        not (delta != 0 and math.isfinite(delta))
        or not 0 < power < 1
        or not prompt_variance >= 0
    ):
        raise StatisticsError(
            f"expected a difference, a variance and a power, found {delta}, "
            f"{prompt_variance}, {power}"
        )
    z = float(special.ndtri((1 + as_level(level)) / 2) + special.ndtri(power))
    return math.ceil(prompt_variance * (z / delta) ** 2)


#: Fewer recipes give no figure.
LEAST_RECIPES = 6
#: An accuracy from which on a small scale decides, and one below which it does not.
DECIDES_FROM, CANNOT_BELOW = 0.8, 0.6

AccuracyWord = Literal["decides", "better than chance", "cannot decide", "cannot tell"]


@dataclass(frozen=True)
class DecisionAccuracy(NamedFigures):
    """Share of pairs of recipes that both scales order alike."""

    #: over pairs that are not tied at the large scale; a tie at the small one counts ½.
    #: None below 6 recipes, and where all are tied.
    accuracy: float | None
    ci_low: float | None  #: lower end of the logit jackknife interval over recipes.
    ci_high: float | None  #: upper end.
    standard_error: float | None  #: of the jackknife over recipes, with its floor.
    n_recipes: int  #: R.
    n_pairs: int  #: pairs that are not tied at the large scale.
    agreements: int  #: those that both scales order alike.
    ties_small: int  #: those that are tied at the small scale, where each counts ½.
    ties_large: int  #: pairs that are tied at the large scale, which are left out.
    #: what the interval says: ``decides`` from .8 on, ``better than chance`` above .5,
    #: ``cannot decide`` below .6, else ``cannot tell``.
    word: AccuracyWord
    #: recipes at both scales with which the interval would leave out the nearest of
    #: these limits, the accuracy being as it is; None where it decides or cannot, and
    #: where no number would.
    recipes_to_settle: int | None
    level: float  #: of the interval.
    reason: str  #: why there is no figure.


def decision_accuracy(
    small: ArrayLike, large: ArrayLike, *, level: float = 0.95
) -> DecisionAccuracy:
    """Decision accuracy from a small to a large scale, with an interval over recipes.

    Args:
        small: one figure per recipe at the small scale, shape (R,), oriented alike.
        large: of the same recipes at the large scale, shape (R,).
        level: of the interval, in (0, 1).

    Raises:
        StatisticsError: lengths that differ, or figures that are not finite.
    """
    s, g, level = as_scores(small, "small"), as_scores(large, "large"), as_level(level)
    if len(s) != len(g):
        raise StatisticsError(
            f"`small` has {len(s)} recipes, `large` {len(g)}: the same ones are needed"
        )
    n = len(s)
    alike, counted = _pairs(s, g)
    n_pairs = int(counted.sum()) // 2
    none = DecisionAccuracy(
        accuracy=None,
        ci_low=None,
        ci_high=None,
        standard_error=None,
        n_recipes=n,
        n_pairs=n_pairs,
        agreements=int((alike == 1).sum()) // 2,
        ties_small=int((alike == 0.5).sum()) // 2,
        ties_large=n * (n - 1) // 2 - n_pairs,
        word="cannot tell",
        recipes_to_settle=None,
        level=level,
        reason="",
    )
    if n_pairs == 0:
        return replace(none, reason="all recipes are tied at the large scale")
    if n < LEAST_RECIPES:
        return replace(none, reason=f"{n} recipes: at least {LEAST_RECIPES} are needed")
    return _jackknifed(none, alike, counted)


def _jackknifed(
    none: DecisionAccuracy, alike: FloatArray, counted: FloatArray
) -> DecisionAccuracy:
    """With the figure and its interval on the logit scale, each recipe left out
    once."""
    n, level = none.n_recipes, none.level
    hits, pairs = alike.sum(axis=1), counted.sum(axis=1)
    total_hits, total = hits.sum() / 2, pairs.sum() / 2
    accuracy = float(total_hits / total)
    if (total - pairs <= 0).any():
        return replace(none, reason="without one recipe all others are tied")
    without_each = (total_hits - hits) / (total - pairs)
    pseudo = n * accuracy - (n - 1) * without_each
    d = min(max(accuracy, 0.5 / n), 1 - 0.5 / n)
    floor = math.sqrt(d * (1 - d) / (n * (n - 1) / 2))
    error = max(float(np.std(pseudo, ddof=1)) / math.sqrt(n), floor)
    middle = math.log(d / (1 - d))
    half = t_quantile(level, n - 1) * error / (d * (1 - d))
    # the figure is never outside, where it is 0 or 1
    low = min(1 / (1 + math.exp(-(middle - half))), accuracy)
    high = max(1 / (1 + math.exp(-(middle + half))), accuracy)
    word = _word(low, high)
    return replace(
        none,
        accuracy=accuracy,
        ci_low=low,
        ci_high=high,
        standard_error=error,
        word=word,
        recipes_to_settle=_recipes_to_settle(d, half, n, word),
    )


def _word(low: float, high: float) -> AccuracyWord:
    """What an interval of the accuracy says."""
    if low >= DECIDES_FROM:
        return "decides"
    if low > 0.5:
        return "better than chance"
    if high < CANNOT_BELOW:
        return "cannot decide"
    return "cannot tell"


def _recipes_to_settle(
    accuracy: float, half: float, n: int, word: AccuracyWord
) -> int | None:
    """Recipes with which the half-width on the logit scale, which goes with 1/√n,
    leaves the next limit out."""
    if word in ("decides", "cannot decide"):
        return None
    limit = CANNOT_BELOW
    if accuracy >= CANNOT_BELOW:
        limit = 0.5
    if word == "better than chance":
        limit = DECIDES_FROM
    distance = math.log(accuracy / (1 - accuracy)) - math.log(limit / (1 - limit))
    if distance == 0 or (word == "better than chance" and distance < 0):
        return None
    return max(n + 1, math.ceil(n * (half / distance) ** 2))


def _pairs(s: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Agreement of each pair (1, 0, ½) and whether it counts, both symmetric, shape (R,
    R)."""
    of_small, of_large = (np.sign(x[:, None] - x) for x in (s, g))
    counted = of_large != 0
    alike = np.where(of_small == 0, 0.5, of_small == of_large) * counted
    return alike, counted.astype(np.float64)


def reliability(noise_variance: float, recipe_variance: float) -> float:
    """Share of the spread of recipes' figures that is not noise: max(0, 1 − v/s²).

    Args:
        noise_variance: of a single figure, at least 0.
        recipe_variance: s² of the recipes' figures, above 0.

    Raises:
        StatisticsError: arguments out of range.
    """
    if not (noise_variance >= 0 and recipe_variance > 0):
        raise StatisticsError(
            f"variances must be at least 0 and above 0, found {noise_variance}, "
            f"{recipe_variance}"
        )
    return max(0.0, 1 - noise_variance / recipe_variance)


def decision_ceiling(reliability_small: float, reliability_large: float) -> float:
    """Highest decision accuracy that noise leaves possible: ½ + asin(√(Rel_s·Rel_l))/π.

    Supposes normally distributed quality without ties; a ceiling below .6 means that
    the benchmark cannot decide, a high one promises nothing.

    Args:
        reliability_small: at the small scale, in [0, 1].
        reliability_large: at the large scale, in [0, 1].

    Raises:
        StatisticsError: arguments out of range.
    """
    for value in (reliability_small, reliability_large):
        if not 0 <= value <= 1:
            raise StatisticsError(f"a reliability lies in [0, 1], found {value}")
    return 0.5 + math.asin(math.sqrt(reliability_small * reliability_large)) / math.pi
