"""Rows of what templates, or other forms of prompts, add to the error."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import ConditionRow, Result, Row
from warehouse.analysis.variance.heading import left_out_notes
from warehouse.analysis.variance.template_view import template_view
from warehouse.tables.view import View


@dataclass(frozen=True)
class JudgeFlip(Row):
    """Two models whose order differs between two judges."""

    judge_a: str  #: one judge.
    judge_b: str  #: the other.
    model_a: str  #: the model that is better by ``judge_a``.
    model_b: str  #: the one that is better by ``judge_b``.
    difference_a: float  #: ``model_a`` minus ``model_b`` by ``judge_a``.
    difference_b: float  #: by ``judge_b``.
    #: the larger p of the two, adjusted for all pairs of models (Holm) and of judges (Bonferroni).
    p_holm: float | None
    is_shown: bool  #: whether both differences are significant by it: the judges do disagree.


@dataclass(frozen=True)
class TemplateRow(ConditionRow):
    """One condition over its templates (or other forms), on the prompts that have a score under each."""

    estimate: float | None  #: mean over prompts and templates.
    standard_error: float | None  #: of it, by what is taken for a sample; None with a ``reason``.
    ci_low: float | None  #: lower end of the interval, within the metric's bounds.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    df: float | None  #: degrees of freedom of the interval.
    random: str  #: ``"both"``, ``"prompts"`` or ``"templates"``: what is a sample.
    n_prompts: int  #: prompts with a score under each template.
    n_clusters: int | None  #: clusters among them, where the error allows for them.
    n_templates: int  #: templates.
    n_left_out: int  #: prompts without a score under some template.
    best: float | None  #: the highest mean of a template; an extreme of noisy means, biased upwards.
    best_template: str  #: its name.
    worst: float | None  #: the lowest mean, biased downwards.
    worst_template: str  #: its name.
    variance_prompts: float | None  #: between prompts, raw: may be below 0, like the next.
    variance_templates: float | None  #: between templates.
    variance_residual: float | None  #: of both together, draws included.
    part_prompts: float | None  #: variance of the estimate that the choice of prompts makes.
    part_templates: float | None  #: that the choice of templates makes.
    part_residual: float | None  #: that is in each of the two.
    #: templates for the error that was asked for; None where none was, none suffices, or prompts alone are a sample.
    templates_needed: int | None
    flags: tuple[str, ...]  #: ``few_templates``: fewer than 9 stand for all that could have been.
    reason: str  #: why there is no error.
    run_ids: tuple[int, ...]  #: ids of the runs.


@dataclass(frozen=True)
class TemplatesReport(Result):
    """Conditions over their templates."""

    target: str  #: as given.
    factor: str  #: what varies.
    rows: tuple[TemplateRow, ...]
    templates: tuple[str, ...]  #: names of the forms that all conditions have, in the order of their names.
    #: of the pairs of conditions and shared templates, the share in which the order of the two is opposite to that of
    #: their means; None with one condition, or unknown direction.
    flip_share: float | None
    n_top: int | None  #: conditions that are first by some shared template; None where there is no order.
    left_out: tuple[str, ...]  #: what has no scores, or one template alone.
    flips: tuple[JudgeFlip, ...] = ()  #: pairs of conditions that two judges put in different orders.

    @property
    def one_line(self) -> str:
        return f"{self.target}: {len(self.rows)} conditions by {self.factor}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The first of what was left out."""
        return left_out_notes(self.left_out)

    def view(self, *, verbose: bool = False) -> View:
        """The command's table, what its columns mean, and which models change places."""
        return template_view(self)
