"""``power``: how many prompts and draws a comparison takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import REFERENCE, output_options, selection_options, whole_numbers
from ..ui.output import Output
from ..ui.table import Figure, decimals, echo, number, print_table, print_text

if TYPE_CHECKING:
    from warehouse.analysis.power.pilot import StoredPilot
    from warehouse.analysis.power.power import PowerPlan, PowerRow
    from warehouse.analysis.power.question import Question
    from warehouse.stats import VarianceParts

_STORED = ("benchmark", "metric", "where", "cluster", "latest", "correlation")
_GIVEN = ("sigma2_a", "sigma2_b", "icc", "cluster_size")


@command("power")
@click.argument("more", metavar="[B]", nargs=-1)
@click.option(
    "--from",
    "pilot",
    metavar="A [B]",
    multiple=True,
    help=f"Stored runs to plan from, two or one that stands for both: {REFERENCE} or run:ID.",
)
@click.option("-b", "--benchmark", metavar="NAME", help="With --from: where more than one fits.")
@selection_options
@click.option(
    "--correlation",
    metavar="R",
    type=click.FloatRange(-1, 1, max_open=True),
    help="With one stored run: of the two models over prompts. [default: 0, the safe side]",
)
@click.option("--omega2", metavar="V", type=float, help="Variance over prompts of the models' true difference.")
@click.option("--sigma2-a", metavar="V", type=float, help="Variance of one draw of A. [default: 0]")
@click.option("--sigma2-b", metavar="V", type=float, help="The same of B. [default: A's]")
@click.option(
    "--icc", metavar="R", type=float, help="With --cluster-size: correlation of differences within a cluster."
)
@click.option("--cluster-size", metavar="M", type=float, help="Mean prompts in a cluster.")
@click.option("--delta", metavar="D", type=float, help="Difference to find, on the metric's scale.")
@click.option("--n", metavar="N", type=int, help="Prompts.")
@click.option("--power", metavar="P", type=float, help="Chance to find it. [default: 0.8]")
@click.option("--alpha", metavar="P", type=float, default=0.05, show_default=True, help="Two-sided significance level.")
@click.option(
    "--k",
    metavar="K,...",
    callback=whole_numbers,
    help="Draws per prompt of both: the first for the answer, all for the table. [default: 1,2,5,10]",
)
@click.option("--k-b", metavar="K", type=int, help="Draws of B, where they are there and not to be made.")
@click.option("--n-values", metavar="N,...", callback=whole_numbers, help="Prompts in the table.")
@click.option(
    "--budget", metavar="GENERATIONS", type=float, help="What may be spent: the n and K with the least error."
)
@click.option("--available", metavar="N", type=int, help="Prompts there are. [default: the pilot's]")
@click.option("--cost-prompt", metavar="C", type=float, default=0.0, show_default=True, help="Cost of one more prompt.")
@click.option(
    "--cost-generation", metavar="C", type=float, default=1.0, show_default=True, help="Cost of one generation."
)
@output_options
@pass_state
def power(state: State, /, more: tuple[str, ...], pilot: tuple[str, ...], output: Output, **options: Any) -> None:
    from warehouse.analysis.power.power import PowerRow, plan_power

    question = _question(options)
    references = (*pilot, *more)
    source: VarianceParts | StoredPilot
    source = _stored(state, references, options) if references else _given(options)
    plan = plan_power(question, source)
    if output.for_people:
        _print(plan)
    else:
        output.emit_records(PowerRow, plan.rows)
    state.notes(plan.notes)
    if not plan.reachable:
        raise click.exceptions.Exit(1)


def _question(options: dict[str, Any]) -> Question:
    from warehouse.analysis.power.question import Question
    from warehouse.stats import Cost

    cost = Cost(options.pop("cost_prompt"), options.pop("cost_generation"))
    names = ("delta", "n", "power", "alpha", "k", "k_b", "n_values", "budget", "available")
    return Question(cost=cost, **{name: options.pop(name) for name in names})


def _stored(state: State, references: tuple[str, ...], options: dict[str, Any]) -> StoredPilot:
    from warehouse.analysis.power.pilot import read_pilot

    if options["omega2"] is not None or any(options[name] is not None for name in _GIVEN):
        raise click.UsageError("give variances (--omega2, --sigma2-a, ...) or stored runs (--from), not both")
    with state.open() as store:
        return read_pilot(store, references, **{name: options[name] for name in _STORED})


def _given(options: dict[str, Any]) -> VarianceParts:
    from warehouse.analysis.power.power import given_parts

    if options["omega2"] is None:
        raise click.UsageError(
            "give stored runs to plan from (--from A B), or the variances (--omega2 V, with --sigma2-a and --sigma2-b)"
        )
    astray = [name for name in _STORED if options[name] not in (None, (), False)]
    if astray:
        raise click.UsageError(f"--{astray[0]} goes with --from")
    return given_parts(options["omega2"], *(options[name] for name in _GIVEN))


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
    places = 3 if measure == "power" else decimals(cells.values())
    clusters = {row.n: row.n_clusters for row in table}
    rows = [[Figure(f"{n:,}"), clusters[n], *(number(cells[n, k], places) for k in draws)] for n in sorted(clusters)]
    print_table(["prompts", "clusters", *(f"K={k}" for k in draws)], rows, needless=("clusters",))


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
