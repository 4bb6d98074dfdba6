"""Curves along training: findings in words, a row for each curve or checkpoint, notes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from warehouse.analysis.curves.brief import brief_view, sentences, unit_of
from warehouse.analysis.curves.row import CheckpointRow, CurveRow
from warehouse.analysis.results import Result
from warehouse.tables.view import Table, View, constants
from warehouse.tables.words import (
    counted,
    decimals,
    interval,
    level_column,
    meanings,
    number,
    p_value,
)

#: Columns that a narrow terminal does without, the first of them first.
_MINOR = (
    "sd/mean of last 5",
    "Spearman",
    "tau",
    "band",
    "chance",
    "checkpoints",
    "first",
    "drop at",
    "split",
)
#: Columns that are the same in most answers: said once above the table where they are.
_SAID_ONCE = ("benchmark", "metric", "model", "unit")
_HIDE_EMPTY = (
    *(
        "split",
        "recipe",
        "setting",
        "tau",
        "Spearman",
        "sd/mean of last 5",
        "above from",
        "drops",
        "drop at",
    ),
)


@dataclass(frozen=True)
class CurvesReport(Result):
    """Curves along training."""

    DRAWN_BY = "warehouse.analysis.curves.charts:training_charts"

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "model",
            "recipe",
            "setting",
            "n_seeds",
            "n_checkpoints",
            "last",
            "ci_low",
            "ci_high",
            "chance",
        ),
        *("above_chance_from", "n_drops", "crossing_low", "crossing_high"),
    )
    rows: tuple[CurveRow, ...]  #: one per curve.
    checkpoints: tuple[CheckpointRow, ...]  #: one per curve and checkpoint.
    level: float  #: of bands, and 1 − the chance of any false alarm over a curve's checkpoints.
    left_out: int  #: models without a place in training, by number.
    #: correlation over recipes of their last scores in the two formulations; None
    #: unless two are compared, and below three recipes.
    pearson: float | None = None
    kendall: float | None = None  #: τ-b of the same.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    @property
    def one_line(self) -> str:
        n = len(self.rows)
        n_above = sum(row.above_chance_from is not None for row in self.rows)
        n_with_chance = sum(row.chance is not None for row in self.rows)
        n_drops = sum(row.n_drops or 0 for row in self.rows)
        parts = [f"{n} curves" if n > 1 else f"{n} curve"]
        if n_with_chance:
            parts.append(f"{n_above} of {n_with_chance} above chance at the end")
        parts.append(counted(n_drops, "significant drop"))
        return ", ".join(parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on all curves."""
        return report_notes(self)

    def view(self, *, verbose: bool = False, checkpoints: bool = False) -> View:
        """The findings, a row for each curve, and what is missing.

        Args:
            verbose: every column.
            checkpoints: a row for each checkpoint, in place of one for each curve.
        """
        unit = unit_of(self.rows, in_percent=self.is_share)
        said = sentences(
            self.rows, self.one_line, unit, kendall=self.kendall, pearson=self.pearson
        )
        notes = (*_reasons(self), *self.notes)
        if not verbose and not checkpoints:
            return brief_view(self.rows, said, notes, unit, self.level)
        if checkpoints:
            shared, table = _checkpoints(self)
        else:
            shared, table = _curves(self)
        return View((*said, *_allowed_for(self), "", *shared, table), notes)


def _allowed_for(report: CurvesReport) -> list[str]:
    """What bands and tests allow for."""
    bands = ", ".join(dict.fromkeys(row.band for row in report.rows if row.band))
    if not bands:
        return []
    return [
        f"Bands and tests allow for {bands}; tests are corrected over checkpoints "
        "(Holm)."
    ]


def report_notes(report: CurvesReport) -> tuple[str, ...]:
    """Remarks on all curves."""
    notes: list[str] = []
    if report.left_out:
        notes.append(
            f"{report.left_out} recipes without a place in training are left out"
        )
    if len(report.rows) > 2 and not any(row.other for row in report.rows):
        notes.append("name two models to see where their curves cross")
    return tuple(notes)


def _reasons(report: CurvesReport) -> list[str]:
    """Why figures are missing, what flags mean, and which checkpoints are left out."""
    reasons: Counter[str] = Counter()
    for row in report.rows:
        both = dict.fromkeys((row.reason, row.chance_reason))
        reasons.update(filter(None, both))
    notes = [f"{why}: {counted(n, 'curve')}" for why, n in reasons.items()]
    notes += meanings(chain.from_iterable(row.flags for row in report.rows))
    n_partly = sum(row.n_left_out > 0 for row in report.rows)
    if n_partly:
        notes.append(
            "checkpoints that only some seeds have are left out in "
            f"{counted(n_partly, 'curve')}"
        )
    return notes


def _curves(report: CurvesReport) -> tuple[list[str], Table]:
    """The heading that all curves share, and a row for each."""
    bands = [(row.ci_low, row.ci_high) for row in report.rows]
    n_decimals = decimals(
        [
            (high - low) / 4
            for low, high in bands
            if low is not None and high is not None
        ]
    )
    cells = [
        _curve_cells(row, n_decimals, level_column(report.level)) for row in report.rows
    ]
    said, cells = constants(cells, _SAID_ONCE)
    return said, Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)


def _curve_cells(row: CurveRow, n_decimals: int, band: str) -> dict[str, Any]:
    recipe = ""
    if row.recipe not in row.model:
        recipe = row.recipe
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "model": row.model,
        "recipe": recipe,
        "setting": row.setting,
        "unit": row.unit,
        "seeds": row.n_seeds,
        "checkpoints": row.n_checkpoints,
        "first": number(row.first, n_decimals),
        "last": number(row.last, n_decimals),
        band: interval(row.ci_low, row.ci_high, n_decimals),
        "band": row.band,
        "tau": number(row.tau, 2),
        "Spearman": number(row.spearman, 2),
        "sd/mean of last 5": number(row.spread_of_last_five, 4),
        "chance": row.chance,
        "above from": row.above_chance_from,
        "drops": row.n_drops,
        "drop at": row.largest_drop_at,
    }


def _checkpoints(report: CurvesReport) -> tuple[list[str], Table]:
    """The heading that all checkpoints share, and a row for each."""
    points = report.checkpoints
    bands = [(point.ci_low, point.ci_high) for point in points]
    n_decimals = decimals(
        [
            (high - low) / 4
            for low, high in bands
            if low is not None and high is not None
        ]
    )
    cells = [
        _point_cells(point, n_decimals, level_column(report.level)) for point in points
    ]
    said, cells = constants(cells, _SAID_ONCE)
    hide_empty = ("split", "recipe", "setting", "p chance", "p drop", "", "change")
    return said, Table.of(
        cells, hide_empty=hide_empty, minor=("p drop", "p chance", "split")
    )


def _point_cells(point: CheckpointRow, n_decimals: int, band: str) -> dict[str, Any]:
    marks = [
        word
        for word, holds in (
            ("above chance", point.is_above_chance),
            ("drop", point.is_drop),
        )
        if holds
    ]
    recipe = ""
    if point.recipe not in point.model:
        recipe = point.recipe
    return {
        "benchmark": point.benchmark,
        "split": point.split,
        "metric": point.metric,
        "model": point.model,
        "recipe": recipe,
        "setting": point.setting,
        "unit": point.unit,
        "at": point.position,
        "score": number(point.score, n_decimals),
        band: interval(point.ci_low, point.ci_high, n_decimals),
        "p chance": p_value(point.p_above_chance),
        "change": number(point.change, n_decimals, sign=True),
        "p drop": p_value(point.p_drop),
        "": ", ".join(marks),
    }
