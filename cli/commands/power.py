"""``power``: how many prompts and draws a comparison takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from warehouse.errors import MisuseError
from warehouse.questions.power import CostPower, GivenVariances, Planned, PlannedCosts, PowerFromRuns, PowerPilot
from warehouse.questions.question import options

from ..lazy_group import command
from ..state import State
from ..ui.options import REFERENCE, option, output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import WrittenNumber, decimals, echo, number, print_table, print_text, print_view

if TYPE_CHECKING:
    from warehouse.analysis.power.pilot import StoredPilot
    from warehouse.analysis.power.power import PowerPlan, PowerRow
    from warehouse.stats import VarianceParts


@dataclass(frozen=True)
class AskedPower(GivenVariances, PlannedCosts, PowerFromRuns):
    """All options of the command: a plan, from stored runs or from variances."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cost is None:
            self.refuse("goes with --cost", "prices", "cheaper", "seed")
        else:
            self.refuse("plans by scores: leave it out with --cost", *(set(options(Planned)) - set(options(CostPower))))
        if self.references:
            self.refuse("gives a variance: give them or stored runs (--from), not both", *options(GivenVariances))
        elif self.omega2 is None:
            raise MisuseError(
                "give stored runs to plan from (--from A B), or the variances (--omega2 V, with --sigma2-a and"
                " --sigma2-b)"
            )
        else:
            self.refuse("goes with --from", *(name for name in options(PowerPilot) if name != "references"))


@command("power")
@click.argument("more", metavar="[B]", nargs=-1)
@option(
    "--from A [B]",
    f"Stored runs to plan from, two or one that stands for both: {REFERENCE} or run:ID.",
    name="pilot",
    multiple=True,
)
@options_of(AskedPower, without=("references",))
@option("--cost-prompt C", "Cost of one more prompt.", float, 0.0)
@option("--cost-generation C", "Cost of one generation.", float, 1.0)
@output_options
def power(
    state: State,
    /,
    more: tuple[str, ...],
    pilot: tuple[str, ...],
    cost_prompt: float,
    cost_generation: float,
    output: Output,
    **options: Any,
) -> None:
    from warehouse.analysis.power.power import PowerQuestion, given_parts, plan_power
    from warehouse.stats import Cost

    planned = AskedPower.from_command(options | {"references": (*pilot, *more)}, typed(options))
    if planned.cost is not None:
        if (cost_prompt, cost_generation) != (0.0, 1.0):
            raise MisuseError("--cost-prompt and --cost-generation price a plan by scores: leave them out with --cost")
        _plan_costs(state, planned, output)
        return
    question = planned.shared_with(PowerQuestion, cost=Cost(cost_prompt, cost_generation))
    source: VarianceParts | StoredPilot
    if planned.references:
        source = state.ask(planned.shared_with(PowerPilot))
    else:
        source = given_parts(
            planned.omega2 or 0.0, planned.sigma2_a, planned.sigma2_b, planned.icc, planned.cluster_size
        )
    plan = plan_power(question, source)
    output.give(plan, lambda: _print(plan))
    state.notes(plan.notes)
    if not plan.reachable:
        raise click.exceptions.Exit(1)


def _plan_costs(state: State, planned: AskedPower, output: Output) -> None:
    plan = state.ask(planned.shared_with(CostPower))
    output.give(plan, lambda: print_view(plan.view()))
    state.notes(plan.notes)
    if not plan.reachable:
        raise click.exceptions.Exit(1)


def _print(plan: PowerPlan) -> None:
    print_text(plan.answer)
    answer = plan.rows[0]
    if answer.cost != answer.generations:
        print_text(f"It takes {answer.generations:,} generations, cost {answer.cost:,.6g}.")
    for row in plan.rows:
        if row.role in ("cheapest", "budget"):
            print_text(_best_in_words(row))
    table = [row for row in plan.rows if row.role == "table"]
    measure = "power" if table[0].power is not None else "mde"
    if measure == "power":
        echo(f"\nPower to find {table[0].delta:g}, by prompts and draws per prompt")
    else:
        echo(f"\nSmallest difference found with power {table[0].mde_power:g}, by prompts and draws per prompt")
    _print_grid(table, measure)
    if any(row.n_clusters and "few_clusters" in row.flags for row in table):
        echo("rows of fewer than 20 clusters, or from so few, are rough guesses")
    echo("K: draws of each prompt, by each of the two models")
    echo(f"\nplanned with {_variances(plan)}")
    print_text("omega2: variance over prompts of the true difference of the two models; only more prompts lower it")
    print_text("sigma2: variance of one draw about its prompt's mean, of A and of B; more draws lower it too")
    if plan.cluster_size is not None:
        print_text("clusters: prompts that are not independent of each other; their errors go by clusters")


def _print_grid(table: list[PowerRow], measure: str) -> None:
    draws = sorted({row.k_a for row in table})
    cells = {(row.n, row.k_a): getattr(row, measure) for row in table}
    n_decimals = 3 if measure == "power" else decimals(cells.values())
    clusters = {row.n: row.n_clusters for row in table}
    rows = [
        [WrittenNumber(f"{n:,}"), clusters[n], *(number(cells[n, k], n_decimals) for k in draws)]
        for n in sorted(clusters)
    ]
    print_table(["prompts", "clusters", *(f"K={k}" for k in draws)], rows, hide_empty=("clusters",))


def _best_in_words(row: PowerRow) -> str:
    what = "Cheapest" if row.role == "cheapest" else "Best for the budget"
    clusters = "" if row.n_clusters is None else f" in {row.n_clusters:,} clusters"
    cost = "" if row.cost == row.generations else f", cost {row.cost:,.6g}"
    answer = f"finds {row.mde:.4g} with power {row.mde_power:g}"
    if row.power is not None:
        answer = f"power {row.power:.3f}"
    from warehouse.analysis.power.power import caution

    return (
        f"{what}: {row.n:,} prompts{clusters}, K={row.k_a}: {row.generations:,} generations{cost};"
        f" {answer}.{caution(row.flags)}"
    )


def _variances(plan: PowerPlan) -> str:
    size = plan.cluster_size
    clusters = "" if size is None else f" (in clusters of {size:.3g})"
    return f"omega2 = {plan.omega2:.4g}{clusters}, sigma2 = {plan.sigma2_a:.4g} and {plan.sigma2_b:.4g}"
