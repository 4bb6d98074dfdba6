"""Where the curves of two models, or of two formulations of one benchmark, change places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warehouse.analysis.training.curve_rows import CurveRow
from warehouse.analysis.training.prompt_tables import Curve, change
from warehouse.errors import MisuseError
from warehouse.stats.training.curve_tests import Crossing, crossing, kendall_tau


def cross_all(
    curves: Sequence[Curve], rows: Sequence[CurveRow], level: float, *, two_formulations: bool
) -> list[CurveRow]:
    """The rows, with where pairs of them cross: two curves, or each recipe in both formulations.

    Raises:
        MisuseError: two curves whose positions are in different units.
    """
    crossed = list(rows)
    pairs = _formulations(curves) if two_formulations else [(0, 1)] if len(curves) == 2 else []
    for first, second in pairs:
        for place, row in zip((first, second), _cross(curves, rows, first, second, level), strict=True):
            crossed[place] = row
    return crossed


def _formulations(curves: Sequence[Curve]) -> list[tuple[int, int]]:
    """Places of the curves of one recipe on the two benchmarks, where just one fits."""
    by_recipe: dict[tuple[str, ...], list[int]] = {}
    for place, curve in enumerate(curves):
        by_recipe.setdefault(_who(curve), []).append(place)
    pairs = [tuple(places) for places in by_recipe.values() if len(places) == 2]
    return [(a, b) for a, b in pairs if curves[a].recipe.benchmark != curves[b].recipe.benchmark]


def _who(curve: Curve) -> tuple[str, ...]:
    return (curve.recipe.model, curve.recipe.recipe, curve.recipe.unit)


def _cross(
    curves: Sequence[Curve], rows: Sequence[CurveRow], first: int, second: int, level: float
) -> tuple[CurveRow, CurveRow]:
    a, b = curves[first], curves[second]
    names = _names(rows[first], rows[second])
    if a.recipe.unit != b.recipe.unit:
        raise MisuseError(
            f"the checkpoints of {names[0]} are counted in {a.recipe.unit}, those of {names[1]} in {b.recipe.unit}:"
            " ingest both with the same one (step, tokens or epoch)"
        )
    ours = [replace(rows[place], other=other) for place, other in ((first, names[1]), (second, names[0]))]
    common = [position for position in a.checkpoints if position in b.checkpoints]
    if not common:
        why = "the two have no checkpoint in common"
        return replace(ours[0], crossing_in_words=why), replace(ours[1], crossing_in_words=why)
    seeds = [tuple(one.seed for one in curve.recipe.trajectories) for curve in (a, b)]
    same = _who(a) == _who(b) and seeds[0] == seeds[1]
    steps = [change(a.checkpoints[u], b.checkpoints[u], a.clusters, same_seeds=same) for u in common]
    intersection = crossing([one.mean.mean for one in steps], [one.p_value for one in steps], common, level=level)
    words = _in_words(intersection, names, a.recipe.unit, len(common), a.recipe.sign)
    first_row, second_row = (
        replace(
            row,
            crossing_low=intersection.low,
            crossing_high=intersection.high,
            crossing=intersection.place,
            crossing_in_words=words,
        )
        for row in ours
    )
    return first_row, second_row


def _names(first: CurveRow, second: CurveRow) -> tuple[str, str]:
    """What tells the two apart: their names, or the benchmarks where these are alike."""
    if first.benchmark != second.benchmark:
        return first.benchmark, second.benchmark
    return first.name, second.name


def _in_words(intersection: Crossing, names: tuple[str, str], unit: str, n: int, sign: float) -> str:
    def ahead(side: int) -> str:
        return names[0] if side * sign > 0 else names[1]

    if intersection.n_changes:
        more = f" ({intersection.n_changes - 1} more changes after)" if intersection.n_changes > 1 else ""
        return (
            f"{ahead(intersection.ahead_before)} is ahead until {unit} {intersection.low:g},"
            f" {ahead(intersection.ahead_after)} from {intersection.high:g} on: they cross between, at about"
            f" {intersection.place:.4g}{more}"
        )
    if all(map(math.isnan, intersection.p_holm)):
        return "no crossing is shown: at no checkpoint can the two be tested"
    count = intersection.n_ahead + intersection.n_behind
    if count:
        leader = ahead(intersection.ahead_after)
        return f"no crossing is shown: {leader} is ahead at {count} of {n} checkpoints, never behind"
    return f"no crossing is shown: at none of {n} checkpoints is one of the two significantly ahead"


def correlations(curves: Sequence[Curve]) -> tuple[float | None, float | None]:
    """Pearson and Kendall over recipes of the last scores in two formulations; None below three."""
    pairs = [
        tuple(float(np.mean(list(one.checkpoints.values())[-1].figures)) for one in (curves[a], curves[b]))
        for a, b in _formulations(curves)
        if curves[a].checkpoints and curves[b].checkpoints
    ]
    if len(pairs) < 3:
        return None, None
    x, y = np.array(pairs).T
    pearson = None if np.ptp(x) == 0 or np.ptp(y) == 0 else float(np.corrcoef(x, y)[0, 1])
    return pearson, kendall_tau(x, y)
