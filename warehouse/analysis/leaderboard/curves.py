"""Scores along training: the rows of a leaderboard whose checkpoints have a place in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.analysis.leaderboard.leaderboard import Leaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.conditions import Condition, Run, describe
from warehouse.records.run_fields import CHECKPOINT_FIELDS, LABEL_FIELDS

# What names a checkpoint: it differs along a curve, all else has to agree.


@dataclass(frozen=True)
class CurvePoint:
    """One checkpoint.

    Attributes:
        position: its place in training, in the curve's unit.
        estimate: the figure, as on the leaderboard.
        ci_low: lower end of its interval; None without one.
        ci_high: upper end.
    """

    position: float
    estimate: float
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True)
class ModelCurveRow(Row):
    """One model along its training, all else being equal.

    Attributes:
        model: name of the model.
        condition: settings that tell the curve from others, such as ``"training_seed=1"``.
        metric: name of the metric, with its filter.
        split: part of the benchmark.
        unit: of the positions: ``step``, ``tokens`` or ``epoch``; empty if unknown.
        n_checkpoints: checkpoints with a figure.
        first: figure of the first one.
        last: figure of the last one.
        best: best figure.
        best_position: of the first checkpoint that has it.
        monotonicity: Kendall's τ-b of the figures with the order of the checkpoints, above 0 for
            getting better; None where they are all equal.
        points: the checkpoints, in order.
    """

    model: str
    condition: str
    metric: str
    split: str
    unit: str
    n_checkpoints: int
    first: float
    last: float
    best: float
    best_position: float
    monotonicity: float | None
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True)
class BenchmarkCurves(Result):
    """Curves of one benchmark, the best last figure first.

    Attributes:
        benchmark: its name.
        higher_is_better: direction; None if unknown (then higher is taken to be).
        level: nominal coverage of the intervals.
        rows: one per curve of two checkpoints or more.
    """

    benchmark: str
    higher_is_better: bool | None
    level: float
    rows: tuple[ModelCurveRow, ...]

    @property
    def one_line(self) -> str:
        """The result in one line."""
        n = sum(row.n_checkpoints for row in self.rows)
        return f"{self.benchmark}: {len(self.rows)} curves of {n} checkpoints"


def training_curves(board: Leaderboard, runs: Iterable[Run]) -> BenchmarkCurves:
    """The rows of a leaderboard as curves; empty where no run has a place in training.

    Args:
        board: with all its rows; figures and intervals are taken from there.
        runs: those behind it.
    """
    rows = {run: row for row in board.rows for run in row.run_ids if row.estimate is not None}
    placed = [run for run in runs if run["run_id"] in rows and run["position"] is not None]
    seen: dict[tuple[int, ...], tuple[LeaderboardRow, Mapping[str, Any]]] = {}
    for run in sorted(placed, key=lambda run: int(run["run_id"])):
        row = rows[run["run_id"]]
        seen.setdefault(row.run_ids, (row, run))
    lines: dict[tuple[Any, ...], list[tuple[LeaderboardRow, Mapping[str, Any]]]] = {}
    for row, run in seen.values():
        lines.setdefault((row.metric, *_line_of(run)), []).append((row, run))
    several = [members for members in lines.values() if len(_positions(members)) > 1]
    sign = -1.0 if board.higher_is_better is False else 1.0
    labels = describe([_without_checkpoint(members[0][1]) for members in several])
    curves = [_curve(one, label, sign) for one, label in zip(several, labels, strict=True)]
    curves.sort(key=lambda curve: (-sign * curve.last, curve.model, curve.condition))
    level = board.rows[0].level if board.rows else 0.95
    return BenchmarkCurves(board.benchmark, board.higher_is_better, level, tuple(curves))


def _line_of(run: Mapping[str, Any]) -> tuple[Any, ...]:
    names = (name for name in LABEL_FIELDS if name not in CHECKPOINT_FIELDS)
    return (run["model"], run["position_unit"], *(run[name] for name in names))


def _positions(members: Sequence[tuple[LeaderboardRow, Mapping[str, Any]]]) -> set[float]:
    return {run["position"] for _, run in members}


def _without_checkpoint(run: Mapping[str, Any]) -> Condition:
    blank = dict(run) | dict.fromkeys(CHECKPOINT_FIELDS)
    return Condition(str(run["condition_key"]), (blank,))


def _curve(members: Sequence[tuple[LeaderboardRow, Mapping[str, Any]]], label: str, sign: float) -> ModelCurveRow:
    ordered = sorted(members, key=lambda one: (one[1]["position"], one[1]["run_id"]))
    points = tuple(
        CurvePoint(float(run["position"]), float(row.estimate or 0.0), row.ci_low, row.ci_high) for row, run in ordered
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
    places = [point.position for point in points]
    return float(stats.kendalltau(places, sign * figures).statistic)
