"""A judge held against people: agreement, bias, and what people would say on average."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.judge.bar import with_bar
from warehouse.analysis.judge.corrected import (
    OF_MEANS,
    CorrectedRow,
    corrected_difference,
    corrected_means,
    rogan_gladen_rates,
)
from warehouse.analysis.judge.graders import declared_alike, read_graders
from warehouse.analysis.judge.question import ASSUMPTION, HeldAgainstPeople
from warehouse.analysis.judge.rows import JudgeRow
from warehouse.analysis.judge.units import JudgedUnits, pick_units, read_units
from warehouse.analysis.judge.view import JudgeReport
from warehouse.analysis.judge.votes import has_votes, read_verdicts
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.conditions import describe
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.options import PROMPTS_FIXED
from warehouse.questions.question import answers
from warehouse.stats import (
    BiasFigure,
    JudgeAgreement,
    RoganGladen,
    judge_agreement,
    judge_bias,
    self_preference,
)
from warehouse.store.connection import Store

_FAMILIES = "select name, family, developer from model"
#: Agreement is of one scale: the same words or numbers.
_NO_LABELS = "people have labelled none"
_SCALES = "judge and people do not score on one scale"
_DECLARE = (
    "nothing declares on what scale judge and people score, and neither's values lie "
    "in the range of the other's; say it of both: warehouse fix metric "
    "{benchmark} --metric NAME --bounds LOW HIGH"
)


@dataclass(frozen=True)
class JudgedPart:
    """The answers of one model that judge and people have judged."""

    model: str
    condition: str
    h: NDArray[np.float64]  #: people's label, shape (n,); g: the judge's.
    g: NDArray[np.float64]
    #: of each, numbers that mean the same for all models, shape (n,).
    prompts: NDArray[np.int64]
    #: 1/π of each label, shape (n,); None: alike.
    weights: NDArray[np.float64] | None = None
    n_units: int = 0
    run_ids: tuple[int, ...] = ()


@answers(HeldAgainstPeople)
def judge(store: Store, question: HeldAgainstPeople) -> JudgeReport:
    """By votes where a benchmark has those of both, else by scores."""
    if has_votes(store, question):
        return _of_votes(store, question)
    return _of_scores(store, question)


def _of_scores(store: Store, question: HeldAgainstPeople) -> JudgeReport:
    units, (name, human) = _units_for(store, question)
    labelled = sum(int(judged.labelled.sum()) for judged in units)
    if not labelled and question.rogan_gladen is None:
        raise MisuseError(
            f"{human} has labelled no answer on {question.benchmark} that {name} has "
            "scored: they are matched by model and prompt id; `warehouse judge next` "
            "draws answers to label, with a sheet"
        )
    conditions = describe([judged.condition for judged in units])
    parts = [
        JudgedPart(
            model=judged.condition.model,
            condition=label,
            h=judged.labels[there := judged.labelled],
            g=judged.judge[there],
            prompts=(judged.prompts if judged.clusters is None else judged.clusters)[
                there
            ],
            weights=None
            if judged.draw is None
            else 1 / judged.draw.chances(judged.prompts[there]),
            n_units=len(judged.prompts),
            run_ids=judged.condition.run_ids,
        )
        for judged, label in zip(units, conditions, strict=True)
    ]
    rates, sample = rogan_gladen_rates(store, question, units)
    fixed = question.estimand == PROMPTS_FIXED
    pair: Sequence[JudgedUnits] = units
    if question.models:
        pair = pick_units(
            store, units, question.models, question.where, latest=question.latest
        )
    difference = None
    if len(pair) == 2:
        difference = corrected_difference(*pair, level=question.level, fixed=fixed)
    notes = []
    if any(judged.not_random for judged in units):
        notes.append(
            "labels were not drawn by known chance, so agreement is of these answers "
            "only, and no mean is corrected; draw some next time: warehouse judge next "
            f"{question.benchmark} --judge {shlex.quote(name)} --n 100"
        )
    n_of_several = sum(judged.n_of_several for judged in units)
    if n_of_several:
        notes.append(
            f"{human}: {n_of_several:,} answers have several labels, of which the mean "
            "counts"
        )
    if sample is not None:
        notes.append(
            f"rates by {question.rogan_gladen}: they hold only if {ASSUMPTION}"
        )
    metric = units[0].entry.metric
    graders = read_graders(store, selection_of(question), units, question.level)
    report = _report(
        store,
        question,
        (name, human, metric.judge_model or name),
        parts,
        _together(parts),
        corrected_means(units, level=question.level, fixed=fixed),
        rates,
        alike=declared_alike(store, units),
        of="scores",
        metric=metric.label,
        graders=None if graders is None else graders.agreement,
        grader_names=() if graders is None else graders.names,
        differences=() if difference is None else (difference,),
        order=None,
        sample=sample,
        notes=tuple(notes),
        run_ids=tuple(chain.from_iterable(judged.run_ids for judged in units)),
    )
    if question.bar is None:
        return report
    return replace(report, rows=with_bar(report.rows, units, question.bar))


def _units_for(
    store: Store, question: HeldAgainstPeople
) -> tuple[list[JudgedUnits], tuple[str, str]]:
    """The answers that are meant; those that no person has labelled too, where rates
    come from another sample."""
    selection = selection_of(question)
    try:
        return read_units(store, selection, question.judge, question.human)
    except MisuseError:
        if question.rogan_gladen is None or question.judge is None:
            raise
    units, (name, _) = read_units(store, selection, question.judge, None, labels=False)
    return units, (name, question.human or "people")


def _of_votes(store: Store, question: HeldAgainstPeople) -> JudgeReport:
    question.refuse(
        "is for scores of answers; votes are held against votes", "models", "rogan_gladen", "bar", "estimand", "metric",
        "where", "cluster", "latest"
    )  # fmt: skip
    verdicts = read_verdicts(store, question)
    parts = [
        JudgedPart(model, "", h[of], g[of], verdicts.prompt[of], n_units=int(of.sum()))
        for model, of, h, g in verdicts.by_model()
    ]
    nothing = [None] * len(parts)
    return _report(
        store,
        question,
        (verdicts.judge, verdicts.human, verdicts.judge_model),
        parts,
        JudgedPart(
            "", "", verdicts.h, verdicts.g, verdicts.prompt, n_units=verdicts.n_judged
        ),
        nothing,
        nothing,
        alike=True,
        of="votes",
        metric="",
        graders=None,
        grader_names=(),
        differences=(),
        order=verdicts.order(),
        sample=None,
        notes=verdicts.notes,
        source_ids=verdicts.source_ids,
    )


def _report(
    store: Store,
    question: HeldAgainstPeople,
    names: tuple[str, str, str],
    parts: Sequence[JudgedPart],
    whole: JudgedPart,
    figures: Sequence[CorrectedRow | None],
    rates: Sequence[RoganGladen | None],
    *,
    alike: bool | None,
    **own: Any,
) -> JudgeReport:
    """The report; ``alike``: whether they score on one scale, None where nothing
    declares it."""
    level = question.level
    why_not = _why_not(whole, alike, question.benchmark)
    alike = not why_not
    compared = (
        [number for number, part in enumerate(parts) if len(part.h)] if alike else []
    )
    differences = [parts[index].g - parts[index].h for index in compared]
    prompts = [parts[index].prompts for index in compared]
    weights = [parts[index].weights for index in compared]
    biases: dict[int, BiasFigure] = {}
    preference = None
    if compared:
        found = judge_bias(
            differences, prompts, weights, level=level, seed=question.seed
        )
        biases = dict(zip(compared, found, strict=True))
        own_family = _own_family(
            store, names[2], [parts[index].model for index in compared]
        )
        preference = self_preference(differences, prompts, own_family, level=level)
    agreement = _agreement(whole, level) if alike else None
    rows = [_row(whole, level, agreement, why_not=why_not)]
    for number, part in enumerate(parts):
        each = _agreement(part, level) if number in compared else None
        rows.append(
            _row(
                part,
                level,
                each,
                biases.get(number),
                figures[number],
                rates[number],
                why_not,
            )
        )
    return JudgeReport(
        benchmark=question.benchmark,
        judge=names[0],
        human=names[1],
        rows=tuple(rows),
        agreement=agreement,
        self_preference=preference,
        level=level,
        **own,
    )


def _together(parts: Sequence[JudgedPart]) -> JudgedPart:
    parts = [part for part in parts if len(part.h)] or parts[:1]
    weights = [
        np.ones(len(part.h)) if part.weights is None else part.weights for part in parts
    ]
    arrays = []
    for name in ("h", "g", "prompts"):
        arrays.append(np.concatenate([getattr(part, name) for part in parts]))
    return JudgedPart(
        "",
        "",
        arrays[0],
        arrays[1],
        arrays[2],
        None
        if all(part.weights is None for part in parts)
        else np.concatenate(weights),
        sum(part.n_units for part in parts),
        tuple(chain.from_iterable(part.run_ids for part in parts)),
    )


def _why_not(part: JudgedPart, alike: bool | None, benchmark: str) -> str:
    """Why there is no agreement; empty where there is. What is declared decides on what
    scale they score, else whether the scores can be of one."""
    if not len(part.h):
        return _NO_LABELS
    if alike is False:
        return _SCALES
    if alike or _may_be_of_one_scale(part):
        return ""
    return _DECLARE.format(benchmark=shlex.quote(benchmark))


def _may_be_of_one_scale(part: JudgedPart) -> bool:
    """True if all of one's scores lie in the range of the other's, or both in [0, 1]."""
    (h, most_h), (g, most_g) = (
        (values.min(), values.max()) for values in (part.h, part.g)
    )
    within_unit = min(h, g) >= 0 and max(most_h, most_g) <= 1
    return bool(
        within_unit or (g <= h and most_h <= most_g) or (h <= g and most_g <= most_h)
    )


def _agreement(part: JudgedPart, level: float) -> JudgeAgreement:
    alone = len(np.unique(part.prompts)) == len(part.prompts)
    prompts = None
    if not alone:
        prompts = part.prompts
    return judge_agreement(part.h, part.g, prompts, part.weights, level=level)


def _row(
    part: JudgedPart,
    level: float,
    agreement: JudgeAgreement | None,
    bias: BiasFigure | None = None,
    figure: CorrectedRow | None = None,
    rate: RoganGladen | None = None,
    why_not: str = "",
) -> JudgeRow:
    measured = (
        {}
        if agreement is None
        else {figure.measure: figure for figure in agreement.figures}
    )
    share, kappa, ac1 = (measured.get(name) for name in ("agreement", "kappa", "ac1"))
    reasons = [
        "" if agreement is not None else why_not if len(part.h) else _NO_LABELS,
        "" if kappa is None else kappa.reason and f"no interval of κ: {kappa.reason}",
        "" if figure is None else figure.reason,
        "" if bias is None else bias.reason and f"bias not tested: {bias.reason}",
        "" if rate is None else rate.reason,
    ]
    flags = [
        *(agreement.flags if agreement else ()),
        *(figure.flags if figure else ()),
        *(rate.flags if rate else ()),
    ]
    return JudgeRow(
        model=part.model,
        condition=part.condition,
        n_units=part.n_units,
        n_labels=len(part.h),
        n_prompts=len(np.unique(part.prompts)),
        **_ends("agreement", share, error=True),
        **_ends("kappa", kappa, error=True),
        **_ends("ac1", ac1),
        figures=() if agreement is None else agreement.figures,
        **part_fields(agreement, "judge_above", "judge_below", "direction_p"),
        **_ends("bias", bias),
        **part_fields(bias, bias_p="p_value", bias_p_simultaneous="p_simultaneous"),
        judge_estimate=figure.judge_estimate
        if figure
        else float(part.g.mean())
        if len(part.g)
        else None,
        label_estimate=figure.label_estimate
        if figure
        else float(part.h.mean())
        if len(part.h)
        else None,
        **part_fields(figure, *OF_MEANS, "repeat_sd", "flip_rate"),
        method=figure.method if figure else "",
        **_ends("rate", rate),
        level=level,
        flags=tuple(dict.fromkeys(flags)),
        reason="; ".join(dict.fromkeys(filter(None, reasons))),
        run_ids=part.run_ids,
    )


def _ends(name: str, figure: Any, *, error: bool = False) -> dict[str, Any]:
    """A figure and its interval, as fields of a row."""
    more = {}
    if error:
        more = {f"{name}_error": "standard_error"}
    return part_fields(
        figure,
        **{name: "estimate", f"{name}_low": "low", f"{name}_high": "high"},
        **more,
    )


def _own_family(store: Store, judge_model: str, models: Sequence[str]) -> list[bool]:
    """Which models are of the judge's family, or of who made it where families are not
    known."""
    families = {
        row["name"]: (row["family"], row["developer"]) for row in store.rows(_FAMILIES)
    }
    own = families.get(judge_model, (None, None))

    def related(model: str) -> bool:
        family, developer = families.get(model, (None, None))
        if own[0] and family:
            return bool(own[0] == family)
        return model == judge_model or bool(own[1] and own[1] == developer)

    return [related(model) for model in models]
