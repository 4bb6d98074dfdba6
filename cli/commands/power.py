"""``power``: how many prompts and draws a comparison takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.power.question import (
    CostPower,
    GivenVariances,
    Planned,
    PlannedCosts,
    PowerFromRuns,
    PowerPilot,
)
from warehouse.errors import MisuseError
from warehouse.questions.question import options

from ..lazy_group import command
from ..state import State
from ..ui.options import REFERENCE, option, output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of

if TYPE_CHECKING:
    from warehouse.analysis.power.pilot import StoredPilot
    from warehouse.stats import VarianceParts


@dataclass(frozen=True)
class AskedPower(GivenVariances, PlannedCosts, PowerFromRuns):
    """All options of the command: a plan, from stored runs or from variances."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cost is None:
            self.refuse("goes with --cost", "prices", "cheaper", "seed")
        else:
            self.refuse(
                "plans by scores: leave it out with --cost",
                *(set(options(Planned)) - set(options(CostPower))),
            )
        if self.references:
            self.refuse(
                "gives a variance: give them or stored runs (--from), not both",
                *options(GivenVariances),
            )
        elif self.omega2 is None:
            raise MisuseError(
                "give stored runs to plan from (--from A B), or the variances "
                "(--omega2 V, with --sigma2-a and --sigma2-b)"
            )
        else:
            self.refuse(
                "goes with --from",
                *(name for name in options(PowerPilot) if name != "references"),
            )


@command("power")
@click.argument("more", metavar="[B]", nargs=-1)
@option(
    "--from A [B]",
    f"Stored runs to plan from, two or one that stands for both: {REFERENCE} or "
    "run:ID.",
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
    from warehouse.analysis.power.answer import PowerQuestion, given_parts, plan_power
    from warehouse.stats import Cost

    planned = AskedPower.from_command(
        options | {"references": (*pilot, *more)}, typed(options)
    )
    if planned.cost is not None:
        if (cost_prompt, cost_generation) != (0.0, 1.0):
            raise MisuseError(
                "--cost-prompt and --cost-generation price a plan by scores: leave "
                "them out with --cost"
            )
        _plan_costs(state, planned, output)
        return
    question = planned.shared_with(
        PowerQuestion, cost=Cost(cost_prompt, cost_generation)
    )
    source: VarianceParts | StoredPilot
    if planned.references:
        source = state.ask(planned.shared_with(PowerPilot))
    else:
        source = given_parts(
            planned.omega2 or 0.0,
            planned.sigma2_a,
            planned.sigma2_b,
            planned.icc,
            planned.cluster_size,
        )
    plan = plan_power(question, source)
    state.give(output, plan, partial(state.view_of, plan.view))
    if not plan.reachable:
        raise click.exceptions.Exit(1)


def _plan_costs(state: State, planned: AskedPower, output: Output) -> None:
    plan = state.ask(planned.shared_with(CostPower))
    state.give(output, plan, plan.view)
    if not plan.reachable:
        raise click.exceptions.Exit(1)
