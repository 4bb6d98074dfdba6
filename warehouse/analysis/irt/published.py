"""Models on one scale by figures of whole benchmarks: what others published, and the
means of stored samples."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import numpy as np

from warehouse.analysis.irt.published_figures import FigureTable, read_figures
from warehouse.analysis.irt.question import PublishedScale
from warehouse.analysis.irt.scale_view import (
    PredictionRow,
    ScaleBenchmarkRow,
    ScaleReport,
    ScaleRow,
)
from warehouse.analysis.selection.selection import selection_of
from warehouse.errors import MisuseError, did_you_mean
from warehouse.questions.question import answers
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.items import published_scale as stats
from warehouse.stats.items.published_figures import Figures
from warehouse.store.connection import Store

#: Mean length of a year.
DAYS_OF_YEAR = 365.25


@answers(PublishedScale)
def published_scale(store: Store, question: PublishedScale) -> ScaleReport:
    """Abilities by the figures of whole benchmarks."""
    since = day_of(question.since)
    table = read_figures(store, question.benchmarks, selection_of(question))
    least = question.min_benchmarks, question.min_models
    figures, left_out = table.figures(*least, since)
    reference, predicted = (
        _number(name, figures) for name in (question.reference, question.predict)
    )
    scale = stats.published_scale(figures)
    if reference is None:
        reference = int(np.argmax(scale.ability))
    cells = [table.cells[key] for key in _keys(figures)]
    return ScaleReport(
        rows=_rows(scale, table, figures, question, reference),
        benchmarks=_benchmark_rows(scale, table),
        predicted=question.predict,
        predictions=_predictions(scale, table, question, predicted),
        reference=scale.models[reference],
        level=question.level,
        misfit=scale.misfit,
        n_figures=scale.n_figures,
        n_merged=sum(cell.n_sources > 1 for cell in cells),
        n_clipped=sum(not 0 <= cell.value <= 1 for cell in cells),
        held_out=stats.held_out(figures, seed=question.seed),
        trend=_trend(scale, table.days, question.level),
        left_out=left_out,
    )


def day_of(text: str | None) -> date | None:
    """The day that somebody named (MisuseError: none)."""
    try:
        if text is None:
            return None
        return date.fromisoformat(text)
    except ValueError:
        raise MisuseError(
            f"since must be a day such as 2024-01-31, found {text!r}"
        ) from None


def _number(name: str | None, figures: Figures) -> int | None:
    if name is None:
        return None
    if name not in figures.models:
        hint = did_you_mean(
            name,
            figures.models,
            "models with too few figures are left out: --min-benchmarks",
        )
        raise MisuseError(f"{name!r} is not on the scale; {hint}")
    return figures.models.index(name)


def _trend(
    scale: stats.ScaleFit, days: Mapping[str, date], level: float
) -> stats.ScaleTrend | None:
    years = [
        days[model].toordinal() / DAYS_OF_YEAR if model in days else np.nan
        for model in scale.models
    ]
    if len({year for year in years if year == year}) < stats.MIN_DAYS:
        return None
    return stats.scale_trend(scale, years, level)


# --- rows ----------------------------------------------------------------------------------------


def _rows(
    scale: stats.ScaleFit,
    table: FigureTable,
    figures: Figures,
    question: PublishedScale,
    reference: int,
) -> tuple[ScaleRow, ...]:
    z = z_quantile(question.level)
    of_samples = [table.cells[key].is_of_samples for key in _keys(figures)]
    n_samples = np.bincount(figures.model, of_samples, len(figures.models))
    difference, its_error = scale.differences(reference)
    apart = {
        "difference": difference,
        "difference_se": its_error,
        "difference_low": difference - z * its_error,
        "difference_high": difference + z * its_error,
    }
    rows = []
    for rank, m in enumerate(np.argsort(-scale.ability, kind="stable").tolist(), 1):
        estimate = float(scale.ability[m])
        error = float(scale.standard_error[m])
        day = table.days.get(scale.models[m])
        rows.append(
            ScaleRow(
                model=scale.models[m],
                rank=rank,
                estimate=estimate,
                standard_error=error,
                ci_low=estimate - z * error,
                ci_high=estimate + z * error,
                level=question.level,
                se_information=float(scale.se_info[m]),
                se_jackknife=float(scale.se_jackknife[m]),
                n_benchmarks=int(scale.n_benchmarks[m]),
                n_samples=int(n_samples[m]),
                release_date=day.isoformat() if day else None,
                **dict.fromkeys(apart)
                if m == reference
                else {name: float(part[m]) for name, part in apart.items()},
            )
        )
    return tuple(rows)


def _keys(figures: Figures) -> list[tuple[str, str]]:
    """Model and benchmark of each figure."""
    pairs = zip(figures.model.tolist(), figures.benchmark.tolist(), strict=True)
    return [(figures.models[m], figures.benchmarks[j]) for m, j in pairs]


def _benchmark_rows(
    scale: stats.ScaleFit, table: FigureTable
) -> tuple[ScaleBenchmarkRow, ...]:
    return tuple(
        ScaleBenchmarkRow(
            benchmark=scale.benchmarks[j],
            metric=table.ranges[scale.benchmarks[j]].metric.label,
            n_models=int(scale.n_models[j]),
            difficulty=float(scale.difficulty[j]),
            slope=float(scale.slope[j]),
            residual=float(scale.residual[j]),
            chance=table.ranges[scale.benchmarks[j]].zero,
        )
        for j in np.argsort(scale.difficulty, kind="stable").tolist()
    )


def _predictions(
    scale: stats.ScaleFit,
    table: FigureTable,
    question: PublishedScale,
    model: int | None,
) -> tuple[PredictionRow, ...]:
    if model is None:
        return ()
    name = scale.models[model]
    rows = []
    for j, benchmark in enumerate(scale.benchmarks):
        if (name, benchmark) not in table.cells:
            between = table.ranges[benchmark]
            estimate, *ends = (
                between.figure(share)
                for share in scale.predicted(model, j, question.level)
            )
            rows.append(
                PredictionRow(
                    name,
                    benchmark,
                    between.metric.label,
                    estimate,
                    min(ends),
                    max(ends),
                    question.level,
                )
            )
    return tuple(rows)
