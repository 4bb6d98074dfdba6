"""One row of a judge held against people."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row
from warehouse.stats import AgreementFigure
from warehouse.stats.core.inputs import rejects


@dataclass(frozen=True)
class JudgeRow(Row):
    """A judge against people on the answers of one model, or of all."""

    model: str  #: name; empty for all models together.
    condition: str  #: settings that tell the row from others.
    n_units: int  #: answers (of votes: verdicts) of the judge.
    n_labels: int  #: those that people have judged as well.
    n_prompts: int  #: prompts of these: what errors go by.
    #: share on which both say the same, with its interval ``agreement_low``,
    #: ``agreement_high``.
    agreement: float | None
    agreement_error: float | None  #: its standard error by prompts (clusters).
    agreement_low: float | None
    agreement_high: float | None
    #: Cohen's, with ``kappa_low``, ``kappa_high`` and ``kappa_error``.
    kappa: float | None
    kappa_error: float | None
    kappa_low: float | None
    kappa_high: float | None
    ac1: float | None  #: Gwet's, with ``ac1_low``, ``ac1_high``.
    ac1_low: float | None
    ac1_high: float | None
    #: all measures of agreement, each with its interval and the reason where there is
    #: none.
    figures: tuple[AgreementFigure, ...]
    #: share on which the judge scores above people, ``judge_below`` below;
    #: ``direction_p``: sign test.
    judge_above: float | None
    judge_below: float | None
    direction_p: float | None
    #: mean of judge minus people, with ``bias_low``, ``bias_high``, its own ``bias_p``,
    #: and ``bias_p_simultaneous`` for all models at once.
    bias: float | None
    bias_low: float | None
    bias_high: float | None
    bias_p: float | None
    bias_p_simultaneous: float | None
    #: as in `CorrectedRow`; of votes only the two means.
    judge_estimate: float | None
    label_estimate: float | None
    label_low: float | None
    label_high: float | None
    estimate: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    degrees_of_freedom: float | None
    weight: float | None
    correlation: float | None
    width_ratio: float | None
    method: str
    repeat_sd: float | None
    flip_rate: float | None
    #: by Rogan and Gladen, with ``rate_low``, ``rate_high``; None where not asked for.
    rate: float | None
    rate_low: float | None
    rate_high: float | None
    level: float  #: nominal coverage of all intervals.
    #: those of `CorrectedRow` and of agreement.
    flags: tuple[str, ...]
    reason: str  #: why a figure is None, or the labels stand alone.
    run_ids: tuple[int, ...]  #: ids of the judge's runs.
    bar: float | None = None  #: that was asked about; None: none was.
    #: fewest labels that would have to be the other way for ``estimate`` to lie on the
    #: other side of the bar; 0 at the bar; None where no number does, and without one.
    handful_labels: int | None = None
    #: whether that is exact (labels and judge 0 or 1, a simple draw), or to first order.
    handful_exact: bool | None = None

    @property
    def is_favoured(self) -> bool:
        """True if the judge favours the model, or the opposite, by the test of all
        models at once."""
        return rejects(self.bias_p_simultaneous, 1 - self.level)
