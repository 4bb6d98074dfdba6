"""Effects of another training seed: seeds, jitter, noise floor, monotonicity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.results import part_fields
from warehouse.analysis.seeds.question import Seeds
from warehouse.analysis.seeds.row import SeedsRow
from warehouse.analysis.seeds.view import SeedScore, SeedsReport
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.suites.tree import ids_named
from warehouse.analysis.training.read import (
    by_other_metrics,
    check_metric,
    read_recipes,
)
from warehouse.analysis.training.trajectories import (
    RecipeScores,
    describe_others,
    settings_in_groups,
    unequal_prompts,
)
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.question import answers
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
from warehouse.stats.training.signal_to_noise import (
    BetweenSeedVariance,
    compare_seed_ratios,
    seed_ratio,
    seed_variance,
)
from warehouse.store.connection import Store


@answers(Seeds)
def seeds(store: Store, question: Seeds) -> SeedsReport:
    """One row for each recipe with a second seed or checkpoint."""
    against = question.against
    filters = parse_where(question.where)
    ids = ids_named(store, question.benchmarks)
    recipes = read_recipes(store, ids, metric=question.metric, where=filters)
    check_metric(recipes, question.metric)
    replicated = [recipe for recipe in recipes if recipe.is_telling]
    if question.metric:
        elsewhere = {}
    else:
        elsewhere = by_other_metrics(store, ids, filters, replicated)
    if not replicated:
        of = ""
        if question.benchmarks:
            of = f" on {', '.join(question.benchmarks)}"
        raise MisuseError(
            f"no model{of} has two training seeds or two "
            f"checkpoints{_advice(elsewhere)}"
        )
    others = []
    if against:
        others = read_recipes(store, ids, metric=against, where=filters)
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
        elsewhere: benchmarks that have seeds or checkpoints by other metrics only, and
            those metrics.
    """
    replicated = [recipe for recipe in recipes if recipe.is_telling]
    by_key = {_key(recipe): recipe for recipe in others}
    settings = settings_in_groups(
        replicated, lambda r: (r.benchmark, r.metric, r.model, r.recipe)
    )
    rows = tuple(
        seeds_row(recipe, by_key.get(_key(recipe)), averaged, level, setting)
        for recipe, setting in zip(replicated, settings, strict=True)
    )
    scores: list[SeedScore] = []
    for recipe, setting in zip(replicated, settings, strict=True):
        for metric in (recipe, by_key.get(_key(recipe))):
            if metric is not None and len(metric.trajectories) > 1:
                scores.extend(_scores(metric, setting))
    return SeedsReport(
        level,
        rows,
        len(recipes) - len(replicated),
        elsewhere or {},
        tuple(scores),
        is_share=all(recipe.width == 1.0 for recipe in replicated),
    )


def _scores(recipe: RecipeScores, setting: str) -> Iterator[SeedScore]:
    split = recipe.settings["split"] or ""
    names = (
        recipe.benchmark,
        split,
        recipe.metric,
        recipe.model,
        recipe.recipe,
        setting,
        recipe.unit,
    )
    for run in recipe.trajectories:
        for position, score in zip(run.positions, run.scores, strict=True):
            yield SeedScore(*names, position, run.seed, score)


def _advice(elsewhere: Mapping[str, Sequence[str]]) -> str:
    """Advice behind a refusal."""
    others = describe_others(elsewhere)
    if others:
        return f"; there are some {others}"
    return "; a mapping or --set gives training_seed and step"


def _key(recipe: RecipeScores) -> tuple[object, ...]:
    """A key that the same runs by two metrics share."""
    return (recipe.benchmark, recipe.model, recipe.unit, *recipe.settings.values())


def _finals(recipe: RecipeScores, averaged: int) -> NDArray[np.float64] | None:
    """The figure of each seed; None where the seeds have too few checkpoints in common."""
    last = recipe.common[-averaged:]
    return recipe.table(last).mean(axis=1) if len(last) == averaged else None


def _ratio(
    recipe: RecipeScores, other: RecipeScores | None, averaged: int, level: float
) -> dict[str, Any]:
    """Signal-to-noise ratio, and that by another metric of the same seeds."""
    figures: dict[str, Any] = dict.fromkeys(
        (
            "signal_to_noise",
            "signal_to_noise_low",
            "signal_to_noise_high",
            "other_signal_to_noise",
        )
        + ("ratio", "ratio_low", "ratio_high", "other_tau")
    ) | {"other_metric": other.metric if other else ""}
    own = _finals(recipe, averaged)
    if own is None or len(own) < 2:
        return figures
    snr = seed_ratio(own, level=level)
    figures |= {
        "signal_to_noise": snr.ratio,
        "signal_to_noise_low": snr.ci_low,
        "signal_to_noise_high": snr.ci_high,
    }
    theirs = None
    if other:
        theirs = _finals(other, averaged)
    if (
        other is None
        or theirs is None
        or [run.seed for run in other.trajectories]
        != [run.seed for run in recipe.trajectories]
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
    recipe: RecipeScores,
    other: RecipeScores | None = None,
    averaged: int = 1,
    level: float = 0.95,
    setting: str = "",
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
    finals = (
        recipe.table(last).mean(axis=1)
        if last
        else np.array([run.scores[-1] for run in recipe.trajectories])
    )
    if not positions:
        reasons.append("the seeds have no checkpoint in common")
    elif len(positions) < averaged:
        reasons.append(
            f"{len(positions)} common checkpoints cannot be averaged over {averaged}"
        )
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
    found = (
        *unequal,
        *(table.flags if table else ()),
        *jitter_flags,
        *rises[2],
        *(floor.flags if floor else ()),
        *few,
    )
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
        **part_fields(
            table,
            seed_variance="variance",
            seed_variance_low="ci_low",
            seed_variance_high="ci_high",
        ),
        **_ratio(recipe, other, averaged, level),
        tau=rises[0],
        p_monotone=rises[1],
        flags=tuple(dict.fromkeys(found)),
        reason="; ".join(reasons),
        seeds=tuple(run.seed for run in recipe.trajectories),
    )


def _possible(
    sd: tuple[float | None, float | None, float | None], width: float | None
) -> float | None:
    """The upper end of a spread, at most half of the range of the metric, and not below
    the spread that was seen."""
    seen, _, high = sd
    if seen is None or high is None or width is None:
        return high
    return min(high, max(seen, width / 2))


def _half_width(
    recipe: RecipeScores, positions: Sequence[float], level: float
) -> float | None:
    if positions:
        errors = recipe.errors(positions)
    else:
        errors = np.empty(0)
    finite = errors[np.isfinite(errors)]
    if len(finite):
        return float(z_quantile(level) * finite.mean())
    return None


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


def _jitter(
    recipe: RecipeScores, averaged: int, level: float
) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Root mean square of the runs' jitter, the lower bound it gives, and flags of any
    run."""
    jitters = [
        jitter(run.scores, run.positions, level=level)
        for run in recipe.trajectories
        if len(run.positions) > 1
    ]
    estimated = [
        found
        for found in jitters
        if found.variance is not None and found.degrees_of_freedom is not None
    ]
    if not estimated:
        return None, None, ()
    variance = float(np.mean([found.variance for found in estimated]))
    nu = float(np.sum([found.degrees_of_freedom for found in estimated]))
    flags = tuple(
        dict.fromkeys(chain.from_iterable(found.flags for found in estimated))
    )
    return (
        variance**0.5,
        jitter_only_lower_bound(variance, nu, averaged=averaged, level=level),
        flags,
    )


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
