"""A plan in words, with the grid of prompts and draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.analysis.power.brief import brief_view
from warehouse.analysis.power.row import FromPilot, Goal, PowerRow, caution
from warehouse.analysis.results import Result
from warehouse.stats import Pilot
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
    from_pilot: FromPilot | None = None  #: of the runs behind it; None without any.
    are_sizes_asked: bool = False  #: numbers of questions were given to be looked at.

    @property
    def one_line(self) -> str:
        return self.answer

    def view(self, *, verbose: bool = False) -> View:
        """The answer, and what the questions at hand can find.

        Args:
            verbose: the best designs, a grid of others, and what was planned with.
        """
        if verbose:
            return plan_view(self)
        return brief_view(
            self.goal,
            self.rows,
            self.from_pilot,
            self.notes,
            are_sizes_asked=self.are_sizes_asked,
        )


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
