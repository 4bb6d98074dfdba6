"""Rows of two formulations of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row
from warehouse.stats import Agreement


@dataclass(frozen=True)
class AgreementRow(Row, Agreement):
    """One correlation over models; see `Agreement`."""

    n_models: int = 0  #: models that have both formulations.
    n_linked: int = 0  #: prompts that stand in both.
    #: ``few_units``: fewer than 20 prompts or clusters in one of them.
    flags: tuple[str, ...] = ()
    reason: str = ""  #: why an interval is not there.


@dataclass(frozen=True)
class FormulationModel(Row):
    """One model in both formulations."""

    model: str  #: its name, with checkpoint, seed and agent.
    mean_first: float  #: its figure in the first, over all its scored prompts; as published where it has none.
    mean_second: float  #: in the second.
    rank_first: int  #: 1 + models with a better figure in the first.
    rank_second: int  #: in the second.
    #: ``rank_second - rank_first``; below 0: better placed in the second.
    rank_change: int
    #: first minus second over the prompts that both have; None where ``reason`` says
    #: why.
    difference: float | None
    standard_error: float | None  #: of the difference.
    ci_low: float | None  #: lower end of its interval.
    ci_high: float | None  #: upper end.
    p_value: float | None  #: two-sided, paired by prompt.
    p_holm: float | None  #: adjusted for the number of models.
    n_prompts: int  #: common prompts.
    reason: str  #: why there is no difference, or no error of it.
    runs_first: tuple[int, ...]  #: ids of the runs of the first.
    runs_second: tuple[int, ...]  #: of the second.


@dataclass(frozen=True)
class CrossingRow(Row):
    """Two models whose order differs between the formulations."""

    model_a: str  #: the model that is better in the first formulation.
    model_b: str  #: the one that is better in the second.
    difference_first: float  #: a minus b in the first.
    difference_second: float  #: a minus b in the second.
    #: two-sided p of the difference in the first; None without samples.
    p_first: float | None
    p_second: float | None  #: in the second.
    #: the larger of the two, adjusted for all pairs of models (Holm).
    p_holm: float | None
    is_shown: bool  #: whether both differences are significant by ``p_holm``: the two do change places.
