"""Curves along training: findings in words, a row for each curve or checkpoint, notes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from warehouse.analysis.results import RecipeRow, Result
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
#: Curves whose findings are told one by one.
_MOST_SENTENCES = 6
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
class CheckpointRow(RecipeRow):
    """One checkpoint of a curve. Figures are in the metric's reported unit."""

    unit: str  #: of the position: ``step``, ``tokens`` or ``epoch``.
    position: float  #: of the checkpoint.
    n_seeds: int  #: seeds behind the score.
    #: prompts that all of them have; None where prompts are not stored.
    n_prompts: int | None
    score: float  #: mean over seeds.
    ci_low: float | None  #: lower end of its band; None without an error.
    ci_high: float | None  #: upper end.
    band: str  #: what the band allows for: ``seeds and prompts``, ``seeds``, ``prompts`` or ``reported errors``.
    #: one-sided, Holm over the checkpoints of the curve; None without chance or test.
    p_above_chance: float | None
    is_above_chance: bool | None  #: p at most 1 − level.
    change: float | None  #: from the checkpoint before; None for the first.
    p_drop: float | None  #: one-sided p of a fall, Holm over the steps of the curve.
    is_drop: bool | None  #: p at most 1 − level.


@dataclass(frozen=True)
class CurveRow(RecipeRow):
    """One recipe along its training, all else being equal."""

    unit: str  #: of the positions: ``step``, ``tokens`` or ``epoch``.
    n_seeds: int  #: seeds S.
    n_checkpoints: int  #: checkpoints that all seeds have.
    n_left_out: int  #: checkpoints that only some seeds have.
    #: prompts of the last checkpoint; None where prompts are not stored.
    n_prompts: int | None
    first: float | None  #: score of the first checkpoint, mean over seeds.
    last: float | None  #: score of the last one.
    ci_low: float | None  #: lower end of its band.
    ci_high: float | None  #: upper end.
    band: str  #: what the band allows for, as of `CheckpointRow`.
    #: Kendall's τ-b of the scores with the order of checkpoints, by the metric's
    #: direction; mean over seeds.
    tau: float | None
    spearman: float | None  #: Spearman's correlation of the same.
    #: standard deviation (ddof 0) of the last five checkpoints over their mean; mean
    #: over seeds.
    spread_of_last_five: float | None
    chance: float | None  #: what guessing scores; None with ``chance_reason``.
    chance_from: str  #: ``given``, ``metric`` or ``options``.
    #: first checkpoint significantly above chance; None without one.
    above_chance_at: float | None
    #: checkpoint from which all are; None if the last is not.
    above_chance_from: float | None
    #: significant drops from one checkpoint to the next; None without a test.
    n_drops: int | None
    largest_drop: float | None  #: the largest of them, as a difference.
    largest_drop_at: float | None  #: position of the checkpoint after it.
    other: str  #: the curve that this one is held against; empty without one.
    #: last checkpoint at which the one is significantly ahead before the other is.
    crossing_low: float | None
    #: first checkpoint at which the other is: with probability ``level`` the true
    #: curves change places between the two; None where no crossing is shown.
    crossing_high: float | None
    crossing: float | None  #: where the differences turn, between the two.
    #: which is ahead before and after, or why no crossing is shown.
    crossing_in_words: str
    #: ``unequal_prompts``: some figures rest on fewer or other prompts; drops and
    #: crossings are over common ones, but tau, Spearman's correlation, the spread of
    #: the last five and the scores are not.
    flags: tuple[str, ...]
    chance_reason: str  #: why there is no test against chance.
    reason: str  #: why figures are missing.

    @property
    def name(self) -> str:
        """Model, recipe and the other settings that distinguish it."""
        recipe = ""
        if self.recipe not in self.model:
            recipe = self.recipe
        return " ".join(filter(None, (self.model, recipe, self.setting)))


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
        """The findings, the command's table, and what is missing.

        Args:
            verbose: changes nothing here.
            checkpoints: a row for each checkpoint, in place of one for each curve.
        """
        return curves_view(self, checkpoints=checkpoints)


def curves_view(report: CurvesReport, *, checkpoints: bool) -> View:
    """The findings, a table, and what is missing.

    Args:
        checkpoints: a row for each checkpoint, in place of one for each curve.
    """
    if checkpoints:
        said, table = _checkpoints(report)
    else:
        said, table = _curves(report)
    return View(
        (*_sentences(report), "", *said, table), (*_notes(report), *report.notes)
    )


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


def _notes(report: CurvesReport) -> list[str]:
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


def _sentences(report: CurvesReport) -> list[str]:
    """The findings in words; of many curves the numbers only."""
    findings = [
        f"{_of(row, report)}: {', '.join(_findings(row))}."
        for row in report.rows[:_MOST_SENTENCES]
        if _findings(row)
    ]
    if len(report.rows) <= _MOST_SENTENCES:
        sentences = findings
    else:
        sentences = [f"{report.one_line}."]
    crossings = dict.fromkeys(
        f"{_whose(row, report)}{row.crossing_in_words}."
        for row in report.rows
        if row.crossing_in_words
    )
    sentences += list(crossings)[:_MOST_SENTENCES]
    if report.kendall is not None:
        pearson = ""
        if report.pearson is not None:
            pearson = f", Pearson {report.pearson:.2f}"
        sentences.append(
            "Over the recipes the last scores of the two go together by Kendall "
            f"{report.kendall:.2f}{pearson}."
        )
    bands = ", ".join(dict.fromkeys(row.band for row in report.rows if row.band))
    if bands:
        sentences.append(
            f"Bands and tests allow for {bands}; tests are corrected over checkpoints "
            "(Holm)."
        )
    return sentences or [f"{report.one_line}."]


def _of(row: CurveRow, report: CurvesReport) -> str:
    several = len({other.benchmark for other in report.rows}) > 1
    if several:
        return f"{row.name} on {row.benchmark}"
    return row.name


def _whose(row: CurveRow, report: CurvesReport) -> str:
    """The recipe, where each has a crossing of its own."""
    several = len({compared.name for compared in report.rows if compared.other}) > 2
    if several:
        return f"{row.name}: "
    return ""


def _findings(row: CurveRow) -> list[str]:
    words = []
    if row.chance is not None and row.band:
        source = {
            "given": "",
            "metric": " by the metric",
            "options": " by the options",
        }[row.chance_from]
        at = f"chance ({row.chance:.3g}{source})"
        if row.above_chance_from is not None:
            words.append(f"above {at} from {row.unit} {row.above_chance_from:g} on")
        elif row.above_chance_at is not None:
            words.append(
                f"first above {at} at {row.unit} {row.above_chance_at:g}, not to the "
                "end"
            )
        else:
            words.append(f"never significantly above {at}")
    if row.n_drops and row.largest_drop is not None:
        drops = counted(row.n_drops, "significant drop")
        if row.n_drops > 1:
            drops += ", the largest"
        else:
            drops += ","
        words.append(
            f"{drops} by {abs(row.largest_drop):.3g} at "
            f"{row.unit} {row.largest_drop_at:g}"
        )
    elif row.n_drops == 0:
        words.append("no significant drop")
    return words
