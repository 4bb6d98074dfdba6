"""Family ``scores``: the figure of every condition with its default interval, and its newest run against the others."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import FamilySettings, RefreshQuestion, Value, no_score, subject_of
from warehouse.analysis.families.newest import newest_value
from warehouse.analysis.selection.scored_conditions import coverage_of


class ScoresFamily:
    """One question for each condition: what the leaderboard shows of it, without its place."""

    name, version = "scores", "4"

    def questions(self, data: BenchmarkData, settings: FamilySettings) -> Sequence[RefreshQuestion]:
        """One for each condition."""
        return [
            RefreshQuestion(subject_of(condition), (key,), {"level": settings.level})
            for key, condition in data.conditions.items()
        ]

    def compute(self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings) -> Sequence[Value]:
        """The figure by each headline metric that the condition has; of a series also how its newest run differs."""
        from warehouse.analysis.leaderboard.row import make_row
        from warehouse.questions.leaderboard import Ranking

        entries = data.entries(question.conditions)
        if not entries:
            return no_score(data, question, "score")
        values = []
        for entry in entries:
            row = make_row(entry, data.clusters, Ranking(level=settings.level), coverage_of([entry]))
            values.append(
                Value(
                    "condition",
                    question.subject,
                    data.metric_name(entry.metric),
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
                        "n_unscored": row.n_unscored,
                        "share_unscored": row.share_unscored,
                        "flags": list(row.flags),
                        "higher_is_better": entry.metric.higher_is_better,
                    },
                )
            )
            newest = newest_value(data, entry, question.subject, settings.level)
            if newest is not None:
                values.append(newest)
        return values


FAMILY = ScoresFamily()
