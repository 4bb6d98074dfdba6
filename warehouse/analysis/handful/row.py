"""The rows of an answer on how few units carry a lead."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import BenchmarkRow, PairedRow

#: Kinds of units, in the order of their rows.
QUESTIONS, CLUSTERS, SEEDS = "questions", "clusters", "seeds"


@dataclass(frozen=True)
class HandfulRow(PairedRow):
    """How few units of one kind carry the lead on one benchmark and split."""

    unit: str  #: what is left out: ``questions``, ``clusters`` or ``seeds``.
    #: ``"a"`` or ``"b"``: whose score is better, by the metric's direction; empty where
    #: both are equal.
    leads: str
    difference: (
        float  #: mean of the first less that of the second, on the common prompts.
    )
    n_prompts: int  #: prompts that both have a score of.
    n_differ: int  #: of these: prompts on which their scores differ.
    is_single: bool  #: each prompt has one verdict of each, 0 or 1.
    n_units: int  #: units of this kind.
    n_for: int | None  #: units that speak for the one that leads; None of seeds.
    #: fewest units without which the other leads; 0 where they are tied; None where no
    #: number does.
    count: int | None
    #: fewest units without which they are tied; None where no number leaves a tie.
    tie_at: int | None
    #: R² = lead²/Σ T²: no fewer units can carry the lead, T what each adds to it; None
    #: of seeds.
    fewest_possible: float | None
    p_value: (
        float | None
    )  #: two-sided, of all units, by ``p_method``; None where it is not defined.
    #: ``mcnemar``, ``t``, ``cr2`` (cluster-robust t), or empty.
    p_method: str
    #: fewest units without which ``p_value`` passes 1 - level; 0 where it is above as
    #: it stands; None where that is not defined.
    p_count: int | None
    p_at_least: int | None  #: no fewer units do.
    exact: (
        bool | None
    )  #: whether ``p_count`` is proved to be the fewest; None without it.
    #: the units of one such set: prompts by id, clusters by name, ten at most.
    left_out_for_p: tuple[str, ...]
    #: fewest single verdicts (one model, one prompt) that would have to be the other way
    #: for the other to lead; None where prompts have no single verdicts.
    verdicts_to_turn: int | None
    #: the same for p to pass 1 - level; None also where p is not McNemar's.
    verdicts_to_pass: int | None
    #: wrong keys for the other to lead, each of which gives its point to the wrong one.
    keys_to_turn: int | None
    level: float  #: 1 less what p passes.
    first_left_out: tuple[
        str, ...
    ]  #: of ``count``, the first: prompts by id, clusters and seeds by name.
    reason: str  #: ``tied``, ``one_sided`` (nothing speaks for the other), why there is no p; empty otherwise.


@dataclass(frozen=True)
class HandfulItem(BenchmarkRow):
    """A unit that is left out, in the order of leaving out."""

    unit: str  #: ``questions`` or ``clusters``.
    place: int  #: from 1.
    prompt_id: int | None  #: id in the store; None of a cluster.
    tool_id: str | None  #: the tool's own id of the prompt; None if it has none.
    name: str  #: of the cluster; empty of a prompt.
    contribution: (
        float  #: what it adds to the sum of the differences, for the one that leads.
    )
    score_a: float | None  #: of the first on the prompt; None of a cluster.
    score_b: float | None  #: of the second.
    #: mean score of the other runs of the benchmark on the prompt; None where there is
    #: none.
    others: float | None
    text: str | None  #: the question; None if it is not stored, and of a cluster.


@dataclass(frozen=True)
class PlaceRow(BenchmarkRow):
    """A place of a leaderboard, and how few questions carry it."""

    rank: int | None  #: place by the figures, 1 is best; ties share it.
    model: str  #: name of the model.
    condition: str  #: settings that tell the row from others.
    estimate: float | None  #: the figure, in the metric's reported unit.
    standard_error: float | None  #: of it.
    n_prompts: int  #: prompts with a score.
    n_common: int | None = (
        None  #: of these: that the row below has a score of, too; None of the last.
    )
    #: fewest questions without which the row below leads it; 0 where both have the same
    #: mean on the common ones; None of the last, and where no number does.
    handful: int | None = None
    next_model: str = ""  #: the row below; empty of the last.
    next_condition: str = ""  #: settings of it.
    #: fewest questions without which a row from below leads one of the rows down to this
    #: one; of the first row: without which it is not first.
    handful_first: int | None = None
    inside: str = ""  #: the row of these that is led then.
    inside_condition: str = ""  #: settings of it.
    outside: str = ""  #: the row from below that leads it.
    outside_condition: str = ""  #: settings of it.
