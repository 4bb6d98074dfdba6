"""The newest run of a condition against the runs before it: what watches a series from
night to night."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import Value
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.prompt_links import align_values
from warehouse.analysis.selection.published_figures import PublishedFigure
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import PromptScores
from warehouse.stats.paired.change import ReportedFigure, change_p_value
from warehouse.stats.rows.newest import NewestRunTest, newest_run_test

#: The statistic of these figures.
NEWEST_RUN = "newest_run"
#: Starts before any other, for runs that say none.
_EARLY = datetime.min


def newest_value(
    data: BenchmarkData, entry: ScoredCondition, subject: str, level: float
) -> Value | None:
    """The newest run less the runs before it, or a figure less what was stated of it
    before; None without either.

    Args:
        entry: of a condition, with the scores of its runs.
        subject: of the condition.
        level: of stated intervals.
    """
    if entry.usable is not None and len(entry.usable.repeats) > 1:
        return _of_runs(data, entry, entry.usable, subject)
    if (
        entry.scores is None
        and entry.published is not None
        and len(entry.condition.runs) == 1
    ):
        return _of_statements(data, entry, entry.published, subject, level)
    return None


def _of_runs(
    data: BenchmarkData, entry: ScoredCondition, scores: PromptScores, subject: str
) -> Value:
    order = _in_time(entry, scores)
    newest = order[-1]
    test = _tested(
        [scores.repeats[index] for index in order], scores.prompts, data.clusters
    )
    estimate = None
    reason = "the newest run shares no prompt with those before it"
    if test.n_prompts:
        estimate = test.difference
        reason = ""
    return Value(
        "condition",
        subject,
        data.metric_name(entry.metric),
        NEWEST_RUN,
        test.method,
        estimate=estimate,
        n=test.n_prompts,
        n_clusters=test.n_clusters,
        reason=reason,
        details={
            "run": scores.repeat_runs[newest],
            "runs_before": len(order) - 1,
            "mean": test.mean,
            "mean_before": test.mean_before,
            "n_differ": test.n_differ,
            "p_value": test.p_value,
            "p_worse": _p_worse(
                entry.metric.higher_is_better, test.p_lower, test.p_higher
            ),
            "higher_is_better": entry.metric.higher_is_better,
        },
    )


def _in_time(entry: ScoredCondition, scores: PromptScores) -> list[int]:
    """Indices of the runs with a score by their start; by the order in which they were
    loaded where they say none."""
    starts = {
        run["run_id"]: run["started_at"] or _EARLY for run in entry.condition.runs
    }
    keys = [(starts[run], run) for run in scores.repeat_runs]
    return sorted(range(len(keys)), key=keys.__getitem__)


def _tested(
    runs: Sequence[PromptScores], prompts: NDArray[np.int64], clusters: ClusterMap
) -> NewestRunTest:
    """The test of the last run, by cluster where the benchmark has clusters.

    Runs with other numbers of draws are no draws of one another: then the mean of the
    earlier ones is one run.
    """
    table = np.array([align_values(own.prompts, own.values, prompts) for own in runs])
    draws = np.array([align_values(own.prompts, own.n_draws, prompts) for own in runs])
    labels = clusters.labels(prompts)
    if len(runs) > 2 and not _are_alike(draws):
        earlier = table[:-1]
        there = np.isfinite(earlier)
        counts = there.sum(axis=0)
        sums = np.where(there, earlier, 0.0).sum(axis=0)
        means = np.divide(
            sums, counts, out=np.full(len(prompts), np.nan), where=counts > 0
        )
        table = np.array([means, table[-1]])
    return newest_run_test(table, clusters=labels)


def _are_alike(draws: NDArray[np.float64]) -> bool:
    """True if the runs of each prompt have as many draws as the newest, where both have
    any."""
    newest = draws[-1]
    same = (draws == newest) | np.isnan(draws) | np.isnan(newest)
    return bool(same.all())


def _of_statements(
    data: BenchmarkData,
    entry: ScoredCondition,
    figure: PublishedFigure,
    subject: str,
    level: float,
) -> Value | None:
    """A published figure that was stated anew, less what was stated before it."""
    (run,) = entry.condition.run_ids
    before = data.restated.get((run, entry.metric.id))
    if before is None:
        return None
    p = change_p_value(_reported(before, level), _reported(figure, level))
    if p is None:
        return None
    difference = figure.value - before.value
    if difference < 0:
        lower = p / 2
    else:
        lower = 1 - p / 2
    return Value(
        "condition",
        subject,
        data.metric_name(entry.metric),
        NEWEST_RUN,
        "published",
        estimate=difference,
        n=figure.n or None,
        details={
            "run": run,
            "runs_before": 0,
            "mean": figure.value,
            "mean_before": before.value,
            "p_value": p,
            "p_worse": _p_worse(entry.metric.higher_is_better, lower, 1 - lower),
            "higher_is_better": entry.metric.higher_is_better,
        },
    )


def _reported(figure: PublishedFigure, level: float) -> ReportedFigure:
    return ReportedFigure(
        figure.value, figure.standard_error, None, None, level, figure.n or None
    )


def _p_worse(
    higher_is_better: bool | None, lower: float, higher: float
) -> float | None:
    if higher_is_better is None:
        return None
    if higher_is_better:
        return lower
    return higher
