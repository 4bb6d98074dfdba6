"""A row of a gate, and what its two models are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.comparison.hooks import PairCosts
from warehouse.analysis.results import BenchmarkRow, Column

#: What is said where Gaffke's test decides.
FEW_DIFFER = (
    "few prompts or clusters differ, or unevenly: Gaffke's test has the larger p"
)


@dataclass(frozen=True)
class GateRow(BenchmarkRow):
    """One benchmark and split."""

    #: ``pass``: shown to be worse by less than the margin, or better; ``fail``: shown
    #: to be worse by more; else ``undecided``.
    verdict: str
    candidate: float  #: its figure on the common prompts.
    baseline: float  #: its figure there.
    difference: float  #: in favour of the candidate, on the scale of the figure.
    standard_error: float | None  #: of it, CR2 with clusters.
    #: lower confidence bound of it, one-sided at 1 − alpha, not adjusted.
    low: float | None
    margin: float  #: loss that is tolerated.
    #: one-sided, of "worse by the margin or more", adjusted (Holm over benchmarks).
    p_pass: float | None
    p_fail: float | None  #: of "worse by less than the margin", adjusted likewise.
    n_prompts: int  #: prompts that both have a score of.
    n_clusters: int | None  #: clusters among them; None without.
    #: prompts with which a candidate as good as the baseline passes with 80 % power;
    #: None where decided, or where there is no number.
    prompts_if_equal: int | None
    #: prompts that decide with 80 % power if the difference is as it was seen.
    prompts_as_seen: int | None
    missing: int  #: prompts that only the baseline has a score of.
    share_unscored: float  #: samples of the candidate without a score, in [0, 1].
    method: str  #: of the test.
    #: why it is undecided where it is not for want of data, and what was done.
    reason: str
    model_candidate: str  #: name of the candidate's model.
    model_baseline: str  #: name of the baseline's.
    runs_candidate: tuple[int, ...]  #: ids of its runs.
    runs_baseline: tuple[int, ...]  #: of the baseline's.
    condition_candidate: str  #: settings that tell its runs from the baseline's, and from what it is the newest of.
    condition_baseline: str  #: the same of the baseline's.
    overall: str  #: the verdict over all benchmarks, the same in each row.
    flags: tuple[str, ...] = ()  #: of the difference, as `compare` gives them.
    costs: PairCosts | None = None  #: that the columns of costs come from.
    #: cost that was asked for; empty without.
    cost_metric: ClassVar[Column[str]] = Column("costs.metric", "")
    #: cost of the candidate over that of the baseline, on the prompts of which both are
    #: known.
    cost_ratio: ClassVar[Column[float | None]] = Column("costs.ratio.estimate")
    #: lower end of its interval (two-sided at 1 − 2·alpha).
    ratio_low: ClassVar[Column[float | None]] = Column("costs.ratio.low")
    #: upper end.
    ratio_high: ClassVar[Column[float | None]] = Column("costs.ratio.high")
    #: of "not so many times cheaper as asked"; ``p_pass`` is the larger of it and that
    #: of the scores.
    p_cost: ClassVar[Column[float | None]] = Column("costs.test.p_value")
    #: common prompts of which either cost is not known; None where no cost was asked
    #: for.
    n_missing_cost: ClassVar[Column[int | None]] = Column("costs.n_missing")
    #: sha256 of the prices behind it; empty without.
    prices_digest: ClassVar[Column[str]] = Column("costs.prices_digest", "")

    PARTS = ("costs",)


def names(candidate: str, baseline: str, rows: Sequence[Any]) -> tuple[str, str]:
    """Both references so that a reader knows what they mean: ``run:7`` with its model,
    and either with the settings that tell it from the other and from what it is the
    newest of; of the rows of a gate, or of a sequential one."""
    return (
        _name(
            candidate,
            {row.model_candidate for row in rows},
            {row.condition_candidate for row in rows},
        ),
        _name(
            baseline,
            {row.model_baseline for row in rows},
            {row.condition_baseline for row in rows},
        ),
    )


def _name(reference: str, models: set[str], conditions: set[str]) -> str:
    details = []
    if reference.startswith("run:") and len(models) == 1:
        details = list(models)
    if len(conditions) == 1:
        details += list(conditions - {""})
    if details:
        return f"{reference} ({', '.join(details)})"
    return reference
