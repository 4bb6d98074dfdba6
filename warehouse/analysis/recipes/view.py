"""Which benchmarks tell recipes apart: sentences, a row for each benchmark and metric,
notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from warehouse.analysis.decide.view import MOST_SENTENCES
from warehouse.analysis.recipes.brief import brief_view
from warehouse.analysis.recipes.row import RecipesRow
from warehouse.analysis.results import Result
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
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

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
        """Which benchmarks tell recipes apart, and what is missing.

        Args:
            verbose: a sentence for each of a few, every column, and plans.
        """
        if verbose or self.delta is not None:
            return recipes_view(self)
        return brief_view(
            self.rows,
            (*_reasons(self), *self.notes),
            in_percent=self.is_share,
            two_scales=self.two_scales,
        )


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
