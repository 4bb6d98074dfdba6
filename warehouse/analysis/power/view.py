"""A plan in words, with the grid of prompts and draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from warehouse.analysis.results import Result, Row
from warehouse.stats import Pilot
from warehouse.stats.intervals.defaults import FEW_CLUSTERS
from warehouse.tables.view import Table, View
from warehouse.tables.words import WrittenNumber, decimals, number

_MEANINGS = (
    "omega2: variance over prompts of the true difference of the two models; only more "
    "prompts lower it",
    "sigma2: variance of one draw about its prompt's mean, of A and of B; more draws "
    "lower it too",
)
_CLUSTERS = (
    "clusters: prompts that are not independent of each other; their errors go by "
    "clusters"
)


Goal = Literal["n", "mde", "power"]


@dataclass(frozen=True)
class PowerRow(Row):
    """One design."""

    #: ``answer``, ``cheapest`` (that finds ``delta`` with the power), ``budget`` (the
    #: smallest error that the budget pays for) or ``table``.
    role: str
    n: int  #: prompts.
    n_clusters: int | None  #: clusters at the mean size; None without clusters.
    k_a: int  #: draws per prompt of the first model.
    k_b: int  #: draws per prompt of the second.
    generations: int  #: that have to be made.
    cost: float  #: in the unit of the costs; equal to ``generations`` without any.
    standard_error: float  #: of the mean difference.
    alpha: float  #: two-sided significance level.
    delta: float | None  #: difference that ``power`` is for; None where none was given.
    power: float | None  #: chance to find ``delta`` with the right sign.
    power_two_tailed: float | None  #: chance of any rejection at ``delta``.
    mde: float  #: smallest difference that is found with the power ``mde_power``.
    mde_power: float  #: the power that ``mde`` is for.
    #: ``omega2_clipped``, ``skewed_pilot``, ``few_clusters``: not to be relied on.
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class PowerPlan(Result):
    """A planned comparison."""

    goal: Goal  #: what was worked out: ``n``, ``mde`` or ``power``.
    answer: str  #: the answer in words.
    omega2: float  #: ω² that was planned with: variance over prompts of the true difference.
    sigma2_a: float  #: variance of one draw of the first model.
    sigma2_b: float  #: of the second.
    cluster_size: float | None  #: mean prompts in a cluster; None without clusters.
    pilot: Pilot | None  #: the estimates behind them; None where they were given.
    reachable: bool  #: False where ``available`` was given and no design with them finds the difference.
    rows: tuple[PowerRow, ...]  #: the answer, the best designs, then the table.
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        return self.answer

    def view(self, *, verbose: bool = False) -> View:
        """The answer, the best designs, the command's grid, and what was planned with."""
        return plan_view(self)


def plan_view(plan: PowerPlan) -> View:
    """The answer, the best designs, the grid, and what was planned with."""
    answer = plan.rows[0]
    head = [plan.answer]
    if answer.cost != answer.generations:
        head.append(
            f"It takes {answer.generations:,} generations, cost {answer.cost:,.6g}."
        )
    head += [
        _best_in_words(row) for row in plan.rows if row.role in ("cheapest", "budget")
    ]
    rows = [row for row in plan.rows if row.role == "table"]
    below = [
        "K: draws of each prompt, by each of the two models",
        "",
        f"planned with {_variances(plan)}",
        *_MEANINGS,
    ]
    if plan.cluster_size is not None:
        below.append(_CLUSTERS)
    if any(row.n_clusters and "few_clusters" in row.flags for row in rows):
        below.insert(
            0, "rows of fewer than 20 clusters, or from so few, are rough guesses"
        )
    return View((*head, "", *_grid(rows), *below), plan.notes)


def _grid(rows: Sequence[PowerRow]) -> tuple[str, Table]:
    """The meaning of the grid's cells, and the grid: a row for each number of prompts,
    a column for draws."""
    first = rows[0]
    if first.power is not None:
        title = f"Power to find {first.delta:g}, by prompts and draws per prompt"
        cells = {(row.n, row.k_a): row.power for row in rows}
        n_decimals = 3
    else:
        title = (
            f"Smallest difference found with power {first.mde_power:g}, by prompts and "
            "draws per prompt"
        )
        cells = {(row.n, row.k_a): row.mde for row in rows}
        n_decimals = decimals(cells.values())
    draws = sorted({row.k_a for row in rows})
    clusters = {row.n: row.n_clusters for row in rows}
    lines = []
    for n in sorted(clusters):
        lines.append(
            (
                WrittenNumber(f"{n:,}"),
                clusters[n],
                *(number(cells[n, k], n_decimals) for k in draws),
            )
        )
    columns = ("prompts", "clusters", *(f"K={k}" for k in draws))
    return title, Table(columns, tuple(lines), hide_empty=("clusters",))


def _best_in_words(row: PowerRow) -> str:
    what = "Best for the budget"
    if row.role == "cheapest":
        what = "Cheapest"
    clusters = ""
    if row.n_clusters is not None:
        clusters = f" in {row.n_clusters:,} clusters"
    cost = ""
    if row.cost != row.generations:
        cost = f", cost {row.cost:,.6g}"
    answer = f"finds {row.mde:.4g} with power {row.mde_power:g}"
    if row.power is not None:
        answer = f"power {row.power:.3f}"
    return (
        f"{what}: {row.n:,} prompts{clusters}, K={row.k_a}: {row.generations:,} "
        f"generations{cost}; {answer}.{caution(row.flags)}"
    )


def _variances(plan: PowerPlan) -> str:
    size = plan.cluster_size
    clusters = ""
    if size is not None:
        clusters = f" (in clusters of {size:.3g})"
    return (
        f"omega2 = {plan.omega2:.4g}{clusters}, sigma2 = {plan.sigma2_a:.4g} and "
        f"{plan.sigma2_b:.4g}"
    )


def caution(flags: Sequence[str]) -> str:
    """The flags of a plan as the end of its sentence; empty without any."""
    words = {
        "omega2_clipped": (
            "omega2 came out below 0 and is taken as 0, so more may be needed"
        ),
        "skewed_pilot": (
            "the pilot's differences are skewed, and its few prompts hardly show the "
            "tail (plans for power 0.8 reached 0.65 to 0.7)"
        ),
        "few_clusters": f"it rests on fewer than {FEW_CLUSTERS} clusters",
    }
    reasons = " and ".join(words[flag] for flag in flags)
    if reasons:
        return f" Do not rely on this: {reasons}."
    return ""
