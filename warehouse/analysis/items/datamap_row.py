"""Rows of a data map: one per prompt, and one per condition for the distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.results import Row

#: P(correct) is counted in so many equal bins; the last one holds 1.
BINS = 10


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
    p_correct: float | None  #: share of correct generations, in [0, 1]; None without scored ones.
    ci_low: float | None  #: lower end of its interval for so many generations.
    ci_high: float | None  #: upper end.
    n_draws: int  #: scored generations.
    #: S(consistency) = Σ Prop ln Prop over semantic sets, at most 0 (all alike); None with fewer than two generations.
    consistency: float | None
    n_sets: int | None  #: semantic sets; None like ``consistency``.
    n_generations: int  #: generations that were put into sets.
    majority_share: float | None  #: share of the generations in the largest set; None like ``consistency``.
    majority_answer: str | None  #: the first generation of the largest set; None where it says nothing.
    #: P and S are beyond the thresholds, the upper end of P lies below 1/2 and the majority gives an answer: the target
    #: may be wrong.
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
    histogram: tuple[int, ...]  #: prompts in each tenth of [0, 1]; 1 counts in the last.
    mean_consistency: float | None  #: mean S(consistency); None where no prompt has one.
    mean_sets: float | None  #: mean number of semantic sets; None likewise.
    n_suspected: int  #: suspected label errors.


def distribution(rows: Sequence[DataMapRow], metric: str) -> DistributionRow | None:
    """The distribution over the prompts of one condition; None where none has a P(correct)."""
    scored = [row for row in rows if row.p_correct is not None]
    if not scored:
        return None
    p = np.array([row.p_correct for row in scored], np.float64)
    draws = np.array([row.n_draws for row in scored])
    grouped = [row for row in rows if row.consistency is not None]
    quantiles = np.quantile(p, [0.1, 0.25, 0.5, 0.75, 0.9]).tolist()
    bins = np.minimum((p * BINS + 1e-9).astype(int), BINS - 1)
    first = rows[0]
    return DistributionRow(
        model=first.model,
        condition=first.condition,
        temperature=first.temperature,
        benchmark=first.benchmark,
        split=first.split,
        metric=metric,
        n_prompts=len(p),
        n_draws=int(draws.sum()),
        least_draws=int(draws.min()),
        most_draws=int(draws.max()),
        mean=float(p.mean()),
        sd=float(p.std(ddof=1)) if len(p) > 1 else None,
        share_never=float((p == 0).mean()),
        share_always=float((p == 1).mean()),
        p10=quantiles[0],
        p25=quantiles[1],
        p50=quantiles[2],
        p75=quantiles[3],
        p90=quantiles[4],
        histogram=tuple(np.bincount(bins, minlength=BINS).tolist()),
        mean_consistency=_mean([row.consistency for row in grouped]),
        mean_sets=_mean([row.n_sets for row in grouped]),
        n_suspected=sum(row.suspected for row in rows),
    )


def _mean(values: Sequence[float | int | None]) -> float | None:
    return float(np.mean(np.array(values, np.float64))) if values else None
