"""Rows of a frontier: what is known of each condition alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.comparison.hooks import MOST_MISSING
from warehouse.analysis.frontier.costs import (
    CostSource,
    PromptCosts,
)
from warehouse.analysis.frontier.question import Frontier
from warehouse.analysis.frontier.view import (
    FrontierRow,
)
from warehouse.analysis.leaderboard.row import usable_bounds
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats import (
    Estimate,
    SeedRow,
    cost_per_solved,
    estimate_mean,
    interval_normal,
    mean_cost,
    row_over_seeds,
)
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

TOO_FEW = (
    f"more than {100 * MOST_MISSING:g} % of the costs are missing "
    "(--allow-missing-cost keeps them)"
)


@dataclass(frozen=True)
class Member:
    """A condition on the prompts of which score and cost are known; without any, a
    published one."""

    entry: ScoredCondition
    row: FrontierRow
    prompts: NDArray[np.int64]
    scores: NDArray[np.float64]
    costs: NDArray[np.float64]

    @property
    def is_tested(self) -> bool:
        """True if it has prompts."""
        return len(self.prompts) > 0

    @property
    def over_seeds(self) -> bool:
        """True if its score is a mean over training seeds."""
        scores = self.entry.usable
        return scores is not None and scores.seeds is not None


def entry_of_each_run(scores: BenchmarkScores) -> dict[int, int]:
    """The number of the entry that a run belongs to, by id of the run."""
    numbers = {}
    for n, entry in enumerate(scores.entries):
        for run in entry.condition.run_ids:
            numbers[run] = n
    return numbers


def member_of(
    entry: ScoredCondition,
    costs: PromptCosts,
    clusters: ClusterMap,
    source: CostSource,
    question: Frontier,
) -> Member | str:
    """A condition with prompts, or why it is left out."""
    scores = entry.usable
    if (
        scores is None
        or entry.metric.link != "identity"
        or scores.uneven_weights is not None
    ):
        return "their figure is no plain mean of prompts"
    at = costs.at(scores.prompts)
    has_cost = ~np.isnan(at)
    share = costs.share_missing(scores)
    if (at[has_cost] < 0).any():
        return f"a {source.metric} below 0"
    if not has_cost.any():
        return f"no answer with known {source.metric}"
    if share > MOST_MISSING and not question.allow_missing_cost:
        return TOO_FEW
    row = _row(entry, scores, has_cost, at, clusters, source, question)
    return Member(
        entry, row, scores.prompts[has_cost], scores.values[has_cost], at[has_cost]
    )


def _row(
    entry: ScoredCondition,
    scores: PromptScores,
    has_cost: NDArray[np.bool_],
    at: NDArray[np.float64],
    clusters: ClusterMap,
    source: CostSource,
    question: Frontier,
) -> FrontierRow:
    """The row of a condition, taken alone."""
    y, c, level = scores.values[has_cost], at[has_cost], question.level
    labels = clusters.labels(scores.prompts[has_cost])
    bounds = usable_bounds(scores, entry.metric)[0]
    score: Estimate | SeedRow
    if scores.seeds is None:
        score = estimate_mean(
            y,
            clusters=labels,
            bounds=bounds,
            n_draws=scores.n_draws[has_cost],
            level=level,
        )
    else:
        score = row_over_seeds(
            scores.seeds.at(np.flatnonzero(has_cost)),
            clusters=labels,
            bounds=bounds,
            level=level,
        )
    cost, solved = mean_cost(c, labels, level=level), None
    if entry.metric.higher_is_better and y.min() >= 0 and y.max() <= 1:
        solved = cost_per_solved(
            c,
            y,
            labels,
            level=level,
            method="fieller" if question.fieller else "log_delta",
        )
    of_solved = solved.flags if solved else ()
    missing = () if has_cost.all() else ("missing_cost",)
    flags = (*entry.row_flags, *score.flags, *cost.flags, *of_solved, *missing)
    return replace(
        _bare(entry, source, question, score.estimate, cost.estimate or 0.0),
        **part_fields(score, "standard_error", "ci_low", "ci_high"),
        **part_fields(cost, "n_clusters", cost_low="low", cost_high="high"),
        **part_fields(solved, cost_per_solved="estimate"),
        **part_fields(
            None if scores.seeds else solved, solved_low="low", solved_high="high"
        ),
        n_prompts=len(y),
        n_missing_cost=int((~has_cost).sum()),
        score_missing=None
        if has_cost.all()
        else float(scores.values[~has_cost].mean()),
        flags=tuple(dict.fromkeys(flags)),
        reason="; ".join(
            dict.fromkeys(filter(None, (cost.reason, solved.reason if solved else "")))
        ),
    )


def _bare(
    entry: ScoredCondition,
    source: CostSource,
    question: Frontier,
    estimate: float,
    cost: float,
) -> FrontierRow:
    """A row with points alone."""
    values: dict[str, Any] = dict.fromkeys(FrontierRow.columns())
    benchmark, split = entry.condition.benchmark_split
    values |= {
        "model": entry.condition.model,
        "condition": entry.label,
        "benchmark": benchmark,
        "split": split,
        "metric": entry.metric.label,
        "cost_metric": source.metric,
        "prices_digest": source.digest,
        "estimate": estimate,
        "level": question.level,
        "mean_cost": cost,
        "run_ids": entry.condition.run_ids,
        "group": 0,
        "on_frontier": False,
        "n_prompts": 0,
        "n_missing_cost": 0,
        "flags": (),
    }
    return FrontierRow(
        **values | dict.fromkeys(("dominated_by", "excluded_by", "reason"), "")
    )


def costs_of_published(
    store: Store, scores: BenchmarkScores, source: CostSource
) -> dict[int, float]:
    """The cost of a task in published runs, by number of the entry: as published, or a
    run's cost over its tasks."""
    if source.metric != "cost":
        return {}
    numbers = entry_of_each_run(scores)
    found: dict[int, list[float]] = {}
    said = store.rows(
        query_text("analysis/frontier", "published_costs"),
        {"run_ids": list(numbers)},
        per="run_id",
    )
    for row in said:
        figure = scores.entries[numbers[row["run_id"]]].published
        if row["task_cost"] is not None:
            found.setdefault(numbers[row["run_id"]], []).append(row["task_cost"])
        elif figure is not None and figure.n:
            found.setdefault(numbers[row["run_id"]], []).append(
                row["stated_cost"] / figure.n
            )
    return {number: sum(costs) / len(costs) for number, costs in found.items()}


def published_figures(
    entry: ScoredCondition, cost: float | None, source: CostSource, question: Frontier
) -> Member | str:
    """A published figure with its cost, or why it is left out; empty where it is none."""
    figure = entry.published
    if entry.stopped is not None or entry.usable is not None or figure is None:
        return ""
    if cost is None:
        return f"published without {source.metric}"
    if not math.isfinite(figure.value):
        return "an infinite figure"
    ends = interval_normal(figure.value, figure.standard_error, level=question.level)
    row = replace(
        _bare(entry, source, question, figure.value, cost),
        standard_error=figure.standard_error,
        **part_fields(ends, ci_low="low", ci_high="high"),
        n_prompts=figure.n,
        flags=("published",),
        reason=(
            "as its source publishes it: no prompts to test, and no error of the cost"
        ),
    )
    nothing = np.empty(0)
    return Member(entry, row, np.empty(0, np.int64), nothing, nothing)
