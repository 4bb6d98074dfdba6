"""The release gate on runs that may still be growing: pass, fail or undecided so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.pairing import NotComparable, refuse_incomparable
from warehouse.analysis.comparison.read import OnBenchmarks, ScoredTwice, TwoModels
from warehouse.analysis.gate.answer import margin_for, refuse_other_margins, taken
from warehouse.analysis.selection.benchmarks import Metric, choose_metrics, metrics_of
from warehouse.analysis.selection.conditions import Condition, describe
from warehouse.analysis.selection.prompts import notes_on_shared
from warehouse.analysis.selection.reference import find_conditions, in_words, pick_one
from warehouse.analysis.selection.scores import PromptScores, read_scores
from warehouse.analysis.selection.select import require_one_seed
from warehouse.analysis.selection.selection import RowRules, Selection, selection_of
from warehouse.analysis.sequential.plan import (
    ONE_BY_ONE,
    Baseline,
    SequentialPlan,
    in_order,
    make_plan,
    plan_for,
    read_baseline,
)
from warehouse.analysis.sequential.question import (
    FULL,
    SequentialReleaseGate,
    SequentialSettings,
)
from warehouse.analysis.sequential.stopped import (
    StoppingRecord,
    read_keys,
    stopped_early,
)
from warehouse.analysis.sequential.view import SequentialGate, SequentialRow
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.question import answers
from warehouse.stats import (
    Outlook,
    SequentialTest,
    group_sequential_test,
    sequential_outlook,
    sequential_test,
)
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener

Floats = NDArray[np.float64]
_SHARED = "a sequential test on several benchmarks shares alpha equally among them"


@answers(SequentialReleaseGate)
def sequential_gate(store: Store, question: SequentialReleaseGate) -> SequentialGate:
    """Benchmark by benchmark, and the verdict over all."""
    selection = selection_of(question, rows=RowRules())
    models = TwoModels(
        store, question.candidate, question.baseline, selection, question.force
    )
    found, missing = models.find(question.benchmarks)
    for condition in chain.from_iterable(found):
        require_one_seed(condition, ONE_BY_ONE)
    settings = _settings(
        [candidate.benchmark_split[0] for candidate, _ in found], question
    )
    read = (
        models.on_one(partial(_read, models, own), *both)
        for both, own in zip(found, settings, strict=True)
    )
    computed, refused = OnBenchmarks(tuple(read), missing).compute(
        _row,
        all_needed=bool(question.benchmarks) or len(found) == 1,
        refusals=MisuseError,
    )
    left_out = (*missing, *refused)
    if not computed:
        raise MisuseError("; ".join(left_out))
    notes = []
    if len(found) > 1:
        notes.append(f"{_SHARED}: {settings[0].alpha:.3g} each")
    notes += list(chain.from_iterable(plan.notes for _, plan in computed))
    notes += notes_on_shared(
        store,
        {
            in_words((row.benchmark, row.split)): plan.order.prompts
            for row, plan in computed
        },
    )
    verdict = together([row.verdict for row, _ in computed])
    rows = tuple(replace(row, overall=verdict) for row, _ in computed)
    notes = [*taken(rows), *notes]
    return SequentialGate(
        question.candidate,
        question.baseline,
        verdict,
        question.alpha,
        rows,
        left_out,
        tuple(notes),
    )


def _settings(
    benchmarks: Sequence[str], question: SequentialReleaseGate
) -> list[SequentialSettings]:
    """Settings that are fixed for each benchmark; they share alpha (Bonferroni)."""
    refuse_other_margins(question.margins, benchmarks)
    margins = [
        margin_for(name, question.margins, question.margin) for name in benchmarks
    ]
    alpha = question.alpha / len(benchmarks)
    return [
        question.shared_with(SequentialSettings, margin=margin, alpha=alpha)
        for margin in margins
    ]


def together(verdicts: Sequence[str]) -> str:
    """The verdict over several benchmarks."""
    if "fail" in verdicts:
        return "fail"
    if set(verdicts) == {"pass"}:
        return "pass"
    return "undecided"


@dataclass(frozen=True, eq=False)
class _Planned:
    """Scores of a candidate and its baseline with the test that they are for."""

    both: ScoredTwice
    settings: SequentialSettings
    plan: SequentialPlan


def _read(
    models: TwoModels,
    settings: SequentialSettings,
    candidate: Condition,
    baseline: Condition,
) -> _Planned:
    both = models.scored(candidate, baseline)
    models.refuse_policy(both.a, both.metric_a, "--sequential")
    records = stopped_early(models.store, (candidate, baseline))
    if baseline.key in records:
        raise NotComparable(
            f"the baseline {baseline.model} was itself stopped early by "
            f"{records[baseline.key].name}"
        )
    record = records.get(candidate.key)
    if record is not None:
        settings = under_record(record, settings, candidate)
    times = [run["started_at"] for run in candidate.runs]
    before = None
    if None not in times:
        before = min(times)
    history = None
    if record is not None:
        history = record.history
    plan = make_plan(
        models.store,
        baseline,
        both.scores_b,
        both.metric_a,
        settings,
        candidate=candidate.model,
        before=before,
        history=history,
    )
    return _Planned(both, settings, plan)


def _row(read: _Planned) -> tuple[SequentialRow, SequentialPlan]:
    both = read.both
    row = row_of(
        read.plan,
        read.settings,
        both.scores_a,
        both.metric_a,
        both.a,
        both.b,
        both.labels,
    )
    return row, read.plan


def under_record(
    record: StoppingRecord, settings: SequentialSettings, condition: Condition
) -> SequentialSettings:
    """The settings under which a run was stopped; others are refused.

    Raises:
        NotComparable: another rule, or another seed, alpha or n_max.
    """
    if not record.is_ours:
        raise NotComparable(
            f"{condition.model} was stopped early by {record.name}, of which nothing "
            "is known"
        )
    settings = replace(settings, n_max=settings.n_max or record.n_max)
    recorded = {"n-max": record.n_max, "seed": record.seed, "alpha": record.alpha}
    if recorded != {
        "n-max": settings.n_max,
        "seed": settings.seed,
        "alpha": settings.alpha,
    }:
        flags = " ".join(
            f"--{name} {value:g}"
            for name, value in recorded.items()
            if value is not None
        )
        raise NotComparable(
            f"{condition.model} was stopped early under {flags}; give the same"
        )
    if settings.looks is not None or settings.estimand != FULL:
        raise NotComparable(
            f"{condition.model} was stopped early by the betting rule on the full "
            "benchmark; fixed looks and prompts sampled do not hold for it"
        )
    return settings


def row_of(
    plan: SequentialPlan,
    settings: SequentialSettings,
    scores: PromptScores,
    metric: Metric,
    candidate: Condition,
    baseline: Condition,
    labels: Sequence[str],
) -> SequentialRow:
    """The row of a candidate's scores."""
    if plan.design.n_max > plan.order.n:
        raise StatisticsError(
            f"`n_max` is {plan.design.n_max}, but the benchmark has {plan.order.n} "
            "prompts"
        )
    own = beginning(
        plan,
        scores,
        is_growing=any(run["status"] != "complete" for run in candidate.runs),
    )
    values = plan.values(own)
    test, outlook = run_test(values, plan, settings)
    is_in_order = np.isin(scores.seen, plan.order.prompts)
    return SequentialRow(
        benchmark=candidate.benchmark_split[0],
        split=candidate.benchmark_split[1],
        metric=metric.label,
        margin=settings.margin,
        n_max=plan.design.n_max,
        n_benchmark=plan.design.population,
        method="betting"
        if settings.looks is None
        else f"O'Brien-Fleming, {settings.looks} looks",
        estimand=settings.estimand,
        seed=settings.seed,
        predicted_by=_predicted_by(plan),
        n_history=len(plan.history),
        n_beyond=int(is_in_order.sum()) - len(own),
        n_outside=int((~is_in_order).sum()),
        model_candidate=candidate.model,
        condition_candidate=labels[0],
        model_baseline=baseline.model,
        condition_baseline=labels[1],
        runs_candidate=candidate.run_ids,
        runs_baseline=baseline.run_ids,
        reason=_reason(len(own), int(is_in_order.sum())),
        overall=test.verdict,
        test=test,
        outlook=outlook,
    )


def _predicted_by(plan: SequentialPlan) -> str:
    if not plan.is_stored:
        return ""
    if plan.history:
        return "baseline and history"
    return "baseline"


def _reason(n: int, n_known: int) -> str:
    if n or not n_known:
        if n:
            return ""
        return "no result yet"
    return (
        f"none of its {n_known} results is of the first prompt in the order of the seed"
    )


def beginning(
    plan: SequentialPlan, scores: PromptScores, *, is_growing: bool
) -> Floats:
    """Scores of the longest beginning of the order that was asked, NaN where
    unscorable.

    Args:
        plan: with the order; two models are both to have been asked.
        scores: of the candidate.
        is_growing: a prompt of which fewer draws are there than of others is not done
            yet.
    """
    samples = scores.unscored.copy()
    samples[np.searchsorted(scores.seen, scores.prompts)] += scores.n_draws
    if is_growing and len(samples):
        done = scores.seen[samples == samples.max()]
    else:
        done = scores.seen
    is_done = np.isin(plan.order.prompts, done)
    if not plan.is_stored:
        is_done &= plan.seen
    if is_done.all():
        n = len(is_done)
    else:
        n = int(np.argmin(is_done))
    return in_order(scores, plan.order.prompts[:n])


def run_test(
    values: Floats, plan: SequentialPlan, settings: SequentialSettings
) -> tuple[SequentialTest, Outlook]:
    """Verdict so far, and what is to be expected; fixed looks have no forecast."""
    if settings.looks is None:
        return sequential_test(values, plan.design), sequential_outlook(
            values, plan.design
        )
    return group_sequential_test(values, plan.design, n_looks=settings.looks), Outlook(
        None, None, None
    )


class NothingYet(MisuseError):
    """The log has nothing to judge so far."""


@dataclass
class Follower:
    """Says again and again what a growing log has settled.

    Order, predictions and design are fixed when it is first looked at.
    """

    opener: StoreOpener  #: of the store that has the baseline.
    candidate: str  #: reference of the model in the log.
    #: reference of a model of the store that has all scores of the benchmark.
    baseline: str
    settings: SequentialSettings  #: what is fixed.
    #: benchmark (None: the log's), metric, and runs of the baseline.
    selection: Selection
    force: bool = False  #: compare what differs in judge, metric scale or task version.
    _fixed: tuple[Baseline, SequentialPlan] | None = None

    def row(self, log: Store) -> SequentialRow:
        """The verdict so far.

        Args:
            log: a store that holds the log alone.

        Raises:
            NothingYet: the log has no sample so far.
            MisuseError: the log has nothing of the candidate or of the metric, other
                prompts, or what should not be compared; a baseline that lacks scores.
            StatisticsError: a number out of range.
        """
        candidate = self._condition(log)
        base, plan = self._plan(candidate)
        metric = _metric_of(log, candidate, base.metric)
        refuse_incomparable(candidate, base.condition, metric, base.metric, self.force)
        scores = read_scores(log, dict.fromkeys(candidate.run_ids, 0), [metric.id]).get(
            0
        )
        if scores is None or not len(scores.seen):
            raise NothingYet(f"the log has no sample of {self.candidate} yet")
        placed = _as_stored(log, scores, plan)
        if not np.isin(placed.seen, plan.order.prompts).any():
            raise MisuseError(
                f"none of the {len(placed.seen)} prompts of the log is one that "
                f"{self.baseline} has on {base.condition.benchmark_split[0]}; expected "
                "the same prompts by key"
            )
        labels = describe((candidate, base.condition))
        row = row_of(
            plan, self.settings, placed, base.metric, candidate, base.condition, labels
        )
        return replace(row, runs_candidate=())

    def _condition(self, log: Store) -> Condition:
        conditions = find_conditions(log, self.candidate)
        if self.selection.benchmark is not None:
            conditions = [
                item
                for item in conditions
                if item.benchmark_split[0] == self.selection.benchmark
            ] or conditions
        return pick_one(log, conditions, self.candidate)

    def _plan(self, candidate: Condition) -> tuple[Baseline, SequentialPlan]:
        if self._fixed is None:
            name = self.selection.benchmark or candidate.benchmark_split[0]
            started = [
                run["started_at"]
                for run in candidate.runs
                if run["started_at"] is not None
            ]
            with self.opener.reading() as store:
                base = read_baseline(
                    store, self.baseline, replace(self.selection, benchmark=name)
                )
                now = min(started, default=None)
                self._fixed = (
                    base,
                    plan_for(
                        store, base, self.settings, candidate=candidate.model, now=now
                    ),
                )
        return self._fixed


def _metric_of(log: Store, candidate: Condition, metric: Metric) -> Metric:
    metrics = metrics_of(log, [candidate.setting("benchmark_id")])
    if not metrics:
        raise NothingYet("the log has no score yet")
    return choose_metrics(metrics, metric.label, candidate.benchmark_split[0])[0]


def _as_stored(log: Store, scores: PromptScores, plan: SequentialPlan) -> PromptScores:
    """The scores under the ids that the store has for their prompts; below 0 where it
    has none."""
    own = {
        key: int(prompt)
        for key, prompt in zip(plan.order.keys, plan.order.prompts, strict=True)
    }
    keys = read_keys(log, scores.seen)
    ids = {
        prompt: own.get((str(row["key"]), int(row["occurrence"])), -prompt)
        for prompt, row in keys.items()
    }
    prompts = np.array([ids[int(prompt)] for prompt in scores.prompts], dtype=np.int64)
    seen = np.array([ids[int(prompt)] for prompt in scores.seen], dtype=np.int64)
    rows = np.argsort(prompts)
    order = np.argsort(seen)
    fields = ("values", "weights", "n_draws", "within", "zero_one")
    return replace(
        scores,
        prompts=prompts[rows],
        seen=seen[order],
        unscored=scores.unscored[order],
        **{name: getattr(scores, name)[rows] for name in fields},
    )
