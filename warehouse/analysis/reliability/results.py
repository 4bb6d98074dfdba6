"""Rows of what a suite's verdicts rest on."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row
from warehouse.stats import AnchorError


@dataclass(frozen=True)
class ReliabilityRow(Row):
    """Changes that another draw of one kind and size would make (DIoR, Perlitz et al.
    2024)."""

    granularity: str  #: what is drawn anew: ``scenarios``, ``subscenarios``, ``prompts``, ``seeds``.
    #: drawn: scenarios, subscenarios or prompts of a scenario, few-shot seeds; None:
    #: all.
    size: int | None
    n_prompts: float  #: prompts that a model then answers, on average.
    #: Kendall's τ-b with the ranking on all, at least, in 97.5 % of instances; None
    #: with a ``reason``, as all bounds here.
    ranking: float | None
    #: ranking_low, ranking_high: Monte Carlo interval of it, as of the others.
    ranking_low: float | None
    ranking_high: float | None
    weighted: float | None  #: the same weighted towards the top models.
    #: weighted_low, weighted_high: of it.
    weighted_low: float | None
    weighted_high: float | None
    #: 1 − mean change of a mean win rate, at least, in 97.5 % of instances.
    quality: float | None
    #: quality_low, quality_high: of it.
    quality_low: float | None
    quality_high: float | None
    best: float | None  #: 1 − the upper end of Wilson's interval of ``best_error``.
    #: best_low, best_high: of it.
    best_low: float | None
    best_high: float | None
    #: mean over pools of how often the second beats the first; pools are the models
    #: without the best 0 to 4.
    best_error: float | None
    best_errors: tuple[float | None, ...]  #: of each pool.
    same_order: float | None  #: share of instances in which all pairs stand as on all.
    #: |rank − rank on all|, at most, in 95 % of models and instances.
    rank_resolution: int | None
    n_resamples: int  #: instances.
    n_undefined: int  #: of them without a ranking.
    ties: float  #: what a tie on a scenario counts.
    reason: str  #: why figures are missing.


@dataclass(frozen=True)
class DatasetRow(ReliabilityRow):
    """One data set by itself, as if it were the whole benchmark (Perlitz et al. 2024
    appendix D): other prompts."""

    #: scenario, subscenario: its names.
    scenario: str
    subscenario: str
    n_models: int  #: that have it.
    leader: str | None  #: the first of them by its scores; None where several are.


@dataclass(frozen=True)
class RankRow(Row):
    """A model's rank with so many prompts (Perlitz et al. 2024 fig. 1)."""

    model: str  #: its name.
    rank: int | None  #: on all prompts, as published.
    size: int | None  #: prompts of a scenario; None: all, resampled.
    n_prompts: float  #: of all scenarios.
    mean_rank: float | None  #: over instances; None for one without a rank.
    #: rank_low, rank_high: the ends of the middle share ``level`` of its ranks.
    rank_low: int | None
    rank_high: int | None


@dataclass(frozen=True)
class ModelRow(Row):
    """A model by several aggregates of the suite."""

    model: str  #: its name, with what tells its conditions apart.
    n_scenarios: int  #: that it has, of ``n_scenarios_suite``.
    n_scenarios_suite: int  #: that two or more models have.
    rank: int | None  #: by mean win rate: 1 + models with a greater one.
    #: over scenarios, the share of other models that it beats; a tie is no win.
    mean_win_rate: float | None
    mean: float | None  #: mean score over scenarios, oriented.
    rank_mean: int | None  #: by it.
    mean_z: float | None  #: mean z-score over scenarios.
    rank_z: int | None  #: by it.
    bradley_terry: float | None  #: log strength, mean 0.
    rank_bradley_terry: int | None  #: by it.
    #: mean win rate with every subscenario a scenario.
    subscenario_win_rate: float | None
    rank_subscenarios: int | None  #: by it.
    #: rank_low, rank_high: the best and the worst of these ranks.
    rank_low: int | None
    rank_high: int | None
    #: 1 − change of its mean win rate, at least, in 97.5 % of draws of all prompts.
    quality: float | None
    rank_resolution: int | None  #: |rank − rank on all|, at most, in 95 % of these.


@dataclass(frozen=True)
class PoolRow(Row):
    """The effect of a model's leaving (or joining) to the ranks of the others."""

    model: str  #: the one that leaves.
    rank: int | None  #: its own.
    n_moved: int  #: others that then have another rank among themselves.
    largest: int  #: the largest change.
    n_reversed: int  #: pairs of others that change order.
    leader_changes: bool  #: another model is then first.


@dataclass(frozen=True)
class SwitchRow(Row):
    """How often the last of a few adjacent models beats the first."""

    window: int  #: models, the first and the last counted.
    size: int | None  #: prompts of a scenario; None: all.
    n_prompts: float  #: of all scenarios.
    #: mean over windows of the share of draws, ties ½; None with fewer models.
    probability: float | None
    #: low, high: Monte Carlo interval of it, whose unit is the draw.
    low: float | None
    high: float | None
    first: float | None  #: mean over the windows that begin with the first five models.
    most: float | None  #: the largest of any window.


@dataclass(frozen=True)
class AgreementRow(Row):
    """Two subscenarios' rankings of the models that both have."""

    #: scenario, subscenario: the first.
    scenario: str
    subscenario: str
    #: other_scenario, other_subscenario: the second.
    other_scenario: str
    other_subscenario: str
    tau: float | None  #: Kendall's τ-b; None where one is constant.
    within: bool  #: both are of one scenario.


@dataclass(frozen=True)
class SeedDesignRow(Row):
    """One budget of calls for each subscenario, spent in two ways (Perlitz et al. 2024
    figs. 4 and 7)."""

    #: ``bootstrap``: calls drawn with replacement; ``subsample``: without.
    resampling: str
    budget: int  #: calls.
    #: of the central 95 % of mean win rates, mean over models, every prompt under all
    #: few-shot seeds.
    width_full: float
    width_uniform: float  #: the same, prompts and seeds drawn together.
    #: error_full, error_uniform: Monte Carlo errors.
    error_full: float | None
    error_uniform: float | None
    #: ranking_full, ranking_uniform: Kendall's τ-b, at least, in 97.5 % of instances.
    ranking_full: float | None
    ranking_uniform: float | None
    #: mean_width_full, mean_width_uniform: width of the mean score over subscenarios
    #: instead of the mean win rate, in units of the scores.
    mean_width_full: float
    mean_width_uniform: float
    #: mean_error_full, mean_error_uniform: Monte Carlo errors.
    mean_error_full: float | None
    mean_error_uniform: float | None


@dataclass(frozen=True)
class FlashStepRow(Row):
    """A model after so many prompts."""

    size: int | None  #: prompts of each scenario; None: all.
    n_prompts: int  #: over all scenarios.
    rank: int  #: on these prompts, among the stored models and itself.
    resolution: int  #: ranks of stored models lie this far from the full ones, at most, in 95 %.
    #: best_rank, worst_rank: rank ± resolution.
    best_rank: int
    worst_rank: int
    tier: int  #: best rank for which this size is enough.
    is_enough: bool  #: rank − resolution reaches the tier, or these are all prompts.


@dataclass(frozen=True)
class FlashModelRow(Row):
    """A stored model ranked as if it were new."""

    model: str  #: its name.
    rank: int | None  #: on all prompts.
    mean_error: float  #: |rank where it stopped − rank|, mean over random orders of the prompts.
    largest_error: float  #: the largest.
    within: float  #: share of orders with the rank within the resolution; one that uses all prompts cannot miss.
    #: the same of the orders that stop before all prompts; None where none does.
    within_early: float | None
    saving: float  #: all prompts over those used.
    n_prompts: float  #: used, on average.


@dataclass(frozen=True)
class NextPromptRow(Row):
    """A prompt to ask next."""

    #: scenario, subscenario: that it is of.
    scenario: str
    subscenario: str
    benchmark: str  #: its benchmark.
    prompt: str  #: ``prompt:ID``.
    key: str  #: its id in the dump, else its key.
    text: str  #: beginning of it.


@dataclass(frozen=True)
class AnchorErrorRow(Row, AnchorError):
    """One way to a score from a few prompts, on models left out (Madaan et al. 2024
    tables 3, 4, 7); its columns are the fields of
    :class:`~warehouse.stats.AnchorError`."""


@dataclass(frozen=True)
class AnchorRow(Row):
    """A prompt that stands for a cluster of prompts."""

    prompt: str  #: ``prompt:ID``.
    key: str  #: its id in the dump, else its key.
    benchmark: str  #: its benchmark.
    weight: float  #: share of the score that it stands for.
    n_items: int  #: prompts of its cluster.
    mean_score: float  #: mean over models.
    text: str  #: beginning of it.


@dataclass(frozen=True)
class AnchorModelRow(Row):
    """The score of a model, by one way to it."""

    model: str  #: its name, with what tells its conditions apart.
    training: str  #: the model and its training seed, which its checkpoints share.
    position: float | None  #: in training; None for others.
    method: str  #: ``all`` (every prompt), ``irt``, ``p_irt`` or ``gp_irt``.
    n_items: int  #: prompts behind it.
    estimate: float  #: the score; anchors were chosen without this model.
    #: over prompts or anchors (jackknife); it knows nothing of the bias of anchors.
    standard_error: float | None
