"""How many labels of people a corrected figure of stored models takes, or the
difference of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from warehouse.analysis.judge.question import PlanLabels
from warehouse.analysis.judge.units import JudgedUnits, pick_units, read_units
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.judges.plan import (
    FEWEST_FOR_CORRELATION,
    LabelPilot,
    LabelPlan,
    label_pilot,
    plan_labels,
    target_error,
)
from warehouse.store.connection import Store
from warehouse.tables.view import Table, TableNote, View, legend
from warehouse.tables.words import interval, number, percentage


@dataclass(frozen=True)
class LabelPlanRow(Row):
    """The labels that a figure of one model takes, or the difference of two."""

    model_a: str  #: the model.
    model_b: str  #: the other of a difference; empty for a mean.
    n_units: int  #: prompts that the judge has scored, of both models.
    #: labels with the judge's help (of each model); None where not even all prompts
    #: suffice, or nothing says a correlation.
    n_labels: int | None
    n_labels_alone: int | None  #: without it.
    saved: float | None  #: share of the labels that the judge saves.
    correlation: float | None  #: ρ of judge and people.
    #: lower end of its interval; None where it is supposed, or labels are few of a
    #: kind.
    low: float | None
    high: float | None  #: upper end.
    n_labels_low: int | None  #: labels if ρ is at its lower end: the cautious number.
    n_labels_high: int | None  #: if it is at the upper one.
    sd: float | None  #: standard deviation of the labels, or of their differences.
    n_pilot: int  #: labels at hand.
    #: width of the interval once all are labelled; of a difference the least that can
    #: be found then.
    least_width: float | None
    #: ``weak_judge``, ``few_labels``, ``labels_not_random``, ``sd_of_judge``,
    #: ``rough_pilot``.
    flags: tuple[str, ...]
    reason: str  #: why there is no number.


@dataclass(frozen=True)
class LabelPlans(Result):
    """The labels that figures of a benchmark take."""

    benchmark: str  #: name.
    judge: str  #: who judges.
    human: str  #: whose labels the correlation is of; empty where it is supposed.
    width: float | None  #: of the interval that is wanted; None for a difference.
    difference: float | None  #: to be found; None for a mean.
    power: float  #: chance to find it.
    level: float  #: of the interval.
    rows: tuple[LabelPlanRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        numbers = [row.n_labels for row in self.rows if row.n_labels is not None]
        if self.width is not None:
            goal = f"±{self.width / 2:g}"
        else:
            goal = f"a difference of {self.difference:g}"
        if not numbers:
            return f"no number of labels gives {goal}"
        if min(numbers) == max(numbers):
            span = f"{min(numbers):,}"
        else:
            span = f"{min(numbers):,} to {max(numbers):,}"
        lacking = len(self.rows) - len(numbers)
        without = ""
        if lacking:
            without = f"; for {lacking} of {len(self.rows)} there is no number"
        return f"{span} labels of each model give {goal}{without}"

    def view(self, *, verbose: bool = False) -> View:
        """The labels of each model or pair; with ``verbose`` what they go by."""
        chance = ""
        if self.difference is not None:
            chance = f", found with chance {self.power:g}"
        head = f"{self.benchmark}, judged by {self.judge}: {self.one_line}{chance}."
        ends = f"{100 * self.level:g}%"
        table = Table.of(
            [_cells(row, ends) for row in self.rows],
            hide_empty=("against", "saved", ends, "labels by it", "flags"),
            minor=("at least", "sd", "at hand", "judged"),
        )
        if not verbose:
            brief = table.without(("judged", "rho", "sd", "at least", "flags"))
            said = (TableNote("alone: labels that it takes without the judge"),)
            return View((head, "", brief, *said, *_remarks(self.rows)), self.notes)
        return View((head, "", table, *_legend(self), *_remarks(self.rows)), self.notes)


def _cells(row: LabelPlanRow, ends: str) -> dict[str, Any]:
    """Cells of a row.

    Args:
        ends: heading of the interval.
    """
    return {
        "model": row.model_a,
        "against": row.model_b,
        "judged": row.n_units,
        "labels": row.n_labels,
        "alone": row.n_labels_alone,
        "saved": percentage(row.saved),
        "rho": number(row.correlation, 2),
        ends: interval(row.low, row.high, 2),
        "labels by it": None
        if row.low is None
        else _span(row.n_labels_high, row.n_labels_low),
        "sd": number(row.sd, 3),
        "at hand": row.n_pilot,
        "at least": number(row.least_width, 3),
        "flags": row.flags,
    }


def _span(low: int | None, high: int | None) -> str:
    return f"{'none' if low is None else low} to {'none' if high is None else high}"


def _legend(plans: LabelPlans) -> list[TableNote]:
    supposed = " (supposed)"
    if plans.human:
        supposed = ""
    least = "difference that is found"
    if plans.difference is None:
        least = "width of the interval"
    words = {
        "labels": (
            "that people have to give, the judge helping; none: not even all answers "
            "suffice"
        ),
        "alone": "labels that it takes without the judge",
        "rho": f"correlation of judge and people{supposed}; it saves rho^2 at most",
        "labels by it": (
            "with the correlation at the ends of its interval; none: all do not suffice"
        ),
        "at least": f"{least} with every answer labelled",
    }
    return legend(words, are_terms=False)


def _remarks(rows: Sequence[LabelPlanRow]) -> list[str]:
    """Flags in words, and why there is no number."""
    found = []
    if any("weak_judge" in row.flags for row in rows):
        found.append(
            "weak_judge: a correlation up to .3 narrows an interval by 5 % at most; "
            "the judge hardly helps"
        )
    if any("few_labels" in row.flags for row in rows):
        found.append(
            "few_labels: with fewer than 20 labels the figure is that of the labels "
            "alone"
        )
    if lacking := [row for row in rows if row.reason]:
        who = " against ".join(filter(None, (lacking[0].model_a, lacking[0].model_b)))
        more = ""
        if len(lacking) > 1:
            more = f" ({len(lacking) - 1} more likewise)"
        found.append(f"no number for {who}: {lacking[0].reason}{more}")
    return found


@answers(PlanLabels)
def plan(store: Store, question: PlanLabels) -> LabelPlans:
    """A row for each model, or for each pair."""
    supposed = question.correlation is not None
    units, names = read_units(
        store,
        selection_of(question),
        question.judge,
        question.human,
        labels=not supposed,
    )
    couples: list[tuple[JudgedUnits, ...]] = [(judged,) for judged in units]
    if question.difference is not None:
        two = question.models and pick_units(
            store, units, question.models, question.where, latest=question.latest
        )
        couples = list(combinations(two or units, 2))
        if not couples:
            raise MisuseError(
                f"a difference takes two models; {names[0]} has scored one on "
                f"{question.benchmark}"
            )
    rows = tuple(_row(question, couple) for couple in couples)
    notes = []
    if any(judged.clusters is not None for judged in units):
        notes.append(
            "prompts count as independent here; where they come in clusters more "
            "labels are needed"
        )
    if any("labels_not_random" in row.flags for row in rows):
        notes.append(
            "labels at hand were not drawn by known chance: their correlation may be "
            "another than that of all"
        )
    if any("rough_pilot" in row.flags for row in rows):
        notes.append(
            "labels at hand are too few, or too few of one kind, to say how sure rho "
            "and sd are: an interval may come out half as wide again, or more (one in "
            "ten does)"
        )
    if any("sd_of_judge" in row.flags for row in rows):
        notes.append(
            "the spread of the labels is taken to be the judge's (--sd states another)"
        )
    return LabelPlans(
        units[0].condition.benchmark_split[0],
        names[0],
        "" if supposed else names[1],
        question.width,
        question.difference,
        question.power,
        question.level,
        rows,
        tuple(notes),
    )


def _row(question: PlanLabels, couple: tuple[JudgedUnits, ...]) -> LabelPlanRow:
    first = couple[0]
    if len(couple) == 2:
        prompts = np.intersect1d(first.prompts, couple[1].prompts, assume_unique=True)
        couple = tuple(judged.at(prompts) for judged in couple)
    judge = _difference([judged.judge for judged in couple])
    labels = _difference([judged.labels for judged in couple])
    flags: tuple[str, ...] = (
        ("labels_not_random",) if any(judged.not_random for judged in couple) else ()
    )
    pilot = _pilot(question, couple, judge, labels)
    if pilot.n_labels and pilot.correlation is not None and pilot.low is None:
        flags += ("rough_pilot",)
    sd = pilot.sd
    if sd is None and question.correlation is not None:
        sd, flags = (
            float(judge.std(ddof=1)) if len(judge) > 1 else None,
            (*flags, "sd_of_judge"),
        )
    error = target_error(
        width=question.width,
        difference=question.difference,
        level=question.level,
        power=question.power,
    )
    ends: list[int | None] = [None, None]
    if sd and pilot.reduction is not None and len(judge):
        found = plan_labels(len(judge), sd, pilot.reduction, error)
        ends = [
            None
            if end is None
            else plan_labels(len(judge), sd, max(0.0, end) ** 2, error).n_labels
            for end in (pilot.low, pilot.high)
        ]
    else:
        alike = "the judge scores all answers alike: say the spread of the labels, --sd"
        lacks = pilot.reason or (
            alike if len(judge) else "no prompt is scored for both"
        )
        found = LabelPlan(None, None, None, math.nan, (), lacks)
    size = question.width if question.difference is None else question.difference
    return LabelPlanRow(
        model_a=couple[0].condition.model,
        model_b=couple[1].condition.model if len(couple) == 2 else "",
        n_units=len(judge),
        n_labels=found.n_labels,
        n_labels_alone=found.n_labels_alone,
        saved=found.saved,
        correlation=pilot.correlation,
        low=pilot.low,
        high=pilot.high,
        n_labels_low=ends[0],
        n_labels_high=ends[1],
        sd=sd,
        n_pilot=pilot.n_labels,
        least_width=None
        if math.isnan(found.least_error)
        else (size or 0) * found.least_error / error,
        flags=(*flags, *found.flags),
        reason=found.reason or (pilot.reason if pilot.reduction == 0 else ""),
    )


def _difference(sides: Sequence[FloatArray]) -> FloatArray:
    if len(sides) == 2:
        return sides[0] - sides[1]
    return sides[0]


def _pilot(
    question: PlanLabels,
    couple: tuple[JudgedUnits, ...],
    judge: FloatArray,
    labels: FloatArray,
) -> LabelPilot:
    """The correlation that is supposed, or that labels at hand show."""
    rho = question.correlation
    if rho is not None:
        return LabelPilot(0, question.sd, rho, None, None, max(0.0, rho) ** 2, "")
    at = np.isfinite(labels)
    if not at.any():
        return LabelPilot(
            0,
            None,
            None,
            None,
            None,
            None,
            f"no label; a correlation takes {FEWEST_FOR_CORRELATION}",
        )
    if couple[0].clusters is None:
        clusters = None
    else:
        clusters = couple[0].clusters[at]
    return label_pilot(labels[at], judge[at], clusters=clusters, level=question.level)
