"""How large a comparison has to be, or what one of a given size can find (Miller 2024
§5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from warehouse.analysis.power.pilot import StoredPilot, read_pilot
from warehouse.analysis.power.question import Planned, PowerFromRuns, PowerPilot
from warehouse.analysis.power.row import FromPilot, Goal, PowerRow, caution
from warehouse.analysis.power.view import PowerPlan
from warehouse.analysis.results import shared_fields
from warehouse.errors import MisuseError
from warehouse.questions.question import Option, answers
from warehouse.stats import (
    BestDesign,
    Cost,
    Pilot,
    Plan,
    VarianceParts,
    best_for_budget,
    cheapest_design,
    plan_table,
    sample_size,
)
from warehouse.stats.intervals.defaults import FEW_CLUSTERS, FEW_PROMPTS
from warehouse.stats.power.pilot import is_skewed_for
from warehouse.stats.power.power import clustered_omega2, quantiles
from warehouse.store.connection import Store


@dataclass(frozen=True, kw_only=True)
class PowerQuestion(Planned):
    """A question about a plan, and what prompts and generations cost."""

    cost: Annotated[Cost, Option("Of prompts and generations.")] = Cost()

    @property
    def goal(self) -> Goal:
        """The figure that is worked out.

        Raises:
            MisuseError: all three or none of difference, prompts and power are given.
        """
        if self.delta is not None and self.n is not None:
            if self.power is not None:
                raise MisuseError(
                    "difference, prompts and power are all given: leave out the one to "
                    "work out"
                )
            return "power"
        if self.delta is None and self.n is None:
            raise MisuseError(
                "give a difference, delta (for the prompts it takes), a number of "
                "prompts, n (for the smallest difference they find), or both (for the "
                "power)"
            )
        if self.n is None:
            return "n"
        return "mde"

    @property
    def target_power(self) -> float:
        """The power that sizes and smallest differences refer to."""
        if self.power is None:
            return 0.8
        return self.power


def answer_in_words(plan: Plan, goal: Goal, question: PowerQuestion) -> str:
    """The answer as one sentence, with what it holds for."""
    size = f"{plan.n:,} prompts"
    if plan.n_clusters is not None:
        size += f" in {plan.n_clusters:,} clusters"
    size += f", {_draws_in_words(plan, question)}"
    made = f"{plan.generations:,} generations"
    test = f"two-sided test at {question.alpha:g}"
    if goal == "n":
        return (
            f"A difference of {plan.delta:g} is found with power "
            f"{question.target_power:g} ({test}) by {size}: {made}."
        )
    if goal == "mde":
        return (
            f"{size} ({made}) find a difference of {plan.mde:.4g} with power "
            f"{question.target_power:g} ({test})."
        )
    return (
        f"{size} ({made}) find a difference of {plan.delta:g} with power "
        f"{plan.power:.3f} ({test})."
    )


def plan_flags(plan: Plan, pilot: Pilot | None) -> tuple[str, ...]:
    """Flags that keep a plan from being relied on: ``omega2_clipped`` (the pilot's ω²
    came out below 0 and is taken as 0), ``skewed_pilot`` (its differences are skewed
    for so few units, of the plan or the pilot), ``few_clusters`` (fewer than 20, of
    either)."""
    flags = (
        ("omega2_clipped",)
        if pilot is not None and "omega2_clipped" in pilot.flags
        else ()
    )
    if plan.n_clusters is None:
        units = plan.n
    else:
        units = plan.n_clusters
    if pilot is not None and (
        "skewed_pilot" in pilot.flags or is_skewed_for(pilot.skewness, units)
    ):
        flags = (*flags, "skewed_pilot")
    planned = plan.n_clusters is not None and plan.n_clusters < FEW_CLUSTERS
    seen = (
        pilot is not None
        and pilot.n_clusters is not None
        and pilot.n_clusters < FEW_CLUSTERS
    )
    if planned or seen:
        return (*flags, "few_clusters")
    return flags


def _draws_in_words(plan: Plan, question: PowerQuestion) -> str:
    draws = "1 draw"
    if plan.k_a != 1:
        draws = f"{plan.k_a} draws"
    if question.k_b is None:
        return f"{draws} each of both models"
    return f"{draws} each of the first model ({plan.k_b} of the second are there)"


def notes_of(
    plan: Plan, question: PowerQuestion, source: VarianceParts | StoredPilot
) -> list[str]:
    """Notes on what had to be assumed, and where the plan is rough."""
    notes = []
    if isinstance(source, StoredPilot):
        notes += _pilot_notes(source)
        n = source.pilot.n_prompts
        if question.n is None and plan.n > n:
            notes.append(f"the pilot had {n:,} prompts: the rest must be like them")
    if plan.n < FEW_PROMPTS and plan.n_clusters is None:
        notes.append(
            f"n = {plan.n} is small for a normal approximation; plan a few more"
        )
    if plan.n_clusters is not None and plan.n_clusters < FEW_CLUSTERS:
        notes.append(
            f"{plan.n_clusters} clusters are few for a normal approximation; plan more"
        )
    return notes


def _pilot_notes(source: StoredPilot) -> list[str]:
    pilot = source.pilot
    notes = [*source.notes]
    if source.seeds_part is not None:
        of = "training seeds"
        if source.is_over_runs:
            of = "runs that are counted like seeds"
        others = "seeds"
        if source.is_over_runs:
            others = "runs"
        notes.append(
            f"the pilot is over {of}: the plan is for these very {others}; what other "
            f"{others} would change (standard error {source.seeds_part**0.5:.3g} of "
            "the difference) no number of prompts makes smaller"
        )
    if len(source.models) == 1:
        notes.append(
            "one run as pilot: the second model is taken to vary as "
            f"{source.models[0]} does, with a correlation of {pilot.correlation:g} "
            "over prompts"
            + (
                ""
                if pilot.correlation
                else " (the safe side; models usually agree more)"
            )
        )
    if pilot.reason:
        notes.append(pilot.reason)
    if "omega2_clipped" in pilot.flags:
        notes.append(
            f"the estimate of omega2 is below 0 ({pilot.omega2_raw:.3g}) and taken as "
            "0: the pilot is too small to see it, so take this plan for the least"
        )
    if "within_imputed" in pilot.flags:
        notes.append("prompts with one draw take the mean variance of the others")
    if pilot.n_clusters is not None and "few_clusters" in pilot.flags:
        notes.append(
            f"the pilot has {pilot.n_clusters} clusters: its variance is a rough guess"
        )
    if "few_prompts" in pilot.flags:
        notes.append(
            f"the pilot has {pilot.n_prompts} prompts: its variance is a rough guess"
        )
    return notes


#: Draws per prompt that are shown where none are asked for.
USUAL_DRAWS = (1, 2, 5, 10)
#: Numbers of prompts that are shown, as multiples of the one in question.
USUAL_SIZES = (0.25, 0.5, 1.0, 2.0, 4.0)


def given_parts(
    omega2: float,
    sigma2_a: float | None = None,
    sigma2_b: float | None = None,
    icc: float | None = None,
    cluster_size: float | None = None,
) -> VarianceParts:
    """Variances that are given, not estimated.

    Args:
        omega2: ω² of single prompts, at least 0.
        sigma2_a: variance of one draw of the first model; None: 0.
        sigma2_b: of the second; None: as the first.
        icc: correlation of the true differences within a cluster, with
            ``cluster_size``.
        cluster_size: mean prompts in a cluster, with ``icc``.

    Raises:
        MisuseError: one of ``icc`` and ``cluster_size`` without the other.
        StatisticsError: numbers out of range, variances that are all 0.
    """
    first = 0.0 if sigma2_a is None else sigma2_a
    second = first if sigma2_b is None else sigma2_b
    if icc is None and cluster_size is None:
        return VarianceParts(omega2, first, second)
    if icc is None or cluster_size is None:
        raise MisuseError(
            "clusters need both: the correlation within them and their mean size"
        )
    clustered = clustered_omega2(omega2, icc, cluster_size)
    return VarianceParts(clustered, first, second, cluster_size)


@answers(PowerFromRuns)
def power_from_runs(store: Store, question: PowerFromRuns) -> PowerPlan:
    """The plan that stored runs give, a generation costing 1 and a prompt nothing."""
    return plan_power(
        question.shared_with(PowerQuestion),
        read_pilot.to(store, question.shared_with(PowerPilot)),
    )


def plan_power(
    question: PowerQuestion, source: VarianceParts | StoredPilot
) -> PowerPlan:
    """The answer, the best designs and a table over n and K.

    Args:
        source: the variances, or stored runs that show them.

    Raises:
        MisuseError: contradictory or absurd questions.
        StatisticsError: numbers out of range, variances that are all 0.
    """
    is_choice = question.budget is not None or (
        question.delta is not None and question.n is None
    )
    if question.available is not None and not is_choice:
        raise MisuseError(
            "available prompts limit the cheapest plan for a difference, or the best "
            "one for a budget: give delta without n, or a budget"
        )
    pilot = source.pilot if isinstance(source, StoredPilot) else None
    parts = pilot.parts if pilot is not None else source
    assert isinstance(parts, VarianceParts)
    limited = question.available is not None
    notes: list[str] = []
    if isinstance(source, StoredPilot):
        question = _with_pilot(question, source)
        parts, notes = _with_least_variance(question, source, parts)
    goal, draws = question.goal, _draws(question, parts)
    least = _least_found(question, source)
    answer = least(_answer_plan(question, goal, parts, draws[0]))
    best = _best_designs(question, parts)
    rows = [_row("answer", answer, question, pilot)]
    rows += [
        _row(role, design.plan, question, pilot)
        for role, design in best
        if design.plan is not None
    ]
    sizes = question.n_values or _around(answer.n, pilot)
    table = map(least, plan_table(parts, sizes, draws, **_common(question)))
    rows += [_row("table", plan, question, pilot) for plan in table]
    return PowerPlan(
        goal=goal,
        answer=answer_in_words(answer, goal, question)
        + caution(plan_flags(answer, pilot)),
        omega2=parts.omega2,
        sigma2_a=parts.sigma2_a,
        sigma2_b=parts.sigma2_b,
        cluster_size=parts.cluster_size,
        pilot=pilot,
        reachable=not limited or all(design.plan is not None for _, design in best),
        rows=tuple(rows),
        notes=(
            *notes_of(answer, question, source),
            *notes,
            *(item.reason for _, item in best if item.plan is None),
        ),
        are_sizes_asked=bool(question.n_values),
        from_pilot=_from_pilot(question, source, parts, least, is_limited=limited),
    )


def _from_pilot(
    question: PowerQuestion,
    source: VarianceParts | StoredPilot,
    parts: VarianceParts,
    least: Callable[[Plan], Plan],
    *,
    is_limited: bool,
) -> FromPilot | None:
    """The design of the stored runs, and those that find the difference with one answer
    to a question or with as many as the runs have; None without runs."""
    if not isinstance(source, StoredPilot):
        return None
    pilot = source.pilot
    common = _common(question)
    own_draws = max(1, round(max(pilot.draws_a, pilot.draws_b)))
    led_by = own_draws if question.k is None else question.k[0]
    if pilot.sigma2_a is None and pilot.sigma2_b is None:
        led_by = _draws(question, parts)[0]

    def row_of(plan: Plan) -> PowerRow:
        return _row("answer", least(plan), question, pilot)

    def rows_of(sizes: Sequence[int], k: int) -> tuple[PowerRow, ...]:
        return tuple(map(row_of, plan_table(parts, sizes, [k], **common)))

    lead = row_of(_answer_plan(question, question.goal, parts, led_by))
    designs: list[PowerRow] = []
    if question.goal == "n":
        draws = sorted({_draws(question, parts)[0], led_by, *(question.k or ())})
        designs = [row_of(_answer_plan(question, "n", parts, k)) for k in draws]
    return FromPilot(
        models=source.models,
        benchmark=source.benchmark,
        is_share=source.width == 1.0,
        as_it_is=rows_of([pilot.n_prompts], own_draws)[0],
        lead=lead,
        sizes=rows_of(question.n_values or _around(lead.n, pilot), led_by),
        designs=tuple(designs),
        is_limited=is_limited,
    )


def _with_pilot(question: PowerQuestion, source: StoredPilot) -> PowerQuestion:
    """Defaults that stored runs give, and refusals that they allow."""
    pilot = source.pilot
    if (
        question.delta is not None
        and source.width is not None
        and question.delta >= source.width
    ):
        raise MisuseError(
            f"a difference of {question.delta:g} is as wide as the whole range of "
            f"{source.metric} on {source.benchmark} ({source.width:g}); give it on "
            "that scale"
        )
    most = max(
        pilot.draws_a if pilot.sigma2_a is None else 1.0,
        pilot.draws_b if pilot.sigma2_b is None else 1.0,
    )
    if question.k_b is None:
        other_draws = []
    else:
        other_draws = [question.k_b]
    draw_counts = [
        *(question.k or ()),
        *other_draws,
    ]
    if most > 1 and (question.k is None or min(draw_counts) < most):
        if any(k < most for k in draw_counts):
            raise MisuseError(
                f"the pilot's scores are means of {most:g} draws whose variance is not "
                f"stored: fewer draws cannot be planned, give --k {most:.0f} or more"
            )
        question = replace(question, k=(round(most),))
    if question.delta is None and question.n is None:
        question = replace(question, n=pilot.n_prompts)
    return replace(question, available=question.available or pilot.n_prompts)


def _with_least_variance(
    question: PowerQuestion, source: StoredPilot, parts: VarianceParts
) -> tuple[VarianceParts, list[str]]:
    """The parts, not below what a difference by δ of right and wrong answers has, and a
    note where that counts."""
    delta = question.delta
    if (
        delta is None
        or not source.is_right_or_wrong
        or not 0 < delta < 1
        or parts.omega2 >= delta - delta**2
    ):
        return parts, []
    note = (
        f"answers right or wrong that differ by {delta:g} differ on that share of the "
        f"prompts at least: omega2 is taken as {delta - delta**2:.4g}, where the "
        f"pilot, whose models differ less, has {parts.omega2:.4g}"
    )
    return replace(parts, omega2=delta - delta**2), [note]


def _least_found(
    question: PowerQuestion, source: VarianceParts | StoredPilot
) -> Callable[[Plan], Plan]:
    """A plan whose smallest difference is not below that of right and wrong answers: δ²
    n = z² (δ − δ²)."""
    if not isinstance(source, StoredPilot) or not source.is_right_or_wrong:
        return lambda plan: plan
    square = quantiles(question.alpha, question.target_power) ** 2
    return lambda plan: replace(plan, mde=max(plan.mde, square / (plan.n + square)))


def _draws(question: PowerQuestion, parts: VarianceParts) -> tuple[int, ...]:
    if question.k is not None:
        return tuple(question.k)
    if parts.sigma2_a + parts.sigma2_b > 0:
        return USUAL_DRAWS
    return (1,)


def _common(question: PowerQuestion) -> dict[str, Any]:
    """Arguments that every design takes."""
    return {
        "k_b": question.k_b,
        "alpha": question.alpha,
        "power": question.target_power,
        "delta": question.delta,
        "b_is_there": question.k_b is not None,
    }


def _answer_plan(
    question: PowerQuestion, goal: Goal, parts: VarianceParts, k: int
) -> Plan:
    n = question.n
    if goal == "n":
        n = sample_size(
            question.delta or 0.0,
            parts,
            k_a=k,
            k_b=question.k_b,
            alpha=question.alpha,
            power=question.target_power,
        )
    return plan_table(parts, [n or 0], [k], **_common(question))[0]


def _best_designs(
    question: PowerQuestion, parts: VarianceParts
) -> list[tuple[str, BestDesign]]:
    best = []
    limits: dict[str, Any] = {
        "cost": question.cost,
        "available": question.available,
        "k_b": question.k_b,
        "alpha": question.alpha,
        "power": question.target_power,
        "b_is_there": question.k_b is not None,
    }
    choice = question.available is not None or question.cost.prompt > 0
    if question.delta is not None and question.n is None and choice:
        best.append(("cheapest", cheapest_design(question.delta, parts, **limits)))
    if question.budget is not None:
        best.append(
            (
                "budget",
                best_for_budget(question.budget, parts, delta=question.delta, **limits),
            )
        )
    return best


def _around(n: int, pilot: Pilot | None) -> list[int]:
    sizes = {max(2, round(n * share)) for share in USUAL_SIZES}
    if pilot is not None:
        pilot_size = {pilot.n_prompts}
    else:
        pilot_size = set()
    return sorted(sizes | pilot_size)


def _row(
    role: str, plan: Plan, question: PowerQuestion, pilot: Pilot | None
) -> PowerRow:
    draws = plan.generations // plan.n
    return PowerRow(
        **shared_fields(
            plan,
            PowerRow,
            role=role,
            cost=plan.n * question.cost.per_prompt(draws),
            alpha=question.alpha,
            mde_power=question.target_power,
            flags=plan_flags(plan, pilot),
        )
    )
