"""A plan in words: the answer, and what a reader should know."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.metrics.pilots import StoredPilot
from warehouse.metrics.power_question import Goal, Question
from warehouse.stats import Pilot, Plan, VarianceParts
from warehouse.stats.defaults import FEW_CLUSTERS, FEW_PROMPTS


def answer_in_words(plan: Plan, goal: Goal, question: Question) -> str:
    """The answer as one sentence, with what it holds for."""
    size = f"{plan.n:,} prompts"
    if plan.n_clusters is not None:
        size += f" in {plan.n_clusters:,} clusters"
    size += f", {_draws_in_words(plan, question)}"
    made = f"{plan.generations:,} generations"
    test = f"two-sided test at {question.alpha:g}"
    if goal == "n":
        return (
            f"A difference of {plan.delta:g} is found with power {question.wanted_power:g}"
            f" ({test}) by {size}: {made}."
        )
    if goal == "mde":
        return (
            f"{size} ({made}) find a difference of {plan.mde:.4g} with power"
            f" {question.wanted_power:g} ({test})."
        )
    return (
        f"{size} ({made}) find a difference of {plan.delta:g} with power {plan.power:.3f} ({test})."
    )


def plan_flags(plan: Plan, pilot: Pilot | None) -> tuple[str, ...]:
    """What keeps a plan from being relied on: ``omega2_clipped`` (the pilot's ω² came out below 0
    and is taken as 0), ``few_clusters`` (fewer than 20, of the plan or the pilot)."""
    flags = ("omega2_clipped",) if pilot is not None and "omega2_clipped" in pilot.flags else ()
    planned = plan.n_clusters is not None and plan.n_clusters < FEW_CLUSTERS
    seen = pilot is not None and pilot.n_clusters is not None and pilot.n_clusters < FEW_CLUSTERS
    return (*flags, "few_clusters") if planned or seen else flags


def caution(flags: Sequence[str]) -> str:
    """The flags of a plan as the end of its sentence; empty without any."""
    words = {
        "omega2_clipped": "omega2 came out below 0 and is taken as 0, so more may be needed",
        "few_clusters": f"it rests on fewer than {FEW_CLUSTERS} clusters",
    }
    told = " and ".join(words[flag] for flag in flags)
    return f" Do not rely on this: {told}." if told else ""


def _draws_in_words(plan: Plan, question: Question) -> str:
    draws = "1 draw" if plan.k_a == 1 else f"{plan.k_a} draws"
    if question.k_b is None:
        return f"{draws} each of both models"
    return f"{draws} each of the first model ({plan.k_b} of the second are there)"


def notes_of(plan: Plan, question: Question, source: VarianceParts | StoredPilot) -> list[str]:
    """What had to be assumed, and where the plan is rough."""
    notes = []
    if isinstance(source, StoredPilot):
        notes += _pilot_notes(source)
        n = source.pilot.n_prompts
        if question.n is None and plan.n > n:
            notes.append(f"the pilot had {n:,} prompts: the rest must be like them")
    if plan.n < FEW_PROMPTS and plan.n_clusters is None:
        notes.append(f"n = {plan.n} is small for a normal approximation; plan a few more")
    if plan.n_clusters is not None and plan.n_clusters < FEW_CLUSTERS:
        notes.append(f"{plan.n_clusters} clusters are few for a normal approximation; plan more")
    return notes


def _pilot_notes(source: StoredPilot) -> list[str]:
    pilot, notes = source.pilot, []
    if len(source.models) == 1:
        notes.append(
            f"one run as pilot: the second model is taken to vary as {source.models[0]} does, with"
            f" a correlation of {pilot.correlation:g} over prompts"
            + ("" if pilot.correlation else " (the safe side; models usually agree more)")
        )
    if pilot.reason:
        notes.append(pilot.reason)
    if "omega2_clipped" in pilot.flags:
        notes.append(
            f"the estimate of omega2 is below 0 ({pilot.omega2_raw:.3g}) and taken as 0: the pilot"
            " is too small to see it, so take this plan for the least"
        )
    if "within_imputed" in pilot.flags:
        notes.append("prompts with one draw take the mean variance of the others")
    if pilot.n_clusters is not None and "few_clusters" in pilot.flags:
        notes.append(f"the pilot has {pilot.n_clusters} clusters: its variance is a rough guess")
    if "few_prompts" in pilot.flags:
        notes.append(f"the pilot has {pilot.n_prompts} prompts: its variance is a rough guess")
    return notes
