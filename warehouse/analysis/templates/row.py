"""Rows of conditions over their templates, judges or few-shot draws."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import ConditionRow, Row


@dataclass(frozen=True)
class JudgeFlip(Row):
    """Two models whose order differs between two judges."""

    judge_a: str  #: one judge.
    judge_b: str  #: the other.
    model_a: str  #: the model that is better by ``judge_a``.
    model_b: str  #: the one that is better by ``judge_b``.
    difference_a: float  #: ``model_a`` minus ``model_b`` by ``judge_a``.
    difference_b: float  #: by ``judge_b``.
    #: the larger p of the two, adjusted for all pairs of models (Holm) and of judges
    #: (Bonferroni).
    p_holm: float | None
    #: whether both differences are significant by it: the judges do disagree.
    is_shown: bool


@dataclass(frozen=True)
class TemplateRow(ConditionRow):
    """One condition over its templates (or other forms), on the prompts that have a
    score under each."""

    estimate: float | None  #: mean over prompts and templates.
    #: of it, by what is taken for a sample; None with a ``reason``.
    standard_error: float | None
    ci_low: float | None  #: lower end of the interval, within the metric's bounds.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    df: float | None  #: degrees of freedom of the interval.
    random: str  #: ``"both"``, ``"prompts"`` or ``"templates"``: what is a sample.
    n_prompts: int  #: prompts with a score under each template.
    n_clusters: int | None  #: clusters among them, where the error allows for them.
    n_templates: int  #: templates.
    n_left_out: int  #: prompts without a score under some template.
    #: the highest mean of a template; an extreme of noisy means, biased upwards.
    best: float | None
    best_template: str  #: its name.
    worst: float | None  #: the lowest mean, biased downwards.
    worst_template: str  #: its name.
    #: between prompts, raw: may be below 0, like the next.
    variance_prompts: float | None
    variance_templates: float | None  #: between templates.
    variance_residual: float | None  #: of both together, draws included.
    #: variance of the estimate that the choice of prompts makes.
    part_prompts: float | None
    part_templates: float | None  #: that the choice of templates makes.
    part_residual: float | None  #: that is in each of the two.
    #: templates for the error that was asked for; None where none was, none suffices,
    #: or prompts alone are a sample.
    templates_needed: int | None
    #: ``few_templates``: fewer than 9 stand for all that could have been.
    flags: tuple[str, ...]
    reason: str  #: why there is no error.
    run_ids: tuple[int, ...]  #: ids of the runs.
