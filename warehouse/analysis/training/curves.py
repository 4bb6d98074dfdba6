"""Scores along training: above chance from where, significant drops, and where two curves cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warehouse.analysis.selection.benchmarks import direction_unknown, find_benchmark, metrics_of
from warehouse.analysis.selection.reference import Where, find_conditions, parse_where
from warehouse.analysis.training.crossings import correlations, cross_all
from warehouse.analysis.training.curve_rows import CheckpointRow, CurveRow, CurvesReport
from warehouse.analysis.training.prompt_tables import Chance, Checkpoint, Curve, change
from warehouse.analysis.training.read import by_other_metrics, read_curves, read_recipes
from warehouse.analysis.training.trajectories import RecipeScores, describe_others, settings_apart
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.questions.training import Curves
from warehouse.stats.core.rejects import rejects
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.training.curve_tests import departure
from warehouse.store.connection import Store


@answers(Curves)
def curves(store: Store, question: Curves) -> CurvesReport:
    """Where exactly two curves are left, or with ``against`` those of one recipe in both formulations, it is told
    where they cross.
    """
    metric, references, wanted = question.metric, question.references, parse_where(question.where)
    all_curves: list[Curve] = []
    left_out = 0
    for name in (question.benchmark, *filter(None, (question.against,))):
        known = find_benchmark(store, name)
        recipes = read_recipes(store, known.ids, metric=metric, where=wanted)
        chosen = _chosen(store, references, recipes, known.ids, wanted)
        metrics = metrics_of(store, known.ids)
        own = read_curves(store, known, metrics, chosen, chance=question.chance, cluster=question.cluster)
        if not own:
            what = f"no model of {', '.join(references)}" if references else "no model"
            others = {} if metric else by_other_metrics(store, known.ids, wanted, ())
            advice = (
                f"there are some {describe_others(others)}"
                if others
                else "a mapping or --set gives step, tokens or epoch"
            )
            raise MisuseError(f"{what} has two checkpoints on {name} by {metric or 'its headline metric'}; {advice}")
        all_curves += own
        left_out += len(chosen) - len(own)
    return curves_of(all_curves, question.level, left_out, two_formulations=question.against is not None)


def curves_of(
    curves: Sequence[Curve], level: float, left_out: int = 0, *, two_formulations: bool = False
) -> CurvesReport:
    """`curves` of recipes that were read.

    Args:
        curves: at least one.
        left_out: recipes without a place in training.
        two_formulations: of two benchmarks that are one in two formulations.
    """
    curves = _labelled(curves)
    rows, points = zip(*(_row(curve, level) for curve in curves), strict=True)
    crossed = cross_all(curves, rows, level, two_formulations=two_formulations)
    pearson, kendall = correlations(curves) if two_formulations else (None, None)
    return CurvesReport(tuple(crossed), tuple(p for own in points for p in own), level, left_out, pearson, kendall)


def _chosen(
    store: Store, references: Sequence[str], recipes: Sequence[RecipeScores], ids: Sequence[int], where: Sequence[Where]
) -> list[RecipeScores]:
    """The recipes that references mean, in their order, cut to the runs that they mean."""
    if not references:
        return list(recipes)
    chosen = []
    for text in references:
        runs = {run for one in find_conditions(store, text, benchmark_ids=ids, where=where) for run in one.run_ids}
        cut = [one for one in (recipe.only(runs) for recipe in recipes) if one is not None]
        if not cut:
            raise MisuseError(f"{text!r} has no figure by this metric")
        chosen += [one for one in cut if one not in chosen]
    return chosen


def _labelled(unlabelled: Sequence[Curve]) -> list[Curve]:
    """Each with the settings in which it differs from the others."""
    settings = settings_apart([one.recipe for one in unlabelled])
    return [replace(one, setting=setting) for one, setting in zip(unlabelled, settings, strict=True)]


def _row(curve: Curve, level: float) -> tuple[CurveRow, list[CheckpointRow]]:
    recipe, chance = curve.recipe, _usable_chance(curve)
    points = _points(curve, chance, level)
    every = set().union(*(one.positions for one in recipe.trajectories))
    above = [point for point in points if point.is_above_chance]
    fallen = [point for point in points if point.is_drop]
    worst = max(fallen, key=lambda point: abs(point.change or 0.0), default=None)
    last = points[-1] if points else None
    tested = [point.p_drop for point in points if point.p_drop is not None]
    row = CurveRow(
        benchmark=recipe.benchmark,
        split=recipe.settings["split"] or "",
        metric=recipe.metric,
        model=recipe.model,
        recipe=recipe.recipe,
        setting=curve.setting,
        unit=recipe.unit,
        n_seeds=len(recipe.trajectories),
        n_checkpoints=len(points),
        n_left_out=len(every) - len(points),
        n_prompts=last.n_prompts if last else None,
        first=points[0].score if points else None,
        last=last.score if last else None,
        ci_low=last.ci_low if last else None,
        ci_high=last.ci_high if last else None,
        band=last.band if last else "",
        chance=chance.level,
        chance_from=chance.source,
        above_chance_at=above[0].position if above else None,
        above_chance_from=_kept_from(points),
        n_drops=len(fallen) if tested else None,
        largest_drop=worst.change if worst else None,
        largest_drop_at=worst.position if worst else None,
        other="",
        crossing_low=None,
        crossing_high=None,
        crossing=None,
        crossing_in_words="",
        chance_reason=chance.reason,
        reason=_why(curve, points, tested),
    )
    return row, points


def _usable_chance(curve: Curve) -> Chance:
    if curve.recipe.higher_is_better is None and curve.chance.level is not None:
        return Chance(None, "", {}, direction_unknown(curve.recipe.metric, curve.recipe.benchmark))
    return curve.chance


def _why(curve: Curve, points: Sequence[CheckpointRow], tested: Sequence[float]) -> str:
    if not points:
        return "the seeds have no checkpoint in common"
    if len(points) == 1:
        return "one checkpoint"
    if curve.recipe.higher_is_better is None:
        return direction_unknown(curve.recipe.metric, curve.recipe.benchmark)
    if not any(point.band for point in points):
        return "neither seeds, nor prompts, nor a standard error: nothing can be tested"
    return "" if tested else "no step can be tested: nothing changes but alike in all seeds and prompts"


def _kept_from(points: Sequence[CheckpointRow]) -> float | None:
    tested = [point for point in points if point.is_above_chance is not None]
    kept = None
    for point in reversed(tested):
        if not point.is_above_chance:
            break
        kept = point.position
    return kept


def _points(curve: Curve, chance: Chance, level: float) -> list[CheckpointRow]:
    recipe, clusters = curve.recipe, curve.clusters
    positions = list(curve.checkpoints)
    cells = [curve.checkpoints[position] for position in positions]
    means = [cell.mean(clusters) for cell in cells]
    guessing = [chance.of(cell.prompts) for cell in cells]
    p_above = [
        math.nan if value is None else cell.p_above(value, recipe.sign, clusters)
        for cell, value in zip(cells, guessing, strict=True)
    ]
    changes = [change(b, a, clusters, same_seeds=True) for a, b in zip(cells, cells[1:], strict=False)]
    falls = [math.nan, *(one.p_fall if recipe.sign > 0 else one.p_rise for one in changes)]
    if recipe.higher_is_better is None:
        falls = [math.nan] * len(cells)
    above, fallen = departure(p_above, level=level).p_holm, departure(falls, level=level).p_holm
    ends = [_band(curve, cell, mean.interval(level), level) for cell, mean in zip(cells, means, strict=True)]
    return [
        CheckpointRow(
            benchmark=recipe.benchmark,
            split=recipe.settings["split"] or "",
            metric=recipe.metric,
            model=recipe.model,
            recipe=recipe.recipe,
            setting=curve.setting,
            unit=recipe.unit,
            position=position,
            n_seeds=len(cells[place].figures),
            n_prompts=len(cells[place].prompts) or None,
            score=means[place].mean,
            ci_low=None if (band := ends[place]) is None else band[0],
            ci_high=None if band is None else band[1],
            band=means[place].basis,
            p_above_chance=_or_none(above[place]),
            is_above_chance=_significant(above[place], level),
            change=changes[place - 1].mean.mean if place else None,
            p_drop=_or_none(fallen[place]),
            is_drop=_significant(fallen[place], level),
        )
        for place, position in enumerate(positions)
    ]


def _band(
    curve: Curve, cell: Checkpoint, interval: tuple[float, float] | None, level: float
) -> tuple[float, float] | None:
    """One run has the interval of the leaderboard; several seeds theirs, inside the metric's bounds."""
    low, high = curve.bounds or (None, None)
    if cell.has_prompts and len(cell.figures) == 1:
        x = cell.scores[0]
        inside = (low is None or x.min() >= low) and (high is None or x.max() <= high)
        labels = curve.clusters.labels(cell.prompts)
        n_draws = 1 if cell.zero_one else np.full(len(x), 2.0)
        estimate = estimate_mean(
            x, clusters=labels, bounds=curve.bounds if inside else None, n_draws=n_draws, level=level
        )
        return None if estimate.ci_low is None or estimate.ci_high is None else (estimate.ci_low, estimate.ci_high)
    if interval is None:
        return None
    ends = max(interval[0], -math.inf if low is None else low), min(interval[1], math.inf if high is None else high)
    return ends if ends[0] <= ends[1] else interval


def _or_none(p: float) -> float | None:
    return None if math.isnan(p) else p


def _significant(p: float, level: float) -> bool | None:
    return None if math.isnan(p) else rejects(p, 1 - level)
