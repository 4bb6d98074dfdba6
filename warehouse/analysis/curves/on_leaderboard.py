"""Scores along training: the rows of a leaderboard whose checkpoints have a place in
it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.analysis.groups import grouped
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.conditions import Condition, Run, describe
from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS

# What names a checkpoint: it differs along a curve, all else has to agree.


@dataclass(frozen=True)
class CurvePoint:
    """One checkpoint."""

    position: float  #: its place in training, in the curve's unit.
    estimate: float  #: the figure, as on the leaderboard.
    ci_low: float | None  #: lower end of its interval; None without one.
    ci_high: float | None  #: upper end.


@dataclass(frozen=True)
class ModelCurveRow(Row):
    """One model along its training, all else being equal."""

    model: str  #: name of the model.
    #: settings that tell the curve from others, such as ``"training_seed=1"``.
    condition: str
    metric: str  #: name of the metric, with its filter.
    split: str  #: part of the benchmark.
    unit: str  #: of the positions: ``step``, ``tokens`` or ``epoch``; empty if unknown.
    n_checkpoints: int  #: checkpoints with a figure.
    first: float  #: figure of the first one.
    last: float  #: figure of the last one.
    best: float  #: best figure.
    best_position: float  #: of the first checkpoint that has it.
    #: Kendall's τ-b of the figures with the order of the checkpoints, above 0 for
    #: getting better; None where they are all equal.
    monotonicity: float | None
    points: tuple[CurvePoint, ...]  #: the checkpoints, in order.


@dataclass(frozen=True)
class BenchmarkCurves(Result):
    """Curves of one benchmark, the best last figure first."""

    DRAWN_BY = "warehouse.analysis.curves.leaderboard_charts:curve_charts"

    benchmark: str  #: its name.
    #: direction; None if unknown (then higher is taken to be).
    higher_is_better: bool | None
    level: float  #: nominal coverage of the intervals.
    rows: tuple[ModelCurveRow, ...]  #: one per curve of two checkpoints or more.

    @property
    def one_line(self) -> str:
        n = sum(row.n_checkpoints for row in self.rows)
        return f"{self.benchmark}: {len(self.rows)} curves of {n} checkpoints"


def training_curves(board: Leaderboard, runs: Iterable[Run]) -> BenchmarkCurves:
    """The rows of a leaderboard as curves; empty where no run has a place in training.

    Args:
        board: with all its rows; figures and intervals are taken from there.
        runs: those behind it.
    """
    rows = {}
    for row in board.rows:
        if row.estimate is not None:
            rows.update(dict.fromkeys(row.run_ids, row))
    placed = [
        run for run in runs if run["run_id"] in rows and run["position"] is not None
    ]
    seen: dict[tuple[int, ...], tuple[LeaderboardRow, Mapping[str, Any]]] = {}
    for run in sorted(placed, key=lambda run: int(run["run_id"])):
        row = rows[run["run_id"]]
        seen.setdefault(row.run_ids, (row, run))
    lines = grouped(
        seen.values(), lambda placed: (placed[0].metric, *_line_of(placed[1]))
    )
    several = []
    for members in lines.values():
        if len({run["position"] for _, run in members}) > 1:
            several.append(members)
    sign = 1.0
    if board.higher_is_better is False:
        sign = -1.0
    labels = describe([_without_checkpoint(members[0][1]) for members in several])
    curves = [
        _curve(members, label, sign)
        for members, label in zip(several, labels, strict=True)
    ]
    curves.sort(key=lambda curve: (-sign * curve.last, curve.model, curve.condition))
    level = 0.95
    if board.rows:
        level = board.rows[0].level
    return BenchmarkCurves(
        board.benchmark, board.higher_is_better, level, tuple(curves)
    )


def _line_of(run: Mapping[str, Any]) -> tuple[Any, ...]:
    names = (name for name in LABEL_FIELDS if name not in CHECKPOINT_FIELDS)
    return (run["model"], run["position_unit"], *(run[name] for name in names))


def _without_checkpoint(run: Mapping[str, Any]) -> Condition:
    blank = dict(run) | dict.fromkeys(CHECKPOINT_FIELDS)
    return Condition(str(run["condition_key"]), (blank,))


def _curve(
    members: Sequence[tuple[LeaderboardRow, Mapping[str, Any]]], label: str, sign: float
) -> ModelCurveRow:
    ordered = sorted(
        members, key=lambda member: (member[1]["position"], member[1]["run_id"])
    )
    points = tuple(
        CurvePoint(
            float(run["position"]), float(row.estimate or 0.0), row.ci_low, row.ci_high
        )
        for row, run in ordered
    )
    row, run = ordered[0]
    best = max(points, key=lambda point: sign * point.estimate)
    return ModelCurveRow(
        model=row.model,
        condition=label,
        metric=row.metric,
        split=row.split,
        unit=run["position_unit"] or "",
        n_checkpoints=len(points),
        first=points[0].estimate,
        last=points[-1].estimate,
        best=best.estimate,
        best_position=best.position,
        monotonicity=_monotonicity(points, sign),
        points=points,
    )


def _monotonicity(points: Sequence[CurvePoint], sign: float) -> float | None:
    from scipy import stats  # takes longer to load than most answers

    figures = np.array([point.estimate for point in points])
    if (figures == figures[0]).all():
        return None
    positions = [point.position for point in points]
    return float(stats.kendalltau(positions, sign * figures).statistic)
