"""Rows of ``curves``: one per curve, and one per checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from warehouse.analysis.results import RecipeRow, Result
from warehouse.analysis.training.curves_view import curves_view, report_notes
from warehouse.tables.view import View


@dataclass(frozen=True)
class CheckpointRow(RecipeRow):
    """One checkpoint of a curve. Figures are in the metric's reported unit."""

    unit: str  #: of the position: ``step``, ``tokens`` or ``epoch``.
    position: float  #: of the checkpoint.
    n_seeds: int  #: seeds behind the score.
    n_prompts: int | None  #: prompts that all of them have; None where prompts are not stored.
    score: float  #: mean over seeds.
    ci_low: float | None  #: lower end of its band; None without an error.
    ci_high: float | None  #: upper end.
    band: str  #: what the band allows for: ``seeds and prompts``, ``seeds``, ``prompts`` or ``reported errors``.
    p_above_chance: float | None  #: one-sided, Holm over the checkpoints of the curve; None without chance or test.
    is_above_chance: bool | None  #: p at most 1 − level.
    change: float | None  #: from the checkpoint before; None for the first.
    p_drop: float | None  #: one-sided p of a fall, Holm over the steps of the curve.
    is_drop: bool | None  #: p at most 1 − level.


@dataclass(frozen=True)
class CurveRow(RecipeRow):
    """One recipe along its training, all else being equal."""

    unit: str  #: of the positions: ``step``, ``tokens`` or ``epoch``.
    n_seeds: int  #: seeds S.
    n_checkpoints: int  #: checkpoints that all seeds have.
    n_left_out: int  #: checkpoints that only some seeds have.
    n_prompts: int | None  #: prompts of the last checkpoint; None where prompts are not stored.
    first: float | None  #: score of the first checkpoint, mean over seeds.
    last: float | None  #: score of the last one.
    ci_low: float | None  #: lower end of its band.
    ci_high: float | None  #: upper end.
    band: str  #: what the band allows for, as of `CheckpointRow`.
    #: Kendall's τ-b of the scores with the order of checkpoints, by the metric's direction; mean over seeds.
    tau: float | None
    spearman: float | None  #: Spearman's correlation of the same.
    #: standard deviation (ddof 0) of the last five checkpoints over their mean; mean over seeds.
    spread_of_last_five: float | None
    chance: float | None  #: what guessing scores; None with ``chance_reason``.
    chance_from: str  #: ``given``, ``metric`` or ``options``.
    above_chance_at: float | None  #: first checkpoint significantly above chance; None without one.
    above_chance_from: float | None  #: checkpoint from which all are; None if the last is not.
    n_drops: int | None  #: significant drops from one checkpoint to the next; None without a test.
    largest_drop: float | None  #: the largest of them, as a difference.
    largest_drop_at: float | None  #: position of the checkpoint after it.
    other: str  #: the curve that this one is held against; empty without one.
    crossing_low: float | None  #: last checkpoint at which the one is significantly ahead before the other is.
    #: first checkpoint at which the other is: with probability ``level`` the true curves change places between the two;
    #: None where no crossing is shown.
    crossing_high: float | None
    crossing: float | None  #: where the differences turn, between the two.
    crossing_in_words: str  #: which is ahead before and after, or why no crossing is shown.
    #: ``unequal_prompts``: some figures rest on fewer or other prompts; drops and crossings are over common ones, but
    #: tau, Spearman's correlation, the spread of the last five and the scores are not.
    flags: tuple[str, ...]
    chance_reason: str  #: why there is no test against chance.
    reason: str  #: why figures are missing.

    @property
    def name(self) -> str:
        """Model, recipe and the other settings that distinguish it."""
        recipe = self.recipe if self.recipe not in self.model else ""
        return " ".join(filter(None, (self.model, recipe, self.setting)))


@dataclass(frozen=True)
class CurvesReport(Result):
    """Curves along training."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *("model", "recipe", "setting", "n_seeds", "n_checkpoints", "last", "ci_low", "ci_high", "chance"),
        *("above_chance_from", "n_drops", "crossing_low", "crossing_high"),
    )
    rows: tuple[CurveRow, ...]  #: one per curve.
    checkpoints: tuple[CheckpointRow, ...]  #: one per curve and checkpoint.
    level: float  #: of bands, and 1 − the chance of any false alarm over a curve's checkpoints.
    left_out: int  #: models without a place in training, by number.
    #: correlation over recipes of their last scores in the two formulations; None unless two are compared, and below
    #: three recipes.
    pearson: float | None = None
    kendall: float | None = None  #: τ-b of the same.

    @property
    def one_line(self) -> str:
        n = len(self.rows)
        n_above = sum(row.above_chance_from is not None for row in self.rows)
        n_with_chance = sum(row.chance is not None for row in self.rows)
        chance = f", {n_above} of {n_with_chance} above chance at the end" if n_with_chance else ""
        drops = sum(row.n_drops or 0 for row in self.rows)
        return f"{n} curve{'s' * (n > 1)}{chance}, {drops} significant drop{'s' * (drops != 1)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of all curves."""
        return report_notes(self)

    def view(self, *, verbose: bool = False, checkpoints: bool = False) -> View:
        """The findings, the command's table, and what is missing.

        Args:
            verbose: changes nothing here.
            checkpoints: a row for each checkpoint, in place of one for each curve.
        """
        return curves_view(self, checkpoints=checkpoints)
