"""Making a plan: how many prompts, which ones, and how precise that will be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from warehouse.analysis.selection.scored_conditions import select_entries
from warehouse.analysis.selection.selection import Selection, as_conditions
from warehouse.analysis.subsets.plan import SCHEMA, PlanPrompt, SubsetPlan, SubsetPlans, hash_ids
from warehouse.analysis.subsets.population import Population, read_population
from warehouse.analysis.subsets.stored import store_plan
from warehouse.analysis.suites.tree import find_suite, is_suite
from warehouse.errors import MisuseError
from warehouse.records.clock import utc_now
from warehouse.stats.core.inputs import as_level, as_seed
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.subsets.design import draw_subset
from warehouse.stats.subsets.estimate import as_range
from warehouse.stats.subsets.expected import ExpectedPrecision, LeaveOneOut
from warehouse.stats.subsets.interval import LEAST
from warehouse.stats.subsets.predict import predict_scores
from warehouse.store.connection import Store
from warehouse.store.opener import StoreOpener


@dataclass(frozen=True)
class _Leaf:
    """A benchmark with what tells how precise a sample of it is."""

    name: str
    prompts: Population
    expected: LeaveOneOut

    @property
    def n(self) -> int:
        return len(self.prompts.ids)


def plan_subset(
    opener: StoreOpener,
    benchmark: str,
    *,
    size: int | None = None,
    width: float | None = None,
    budget: float | None = None,
    draws: int = 1,
    against: str | None = None,
    metric: str | None = None,
    where: Sequence[str] = (),
    latest: bool = False,
    level: float = 0.95,
    seed: int = 0,
    store_result: bool = True,
    now: datetime | None = None,
) -> SubsetPlans:
    """Draw the prompts of a benchmark to ask, and store the plan.

    Asked on them alone, a model gets an unbiased estimate of its figure on the whole benchmark with a valid
    interval. The plan has to be made before a model is asked.

    Arguments and errors are those of :meth:`warehouse.api.Warehouse.subset_plan`.
    """
    as_level(level)
    as_seed(seed)
    wanted = _wanted(size, width, budget, draws)
    selection = Selection(None, metric, as_conditions(where), None, latest)
    with opener.reading() as store:
        leaves, suite = _leaves(store, benchmark, selection, against, level)
    sizes, expected_width = _sizes(leaves, wanted, width, level)
    moment = (now or utc_now()).isoformat(timespec="seconds")
    plans = [_plan(leaf, expected, suite, seed, moment) for leaf, expected in zip(leaves, sizes, strict=True)]
    notes: list[str] = []
    if store_result:
        stored = [store_plan(opener, plan) for plan in plans]
        plans, notes = [plan for plan, _ in stored], list(dict.fromkeys(note for _, note in stored if note))
    else:
        notes = ["not stored (--no-store): runs on it will not be recognised"]
    return SubsetPlans(suite, expected_width, level, tuple(plans), tuple(notes))


def _wanted(size: int | None, width: float | None, budget: float | None, draws: int) -> int | None:
    """Prompts to ask; None where the width says.

    Raises:
        MisuseError: none or several are given, or numbers without sense.
    """
    if sum(one is not None for one in (size, width, budget)) != 1:
        raise MisuseError("say how many prompts: one of --size, --width and --budget")
    if draws < 1:
        raise MisuseError(f"a prompt has at least 1 generation, found {draws}")
    if draws > 1 and budget is None:
        raise MisuseError("draws say how far a budget goes: give --budget GENERATIONS, or leave --draws out")
    if width is not None and not 0 < width < math.inf:
        raise MisuseError(f"the width of an interval is a number above 0, found {width}")
    if budget is None:
        return size
    if not 0 < budget < math.inf:
        raise MisuseError(f"a budget is a number of generations above 0, found {budget}")
    return int(budget // draws)


def _leaves(
    store: Store, name: str, selection: Selection, against: str | None, level: float
) -> tuple[list[_Leaf], str]:
    suite = is_suite(store, name) or ("," in name or "*" in name)
    names = [leaf.name for leaf in find_suite(store, name).leaves] if suite else [name]
    leaves = []
    for one in names:
        chosen = replace(selection, benchmark=one)
        scores = select_entries(store, chosen)
        prompts = read_population(store, scores, chosen, against)
        expected = LeaveOneOut(
            prompts.history, baseline=prompts.baseline, models=prompts.names, bounds=prompts.bounds, level=level
        )
        leaves.append(_Leaf(scores.benchmark.name, prompts, expected))
    return leaves, name if suite else ""


def _sizes(
    leaves: Sequence[_Leaf], wanted: int | None, width: float | None, level: float
) -> tuple[list[ExpectedPrecision], float | None]:
    """What each benchmark's sample comes to, and the expected width of their mean's interval."""
    if len(leaves) == 1:
        leaf = leaves[0]
        precision = leaf.expected.at(wanted) if wanted is not None else leaf.expected.size_for(width or 0)
        return [precision], precision.width
    n = sum(leaf.n for leaf in leaves)
    least = sum(min(LEAST, leaf.n) for leaf in leaves)
    if wanted is not None:
        if not least <= wanted <= n:
            raise MisuseError(
                f"{len(leaves)} benchmarks of {n} prompts in all take from {least} ({LEAST} each) to {n} prompts,"
                f" found {wanted}"
            )
        each = _split(leaves, wanted)
        return each, _width_of_mean(each, level)
    if _width_of_mean(_split(leaves, n // 2), level) is None:
        raise MisuseError(
            "no stored model has all prompts of each benchmark: nothing tells how wide an interval will be"
        )
    low, high = least - 1, n
    while high - low > 1:
        middle = (low + high) // 2
        expected_width = _width_of_mean(_split(leaves, middle), level)
        low, high = (low, middle) if expected_width is not None and expected_width <= (width or 0) else (middle, high)
    each = _split(leaves, high)
    return each, _width_of_mean(each, level)


def _split(leaves: Sequence[_Leaf], total: int) -> list[ExpectedPrecision]:
    """Prompts shared alike among benchmarks, as far as each has so many: best for the mean of all."""
    sizes = dict.fromkeys(range(len(leaves)), 0)
    for place, leaf in enumerate(sorted(leaves, key=lambda one: one.n)):
        left = total - sum(sizes.values())
        share = -(-left // (len(leaves) - place)) if left else 0
        sizes[leaves.index(leaf)] = max(1, min(leaf.n, share))
    return [leaf.expected.at(sizes[place]) for place, leaf in enumerate(leaves)]


def _width_of_mean(each: Sequence[ExpectedPrecision], level: float) -> float | None:
    errors = [one.error for one in each]
    if any(error is None for error in errors):
        return None
    squares = [error**2 for error in errors if error is not None]
    return 2 * z_quantile(level) * math.sqrt(sum(squares)) / len(each)


def _plan(leaf: _Leaf, expected: ExpectedPrecision, suite: str, seed: int, moment: str) -> SubsetPlan:
    prompts = leaf.prompts
    prediction = predict_scores(prompts.history, prompts.baseline, n=leaf.n)
    design = draw_subset(prompts.ids, prediction, expected.size, seed=seed)
    condition, metric = prompts.entry.condition, prompts.entry.metric
    low, high = as_range(prompts.bounds) or (None, None)
    notes = list(prompts.notes)
    if not len(prompts.history) and prompts.baseline is None:
        notes.append("no history: one stratum, a simple random sample")
    elif np.ptp(design.prediction) < 1e-12:
        notes.append("the history predicts the same for every prompt: one stratum, a simple random sample")
    return SubsetPlan(
        schema=SCHEMA,
        benchmark=leaf.name,
        task=prompts.task,
        split=condition.benchmark_split[1],
        revision=prompts.revision,
        task_version=str(condition.setting("task_version") or ""),
        harness=", ".join(prompts.harnesses),
        ids_sha256=hash_ids(prompts.ids),
        n_prompts=leaf.n,
        size=design.size,
        seed=seed,
        metric=metric.label,
        low=low,
        high=high,
        higher_is_better=metric.higher_is_better,
        history=prompts.models,
        history_sha256=prompts.history_sha256,
        baseline=prompts.baseline_model,
        suite=suite,
        created_at=moment,
        extends="",
        width=expected.width,
        gain=expected.gain,
        gain_least=expected.gain_least,
        n_left_out=expected.n_models,
        level=expected.level,
        notes=tuple(notes),
        rows=tuple(
            PlanPrompt(*row)
            for row in zip(
                prompts.ids,
                prompts.tool_ids,
                design.prediction.tolist(),
                design.stratum.tolist(),
                design.selected.tolist(),
                design.inclusion.tolist(),
                strict=True,
            )
        ),
    )
