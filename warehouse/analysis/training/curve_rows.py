"""Rows of ``curves``: one per curve, and one per checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from warehouse.analysis.results import Result, Row


@dataclass(frozen=True)
class CheckpointRow(Row):
    """One checkpoint of a curve. Figures are in the metric's reported unit.

    Attributes:
        benchmark: its name.
        split: part of the benchmark.
        metric: name of the metric, with its filter.
        model: name of the model.
        recipe: data mix or hyperparameters.
        setting: what else tells the curve from the others shown.
        unit: of the position: ``step``, ``tokens`` or ``epoch``.
        position: of the checkpoint.
        n_seeds: seeds behind the score.
        n_prompts: prompts that all of them have; None where prompts are not stored.
        score: mean over seeds.
        ci_low: lower end of its band; None without an error.
        ci_high: upper end.
        band: what the band allows for: ``seeds and prompts``, ``seeds``, ``prompts`` or ``reported
            errors``.
        p_above_chance: one-sided, Holm over the checkpoints of the curve; None without chance or test.
        is_above_chance: p at most 1 − level.
        change: from the checkpoint before; None for the first.
        p_drop: one-sided p of a fall, Holm over the steps of the curve.
        is_drop: p at most 1 − level.
    """

    benchmark: str
    split: str
    metric: str
    model: str
    recipe: str
    setting: str
    unit: str
    position: float
    n_seeds: int
    n_prompts: int | None
    score: float
    ci_low: float | None
    ci_high: float | None
    band: str
    p_above_chance: float | None
    is_above_chance: bool | None
    change: float | None
    p_drop: float | None
    is_drop: bool | None


@dataclass(frozen=True)
class CurveRow(Row):
    """One recipe along its training, all else being equal.

    Attributes:
        benchmark: its name.
        split: part of the benchmark.
        metric: name of the metric, with its filter.
        model: name of the model.
        recipe: data mix or hyperparameters.
        setting: what else tells the curve from the others shown.
        unit: of the positions: ``step``, ``tokens`` or ``epoch``.
        n_seeds: seeds S.
        n_checkpoints: checkpoints that all seeds have.
        n_left_out: checkpoints that only some seeds have.
        n_prompts: prompts of the last checkpoint; None where prompts are not stored.
        first: score of the first checkpoint, mean over seeds.
        last: score of the last one.
        ci_low: lower end of its band.
        ci_high: upper end.
        band: what the band allows for, as of `CheckpointRow`.
        tau: Kendall's τ-b of the scores with the order of checkpoints, by the metric's direction; mean over seeds.
        spearman: Spearman's correlation of the same.
        spread_of_last_five: standard deviation (ddof 0) of the last five checkpoints over their mean; mean over seeds.
        chance: what guessing scores; None with ``chance_reason``.
        chance_from: ``given``, ``metric`` or ``options``.
        above_chance_at: first checkpoint significantly above chance; None without one.
        above_chance_from: checkpoint from which all are; None if the last is not.
        n_drops: significant drops from one checkpoint to the next; None without a test.
        largest_drop: the largest of them, as a difference.
        largest_drop_at: position of the checkpoint after it.
        other: the curve that this one is held against; empty without one.
        crossing_low: last checkpoint at which the one is significantly ahead before the other is.
        crossing_high: first checkpoint at which the other is: with probability ``level`` the true
            curves change places between the two; None where no crossing is shown.
        crossing: where the differences turn, between the two.
        crossing_in_words: which is ahead before and after, or why no crossing is shown.
        chance_reason: why there is no test against chance.
        reason: why figures are missing.
    """

    benchmark: str
    split: str
    metric: str
    model: str
    recipe: str
    setting: str
    unit: str
    n_seeds: int
    n_checkpoints: int
    n_left_out: int
    n_prompts: int | None
    first: float | None
    last: float | None
    ci_low: float | None
    ci_high: float | None
    band: str
    tau: float | None
    spearman: float | None
    spread_of_last_five: float | None
    chance: float | None
    chance_from: str
    above_chance_at: float | None
    above_chance_from: float | None
    n_drops: int | None
    largest_drop: float | None
    largest_drop_at: float | None
    other: str
    crossing_low: float | None
    crossing_high: float | None
    crossing: float | None
    crossing_in_words: str
    chance_reason: str
    reason: str

    @property
    def name(self) -> str:
        """Model, recipe and the other settings that distinguish it."""
        recipe = self.recipe if self.recipe not in self.model else ""
        return " ".join(filter(None, (self.model, recipe, self.setting)))


@dataclass(frozen=True)
class CurvesReport(Result):
    """Curves along training.

    Attributes:
        rows: one per curve.
        checkpoints: one per curve and checkpoint.
        level: of bands, and 1 − the chance of any false alarm over a curve's checkpoints.
        left_out: models without a place in training, by number.
        pearson: correlation over recipes of their last scores in the two formulations; None unless
            two are compared, and below three recipes.
        kendall: τ-b of the same.
    """

    notebook_columns: ClassVar[tuple[str, ...]] = (
        "model",
        "recipe",
        "setting",
        "n_seeds",
        "n_checkpoints",
        "last",
        "ci_low",
        "ci_high",
        "chance",
        "above_chance_from",
        "n_drops",
        "crossing_low",
        "crossing_high",
    )
    rows: tuple[CurveRow, ...]
    checkpoints: tuple[CheckpointRow, ...]
    level: float
    left_out: int
    pearson: float | None = None
    kendall: float | None = None

    @property
    def one_line(self) -> str:
        """The result in one line."""
        n = len(self.rows)
        n_above = sum(row.above_chance_from is not None for row in self.rows)
        n_with_chance = sum(row.chance is not None for row in self.rows)
        chance = f", {n_above} of {n_with_chance} above chance at the end" if n_with_chance else ""
        drops = sum(row.n_drops or 0 for row in self.rows)
        return f"{n} curve{'s' * (n > 1)}{chance}, {drops} significant drop{'s' * (drops != 1)}"
