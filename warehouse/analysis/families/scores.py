"""Family ``scores``: the figure of every row and condition with its interval, and its
newest run against the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import (
    PART,
    ROW,
    FamilySettings,
    RefreshQuestion,
    Value,
    no_score,
    subject_of,
)
from warehouse.analysis.families.newest import newest_value
from warehouse.analysis.families.rows import kind_of
from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.scored_conditions import ScoredCondition, coverage_of


class ScoresFamily:
    """One question for each row of a leaderboard, and for each seed and checkpoint
    behind one."""

    name, version = "scores", "6"

    def questions(
        self, data: BenchmarkData, settings: FamilySettings
    ) -> Sequence[RefreshQuestion]:
        """One for each row and each condition."""
        about = {"level": settings.level}
        of_rows = [
            RefreshQuestion(row.subject, row.keys, about)
            for row in data.rows
            if row.kind == ROW
        ]
        of_conditions = [
            RefreshQuestion(subject_of(condition), (key,), about)
            for key, condition in data.conditions.items()
        ]
        return [*of_rows, *of_conditions]

    def compute(
        self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings
    ) -> Sequence[Value]:
        """The figure by each headline metric that there is; of a series also how its
        newest run differs."""
        row = data.row_called(question.subject)
        if row is not None and row.kind == ROW:
            return _figures(data, data.row_entries(row), (ROW, row.subject), settings)
        (key,) = question.conditions
        condition = data.conditions[key]
        kind = kind_of(condition, data.row_of)
        values = _figures(
            data, data.condition_entries(key), (kind, question.subject), settings
        )
        if kind == PART:
            row_subject = data.row_of[key].subject
            values = [
                replace(value, details={**value.details, "row": row_subject})
                for value in values
            ]
        for entry in data.entries((key,)):
            newest = newest_value(data, entry, question.subject, settings.level)
            if newest is not None:
                values.append(newest)
        return values


def _figures(
    data: BenchmarkData,
    entries: Sequence[ScoredCondition],
    about: tuple[str, str],
    settings: FamilySettings,
) -> list[Value]:
    """A figure for each metric; without one where repeats do not look like repeats.

    Args:
        about: kind and subject.
    """
    if not entries:
        return no_score(data, about, "score")
    by_metric = grouped(entries, lambda entry: entry.metric.id)
    return [_figure(data, own, about, settings) for own in by_metric.values()]


def _figure(
    data: BenchmarkData,
    entries: Sequence[ScoredCondition],
    about: tuple[str, str],
    settings: FamilySettings,
) -> Value:
    from warehouse.analysis.leaderboard.question import Ranking
    from warehouse.analysis.leaderboard.row import make_row

    first = entries[0]
    metric = data.metric_name(first.metric)
    if len(entries) > 1:
        why = "; ".join(
            dict.fromkeys(chain.from_iterable(entry.row_notes for entry in entries))
        )
        flags = dict.fromkeys(chain.from_iterable(entry.row_flags for entry in entries))
        return Value(
            *about, metric, "score", "none", reason=why, details={"flags": list(flags)}
        )
    row = make_row(
        first, data.clusters, Ranking(level=settings.level), coverage_of([first])
    )
    return Value(
        *about,
        metric,
        "score",
        row.method,
        estimate=row.estimate,
        standard_error=row.standard_error,
        low=row.ci_low,
        high=row.ci_high,
        n=row.n_prompts,
        n_clusters=row.n_clusters,
        reason=row.reason,
        details={
            "level": settings.level,
            "n_draws": row.n_draws,
            "runs": row.runs,
            "n_seeds": row.n_seeds,
            "n_checkpoints": row.n_checkpoints,
            "notes": list(row.notes),
            "n_unscored": row.n_unscored,
            "share_unscored": row.share_unscored,
            "flags": list(row.flags),
            "higher_is_better": first.metric.higher_is_better,
        },
    )


FAMILY = ScoresFamily()
