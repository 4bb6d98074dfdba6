"""A sequential test of a log that is still being written, and is in no store yet."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warehouse.analysis.comparison.pairing import refuse_incomparable
from warehouse.analysis.selection.benchmarks import Metric, choose_metrics, metrics_of
from warehouse.analysis.selection.conditions import Condition, describe
from warehouse.analysis.selection.prompt_order import read_keys
from warehouse.analysis.selection.reference import find_conditions, pick_one
from warehouse.analysis.selection.scores import PromptScores, read_scores
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.sequential.gate import row_of
from warehouse.analysis.sequential.live import Baseline, plan_for, read_baseline
from warehouse.analysis.sequential.plan import SequentialPlan
from warehouse.analysis.sequential.row import SequentialRow
from warehouse.errors import MisuseError
from warehouse.questions.sequential import SequentialSettings
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener


class NothingYet(MisuseError):
    """The log has nothing to judge so far."""


@dataclass
class Follower:
    """Says again and again what a growing log has settled.

    Order, predictions and design are fixed when it is first looked at.

    Attributes:
        opener: of the store that has the baseline.
        candidate: reference of the model in the log.
        baseline: reference of a model of the store that has all scores of the benchmark.
        settings: what is fixed.
        selection: benchmark (None: the log's), metric, and runs of the baseline.
        force: compare what differs in judge, metric scale or task version.
    """

    opener: StoreOpener
    candidate: str
    baseline: str
    settings: SequentialSettings
    selection: Selection
    force: bool = False
    _fixed: tuple[Baseline, SequentialPlan] | None = None

    def row(self, log: Store) -> SequentialRow:
        """The verdict so far.

        Args:
            log: a store that holds the log alone.

        Raises:
            NothingYet: the log has no sample so far.
            MisuseError: the log has nothing of the candidate or of the metric, other prompts, or what
                should not be compared; a baseline that lacks scores.
            StatisticsError: a number out of range.
        """
        one = self._condition(log)
        base, plan = self._plan(one)
        metric = _metric_of(log, one, base.metric)
        refuse_incomparable(one, base.condition, metric, base.metric, self.force)
        scores = read_scores(log, dict.fromkeys(one.run_ids, 0), [metric.id]).get(0)
        if scores is None or not len(scores.seen):
            raise NothingYet(f"the log has no sample of {self.candidate} yet")
        placed = _as_stored(log, scores, plan)
        if not np.isin(placed.seen, plan.order.prompts).any():
            raise MisuseError(
                f"none of the {len(placed.seen)} prompts of the log is one that {self.baseline} has on"
                f" {base.condition.benchmark_split[0]}; expected the same prompts by key"
            )
        labels = describe((one, base.condition))
        row = row_of(plan, self.settings, placed, base.metric, one, base.condition, labels)
        return replace(row, runs_candidate=())

    def _condition(self, log: Store) -> Condition:
        conditions = find_conditions(log, self.candidate)
        if self.selection.benchmark is not None:
            conditions = [
                item for item in conditions if item.benchmark_split[0] == self.selection.benchmark
            ] or conditions
        return pick_one(log, conditions, self.candidate)

    def _plan(self, one: Condition) -> tuple[Baseline, SequentialPlan]:
        if self._fixed is None:
            name = self.selection.benchmark or one.benchmark_split[0]
            started = [run["started_at"] for run in one.runs if run["started_at"] is not None]
            with self.opener.reading() as store:
                base = read_baseline(store, self.baseline, replace(self.selection, benchmark=name))
                now = min(started, default=None)
                self._fixed = base, plan_for(store, base, self.settings, candidate=one.model, now=now)
        return self._fixed


def _metric_of(log: Store, one: Condition, wanted: Metric) -> Metric:
    known = metrics_of(log, [one.setting("benchmark_id")])
    if not known:
        raise NothingYet("the log has no score yet")
    return choose_metrics(known, wanted.label, one.benchmark_split[0])[0]


def _as_stored(log: Store, scores: PromptScores, plan: SequentialPlan) -> PromptScores:
    """The scores under the ids that the store has for their prompts; below 0 where it has none."""
    own = {key: int(prompt) for key, prompt in zip(plan.order.keys, plan.order.prompts, strict=True)}
    keys = read_keys(log, scores.seen)
    ids = {prompt: own.get((str(row["key"]), int(row["occurrence"])), -prompt) for prompt, row in keys.items()}
    prompts = np.array([ids[int(prompt)] for prompt in scores.prompts], dtype=np.int64)
    seen = np.array([ids[int(prompt)] for prompt in scores.seen], dtype=np.int64)
    rows, order = np.argsort(prompts), np.argsort(seen)
    fields = ("values", "weights", "n_draws", "within", "zero_one")
    return replace(
        scores,
        prompts=prompts[rows],
        seen=seen[order],
        unscored=scores.unscored[order],
        **{name: getattr(scores, name)[rows] for name in fields},
    )
