"""How far two runs of one recipe lie apart by chance: sentences, a row for each recipe,
notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from warehouse.analysis.results import RecipeRow, Result
from warehouse.analysis.seeds.brief import brief_view
from warehouse.analysis.seeds.row import SeedsRow
from warehouse.analysis.training.trajectories import describe_others
from warehouse.tables.view import Table, View, constants
from warehouse.tables.words import (
    UNEQUAL_PROMPTS,
    counted,
    decimals,
    interval,
    level_column,
    meanings,
    number,
    p_value,
)

#: Columns that are left out where no row has them.
_HIDE_EMPTY = (
    *(
        "split",
        "recipe",
        "setting",
        "mean",
        "sd over seeds",
        "half-width",
        "noise floor",
        "jitter",
        "tau",
        "p rise",
    ),
    *("SNR", "SNR, other", "ratio", "interval of ratio", "flags"),
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("checkpoints", "half-width", "jitter", "tau", "p rise")
#: The same where there is no noise floor: jitter says more there.
_MINOR_WITHOUT_FLOORS = ("mean", "half-width", "seeds", "p rise", "tau")
#: Further ones, to make room for a second metric.
_FOR_ANOTHER = ("mean", "noise floor", "sd over seeds", "split")
#: Further ones where there is one metric.
_FOR_ONE = ("SNR", "mean", "split")


@dataclass(frozen=True)
class SeedScore(RecipeRow):
    """The score of one seed at one checkpoint, in the metric's reported unit."""

    unit: str
    position: float
    seed: str
    score: float


@dataclass(frozen=True)
class SeedsReport(Result):
    """Seeds of recipes, one row per benchmark, metric and recipe."""

    DRAWN_BY = "warehouse.analysis.seeds.charts:seed_charts"

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "benchmark",
            "model",
            "recipe",
            "setting",
            "n_seeds",
            "n_checkpoints",
            "seed_mean",
            "seed_sd",
        ),
        *("half_width", "noise_floor", "jitter", "tau", "p_monotone", "flags"),
    )
    level: float  #: of intervals and noise floors.
    rows: tuple[SeedsRow, ...]
    left_out: int  #: models without a second seed and without checkpoints, by number.
    #: benchmarks whose seeds or checkpoints have figures by other metrics only, and
    #: those metrics.
    elsewhere: Mapping[str, tuple[str, ...]]
    #: behind the rows that have several seeds, those by the other metric after each.
    scores: tuple[SeedScore, ...] = ()
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.

    @property
    def one_line(self) -> str:
        n = len({row.benchmark for row in self.rows})
        return f"{len(self.rows)} recipes with seeds or checkpoints on {n} benchmarks"

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on all rows."""
        return report_notes(self)

    def view(self, *, verbose: bool = False) -> View:
        """How far runs of one recipe lie apart by their seed alone.

        Args:
            verbose: every column.
        """
        if verbose:
            return seeds_view(self)
        notes = (*reasons_of(self.rows), *self.notes)
        return brief_view(self.rows, self.level, notes, in_percent=self.is_share)


def seeds_view(report: SeedsReport) -> View:
    """The view: what follows from the rows, the rows, and what is missing."""
    rows = report.rows
    spreads = chain.from_iterable((row.seed_sd, row.jitter) for row in rows)
    n_decimals = decimals(filter(None, spreads))
    level = level_column(report.level)
    cells = [_cells(row, n_decimals, level) for row in rows]
    said: list[str] = []
    if len(cells) > 1:
        said, cells = constants(cells, ("metric", "model"))
    table = Table.of(cells, hide_empty=(*_HIDE_EMPTY, level), minor=_minor(report))
    return View(
        (*_sentences(report), "", *said, table), (*reasons_of(rows), *report.notes)
    )


def report_notes(report: SeedsReport) -> tuple[str, ...]:
    """Notes that also those should read who take the rows alone."""
    notes: list[str] = []
    if report.left_out:
        notes.append(
            f"{report.left_out} recipes with one seed and one checkpoint are left out"
        )
    flags = chain.from_iterable(row.flags for row in report.rows)
    notes += meanings(flag for flag in flags if flag == UNEQUAL_PROMPTS)
    if report.elsewhere:
        notes.append(f"seeds or checkpoints {describe_others(report.elsewhere)}")
    return tuple(notes)


def _minor(report: SeedsReport) -> tuple[str, ...]:
    """Columns that a narrow terminal does without, the first of them first."""
    level = level_column(report.level)
    has_floors = any(row.noise_floor is not None for row in report.rows)
    narrow = _MINOR_WITHOUT_FLOORS
    if has_floors:
        narrow = _MINOR
    further = (
        (level, *_FOR_ANOTHER) if report.rows[0].other_metric else (*_FOR_ONE, level)
    )
    return (*narrow, *further, "flags", "metric")


def reasons_of(rows: Sequence[SeedsRow]) -> list[str]:
    """Why rows have no figure, and how many."""
    without = Counter(row.reason for row in rows if row.reason)
    return [f"{reason}: {counted(n, 'row')}" for reason, n in without.items()]


def _cells(row: SeedsRow, n_decimals: int, interval_of_level: str) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "model": row.model,
        "recipe": row.recipe,
        "setting": row.setting,
        "seeds": row.n_seeds,
        "checkpoints": row.n_checkpoints,
        "mean": number(row.seed_mean, n_decimals),
        "sd over seeds": number(row.seed_sd, n_decimals),
        interval_of_level: interval(row.seed_sd_low, row.seed_sd_high, n_decimals),
        "half-width": number(row.half_width, n_decimals),
        "noise floor": number(row.noise_floor, n_decimals),
        "jitter": number(row.jitter, n_decimals),
        "tau": number(row.tau, 2),
        "p rise": p_value(row.p_monotone),
        "SNR": number(row.signal_to_noise, 1),
        "SNR, other": number(row.other_signal_to_noise, 1),
        "ratio": number(row.ratio, 2),
        "interval of ratio": interval(row.ratio_low, row.ratio_high, 2),
        "flags": row.flags,
    }


def _sentences(report: SeedsReport) -> Sequence[str]:
    """The conclusions of the table, in words."""
    floors = [row for row in report.rows if row.noise_floor is not None]
    if not floors:
        if any(row.n_seeds > 1 for row in report.rows):
            return [
                "How far two runs of one recipe lie apart by chance cannot be told: "
                "the notes say why."
            ]
        return [
            "No recipe has a second training seed: how far two of its runs lie apart "
            "by chance cannot be told; jitter alone is a lower bound (--json)."
        ]
    above = [row for row in floors if row.sd_ratio is not None and row.sd_ratio > 1]
    few = ["few_seeds" in row.flags for row in floors]
    figure = "last checkpoint"
    if floors[0].averaged != 1:
        figure = f"mean of the last {floors[0].averaged} checkpoints"
    sentences = [
        f"Two single runs of one recipe (figure: {figure}) differ by more than the "
        f"noise floor in {100 * (1 - report.level):.2g} % of cases"
        + (
            ", if no seed fails: so few may lack one in ten that does."
            if any(few)
            else "."
        )
    ]
    intervals = [
        row
        for row in report.rows
        if row.ratio_low is not None and row.ratio_high is not None
    ]
    if intervals:
        larger = sum(
            row.ratio_low > 1 for row in intervals if row.ratio_low is not None
        )
        smaller = sum(
            row.ratio_high < 1 for row in intervals if row.ratio_high is not None
        )
        sentences.append(
            f"Signal to noise over seeds is larger by {intervals[0].other_metric} in "
            f"{larger} of {len(intervals)} rows, smaller in {smaller}, and cannot be "
            f"told apart in {len(intervals) - larger - smaller}."
        )
    if above:
        sentences.append(
            f"For {len(above)} of {len(floors)} rows with seeds the spread over seeds "
            "is larger than the half-width of a single run's interval: an interval "
            "over prompts alone says too little there."
        )
    return sentences
