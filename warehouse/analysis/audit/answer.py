"""Which recorded keys of a benchmark are probably wrong, by the answers of several
models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.audit.against import (
    HumanVerdicts,
    agreement,
    effect_of,
    match_verdicts,
    read_verdicts,
)
from warehouse.analysis.audit.question import Audit
from warehouse.analysis.audit.read import StoredAnswers, read_answers
from warehouse.analysis.audit.report import AuditReport
from warehouse.analysis.audit.rows import AuditAgreementRow, AuditRow, StratumRow
from warehouse.analysis.audit.sample import (
    JudgedTable,
    SampleDesign,
    draw_rows,
    judged_rows,
    match_judged,
    read_judged,
)
from warehouse.analysis.audit.votes import (
    AuditData,
    Evidence,
    cluster_name,
    find_evidence,
    votes_of,
)
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.records import parse_json
from warehouse.stats.labels.votes import votes_of_models
from warehouse.stats.labels.wrong_keys import (
    THRESHOLD,
    WrongKeys,
    same_answers,
    select_models,
    wrong_keys,
)
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import field_at

#: Characters of a prompt that a row shows.
EXCERPT = 80
#: Label of the prompts without the field that strata are of.
WITHOUT = "(none)"
_FLAGS = {
    "few_models": "fewer than 5 models: which keys are suspect depends on each of them",
    "not_converged": (
        "the fit did not come to rest: take the order, not the probabilities"
    ),
    "spread_at_bound": (
        "the votes hardly tell how prompts differ in difficulty: take the order, not "
        "the probabilities"
    ),
}


@answers(Audit)
def audit(store: Store, question: Audit) -> AuditReport:
    """The answers of a store, judged."""
    verdicts = None
    if question.against is not None:
        verdicts = read_verdicts(question.against, question.wrong_is)
    scores = select_entries(store, selection_of(question))
    judged = None
    if question.verdicts is not None:
        judged = read_judged(
            question.verdicts, scores.benchmark.name, question.wrong_is
        )
        if question.strata not in (None, judged.design.strata):
            raise MisuseError(
                f"{judged.path} was drawn with strata "
                f"{judged.design.strata or 'none'}: leave them out"
            )
    stored = read_answers(store, scores, question.n_options)
    own = {
        name: getattr(question, name)
        for name in ("threshold", "effect", "level", "sample", "certain", "seed")
    }
    if judged is None:
        strata = question.strata
    else:
        strata = judged.design.strata
    return audit_of(stored, verdicts=verdicts, judged=judged, strata=strata, **own)


def audit_of(
    stored: StoredAnswers,
    *,
    threshold: float = THRESHOLD,
    strata: str | None = None,
    effect: bool = False,
    verdicts: HumanVerdicts | None = None,
    judged: JudgedTable | None = None,
    sample: int | None = None,
    certain: int = 0,
    seed: int = 0,
    level: float = 0.95,
) -> AuditReport:
    """`audit` of answers that were read.

    Args:
        stored: the answers, and the scores that they have.
        verdicts: by people, on any prompts.
        judged: a sample with their verdicts.

    Raises:
        MisuseError: no answer names an option, a model has two names, or a sample that
            is not of these keys.
        StatisticsError: a sample larger than the benchmark.
    """
    selected, data = stored.scores, votes_of(stored)
    labels = None if strata is None else _strata(data, strata, selected.benchmark.name)
    judgement = _judge(data, labels)
    evidence = find_evidence(stored, data)
    listed = _listed(judgement, threshold)
    marked, notes = _verdicts(verdicts, data)
    found = None if judged is None else match_judged(judged, data, judgement, labels)
    marked = marked if found is None else found.wrong
    said, fit = (
        ((), None)
        if found is None
        else judged_rows(found, judgement, labels, threshold, level)
    )
    design = SampleDesign(
        seed, sample or 0, certain, len(data.keys) - judgement.n_refused, strata
    )
    heard = [data.voters[column] for column in judgement.models.tolist()]
    recalibrated = None if fit is None else fit.posterior
    rows = _rows(data, judgement, evidence, listed, labels, marked, recalibrated)
    suspects = np.sort(data.ids[listed])
    keys = {voter.entry.condition.key for voter in heard}
    return AuditReport(
        benchmark=selected.benchmark.name,
        metric=selected.metric.label,
        threshold=threshold,
        n_judged=len(data.keys) - judgement.n_refused,
        n_refused=judgement.n_refused,
        expected_wrong=float(judgement.posterior[listed].sum()),
        expected_fdr=float((1 - judgement.posterior[listed]).mean())
        if listed.any()
        else None,
        models=tuple(voter.model for voter in heard),
        strata_by=strata,
        strata=_stratum_rows(judgement, labels, listed),
        rows=rows,
        effect=effect_of(data.entries, suspects, sorted(keys), selected.clusters, level)
        if effect
        else (),
        level=level,
        agreement=()
        if verdicts is None
        else _agreement(judgement, marked, labels, threshold),
        sample=draw_rows(data, judgement, labels, design, selected.benchmark.name)
        if sample
        else (),
        judged=said,
        not_recalibrated="" if fit is None else fit.reason,
        notes=(
            *data.notes,
            *(_FLAGS[flag] for flag in judgement.flags),
            *evidence.notes,
            *notes,
        ),
    )


def suspects_of(
    stored: StoredAnswers, most: int
) -> tuple[WrongKeys, int, tuple[AuditRow, ...]]:
    """The judgement of `audit_of`, how many keys are suspect, and the first rows: of no
    others is more looked up.

    Raises:
        MisuseError: no answer names an option, or a model has two names.
    """
    data = votes_of(stored)
    judgement = _judge(data, None)
    listed = _listed(judgement, THRESHOLD)
    if not listed.any():
        return judgement, 0, ()
    none = np.full(len(data.ids), np.nan)
    rows = _rows(
        data, judgement, find_evidence(stored, data), listed, None, none, None, most
    )
    return judgement, int(listed.sum()), tuple(row for row in rows if row.listed)


def _judge(data: AuditData, labels: Sequence[str] | None) -> WrongKeys:
    """The posterior of every key (MisuseError: two models that are one)."""
    chosen = select_models(data.votes)
    heard = votes_of_models(data.votes, chosen)
    for a, b, n_wrong in same_answers(heard):
        first, second = (data.voters[chosen[index]].model for index in (a, b))
        raise MisuseError(
            f"{first} and {second} gave the same answers throughout, {n_wrong:g} wrong "
            "ones among them: one model under two names has two votes; leave one out, "
            f"--where model!={second}, or join them, warehouse fix alias"
        )
    named = None
    if labels is not None:
        named = np.array(labels, dtype=object)
    return wrong_keys(
        data.votes,
        named,
        models=chosen,
    )


def _listed(judgement: WrongKeys, threshold: float) -> NDArray[np.bool_]:
    return np.nan_to_num(judgement.posterior, nan=-1.0) >= threshold


def _strata(data: AuditData, field: str, benchmark: str) -> list[str]:
    """Value of a field of each prompt's document (MisuseError: no prompt has it; names
    the fields there are)."""
    documents = [
        parse_json(row["metadata"]) if row["metadata"] else None for row in data.prompts
    ]
    values = [
        row["split"] if field == "split" else field_at(document, field)
        for row, document in zip(data.prompts, documents, strict=True)
    ]
    if all(value is None for value in values):
        names = sorted(
            set(
                chain.from_iterable(
                    document
                    for document in documents[:200]
                    if isinstance(document, dict)
                )
            )
        )
        raise MisuseError(
            f"no prompt of {benchmark} has the field {field!r}; there are: "
            f"{', '.join(names) or 'none'}"
        )
    return [
        WITHOUT if value is None else value if isinstance(value, str) else str(value)
        for value in values
    ]


def _verdicts(
    verdicts: HumanVerdicts | None, data: AuditData
) -> tuple[NDArray[np.float64], list[str]]:
    if verdicts is None:
        return np.full(len(data.ids), np.nan), []
    marked, n_left = match_verdicts(verdicts, data.prompts)
    if n_left:
        left_out = [f"{n_left} verdicts are of no prompt that a model has a score of"]
    else:
        left_out = []
    return marked, left_out


def _agreement(
    judgement: WrongKeys,
    marked: NDArray[np.float64],
    labels: Sequence[str] | None,
    threshold: float,
) -> tuple[AuditAgreementRow, ...]:
    refused = np.isnan(judgement.posterior)
    with np.errstate(invalid="ignore", divide="ignore"):
        simple = {
            "share_wrong": np.where(
                refused, np.nan, 1 - judgement.votes_key / judgement.n_answered
            ),
            "rival_votes": np.where(
                refused, np.nan, judgement.votes_rival / judgement.n_answered
            ),
        }
    rows, _score = agreement(judgement.posterior, simple, marked, labels, threshold)
    return rows


def _stratum_rows(
    judgement: WrongKeys, labels: Sequence[str] | None, listed: NDArray[np.bool_]
) -> tuple[StratumRow, ...]:
    codes = np.array([None] * len(listed) if labels is None else labels, dtype=object)
    rows = [
        StratumRow(
            stratum=None if stratum.stratum is None else str(stratum.stratum),
            n_prompts=stratum.n_items,
            n_listed=int(listed[codes == stratum.stratum].sum())
            if labels is not None
            else int(listed.sum()),
            rate=stratum.rate,
            expected_wrong=stratum.expected_wrong,
        )
        for stratum in judgement.strata
    ]
    return tuple(sorted(rows, key=lambda row: (-row.rate, row.stratum or "")))


@dataclass(frozen=True)
class _Columns:
    """The columns that a row is made of."""

    data: AuditData
    judgement: WrongKeys
    evidence: Evidence
    listed: NDArray[np.bool_]
    running: NDArray[np.float64]
    labels: Sequence[str] | None
    marked: NDArray[np.float64]
    recalibrated: NDArray[np.float64] | None
    in_cluster: Mapping[int, tuple[int, int]]


def _rows(
    data: AuditData,
    judgement: WrongKeys,
    evidence: Evidence,
    listed: NDArray[np.bool_],
    labels: Sequence[str] | None,
    marked: NDArray[np.float64],
    recalibrated: NDArray[np.float64] | None,
    most: int | None = None,
) -> tuple[AuditRow, ...]:
    """The most suspect first, then by the place in the benchmark; refused ones last."""
    order = np.argsort(-np.nan_to_num(judgement.posterior, nan=-1.0), kind="stable")
    judged = order[~np.isnan(judgement.posterior[order])]
    running = np.full(len(order), np.nan)
    running[judged] = np.cumsum(1 - judgement.posterior[judged]) / np.arange(
        1, len(judged) + 1
    )
    numbers, codes = np.unique(evidence.clusters, return_inverse=True)
    sizes = np.bincount(codes, minlength=len(numbers))
    within = np.bincount(codes, weights=listed, minlength=len(numbers))
    counts = {
        int(n): (int(w), int(s)) for n, w, s in zip(numbers, within, sizes, strict=True)
    }
    columns = _Columns(
        data, judgement, evidence, listed, running, labels, marked, recalibrated, counts
    )
    return tuple(_row(columns, item) for item in order[:most].tolist())


def _row(of: _Columns, item: int) -> AuditRow:
    data = of.data
    judgement = of.judgement
    evidence = of.evidence
    prompt: Mapping[str, Any] = data.prompts[item]
    refused = bool(np.isnan(judgement.posterior[item]))
    contradicts = int(evidence.contradicts[item])
    cluster = cluster_name(evidence, item)
    in_cluster = (
        of.in_cluster[int(evidence.clusters[item])]
        if cluster is not None
        else (None, None)
    )
    rate = judgement.stratum_rate[item]
    return AuditRow(
        prompt=f"prompt:{prompt['id']}",
        key=str(prompt["tool_id"] or prompt["key"]),
        posterior=_number(judgement.posterior[item]),
        listed=bool(of.listed[item]),
        running_fdr=_number(of.running[item]),
        recorded=data.recorded(item),
        rival=None if refused else data.answer(item, int(judgement.rival[item])),
        rival_posterior=_number(judgement.rival_posterior[item]),
        votes_key=_number(judgement.votes_key[item]),
        votes_rival=_number(judgement.votes_rival[item]),
        votes_unparsed=_number(judgement.votes_unparsed[item]),
        n_models=0 if refused else int(judgement.n_answered[item]),
        stratum=None if of.labels is None else of.labels[item],
        stratum_rate=_number(rate),
        contradicts=None if contradicts < 0 else f"prompt:{data.ids[contradicts]}",
        negative=_truth(evidence.negative[item]),
        constant=_truth(evidence.constant[item]),
        datamap_models=None
        if np.isnan(evidence.datamap_models[item])
        else int(evidence.datamap_models[item]),
        cluster=cluster,
        cluster_listed=in_cluster[0],
        cluster_size=in_cluster[1],
        recalibrated=None
        if of.recalibrated is None
        else _number(of.recalibrated[item]),
        wrong=_truth(of.marked[item]),
        reason=data.reasons[item] or str(judgement.reasons[item]),
        text=" ".join((prompt["text"] or "").split())[:EXCERPT],
    )


def _number(value: float) -> float | None:
    if np.isnan(value):
        return None
    return float(value)


def _truth(value: float) -> bool | None:
    if np.isnan(value):
        return None
    return bool(value)
