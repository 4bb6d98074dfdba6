"""Rows of what a suite's verdicts rest on."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row
from warehouse.stats import AnchorError


@dataclass(frozen=True)
class ReliabilityRow(Row):
    """What another draw of one kind and size would change (DIoR, Perlitz et al. 2024).

    Attributes:
        granularity: what is drawn anew: ``scenarios``, ``subscenarios``, ``prompts``, ``seeds``.
        size: drawn: scenarios, subscenarios or prompts of a scenario, few-shot seeds; None: all.
        n_prompts: prompts that a model then answers, on average.
        ranking: Kendall's τ-b with the ranking on all, at least, in 97.5 % of instances; None with a
            ``reason``, as all bounds here.
        ranking_low, ranking_high: Monte Carlo interval of it, as of the others.
        weighted: the same weighted towards the top models.
        weighted_low, weighted_high: of it.
        quality: 1 − mean change of a mean win rate, at least, in 97.5 % of instances.
        quality_low, quality_high: of it.
        best: 1 − the upper end of Wilson's interval of ``best_error``.
        best_low, best_high: of it.
        best_error: mean over pools of how often the second beats the first; pools are the models
            without the best 0 to 4.
        best_errors: of each pool.
        same_order: share of instances in which all pairs stand as on all.
        rank_resolution: |rank − rank on all|, at most, in 95 % of models and instances.
        n_resamples: instances.
        n_undefined: of them without a ranking.
        ties: what a tie on a scenario counts.
        reason: why figures are missing.
    """

    granularity: str
    size: int | None
    n_prompts: float
    ranking: float | None
    ranking_low: float | None
    ranking_high: float | None
    weighted: float | None
    weighted_low: float | None
    weighted_high: float | None
    quality: float | None
    quality_low: float | None
    quality_high: float | None
    best: float | None
    best_low: float | None
    best_high: float | None
    best_error: float | None
    best_errors: tuple[float | None, ...]
    same_order: float | None
    rank_resolution: int | None
    n_resamples: int
    n_undefined: int
    ties: float
    reason: str


@dataclass(frozen=True)
class DatasetRow(ReliabilityRow):
    """One data set by itself, as if it were the whole benchmark (Perlitz et al. 2024 appendix D): other prompts.

    Attributes:
        scenario, subscenario: its names.
        n_models: that have it.
        leader: the first of them by its scores; None where several are.
    """

    scenario: str
    subscenario: str
    n_models: int
    leader: str | None


@dataclass(frozen=True)
class RankRow(Row):
    """A model's rank with so many prompts (Perlitz et al. 2024 fig. 1).

    Attributes:
        model: its name.
        rank: on all prompts, as published.
        size: prompts of a scenario; None: all, resampled.
        n_prompts: of all scenarios.
        mean_rank: over instances; None for one without a rank.
        rank_low, rank_high: the ends of the middle share ``level`` of its ranks.
    """

    model: str
    rank: int | None
    size: int | None
    n_prompts: float
    mean_rank: float | None
    rank_low: int | None
    rank_high: int | None


@dataclass(frozen=True)
class ModelRow(Row):
    """A model by several aggregates of the suite.

    Attributes:
        model: its name, with what tells its conditions apart.
        n_scenarios: that it has, of ``n_scenarios_suite``.
        n_scenarios_suite: that two or more models have.
        rank: by mean win rate: 1 + models with a greater one.
        mean_win_rate: over scenarios, the share of other models that it beats; a tie is no win.
        mean: mean score over scenarios, oriented.
        rank_mean: by it.
        mean_z: mean z-score over scenarios.
        rank_z: by it.
        bradley_terry: log strength, mean 0.
        rank_bradley_terry: by it.
        subscenario_win_rate: mean win rate with every subscenario a scenario.
        rank_subscenarios: by it.
        rank_low, rank_high: the best and the worst of these ranks.
        quality: 1 − change of its mean win rate, at least, in 97.5 % of draws of all prompts.
        rank_resolution: |rank − rank on all|, at most, in 95 % of these.
    """

    model: str
    n_scenarios: int
    n_scenarios_suite: int
    rank: int | None
    mean_win_rate: float | None
    mean: float | None
    rank_mean: int | None
    mean_z: float | None
    rank_z: int | None
    bradley_terry: float | None
    rank_bradley_terry: int | None
    subscenario_win_rate: float | None
    rank_subscenarios: int | None
    rank_low: int | None
    rank_high: int | None
    quality: float | None
    rank_resolution: int | None


@dataclass(frozen=True)
class PoolRow(Row):
    """What a model's leaving (or joining) does to the ranks of the others.

    Attributes:
        model: the one that leaves.
        rank: its own.
        n_moved: others that then have another rank among themselves.
        largest: the largest change.
        n_reversed: pairs of others that change order.
        leader_changes: another model is then first.
    """

    model: str
    rank: int | None
    n_moved: int
    largest: int
    n_reversed: int
    leader_changes: bool


@dataclass(frozen=True)
class SwitchRow(Row):
    """How often the last of a few adjacent models beats the first.

    Attributes:
        window: models, the first and the last counted.
        size: prompts of a scenario; None: all.
        n_prompts: of all scenarios.
        probability: mean over windows of the share of draws, ties ½; None with fewer models.
        low, high: Monte Carlo interval of it, whose unit is the draw.
        first: mean over the windows that begin with the first five models.
        most: the largest of any window.
    """

    window: int
    size: int | None
    n_prompts: float
    probability: float | None
    low: float | None
    high: float | None
    first: float | None
    most: float | None


@dataclass(frozen=True)
class AgreementRow(Row):
    """Two subscenarios' rankings of the models that both have.

    Attributes:
        scenario, subscenario: the first.
        other_scenario, other_subscenario: the second.
        tau: Kendall's τ-b; None where one is constant.
        within: both are of one scenario.
    """

    scenario: str
    subscenario: str
    other_scenario: str
    other_subscenario: str
    tau: float | None
    within: bool


@dataclass(frozen=True)
class SeedDesignRow(Row):
    """One budget of calls for each subscenario, spent in two ways (Perlitz et al. 2024 figs. 4 and 7).

    Attributes:
        resampling: ``bootstrap``: calls drawn with replacement; ``subsample``: without.
        budget: calls.
        width_full: of the central 95 % of mean win rates, mean over models, every prompt under all
            few-shot seeds.
        width_uniform: the same, prompts and seeds drawn together.
        error_full, error_uniform: Monte Carlo errors.
        ranking_full, ranking_uniform: Kendall's τ-b, at least, in 97.5 % of instances.
        mean_width_full, mean_width_uniform: width of the mean score over subscenarios instead of the
            mean win rate, in units of the scores.
        mean_error_full, mean_error_uniform: Monte Carlo errors.
    """

    resampling: str
    budget: int
    width_full: float
    width_uniform: float
    error_full: float | None
    error_uniform: float | None
    ranking_full: float | None
    ranking_uniform: float | None
    mean_width_full: float
    mean_width_uniform: float
    mean_error_full: float | None
    mean_error_uniform: float | None


@dataclass(frozen=True)
class FlashStepRow(Row):
    """A model after so many prompts.

    Attributes:
        size: prompts of each scenario; None: all.
        n_prompts: over all scenarios.
        rank: on these prompts, among the stored models and itself.
        resolution: ranks of stored models lie this far from the full ones, at most, in 95 %.
        best_rank, worst_rank: rank ± resolution.
        tier: best rank for which this size is enough.
        is_enough: rank − resolution reaches the tier, or these are all prompts.
    """

    size: int | None
    n_prompts: int
    rank: int
    resolution: int
    best_rank: int
    worst_rank: int
    tier: int
    is_enough: bool


@dataclass(frozen=True)
class FlashModelRow(Row):
    """A stored model ranked as if it were new.

    Attributes:
        model: its name.
        rank: on all prompts.
        mean_error: |rank where it stopped − rank|, mean over random orders of the prompts.
        largest_error: the largest.
        within: share of orders with the rank within the resolution; one that uses all prompts cannot miss.
        within_early: the same of the orders that stop before all prompts; None where none does.
        saving: all prompts over those used.
        n_prompts: used, on average.
    """

    model: str
    rank: int | None
    mean_error: float
    largest_error: float
    within: float
    within_early: float | None
    saving: float
    n_prompts: float


@dataclass(frozen=True)
class NextPromptRow(Row):
    """A prompt to ask next.

    Attributes:
        scenario, subscenario: that it is of.
        benchmark: its benchmark.
        prompt: ``prompt:ID``.
        key: its id in the dump, else its key.
        text: beginning of it.
    """

    scenario: str
    subscenario: str
    benchmark: str
    prompt: str
    key: str
    text: str


@dataclass(frozen=True)
class AnchorErrorRow(Row, AnchorError):
    """One way to a score from a few prompts, on models left out (Madaan et al. 2024 tables 3, 4, 7); its
    columns are the fields of :class:`~warehouse.stats.AnchorError`."""


@dataclass(frozen=True)
class AnchorRow(Row):
    """A prompt that stands for a cluster of prompts.

    Attributes:
        prompt: ``prompt:ID``.
        key: its id in the dump, else its key.
        benchmark: its benchmark.
        weight: share of the score that it stands for.
        n_items: prompts of its cluster.
        mean_score: mean over models.
        text: beginning of it.
    """

    prompt: str
    key: str
    benchmark: str
    weight: float
    n_items: int
    mean_score: float
    text: str


@dataclass(frozen=True)
class AnchorModelRow(Row):
    """The score of a model, by one way to it.

    Attributes:
        model: its name, with what tells its conditions apart.
        training: the model and its training seed, which its checkpoints share.
        position: in training; None for others.
        method: ``all`` (every prompt), ``irt``, ``p_irt`` or ``gp_irt``.
        n_items: prompts behind it.
        estimate: the score; anchors were chosen without this model.
        standard_error: over prompts or anchors (jackknife); it knows nothing of the bias of anchors.
    """

    model: str
    training: str
    position: float | None
    method: str
    n_items: int
    estimate: float
    standard_error: float | None
