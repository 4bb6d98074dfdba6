"""Discrimination on other models, and what dropping weak prompts does: rows, sentences
and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from warehouse.analysis.results import Result, Row
from warehouse.tables.view import Table, View
from warehouse.tables.words import interval, number


@dataclass(frozen=True)
class SplitRow(Row):
    """Discrimination of prompts on train models against that on test models."""

    kind: str  #: ``difficulty`` (the best models are the test) or ``random``.
    n_splits: int  #: splits; figures of random ones are means over them.
    #: n_train, n_test: models.
    n_train: int
    n_test: int
    n_items: float  #: prompts whose discrimination is defined on both sides.
    #: correlation of the two over prompts; None where not defined.
    pearson: float | None
    #: pearson_low, pearson_high: the smallest and largest of several splits.
    pearson_low: float | None
    pearson_high: float | None
    spearman: float | None  #: the same of ranks.
    negative_train: float  #: prompts with a discrimination below 0 on train models.
    negative_both: float  #: of these those below 0 on test models too.


@dataclass(frozen=True)
class SplitPoint(Row):
    """Discrimination (r_c) of one prompt on train and on test models; None where all
    scores there are alike."""

    kind: str
    train: float | None
    test: float | None


@dataclass(frozen=True)
class _ItemsOfModels(Result):
    """The matrix, as both reports tell it."""

    benchmark: str
    metric: str
    n_items: int
    n_models: int
    notes: tuple[str, ...]

    @property
    def one_line(self) -> str:
        return (
            f"{self.benchmark} by {self.metric}: {self.n_items} prompts x "
            f"{self.n_models} models"
        )


@dataclass(frozen=True)
class SplitReport(_ItemsOfModels):
    """Does discrimination carry over from models to others?"""

    DRAWN_BY = "warehouse.analysis.items.charts:split_charts"

    rows: tuple[SplitRow, ...]
    #: the prompts by the split by difficulty and the first random one.
    points: tuple[SplitPoint, ...]

    def view(self, *, verbose: bool = False) -> View:
        """The view of whether discrimination on some models holds on others."""
        n_random = self.rows[-1].n_splits
        return View(
            (
                f"{self.one_line}: discrimination (r_c) on train models against test "
                "models.",
                "",
                Table.of(map(_split_cells, self.rows)),
                "",
                f"difficulty: the best models are the test; random: mean of {n_random} "
                "splits, and their range.",
            ),
            self.notes,
        )


def _split_cells(row: SplitRow) -> dict[str, object]:
    return {
        "split": row.kind,
        "train": row.n_train,
        "test": row.n_test,
        "prompts": number(row.n_items, 0),
        "r": number(row.pearson, 3),
        "from, to": interval(row.pearson_low, row.pearson_high, 3),
        "spearman": number(row.spearman, 3),
        "below 0": number(row.negative_train, 1),
        "in both": number(row.negative_both, 1),
    }


@dataclass(frozen=True)
class PruningRow(Row):
    """A figure of test models after prompts were dropped."""

    split: str  #: ``difficulty`` or ``random``.
    share: float  #: of the prompts, dropped.
    n_dropped: int  #: prompts.
    #: ``mean`` (change of the mean score), ``error`` (standard error after over
    #: before), ``tau`` (agreement of the ranking with that before), ``monotonicity``
    #: (change of τ of score with checkpoint) or ``snr`` (signal-to-noise over seeds,
    #: after over before).
    figure: str
    #: dropping the least discriminating prompts of the train models.
    value: float | None
    #: low, high: its 95 % interval over test models, trainings or recipes; None for tau
    #: and below two.
    low: float | None
    high: float | None
    random: float | None  #: mean over as many prompts dropped at random.
    #: random_low, random_high: 2.5 % and 97.5 % points over these.
    random_low: float | None
    random_high: float | None


@dataclass(frozen=True)
class PruningReport(_ItemsOfModels):
    """Dropping the least discriminating prompts, beside random ones; never for figures
    that are reported."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        "split",
        "share",
        "figure",
        "value",
        "low",
        "high",
        "random",
    )
    rows: tuple[PruningRow, ...]
    #: n_train, n_test: models of each split.
    n_train: int
    n_test: int
    n_random: int  #: random drops behind each random figure.
    n_trainings: int  #: training runs behind monotonicity.
    n_recipes: int  #: recipes with several seeds behind signal-to-noise.

    def view(self, *, verbose: bool = False) -> View:
        """The effect of dropping weak prompts, compared with random ones."""
        return View(
            (
                f"{self.one_line}: least discriminating prompts of {self.n_train} "
                "models dropped,",
                f"effects on the other {self.n_test}, beside {self.n_random} random "
                "drops as large.",
                "",
                Table.of(_pruning_cells(row) for row in self.rows if row.share),
                "",
                "mean, monotonicity: change; error, snr: after over before; tau: "
                "agreement with all prompts.",
            ),
            (
                *self.notes,
                *_missing(self),
                "a pruned benchmark is easier: never report its scores",
            ),
        )


def _pruning_cells(row: PruningRow) -> dict[str, object]:
    return {
        "split": row.split,
        "dropped": f"{100 * row.share:g}%",
        "figure": row.figure,
        "value": number(row.value, 4),
        "95% interval": interval(row.low, row.high, 4),
        "random": number(row.random, 4),
        "95% of random": interval(row.random_low, row.random_high, 4),
    }


def _missing(report: PruningReport) -> list[str]:
    """Figures that there are none of, and why."""
    missing = []
    if not report.n_trainings:
        missing.append("no monotonicity: no training run with 3 checkpoints here")
    if not report.n_recipes:
        missing.append("no signal-to-noise: no recipe with several training seeds here")
    return missing
