"""Plans in the store: kept for ever once made, found again by what they are called or drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from warehouse.analysis.subsets.plan import SubsetPlan, SubsetPlans, as_stored, read_plans
from warehouse.errors import MisuseError, StoreError, first_line
from warehouse.store.computed import result_cache
from warehouse.store.computed.result_cache import Kept, Question
from warehouse.store.connection import Store
from warehouse.store.opener import StoreOpener

KIND = "subset_plan"
METHOD_VERSION = "1"


@dataclass(frozen=True)
class StoredPlan:
    """A plan as the store has it.

    Attributes:
        plan: what was drawn.
        created_at: when it was stored, naive UTC.
    """

    plan: SubsetPlan
    created_at: datetime


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
    return [one for one in result_cache.kept(store, benchmark, METHOD_VERSION) if one.kind == KIND]


def plan_of(store: Store, kept: Kept) -> StoredPlan:
    """A stored plan with its prompts."""
    plan = store.once(f"subset plan {kept.id}", lambda: SubsetPlan.from_dict(result_cache.result_of(store, kept)))
    return StoredPlan(plan, kept.created_at)


def find_plans(store: Store, named: str) -> SubsetPlans:
    """The plans that a name means: a file, or the key of a stored plan.

    Raises:
        MisuseError: neither; names the stored plans.
        InputError: a file that is no plan.
    """
    path = Path(named)
    if path.exists():
        return read_plans(path)
    from warehouse.analysis.selection.benchmarks import all_benchmarks

    every = [kept for one in all_benchmarks(store) for kept in kept_plans(store, one.name)]
    for kept in every:
        if kept.parameters.get("key") == named:
            plan = plan_of(store, kept).plan
            return SubsetPlans("", plan.width, plan.level, (plan,), ())
    keys = ", ".join(str(kept.parameters.get("key")) for kept in every[:8])
    known = f"stored plans: {keys}" if keys else "the store has no plans; see: warehouse subset plan"
    raise MisuseError(f"{named!r} is neither a file nor the key of a plan; {known}")
