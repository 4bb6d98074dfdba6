"""A sequential test that a harness feeds while it runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warehouse.analysis.selection.benchmarks import Metric, choose_metrics, find_benchmark, metrics_of
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.prompt_order import PromptKey
from warehouse.analysis.selection.reference import find_conditions, parse_where, pick_one
from warehouse.analysis.selection.scores import PromptScores, read_links, read_scores
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.selection.stopped import RULE, stopped_early
from warehouse.analysis.sequential.plan import SequentialPlan, benchmark_size, make_plan
from warehouse.errors import MisuseError
from warehouse.questions.sequential import FULL, SequentialSettings
from warehouse.records.clock import utc_now
from warehouse.stats import SequentialMonitor, SequentialTest
from warehouse.store.connection import Store

#: Who stops a run, in its log.
MANAGER = "eval-warehouse"


@dataclass(frozen=True, eq=False)
class Baseline:
    """A model of the store that has all scores of a benchmark.

    Attributes:
        condition: of its runs.
        metric: that it is judged by.
        scores: of every prompt, links followed.
    """

    condition: Condition
    metric: Metric
    scores: PromptScores


def read_baseline(store: Store, reference: str, selection: Selection) -> Baseline:
    """The baseline that a reference means.

    Args:
        reference: ``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``.
        selection: its benchmark has to be named; of metric and runs.

    Raises:
        MisuseError: an unknown or ambiguous reference, or a baseline that lacks scores.
    """
    benchmark = find_benchmark(store, selection.benchmark or "")
    conditions = find_conditions(store, reference, benchmark_ids=benchmark.ids, where=parse_where(selection.where))
    condition = pick_one(store, conditions, reference, latest=selection.latest)
    if condition.key in stopped_early(store, [condition]):
        raise MisuseError(f"{reference} was itself stopped early on {benchmark.name}; a baseline needs all its scores")
    metric = choose_metrics(metrics_of(store, benchmark.ids), selection.metric, benchmark.name)[0]
    scores = read_scores(store, dict.fromkeys(condition.run_ids, 0), [metric.id], links=read_links(store)).get(0)
    n = benchmark_size(store, condition, scores)
    if scores is None or scores.n < n:
        has = 0 if scores is None else scores.n
        raise MisuseError(
            f"{reference} has scores by {metric.label} of {has} of {n} prompts of {benchmark.name};"
            " a stored baseline needs all"
        )
    return Baseline(condition, metric, scores)


def plan_for(
    store: Store, baseline: Baseline, settings: SequentialSettings, *, candidate: str = "", now: datetime | None = None
) -> SequentialPlan:
    """The test of a candidate whose run begins now.

    Raises:
        MisuseError: a metric that cannot be tested.
        StatisticsError: a number out of range.
    """
    return make_plan(
        store,
        baseline.condition,
        baseline.scores,
        baseline.metric,
        settings,
        candidate=candidate,
        before=now or utc_now(),
    )


class LiveTest:
    """A test whose scores may come in any order; only the beginning of the prompts' order counts.

    Args:
        plan: with order and design.
        settings: what was fixed; no fixed looks.
        baseline: name of its model, for the record.
    """

    def __init__(self, plan: SequentialPlan, settings: SequentialSettings, baseline: str) -> None:
        if settings.looks is not None or settings.estimand != FULL:
            raise MisuseError("a run is stopped by the betting rule on the full benchmark, without fixed looks")
        self.plan, self.settings, self.baseline = plan, settings, baseline
        self.monitor = SequentialMonitor(plan.design)
        self._places = {key: place for place, key in enumerate(plan.order.keys)}
        self._waiting: dict[int, float | None] = {}

    @property
    def is_over(self) -> bool:
        """Whether no further prompt is of use."""
        return self.monitor.is_over

    def place(self, key: PromptKey) -> int | None:
        """Place of a prompt in the order; None where the baseline does not have it."""
        return self._places.get(key)

    def tell(self, place: int, score: float | None) -> None:
        """The score of a prompt, as its metric has it; None (or NaN) where it cannot be scored.

        Raises:
            StatisticsError: a score out of range.
        """
        missing = score is None or math.isnan(score)
        self._waiting[place] = None if score is None or missing else self.plan.sign * score
        while len(self.monitor.scores) in self._waiting and len(self.monitor.scores) < self.plan.design.n_max:
            self.monitor.update(self._waiting.pop(len(self.monitor.scores)))

    def result(self) -> SequentialTest:
        """Verdict and interval so far."""
        return self.monitor.result()

    @property
    def reason(self) -> str:
        """Why no further prompt is asked."""
        monitor, limit = self.monitor, f"margin {self.settings.margin:g}, alpha {self.settings.alpha:g}"
        if monitor.decided_at is None:
            return f"undecided after all {self.plan.design.n_max} prompts against {self.baseline} ({limit})"
        return f"{monitor.verdict} after {monitor.decided_at} prompts against {self.baseline} ({limit})"

    def record(self) -> dict[str, Any]:
        """What a log has to say, so that the run is known for what it is."""
        test, design = self.result(), self.plan.design
        return {
            "rule": RULE,
            "manager": MANAGER,
            "verdict": test.verdict,
            "decided_at": test.decided_at,
            "n_prompts": test.n_prompts,
            "n_unscored": test.n_unscored,
            "difference": test.estimate,
            "interval": [test.low, test.high],
            "reason": self.reason if self.is_over else "the run ended before there was a verdict",
            "seed": self.settings.seed,
            "n_max": design.n_max,
            "alpha": design.alpha,
            "margin": self.settings.margin,
            "population": design.population,
            "baseline": self.baseline,
            "history": list(self.plan.history),
        }


def first_occurrences(keys: Sequence[str]) -> list[PromptKey]:
    """Keys with their occurrence, in the order given."""
    counts: dict[str, int] = {}
    prompt_keys = []
    for key in keys:
        prompt_keys.append((key, counts.get(key, 0)))
        counts[key] = counts.get(key, 0) + 1
    return prompt_keys
