"""One benchmark by one metric, and what it says of recipes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warehouse.analysis.results import BenchmarkRow

Verdict = Literal[
    "decides", "better than chance", "cannot decide", "may decide", "cannot tell"
]


@dataclass(frozen=True)
class RecipesRow(BenchmarkRow):
    """One benchmark by one metric. Figures are in the metric's reported unit."""

    setting: str  #: settings in which this row differs from others of the same benchmark and metric.
    n_recipes: int  #: recipes at the small scale.
    n_both: int | None  #: recipes at both scales; None without a large one.
    #: standard deviation of the recipes' figures at the small scale.
    recipe_sd: float | None
    noise_sd: float | None  #: of one recipe's figure by chance; None if unknown.
    #: ``seeds``, ``jitter`` (a lower bound of it), ``items`` (a bound from above: the
    #: error over prompts), or empty.
    noise_from: str
    #: highest decision accuracy that this noise allows; None if unknown.
    ceiling: float | None
    #: with an accuracy what its interval says: ``decides`` from .8 on, ``better than
    #: chance`` above .5, ``cannot decide`` below .6. Else, and where it says nothing,
    #: by the ceiling: ``cannot decide`` below .6; without a large scale ``may decide``,
    #: which promises nothing. ``cannot tell`` where neither says it.
    verdict: Verdict
    #: share of pairs of recipes that both scales order alike; None below 6 recipes at
    #: both, with ``accuracy_reason``.
    accuracy: float | None
    accuracy_low: float | None  #: lower end of its interval over recipes.
    accuracy_high: float | None  #: upper end.
    n_pairs: int | None  #: pairs that are not tied at the large scale.
    #: pairs that both scales order alike; without those tied at either, the accuracy is
    #: ``agreements / (n_pairs - ties_small)``.
    agreements: int | None
    ties_small: int | None  #: pairs that are tied at the small scale only.
    ties_large: int | None  #: pairs that are tied at the large scale.
    tie_rule: str  #: what the accuracy does with them.
    #: recipes at both scales that would show, the accuracy being as it is, whether it
    #: is better than chance or, where that is shown, whether it decides; None where no
    #: number would.
    recipes_to_settle: int | None
    #: pairs of which ``warehouse training decide`` says at the small scale that it decides.
    n_decides: int | None
    n_decides_right: int | None  #: those of them that the large scale orders alike.
    n_leans: int | None  #: pairs of which it says that it leans.
    n_leans_right: int | None  #: those of them that the large scale orders alike.
    #: of recipes over the last checkpoints at the small scale.
    signal_to_noise: float | None
    signal_to_noise_low: float | None  #: lower end of its F interval.
    signal_to_noise_high: float | None  #: upper end.
    #: between seeds of one recipe, apart from jitter where two checkpoints are stored.
    seed_sd: float | None
    jitter: float | None  #: standard deviation from checkpoint to checkpoint.
    #: seeds of each recipe in the cheapest plan that finds ``delta``; None without one.
    n_seeds: int | None
    averaged: int | None  #: last checkpoints averaged in each run by that plan.
    power: float | None  #: of the plan.
    cost: float | None  #: of the plan, both recipes.
    #: the most power that the budget buys; None without a budget.
    power_in_budget: float | None
    #: prompts below which no number of seeds is enough, if prompts are a sample of
    #: others like them; None where their scores are not stored.
    least_prompts: int | None
    n_prompts: int | None  #: prompts stored; None without, and without a plan.
    #: ``mixed_lengths``: runs that end at different places make one figure.
    flags: tuple[str, ...]
    accuracy_reason: str  #: why there is no decision accuracy.
    plan_reason: str  #: why there is no plan, or what keeps it from holding.
    sentence: str  #: the verdict for a reader.
