"""Plans in the store: kept for ever once made, found again by what they are called or drawn from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from warehouse.analysis.selection.benchmarks import Benchmark, all_benchmarks
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.subsets.plan import SubsetPlan, SubsetPlans, as_stored, read_plans
from warehouse.errors import MisuseError, StoreError, first_line
from warehouse.stats.subsets.sample import LEAST
from warehouse.store.alchemy import sa
from warehouse.store.computed import result_cache
from warehouse.store.computed.result_cache import Kept, Question
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.store.sql.query_files import query_text

KIND = "subset_plan"
METHOD_VERSION = "1"

_RESULTS = "select id, result from analysis where id in (:ids)"

#: What was asked: a condition, the label of a metric, the scores by it.
Asked = tuple[Condition, str, PromptScores]


@dataclass(frozen=True)
class StoredPlan:
    """A plan as the store has it.

    Attributes:
        plan: what was drawn.
        created_at: when it was stored, naive UTC.
    """

    plan: SubsetPlan
    created_at: datetime


@dataclass(frozen=True, eq=False)
class BenchmarkPlans:
    """Plans of a benchmark, with what tells whether a run is on one of them.

    Attributes:
        plans: newest first.
        prompts: ids in the store, by split and by what a plan calls a prompt.
        first_known: by id of a run, its start, else when its first source was read, naive UTC.
    """

    plans: tuple[StoredPlan, ...] = ()
    prompts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    first_known: Mapping[int, datetime] = field(default_factory=dict)


def store_plan(opener: StoreOpener, plan: SubsetPlan, *, known_at: datetime | None = None) -> tuple[SubsetPlan, str]:
    """Keep a plan; one that draws the same from the same is kept as it was first made.

    Args:
        known_at: from when on runs may be on it, naive UTC; None: since it was made.

    Returns:
        the plan as the store has it, and what a reader should know of that.
    """
    question = Question(
        KIND,
        plan.benchmark,
        METHOD_VERSION,
        plan.ids_sha256,
        plan.seed,
        {"key": plan.key, "split": plan.split, "metric": plan.metric, "size": plan.size, "n_prompts": plan.n_prompts},
    )
    with opener.reading() as store:
        before = result_cache.get(store, question)
    if before is not None and (known_at is None or known_at >= before.created_at):
        kept = SubsetPlan.from_dict(before.result)
        return kept, f"plan {kept.key} is the one of {kept.created_at.replace('T', ' ')} UTC: nothing has changed since"
    try:
        with opener.writing() as store:
            result_cache.put(store, question, as_stored(plan), now=known_at or plan.created)
    except (StoreError, sa.exc.DBAPIError) as error:
        return plan, f"not stored ({first_line(error)}): runs on it will not be recognised"
    return plan, ""


def kept_plans(store: Store, benchmark: str) -> list[Kept]:
    """The plans of a benchmark, newest first, without their prompts."""
    return [
        Kept(row["id"], KIND, json.loads(row["parameters"]), row["created_at"])
        for row in store.rows(query_text("analysis", "subset_plans"))
        if row["subject"] == benchmark and row["method_version"] == METHOD_VERSION
    ]


def possible_plans(store: Store, benchmark: Benchmark, asked: Iterable[Asked]) -> BenchmarkPlans:
    """The plans of a benchmark that something was asked for as many prompts as such a plan has."""
    known = kept_plans(store, benchmark.name)
    among = [(kept, one[0]) for one in asked for kept in known if _may_be_on(kept, *one)] if known else []
    if not among:
        return BenchmarkPlans()
    ids = {kept.id for kept, _ in among}
    results = store.rows(_RESULTS, {"ids": ids})
    plan_by_id = {row["id"]: SubsetPlan.from_dict(json.loads(row["result"])) for row in results}
    plans = [StoredPlan(plan_by_id[kept.id], kept.created_at) for kept in known if kept.id in ids]
    return with_prompts(store, benchmark.ids, plans, [condition for _, condition in among])


def _may_be_on(kept: Kept, condition: Condition, metric: str, scores: PromptScores) -> bool:
    """Whether a condition may be on a plan, as far as one sees without reading it."""
    of_plan = kept.parameters
    alike = of_plan.get("split") == condition.setting("split") and of_plan.get("metric") == metric
    return alike and LEAST <= len(scores.seen) < int(of_plan.get("n_prompts", 0))


def with_prompts(
    store: Store, benchmark_ids: Sequence[int], plans: Sequence[StoredPlan], conditions: Iterable[Condition]
) -> BenchmarkPlans:
    """Plans with what tells whether some conditions are on them."""
    if not plans:
        return BenchmarkPlans()
    runs = [run for condition in conditions for run in condition.run_ids]
    known = store.rows(query_text("analysis", "runs_first_known"), {"run_ids": runs})
    first = {row["run_id"]: row["first_known"] for row in known if row["first_known"] is not None}
    return BenchmarkPlans(tuple(plans), prompts_by_key(store, benchmark_ids), first)


def prompts_by_key(store: Store, benchmark_ids: Sequence[int]) -> dict[tuple[str, str], int]:
    """Ids in the store by split and by what a plan calls a prompt."""
    query = query_text("analysis", "matrix_prompts").format(condition="benchmark_id in (:benchmark_ids)")
    rows = store.rows(query, {"benchmark_ids": benchmark_ids})
    return {(str(row["split"]), plan_id(row)): int(row["id"]) for row in rows}


def plan_id(row: Mapping[str, Any]) -> str:
    """What a plan calls a prompt."""
    return f"{row['key']}#{row['occurrence']}" if row["occurrence"] else str(row["key"])


def plan_of(store: Store, kept: Kept) -> StoredPlan:
    """A stored plan with its prompts."""
    return StoredPlan(SubsetPlan.from_dict(result_cache.result_of(store, kept)), kept.created_at)


def find_plans(store: Store, named: str) -> SubsetPlans:
    """The plans that a name means: a file, or the key of a stored plan.

    Raises:
        MisuseError: neither; names the stored plans.
        InputError: a file that is no plan.
    """
    path = Path(named)
    if path.exists():
        return read_plans(path)
    every = [kept for one in all_benchmarks(store) for kept in kept_plans(store, one.name)]
    for kept in every:
        if kept.parameters.get("key") == named:
            plan = plan_of(store, kept).plan
            return SubsetPlans("", plan.width, plan.level, (plan,), ())
    keys = ", ".join(str(kept.parameters.get("key")) for kept in every[:8])
    known = f"stored plans: {keys}" if keys else "the store has no plans; see: warehouse subset plan"
    raise MisuseError(f"{named!r} is neither a file nor the key of a plan; {known}")
