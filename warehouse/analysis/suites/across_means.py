"""The mean of a model over benchmarks, beside each of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.suites.across_row import Across, ModelAcross, RowAcross


def rows_with_means(
    across: Across, rows: Iterable[LeaderboardRow]
) -> Iterator[RowAcross]:
    """Rows of leaderboards, each with the mean of its model."""
    by_row, by_run = _means_by_row(across), _means_by_run(across)
    for row in rows:
        model = by_row.get(id(row)) or _model_with(by_run, row)
        yield _with_mean(row, model, across.in_mean)


def _means_by_row(across: Across) -> dict[int, ModelAcross]:
    """The model of each row that stands in the table across benchmarks."""
    found = {}
    for model in across.models:
        for figure in model.figures.values():
            found[id(figure.row)] = model
    return found


def _means_by_run(across: Across) -> dict[int, ModelAcross]:
    """The model whose mean rests on a run, by the run's id."""
    found = {}
    for model in across.models:
        if model.mean is not None:
            found.update(dict.fromkeys(model.mean.row.run_ids, model))
    return found


def _model_with(
    by_run: Mapping[int, ModelAcross], row: LeaderboardRow
) -> ModelAcross | None:
    """The model whose mean rests on all runs of a row; None without one."""
    found = [by_run.get(run) for run in row.run_ids]
    if found and all(model is found[0] for model in found):
        return found[0]
    return None


def _with_mean(
    row: LeaderboardRow, model: ModelAcross | None, mean_of: tuple[str, ...]
) -> RowAcross:
    """A row with the mean of its model."""
    own = {item.name: getattr(row, item.name) for item in fields(row)}
    if model is None or model.mean is None:
        return RowAcross(**own)
    mean = model.mean.row
    return RowAcross(
        **own,
        mean_estimate=mean.estimate,
        mean_standard_error=mean.standard_error,
        mean_ci_low=mean.ci_low,
        mean_ci_high=mean.ci_high,
        mean_rank=mean.rank,
        mean_place=model.mean.place,
        mean_of=mean_of,
    )
