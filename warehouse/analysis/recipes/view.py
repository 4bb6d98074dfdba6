"""Which benchmarks tell recipes apart: sentences, a row for each benchmark and metric,
notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Literal

from warehouse.analysis.decide.view import MOST_SENTENCES
from warehouse.analysis.results import BenchmarkRow, Result
from warehouse.analysis.training.trajectories import describe_others
from warehouse.tables.view import Table, View, constants
from warehouse.tables.words import counted, decimals, interval, number

#: Columns that a narrow terminal does without, the first of them first.
_MINOR = (
    *(
        "SNR interval",
        "SNR",
        "jitter",
        "seed sd",
        "recipe sd",
        "noise sd",
        "least prompts",
        "noise from",
    ),
    *("flags", "power in budget", "ties", "split", "to settle", "alike"),
)


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


@dataclass(frozen=True)
class RecipesReport(Result):
    """Benchmarks that may decide between recipes, the most accurate first."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "benchmark",
            "metric",
            "n_recipes",
            "ceiling",
            "verdict",
            "accuracy",
            "accuracy_low",
            "accuracy_high",
        ),
        *("n_seeds", "averaged", "cost"),
    )
    rows: tuple[RecipesRow, ...]  #: one per benchmark and metric.
    level: float  #: of intervals and tests.
    delta: float | None  #: the difference that plans are to find; None without plans.
    target: float  #: power of the plans.
    two_scales: bool  #: whether a large scale was named.
    left_out: int  #: benchmarks with one recipe only at the small scale, by number.
    #: benchmarks that have two recipes by other metrics only, and those metrics.
    elsewhere: Mapping[str, tuple[str, ...]]

    @property
    def one_line(self) -> str:
        counts = Counter(row.verdict for row in self.rows)
        told = [f"{n} {word}" for word, n in counts.most_common()]
        words = ", ".join(told)
        return f"{len(self.rows)} benchmarks and metrics: {words}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on all rows."""
        return report_notes(self)

    def view(self, *, verbose: bool = False) -> View:
        """The view: what follows from the rows, the command's table, and what is
        missing."""
        return recipes_view(self)


def recipes_view(report: RecipesReport) -> View:
    """The view: what follows from the rows, the rows, and what is missing."""
    rows = report.rows
    spreads = chain.from_iterable((row.noise_sd, row.recipe_sd) for row in rows)
    n_decimals = decimals(filter(None, spreads))
    cells = [
        _cells(row, n_decimals, f"{100 * report.level:g}% interval") for row in rows
    ]
    said: list[str] = []
    if len(cells) > 1:
        said, cells = constants(cells, ("metric", "verdict"))
    hide_empty = tuple(
        name for name in cells[0] if name not in ("benchmark", "recipes")
    )
    table = Table.of(cells, hide_empty=hide_empty, minor=_MINOR)
    return View(
        (*_sentences(report), "", *said, table), (*_reasons(report), *report.notes)
    )


def report_notes(report: RecipesReport) -> tuple[str, ...]:
    """Notes that also those should read who take the rows alone."""
    notes: list[str] = []
    if report.left_out:
        notes.append(
            f"{report.left_out} benchmarks and metrics have one recipe only at this "
            "scale"
        )
    if report.elsewhere:
        notes.append(f"two recipes {describe_others(report.elsewhere)}")
    return tuple(notes)


def _reasons(report: RecipesReport) -> list[str]:
    """Why figures are missing, and in how many rows; how many rows mix lengths of
    training."""
    notes: list[str] = []
    for name in ("accuracy_reason", "plan_reason"):
        reasons = Counter(why for row in report.rows if (why := getattr(row, name)))
        notes += [f"{why}: {counted(n, 'row')}" for why, n in reasons.items()]
    n_mixed = sum("mixed_lengths" in row.flags for row in report.rows)
    if n_mixed:
        notes.append(
            f"runs of different lengths make one figure in {n_mixed} rows; --small and "
            "--large can say which"
        )
    return notes


def _cells(row: RecipesRow, n_decimals: int, interval_of_level: str) -> dict[str, Any]:
    if row.n_both is None:
        recipes = row.n_recipes
    else:
        recipes = row.n_both
    alike = None
    if row.agreements is not None:
        alike = f"{row.agreements} of {row.n_pairs}"
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "setting": row.setting,
        "recipes": recipes,
        "recipe sd": number(row.recipe_sd, n_decimals),
        "noise sd": number(row.noise_sd, n_decimals),
        "noise from": row.noise_from,
        "ceiling": number(row.ceiling, 2),
        "verdict": row.verdict,
        "accuracy": number(row.accuracy, 2),
        interval_of_level: interval(row.accuracy_low, row.accuracy_high, 2),
        "alike": alike,
        "ties": row.ties_small,
        "to settle": row.recipes_to_settle,
        "SNR": number(row.signal_to_noise, 1),
        "SNR interval": interval(row.signal_to_noise_low, row.signal_to_noise_high, 1),
        "seed sd": number(row.seed_sd, n_decimals),
        "jitter": number(row.jitter, n_decimals),
        "seeds": row.n_seeds,
        "average": row.averaged,
        "cost": row.cost,
        "power in budget": number(row.power_in_budget, 2),
        "least prompts": row.least_prompts,
        "flags": row.flags,
    }


def _sentences(report: RecipesReport) -> list[str]:
    """Sentences on what follows from the table."""
    n = len(report.rows)
    if n <= MOST_SENTENCES:
        words = [row.sentence for row in report.rows]
    else:
        words = [f"{report.one_line}."]
        if report.two_scales:
            words += _at_two_scales(report)
        else:
            words += _at_one_scale(report)
    if report.delta is not None:
        planned = [row for row in report.rows if row.n_seeds is not None]
        words.append(
            f"A difference of {report.delta:g} can be found with "
            f"{100 * report.target:g} % power on {len(planned)} of {n}; seeds and "
            "averaged checkpoints are of each recipe, cost is of both."
        )
    return words


def _at_one_scale(report: RecipesReport) -> list[str]:
    counts = Counter(row.verdict for row in report.rows)
    words = []
    n_decided = len(report.rows) - counts["cannot tell"]
    if n_decided:
        others = "others"
        if n_decided == 1:
            others = "other"
        words.append(
            f"By their noise {counts['cannot decide']} of {n_decided} cannot decide "
            "between recipes (at most 60 % of pairs in the right order); of the "
            f"{others} noise alone does not forbid it."
        )
    if counts["cannot tell"]:
        words.append(
            f"For {counts['cannot tell']} the noise is unknown: no recipe has a second "
            "seed, nor sixteen checkpoints."
        )
    return words


def _at_two_scales(report: RecipesReport) -> list[str]:
    """How many rank as the large scale does, and how often `decide` at the small one
    was right."""
    predicted = [row for row in report.rows if row.accuracy is not None]
    if not predicted:
        return [
            "No benchmark has six recipes at both scales: how alike both order fewer "
            "tells nothing."
        ]
    better = sum(row.verdict in ("decides", "better than chance") for row in predicted)
    words = [
        "The small scale orders pairs of recipes as the large one does, better than "
        f"chance, on {better} of {len(predicted)} with six recipes at both "
        f"({100 * report.level:g} %, each by itself); `to settle` is the number of "
        "recipes at both scales that would show more."
    ]
    for word, name in (("decides", "n_decides"), ("leans", "n_leans")):
        of = sum(getattr(row, name) or 0 for row in predicted)
        right = sum(getattr(row, f"{name}_right") or 0 for row in predicted)
        if of:
            words.append(
                f"Where `decide` says {word} at the small scale, the large one agrees "
                f"in {right} of {of} pairs."
            )
    return words
