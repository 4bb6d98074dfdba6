"""Estimates of what people would say of each model on average, and of two models'
difference: by a judge, by labels, by both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warehouse.analysis.judge.question import HeldAgainstPeople
from warehouse.analysis.judge.units import JudgedUnits, read_units
from warehouse.analysis.results import Row, part_fields
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError
from warehouse.stats import (
    CorrectedFigure,
    RoganGladen,
    estimate_mean,
    interval_t,
    pooled_weight,
    prediction_powered_difference,
    prediction_powered_mean,
    rogan_gladen,
)
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.judges.plan import differences_of_means, level_of_pairs, ranks_left
from warehouse.stats.judges.prediction import (
    OWN_WEIGHT_FROM,
    label_influence,
    reproducibility,
)
from warehouse.stats.suites.parts import (
    OF_LABELS,
    Halves,
    flags_that_count,
    hull_with,
    p_of_halves,
)
from warehouse.store.connection import Store

#: What a row takes from a figure of that name, of a mean and of a difference.
OF_MEANS = (
    *(
        "estimate",
        "standard_error",
        "low",
        "high",
        "degrees_of_freedom",
        "weight",
        "correlation",
        "width_ratio",
    ),
    *("label_low", "label_high"),
)
FIGURES = (*OF_MEANS, "p_value", "mcnemar_p")


@dataclass(frozen=True)
class CorrectedRow(Row):
    """A mean, or a difference in favour of the first model, by the judge, by labels and
    by both."""

    benchmark: str  #: name of the benchmark.
    split: str  #: part of it.
    model_a: str  #: the model.
    model_b: str  #: the other of a difference; empty for a mean.
    n_units: int  #: prompts that the judge has scored, of both.
    n_labels: int  #: of these with a label of both.
    n_missing: int  #: drawn to be labelled, and without a label.
    judge_estimate: float  #: the judge's figure over all prompts.
    #: lower end of its interval, which is not one of what people would say.
    judge_low: float | None
    judge_high: float | None  #: upper end.
    #: the labels' own figure; None without labels, like what follows.
    label_estimate: float | None
    label_low: float | None  #: lower end of its interval.
    label_high: float | None  #: upper end.
    #: the corrected figure; None where labels were not drawn by known chance.
    estimate: float | None
    standard_error: float | None  #: of it.
    low: float | None  #: lower end of its interval.
    high: float | None  #: upper end.
    level: float  #: nominal coverage of the intervals.
    degrees_of_freedom: float | None  #: of the error.
    weight: float | None  #: λ, how far the judge is believed.
    correlation: float | None  #: of judge and labels.
    width_ratio: float | None  #: width of the interval over that of the labels alone.
    method: str  #: of the interval.
    p_value: float | None  #: two-sided, of a difference of 0; None for a mean.
    #: of a difference, McNemar's exact p of the labels alone; None but for labels 0/1.
    mcnemar_p: float | None
    #: spread of ``estimate`` over fresh draws of the judge; None where it was asked
    #: once.
    repeat_sd: float | None
    #: chance that two draws of the judge differ; None for scores that are not 0/1.
    flip_rate: float | None
    higher_is_better: bool | None  #: direction of the metric.
    #: ``labels_not_random``, ``labels_missing``, ``labels_outside``, ``pooled_weight``,
    #: ``strata_lost`` (the judge's scores no longer give the strata of the draw: labels
    #: count by their chances), ``unscored`` (answers without a score of the judge stand
    #: for nothing), ``other_prompts`` (two models were labelled on different ones), and
    #: those of `warehouse.stats.CorrectedFigure`.
    flags: tuple[str, ...]
    reason: str  #: why the labels stand alone, why there is no figure, or why a gate is undecided.
    verdict: str = ""  #: of a gate, ``pass``, ``fail`` or ``undecided``; else empty, and the next three None.
    margin: float | None = None  #: loss that is tolerated.
    #: one-sided, of "worse by the margin or more", adjusted (Holm over benchmarks).
    p_pass: float | None = None
    #: of "worse by less than the margin", adjusted likewise.
    p_fail: float | None = None


@dataclass(frozen=True)
class RankedRow(CorrectedRow):
    """A mean beside those of other models."""

    #: best rank that the intervals of all differences leave, together; None without an
    #: interval, or other models.
    rank_low: int | None = None
    rank_high: int | None = None  #: worst rank.


def corrected_means(
    units: Sequence[JudgedUnits], *, level: float, fixed: bool = False
) -> list[CorrectedRow]:
    """The corrected mean of each model; λ is its own from 50 labels on, else that of
    all models together."""
    usable = [
        judged
        for judged in units
        if not judged.not_random and judged.labelled.sum() > 1
    ]
    pooled = None
    if len(usable) > 1:
        pooled = pooled_weight(
            [
                (judged.labels[judged.labelled], judged.judge[judged.labelled])
                for judged in usable
            ]
        )
    return [_mean(judged, pooled, level, fixed=fixed) for judged in units]


def ranked_means(units: Sequence[JudgedUnits], *, level: float) -> list[RankedRow]:
    """The rows of `corrected_means`, with the ranks of those that have an interval,
    best first, group after group."""
    rows = [RankedRow(**vars(row)) for row in corrected_means(units, level=level)]
    groups = dict.fromkeys(one.entry.group for one in units)
    found = []
    for group in groups:
        members = [
            number for number, one in enumerate(units) if one.entry.group == group
        ]
        higher = units[members[0]].entry.metric.higher_is_better is not False
        family = [number for number in members if rows[number].low is not None]
        if len(family) > 1:
            widest = corrected_means(units, level=level_of_pairs(len(family), level))
            of_family = [widest[number] for number in family]
            estimates, low, high = (
                [getattr(row, name) for row in of_family]
                for name in ("estimate", "low", "high")
            )
            psi = _influences([(units[number], rows[number]) for number in family])
            ranks = ranks_left(
                *differences_of_means(estimates, low, high, psi),
                higher_is_better=higher,
            )
            for number, (best, worst) in zip(family, ranks, strict=True):
                rows[number] = replace(rows[number], rank_low=best, rank_high=worst)
        sign = 1
        if higher:
            sign = -1
        found += sorted(
            (rows[number] for number in members),
            key=lambda row: (
                row.estimate is None,
                (row.estimate or 0) * sign,
                row.model_a,
            ),
        )
    return found


def _influences(means: Sequence[tuple[JudgedUnits, CorrectedRow]]) -> list[FloatArray]:
    """ψ of each mean by prompt, or by cluster of prompts, over those of all."""
    keys = [
        units.prompts if units.clusters is None else units.clusters
        for units, _ in means
    ]
    psi = [
        label_influence(units.labels, units.judge, row.weight or 0.0, **units.design)
        for units, row in means
    ]
    of_all = np.unique(np.concatenate(keys))
    return [
        np.asarray(
            np.bincount(np.searchsorted(of_all, own), values, len(of_all)), np.float64
        )
        for own, values in zip(keys, psi, strict=True)
    ]


def _mean(
    units: JudgedUnits, pooled: float | None, level: float, *, fixed: bool
) -> CorrectedRow:
    n = int(units.labelled.sum())
    judge = _figure(_judge_alone(units), level)
    if units.not_random or not n:
        reason = "people have labelled none"
        if n:
            reason = units.not_random
        return _row((units,), None, judge, level, reason=reason)
    weight = None
    if n < OWN_WEIGHT_FROM:
        weight = pooled
    figure = _figure(units, level, fixed=fixed, weight=weight)
    flags = (
        ("pooled_weight",)
        if weight is not None and "labels_only" not in figure.flags
        else ()
    )
    return _row((units,), figure, judge, level, flags)


def corrected_difference(
    first: JudgedUnits, second: JudgedUnits, *, level: float, fixed: bool = False
) -> CorrectedRow | None:
    """First minus second on the prompts that the judge scored for both; None without
    any, or without drawn labels.

    Of labels on prompts of one draw that of the pairs; else of two figures, their
    errors added.
    """
    prompts = np.intersect1d(first.prompts, second.prompts, assume_unique=True)
    if not len(prompts) or any(
        judged.not_random or not judged.labelled.any() for judged in (first, second)
    ):
        return None
    a = first.at(prompts)
    b = second.at(prompts)
    judge = _pair(_judge_alone(a), _judge_alone(b), level)
    if a.draw == b.draw and (a.labelled & b.labelled).any():
        return _row((a, b), _pair(a, b, level, fixed=fixed), judge, level)
    own = corrected_means((first, second), level=level, fixed=fixed)
    bare = _row((a, b), None, judge, level, ("other_prompts",))
    return replace(
        bare,
        n_labels=min(row.n_labels for row in own),
        reason="labelled on different prompts: two figures, errors added",
        flags=tuple(dict.fromkeys((*bare.flags, *_flags_apart(own)))),
        **_apart(own[0], own[1], first.bounds),
    )


def _flags_apart(rows: Sequence[CorrectedRow]) -> tuple[str, ...]:
    """Flags of the two figures, where the flagged hold more than a quarter of the
    variance of their difference."""
    variances = np.array([(row.standard_error or 0.0) ** 2 for row in rows])
    return flags_that_count([row.flags for row in rows], variances, OF_LABELS)


def _apart(
    a: CorrectedRow, b: CorrectedRow, bounds: tuple[float, float] | None
) -> dict[str, Any]:
    """The difference of two figures: t with added errors, an end no nearer than those
    of both together."""
    assert a.estimate is not None and b.estimate is not None
    assert a.label_estimate is not None and b.label_estimate is not None
    found: dict[str, Any] = {
        "estimate": a.estimate - b.estimate,
        "label_estimate": a.label_estimate - b.label_estimate,
    }
    if not (
        a.standard_error
        and b.standard_error
        and a.degrees_of_freedom
        and b.degrees_of_freedom
    ):
        return found
    parts = a.standard_error**2, b.standard_error**2
    error = math.sqrt(sum(parts))
    df = sum(parts) ** 2 / (
        parts[0] ** 2 / a.degrees_of_freedom + parts[1] ** 2 / b.degrees_of_freedom
    )
    interval = interval_t(found["estimate"], error, df, level=a.level)
    p = t_p_value(found["estimate"] / error, df)
    if (
        interval is not None
        and a.low is not None
        and a.high is not None
        and b.low is not None
        and b.high is not None
    ):
        below = np.array([a.estimate - a.low, b.high - b.estimate])
        above = np.array([a.high - a.estimate, b.estimate - b.low])
        halves = Halves(below, above).together(np.ones(2), None)
        interval = hull_with(interval, found["estimate"], halves)
        p = max(p, p_of_halves(found["estimate"], halves, df, a.level))
    if interval is not None:
        width = math.inf if bounds is None else bounds[1] - bounds[0]
        found |= {"low": max(-width, interval.low), "high": min(width, interval.high)}
    return found | {"standard_error": error, "degrees_of_freedom": df, "p_value": p}


def _judge_alone(units: JudgedUnits) -> JudgedUnits:
    """The judge's scores as if they were labels of all answers: what it says by itself."""
    return replace(
        units,
        labels=units.judge,
        judge=np.zeros(len(units.judge)),
        strata=None,
        draw=None,
    )


def _design(units: JudgedUnits, *, fixed: bool) -> dict[str, Any]:
    return {
        "clusters": units.clusters,
        "bounds": units.bounds,
        "prompts_fixed": fixed,
        **units.design,
    }


def _figure(
    units: JudgedUnits,
    level: float,
    *,
    fixed: bool = False,
    weight: float | None = None,
) -> CorrectedFigure:
    return prediction_powered_mean(
        units.labels,
        units.judge,
        weight=weight,
        level=level,
        **_design(units, fixed=fixed),
    )


def _pair(
    a: JudgedUnits, b: JudgedUnits, level: float, *, fixed: bool = False
) -> CorrectedFigure:
    return prediction_powered_difference(
        a.labels, b.labels, a.judge, b.judge, level=level, **_design(a, fixed=fixed)
    )


def _row(
    units: tuple[JudgedUnits, ...],
    figure: CorrectedFigure | None,
    judge: CorrectedFigure,
    level: float,
    flags: tuple[str, ...] = (),
    reason: str = "",
) -> CorrectedRow:
    first = units[0]
    missing = sum(judged.n_missing for judged in units)
    held = {
        "labels_not_random": any(judged.not_random for judged in units),
        "labels_missing": missing,
        "labels_outside": any(judged.n_outside for judged in units),
        "strata_lost": any(
            judged.draw is not None
            and judged.draw.is_stratified
            and judged.strata is None
            for judged in units
        ),
        "unscored": any(
            judged.entry.usable and judged.entry.usable.n_unscored for judged in units
        ),
    }
    label = None
    if len(units) == 1 and first.labelled.any():
        label = float(first.labels[first.labelled].mean())

    within, flips = _between_draws(first) if len(units) == 1 else (None, None)
    return CorrectedRow(
        benchmark=first.condition.benchmark_split[0],
        split=first.condition.benchmark_split[1],
        model_a=first.condition.who,
        model_b=units[1].condition.who if len(units) == 2 else "",
        n_units=len(first.prompts),
        n_labels=figure.n_labels if figure else int(first.labelled.sum()),
        n_missing=missing,
        judge_estimate=judge.label_mean,
        judge_low=judge.label_low,
        judge_high=judge.label_high,
        label_estimate=figure.label_mean if figure else label,
        level=level,
        method=figure.method if figure else "",
        repeat_sd=reproducibility(figure, within)
        if figure and within is not None
        else None,
        flip_rate=flips,
        higher_is_better=first.entry.metric.higher_is_better,
        flags=(
            *(flag for flag, holds in held.items() if holds),
            *flags,
            *(figure.flags if figure else ()),
        ),
        reason=figure.reason if figure else reason,
        **part_fields(figure, *FIGURES),
    )


def _between_draws(units: JudgedUnits) -> tuple[float | None, float | None]:
    """Mean variance of the judge's mean score over its draws, and how often two draws
    differ; None with one draw."""
    scores = units.entry.usable
    within = units.within
    several = np.isfinite(within)
    if scores is None or not several.any():
        return None, None
    at = np.searchsorted(scores.prompts, units.prompts)
    flips = None
    if scores.zero_one[at].all():
        flips = float(2 * within[several].mean())
    return float((within[several] / scores.n_draws[at][several]).mean()), flips


def rogan_gladen_rates(
    store: Store, question: HeldAgainstPeople, units: Sequence[JudgedUnits]
) -> tuple[list[RoganGladen | None], RoganGladen | None]:
    """The rate of each model by the judge's errors on another benchmark, and those
    errors.

    Raises:
        MisuseError: scores or labels other than 0 and 1, or a sample without both.
    """
    if question.rogan_gladen is None:
        return [None] * len(units), None
    sample, _ = read_units(
        store,
        Selection(question.rogan_gladen, question.metric),
        question.judge,
        question.human,
    )
    if any(judged.draw is not None and judged.draw.is_stratified for judged in sample):
        raise MisuseError(
            f"labels of {question.rogan_gladen} were drawn by strata of the judge's "
            "score, so they show its errors only within them: --rogan-gladen takes a "
            "benchmark labelled by a simple draw"
        )
    h = np.concatenate([judged.labels[judged.labelled] for judged in sample])
    g = np.concatenate([judged.judge[judged.labelled] for judged in sample])
    scores = [g, *(judged.judge for judged in units)]
    for values, what in ((h, "labels"), (np.concatenate(scores), "the judge's scores")):
        if not np.isin(values, (0.0, 1.0)).all():
            raise MisuseError(f"--rogan-gladen is for rates: {what} must be 0 or 1")
    positives = int((h == 1).sum())
    negatives = int((h == 0).sum())
    if not positives or not negatives:
        raise MisuseError(
            f"{question.rogan_gladen} needs labels of both kinds, found {positives} of "
            f"1, {negatives} of 0"
        )
    found = int(g[h == 1].sum())
    rejected = int((g[h == 0] == 0).sum())
    rates: list[RoganGladen | None] = []
    for judged in units:
        effect = 1.0
        if judged.clusters is not None:
            effect = (
                estimate_mean(judged.judge, clusters=judged.clusters).design_effect
                or 1.0
            )
        rates.append(
            rogan_gladen(
                float(judged.judge.sum()),
                len(judged.judge),
                found,
                positives,
                rejected,
                negatives,
                design_effect=effect,
                level=question.level,
            )
        )
    return rates, rates[0] and replace(rates[0], estimate=None, low=None, high=None)
