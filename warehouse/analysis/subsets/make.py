"""Making a plan: how many prompts, which ones, and how precise that will be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.selection.scored_conditions import select_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.subsets.plan import SCHEMA, PlanPrompt, SubsetPlan, SubsetPlans, hash_ids
from warehouse.analysis.subsets.population import Population, read_population
from warehouse.analysis.subsets.stored import store_plan
from warehouse.analysis.suites.tree import find_suite, is_suite
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.questions.subsets import PlanSubset
from warehouse.records.clock import utc_now
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.subsets.design import draw_subset
from warehouse.stats.subsets.estimate import as_range
from warehouse.stats.subsets.expected import ExpectedPrecision, LeaveOneOut, predict_scores
from warehouse.stats.subsets.sample import LEAST
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener


@dataclass(frozen=True)
class _Leaf:
    """A benchmark with what tells how precise a sample of it is."""

    name: str
    prompts: Population
    expected: LeaveOneOut

    @property
    def n(self) -> int:
        return len(self.prompts.ids)


@answers(PlanSubset)
def plan_subset(opener: StoreOpener, question: PlanSubset) -> SubsetPlans:
    """The plans of the benchmark, or of each of a suite, with what interval they are expected to give."""
    level, seed = question.level, question.seed
    with opener.reading() as store:
        leaves, suite = _leaves(store, question)
    sizes, expected_width = _sizes(leaves, question)
    moment = (question.now or utc_now()).isoformat(timespec="seconds")
    plans = [_plan(leaf, expected, suite, seed, moment) for leaf, expected in zip(leaves, sizes, strict=True)]
    notes: list[str] = []
    if question.store_result:
        stored = [store_plan(opener, plan) for plan in plans]
        plans, notes = [plan for plan, _ in stored], list(dict.fromkeys(note for _, note in stored if note))
    else:
        notes = ["not stored (--no-store): runs on it will not be recognised"]
    return SubsetPlans(suite, expected_width, level, tuple(plans), tuple(notes))


def _leaves(store: Store, question: PlanSubset) -> tuple[list[_Leaf], str]:
    name, against, level = question.benchmark, question.against, question.level
    suite = is_suite(store, name) or ("," in name or "*" in name)
    names = [leaf.name for leaf in find_suite(store, name).leaves] if suite else [name]
    leaves = []
    for one in names:
        chosen = selection_of(question, benchmark=one)
        scores = select_entries(store, chosen)
        prompts = read_population(store, scores, chosen, against)
        expected = LeaveOneOut(
            prompts.history, baseline=prompts.baseline, models=prompts.names, bounds=prompts.bounds, level=level
        )
        leaves.append(_Leaf(scores.benchmark.name, prompts, expected))
    return leaves, name if suite else ""


def _sizes(leaves: Sequence[_Leaf], question: PlanSubset) -> tuple[list[ExpectedPrecision], float | None]:
    """What each benchmark's sample comes to, and the expected width of their mean's interval."""
    wanted, width, level = question.wanted, question.width or 0, question.level
    if len(leaves) == 1:
        leaf = leaves[0]
        precision = leaf.expected.at(wanted) if wanted is not None else leaf.expected.size_for(width)
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
        low, high = (low, middle) if expected_width is not None and expected_width <= width else (middle, high)
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
