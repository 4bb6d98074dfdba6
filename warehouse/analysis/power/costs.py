"""How many prompts show that a model costs less than another, by drawing those of a
pilot again (statistics.md §17)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.analysis.frontier.costs import NO_COSTS, cost_source, read_costs
from warehouse.analysis.power.answer import USUAL_SIZES
from warehouse.analysis.power.pilot import choose_runs, clusters_of
from warehouse.analysis.power.question import CostPower
from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.prompt_links import read_links
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import CheaperPower, cheaper_power, cheaper_sample_size, cost_ratio
from warehouse.stats.intervals.defaults import FEW_PROMPTS
from warehouse.store.connection import Store
from warehouse.tables.view import Table, View, legend
from warehouse.tables.words import percentage


@dataclass(frozen=True)
class CostPowerRow(Row):
    """One number of prompts."""

    role: str  #: ``answer`` or ``table``.
    n: int  #: prompts.
    n_clusters: int | None  #: clusters at the pilot's mean size; None without.
    power: float  #: chance to show that the first is ``times`` cheaper.
    no_verdict: float  #: chance that costs are too skewed for any (``skew_gate``).
    #: an end of the 95 % interval of the ratio over the ratio, in the middle of
    #: samples; None without errors.
    factor: float | None
    times: float  #: how many times cheaper is to be shown.
    alpha: float  #: one-sided significance level.
    #: ``cost``, ``cost_priced``, ``tokens``, ``seconds`` or ``calls``.
    cost_metric: str
    prices_digest: str  #: sha256 of the prices, else empty.
    cost_ratio: float  #: of the pilot, first over second.
    ratio_low: float | None  #: lower end of its 95 % interval.
    ratio_high: float | None  #: upper end.
    n_pilot: int  #: prompts of the pilot of which both costs are known.
    #: ``heavy_tail``: the pilot is too small for its tail; take the answer for the
    #: least.
    flags: tuple[str, ...]


@dataclass(frozen=True)
class CostPlan(Result):
    """A planned comparison of costs."""

    answer: str  #: in words.
    reachable: bool  #: False where no number of prompts shows it.
    rows: tuple[CostPowerRow, ...]  #: the answer, then a table over prompts.
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def one_line(self) -> str:
        return self.answer

    def view(self, *, verbose: bool = False) -> View:
        """The answer and its table."""
        cells = [
            {
                "prompts": row.n,
                "clusters": row.n_clusters,
                "power": f"{row.power:.3f}",
                "no verdict": percentage(row.no_verdict),
                "interval": None if row.factor is None else f"×÷ {row.factor:.3g}",
            }
            for row in self.rows
            if row.role == "table"
        ]
        words = {
            "no verdict": "how often costs are too skewed for one",
            "interval": (
                "the 95 % interval of the ratio goes from the ratio divided by this to "
                "the ratio times this"
            ),
        }
        return View(
            (
                self.answer,
                "",
                Table.of(cells, hide_empty=("clusters", "interval")),
                *legend(words),
            ),
            self.notes,
        )


@answers(CostPower)
def cost_power(store: Store, question: CostPower) -> CostPlan:
    """The plan that the costs of two stored runs give."""
    if len(question.references) != 2:
        raise MisuseError(
            f"costs are planned from two runs, found {len(question.references)}"
        )
    selection, source = (
        selection_of(question),
        cost_source(store, question.cost, question.prices),
    )
    conditions = choose_runs(store, question.references, selection)
    runs = {}
    for side, condition in enumerate(conditions):
        for run in condition.run_ids:
            runs[run] = side
    found = read_costs(store, runs, source, read_links(store))
    first, second = (found.get(side, NO_COSTS) for side in (0, 1))
    prompts = np.intersect1d(first.prompts, second.prompts)
    has_costs = ~np.isnan(first.at(prompts) + second.at(prompts))
    missing, prompts = int((~has_costs).sum()), prompts[has_costs]
    if len(prompts) < 2:
        raise MisuseError(
            f"{len(prompts)} prompts have known {source.metric} of both models; two or "
            "more are needed"
        )
    a, b, labels = (
        first.at(prompts),
        second.at(prompts),
        clusters_of(store, conditions, selection, prompts),
    )
    ratio = cost_ratio(a, b, labels)
    if ratio.estimate is None:
        raise MisuseError(f"no ratio to plan for: {ratio.reason}")
    given: dict[str, Any] = {
        "times": question.cheaper,
        "alpha": question.alpha,
        "seed": question.seed,
    }
    answer: CheaperPower | None
    if question.n is not None:
        answer = cheaper_power(a, b, question.n, labels, **given)
    else:
        answer = cheaper_sample_size(a, b, labels, power=question.power or 0.8, **given)

    def row(role: str, plan: CheaperPower) -> CostPowerRow:
        return CostPowerRow(
            role=role,
            n=plan.n_prompts,
            n_clusters=plan.n_clusters,
            power=plan.power,
            no_verdict=plan.gated,
            factor=plan.factor,
            times=question.cheaper,
            alpha=question.alpha,
            cost_metric=source.metric,
            prices_digest=source.digest,
            cost_ratio=ratio.estimate or 0.0,
            ratio_low=ratio.low,
            ratio_high=ratio.high,
            n_pilot=len(prompts),
            flags=ratio.flags,
        )

    middle = len(prompts) if answer is None else answer.n_prompts
    sizes = sorted({max(2, round(middle * share)) for share in USUAL_SIZES})
    rows = [] if answer is None else [row("answer", answer)]
    rows += [row("table", cheaper_power(a, b, n, labels, **given)) for n in sizes]
    names = tuple(condition.model for condition in conditions)
    return CostPlan(
        f"{_pilot_in_words(rows[0], names, source.unit)} "
        f"{_answer_in_words(answer, question, names, ratio.flags)}",
        answer is not None,
        tuple(rows),
        _notes(rows[0], missing),
    )


def _pilot_in_words(row: CostPowerRow, names: tuple[str, ...], unit: str) -> str:
    if row.ratio_low is None or row.ratio_high is None:
        ends = ""
    else:
        ends = f" [{row.ratio_low:.3g}, {row.ratio_high:.3g}]"
    return (
        f"{names[0]} costs {row.cost_ratio:.3g}{ends} times what {names[1]} does "
        f"({unit}, {row.n_pilot:,} prompts)."
    )


def _answer_in_words(
    answer: CheaperPower | None,
    question: CostPower,
    names: tuple[str, ...],
    flags: tuple[str, ...],
) -> str:
    times = "cheaper"
    if question.cheaper > 1:
        times = f"{question.cheaper:g} times cheaper"
    if answer is None:
        return f"No number of prompts like these shows that {names[0]} is {times}."
    clusters = ""
    if answer.n_clusters:
        clusters = f" in {answer.n_clusters:,} clusters"
    size = f"{answer.n_prompts:,} prompts" + clusters
    test = f"one-sided test at {question.alpha:g}"
    if question.n is not None:
        most = ""
        if flags:
            most = "at most "
        return (
            f"{size} show that it is {times} with power {most}{answer.power:.3f} "
            f"({test})."
        )
    least = ""
    if flags:
        least = ", the very least: the pilot is too small for how skewed its costs are"
    return (
        f"That it is {times} is shown with power {question.power or 0.8:g} ({test}) by "
        f"{size}{least}."
    )


def _notes(row: CostPowerRow, missing: int) -> tuple[str, ...]:
    notes = [
        "simulated: prompts (clusters) like those of the pilot, drawn up to 1,000 "
        "times for each number"
    ]
    if row.n < FEW_PROMPTS:
        notes.append(f"n = {row.n} is small for costs, which are skewed; plan more")
    if missing:
        notes.append(f"{missing:,} common prompts lack a cost and are left out")
    if row.flags:
        notes.append(
            "heavy_tail: the pilot shows too little of costly prompts; expect to need "
            "more"
        )
    return tuple(notes)
