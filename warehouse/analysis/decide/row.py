"""Two recipes on one benchmark."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import BenchmarkRow
from warehouse.analysis.training.pools import FEW_PROMPTS
from warehouse.stats.training.noise_floor import Word

#: Where a pool of other benchmarks is the measure: published figures may be of a part,
#: or of a benchmark of that name.
UNSAID = (
    "how many prompts these figures rest on is not said (`n`): of fewer than "
    f"{FEW_PROMPTS} that spread says nothing"
)


@dataclass(frozen=True)
class DecisionRow(BenchmarkRow):
    """Two recipes on one benchmark. Figures are in the metric's reported unit."""

    model_a: str  #: name of the first model.
    recipe_a: str  #: its data mix or hyperparameters.
    model_b: str  #: name of the second.
    recipe_b: str  #: its data mix or hyperparameters.
    mean_a: float  #: mean over the seeds of the first.
    mean_b: float  #: mean over the seeds of the second.
    difference: float  #: mean_a − mean_b.
    #: what seeds alone exceed with probability 1 − level; where ``floor_from`` is
    #: ``jitter``, a lower bound of it; None where nothing tells it.
    noise_floor: float | None
    #: ``decides`` where the difference exceeds the noise floor, ``leans`` where the
    #: order is wrong with a probability of at most .1, else ``cannot tell``. Spreads of
    #: other benchmarks alone decide only where the threshold is above twice the largest
    #: of them; jitter alone leans where it is above twice the most that spreads over
    #: seeds were seen to be in multiples of jitter.
    verdict: Word
    #: ``a`` or ``b``, which is ahead by the metric's direction, where it decides or
    #: leans; empty else, and where nobody has said the direction.
    better: str
    #: ``seeds`` of these two recipes, ``other_recipes`` on the benchmark, ``pool`` of
    #: other benchmarks, ``jitter`` of the runs, or empty.
    floor_from: str
    n_seeds_a: int  #: seeds of the first.
    n_seeds_b: int  #: seeds of the second.
    degrees_of_freedom: float | None  #: of the floor.
    #: standard deviation over seeds of one run's figure, as the floor has it; None
    #: without one.
    seed_sd: float | None
    #: what other prompts make of one run's figure besides, as the floor has it: half
    #: the variance of the difference, by prompt, of single runs; None where the spread
    #: was seen on these very prompts, or nothing tells it.
    prompt_sd: float | None
    #: standard deviation of a run's figure by jitter alone; None below sixteen
    #: checkpoints.
    jitter: float | None
    #: difference − noise floor, within the metric's range; None where jitter is all
    #: there is.
    ci_low: float | None
    ci_high: float | None  #: difference + noise floor.
    #: probability that the true difference has the other sign, nothing being known of
    #: it beforehand.
    p_wrong_sign: float | None
    noise_if_sd_above: float  #: the difference is noise only if the standard deviation over seeds exceeds this.
    pool: str  #: whose spreads over seeds it is held against, in words; empty without any.
    #: benchmarks among them, without those of which all seeds are equal.
    pool_size: int | None
    #: of their standard deviations, at .05, .25, .5, .75 and .95.
    pool_quantiles: tuple[float, ...]
    #: this benchmark's own among them, of models of whatever size; None where it is
    #: not.
    pool_own_sd: float | None
    #: seeds of each recipe that would find a difference of this size with 80 % power;
    #: None if unknown.
    seeds_for_80: int | None
    #: further runs of both that this takes; 0 where it decides, None if unknown.
    runs_to_settle: int | None
    averaged: int  #: last checkpoints that are averaged in each run.
    #: ``pool_not_matched``: the spread is of another benchmark or another size of
    #: model; ``mixed_lengths``: runs end at different places in training;
    #: ``unequal_prompts``: their figures do not rest on as many prompts;
    #: ``mixed_scales``: figures of 0 to 1 beside others of up to 100.
    flags: tuple[str, ...]
    advice: str  #: what would settle it, and what that costs.
    sentence: str  #: all of this for a reader.
