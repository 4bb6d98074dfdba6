"""Designs of a plan, and what keeps it from being relied on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from warehouse.analysis.results import Row
from warehouse.stats.intervals.defaults import FEW_CLUSTERS

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
class FromPilot:
    """What a plan says of the stored runs that it was made from."""

    models: tuple[str, ...]  #: one or two.
    benchmark: str  #: that both were asked.
    is_share: bool  #: scores lie between 0 and 1: people read them in percent.
    as_it_is: PowerRow  #: the design of the runs themselves.
    #: the answer, with as many answers to a question as the runs have where none are
    #: asked for.
    lead: PowerRow
    sizes: tuple[PowerRow, ...]  #: the same with other numbers of questions.
    #: designs that find the difference, by answers to a question: one, and as many as
    #: the runs have; empty where no difference was given.
    designs: tuple[PowerRow, ...] = ()
    is_limited: bool = False  #: a number of questions was given that there are.


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
