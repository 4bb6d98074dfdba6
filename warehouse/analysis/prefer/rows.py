"""Rows of strengths by votes: a model by one scorer's votes, a scorer, two scorers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.results import Row
from warehouse.stats.preferences.contrasts import Contrast, Position


@dataclass(frozen=True)
class PreferenceRow(Row):
    """A model's strength by one scorer's votes."""

    benchmark: str  #: that was voted on.
    scorer: str  #: who judged.
    model: str  #: its name.
    rank: int  #: by the estimate.
    #: log-odds against ``reference``, or against the mean of all models.
    estimate: float
    #: of it, by voters and prompts; None with a ``reason``.
    standard_error: float | None
    low: float | None  #: lower end of the interval, ``high`` the upper.
    high: float | None
    level: float  #: nominal coverage, also of the ranks.
    degrees_of_freedom: float | None  #: of the interval.
    p_value: float | None  #: of no difference from the reference (the mean).
    #: of beating the reference (a model of mean strength), a tie as half; ``win_low``,
    #: ``win_high``.
    win_probability: float
    win_low: float | None
    win_high: float | None
    #: best rank that the model may have by intervals that hold for all pairs together;
    #: ``rank_high``.
    rank_low: int | None
    rank_high: int | None
    elo: float  #: 1000 + 400/ln 10 times the strength against the mean.
    reference: str  #: model that the figures are against; empty: the mean of all.
    #: the estimate of the plain fit, with its ``rank_without``; None without
    #: covariates.
    without_covariates: float | None
    rank_without: int | None
    n_votes: int  #: votes on its answers; ``n_wins``, ``n_ties`` of these.
    n_wins: int
    n_ties: int
    n_prompts: int  #: prompts of these.
    ties: str  #: ``half`` or ``davidson``.
    weights: str  #: ``votes``, or ``uniform_pairs``.
    flags: tuple[str, ...]  #: ``penalised``, and those of the scorer.
    reason: str  #: why there is no error.


@dataclass(frozen=True, eq=False)
class Judge:
    """One scorer and the strengths by its votes."""

    scorer: str  #: who judged, of ``kind`` human, model or match.
    kind: str
    models: tuple[str, ...]  #: best first.
    n_votes: int  #: that count, of which ``n_ties`` are ties, ``n_both_bad`` of these of two bad answers.
    n_ties: int
    n_both_bad: int
    n_pairs: int  #: of models, that met; ``n_apart`` pairs of all that are told apart.
    n_apart: int | None
    n_first: int | None  #: models that may be the first.
    #: n_prompts, n_voters: that are known.
    n_prompts: int
    n_voters: int
    #: effective_voters, effective_prompts: 1/Σ share²: as many of equal share would
    #: weigh as much.
    effective_voters: float
    effective_prompts: float
    degrees_of_freedom: float | None  #: of all intervals.
    #: that the row beats the column, in the order of ``models``; ``apart``: told apart.
    chances: NDArray[np.float64]
    apart: NDArray[np.bool_]
    #: coefficients by name, for a standard deviation.
    covariates: Mapping[str, Contrast]
    tie_parameter: Contrast | None  #: Davidson's ln ν.
    position: Position | None  #: whether it helps to be shown first.
    left_out: Mapping[str, int]  #: votes that do not count, by reason.
    #: ``voters_unknown``, ``prompts_unknown``, ``few_clusters``,
    #: ``jackknife_singular``, ``penalised``, ``order_confounded``: who was shown first
    #: follows from the models, so that it may be the place that won.
    flags: tuple[str, ...]
    reason: str  #: why there are no errors, or no strengths.


@dataclass(frozen=True)
class JudgeAgreement(Row):
    """Two who judged the same pairs."""

    #: first, second: scorers.
    first: str
    second: str
    tau: float | None  #: Kendall's τ-b of the strengths; ``spearman`` of their ranks.
    spearman: float | None
    n_votes: int  #: of both, on the prompts and pairs that both saw.
    #: by model, strength by the first less by the second.
    differences: Mapping[str, Contrast]
    n_differ: int  #: models of which these differ (Holm).
    reason: str  #: why they are not compared.
