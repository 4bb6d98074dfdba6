"""Rows of curves along training: one for each checkpoint, and one for each curve."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import RecipeRow


@dataclass(frozen=True)
class CheckpointRow(RecipeRow):
    """One checkpoint of a curve. Figures are in the metric's reported unit."""

    unit: str  #: of the position: ``step``, ``tokens`` or ``epoch``.
    position: float  #: of the checkpoint.
    n_seeds: int  #: seeds behind the score.
    #: prompts that all of them have; None where prompts are not stored.
    n_prompts: int | None
    score: float  #: mean over seeds.
    ci_low: float | None  #: lower end of its band; None without an error.
    ci_high: float | None  #: upper end.
    band: str  #: what the band allows for: ``seeds and prompts``, ``seeds``, ``prompts`` or ``reported errors``.
    #: one-sided, Holm over the checkpoints of the curve; None without chance or test.
    p_above_chance: float | None
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
    #: prompts of the last checkpoint; None where prompts are not stored.
    n_prompts: int | None
    first: float | None  #: score of the first checkpoint, mean over seeds.
    last: float | None  #: score of the last one.
    ci_low: float | None  #: lower end of its band.
    ci_high: float | None  #: upper end.
    band: str  #: what the band allows for, as of `CheckpointRow`.
    #: Kendall's τ-b of the scores with the order of checkpoints, by the metric's
    #: direction; mean over seeds.
    tau: float | None
    spearman: float | None  #: Spearman's correlation of the same.
    #: standard deviation (ddof 0) of the last five checkpoints over their mean; mean
    #: over seeds.
    spread_of_last_five: float | None
    chance: float | None  #: what guessing scores; None with ``chance_reason``.
    chance_from: str  #: ``given``, ``metric`` or ``options``.
    #: first checkpoint significantly above chance; None without one.
    above_chance_at: float | None
    #: checkpoint from which all are; None if the last is not.
    above_chance_from: float | None
    #: significant drops from one checkpoint to the next; None without a test.
    n_drops: int | None
    largest_drop: float | None  #: the largest of them, as a difference.
    largest_drop_at: float | None  #: position of the checkpoint after it.
    other: str  #: the curve that this one is held against; empty without one.
    #: last checkpoint at which the one is significantly ahead before the other is.
    crossing_low: float | None
    #: first checkpoint at which the other is: with probability ``level`` the true
    #: curves change places between the two; None where no crossing is shown.
    crossing_high: float | None
    crossing: float | None  #: where the differences turn, between the two.
    #: which is ahead before and after, or why no crossing is shown.
    crossing_in_words: str
    #: ``unequal_prompts``: some figures rest on fewer or other prompts; drops and
    #: crossings are over common ones, but tau, Spearman's correlation, the spread of
    #: the last five and the scores are not.
    flags: tuple[str, ...]
    chance_reason: str  #: why there is no test against chance.
    reason: str  #: why figures are missing.

    @property
    def name(self) -> str:
        """Model, recipe and the other settings that distinguish it."""
        recipe = ""
        if self.recipe not in self.model:
            recipe = self.recipe
        return " ".join(filter(None, (self.model, recipe, self.setting)))
