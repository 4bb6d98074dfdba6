"""A judge's figure, that of people's labels, and the one that both give together, side by side: of each model on a
benchmark, of the difference of two, and as a release gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warehouse.analysis.comparison.gate import EXIT
from warehouse.analysis.judges.units import JudgedUnits, pick_units, read_units
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.labels import CorrectedComparison, CorrectedGate, CorrectedLeaderboard
from warehouse.questions.question import answers
from warehouse.stats.core.quantiles import t_upper_tail
from warehouse.stats.judges.prediction import (
    FEWEST_LABELS,
    OWN_WEIGHT_FROM,
    CorrectedFigure,
    pooled_weight,
    prediction_powered_difference,
    prediction_powered_mean,
)
from warehouse.stats.paired.gate import decide
from warehouse.store.connection import Store


@dataclass(frozen=True)
class CorrectedRow(Row):
    """A mean, or a difference in favour of the first model, by the judge, by labels and by both."""

    benchmark: str  #: name of the benchmark.
    split: str  #: part of it.
    model_a: str  #: the model.
    model_b: str  #: the other of a difference; empty for a mean.
    n_units: int  #: prompts that the judge has scored, of both.
    n_labels: int  #: of these with a label of both.
    n_missing: int  #: drawn to be labelled, and without a label.
    judge_estimate: float  #: the judge's figure over all prompts.
    judge_low: float | None  #: lower end of its interval, which is not one of what people would say.
    judge_high: float | None  #: upper end.
    label_estimate: float | None  #: the labels' own figure; None without labels, like what follows.
    label_low: float | None  #: lower end of its interval.
    label_high: float | None  #: upper end.
    estimate: float | None  #: the corrected figure.
    standard_error: float | None  #: of it.
    low: float | None  #: lower end of its interval.
    high: float | None  #: upper end.
    level: float  #: nominal coverage of the intervals.
    degrees_of_freedom: float | None  #: of the error.
    weight: float | None  #: λ, how far the judge is believed.
    correlation: float | None  #: of judge and labels.
    width_ratio: float | None  #: width of the interval over that of the labels alone.
    p_value: float | None  #: two-sided, of a difference of 0; None for a mean.
    higher_is_better: bool | None  #: direction of the metric.
    flags: tuple[str, ...]  #: those of the figure (``labels_only``, ``few_differing``, ...), and ``missing_labels``.
    reason: str  #: why the labels stand alone, why there is no figure, or why a gate is undecided.
    verdict: str = ""  #: of a gate, ``pass``, ``fail`` or ``undecided``; else empty, and the next three None.
    margin: float | None = None  #: loss that is tolerated.
    p_pass: float | None = None  #: one-sided, of "worse by the margin or more", adjusted (Holm over benchmarks).
    p_fail: float | None = None  #: of "worse by less than the margin", adjusted likewise.


@dataclass(frozen=True)
class CorrectedFigures(Result):
    """Figures side by side."""

    ROW = CorrectedRow

    judge: str  #: who judges.
    human: str  #: whose labels.
    rows: tuple[CorrectedRow, ...]
    notes: tuple[str, ...]  #: what a reader should know.
    verdict: str = ""  #: of a gate: ``fail`` if one benchmark fails, else ``pass`` if all pass, else ``undecided``.

    @property
    def exit_code(self) -> int:
        """Of a gate: 0 pass, 1 fail, 5 undecided."""
        return EXIT[self.verdict]

    @property
    def one_line(self) -> str:
        """The result in one line."""
        first = self.rows[0]
        if self.verdict:
            return f"{self.verdict}: {first.model_a} against {first.model_b}, by what {self.human} would say"
        if first.estimate is None or first.low is None or first.high is None:
            return f"{first.benchmark}: no corrected figure ({first.reason})"
        of = f"{first.model_a} minus {first.model_b}" if first.model_b else first.model_a
        return (
            f"{first.benchmark}, corrected by {first.n_labels} labels of {self.human}: {of}"
            f" {first.estimate:.3f} [{first.low:.3f}, {first.high:.3f}], where {self.judge} says"
            f" {first.judge_estimate:.3f}"
        )


@answers(CorrectedLeaderboard)
def corrected_leaderboard(store: Store, question: CorrectedLeaderboard) -> CorrectedFigures:
    """A row for each condition that the judge scored, best first."""
    units, names = read_units(store, selection_of(question), question.judge, question.human)
    _require_random(units)
    labelled = [one for one in units if one.labelled.sum() > 1]
    if not labelled:
        raise MisuseError(f"no answer on {question.benchmark} that {names[0]} has scored has a label of {names[1]}")
    few = any(one.labelled.sum() < OWN_WEIGHT_FROM for one in labelled) and len(labelled) > 1
    pooled = pooled_weight([(one.labels[one.labelled], one.judge[one.labelled]) for one in labelled]) if few else None
    rows = []
    for one in units:
        own = pooled if one.labelled.sum() < OWN_WEIGHT_FROM else None
        figure = _mean(one, question.level, own) if one.labelled.any() else None
        rows.append(_row(question.level, (one,), figure, _mean(_judge_alone(one), question.level, None)))
    sign = -1 if units[0].entry.metric.higher_is_better is False else 1
    rows.sort(key=lambda row: (row.estimate is None, -sign * (row.estimate or 0), row.model_a))
    return CorrectedFigures(*names, tuple(rows), _notes(rows))


@answers(CorrectedComparison)
def corrected_comparison(store: Store, question: CorrectedComparison) -> CorrectedFigures:
    """One row: a minus b."""
    row, names = _compared(store, question, question.a, question.b, question.level)
    return CorrectedFigures(*names, (row,), _notes([row]))


def _compared(
    store: Store, question: CorrectedComparison | CorrectedGate, a: str, b: str, level: float, **selected: Any
) -> tuple[CorrectedRow, tuple[str, str]]:
    selection = selection_of(question, **selected)
    units, names = read_units(store, selection, question.judge, question.human)
    first, second = pick_units(store, units, (a, b), question.where, latest=question.latest)
    _require_random((first, second))
    prompts = np.intersect1d(first.prompts, second.prompts, assume_unique=True)
    first, second = first.at(prompts), second.at(prompts)
    sides = first.chances, second.chances
    if (sides[0] is None) != (sides[1] is None) or not (sides[0] is None or np.array_equal(*sides)):
        raise MisuseError(
            f"{a} and {b} were labelled on prompts of different draws; a difference takes labels of the same: draw"
            " a wave for both (warehouse judge next)"
        )
    if not (first.labelled & second.labelled).any():
        raise MisuseError(
            f"no prompt of {first.condition.benchmark_split[0]} has a label of {names[1]} for both models"
        )
    return _row(level, (first, second), _difference(first, second, level),
                _difference(_judge_alone(first), _judge_alone(second), level)), names  # fmt: skip


def _require_random(units: Sequence[JudgedUnits]) -> None:
    for one in units:
        if one.not_random:
            raise MisuseError(
                f"{one.condition.model} has {int(one.labelled.sum())} labels on {one.condition.benchmark_split[0]}, but"
                f" {one.not_random}; judge and labels by themselves: warehouse leaderboard --metric"
            )


def _judge_alone(units: JudgedUnits) -> JudgedUnits:
    """The judge's scores as if they were labels of all answers: what it says by itself."""
    return replace(units, labels=units.judge, judge=np.zeros(len(units.judge)), chances=None)


def _mean(units: JudgedUnits, level: float, weight: float | None) -> CorrectedFigure:
    design = (None, units.chances, None, units.clusters)
    return prediction_powered_mean(units.labels, units.judge, *design, bounds=units.bounds, weight=weight, level=level)


def _difference(a: JudgedUnits, b: JudgedUnits, level: float) -> CorrectedFigure:
    design = (None, a.chances, None, a.clusters)
    return prediction_powered_difference(a.labels, b.labels, a.judge, b.judge, *design, bounds=a.bounds, level=level)


def _row(
    level: float, units: tuple[JudgedUnits, ...], figure: CorrectedFigure | None, judge: CorrectedFigure
) -> CorrectedRow:
    first = units[0]
    missing = sum(one.n_missing for one in units)
    names = (
        *("estimate", "standard_error", "low", "high", "degrees_of_freedom", "weight", "correlation"),
        *("width_ratio", "p_value", "label_low", "label_high"),
    )
    flags = () if figure is None else figure.flags
    figures: dict[str, Any] = {name: getattr(figure, name, None) for name in names}
    return CorrectedRow(
        benchmark=first.condition.benchmark_split[0],
        split=first.condition.benchmark_split[1],
        model_a=first.condition.who,
        model_b=units[1].condition.who if len(units) == 2 else "",
        n_units=len(first.prompts),
        n_labels=0 if figure is None else figure.n_labels,
        n_missing=missing,
        judge_estimate=judge.label_mean,
        judge_low=judge.label_low,
        judge_high=judge.label_high,
        label_estimate=None if figure is None else figure.label_mean,
        level=level,
        higher_is_better=first.entry.metric.higher_is_better,
        flags=(*flags, *(("missing_labels",) if missing else ())),
        reason="no label" if figure is None else figure.reason,
        **figures,
    )


def _notes(rows: Sequence[CorrectedRow]) -> tuple[str, ...]:
    missing = sum(row.n_missing for row in rows)
    some = "1 answer that was drawn has" if missing == 1 else f"{missing} answers that were drawn have"
    return (f"{some} no label: the others stand for what is missing",) if missing else ()


@answers(CorrectedGate)
def corrected_gate(store: Store, question: CorrectedGate) -> CorrectedFigures:
    """The judge's own difference decides nothing."""
    if unknown := sorted(set(question.margins or {}) - set(question.benchmarks)):
        raise MisuseError(f"a margin is given for {', '.join(unknown)}, which is not compared")
    rows, tests, names = [], [], ("", "")
    for benchmark in question.benchmarks:
        margin = (question.margins or {}).get(benchmark, question.margin)
        if margin is None:
            raise MisuseError(f"no margin for {benchmark}; give one for all")
        two = (question.candidate, question.baseline)
        row, names = _compared(store, question, *two, 1 - 2 * question.alpha, benchmark=benchmark)
        why = _why_undecided(row, question.max_unscored)
        rows.append(replace(row, margin=margin, reason="; ".join(filter(None, (why, row.reason)))))
        tests.append((None, None) if why else _p_values(row, margin))
    decided = decide(tests, alpha=question.alpha)
    found = tuple(
        replace(row, verdict=verdict, p_pass=p_pass, p_fail=p_fail)
        for row, verdict, p_pass, p_fail in zip(rows, decided.each, decided.p_pass, decided.p_fail, strict=True)
    )
    return CorrectedFigures(*names, found, _notes(found), decided.verdict)


def _why_undecided(row: CorrectedRow, most_missing: float) -> str:
    drawn = row.n_missing / 2 + row.n_labels
    if row.higher_is_better is None:
        return "it is not known whether a higher figure is better (warehouse benchmarks metrics)"
    if row.n_labels < FEWEST_LABELS or "few_differing" in row.flags:
        return f"{row.n_labels} labels, on too few of which the two differ: warehouse judge next draws more"
    if row.n_missing / 2 > most_missing * drawn:
        return f"{row.n_missing} of the answers that were drawn have no label"
    return "" if row.standard_error else "no error can be given"


def _p_values(row: CorrectedRow, margin: float) -> tuple[float, float]:
    """By Student's t of the corrected difference."""
    gain = (row.estimate or 0.0) * (-1 if row.higher_is_better is False else 1)
    p = t_upper_tail((gain + margin) / (row.standard_error or 1.0), row.degrees_of_freedom or 1.0)
    return p, 1 - p
