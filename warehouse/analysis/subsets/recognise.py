"""Runs on a planned subset: recognised by their prompts, and refused where the plan does not hold for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scores import Links, PromptScores, align_values, follow_links
from warehouse.analysis.subsets.plan import SubsetPlan, hash_ids
from warehouse.analysis.subsets.stored import BenchmarkPlans, StoredPlan
from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import PROMPTS_FIXED
from warehouse.stats.core.inputs import Bounds, FloatArray
from warehouse.stats.subsets.estimate import FULL_BENCHMARK, SubsetEstimate, estimate_subset
from warehouse.stats.subsets.sample import LEAST

#: Share of the planned prompts that a run with others too has to cover to be one on the plan.
COVERED = 0.95
_NAMED = 3


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """A condition that was asked a planned sample.

    Attributes:
        condition: what was asked.
        plan: which.
        prompts: ids of all prompts of the plan in the store, shape (N,).
        scores: of the sample, NaN elsewhere, shape (N,).
        within: variance over the draws of each, NaN where unknown, shape (N,).
        n_draws: of each, 0 elsewhere, shape (N,).
        n_outside: scored prompts outside the sample, which are ignored.
        refused: why the plan does not hold for it; empty if it does.
    """

    condition: Condition
    plan: SubsetPlan
    prompts: NDArray[np.int64]
    scores: FloatArray
    within: FloatArray
    n_draws: FloatArray
    n_outside: int
    refused: str

    @property
    def bounds(self) -> Bounds | None:
        """Of the metric, unless a score breaks them."""
        low, high = self.plan.low, self.plan.high
        there = self.scores[np.isfinite(self.scores)]
        if low is None or high is None or not len(there):
            return None
        room = 1e-9 * (high - low)
        return (low, high) if low - room <= there.min() and there.max() <= high + room else None

    def estimate(self, *, level: float, estimand: str = FULL_BENCHMARK) -> SubsetEstimate:
        """The figure of the whole benchmark (statistics.md §10).

        Raises:
            StatisticsError: ``prompts_fixed`` with one draw of a prompt.
        """
        fixed = estimand == PROMPTS_FIXED
        return estimate_subset(
            self.scores,
            self.plan.stratum,
            self.plan.selected,
            bounds=self.bounds,
            estimand=estimand,
            within=self.within if fixed else None,
            n_draws=self.n_draws if fixed else None,
            level=level,
        )

    def describe(self, model: str) -> str:
        """What was asked, for a footnote."""
        plan, scored = self.plan, int(np.isfinite(self.scores).sum())
        missing = f" ({plan.size - scored} without a score)" if scored < plan.size else ""
        outside = f"; {self.n_outside} prompts outside the plan are ignored" if self.n_outside else ""
        return f"{model}: {plan.size} of {plan.n_prompts} prompts, plan {plan.key}{missing}{outside}"


def recognise(
    known: BenchmarkPlans, condition: Condition, metric: str, scores: PromptScores, links: Links | None = None
) -> PlannedRun | None:
    """The plan that a condition was run on, None if it is on none.

    It is on a plan if it saw nothing but planned prompts, eight at least, or most planned ones; of several, on
    the one whose sample it covers best, then the largest.

    Args:
        known: plans of the benchmark.
        metric: label of the metric of the scores.
        scores: of the condition.
        links: where prompts stand under those that links lead to.
    """
    best: tuple[float, int, PlannedRun] | None = None
    for stored in known.plans:
        if (stored.plan.split, stored.plan.metric) != (condition.setting("split"), metric):
            continue
        run = on_plan(known, stored, condition, scores, links)
        if run is None:
            continue
        covered = float(np.isin(run.prompts[run.plan.selected], scores.seen).mean())
        if best is None or (not run.refused, covered, run.plan.size) > (not best[2].refused, best[0], best[1]):
            best = covered, run.plan.size, run
    return None if best is None else best[2]


def on_plan(
    known: BenchmarkPlans, stored: StoredPlan, condition: Condition, scores: PromptScores, links: Links | None = None
) -> PlannedRun | None:
    """A condition on one of the known plans; None if it is not on it. Arguments as for :func:`recognise`."""
    plan = stored.plan
    if not LEAST <= len(scores.seen) < plan.n_prompts:
        return None
    ids = np.array([known.prompts.get((plan.split, row.id), -1) for row in plan.rows], np.int64)
    prompts = ids if links is None else follow_links(ids, links)
    planned = prompts[plan.selected]
    inside = int(np.isin(planned[planned >= 0], scores.seen).sum())
    is_part = inside == len(scores.seen) and inside >= LEAST
    if not is_part and inside < max(LEAST, COVERED * plan.size):
        return None
    refused = _why_not(known, stored, condition) or _other_version(plan, int((ids < 0).sum()), condition)
    values = align_values(scores.prompts, scores.values, prompts)
    asked = plan.selected & np.isfinite(values)
    draws = np.nan_to_num(align_values(scores.prompts, scores.n_draws, prompts))
    return PlannedRun(
        condition=condition,
        plan=plan,
        prompts=prompts,
        scores=np.where(asked, values, np.nan),
        within=np.where(asked, align_values(scores.prompts, scores.within, prompts), np.nan),
        n_draws=np.where(asked, draws, 0),
        n_outside=len(scores.prompts) - int(asked.sum()),
        refused=refused or ("" if asked.any() else "no planned prompt has a score"),
    )


def _why_not(known: BenchmarkPlans, stored: StoredPlan, condition: Condition) -> str:
    """Why a plan does not hold for a model: it knew it, or it came after its answers."""
    plan, model = stored.plan, condition.who
    if model in plan.history or model == plan.baseline:
        return f"{model} is in the plan's own history"
    first = min((known.first_known[run] for run in condition.run_ids if run in known.first_known), default=None)
    if first is not None and first < stored.created_at:
        made = f"{stored.created_at:%Y-%m-%d %H:%M}"
        return f"the plan was made at {made} UTC, after the run ({first:%Y-%m-%d %H:%M})"
    return ""


def _other_version(plan: SubsetPlan, lacking: int, condition: Condition) -> str:
    if hash_ids([row.id for row in plan.rows]) != plan.ids_sha256:
        return "its prompts are not those that its hash says"
    if lacking:
        return f"{lacking} of its {plan.n_prompts} prompts are not in the store: it is for another version"
    version = condition.setting("benchmark_version") or ""
    if version and plan.revision and version != plan.revision:
        return f"it is for version {plan.revision}, the run is of {version}"
    task = str(condition.setting("task_version") or "")
    if task != plan.task_version:
        return f"it is for task version {plan.task_version or 'none'}, the run is of {task or 'none'}"
    return ""


def estimate_of(run: PlannedRun, *, level: float, estimand: str = FULL_BENCHMARK) -> tuple[SubsetEstimate | None, str]:
    """The estimate of a run, or why there is none."""
    if run.refused:
        return None, f"plan {run.plan.key} does not hold: {run.refused}"
    try:
        estimate = run.estimate(level=level, estimand=estimand)
    except StatisticsError as error:
        return None, f"plan {run.plan.key}: {error}"
    if estimate.estimate is None:
        bounds = (
            ""
            if estimate.bound_ci_low is None
            else f"; it lies in [{estimate.bound_ci_low:.4g}, {estimate.bound_ci_high:.4g}]"
        )
        return None, f"plan {run.plan.key}: no figure of the whole benchmark, {estimate.reason}{bounds}"
    return estimate, ""
