"""Conditions whose prompts were asked in several forms: what the forms add to the error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.results import ConditionRow, Result
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.selection.targets import Target, find_targets
from warehouse.analysis.variance.judges import JudgeFlip, judge_flips, read_judged
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.questions.variance import FACTORS, Templates
from warehouse.stats import TemplateVariance, template_ranking, template_variance, templates_needed
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

_COLUMNS = dict(zip(FACTORS, ("template", "fewshot_draw", "perturbation"), strict=False))
#: What a form is called that has no name: prompts as they stand.
PLAIN = "(plain)"


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
    flags: tuple[str, ...]  #: ``few_templates``: fewer than 5 stand for all that could have been.
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


@dataclass(frozen=True)
class _Forms:
    """The scores of a condition: prompts × forms, NaN where there is none."""

    target: Target
    names: tuple[str, ...]
    table: NDArray[np.float64]

    @property
    def whole(self) -> NDArray[np.float64]:
        """The prompts with a score under each form."""
        return self.table[np.isfinite(self.table).all(axis=1)]


@answers(Templates)
def templates(store: Store, question: Templates) -> TemplatesReport:
    """One row for each condition with two templates, or judges, or more."""
    forms, left_out, flips = (
        _read_judges(store, question) if question.factor == "judge" else _read_forms(store, question)
    )
    several = [item for item in forms if len(item.names) > 1]
    if not several:
        raise MisuseError(
            f"{question.target} has no condition whose prompts have scores under two values of {question.factor};"
            f" the others are: {', '.join(name for name in FACTORS if name != question.factor)} (--factor)"
        )
    single = [f"{item.target.condition.model}: one {question.factor} alone" for item in forms if len(item.names) == 1]
    shared = [name for name in several[0].names if all(name in item.names for item in several)]
    flip_share, n_top = _ranking(several, shared)
    return TemplatesReport(
        target=question.target,
        factor=question.factor,
        rows=tuple(_row(item, question) for item in several),
        templates=tuple(shared),
        flip_share=flip_share,
        n_top=n_top,
        left_out=(*left_out, *single),
        flips=flips,
    )


_Read = tuple[list[_Forms], tuple[str, ...], tuple[JudgeFlip, ...]]


def _read_forms(store: Store, question: Templates) -> _Read:
    targets = find_targets(store, question.target, selection_of(question))
    plain = [item for item in targets.scored if item.is_plain_mean]
    return [_forms(item, rows, question.factor) for item, rows in _read(store, plain)], targets.left_out, ()


def _read_judges(store: Store, question: Templates) -> _Read:
    judged = read_judged(store, question.target, selection_of(question), question.judges)
    return [_Forms(*table) for table in judged.tables()], judged.left_out, tuple(judge_flips(judged, question.level))


def _read(store: Store, targets: Sequence[Target]) -> Iterable[tuple[Target, list[Mapping[str, Any]]]]:
    """The scores of each condition by prompt and variant; one query for each metric."""
    for metric_id in sorted({target.metric.id for target in targets}):
        own = [target for target in targets if target.metric.id == metric_id]
        runs = [run for target in own for run in target.condition.run_ids]
        by_condition: dict[str, list[Mapping[str, Any]]] = {}
        for row in store.rows(
            query_text("analysis", "scores_by_variant"), {"metric_ids": [metric_id], "run_ids": runs}
        ):
            by_condition.setdefault(row["condition_key"], []).append(row)
        yield from ((target, by_condition.get(target.condition.key, [])) for target in own)


def _forms(target: Target, rows: Sequence[Mapping[str, Any]], factor: str) -> _Forms:
    """A condition's table.

    Raises:
        MisuseError: another factor varies as well.
    """
    column = _COLUMNS[factor]
    for other, name in _COLUMNS.items():
        if name != column and len({row[name] for row in rows}) > 1 and len({row[column] for row in rows}) > 1:
            raise MisuseError(
                f"{target.condition.model} on {target.condition.benchmark_split[0]} varies by {other} as well as by"
                f" {factor}: one factor at a time"
            )
    names = sorted({str(row[column]) for row in rows})
    prompts = {prompt: index for index, prompt in enumerate(sorted({row["prompt"] for row in rows}))}
    table = np.full((len(prompts), len(names)), np.nan)
    for row in rows:
        table[prompts[row["prompt"]], names.index(str(row[column]))] = row["value"]
    return _Forms(target, tuple(name or PLAIN for name in names), table)


def _ranking(forms: Sequence[_Forms], shared: Sequence[str]) -> tuple[float | None, int | None]:
    """Whether the shared forms agree on the order of the conditions."""
    directions = {item.target.metric.higher_is_better for item in forms}
    alike = len({(item.target.condition.benchmark_split, item.target.metric.id) for item in forms}) == 1
    if len(forms) < 2 or len(shared) < 2 or not alike or directions & {None}:
        return None, None
    means = [[np.nanmean(item.table[:, item.names.index(name)]) for name in shared] for item in forms]
    ranking = template_ranking(np.asarray(means) * (1 if directions == {True} else -1))
    return ranking.flip_share, ranking.n_top


def _row(forms: _Forms, question: Templates) -> TemplateRow:
    target, whole = forms.target, forms.whole
    low, high = target.metric.low, target.metric.high
    result: TemplateVariance | None = None
    if len(whole):
        result = template_variance(
            whole,
            random=question.random,
            level=question.level,
            bounds=None if low is None or high is None else (low, high),
            conservative=question.conservative,
        )
    needed = templates_needed(result, question.se) if result and question.se is not None else None
    names = (
        *("estimate", "standard_error", "ci_low", "ci_high", "df", "best", "worst"),
        *("variance_prompts", "variance_templates", "variance_residual"),
        *("part_prompts", "part_templates", "part_residual"),
    )
    return TemplateRow(
        model=target.condition.model,
        condition=target.label,
        benchmark=target.condition.benchmark_split[0],
        split=target.condition.benchmark_split[1],
        metric=target.metric.label,
        level=question.level,
        random=question.random,
        n_prompts=len(whole),
        n_templates=len(forms.names),
        n_left_out=len(forms.table) - len(whole),
        best_template=forms.names[result.best_template] if result else "",
        worst_template=forms.names[result.worst_template] if result else "",
        templates_needed=needed,
        flags=result.flags if result else (),
        reason=result.reason if result else "no prompt has a score under each of them",
        run_ids=target.condition.run_ids,
        **{name: getattr(result, name, None) for name in names},
    )
