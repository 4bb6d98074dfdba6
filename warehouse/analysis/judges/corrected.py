"""What people would say of each model on average, and of two models' difference, out of a store."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warehouse.analysis.judges.scorers import metrics_by
from warehouse.analysis.judges.units import JudgedUnits, read_units
from warehouse.analysis.results import Row
from warehouse.analysis.selection.benchmarks import read_benchmark
from warehouse.analysis.selection.clusterings import cluster_map
from warehouse.analysis.selection.reference import choose_conditions
from warehouse.analysis.selection.scored_conditions import read_entries
from warehouse.analysis.selection.selection import Selection, selection_of
from warehouse.errors import MisuseError
from warehouse.questions.judges import HeldAgainstPeople
from warehouse.questions.options import PROMPTS_FIXED
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
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.judges.prediction import OWN_WEIGHT_FROM, reproducibility
from warehouse.store.connection import Store

#: Labels whose chances differ so much that they count for less than this share of their number: a flag.
UNEQUAL = 0.5


@dataclass(frozen=True)
class Corrected:
    """The figure of one model."""

    figure: CorrectedFigure | None  #: None where labels were not drawn by known chance, or there are none.
    judge_mean: float
    label_mean: float | None
    repeat_sd: float | None  #: its spread over fresh draws of the judge.
    flip_rate: float | None  #: chance that two draws of the judge differ, of 0/1 scores.
    flags: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Differences(Row):
    """Two models, first minus second: by the judge, by the labels alone, and corrected."""

    model_a: str
    model_b: str
    judge_difference: float
    label_difference: float | None
    label_low: float | None
    label_high: float | None
    estimate: float | None  #: the corrected difference; its ``standard_error``, ``low``, ``high``, ``p_value``.
    standard_error: float | None
    low: float | None
    high: float | None
    degrees_of_freedom: float | None
    p_value: float | None
    mcnemar_p: float | None  #: exact, of the labels alone; for 0/1 labels.
    weight: float | None
    correlation: float | None
    width_ratio: float | None
    n_units: int
    n_labels: int  #: prompts that are labelled for both, of ``n_units``.
    paired: bool  #: whether both were labelled on the same prompts.
    level: float
    flags: tuple[str, ...]
    reason: str


def corrected_means(units: Sequence[JudgedUnits], question: HeldAgainstPeople) -> list[Corrected]:
    """Of each model; λ is its own from 50 labels on, else that of all models together."""
    usable = [one for one in units if not one.not_random and one.labelled.sum() >= 2]
    pooled = None
    if len(usable) > 1:
        pooled = pooled_weight([(one.labels[one.labelled], one.judge[one.labelled]) for one in usable])
    return [_corrected(one, question, pooled) for one in units]


def _corrected(units: JudgedUnits, question: HeldAgainstPeople, pooled: float | None) -> Corrected:
    n = int(units.labelled.sum())
    flags = [
        flag
        for flag, holds in (
            ("labels_not_random", units.not_random),
            ("labels_missing", units.n_missing),
            ("labels_outside", units.n_outside),
        )
        if holds
    ]
    label_mean = float(np.nanmean(units.labels)) if n else None
    sd_of, flips = _between_draws(units)
    if units.not_random or not n:
        reason = units.not_random if n else "people have labelled none"
        return Corrected(None, float(units.judge.mean()), label_mean, None, flips, tuple(flags), reason)
    weight = pooled if n < OWN_WEIGHT_FROM else None
    figure = prediction_powered_mean(
        units.labels,
        units.judge,
        probabilities=units.chances,
        clusters=units.clusters,
        bounds=units.bounds,
        prompts_fixed=question.estimand == PROMPTS_FIXED,
        weight=weight,
        level=question.level,
    )
    flags += ["pooled_weight"] if weight is not None and "labels_only" not in figure.flags else []
    if (chances := units.chances) is not None:
        weights = 1 / chances[units.labelled]
        flags += ["unequal_chances"] if weights.sum() ** 2 / (weights @ weights) < UNEQUAL * n else []
    sd = None if sd_of is None else reproducibility(figure, sd_of)
    return Corrected(figure, figure.judge_mean, figure.label_mean, sd, flips, (*flags, *figure.flags), figure.reason)


def _between_draws(units: JudgedUnits) -> tuple[float | None, float | None]:
    """Mean variance of the judge's mean score over its draws, and how often two draws differ; None with one draw."""
    scores = units.entry.usable
    if scores is None:
        return None, None
    at = np.searchsorted(scores.prompts, units.prompts)
    within, draws = scores.within[at], scores.n_draws[at]
    several = np.isfinite(within)
    if not several.any():
        return None, None
    flips = float(2 * within[several].mean()) if scores.zero_one[at].all() else None
    return float((within[several] / draws[several]).mean()), flips


def units_for(store: Store, question: HeldAgainstPeople) -> tuple[list[JudgedUnits], tuple[str, str]]:
    """The answers that are meant; those that no person has labelled too, where rates come from another sample."""
    selection = selection_of(question)
    try:
        return read_units(store, selection, question.judge, question.human)
    except MisuseError:
        if question.rogan_gladen is None or question.judge is None:
            raise
    benchmark, facts = read_benchmark(store, question.benchmark)
    metrics = metrics_by(question.judge, facts.metrics, benchmark.name)
    conditions = choose_conditions(facts.runs, question.benchmark, question.where, question.latest)
    clusters = cluster_map(store, benchmark.ids, benchmark.clusterings, question.cluster)
    found = []
    for entry in read_entries(store, conditions, metrics):
        if (scores := entry.usable) is not None:
            nothing = np.full(scores.n, np.nan)
            of = clusters.labels(scores.prompts)
            found.append(JudgedUnits(entry, None, scores.prompts, scores.values, nothing, None, None, of, "", 0, 0))
    if not found:
        raise MisuseError(f"{question.judge} has scored no answer on {benchmark.name}")
    return found, (question.judge, question.human or "people")


def difference_of(units: Sequence[JudgedUnits], question: HeldAgainstPeople) -> Iterator[Differences]:
    """Of the two models that are named, or the only two that there are.

    Raises:
        MisuseError: a name that is not there, or that fits several conditions.
    """
    if question.models:
        pair = [_named(units, name) for name in question.models]
    elif len(units) == 2:
        pair = list(units)
    else:
        return
    prompts = np.intersect1d(pair[0].prompts, pair[1].prompts)
    if not len(prompts) or any(one.not_random or not one.labelled.any() for one in pair):
        return
    a, b = (one.at(prompts) for one in pair)
    both = a.labelled & b.labelled
    judged = float((a.judge - b.judge).mean())
    names = (pair[0].condition.who, pair[1].condition.who)
    if both.sum() < 2:
        yield _apart(pair, question, names, judged)
        return
    figure = prediction_powered_difference(
        np.where(both, a.labels, np.nan),
        np.where(both, b.labels, np.nan),
        a.judge,
        b.judge,
        probabilities=a.chances,
        clusters=a.clusters,
        bounds=a.bounds,
        prompts_fixed=question.estimand == PROMPTS_FIXED,
        level=question.level,
    )
    named = ("estimate", "standard_error", "low", "high", "degrees_of_freedom", "p_value", "mcnemar_p", "weight")
    more = ("correlation", "width_ratio", "n_units", "n_labels", "level", "flags", "reason", "label_low", "label_high")
    yield Differences(
        model_a=names[0],
        model_b=names[1],
        judge_difference=judged,
        label_difference=figure.label_mean,
        paired=True,
        **{name: getattr(figure, name) for name in (*named, *more)},
    )


def _apart(
    pair: Sequence[JudgedUnits], question: HeldAgainstPeople, names: tuple[str, str], judged: float
) -> Differences:
    """Labelled on different prompts: two figures, errors added."""
    a, b = (one.figure for one in corrected_means(pair, question))
    if a is None or b is None:
        raise MisuseError(f"{names[0]} or {names[1]} has no labels that were drawn by known chance")
    difference, error, df, interval = a.estimate - b.estimate, None, None, None
    if a.standard_error and b.standard_error and a.degrees_of_freedom and b.degrees_of_freedom:
        parts = a.standard_error**2, b.standard_error**2
        error = math.sqrt(sum(parts))
        df = sum(parts) ** 2 / (parts[0] ** 2 / a.degrees_of_freedom + parts[1] ** 2 / b.degrees_of_freedom)
        interval = interval_t(difference, error, df, level=question.level)
    return Differences(
        model_a=names[0],
        model_b=names[1],
        judge_difference=judged,
        label_difference=a.label_mean - b.label_mean,
        label_low=None,
        label_high=None,
        estimate=difference,
        standard_error=error,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        degrees_of_freedom=df,
        p_value=t_p_value(difference / error, df) if error and df else None,
        mcnemar_p=None,
        weight=None,
        correlation=None,
        width_ratio=None,
        n_units=len(pair[0].prompts),
        n_labels=0,
        paired=False,
        level=question.level,
        flags=(),
        reason="labelled on different prompts: two figures, errors added",
    )


def _named(units: Sequence[JudgedUnits], name: str) -> JudgedUnits:
    found = [one for one in units if name in (one.condition.who, one.condition.model)]
    if len(found) != 1:
        there = ", ".join(sorted({one.condition.who for one in units}))
        what = f"no model {name!r}" if not found else f"{name!r} has several runs of different settings (--where)"
        raise MisuseError(f"{what} among those judged; there are: {there}")
    return found[0]


def rogan_gladen_rates(
    store: Store, question: HeldAgainstPeople, units: Sequence[JudgedUnits]
) -> tuple[list[RoganGladen | None], RoganGladen | None]:
    """The rate of each model by the judge's errors on another benchmark, and those errors.

    Raises:
        MisuseError: scores or labels other than 0 and 1, or a sample without both.
    """
    if question.rogan_gladen is None:
        return [None] * len(units), None
    sample, _ = read_units(store, Selection(question.rogan_gladen, question.metric), question.judge, question.human)
    h = np.concatenate([one.labels[one.labelled] for one in sample])
    g = np.concatenate([one.judge[one.labelled] for one in sample])
    scores = [g, *(one.judge for one in units)]
    for values, what in ((h, "labels"), (np.concatenate(scores), "the judge's scores")):
        if not np.isin(values, (0.0, 1.0)).all():
            raise MisuseError(f"--rogan-gladen is for rates: {what} must be 0 or 1")
    positives, negatives = int((h == 1).sum()), int((h == 0).sum())
    if not positives or not negatives:
        raise MisuseError(
            f"{question.rogan_gladen} needs labels of both kinds, found {positives} of 1, {negatives} of 0"
        )
    found, rejected = int(g[h == 1].sum()), int((g[h == 0] == 0).sum())
    rates: list[RoganGladen | None] = []
    for one in units:
        effect = 1.0
        if one.clusters is not None:
            effect = estimate_mean(one.judge, clusters=one.clusters).design_effect or 1.0
        rates.append(
            rogan_gladen(
                float(one.judge.sum()),
                len(one.judge),
                found,
                positives,
                rejected,
                negatives,
                design_effect=effect,
                level=question.level,
            )
        )
    return rates, rates[0] and replace(rates[0], estimate=None, low=None, high=None)
