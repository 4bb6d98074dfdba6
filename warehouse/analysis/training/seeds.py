"""What a second training seed would have given: seeds, jitter, noise floor, monotonicity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.results import RecipeRow, Result, part_fields
from warehouse.analysis.selection.reference import parse_where
from warehouse.analysis.suites.tree import ids_named
from warehouse.analysis.training.read import by_other_metrics, check_metric, read_recipes
from warehouse.analysis.training.seeds_view import report_notes, seeds_view
from warehouse.analysis.training.trajectories import RecipeScores, describe_others, settings_in_groups, unequal_prompts
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.question import answers
from warehouse.questions.training import Seeds
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.training.curve_tests import monotonicity
from warehouse.stats.training.noise_floor import (
    FEW_SEEDS,
    MOST,
    NoiseFloor,
    jitter,
    jitter_only_lower_bound,
    noise_floor,
    seed_spread,
)
from warehouse.stats.training.signal_to_noise import BetweenSeedVariance, compare_seed_ratios, seed_ratio, seed_variance
from warehouse.store.connection import Store
from warehouse.tables.view import View


@dataclass(frozen=True)
class SeedsRow(RecipeRow):
    """Training seeds of one recipe on one benchmark. Figures are in the metric's reported unit."""

    n_seeds: int  #: seeds S.
    n_checkpoints: int  #: checkpoints that all seeds have.
    seed_mean: float  #: mean over seeds at the last common checkpoint, or of the last ``averaged``.
    seed_sd: float | None  #: standard deviation over seeds there, ddof 1; None for one seed.
    seed_sd_low: float | None  #: lower end of its 95 % interval (Bonett; χ² below 5 seeds).
    seed_sd_high: float | None  #: upper end; no more than half of the metric's range, which no spread exceeds.
    seed_sd_averaged: float | None  #: the standard deviation over seeds at each common checkpoint, averaged.
    half_width: float | None  #: mean half-width of the single runs' normal intervals there; None if unknown.
    sd_ratio: float | None  #: seed_sd over half_width (Madaan et al. 2024, table 1).
    #: difference of two single runs that seeds alone exceed in 5 % of cases; None for one seed.
    noise_floor: float | None
    averaged: int  #: last checkpoints that are averaged in each run for the figures above.
    jitter: float | None  #: standard deviation from checkpoint to checkpoint within a run, trend removed.
    #: with one seed only: what jitter alone makes of the difference of two runs, less than their noise floor.
    jitter_lower_bound: float | None
    seed_variance: float | None  #: σ_S² between seeds apart from jitter; None without two of each.
    seed_variance_low: float | None  #: lower end of its interval.
    seed_variance_high: float | None  #: upper end.
    signal_to_noise: float | None  #: seed_mean over seed_sd.
    signal_to_noise_low: float | None  #: lower end of its jackknife interval; None below three seeds.
    signal_to_noise_high: float | None  #: upper end.
    other_metric: str  #: the metric that it is held against; empty without one.
    other_signal_to_noise: float | None  #: by that metric, of the same seeds.
    ratio: float | None  #: other_signal_to_noise over signal_to_noise.
    ratio_low: float | None  #: lower end of its paired jackknife interval.
    ratio_high: float | None  #: upper end.
    other_tau: float | None  #: ``tau`` by that metric.
    tau: float | None  #: Kendall's τ-b of scores with the order of checkpoints, mean over seeds.
    p_monotone: float | None  #: one-sided p of a rise.
    #: what does not hold, such as ``autocorrelated``; ``few_seeds``: fewer than 29, whose figures suppose nearly normal
    #: seeds; ``unequal_prompts``: some figures rest on fewer or other prompts, so that spread, jitter and tau hold also
    #: how hard the others are.
    flags: tuple[str, ...]
    reason: str  #: why figures are missing.
    seeds: tuple[str, ...]  #: labels of the seeds.


@dataclass(frozen=True)
class SeedScore(RecipeRow):
    """The score of one seed at one checkpoint, in the metric's reported unit."""

    unit: str
    position: float
    seed: str
    score: float


@dataclass(frozen=True)
class SeedsReport(Result):
    """Seeds of recipes, one row per benchmark, metric and recipe."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *("benchmark", "model", "recipe", "setting", "n_seeds", "n_checkpoints", "seed_mean", "seed_sd"),
        *("half_width", "noise_floor", "jitter", "tau", "p_monotone", "flags"),
    )
    level: float  #: of intervals and noise floors.
    rows: tuple[SeedsRow, ...]
    left_out: int  #: models without a second seed and without checkpoints, by number.
    #: benchmarks whose seeds or checkpoints have figures by other metrics only, and those metrics.
    elsewhere: Mapping[str, tuple[str, ...]]
    #: behind the rows that have several seeds, those by the other metric after each.
    scores: tuple[SeedScore, ...] = ()

    @property
    def one_line(self) -> str:
        n = len({row.benchmark for row in self.rows})
        return f"{len(self.rows)} recipes with seeds or checkpoints on {n} benchmarks"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of all rows."""
        return report_notes(self)

    def view(self, *, verbose: bool = False) -> View:
        """What follows from the rows, the command's table, and what is missing."""
        return seeds_view(self)


@answers(Seeds)
def seeds(store: Store, question: Seeds) -> SeedsReport:
    """One row for each recipe with a second seed or checkpoint."""
    against, filters = question.against, parse_where(question.where)
    ids = ids_named(store, question.benchmarks)
    recipes = read_recipes(store, ids, metric=question.metric, where=filters)
    check_metric(recipes, question.metric)
    replicated = [recipe for recipe in recipes if recipe.is_telling]
    elsewhere = {} if question.metric else by_other_metrics(store, ids, filters, replicated)
    if not replicated:
        of = f" on {', '.join(question.benchmarks)}" if question.benchmarks else ""
        raise MisuseError(f"no model{of} has two training seeds or two checkpoints{_advice(elsewhere)}")
    others = read_recipes(store, ids, metric=against, where=filters) if against else []
    check_metric(others, against)
    return recipe_seeds(recipes, others, question.averaged, question.level, elsewhere)


def recipe_seeds(
    recipes: Sequence[RecipeScores],
    others: Sequence[RecipeScores] = (),
    averaged: int = 1,
    level: float = 0.95,
    elsewhere: Mapping[str, tuple[str, ...]] | None = None,
) -> SeedsReport:
    """`seeds` of recipes that were read.

    Args:
        others: the same runs by another metric, to compare the signal to noise.
        elsewhere: benchmarks that have seeds or checkpoints by other metrics only, and those metrics.
    """
    replicated = [recipe for recipe in recipes if recipe.is_telling]
    by_key = {_key(recipe): recipe for recipe in others}
    settings = settings_in_groups(replicated, lambda r: (r.benchmark, r.metric, r.model, r.recipe))
    rows = tuple(
        seeds_row(recipe, by_key.get(_key(recipe)), averaged, level, setting)
        for recipe, setting in zip(replicated, settings, strict=True)
    )
    scores = [
        score
        for recipe, setting in zip(replicated, settings, strict=True)
        for metric in (recipe, by_key.get(_key(recipe)))
        if metric is not None and len(metric.trajectories) > 1
        for score in _scores(metric, setting)
    ]
    return SeedsReport(level, rows, len(recipes) - len(replicated), elsewhere or {}, tuple(scores))


def _scores(recipe: RecipeScores, setting: str) -> Iterator[SeedScore]:
    split = recipe.settings["split"] or ""
    names = (recipe.benchmark, split, recipe.metric, recipe.model, recipe.recipe, setting, recipe.unit)
    for run in recipe.trajectories:
        for position, score in zip(run.positions, run.scores, strict=True):
            yield SeedScore(*names, position, run.seed, score)


def _advice(elsewhere: Mapping[str, Sequence[str]]) -> str:
    """What to say behind a refusal."""
    others = describe_others(elsewhere)
    return f"; there are some {others}" if others else "; a mapping or --set gives training_seed and step"


def _key(recipe: RecipeScores) -> tuple[object, ...]:
    """What the same runs by two metrics share."""
    return (recipe.benchmark, recipe.model, recipe.unit, *recipe.settings.values())


def _finals(recipe: RecipeScores, averaged: int) -> NDArray[np.float64] | None:
    """The figure of each seed; None where the seeds have too few checkpoints in common."""
    last = recipe.common[-averaged:]
    return recipe.table(last).mean(axis=1) if len(last) == averaged else None


def _ratio(recipe: RecipeScores, other: RecipeScores | None, averaged: int, level: float) -> dict[str, Any]:
    """Signal-to-noise ratio, and that by another metric of the same seeds."""
    figures: dict[str, Any] = dict.fromkeys(
        ("signal_to_noise", "signal_to_noise_low", "signal_to_noise_high", "other_signal_to_noise")
        + ("ratio", "ratio_low", "ratio_high", "other_tau")
    ) | {"other_metric": other.metric if other else ""}
    own = _finals(recipe, averaged)
    if own is None or len(own) < 2:
        return figures
    snr = seed_ratio(own, level=level)
    figures |= {"signal_to_noise": snr.ratio, "signal_to_noise_low": snr.ci_low, "signal_to_noise_high": snr.ci_high}
    theirs = _finals(other, averaged) if other else None
    if (
        other is None
        or theirs is None
        or [run.seed for run in other.trajectories] != [run.seed for run in recipe.trajectories]
    ):
        return figures
    ratio = compare_seed_ratios(theirs, own, level=level)
    return figures | {
        "other_signal_to_noise": seed_ratio(theirs, level=level).ratio,
        "ratio": ratio.ratio,
        "ratio_low": ratio.ci_low,
        "ratio_high": ratio.ci_high,
        "other_tau": _rises(other)[0],
    }


def seeds_row(
    recipe: RecipeScores, other: RecipeScores | None = None, averaged: int = 1, level: float = 0.95, setting: str = ""
) -> SeedsRow:
    """Seeds and checkpoints of one recipe.

    Args:
        recipe: with a second seed or a second checkpoint.
        other: the same runs by another metric, to compare the signal to noise.
        averaged: m, last checkpoints of each run whose mean is its figure.
        level: of intervals and the noise floor.
        setting: what tells it from other recipes of the table.
    """
    positions = recipe.common
    reasons: list[str] = []
    last = positions[-averaged:]
    n_seeds = len(recipe.trajectories)
    floor: NoiseFloor | None = None
    sd: tuple[float | None, float | None, float | None] = (None, None, None)
    finals = recipe.table(last).mean(axis=1) if last else np.array([run.scores[-1] for run in recipe.trajectories])
    if not positions:
        reasons.append("the seeds have no checkpoint in common")
    elif len(positions) < averaged:
        reasons.append(f"{len(positions)} common checkpoints cannot be averaged over {averaged}")
    elif n_seeds > 1:
        spread = seed_spread(finals, level=level)
        sd = (spread.standard_deviation, spread.ci_low, spread.ci_high)
        floor = noise_floor(recipe.table(positions), averaged=averaged, level=level)
    else:
        reasons.append("one training seed")
    half = _half_width(recipe, last, level)
    table = _variance(recipe, level)
    spread_within, bound, jitter_flags = _jitter(recipe, averaged, level)
    rises = _rises(recipe)
    few = ("few_seeds",) if 1 < n_seeds < FEW_SEEDS else ()
    unequal = unequal_prompts(recipe.trajectories)
    found = (*unequal, *(table.flags if table else ()), *jitter_flags, *rises[2], *(floor.flags if floor else ()), *few)
    return SeedsRow(
        benchmark=recipe.benchmark,
        split=recipe.settings["split"] or "",
        metric=recipe.metric,
        model=recipe.model,
        recipe=recipe.recipe,
        setting=setting,
        n_seeds=n_seeds,
        n_checkpoints=len(positions),
        seed_mean=float(finals.mean()),
        seed_sd=sd[0],
        seed_sd_low=sd[1],
        seed_sd_high=_possible(sd, recipe.width),
        seed_sd_averaged=_averaged_sd(recipe),
        half_width=half,
        sd_ratio=sd[0] / half if sd[0] is not None and half else None,
        noise_floor=None if floor is None else floor.floor,
        averaged=averaged,
        jitter=spread_within,
        jitter_lower_bound=bound if n_seeds == 1 else None,
        **part_fields(table, seed_variance="variance", seed_variance_low="ci_low", seed_variance_high="ci_high"),
        **_ratio(recipe, other, averaged, level),
        tau=rises[0],
        p_monotone=rises[1],
        flags=tuple(dict.fromkeys(found)),
        reason="; ".join(reasons),
        seeds=tuple(run.seed for run in recipe.trajectories),
    )


def _possible(sd: tuple[float | None, float | None, float | None], width: float | None) -> float | None:
    """The upper end of a spread, at most half of the range of the metric, and not below the spread that was seen."""
    seen, _, high = sd
    if seen is None or high is None or width is None:
        return high
    return min(high, max(seen, width / 2))


def _half_width(recipe: RecipeScores, positions: Sequence[float], level: float) -> float | None:
    errors = recipe.errors(positions) if positions else np.empty(0)
    finite = errors[np.isfinite(errors)]
    return float(z_quantile(level) * finite.mean()) if len(finite) else None


def _averaged_sd(recipe: RecipeScores) -> float | None:
    if len(recipe.trajectories) < 2 or not recipe.common:
        return None
    return float(recipe.table(recipe.common).std(axis=0, ddof=1).mean())


def _variance(recipe: RecipeScores, level: float) -> BetweenSeedVariance | None:
    """Between seeds, over the last half of the common checkpoints."""
    k = min(len(recipe.common) // 2, MOST)
    if len(recipe.trajectories) < 2 or k < 2:
        return None
    return seed_variance(recipe.table(recipe.common[-k:]), level=level)


def _jitter(recipe: RecipeScores, averaged: int, level: float) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Root mean square of the runs' jitter, the lower bound it gives, and flags of any run."""
    jitters = [jitter(run.scores, run.positions, level=level) for run in recipe.trajectories if len(run.positions) > 1]
    estimated = [found for found in jitters if found.variance is not None and found.degrees_of_freedom is not None]
    if not estimated:
        return None, None, ()
    variance = float(np.mean([found.variance for found in estimated]))
    nu = float(np.sum([found.degrees_of_freedom for found in estimated]))
    flags = tuple(dict.fromkeys(flag for found in estimated for flag in found.flags))
    return variance**0.5, jitter_only_lower_bound(variance, nu, averaged=averaged, level=level), flags


def _rises(recipe: RecipeScores) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Mean τ, its p, and flags; all seeds on common checkpoints where there are some."""
    positions = recipe.common
    if len(positions) < 2:
        return None, None, ()
    try:
        trend = monotonicity(list(recipe.sign * recipe.table(positions)))
    except StatisticsError:
        return None, None, ()
    return trend.tau, trend.p_value, trend.flags
