"""A sequential test against a model of the store: order, predictions, design."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import (
    Metric,
    choose_metrics,
    direction_unknown,
    find_benchmark,
    metrics_of,
    runs_on,
)
from warehouse.analysis.selection.clusterings import cluster_map
from warehouse.analysis.selection.conditions import Condition, group_runs
from warehouse.analysis.selection.prompt_links import follow_links, read_links
from warehouse.analysis.selection.reference import find_conditions, pick_one
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.scores import PromptScores, read_scores
from warehouse.analysis.selection.select import without_other_seeds
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.sequential.question import FULL, SequentialSettings
from warehouse.analysis.sequential.stopped import (
    RULE,
    PromptKey,
    PromptOrder,
    order_prompts,
    read_keys,
    stopped_early,
)
from warehouse.errors import MisuseError
from warehouse.records.clock import utc_now
from warehouse.stats import (
    SequentialDesign,
    SequentialMonitor,
    SequentialTest,
    design_against_baseline,
    design_two_models,
    predict_scores,
)
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Models behind the predictions, at most.
HISTORY = 100

Floats = NDArray[np.float64]


#: Why a sequential test is of one training seed.
ONE_BY_ONE = (
    "a sequential test goes prompt by prompt, and knows nothing of another draw of the "
    "seeds"
)


@dataclass(frozen=True, eq=False)
class SequentialPlan:
    """A test of candidates against one baseline."""

    #: the prompts, N of them where the estimand is the full benchmark.
    order: PromptOrder
    design: SequentialDesign  #: of the statistics.
    #: its scores in this order, higher is better, NaN where it has none.
    baseline: Floats
    seen: NDArray[np.bool_]  #: whether the baseline was asked.
    is_stored: bool  #: the baseline has all scores: they, with others, predict the candidate's.
    sign: float  #: 1, or −1 where lower is better.
    #: condition keys of the models behind the predictions.
    history: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())  #: what a reader should know.

    def values(self, own: Floats) -> Floats:
        """y of the test, of the candidate's scores of the first prompts (as its metric
        has them)."""
        better = self.sign * own
        if self.is_stored:
            return better
        return better - self.baseline[: len(own)]


def make_plan(
    store: Store,
    baseline: Condition,
    scores: PromptScores,
    metric: Metric,
    settings: SequentialSettings,
    *,
    candidate: str = "",
    before: datetime | None = None,
    history: Sequence[str] | None = None,
) -> SequentialPlan:
    """The test of a candidate against a baseline.

    Args:
        baseline: the condition that is followed.
        scores: its scores, with links followed.
        metric: that both are judged by.
        settings: what is fixed.
        candidate: name of the candidate's model, which is no history of its own.
        before: models that ran later are no history either; None: unknown.
        history: condition keys of the models to use; None: all that may be.

    Raises:
        MisuseError: a metric without bounds, direction or plain mean, clusters with
            prompts sampled, a benchmark of which the store does not know all prompts.
        StatisticsError: a number out of range.
    """
    low, high = _bounds(metric, scores, baseline.benchmark_split[0])
    sign = -1.0 if metric.higher_is_better is False else 1.0
    limits = (low, high) if sign > 0 else (-high, -low)
    n = benchmark_size(store, baseline, scores)
    is_stored = settings.estimand == FULL and scores.n == len(scores.seen) == n
    if settings.estimand != FULL:
        _refuse_clusters(store, baseline, scores, settings.cluster)
    prompts = (
        scores.seen
        if is_stored or settings.estimand != FULL
        else _all_prompts(store, baseline, n)
    )
    order = order_prompts(read_keys(store, prompts).values(), settings.seed)
    if not is_stored:
        population = n if settings.estimand == FULL else None
        most = order.n if settings.n_max is None else settings.n_max
        design = design_two_models(
            settings.margin,
            n_max=most,
            bounds=limits,
            population=population,
            alpha=settings.alpha,
        )
        return SequentialPlan(order, design, *_placed(scores, order, sign), False, sign)
    values, seen = _placed(scores, order, sign)
    others, keys, notes = _history(
        store, baseline, metric, order, settings, candidate, before, history
    )
    predictions = np.clip(
        predict_scores(sign * others if len(others) else None, values), *limits
    )
    design = design_against_baseline(
        values,
        settings.margin,
        n_max=settings.n_max,
        bounds=limits,
        predictions=predictions,
        alpha=settings.alpha,
    )
    return SequentialPlan(order, design, values, seen, True, sign, keys, notes)


def benchmark_size(
    store: Store, condition: Condition, scores: PromptScores | None
) -> int:
    """Prompts of a benchmark's split: the most that a run of its version declares or
    has."""
    name, split = condition.benchmark_split
    versions = ("task_version", "benchmark_version")
    sizes = []
    for run in runs_on(store, find_benchmark(store, name).ids):
        if run["split"] == split and all(
            run[name] == condition.setting(name) for name in versions
        ):
            sizes.append(max(run["n_benchmark"] or 0, run["n_found"] or 0))
    return max([0 if scores is None else len(scores.seen), *sizes])


def _bounds(
    metric: Metric, scores: PromptScores, benchmark: str
) -> tuple[float, float]:
    low, high = metric.bounds or (None, None)
    if low is None or high is None or not np.isfinite([low, high]).all():
        raise MisuseError(
            f"{metric.label} has no bounds on both sides, which a sequential test needs"
        )
    if metric.link != "identity" or scores.uneven_weights is not None:
        raise MisuseError(
            f"{metric.label} is no plain mean of its prompts, which a sequential test "
            "needs"
        )
    if metric.higher_is_better is None:
        raise MisuseError(direction_unknown(metric.label, benchmark))
    return float(low), float(high)


def _refuse_clusters(
    store: Store, baseline: Condition, scores: PromptScores, cluster: str | None
) -> None:
    benchmark = find_benchmark(store, baseline.setting("benchmark"))
    if (
        cluster_map(store, benchmark.ids, benchmark.clusterings, cluster).labels(
            scores.prompts
        )
        is not None
    ):
        raise MisuseError(
            f"prompts of {benchmark.name} come in clusters, for which there is no "
            "sequential test with prompts sampled; take the full benchmark as what is "
            "asked, or give --cluster none where clusters do not matter"
        )


def _all_prompts(store: Store, baseline: Condition, n: int) -> NDArray[np.int64]:
    """All prompts of the split, which must be known for their order to be."""
    name, split = baseline.benchmark_split
    query = query_text("analysis/sequential", "prompt_keys").format(
        condition="prompt.benchmark_id in (:benchmark_ids)"
    )
    rows = store.rows(query, {"benchmark_ids": find_benchmark(store, name).ids})
    ids = np.array([row["id"] for row in rows if row["split"] == split], dtype=np.int64)
    prompts: NDArray[np.int64] = np.unique(follow_links(ids, read_links(store)))
    if len(prompts) != n:
        raise MisuseError(
            f"{name} has {n} prompts, of which the store knows {len(prompts)}: their "
            "order needs all of them; ingest a run on the whole benchmark, or give "
            "--estimand prompts-sampled"
        )
    return prompts


def _placed(
    scores: PromptScores, order: PromptOrder, sign: float
) -> tuple[Floats, NDArray[np.bool_]]:
    """Oriented scores in order, and what was asked."""
    return sign * in_order(scores, order.prompts), np.isin(order.prompts, scores.seen)


def in_order(scores: PromptScores, prompts: NDArray[np.int64]) -> Floats:
    """Scores of some prompts, NaN where there is none, shape (N,)."""
    indices = np.searchsorted(scores.prompts, prompts)
    indices = np.minimum(indices, max(scores.n - 1, 0))
    if not scores.n:
        return np.full(len(prompts), np.nan)
    return np.where(scores.prompts[indices] == prompts, scores.values[indices], np.nan)


def _history(
    store: Store,
    baseline: Condition,
    metric: Metric,
    order: PromptOrder,
    settings: SequentialSettings,
    candidate: str,
    before: datetime | None,
    only: Sequence[str] | None,
) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """Scores of other models that have all prompts (models × prompts), their keys, and
    notes."""
    nothing: tuple[Floats, tuple[str, ...], tuple[str, ...]] = (
        np.empty((0, order.n)),
        (),
        (),
    )
    if not settings.use_history or (only is not None and not only):
        return nothing
    here = find_benchmark(store, baseline.setting("benchmark")).ids
    others = []
    for item in group_runs(runs_on(store, here)):
        is_other = item.key != baseline.key and item.model != candidate
        is_on_split = item.benchmark_split == baseline.benchmark_split
        if is_other and is_on_split and _may_count(item, before, only):
            others.append(item)
    others.sort(key=lambda item: item.key)
    groups = {}
    for index, item in enumerate(others):
        for run in item.run_ids:
            groups[run] = index
    scores = read_scores(store, groups, [metric.id], links=read_links(store))
    rows: list[Floats] = []
    keys: list[str] = []
    for index in sorted(scores):
        own = in_order(scores[index], order.prompts)
        if np.isfinite(own).all() and len(rows) < HISTORY:
            rows.append(own)
            keys.append(others[index].key)
    if only is not None and set(only) - set(keys):
        return *nothing[:2], (
            f"{len(set(only) - set(keys))} models behind the predictions are no longer "
            "stored",
        )
    return (np.array(rows), tuple(keys), ()) if rows else nothing


def _may_count(
    item: Condition, before: datetime | None, only: Collection[str] | None
) -> bool:
    if only is not None:
        return item.key in only
    times: list[Any] = [run["started_at"] for run in item.runs]
    return before is None or all(time is not None and time <= before for time in times)


#: Who stops a run, in its log.
MANAGER = "eval-warehouse"


@dataclass(frozen=True, eq=False)
class Baseline:
    """A model of the store that has all scores of a benchmark."""

    condition: Condition  #: of its runs.
    metric: Metric  #: that it is judged by.
    scores: PromptScores  #: of every prompt, links followed.


def read_baseline(store: Store, reference: str, selection: Selection) -> Baseline:
    """The baseline that a reference means.

    Args:
        reference: ``MODEL[@REVISION|@step=N][+AGENT]`` or ``run:ID``.
        selection: its benchmark has to be named; of metric and runs.

    Raises:
        MisuseError: an unknown or ambiguous reference, or a baseline that lacks scores.
    """
    benchmark = find_benchmark(store, selection.benchmark or "")
    conditions = find_conditions(
        store,
        reference,
        benchmark_ids=benchmark.ids,
        where=parse_where(selection.where),
    )
    if len({condition.benchmark_split for condition in conditions}) == 1:
        conditions = [
            *without_other_seeds(store, conditions, selection.metric, ONE_BY_ONE)
        ]
    condition = pick_one(store, conditions, reference, latest=selection.latest)
    if condition.key in stopped_early(store, [condition]):
        raise MisuseError(
            f"{reference} was itself stopped early on {benchmark.name}; a baseline "
            "needs all its scores"
        )
    metric = choose_metrics(
        metrics_of(store, benchmark.ids), selection.metric, benchmark.name
    )[0]
    scores = read_scores(
        store, dict.fromkeys(condition.run_ids, 0), [metric.id], links=read_links(store)
    ).get(0)
    n = benchmark_size(store, condition, scores)
    if scores is None or scores.n < n:
        if scores is None:
            has = 0
        else:
            has = scores.n
        raise MisuseError(
            f"{reference} has scores by {metric.label} of {has} of {n} prompts of "
            f"{benchmark.name}; a stored baseline needs all"
        )
    return Baseline(condition, metric, scores)


def plan_for(
    store: Store,
    baseline: Baseline,
    settings: SequentialSettings,
    *,
    candidate: str = "",
    now: datetime | None = None,
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
    """A test whose scores may come in any order; only the beginning of the prompts'
    order counts.

    Args:
        plan: with order and design.
        settings: what was fixed; no fixed looks.
        baseline: name of its model, for the record.
    """

    def __init__(
        self, plan: SequentialPlan, settings: SequentialSettings, baseline: str
    ) -> None:
        if settings.looks is not None or settings.estimand != FULL:
            raise MisuseError(
                "a run is stopped by the betting rule on the full benchmark, without "
                "fixed looks"
            )
        self.plan = plan
        self.settings = settings
        self.baseline = baseline
        self.monitor = SequentialMonitor(plan.design)
        self._indices = {key: index for index, key in enumerate(plan.order.keys)}
        self._waiting: dict[int, float | None] = {}

    @property
    def is_over(self) -> bool:
        """True if no further prompt is of use."""
        return self.monitor.is_over

    def position(self, key: PromptKey) -> int | None:
        """Position of a prompt in the order; None where the baseline does not have it."""
        return self._indices.get(key)

    def tell(self, position: int, score: float | None) -> None:
        """The score of a prompt, as its metric has it; None (or NaN) where it cannot be
        scored.

        Raises:
            StatisticsError: a score out of range.
        """
        missing = score is None or math.isnan(score)
        if score is None or missing:
            self._waiting[position] = None
        else:
            self._waiting[position] = self.plan.sign * score
        while (
            len(self.monitor.scores) in self._waiting
            and len(self.monitor.scores) < self.plan.design.n_max
        ):
            self.monitor.update(self._waiting.pop(len(self.monitor.scores)))

    def result(self) -> SequentialTest:
        """Verdict and interval so far."""
        return self.monitor.result()

    @property
    def reason(self) -> str:
        """Why no further prompt is asked."""
        monitor = self.monitor
        limit = f"margin {self.settings.margin:g}, alpha {self.settings.alpha:g}"
        if monitor.decided_at is None:
            return (
                f"undecided after all {self.plan.design.n_max} prompts against "
                f"{self.baseline} ({limit})"
            )
        return (
            f"{monitor.verdict} after {monitor.decided_at} prompts against "
            f"{self.baseline} ({limit})"
        )

    def record(self) -> dict[str, Any]:
        """The entries that a log has to have, so that the run is known for what it
        is."""
        test = self.result()
        design = self.plan.design
        reason = "the run ended before there was a verdict"
        if self.is_over:
            reason = self.reason
        return {
            "rule": RULE,
            "manager": MANAGER,
            "verdict": test.verdict,
            "decided_at": test.decided_at,
            "n_prompts": test.n_prompts,
            "n_unscored": test.n_unscored,
            "difference": test.estimate,
            "interval": [test.low, test.high],
            "reason": reason,
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
