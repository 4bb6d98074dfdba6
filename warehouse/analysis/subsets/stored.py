"""Plans in the store: kept for ever once made, found again by what they are called or
drawn from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.benchmarks import Benchmark, all_benchmarks
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.hooks import STORED_PLANS, Asked, StoredPlans
from warehouse.analysis.selection.prompt_links import Links, align_values, follow_links
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.subsets.plan import (
    SubsetPlan,
    SubsetPlans,
    as_stored,
    hash_ids,
    read_plans,
)
from warehouse.errors import MisuseError, StatisticsError, StoreError, first_line
from warehouse.stats.core.draws import PROMPTS_FIXED
from warehouse.stats.core.inputs import Bounds, FloatArray
from warehouse.stats.subsets.design import FULL_BENCHMARK, LEAST
from warehouse.store.alchemy import sa
from warehouse.store.computed import result_cache
from warehouse.store.computed.result_cache import Kept, StoredQuestion
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.sql.query_files import query_text

if TYPE_CHECKING:
    from warehouse.stats.subsets.estimate import SubsetEstimate


KIND = "subset_plan"
METHOD_VERSION = "1"

_RESULTS = "select id, result from analysis where id in (:ids)"


@dataclass(frozen=True)
class StoredPlan:
    """A plan as the store has it."""

    plan: SubsetPlan  #: what was drawn.
    created_at: datetime  #: when it was stored, naive UTC.


@dataclass(frozen=True, eq=False)
class BenchmarkPlans(StoredPlans):
    """Plans of a benchmark, with the data needed to recognise runs on them."""

    plans: tuple[StoredPlan, ...] = ()  #: newest first.
    #: ids in the store, by split and by what a plan calls a prompt.
    prompts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    #: by id of a run, its start, else when its first source was read, naive UTC.
    first_known: Mapping[int, datetime] = field(default_factory=dict)


def store_plan(
    opener: StoreOpener, plan: SubsetPlan, *, known_at: datetime | None = None
) -> tuple[SubsetPlan, str]:
    """Keep a plan; one that draws the same from the same is kept as it was first made.

    Args:
        known_at: from when on runs may be on it, naive UTC; None: since it was made.

    Returns:
        the plan as the store has it, and what a reader should know of that.
    """
    question = StoredQuestion(
        KIND,
        plan.benchmark,
        METHOD_VERSION,
        plan.ids_sha256,
        plan.seed,
        {
            "key": plan.key,
            "split": plan.split,
            "metric": plan.metric,
            "size": plan.size,
            "n_prompts": plan.n_prompts,
        },
    )
    with opener.reading() as store:
        before = result_cache.get(store, question)
    if before is not None and (known_at is None or known_at >= before.created_at):
        old = SubsetPlan.from_dict(before.result)
        return (
            old,
            f"plan {old.key} is the one of {old.created_at.replace('T', ' ')} UTC: "
            "nothing has changed since",
        )
    try:
        with opener.writing() as store:
            result_cache.put(
                store, question, as_stored(plan), now=known_at or plan.created
            )
    except (StoreError, sa.exc.DBAPIError) as error:
        return (
            plan,
            f"not stored ({first_line(error)}): runs on it will not be recognised",
        )
    return plan, ""


def kept_plans(store: Store, benchmark: str) -> list[Kept]:
    """The plans of a benchmark, newest first, without their prompts."""
    return _kept(
        row
        for row in store.rows(query_text("analysis", "subset_plans"))
        if row["subject"] == benchmark
    )


def _kept(rows: Iterable[Mapping[str, Any]]) -> list[Kept]:
    """Rows of stored plans, without those of other versions of the method."""
    return [
        Kept(row["id"], KIND, json.loads(row["parameters"]), row["created_at"])
        for row in rows
        if row["method_version"] == METHOD_VERSION
    ]


def read_possible_plans(
    store: Store,
    benchmark: Benchmark,
    stored: Sequence[Mapping[str, Any]],
    asked: Iterable[Asked],
) -> BenchmarkPlans | None:
    """The plans that something was asked for as many prompts as such a plan has; None
    where there are none.

    Args:
        stored: rows of the query ``subset_plans``, of this benchmark.
    """
    kept = _kept(stored)
    among = []
    for pair in asked:
        for entry in kept:
            if _may_be_on(entry, *pair):
                among.append((entry, pair[0]))
    if not among:
        return None
    ids = {entry.id for entry, _ in among}
    results = store.rows(_RESULTS, {"ids": ids})
    plan_by_id = {
        row["id"]: SubsetPlan.from_dict(json.loads(row["result"])) for row in results
    }
    plans = [
        StoredPlan(plan_by_id[entry.id], entry.created_at)
        for entry in kept
        if entry.id in ids
    ]
    return with_prompts(
        store, benchmark.ids, plans, [condition for _, condition in among]
    )


STORED_PLANS.fill(read_possible_plans)


def known_plans(plans: StoredPlans) -> BenchmarkPlans:
    """Plans that daily rooms handed on, with what was read of them here."""
    assert isinstance(plans, BenchmarkPlans)
    return plans


def _may_be_on(
    entry: Kept, condition: Condition, metric: str, scores: PromptScores
) -> bool:
    """True if a condition may be on a plan, as far as one sees without reading it."""
    of_plan = entry.parameters
    alike = (
        of_plan.get("split") == condition.setting("split")
        and of_plan.get("metric") == metric
    )
    return alike and LEAST <= len(scores.seen) < int(of_plan.get("n_prompts", 0))


def with_prompts(
    store: Store,
    benchmark_ids: Sequence[int],
    plans: Sequence[StoredPlan],
    conditions: Iterable[Condition],
) -> BenchmarkPlans:
    """Plans with the data needed to recognise some conditions on them."""
    if not plans:
        return BenchmarkPlans()
    runs = list(chain.from_iterable(condition.run_ids for condition in conditions))
    first_known = store.rows(
        query_text("analysis/subsets", "runs_first_known"), {"run_ids": runs}
    )
    first = {
        row["run_id"]: row["first_known"]
        for row in first_known
        if row["first_known"] is not None
    }
    return BenchmarkPlans(tuple(plans), prompts_by_key(store, benchmark_ids), first)


def prompts_by_key(
    store: Store, benchmark_ids: Sequence[int]
) -> dict[tuple[str, str], int]:
    """Ids in the store by split and by what a plan calls a prompt."""
    query = query_text("analysis", "matrix_prompts").format(
        condition="benchmark_id in (:benchmark_ids)"
    )
    rows = store.rows(query, {"benchmark_ids": benchmark_ids})
    return {(str(row["split"]), plan_id(row)): int(row["id"]) for row in rows}


def plan_id(row: Mapping[str, Any]) -> str:
    """The id of a prompt in a plan."""
    if row["occurrence"]:
        return f"{row['key']}#{row['occurrence']}"
    return str(row["key"])


def plan_of(store: Store, entry: Kept) -> StoredPlan:
    """A stored plan with its prompts."""
    return StoredPlan(
        SubsetPlan.from_dict(result_cache.result_of(store, entry)), entry.created_at
    )


def find_plans(store: Store, named: str) -> SubsetPlans:
    """The plans that a name means: a file, or the key of a stored plan.

    Raises:
        MisuseError: neither; names the stored plans.
        InputError: a file that is no plan.
    """
    path = Path(named)
    if path.exists():
        return read_plans(path)
    all_plans = list(
        chain.from_iterable(
            kept_plans(store, benchmark.name) for benchmark in all_benchmarks(store)
        )
    )
    for entry in all_plans:
        if entry.parameters.get("key") == named:
            plan = plan_of(store, entry).plan
            return SubsetPlans("", plan.width, plan.level, (plan,), ())
    keys = ", ".join(str(entry.parameters.get("key")) for entry in all_plans[:8])
    there_are = "the store has no plans; see: warehouse subset plan"
    if keys:
        there_are = f"stored plans: {keys}"
    raise MisuseError(f"{named!r} is neither a file nor the key of a plan; {there_are}")


#: Share of the planned prompts that a run with others too has to cover to be one on the
#: plan.
COVERED = 0.95


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """A condition that was asked a planned sample."""

    condition: Condition  #: what was asked.
    plan: SubsetPlan  #: which.
    #: ids of all prompts of the plan in the store, shape (N,).
    prompts: NDArray[np.int64]
    scores: FloatArray  #: of the sample, NaN elsewhere, shape (N,).
    #: variance over the draws of each, NaN where unknown, shape (N,).
    within: FloatArray
    n_draws: FloatArray  #: of each, 0 elsewhere, shape (N,).
    n_outside: int  #: scored prompts outside the sample, which are ignored.
    refused: str  #: why the plan does not hold for it; empty if it does.

    @property
    def bounds(self) -> Bounds | None:
        """The bounds of the metric, unless a score breaks them."""
        low = self.plan.low
        high = self.plan.high
        there = self.scores[np.isfinite(self.scores)]
        if low is None or high is None or not len(there):
            return None
        tolerance = 1e-9 * (high - low)
        if low - tolerance <= there.min() and there.max() <= high + tolerance:
            return (low, high)
        return None

    def estimate(
        self, *, level: float, estimand: str = FULL_BENCHMARK
    ) -> SubsetEstimate:
        """The figure of the whole benchmark (statistics.md §10).

        Raises:
            StatisticsError: ``prompts_fixed`` with one draw of a prompt.
        """
        from warehouse.stats.subsets.estimate import (
            estimate_subset,
        )  # slow to import, and seldom needed

        fixed = estimand == PROMPTS_FIXED
        within = None
        n_draws = None
        if fixed:
            within = self.within
            n_draws = self.n_draws
        return estimate_subset(
            self.scores,
            self.plan.stratum,
            self.plan.selected,
            bounds=self.bounds,
            estimand=estimand,
            within=within,
            n_draws=n_draws,
            level=level,
        )

    def describe(self, model: str) -> str:
        """A footnote on what was asked."""
        plan = self.plan
        scored = int(np.isfinite(self.scores).sum())
        missing = ""
        if scored < plan.size:
            missing = f" ({plan.size - scored} without a score)"
        outside = ""
        if self.n_outside:
            outside = f"; {self.n_outside} prompts outside the plan are ignored"
        return (
            f"{model}: {plan.size} of {plan.n_prompts} prompts, plan "
            f"{plan.key}{missing}{outside}"
        )


def recognise(
    plans: BenchmarkPlans,
    condition: Condition,
    metric: str,
    scores: PromptScores,
    links: Links | None = None,
) -> PlannedRun | None:
    """The plan that a condition was run on, None if it is on none.

    It is on a plan if it saw nothing but planned prompts, eight at least, or most
    planned ones; of several, on the one whose sample it covers best, then the largest.

    Args:
        plans: plans of the benchmark.
        metric: label of the metric of the scores.
        scores: of the condition.
        links: where prompts stand under those that links lead to.
    """
    best: tuple[float, int, PlannedRun] | None = None
    for stored in plans.plans:
        if (stored.plan.split, stored.plan.metric) != (
            condition.setting("split"),
            metric,
        ):
            continue
        run = on_plan(plans, stored, condition, scores, links)
        if run is None:
            continue
        covered = float(np.isin(run.prompts[run.plan.selected], scores.seen).mean())
        if best is None or (not run.refused, covered, run.plan.size) > (
            not best[2].refused,
            best[0],
            best[1],
        ):
            best = covered, run.plan.size, run
    if best is None:
        return None
    return best[2]


def on_plan(
    plans: BenchmarkPlans,
    stored: StoredPlan,
    condition: Condition,
    scores: PromptScores,
    links: Links | None = None,
) -> PlannedRun | None:
    """A condition on one of the known plans; None if it is not on it. Arguments as for
    :func:`recognise`."""
    plan = stored.plan
    if not LEAST <= len(scores.seen) < plan.n_prompts:
        return None
    ids = np.array(
        [plans.prompts.get((plan.split, row.id), -1) for row in plan.rows], np.int64
    )
    if links is None:
        prompts = ids
    else:
        prompts = follow_links(ids, links)
    planned = prompts[plan.selected]
    inside = int(np.isin(planned[planned >= 0], scores.seen).sum())
    is_part = inside == len(scores.seen) and inside >= LEAST
    if not is_part and inside < max(LEAST, COVERED * plan.size):
        return None
    refused = _why_not(plans, stored, condition) or _other_version(
        plan, int((ids < 0).sum()), condition
    )
    values = align_values(scores.prompts, scores.values, prompts)
    is_answered = plan.selected & np.isfinite(values)
    draws = np.nan_to_num(align_values(scores.prompts, scores.n_draws, prompts))
    return PlannedRun(
        condition=condition,
        plan=plan,
        prompts=prompts,
        scores=np.where(is_answered, values, np.nan),
        within=np.where(
            is_answered, align_values(scores.prompts, scores.within, prompts), np.nan
        ),
        n_draws=np.where(is_answered, draws, 0),
        n_outside=len(scores.prompts) - int(is_answered.sum()),
        refused=refused
        or ("" if is_answered.any() else "no planned prompt has a score"),
    )


def _why_not(plans: BenchmarkPlans, stored: StoredPlan, condition: Condition) -> str:
    """Why a plan does not hold for a model: it knew it, or it came after its answers."""
    plan, model = stored.plan, condition.who
    if model in plan.history or model == plan.baseline:
        return f"{model} is in the plan's own history"
    first = min(
        (
            plans.first_known[run]
            for run in condition.run_ids
            if run in plans.first_known
        ),
        default=None,
    )
    if first is not None and first < stored.created_at:
        made = f"{stored.created_at:%Y-%m-%d %H:%M}"
        return (
            f"the plan was made at {made} UTC, after the run ({first:%Y-%m-%d %H:%M})"
        )
    return ""


def _other_version(plan: SubsetPlan, lacking: int, condition: Condition) -> str:
    if hash_ids([row.id for row in plan.rows]) != plan.ids_sha256:
        return "its prompts are not those that its hash says"
    if lacking:
        return (
            f"{lacking} of its {plan.n_prompts} prompts are not in the store: it is "
            "for another version"
        )
    version = condition.setting("benchmark_version") or ""
    if version and plan.revision and version != plan.revision:
        return f"it is for version {plan.revision}, the run is of {version}"
    task = str(condition.setting("task_version") or "")
    if task != plan.task_version:
        return (
            f"it is for task version {plan.task_version or 'none'}, the run is of "
            f"{task or 'none'}"
        )
    return ""


def estimate_of(
    run: PlannedRun, *, level: float, estimand: str = FULL_BENCHMARK
) -> tuple[SubsetEstimate | None, str]:
    """The estimate of a run, or why there is none."""
    if run.refused:
        return None, f"plan {run.plan.key} does not hold: {run.refused}"
    try:
        estimate = run.estimate(level=level, estimand=estimand)
    except StatisticsError as error:
        return None, f"plan {run.plan.key}: {error}"
    if estimate.estimate is None:
        bounds = ""
        if estimate.bound_ci_low is not None:
            bounds = f"; it lies in [{estimate.bound_ci_low:.4g}, {estimate.bound_ci_high:.4g}]"
        return (
            None,
            f"plan {run.plan.key}: no figure of the whole benchmark, "
            f"{estimate.reason}{bounds}",
        )
    return estimate, ""
