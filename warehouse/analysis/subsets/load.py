"""Plans that were made in another warehouse."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

from warehouse.analysis.selection.benchmarks import all_benchmarks, metrics_of
from warehouse.analysis.subsets.plan import SubsetPlan, SubsetPlans, read_plans
from warehouse.analysis.subsets.stored import prompts_by_key, store_plan
from warehouse.errors import MisuseError
from warehouse.records.clock import utc_now
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener


def import_plans(
    opener: StoreOpener, path: str | Path, *, as_dated: bool = False, now: datetime | None = None
) -> SubsetPlans:
    """Store the plans of a file, so that runs on them are recognised.

    The file is read as any other input: ids, strata and the sample have to be those that its hash, predictions and
    seed give. Its date is the file's word: a run that began before the import is only on the plan with ``as_dated``.

    Args:
        opener: how to open the store.
        path: a plan file, as ``subset plan --out`` writes it.
        as_dated: take the date in the file for when it was made; who says so vouches for it.
        now: when, naive UTC; None for the clock's time.

    Raises:
        InputError: no such file, or no plan; says what was found.
        MisuseError: other bounds or another direction of the metric here, or a date to come.
    """
    plans = read_plans(Path(path))
    moment = now or utc_now()
    with opener.reading() as store:
        notes = [note for plan in plans.rows for note in _fits(store, plan)]
    late = next((plan for plan in plans.rows if plan.created > moment), None)
    if late is not None:
        raise MisuseError(f"plan {late.key} says that it was made at {late.created_at} UTC, which is still to come")
    stored = [store_plan(opener, plan, known_at=plan.created if as_dated else moment) for plan in plans.rows]
    notes += dict.fromkeys(note for _, note in stored if note)
    if all(note for _, note in stored):
        pass  # they were here before, and count from then on
    elif as_dated:
        notes.append("runs count that began after the date in the file, for which nothing but the file speaks")
    else:
        notes.append(f"runs count that begin from now on ({moment:%Y-%m-%d %H:%M} UTC)")
    return replace(plans, rows=tuple(plan for plan, _ in stored), notes=(*plans.notes, *notes))


def _fits(store: Store, plan: SubsetPlan) -> list[str]:
    """What does not fit yet.

    Raises:
        MisuseError: what never will.
    """
    benchmark = next((one for one in all_benchmarks(store) if one.name == plan.benchmark), None)
    if benchmark is None:
        return [f"no run of {plan.benchmark} is stored yet: ingest one of the whole benchmark to rank others against"]
    for metric in metrics_of(store, benchmark.ids):
        own, planned = (metric.bounds, metric.higher_is_better), ((plan.low, plan.high), plan.higher_is_better)
        ends = (None, None) if own[0] is None else own[0]
        if metric.label == plan.metric and plan.low is not None and (tuple(ends), own[1]) != planned:
            raise MisuseError(
                f"{plan.metric} of {plan.benchmark} is here from {ends[0]} to {ends[1]}"
                f" (higher is better: {own[1]}), in the plan from {plan.low} to {plan.high} ({plan.higher_is_better})"
            )
    known = prompts_by_key(store, benchmark.ids)
    lacking = sum((plan.split, row.id) not in known for row in plan.rows)
    if lacking == plan.n_prompts:
        return [f"none of the {lacking} prompts of plan {plan.key} is one of {plan.benchmark} here: other ids or texts"]
    return [f"{lacking} of {plan.n_prompts} prompts of plan {plan.key} are not stored yet"] if lacking else []
