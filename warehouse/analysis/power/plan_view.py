"""A plan in words, with the grid of prompts and draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.stats.intervals.defaults import FEW_CLUSTERS
from warehouse.tables.view import Table, View
from warehouse.tables.words import WrittenNumber, decimals, number

if TYPE_CHECKING:
    from warehouse.analysis.power.power import PowerPlan, PowerRow

_MEANINGS = (
    "omega2: variance over prompts of the true difference of the two models; only more prompts lower it",
    "sigma2: variance of one draw about its prompt's mean, of A and of B; more draws lower it too",
)
_CLUSTERS = "clusters: prompts that are not independent of each other; their errors go by clusters"


def plan_view(plan: PowerPlan) -> View:
    """The answer, the best designs, the grid, and what was planned with."""
    answer = plan.rows[0]
    head = [plan.answer]
    if answer.cost != answer.generations:
        head.append(f"It takes {answer.generations:,} generations, cost {answer.cost:,.6g}.")
    head += [_best_in_words(row) for row in plan.rows if row.role in ("cheapest", "budget")]
    rows = [row for row in plan.rows if row.role == "table"]
    below = ["K: draws of each prompt, by each of the two models", "", f"planned with {_variances(plan)}", *_MEANINGS]
    if plan.cluster_size is not None:
        below.append(_CLUSTERS)
    if any(row.n_clusters and "few_clusters" in row.flags for row in rows):
        below.insert(0, "rows of fewer than 20 clusters, or from so few, are rough guesses")
    return View((*head, "", *_grid(rows), *below), plan.notes)


def _grid(rows: Sequence[PowerRow]) -> tuple[str, Table]:
    """What the cells of the grid are, and the grid: a row for each number of prompts, a column for draws."""
    first = rows[0]
    if first.power is not None:
        title = f"Power to find {first.delta:g}, by prompts and draws per prompt"
        cells = {(row.n, row.k_a): row.power for row in rows}
        n_decimals = 3
    else:
        title = f"Smallest difference found with power {first.mde_power:g}, by prompts and draws per prompt"
        cells = {(row.n, row.k_a): row.mde for row in rows}
        n_decimals = decimals(cells.values())
    draws = sorted({row.k_a for row in rows})
    clusters = {row.n: row.n_clusters for row in rows}
    lines = []
    for n in sorted(clusters):
        lines.append((WrittenNumber(f"{n:,}"), clusters[n], *(number(cells[n, k], n_decimals) for k in draws)))
    columns = ("prompts", "clusters", *(f"K={k}" for k in draws))
    return title, Table(columns, tuple(lines), hide_empty=("clusters",))


def _best_in_words(row: PowerRow) -> str:
    what = "Cheapest" if row.role == "cheapest" else "Best for the budget"
    clusters = "" if row.n_clusters is None else f" in {row.n_clusters:,} clusters"
    cost = "" if row.cost == row.generations else f", cost {row.cost:,.6g}"
    answer = f"finds {row.mde:.4g} with power {row.mde_power:g}"
    if row.power is not None:
        answer = f"power {row.power:.3f}"
    return (
        f"{what}: {row.n:,} prompts{clusters}, K={row.k_a}: {row.generations:,} generations{cost};"
        f" {answer}.{caution(row.flags)}"
    )


def _variances(plan: PowerPlan) -> str:
    size = plan.cluster_size
    clusters = "" if size is None else f" (in clusters of {size:.3g})"
    return f"omega2 = {plan.omega2:.4g}{clusters}, sigma2 = {plan.sigma2_a:.4g} and {plan.sigma2_b:.4g}"


def caution(flags: Sequence[str]) -> str:
    """The flags of a plan as the end of its sentence; empty without any."""
    words = {
        "omega2_clipped": "omega2 came out below 0 and is taken as 0, so more may be needed",
        "skewed_pilot": (
            "the pilot's differences are skewed, and its few prompts hardly show the tail (plans for power 0.8 reached"
            " 0.65 to 0.7)"
        ),
        "few_clusters": f"it rests on fewer than {FEW_CLUSTERS} clusters",
    }
    reasons = " and ".join(words[flag] for flag in flags)
    return f" Do not rely on this: {reasons}." if reasons else ""
