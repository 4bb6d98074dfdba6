"""Scores along training: above chance from where, significant drops, and where two
curves cross."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from warehouse.analysis.curves.question import Curves
from warehouse.analysis.curves.row import CheckpointRow, CurveRow
from warehouse.analysis.curves.view import CurvesReport
from warehouse.analysis.groups import grouped
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.benchmarks import (
    direction_unknown,
    find_benchmark,
    metrics_of,
)
from warehouse.analysis.selection.reference import find_conditions
from warehouse.analysis.selection.reference_text import Where, parse_where
from warehouse.analysis.training.read import (
    by_other_metrics,
    check_metric,
    no_figure,
    read_curves,
    read_recipes,
)
from warehouse.analysis.training.trajectories import (
    Chance,
    Checkpoint,
    Curve,
    RecipeScores,
    change,
    describe_others,
    settings_apart,
    unequal_prompts,
)
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats.core.inputs import rejects
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.training.curve_tests import (
    Crossing,
    crossing,
    departure,
    kendall_tau,
    monotonicity_spearman,
    monotonicity_tau,
    relative_spread,
)
from warehouse.store.connection import Store


@answers(Curves)
def curves(store: Store, question: Curves) -> CurvesReport:
    """Where exactly two curves are left, or with ``against`` those of one recipe in
    both formulations, it is told where they cross.
    """
    metric, references, filters = (
        question.metric,
        question.references,
        parse_where(question.where),
    )
    all_curves: list[Curve] = []
    left_out = 0
    for name in (question.benchmark, *filter(None, (question.against,))):
        benchmark = find_benchmark(store, name)
        recipes = read_recipes(store, benchmark.ids, metric=metric, where=filters)
        check_metric(recipes, metric)
        chosen = _chosen(store, references, recipes, benchmark.ids, filters)
        metrics = metrics_of(store, benchmark.ids)
        own = read_curves(
            store,
            benchmark,
            metrics,
            chosen,
            chance=question.chance,
            cluster=question.cluster,
        )
        if not own:
            what = f"no model of {', '.join(references)}" if references else "no model"
            others = (
                {}
                if metric
                else by_other_metrics(store, benchmark.ids, filters, checkpoints=True)
            )
            advice = (
                f"there are some {describe_others(others)}"
                if others
                else "a mapping or --set gives step, tokens or epoch"
            )
            if question.against is not None:
                advice += (
                    f"; finished models: warehouse noise formulations {question.benchmark} "
                    f"{question.against}"
                )
            raise MisuseError(
                f"{what} has two checkpoints on {name} by "
                f"{metric or 'its headline metric'}; {advice}"
            )
        all_curves += own
        left_out += len(chosen) - len(own)
    return curves_of(
        all_curves,
        question.level,
        left_out,
        two_formulations=question.against is not None,
    )


def curves_of(
    curves: Sequence[Curve],
    level: float,
    left_out: int = 0,
    *,
    two_formulations: bool = False,
) -> CurvesReport:
    """`curves` of recipes that were read.

    Args:
        curves: at least one.
        left_out: recipes without a place in training.
        two_formulations: of two benchmarks that are one in two formulations.
    """
    # each with the settings in which it differs from the others
    settings = settings_apart([curve.recipe for curve in curves])
    curves = [
        replace(curve, setting=setting)
        for curve, setting in zip(curves, settings, strict=True)
    ]
    rows, points = zip(*(_row(curve, level) for curve in curves), strict=True)
    crossed = cross_all(curves, rows, level, two_formulations=two_formulations)
    pearson, kendall = (None, None)
    if two_formulations:
        pearson, kendall = correlations(curves)
    return CurvesReport(
        tuple(crossed),
        tuple(chain.from_iterable(points)),
        level,
        left_out,
        pearson,
        kendall,
        is_share=all(curve.bounds == (0.0, 1.0) for curve in curves),
    )


def _chosen(
    store: Store,
    references: Sequence[str],
    recipes: Sequence[RecipeScores],
    ids: Sequence[int],
    where: Sequence[Where],
) -> list[RecipeScores]:
    """The recipes that references mean, in their order, cut to the runs that they mean."""
    if not references:
        return list(recipes)
    chosen = []
    for text in references:
        runs = set(
            chain.from_iterable(
                found.run_ids
                for found in find_conditions(
                    store, text, benchmark_ids=ids, where=where
                )
            )
        )
        parts = (recipe.only(runs) for recipe in recipes)
        cut = [part for part in parts if part is not None]
        if not cut:
            raise MisuseError(no_figure(text))
        chosen += [part for part in cut if part not in chosen]
    return chosen


def _row(curve: Curve, level: float) -> tuple[CurveRow, list[CheckpointRow]]:
    recipe = curve.recipe
    chance = _usable_chance(curve)
    points = _points(curve, chance, level)
    all_positions = set().union(*(run.positions for run in recipe.trajectories))
    above = [point for point in points if point.is_above_chance]
    fallen = [point for point in points if point.is_drop]
    worst = max(fallen, key=lambda point: abs(point.change or 0.0), default=None)
    last = None
    if points:
        last = points[-1]
    tested = [point.p_drop for point in points if point.p_drop is not None]
    first = None
    if points:
        first = points[0].score
    row = CurveRow(
        **_head(curve),
        n_seeds=len(recipe.trajectories),
        n_checkpoints=len(points),
        n_left_out=len(all_positions) - len(points),
        first=first,
        **part_fields(last, "n_prompts", "ci_low", "ci_high", last="score"),
        band=last.band if last else "",
        **_order(recipe),
        chance=chance.level,
        chance_from=chance.source,
        above_chance_at=above[0].position if above else None,
        above_chance_from=_kept_from(points),
        n_drops=len(fallen) if tested else None,
        **part_fields(worst, largest_drop="change", largest_drop_at="position"),
        other="",
        crossing_low=None,
        crossing_high=None,
        crossing=None,
        crossing_in_words="",
        flags=unequal_prompts(recipe.trajectories),
        chance_reason=chance.reason,
        reason=_why(curve, points, tested),
    )
    return row, points


def _head(curve: Curve) -> dict[str, Any]:
    """Fields that all rows of a curve have."""
    names = ("benchmark", "metric", "model", "recipe", "unit")
    own = {name: getattr(curve.recipe, name) for name in names}
    return own | {
        "split": curve.recipe.settings["split"] or "",
        "setting": curve.setting,
    }


def _order(recipe: RecipeScores) -> dict[str, Any]:
    """How far scores go with the order of checkpoints, and how much the last ones vary;
    means over seeds."""
    table = recipe.table(recipe.common)

    def mean(values: Iterable[float | None]) -> float | None:
        defined = [value for value in values if value is not None]
        if defined:
            return float(np.mean(defined))
        return None

    return {
        "tau": mean(
            monotonicity_tau(recipe.sign * scores)
            for scores in table
            if len(scores) > 1
        ),
        "spearman": mean(
            monotonicity_spearman(recipe.sign * scores)
            for scores in table
            if len(scores) > 1
        ),
        "spread_of_last_five": mean(
            relative_spread(scores) for scores in table if len(scores)
        ),
    }


def _usable_chance(curve: Curve) -> Chance:
    if curve.recipe.higher_is_better is None and curve.chance.level is not None:
        return Chance(
            None, "", {}, direction_unknown(curve.recipe.metric, curve.recipe.benchmark)
        )
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
    if tested:
        return ""
    return "no step can be tested: nothing changes but alike in all seeds and prompts"


def _kept_from(points: Sequence[CheckpointRow]) -> float | None:
    tested = [point for point in points if point.is_above_chance is not None]
    start = None
    for point in reversed(tested):
        if not point.is_above_chance:
            break
        start = point.position
    return start


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
    changes = [
        change(b, a, clusters, same_seeds=True)
        for a, b in zip(cells, cells[1:], strict=False)
    ]
    falls = [
        math.nan,
        *(step.p_fall if recipe.sign > 0 else step.p_rise for step in changes),
    ]
    if recipe.higher_is_better is None:
        falls = [math.nan] * len(cells)
    above = departure(p_above, level=level).p_holm
    fallen = departure(falls, level=level).p_holm
    ends = [
        _band(curve, cell, mean.interval(level), level)
        for cell, mean in zip(cells, means, strict=True)
    ]
    return [
        CheckpointRow(
            **_head(curve),
            position=position,
            n_seeds=len(cells[index].figures),
            n_prompts=len(cells[index].prompts) or None,
            score=means[index].mean,
            ci_low=None if (band := ends[index]) is None else band[0],
            ci_high=None if band is None else band[1],
            band=means[index].basis,
            p_above_chance=_or_none(above[index]),
            is_above_chance=_significant(above[index], level),
            change=changes[index - 1].mean.mean if index else None,
            p_drop=_or_none(fallen[index]),
            is_drop=_significant(fallen[index], level),
        )
        for index, position in enumerate(positions)
    ]


def _band(
    curve: Curve, cell: Checkpoint, interval: tuple[float, float] | None, level: float
) -> tuple[float, float] | None:
    """One run has the interval of the leaderboard; several seeds theirs, in clusters
    not narrower, inside the metric's bounds."""
    low, high = curve.bounds or (None, None)
    labels = None
    if cell.has_prompts:
        labels = curve.clusters.labels(cell.prompts)
    if cell.has_prompts and (
        len(cell.figures) == 1 or (interval is not None and labels is not None)
    ):
        x = cell.scores.mean(axis=0)
        is_above = low is None or x.min() >= low
        inside = is_above and (high is None or x.max() <= high)
        n_draws = 1 if cell.zero_one else np.full(len(x), 2.0)
        bounds = None
        if inside:
            bounds = curve.bounds
        estimate = estimate_mean(
            x,
            clusters=labels,
            bounds=bounds,
            n_draws=n_draws,
            level=level,
        )
        if estimate.ci_low is None or estimate.ci_high is None:
            own = None
        else:
            own = (estimate.ci_low, estimate.ci_high)
        if interval is None or len(cell.figures) == 1:
            return own
        if own is not None:
            interval = (min(interval[0], own[0]), max(interval[1], own[1]))
    if interval is None:
        return None
    ends = (
        max(interval[0], -math.inf if low is None else low),
        min(interval[1], math.inf if high is None else high),
    )
    if ends[0] <= ends[1]:
        return ends
    return interval


def _or_none(p: float) -> float | None:
    if math.isnan(p):
        return None
    return p


def _significant(p: float, level: float) -> bool | None:
    if math.isnan(p):
        return None
    return rejects(p, 1 - level)


def cross_all(
    curves: Sequence[Curve],
    rows: Sequence[CurveRow],
    level: float,
    *,
    two_formulations: bool,
) -> list[CurveRow]:
    """The rows, with where pairs of them cross: two curves, or each recipe in both
    formulations.

    Raises:
        MisuseError: two curves whose positions are in different units.
    """
    crossed = list(rows)
    if two_formulations:
        pairs = _formulations(curves)
    elif len(curves) == 2:
        pairs = [(0, 1)]
    else:
        pairs = []
    for first, second in pairs:
        for index, row in zip(
            (first, second), _cross(curves, rows, first, second, level), strict=True
        ):
            crossed[index] = row
    return crossed


def _formulations(curves: Sequence[Curve]) -> list[tuple[int, int]]:
    """Places of the curves of one recipe on the two benchmarks, where just one fits."""
    by_recipe = grouped(range(len(curves)), lambda index: _who(curves[index]))
    pairs = [tuple(indices) for indices in by_recipe.values() if len(indices) == 2]
    return [
        (a, b)
        for a, b in pairs
        if curves[a].recipe.benchmark != curves[b].recipe.benchmark
    ]


def _who(curve: Curve) -> tuple[str, ...]:
    return (curve.recipe.model, curve.recipe.recipe, curve.recipe.unit)


def _cross(
    curves: Sequence[Curve],
    rows: Sequence[CurveRow],
    first: int,
    second: int,
    level: float,
) -> tuple[CurveRow, CurveRow]:
    a, b = curves[first], curves[second]
    names = _names(rows[first], rows[second])
    if a.recipe.unit != b.recipe.unit:
        raise MisuseError(
            f"the checkpoints of {names[0]} are counted in {a.recipe.unit}, those of "
            f"{names[1]} in {b.recipe.unit}: ingest both with the same one (step, "
            "tokens or epoch), or name one of them alone"
        )
    ours = [
        replace(rows[index], other=other)
        for index, other in ((first, names[1]), (second, names[0]))
    ]
    common = [position for position in a.checkpoints if position in b.checkpoints]
    if not common:
        why = "the two have no checkpoint in common"
        return replace(ours[0], crossing_in_words=why), replace(
            ours[1], crossing_in_words=why
        )
    seeds = []
    for curve in (a, b):
        seeds.append(tuple(run.seed for run in curve.recipe.trajectories))
    same = _who(a) == _who(b) and seeds[0] == seeds[1]
    steps = [
        change(a.checkpoints[u], b.checkpoints[u], a.clusters, same_seeds=same)
        for u in common
    ]
    intersection = crossing(
        [step.mean.mean for step in steps],
        [step.p_value for step in steps],
        common,
        level=level,
    )
    words = _in_words(intersection, names, a.recipe, len(common))
    first_row, second_row = (
        replace(
            row,
            crossing_low=intersection.low,
            crossing_high=intersection.high,
            crossing=intersection.position,
            crossing_in_words=words,
        )
        for row in ours
    )
    return first_row, second_row


def _names(first: CurveRow, second: CurveRow) -> tuple[str, str]:
    """Labels of the two curves: their names, or the benchmarks where the names are
    equal."""
    if first.benchmark != second.benchmark:
        return first.benchmark, second.benchmark
    return first.name, second.name


def _in_words(
    intersection: Crossing, names: tuple[str, str], recipe: RecipeScores, n: int
) -> str:
    ahead = "above"
    if recipe.higher_is_better is not None:
        ahead = "ahead"

    def first(side: int) -> str:
        if side * recipe.sign > 0:
            return names[0]
        return names[1]

    if intersection.n_changes:
        about = float(f"{intersection.position:.4g}")
        before, after = map(
            first, (intersection.ahead_before, intersection.ahead_after)
        )
        if intersection.n_changes > 1:
            return (
                f"the lead changes {intersection.n_changes} times: at first {before} "
                f"is {ahead}, until {recipe.unit} {intersection.low:.12g}, and at "
                f"{intersection.high:.12g} {after}: they cross between for the first "
                f"time, at about {about:.12g}"
            )
        return (
            f"{before} is {ahead} until {recipe.unit} {intersection.low:.12g}, {after} "
            f"from {intersection.high:.12g} on: they cross between, at about "
            f"{about:.12g}"
        )
    if all(map(math.isnan, intersection.p_holm)):
        return "no crossing is shown: at no checkpoint can the two be tested"
    count = intersection.n_ahead + intersection.n_behind
    if count:
        leader, other = (first(side * intersection.ahead_after) for side in (1, -1))
        return (
            f"no crossing is shown: {leader} is significantly {ahead} at {count} of "
            f"{n} checkpoints, {other} at none"
        )
    return (
        f"no crossing is shown: at none of {n} checkpoints is one of the two "
        f"significantly {ahead}"
    )


def correlations(curves: Sequence[Curve]) -> tuple[float | None, float | None]:
    """Pearson and Kendall over recipes of the last scores in two formulations; None
    below three."""
    pairs = []
    for a, b in _formulations(curves):
        if curves[a].checkpoints and curves[b].checkpoints:
            pairs.append(
                tuple(
                    float(np.mean(list(curve.checkpoints.values())[-1].figures))
                    for curve in (curves[a], curves[b])
                )
            )
    if len(pairs) < 3:
        return None, None
    x, y = np.array(pairs).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        pearson = None
    else:
        pearson = float(np.corrcoef(x, y)[0, 1])
    return pearson, kendall_tau(x, y)
