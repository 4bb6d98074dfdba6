"""More prompts for a plan, as long as no model was asked any of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from warehouse.analysis.selection.benchmarks import choose_metrics, find_benchmark, metrics_of
from warehouse.analysis.selection.reference import conditions_on
from warehouse.analysis.selection.scored_conditions import read_entries
from warehouse.analysis.subsets.plan import SubsetPlan, SubsetPlans
from warehouse.analysis.subsets.recognise import on_plan
from warehouse.analysis.subsets.stored import StoredPlan, find_plans, store_plan, with_prompts
from warehouse.errors import MisuseError
from warehouse.records.clock import utc_now
from warehouse.stats.subsets.design import extend_subset
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener


def extend_plan(opener: StoreOpener, plan: str, *, size: int, now: datetime | None = None) -> SubsetPlans:
    """The plan with more prompts: the next ones of the same order, in the same strata.

    Args:
        opener: how to open the store.
        plan: a plan file, or the key of a stored plan; of one benchmark.
        size: prompts in all.
        now: when, naive UTC; None for the clock's time.

    Raises:
        MisuseError: a run on the plan is stored (its scores are known), a suite, an unknown plan.
        StatisticsError: a size below that of the plan, or above N.
    """
    with opener.reading() as store:
        plans = find_plans(store, plan)
        if len(plans.rows) > 1:
            raise MisuseError(f"{plans} is of several benchmarks; extend the plan of each by its key")
        before = plans.rows[0]
        if models := _asked_already(store, before):
            raise MisuseError(
                f"plan {before.key} has results of {', '.join(models[:3])}: more prompts after scores are known bias"
                " the figure; make a new plan with another --seed"
            )
    design = extend_subset(before.design, size)
    moment = (now or utc_now()).isoformat(timespec="seconds")
    notes = (*before.notes, f"extends plan {before.key} of {before.size} prompts, in its {design.n_strata} strata")
    width = None if before.width is None else before.width * _narrower(before, size)
    after = before.with_design(design, created_at=moment, extends=before.key, width=width, notes=notes)
    stored, note = store_plan(opener, after)
    return SubsetPlans("", stored.width, stored.level, (stored,), (note,) if note else ())


def _narrower(before: SubsetPlan, size: int) -> float:
    """What the error of the plan shrinks by: in the same strata it goes as sqrt(1/m − 1/N), and the gain stays."""
    left = [1 / one - 1 / before.n_prompts for one in (before.size, size)]
    return math.sqrt(left[1] / left[0]) if left[0] else 1.0


def _asked_already(store: Store, plan: SubsetPlan) -> Sequence[str]:
    """Models with a run on the plan, whether it holds for them or not."""
    benchmark = find_benchmark(store, plan.benchmark)
    metrics = choose_metrics(metrics_of(store, benchmark.ids), plan.metric, benchmark.name)
    entries = read_entries(store, conditions_on(store, benchmark.ids, benchmark.name, ()), metrics)
    stored = StoredPlan(plan, plan.created)
    known = with_prompts(store, benchmark.ids, [stored], [entry.condition for entry in entries])
    return sorted(
        {
            entry.condition.model
            for entry in entries
            if entry.usable is not None and on_plan(known, stored, entry.condition, entry.usable) is not None
        }
    )
