"""Rows of metrics of whole sets, in one unit for all programs: shares of 1."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row


@dataclass(frozen=True)
class AnswerMetricRow(Row):
    """One metric of one model."""

    model: str  #: name of the model.
    condition: str  #: settings that tell the row from others.
    benchmark: str  #: name of the benchmark.
    split: str  #: part of the benchmark.
    metric: str  #: such as ``macro_f1``, ``kappa`` or ``mae``.
    of_class: str | None  #: the class that it is of; None where it is of all.
    estimate: float | None  #: None where it is 0/0; ``reason`` says why.
    standard_error: float | None  #: None where it is 0 or not defined.
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    n_prompts: int  #: prompts.
    n_clusters: int | None  #: clusters of the error; None without.
    #: prompts with a target of the class, of precision with such an answer; of a metric
    #: of all classes those of the smallest; of numbers None.
    n_positive: float | None
    #: ``few_positives``, ``rare_class``, ``few_clusters``, ``heavy_tails``, ``subset``
    #: and the flags of means.
    flags: tuple[str, ...]
    reason: str  #: why something is None; empty otherwise.
    run_ids: tuple[int, ...]  #: ids of the runs.


@dataclass(frozen=True)
class AnswerDifferenceRow(Row):
    """A metric of one model less that of another, on the prompts that both answered."""

    model_a: str  #: the first.
    model_b: str  #: the second.
    benchmark: str  #: name of the benchmark.
    metric: str  #: such as ``macro_f1``.
    of_class: str | None  #: the class that it is of; None where it is of all.
    estimate_a: float | None  #: figure of the first on these prompts.
    estimate_b: float | None  #: of the second.
    difference: float | None  #: first less second; None where one of them is.
    standard_error: float | None  #: None where it is 0 or not defined.
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    p_value: float | None  #: the larger of ``p_t`` and ``p_swap``.
    p_t: float | None  #: two-sided, of Student's t on the influence of prompts.
    #: share of exchanges of both models' answers that give as large a difference.
    p_swap: float | None
    n_prompts: int  #: prompts that both answered.
    n_differing: int  #: of these, prompts on which the answers differ.
    n_clusters: int | None  #: clusters; None without.
    #: ``better``, ``worse`` (the first), ``open``; empty where too few answers differ.
    verdict: str
    flags: tuple[str, ...]  #: ``few_differing``, ``few_clusters``.
    reason: str  #: why there is no difference, or no interval.


@dataclass(frozen=True)
class AnsweredModel(Row):
    """What is stored of a model's answers."""

    model: str  #: name of the model.
    condition: str  #: settings that tell it from others.
    #: ``options`` (the likeliest), ``extracted`` answers, or beginnings of
    #: ``responses``.
    source: str
    n_prompts: int  #: prompts that count.
    n_draws: int  #: answers to them.
    n_no_answer: int  #: of these empty.
    n_no_class: (
        int  #: of these naming no class (or no number); they count as no answer.
    )
    share_answered: (
        float  #: of the prompts, before ``--answered`` leaves the others out.
    )
    #: draws that the benchmark's own metric scored 0 or 1, and how many of these it
    #: judges otherwise than target and answer do.
    n_judged: int
    n_judged_otherwise: int
    no_class: tuple[str, ...]  #: the most frequent answers that name no class.
    run_ids: tuple[int, ...]  #: ids of the runs.


@dataclass(frozen=True)
class ConfusionCell(Row):
    """How often a class was answered where another is right."""

    model: str  #: name of the model.
    target: str  #: class of the target.
    answer: str | None  #: class of the answer; None where there is none.
    n: float  #: prompts; each of K draws counts 1/K.
    share: float  #: of the prompts with this target.
