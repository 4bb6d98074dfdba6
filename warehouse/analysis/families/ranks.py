"""Family ``ranks``: ranks on a benchmark, and which differences are significant."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import (
    FamilySettings,
    RefreshQuestion,
    Value,
    about_all,
)


class RanksFamily:
    """One question for each benchmark: the places of all its conditions depend on one
    another."""

    name, version = "ranks", "6"

    def questions(
        self, data: BenchmarkData, settings: FamilySettings
    ) -> Sequence[RefreshQuestion]:
        """One, where two conditions can be compared."""
        return about_all(
            data,
            level=settings.level,
            n_resamples=settings.n_resamples,
            seed=settings.seed,
        )

    def compute(
        self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings
    ) -> Sequence[Value]:
        """``rank`` by the figure, and ``statistical_rank`` with its confidence set.

        Raises:
            MisuseError: there is no one metric.
        """
        from warehouse.analysis.leaderboard.answer import rank_rows
        from warehouse.analysis.leaderboard.question import Ranking

        scores = data.row_scores()
        options = Ranking(
            level=settings.level, n_resamples=settings.n_resamples, seed=settings.seed
        )
        values: list[Value] = []
        # runs that do not look like repeats have one subject
        told: set[tuple[str, str]] = set()
        for group in rank_rows(scores, options):
            for entry, row in group:
                kind, subject = data.subject(entry.condition)
                metric = data.metric_name(entry.metric)
                if (subject, metric) in told:
                    continue
                told.add((subject, metric))
                values += [
                    Value(
                        kind,
                        subject,
                        metric,
                        "rank",
                        "by_figure",
                        estimate=row.rank,
                        n=row.n_prompts,
                        reason="" if row.rank else row.rank_reason,
                    ),
                    Value(
                        kind,
                        subject,
                        metric,
                        "statistical_rank",
                        "holm_max_t",
                        estimate=row.statistical_rank,
                        low=row.rank_low,
                        high=row.rank_high,
                        n=row.n_prompts,
                        n_clusters=row.n_clusters,
                        reason=row.rank_reason,
                        details={
                            "low_joint": row.rank_low_joint,
                            "high_joint": row.rank_high_joint,
                            "letters": row.group,
                            "draws": row.rank_draws,
                            "level": row.level,
                        },
                    ),
                ]
        if not values:
            reason = "no score by the headline metric"
            return [
                Value("benchmark", question.subject, "", "rank", "none", reason=reason)
            ]
        return values


FAMILY = RanksFamily()
