"""Figures that would be expected of models on benchmarks that they were not run on."""

from __future__ import annotations

from warehouse.analysis.irt.completed_view import (
    CompletionReport,
    ExpectedRow,
    RunNextRow,
)
from warehouse.analysis.irt.published import day_of
from warehouse.analysis.irt.published_figures import FigureTable, read_figures
from warehouse.analysis.irt.question import PublishedCompletion
from warehouse.analysis.selection.selection import selection_of
from warehouse.questions.question import answers
from warehouse.stats.completion import completed as stats
from warehouse.stats.completion.predictions import PUBLISHED, PredictedFigure
from warehouse.store.connection import Store
from warehouse.tables.words import counted


@answers(PublishedCompletion)
def published_completion(
    store: Store, question: PublishedCompletion
) -> CompletionReport:
    """What would be published where nothing was run."""
    since = day_of(question.since)
    table = read_figures(store, question.benchmarks, selection_of(question))
    found = stats.published_completion(table.all_figures(since), question.level)
    return CompletionReport(
        rows=_rows(found, table, question),
        run_next=_run_next(found, question),
        model=question.model,
        benchmark=question.benchmark,
        level=question.level,
        n_figures=found.n_figures,
        n_models=len(found.models),
        n_benchmarks=len(found.benchmarks),
        n_held_out=found.n_held_out,
        median_error=found.median_error,
        left_out=(*table.left_out, *_few(found)),
    )


def _few(found: stats.PublishedCompletion) -> list[str]:
    """What has fewer than four figures."""
    few = []
    n_models = len(found.left_out_models)
    if n_models > 0:
        few.append(f"{counted(n_models, 'model')}: fewer than four figures")
    for name, n in found.left_out_benchmarks:
        few.append(f"{name}: {n} of the figures, four are needed")
    return few


def _rows(
    found: stats.PublishedCompletion, table: FigureTable, question: PublishedCompletion
) -> tuple[ExpectedRow, ...]:
    """The absent cells that were asked about; of one cell also one that is there."""
    models, benchmarks = found.models, found.benchmarks
    if question.model is not None:
        models = (question.model,)
    if question.benchmark is not None:
        benchmarks = (question.benchmark,)
    is_one = question.model is not None and question.benchmark is not None
    rows = []
    for model in models:
        for benchmark in benchmarks:
            said = found.predicted(model, benchmark)
            if is_one or said.reason != PUBLISHED:
                rows.append(_row(said, table))
    return tuple(rows)


def _row(said: PredictedFigure, table: FigureTable) -> ExpectedRow:
    """A cell, in the unit of its metric."""
    between = table.ranges[said.benchmark]
    figures = []
    for share in (said.estimate, said.ci_low, said.ci_high, said.published):
        figures.append(None if share is None else between.figure(share))
    estimate, low, high, published = figures
    if low is not None and high is not None:
        low, high = min(low, high), max(low, high)
    return ExpectedRow(
        model=said.model,
        benchmark=said.benchmark,
        metric=between.metric.label,
        is_share=(between.zero, between.one) == (0, 1),
        predicted=said.reason is None,
        estimate=estimate,
        ci_low=low,
        ci_high=high,
        level=said.level,
        published=published,
        n_of_model=said.n_of_model,
        n_of_benchmark=said.n_of_benchmark,
        support=said.support,
        support_needed=said.support_needed,
        flags=said.flags,
        reason=said.reason,
    )


def _run_next(
    found: stats.PublishedCompletion, question: PublishedCompletion
) -> tuple[RunNextRow, ...]:
    if question.model is None:
        return ()
    said = found.next_benchmarks(question.model, question.run_next)
    rows = []
    for one in said.benchmarks:
        rows.append(RunNextRow(said.model, one.benchmark, one.narrows_by))
    return tuple(rows)
