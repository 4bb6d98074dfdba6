"""Plans of subsets that leave and enter: prompts as a harness takes them, plans of
other warehouses, more prompts."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from warehouse.analysis.selection.benchmarks import (
    all_benchmarks,
    choose_metrics,
    find_benchmark,
    metrics_of,
)
from warehouse.analysis.selection.reference import conditions_on
from warehouse.analysis.selection.scored_conditions import read_entries
from warehouse.analysis.subsets.plan import SubsetPlan, SubsetPlans, read_plans
from warehouse.analysis.subsets.question import ExportSubset, ExtendSubset, ImportSubset
from warehouse.analysis.subsets.stored import (
    StoredPlan,
    find_plans,
    on_plan,
    prompts_by_key,
    store_plan,
    with_prompts,
)
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.records.clock import utc_now
from warehouse.stats.subsets.design import extend_subset
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener

_GLOB = "*?["


@dataclass(frozen=True)
class Export:
    """A plan in the form that a harness takes."""

    text: str  #: to be written or pasted.
    notes: tuple[str, ...]  #: how it is used, and what a reader should know.


@answers(ExportSubset)
def export_subset(store: Store, question: ExportSubset) -> Export:
    """The prompts of a plan for a harness."""
    return export_plans(find_plans(store, str(question.plan)), question.to)


def export_plans(plans: SubsetPlans, to: str) -> Export:
    """The prompts of plans for a harness (MisuseError: ids that it cannot take).

    Args:
        plans: of a benchmark or suite.
        to: ``lm_eval``: JSON of task and row numbers for ``--samples``; ``inspect``:
            ids with commas between for ``--sample-id``; ``helm``: instance ids, one a
            line; ``lighteval``: JSON of task and row numbers; ``csv``: a table.
    """
    makers = {
        "lm_eval": _lm_eval,
        "inspect": _inspect,
        "helm": _helm,
        "lighteval": _lighteval,
        "csv": _csv,
    }
    exported = makers[to](plans.rows)
    own = to
    if to == "csv":
        own = ""
    foreign = sorted(
        {
            plan.harness
            for plan in plans.rows
            if own and own not in plan.harness and plan.harness
        }
    )
    name = to.replace("_", "-")
    notes = []
    if foreign:
        notes = [
            f"the ids come from runs of {', '.join(foreign)}: are they those of {name}?"
        ]
    return Export(exported.text, (*exported.notes, *notes))


def ids_text(ids: Sequence[str]) -> str:
    """Ids one a line, as `irt next --ids` and exports for tools without ids of their
    own write them."""
    if ids:
        return "\n".join(ids) + "\n"
    return ""


def _lm_eval(plans: Sequence[SubsetPlan]) -> Export:
    text = json.dumps(
        {plan.task: _row_numbers(plan, "lm-eval") for plan in plans}, ensure_ascii=False
    )
    return Export(
        text + "\n",
        (
            'lm_eval run --samples "$(cat FILE)" --log_samples ...; not together with '
            "--limit",
        ),
    )


def _lighteval(plans: Sequence[SubsetPlan]) -> Export:
    text = json.dumps(
        {plan.task: _row_numbers(plan, "lighteval") for plan in plans},
        ensure_ascii=False,
    )
    note = (
        "lighteval takes no ids: keep these rows of the data set (Dataset.select) in a "
        "task of your own"
    )
    return Export(text + "\n", (note,))


def _row_numbers(plan: SubsetPlan, harness: str) -> list[int]:
    """Sorted and each once: unsorted ids get the wrong names, and an empty list would
    mean all.

    Raises:
        MisuseError: ids that are no row numbers, or one number for several prompts.
    """
    ids = [row.tool_id for row in plan.asked]
    odd = [name for name in ids if not (name.isascii() and name.isdecimal())]
    if odd:
        raise MisuseError(
            f"{harness} takes row numbers, and {plan.benchmark} has ids such as "
            f"{odd[0]!r}; see: --to csv"
        )
    numbers = sorted({int(name) for name in ids})
    if len(numbers) < len(ids):
        raise MisuseError(
            f"{len(ids) - len(numbers)} planned prompts of {plan.benchmark} share a "
            "row number; see: --to csv"
        )
    return numbers


def _inspect(plans: Sequence[SubsetPlan]) -> Export:
    """Ids are patterns for Inspect, and ``task:`` before one is the task that it is of."""
    several = len(plans) > 1
    sample_ids = []
    for plan in plans:
        ids = [row.tool_id for row in plan.asked]
        odd = [name for name in ids if "," in name or name != name.strip() or not name]
        if odd:
            raise MisuseError(
                f"--sample-id takes no id such as {odd[0]!r} (a comma or blanks); see: "
                "--to csv"
            )
        task = plan.task.rpartition("/")[2]
        scoped = several or any(
            name.lower().startswith(f"{task.lower()}:") for name in ids
        )
        sample_ids += [
            (f"{task}:" if scoped else "") + _literal(name)
            for name in sorted(ids, key=_natural)
        ]
    return Export(
        ",".join(sample_ids) + "\n",
        ('inspect eval TASK --sample-id "$(cat FILE)"; not together with --limit',),
    )


def _literal(text: str) -> str:
    """An id as a pattern that fits nothing else."""
    return "".join(f"[{sign}]" if sign in _GLOB else sign for sign in text)


def _natural(text: str) -> tuple[int, str]:
    if text.isascii() and text.isdecimal():
        return (int(text), "")
    return (-1, text)


def _helm(plans: Sequence[SubsetPlan]) -> Export:
    prefix = len(plans) > 1
    ids = []
    for plan in plans:
        for row in plan.asked:
            ids.append((f"{plan.task}\t" if prefix else "") + row.tool_id)
    note = (
        "helm-run takes no ids: keep these instances where a scenario of your own "
        "returns them (get_instances)"
    )
    return Export(ids_text(ids), (note,))


def _csv(plans: Sequence[SubsetPlan]) -> Export:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        (
            "benchmark",
            "task",
            "split",
            "prompt_id",
            "key",
            "stratum",
            "inclusion",
            "prediction",
        )
    )
    for plan in plans:
        for row in plan.asked:
            head = (plan.benchmark, plan.task, plan.split)
            writer.writerow(
                (
                    *head,
                    row.tool_id,
                    row.id,
                    row.stratum,
                    f"{row.inclusion:.12g}",
                    f"{row.prediction:.12g}",
                )
            )
    return Export(out.getvalue(), ())


@answers(ImportSubset)
def import_plans(opener: StoreOpener, question: ImportSubset) -> SubsetPlans:
    """The plans of the file, stored.

    Its date is the file's word: a run that began before the import is only on the plan
    with ``as_dated``.
    """
    plans = read_plans(Path(question.path))
    moment = question.now or utc_now()
    as_dated = question.as_dated
    with opener.reading() as store:
        notes = list(chain.from_iterable(_fits(store, plan) for plan in plans.rows))
    late = next((plan for plan in plans.rows if plan.created > moment), None)
    if late is not None:
        raise MisuseError(
            f"plan {late.key} says that it was made at {late.created_at} UTC, which is "
            "still to come"
        )
    stored = [
        store_plan(opener, plan, known_at=plan.created if as_dated else moment)
        for plan in plans.rows
    ]
    notes += dict.fromkeys(note for _, note in stored if note)
    if all(note for _, note in stored):
        pass  # they were here before, and count from then on
    elif as_dated:
        notes.append(
            "runs count that began after the date in the file, for which nothing but "
            "the file speaks"
        )
    else:
        notes.append(f"runs count that begin from now on ({moment:%Y-%m-%d %H:%M} UTC)")
    return replace(
        plans, rows=tuple(plan for plan, _ in stored), notes=(*plans.notes, *notes)
    )


def _fits(store: Store, plan: SubsetPlan) -> list[str]:
    """Notes on what does not fit yet (MisuseError: what never will)."""
    benchmark = next(
        (
            benchmark
            for benchmark in all_benchmarks(store)
            if benchmark.name == plan.benchmark
        ),
        None,
    )
    if benchmark is None:
        return [
            f"no run of {plan.benchmark} is stored yet: ingest one of the whole "
            "benchmark to rank others against"
        ]
    for metric in metrics_of(store, benchmark.ids):
        own = (metric.bounds, metric.higher_is_better)
        planned = ((plan.low, plan.high), plan.higher_is_better)
        ends = (None, None) if own[0] is None else own[0]
        if (
            metric.label == plan.metric
            and plan.low is not None
            and (tuple(ends), own[1]) != planned
        ):
            raise MisuseError(
                f"{plan.metric} of {plan.benchmark} is here from {ends[0]} to {ends[1]}"
                f" (higher is better: {own[1]}), in the plan from {plan.low} to "
                f"{plan.high} ({plan.higher_is_better})"
            )
    prompts = prompts_by_key(store, benchmark.ids)
    lacking = sum((plan.split, row.id) not in prompts for row in plan.rows)
    if lacking == plan.n_prompts:
        return [
            f"none of the {lacking} prompts of plan {plan.key} is one of "
            f"{plan.benchmark} here: other ids or texts"
        ]
    if lacking:
        return [
            f"{lacking} of {plan.n_prompts} prompts of plan {plan.key} are not stored yet"
        ]
    return []


@answers(ExtendSubset)
def extend_plan(opener: StoreOpener, question: ExtendSubset) -> SubsetPlans:
    """The longer plan, stored."""
    with opener.reading() as store:
        plans = find_plans(store, str(question.plan))
        if len(plans.rows) > 1:
            raise MisuseError(
                f"{plans} is of several benchmarks; extend the plan of each by its key"
            )
        before = plans.rows[0]
        if models := _with_results(store, before):
            raise MisuseError(
                f"plan {before.key} has results of {', '.join(models[:3])}: more "
                "prompts after scores are known bias the figure; make a new plan with "
                "another --seed"
            )
    design = extend_subset(before.design, question.size)
    moment = (question.now or utc_now()).isoformat(timespec="seconds")
    notes = (
        *before.notes,
        f"extends plan {before.key} of {before.size} prompts, in its {design.n_strata} "
        "strata",
    )
    width = None
    if before.width is not None:
        width = before.width * _narrower(before, question.size)
    after = before.with_design(
        design, created_at=moment, extends=before.key, width=width, notes=notes
    )
    stored, note = store_plan(opener, after)
    return SubsetPlans(
        "", stored.width, stored.level, (stored,), (note,) if note else ()
    )


def _narrower(before: SubsetPlan, size: int) -> float:
    """The factor that the error of the plan shrinks by: in the same strata it goes as
    sqrt(1/m − 1/N), and the gain stays."""
    left = [1 / count - 1 / before.n_prompts for count in (before.size, size)]
    if left[0]:
        return math.sqrt(left[1] / left[0])
    return 1.0


def _with_results(store: Store, plan: SubsetPlan) -> Sequence[str]:
    """Models with a run on the plan, whether it holds for them or not."""
    benchmark = find_benchmark(store, plan.benchmark)
    metrics = choose_metrics(
        metrics_of(store, benchmark.ids), plan.metric, benchmark.name
    )
    entries = read_entries(
        store, conditions_on(store, benchmark.ids, benchmark.name, ()), metrics
    )
    stored = StoredPlan(plan, plan.created)
    plans = with_prompts(
        store, benchmark.ids, [stored], [entry.condition for entry in entries]
    )
    return sorted(
        {
            entry.condition.model
            for entry in entries
            if entry.usable is not None
            and on_plan(plans, stored, entry.condition, entry.usable) is not None
        }
    )
