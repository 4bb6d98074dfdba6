"""Planned prompts in the form that a harness takes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.analysis.subsets.plan import SubsetPlan, SubsetPlans
from warehouse.analysis.subsets.stored import find_plans
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

HARNESSES = ("lm-eval", "inspect", "helm", "lighteval", "csv")
_GLOB = "*?["


@dataclass(frozen=True)
class Export:
    """What a harness takes.

    Attributes:
        text: to be written or pasted.
        notes: how it is used, and what a reader should know.
    """

    text: str
    notes: tuple[str, ...]


def export_subset(store: Store, plan: str, *, to: str) -> Export:
    """The prompts of a plan for a harness.

    Args:
        plan: a plan file, or the key of a stored plan.
        to: as for :func:`export_plans`.

    Raises:
        MisuseError: an unknown plan or harness, or ids that this harness cannot take.
        InputError: a file that is no plan.
    """
    return export_plans(find_plans(store, plan), to)


def export_plans(plans: SubsetPlans, to: str) -> Export:
    """The prompts of plans for a harness.

    Args:
        plans: of a benchmark or suite.
        to: ``lm-eval``: JSON of task and row numbers for ``--samples``; ``inspect``: ids with commas between for
            ``--sample-id``; ``helm``: instance ids, one a line; ``lighteval``: JSON of task and row numbers;
            ``csv``: a table.

    Raises:
        MisuseError: another name, or ids that this harness cannot take.
    """
    makers = {"lm-eval": _lm_eval, "inspect": _inspect, "helm": _helm, "lighteval": _lighteval, "csv": _csv}
    if to not in makers:
        raise MisuseError(f"no export to {to!r}; there are: {', '.join(HARNESSES)}")
    exported = makers[to](plans.rows)
    own = {"lm-eval": "lm_eval", "csv": ""}.get(to, to)
    foreign = sorted({plan.harness for plan in plans.rows if own and own not in plan.harness and plan.harness})
    notes = [f"the ids come from runs of {', '.join(foreign)}: are they those of {to}?"] if foreign else []
    return Export(exported.text, (*exported.notes, *notes))


def ids_text(ids: Sequence[str]) -> str:
    """Ids one a line, as `irt next --ids` and exports for tools without ids of their own write them."""
    return "\n".join(ids) + "\n" if ids else ""


def _lm_eval(plans: Sequence[SubsetPlan]) -> Export:
    text = json.dumps({plan.task: _row_numbers(plan, "lm-eval") for plan in plans}, ensure_ascii=False)
    return Export(text + "\n", ('lm_eval run --samples "$(cat FILE)" --log_samples ...; not together with --limit',))


def _lighteval(plans: Sequence[SubsetPlan]) -> Export:
    text = json.dumps({plan.task: _row_numbers(plan, "lighteval") for plan in plans}, ensure_ascii=False)
    note = "lighteval takes no ids: keep these rows of the data set (Dataset.select) in a task of your own"
    return Export(text + "\n", (note,))


def _row_numbers(plan: SubsetPlan, harness: str) -> list[int]:
    """Sorted and each once: unsorted ids get the wrong names, and an empty list would mean all.

    Raises:
        MisuseError: ids that are no row numbers, or one number for several prompts.
    """
    ids = [row.tool_id for row in plan.asked]
    odd = [one for one in ids if not (one.isascii() and one.isdecimal())]
    if odd:
        raise MisuseError(
            f"{harness} takes row numbers, and {plan.benchmark} has ids such as {odd[0]!r}; see: --to csv"
        )
    numbers = sorted({int(one) for one in ids})
    if len(numbers) < len(ids):
        raise MisuseError(
            f"{len(ids) - len(numbers)} planned prompts of {plan.benchmark} share a row number; see: --to csv"
        )
    return numbers


def _inspect(plans: Sequence[SubsetPlan]) -> Export:
    """Ids are patterns for Inspect, and ``task:`` before one is the task that it is of."""
    several, sample_ids = len(plans) > 1, []
    for plan in plans:
        ids = [row.tool_id for row in plan.asked]
        odd = [one for one in ids if "," in one or one != one.strip() or not one]
        if odd:
            raise MisuseError(f"--sample-id takes no id such as {odd[0]!r} (a comma or blanks); see: --to csv")
        task = plan.task.rpartition("/")[2]
        scoped = several or any(one.lower().startswith(f"{task.lower()}:") for one in ids)
        sample_ids += [(f"{task}:" if scoped else "") + _literal(one) for one in sorted(ids, key=_natural)]
    return Export(
        ",".join(sample_ids) + "\n", ('inspect eval TASK --sample-id "$(cat FILE)"; not together with --limit',)
    )


def _literal(one: str) -> str:
    """An id as a pattern that fits nothing else."""
    return "".join(f"[{sign}]" if sign in _GLOB else sign for sign in one)


def _natural(one: str) -> tuple[int, str]:
    return (int(one), "") if one.isascii() and one.isdecimal() else (-1, one)


def _helm(plans: Sequence[SubsetPlan]) -> Export:
    prefix = len(plans) > 1
    ids = [(f"{plan.task}\t" if prefix else "") + row.tool_id for plan in plans for row in plan.asked]
    note = "helm-run takes no ids: keep these instances where a scenario of your own returns them (get_instances)"
    return Export(ids_text(ids), (note,))


def _csv(plans: Sequence[SubsetPlan]) -> Export:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("benchmark", "task", "split", "prompt_id", "key", "stratum", "inclusion", "prediction"))
    for plan in plans:
        for row in plan.asked:
            head = (plan.benchmark, plan.task, plan.split)
            writer.writerow(
                (*head, row.tool_id, row.id, row.stratum, f"{row.inclusion:.12g}", f"{row.prediction:.12g}")
            )
    return Export(out.getvalue(), ())
