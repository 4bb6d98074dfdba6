"""Published figures of models by template, without the answers behind them: variance
parts and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from warehouse.analysis.groups import grouped
from warehouse.analysis.results import finite_or_none
from warehouse.analysis.selection.benchmarks import choose_metrics, metrics_of
from warehouse.analysis.selection.conditions import settings_of_conditions
from warehouse.analysis.selection.scored_conditions import ScoredCondition, read_entries
from warehouse.analysis.selection.selection import selection_of
from warehouse.analysis.selection.targets import find_conditions_of
from warehouse.analysis.templates.question import Templates
from warehouse.analysis.templates.view import TemplateRow, TemplatesReport
from warehouse.errors import MisuseError
from warehouse.records.setting_labels import UNSET, differing_paths, last_name
from warehouse.stats import TemplateFigures, template_figures, template_ranking
from warehouse.store.connection import Store

#: What stands in each row: no answer says how far other prompts would change it.
REASON = (
    "published figures: these prompts are all there are, and the noise of answers is "
    "in what templates and models make together"
)
Figures = Mapping[str, Mapping[str, ScoredCondition]]


def published_templates(store: Store, question: Templates) -> TemplatesReport | None:
    """The report of figures of two models and two templates or more; None where there
    are none, or prompts are random.

    A template is the value of the only setting in which figures of a model differ, if
    the factor is in its name.
    """
    if question.random == "prompts":
        return None
    try:
        benchmark, conditions = find_conditions_of(
            store, question.target, selection_of(question)
        )
        metrics = choose_metrics(
            metrics_of(store, benchmark.ids), question.metric, benchmark.name
        )
    except MisuseError:
        return None
    entries = [
        entry
        for entry in read_entries(store, conditions, metrics)
        if _is_published(entry)
    ]
    by_model = _by_template(store, entries, question.factor)
    names = _common(by_model)
    if len(by_model) < 2 or len(names) < 2:
        return None
    left_out = []
    for name, entry in chain.from_iterable(own.items() for own in by_model.values()):
        if name not in names:
            who = f"{entry.condition.model} {entry.label}"
            left_out.append(f"{who}: not every model has a figure by it")
    return _report(by_model, names, question, tuple(left_out))


def _is_published(entry: ScoredCondition) -> bool:
    return (
        entry.usable is None
        and entry.published is not None
        and bool(np.isfinite(entry.published.value))
    )


def _by_template(
    store: Store, entries: Sequence[ScoredCondition], factor: str
) -> dict[str, dict[str, ScoredCondition]]:
    """Figures by model and by value of the setting that the factor names."""
    by_model = grouped(entries, lambda entry: entry.condition.model)
    settings = settings_of_conditions(store, [entry.condition for entry in entries])
    found: dict[str, dict[str, ScoredCondition]] = {}
    for model, own in sorted(by_model.items()):
        differing = differing_paths([settings[entry.condition.key] for entry in own])
        if len(differing) != 1:
            continue
        path = differing[0]
        if factor in last_name(path):
            found[model] = {
                settings[entry.condition.key].get(path, UNSET): entry for entry in own
            }
    return found


def _common(by_model: Figures) -> list[str]:
    """Templates that all models have a figure by."""
    names = [set(own) for own in by_model.values()]
    if names:
        return sorted(set.intersection(*names))
    return []


def _report(
    by_model: Figures,
    names: Sequence[str],
    question: Templates,
    left_out: tuple[str, ...],
) -> TemplatesReport:
    figures = []
    for own in by_model.values():
        figures.append([_value(own[name]) for name in names])
    table = np.array(figures)
    metric = next(iter(by_model.values()))[names[0]].metric
    bounds = None
    if metric.link == "identity":
        bounds = metric.bounds_of(table.min(), table.max())
    found = template_figures(table, bounds=bounds, level=question.level)
    rows = []
    for number, own in enumerate(by_model.values()):
        entries = [own[name] for name in names]
        rows.append(_row(number, entries, names, table[number], found, question))
    flip_share, n_top = None, None
    if metric.higher_is_better is not None:
        if metric.higher_is_better:
            signed = table
        else:
            signed = -table
        ranking = template_ranking(signed)
        flip_share, n_top = ranking.flip_share, ranking.n_top
    return TemplatesReport(
        question.target,
        question.factor,
        tuple(rows),
        tuple(names),
        flip_share,
        n_top,
        left_out,
    )


def _value(entry: ScoredCondition) -> float:
    assert entry.published is not None
    return entry.published.value


def _row(
    number: int,
    entries: Sequence[ScoredCondition],
    names: Sequence[str],
    figures: np.ndarray,
    found: TemplateFigures,
    question: Templates,
) -> TemplateRow:
    first = entries[0]
    benchmark, split = first.condition.benchmark_split
    return TemplateRow(
        model=first.condition.model,
        condition="",
        benchmark=benchmark,
        split=split,
        metric=first.metric.label,
        estimate=float(found.estimates[number]),
        standard_error=found.standard_error,
        ci_low=finite_or_none(found.ci_low[number]),
        ci_high=finite_or_none(found.ci_high[number]),
        level=question.level,
        df=found.df,
        random="templates",
        n_prompts=0,
        n_clusters=None,
        n_templates=len(names),
        n_left_out=0,
        best=float(figures.max()),
        best_template=names[int(figures.argmax())],
        worst=float(figures.min()),
        worst_template=names[int(figures.argmin())],
        variance_prompts=None,
        variance_templates=found.variance_templates,
        variance_residual=found.variance_residual,
        part_prompts=None,
        part_templates=max(0.0, found.variance_templates) / len(names),
        part_residual=found.variance_residual / len(names),
        templates_needed=None
        if question.se is None
        else found.templates_needed(question.se),
        flags=(*found.flags, "published"),
        reason=REASON,
        run_ids=tuple(
            chain.from_iterable(entry.condition.run_ids for entry in entries)
        ),
    )
