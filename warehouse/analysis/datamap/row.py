"""Rows of a data map: prompts, and the distribution over them."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row


@dataclass(frozen=True)
class DataMapRow(Row):
    """One prompt under one condition."""

    model: str  #: name of the model.
    condition: str  #: settings that tell it from the other conditions.
    temperature: float | None  #: sampling temperature, None if unknown.
    benchmark: str  #: name of the benchmark.
    split: str  #: part of the benchmark.
    prompt_id: int  #: id of the prompt in the store.
    tool_id: str | None  #: the tool's own id.
    key: str  #: natural key.
    #: share of correct generations, in [0, 1]; None without scored ones.
    p_correct: float | None
    ci_low: float | None  #: lower end of its interval for so many generations.
    ci_high: float | None  #: upper end.
    n_draws: int  #: scored generations.
    #: S(consistency) = Σ Prop ln Prop over semantic sets, at most 0 (all alike); None
    #: with fewer than two generations.
    consistency: float | None
    n_sets: int | None  #: semantic sets; None like ``consistency``.
    n_generations: int  #: generations that were put into sets.
    #: share of the generations in the largest set; None like ``consistency``.
    majority_share: float | None
    #: the first generation of the largest set; None where it says nothing.
    majority_answer: str | None
    #: P and S are beyond the thresholds, the upper end of P lies below 1/2 and the
    #: majority gives an answer: the target may be wrong.
    suspected: bool
    target: str | None  #: the expected answer.
    text: str | None  #: the question.


@dataclass(frozen=True)
class DistributionRow(Row):
    """The distribution of P(correct) over the prompts of one condition."""

    model: str  #: name of the model.
    condition: str  #: settings that tell it from the other conditions.
    temperature: float | None  #: sampling temperature, None if unknown.
    benchmark: str  #: name of the benchmark.
    split: str  #: part of the benchmark.
    metric: str  #: name of the metric, with its filter.
    n_prompts: int  #: prompts with a P(correct).
    n_draws: int  #: scored generations in all.
    least_draws: int  #: scored generations of the prompt that has fewest.
    most_draws: int  #: and of the one that has most.
    mean: float  #: mean P(correct), in [0, 1].
    sd: float | None  #: standard deviation over prompts (n − 1); None with one prompt.
    share_never: float  #: share of the prompts with P = 0.
    share_always: float  #: share with P = 1.
    p10: float  #: 10 % of the prompts have at most this P (linear interpolation).
    p25: float  #: 25 %.
    p50: float  #: half.
    p75: float  #: 75 %.
    p90: float  #: 90 %.
    #: prompts in each tenth of [0, 1]; 1 counts in the last.
    histogram: tuple[int, ...]
    #: mean S(consistency); None where no prompt has one.
    mean_consistency: float | None
    mean_sets: float | None  #: mean number of semantic sets; None likewise.
    n_suspected: int  #: suspected label errors.
